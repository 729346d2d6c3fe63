"""A language server for SQL files: the findings of `streambound check` as they are typed, verdicts, and repairs.

A query is checked against the catalog on disk, as `streambound check` in the editor's workspace folder would check it.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from analyzer.errors import CatalogError, StreamboundError
from analyzer.spans import SourceText, Span
from analyzer.version import __version__
from analyzer.workspace import Workspace, relative
from gate.baseline import read_baseline
from gate.cache import Cache, cache_directory
from gate.check_files import Settings, check_sources
from gate.lsp_values import NAME, code_actions, diagnostics, hover
from gate.policy import Policy
from gate.ratchet import ratchet
from gate.reported import reported
from gate.suppressions import today
from reports.outcome import Outcome

PAUSE = 0.2
"""Seconds without a change after which a text is checked."""


WATCHED = ("**/*.toml", "**/*baseline*.json")
"""Files that change what is found in queries: a client that can tells of changes by other programs."""


class Server(LanguageServer):
    """The server's state: which catalog is in use, and what is shown of which document."""

    def __init__(self, catalog: Path | None) -> None:
        super().__init__(NAME, __version__)
        self.catalog = catalog
        self.versions: dict[str, int | None] = {}
        self.blamed: set[str] = set()
        """Catalogs that have a finding shown."""

    def outcomes(self, uri: str, repairs: bool = False) -> tuple[Outcome, ...]:
        """What `streambound check FILE` says of a document as it is in the editor; raises StreamboundError.

        The catalog's settings and its baseline hold as they do there.
        """
        document = self.workspace.get_text_document(uri)
        source = SourceText(file_name(uri), document.source.removeprefix("\ufeff"))
        workspace = Workspace(self.catalog)
        policy = Policy(workspace.default, {"repairs": repairs})
        criteria = policy.value("criteria")
        settings = Settings(criteria, None if repairs else 0, allow_empty=policy.value("allow-empty"), policy=policy)
        judged = check_sources([source], workspace, settings, cache=Cache(cache_directory()))
        found = reported(judged, policy, today())
        if policy.baseline is None:
            return found
        return ratchet(found, read_baseline(policy.baseline, criteria), policy).outcomes

    def check(self, uri: str) -> None:
        """Check a document and show its findings; a catalog that cannot be used is shown where it is wrong."""
        try:
            found = diagnostics(self.outcomes(uri), self.place, address)
            wrong: CatalogError | None = None
        except CatalogError as error:
            found, wrong = [_failure(error)], error
        except StreamboundError as error:
            found, wrong = [_failure(error)], None
        self._show(uri, found)
        self._blame(wrong)

    def _blame(self, error: CatalogError | None) -> None:
        """Show what is wrong with the catalog in the catalog, or no longer."""
        blamed = {} if error is None or not error.file else {address(error.file): error}
        for uri in self.blamed - blamed.keys():
            self._show(uri, [])
        for uri, failure in blamed.items():
            line = (failure.line or 1) - 1
            area = types.Range(types.Position(line, (failure.column or 1) - 1), types.Position(line + 1, 0))
            self._show(uri, [replace_range(_failure(failure), area)])
        self.blamed = set(blamed)

    def _show(self, uri: str, found: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, self.versions.get(uri)))

    def place(self, file: str, span: Span) -> types.Range:
        """A span, which counts code points from 1, in the editor's units, from 0."""
        lines = self.workspace.get_text_document(address(file)).source.split("\n")
        start = types.Position(span.line - 1, span.column - 1)
        end = types.Position(span.end_line - 1, span.end_column - 1)
        return self.workspace.position_codec.range_to_client_units(lines, types.Range(start, end))

    async def check_later(self, document: TextDocument) -> None:
        """Check a document unless it changes again at once."""
        version = self.versions[document.uri] = document.version
        await asyncio.sleep(PAUSE)
        if self.versions.get(document.uri) == version:
            self.check(document.uri)


def file_name(uri: str) -> str:
    """A document's file as `streambound check` in the workspace folder would name it."""
    path = uris.to_fs_path(uri)
    return str(relative(Path(path))) if path else uri


def address(file: str) -> str:
    """A file's URI."""
    return uris.from_fs_path(str(Path(file).absolute())) or file


def replace_range(found: types.Diagnostic, area: types.Range) -> types.Diagnostic:
    """A finding at another place."""
    return types.Diagnostic(range=area, message=found.message, severity=found.severity, source=found.source)


def _failure(error: StreamboundError) -> types.Diagnostic:
    text = "\n".join((error.placed, *([f"help: {error.remedy}"] if error.remedy else [])))
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    return types.Diagnostic(range=start, message=text, severity=types.DiagnosticSeverity.Error, source=NAME)


def _watches(client: types.ClientCapabilities) -> bool:
    """Whether a client can be asked to watch files."""
    watched = client.workspace.did_change_watched_files if client.workspace is not None else None
    return watched is not None and bool(watched.dynamic_registration)


def language_server(catalog: Path | None = None) -> Server:
    """The server, ready to be started; with a catalog, or else with the one that `streambound check` would find."""
    server = Server(catalog)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        folders = params.workspace_folders or []
        root = folders[0].uri if folders else params.root_uri
        if root and (path := uris.to_fs_path(root)) and Path(path).is_dir():
            os.chdir(path)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        if _watches(server.client_capabilities):
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(p) for p in WATCHED])
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registration = types.Registration("streambound-files", method, options)
            await server.client_register_capability_async(types.RegistrationParams([registration]))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.versions[params.text_document.uri] = params.text_document.version
        if is_query(params.text_document.uri):
            server.check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        if is_query(params.text_document.uri):
            await server.check_later(server.workspace.get_text_document(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        check_open()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        check_open()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.versions.pop(params.text_document.uri, None)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        try:
            found = server.outcomes(params.text_document.uri)
        except StreamboundError:
            return None
        return hover(found, params.position.line, params.position.character, server.place)

    kinds = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        try:
            found = server.outcomes(params.text_document.uri, repairs=True)
        except StreamboundError:
            return []
        return code_actions(found, params.range, server.place, address)

    def is_query(uri: str) -> bool:
        return uri.lower().endswith(".sql") or server.workspace.get_text_document(uri).language_id == "sql"

    def check_open() -> None:
        """Check every open query: a catalog that changed may have changed its verdict."""
        for uri in list(server.versions):
            if is_query(uri):
                server.check(uri)

    return server
