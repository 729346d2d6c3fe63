"""A language server for SQL files: the findings of `streambound check` as they are typed, verdicts, and repairs.

Registered queries are one run, as `streambound check` in the editor's workspace folder makes it, with the texts in the
editor in place of their files; the catalog is the one on disk.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from streambound.analyzer.errors import CatalogError, StreamboundError
from streambound.analyzer.spans import Span
from streambound.analyzer.toml_lines import toml_lines
from streambound.analyzer.version import __version__
from streambound.analyzer.workspace import relative
from streambound.gate.baseline import stale_remedy, stale_text
from streambound.gate.live import Found, Live, WorkspaceState
from streambound.gate.lsp_values import NAME, code_actions, diagnostics, hover, message, place
from streambound.reports.outcome import Outcome

PAUSE = 0.2
"""Seconds without a change after which a text is checked."""
AT_ONCE = 4
"""Files that are judged without looking what the editor wants."""

WATCHED = ("**/*.toml", "**/*baseline*.json", "**/*.sql")
"""Files that change what is found in queries: a client that can tells of changes by other programs."""


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class Server(LanguageServer):
    """The server's state: what was judged, and what is shown of which document."""

    def __init__(self, catalog: Path | None) -> None:
        super().__init__(NAME, __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.live = Live(catalog)
        self.versions: dict[str, int | None] = {}
        """The documents that are open, by URI."""
        self.shown: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self.judging: asyncio.Task[None] | None = None
        self.changes = self.waiting = self.events = 0
        """How often something changed, and how many changes are not shown yet: they go before what is judged later.

        ``events`` counts what was heard of changes by other programs.
        """

    def refresh(self) -> None:
        """Show what is found of every open query, and what is wrong with the catalog and the baseline.

        Where many other files must be judged first, they are judged later, and what depends on them is shown then.
        """
        self.changes += 1
        try:
            state = self.live.state(self._texts())
            found = self._judged(state)
        except StreamboundError as error:
            self._show(dict(self._failed(error)))
        else:
            self._show(self._diagnostics(state, found))

    def _judged(self, state: WorkspaceState) -> Found:
        """The findings after judging the open documents, and the others if they are few."""
        missing = self.live.missing(state)
        urgent = missing if len(missing) <= AT_ONCE else [source for source in missing if source.file in state.held]
        self.live.judge(state, urgent)
        whole = len(urgent) == len(missing)
        if not whole and self.judging is None:
            self.judging = asyncio.get_running_loop().create_task(self._judge_all())
        return self.live.found(state, whole)

    async def _judge_all(self) -> None:
        """Judge what is missing, a few files at a time, and show what comes of it."""
        try:
            with suppress(StreamboundError):  # `refresh` shows it
                while await self._judge_more():
                    pass
        finally:
            self.judging = None
        self.refresh()

    async def _judge_more(self) -> bool:
        """Judge what is missing now, until something changes; whether anything was."""
        changes, state = self.changes, self.live.state(self._texts())
        missing = self.live.missing(state)
        for start in range(0, len(missing), AT_ONCE):
            while self.waiting:
                await asyncio.sleep(PAUSE / 4)
            if self.changes != changes:
                break
            self.live.judge(state, missing[start : start + AT_ONCE])
            await asyncio.sleep(0)
        return bool(missing)

    def _texts(self) -> dict[str, str]:
        """The texts of the queries that are open, by the names of their files."""
        return {file_name(uri): self._source(uri).removeprefix("\ufeff") for uri in self.versions if self.is_query(uri)}

    def _source(self, uri: str) -> str:
        """A document's text, in the editor or else on disk, as it can be read."""
        if uri in self.workspace.text_documents:
            return str(self.workspace.text_documents[uri].source)
        path = uris.to_fs_path(uri)
        try:
            return Path(path).read_bytes().decode("utf-8", "replace") if path else ""
        except OSError:
            return ""

    def is_query(self, uri: str) -> bool:
        """Whether a document is SQL."""
        return uri.lower().endswith(".sql") or self.workspace.get_text_document(uri).language_id == "sql"

    def place(self, file: str, span: Span) -> types.Range:
        """A span, which counts code points from 1, in the editor's units, from 0."""
        return place(self._source(address(file)), span, self.workspace.position_codec.client_num_units)

    # --- what is shown ---------------------------------------------------------------------------------------------

    def _diagnostics(self, state: WorkspaceState, found: Found) -> dict[str, list[types.Diagnostic]]:
        """The findings by URI: of the open queries, of the baseline, and of the catalog."""
        shown = {}
        for uri in self.versions:
            failed = state.failed.get(file_name(uri))
            outcomes = self._of(found, uri)
            shown[uri] = [_failure(failed)] if failed else diagnostics(outcomes, self.place, address)
        if found.baseline is not None and found.stale:
            file = found.baseline.file
            help = stale_remedy(file)
            shown[address(str(file))] = [_on_line(entry.line, stale_text(entry), help) for entry in found.stale]
        catalog = state.workspace.default
        if catalog is not None and (of_catalog := list(_of_catalog(state, found))):
            shown[address(catalog.file)] = of_catalog
        for error in state.failed.values():
            shown |= self._blamed(error)
        return shown

    def _of(self, found: Found, uri: str) -> tuple[Outcome, ...]:
        """The outcomes of a document, under the run's name for its file."""
        name = Path(file_name(uri)).absolute()
        return next((items for file, items in found.outcomes.items() if Path(file).absolute() == name), ())

    def _failed(self, error: StreamboundError) -> Iterator[tuple[str, list[types.Diagnostic]]]:
        """The diagnostics when nothing can be checked: the error in every query, and at its place."""
        yield from ((uri, [_failure(error)]) for uri in self.versions if self.is_query(uri))
        yield from self._blamed(error).items()

    def _blamed(self, error: StreamboundError) -> dict[str, list[types.Diagnostic]]:
        if not isinstance(error, CatalogError) or not error.file:
            return {}
        line = (error.line or 1) - 1
        area = types.Range(types.Position(line, (error.column or 1) - 1), types.Position(line + 1, 0))
        return {address(error.file): [_failure(error, area)]}

    def _show(self, found: dict[str, list[types.Diagnostic]]) -> None:
        """Publish what is not shown like this yet, and nothing where there is nothing any more."""
        for uri in self.shown.keys() - found.keys():
            found[uri] = []
        for uri, items in found.items():
            version = self.versions.get(uri)
            if self.shown.get(uri) != (version, items):
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, items, version))
        self.shown = {
            uri: (self.versions.get(uri), items) for uri, items in found.items() if uri in self.versions or items
        }

    async def check_later(self, document: TextDocument) -> None:
        """Check a document unless it changes again at once."""
        version = self.versions[document.uri] = document.version
        self.waiting += 1
        try:
            await asyncio.sleep(PAUSE)
        finally:
            self.waiting -= 1
        if self.versions.get(document.uri) == version:
            self.refresh()

    async def refresh_later(self) -> None:
        """Look at the files unless more of them change at once, as when another commit is checked out."""
        self.events += 1
        mine = self.events
        await asyncio.sleep(PAUSE)
        if self.events == mine:
            self.refresh()

    # --- what is asked for -----------------------------------------------------------------------------------------

    def outcomes(self, uri: str, repairs: bool = False) -> tuple[Outcome, ...]:
        """The outcomes of a document as it is in the editor; raises StreamboundError."""
        state = self.live.state(self._texts())
        found = self._judged(state)
        file = next((item.source.file for item in self._of(found, uri)), None)
        if repairs and file is not None:
            whole = not self.live.missing(state)
            found = self.live.found(state, whole, {file: self.live.repaired(state, file)})
        return self._of(found, uri)


def file_name(uri: str) -> str:
    """A document's file as `streambound check` in the workspace folder would name it; its URI where it is in none."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return str(relative(Path(path))) if path else uri


def address(file: str) -> str:
    """A file's URI."""
    if _SCHEME.match(file):
        return file
    return uris.from_fs_path(os.path.normpath(Path(file).absolute())) or file


def _failure(error: StreamboundError, area: types.Range | None = None) -> types.Diagnostic:
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    text = message(error.placed, error.remedy)
    return types.Diagnostic(range=area or start, message=text, severity=types.DiagnosticSeverity.Error, source=NAME)


def _on_line(
    line: int, said: str, help: str = "", severity: types.DiagnosticSeverity = types.DiagnosticSeverity.Error
) -> types.Diagnostic:
    """A finding about a line, counted from 1; 0 where it is not known."""
    area = types.Range(types.Position(max(line, 1) - 1, 0), types.Position(max(line, 1), 0))
    return types.Diagnostic(range=area, message=message(said, help), severity=severity, source=NAME)


def _of_catalog(state: WorkspaceState, found: Found) -> Iterator[types.Diagnostic]:
    """The findings of a check of all registered queries in the catalog."""
    catalog = state.workspace.default
    if catalog is not None and state.wrong is not None:
        line = toml_lines(catalog.text).get(("queries",), 1)
        yield _on_line(line, state.wrong.placed, state.wrong.remedy)
    for code, line in found.unneeded:
        said = f"{code} is allowed, and no query needs it"
        yield _on_line(line, said, severity=types.DiagnosticSeverity.Information)


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
        server.refresh()

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        if server.is_query(params.text_document.uri):
            await server.check_later(server.workspace.get_text_document(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.refresh()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        await server.refresh_later()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.versions.pop(params.text_document.uri, None)
        server.refresh()

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

    return server
