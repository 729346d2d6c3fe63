"""An editor: a client of the language server that keeps what it publishes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

WAIT = 60


class Editor:
    """A client that keeps what the server publishes."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.shown: dict[str, list[types.Diagnostic]] = {}
        self.news = asyncio.Event()
        self.watched: list[str] = []

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def registered(params: types.RegistrationParams) -> None:
            for one in params.registrations:
                options: Any = one.register_options
                self.watched += [watcher["globPattern"] for watcher in options["watchers"]]
            self.news.set()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.shown[params.uri] = list(params.diagnostics)
            self.news.set()

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), WAIT)

    def open(self, name: str, text: str) -> None:
        item = types.TextDocumentItem(self.uri(name), "sql", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name: str, text: str, version: int = 2) -> None:
        document = types.VersionedTextDocumentIdentifier(version, self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def close(self, name: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    def tell(self, name: str) -> None:
        """Say that another program changed a file."""
        change = types.FileEvent(self.uri(name), types.FileChangeType.Changed)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))

    async def actions(self, name: str, area: types.Range) -> list[Any]:
        document = types.TextDocumentIdentifier(self.uri(name))
        context = types.CodeActionContext(diagnostics=[])
        return list(
            await self.client.text_document_code_action_async(types.CodeActionParams(document, area, context)) or []
        )

    async def hover(self, name: str, line: int) -> str:
        document = types.TextDocumentIdentifier(self.uri(name))
        found = await self.client.text_document_hover_async(types.HoverParams(document, types.Position(line, 3)))
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return "" if found is None else found.contents.value


@asynccontextmanager
async def editor(folder: Path, capabilities: types.ClientCapabilities) -> AsyncIterator[Editor]:
    client = LanguageClient("test", "1")
    await client.start_io(sys.executable, "-m", "streambound", "lsp")
    found = Editor(client, folder)
    folders = [types.WorkspaceFolder(folder.as_uri(), "folder")]
    await client.initialize_async(types.InitializeParams(capabilities=capabilities, workspace_folders=folders))
    client.initialized(types.InitializedParams())
    try:
        yield found
    finally:
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()


NONE = types.ClientCapabilities()


def play(
    folder: Path, scene: Callable[[Editor], Awaitable[None]], capabilities: types.ClientCapabilities = NONE
) -> None:
    async def main() -> None:
        async with editor(folder, capabilities) as found:
            await scene(found)

    asyncio.run(main())


def offset(text: str, position: types.Position) -> int:
    """A position, in UTF-16 units, as an offset in code points."""
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: position.line])
    units = lines[position.line].encode("utf-16-le")[: 2 * position.character]
    return start + len(units.decode("utf-16-le"))


def covered(text: str, area: types.Range) -> str:
    return text[offset(text, area.start) : offset(text, area.end)]


def edited(text: str, edits: list[types.TextEdit]) -> str:
    for edit in sorted(edits, key=lambda edit: offset(text, edit.range.start), reverse=True):
        start, end = offset(text, edit.range.start), offset(text, edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text
