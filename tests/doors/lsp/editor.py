"""An editor that talks to `hvr lsp` through the client of pygls."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient


class Editor:
    """A client with open texts; it keeps the latest diagnostics of each."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.found: dict[str, lsp.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.applied: list[lsp.WorkspaceEdit] = []
        self.versions: dict[str, int] = {}
        self._news = asyncio.Condition()

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def _(params: lsp.PublishDiagnosticsParams) -> None:
            async with self._news:
                self.found[params.uri] = params
                self._news.notify_all()

        @client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def _(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)

        @client.feature(lsp.WINDOW_LOG_MESSAGE)
        def _(params: lsp.LogMessageParams) -> None:
            self.messages.append(params.message)

        @client.feature(lsp.WORKSPACE_APPLY_EDIT)
        def _(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
            self.applied.append(params.edit)
            return lsp.ApplyWorkspaceEditResult(applied=True)

    def open(self, path: Path, text: str | None = None) -> str:
        """Open a file, or a text under its name, and return its URI."""
        uri = path.as_uri()
        text = path.read_text(encoding="utf-8") if text is None else text
        self.versions[uri] = 1
        item = lsp.TextDocumentItem(uri, "pddl", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str, where: lsp.Range | None = None) -> None:
        """Replace a range, or the whole text."""
        self.versions[uri] += 1
        identity = lsp.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change: Any = lsp.TextDocumentContentChangeWholeDocument(text)
        if where is not None:
            change = lsp.TextDocumentContentChangePartial(where, text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(identity, [change]))

    async def diagnostics(self, uri: str) -> list[lsp.Diagnostic]:
        """Return the diagnostics of the latest version of a text, which may be none."""
        async with self._news, asyncio.timeout(30):
            while uri not in self.found or self.found[uri].version != self.versions[uri]:
                await self._news.wait()
        return list(self.found[uri].diagnostics)

    def at(self, uri: str, line: int, column: int) -> dict[str, Any]:
        """Return the arguments of a request at a position."""
        return {
            "text_document": lsp.TextDocumentIdentifier(uri),
            "position": lsp.Position(line, column),
        }


@asynccontextmanager
async def editor(folder: Path | None = None) -> AsyncIterator[Editor]:
    """Start a server, and end it with the context."""
    client = LanguageClient("test", "1")
    await client.start_io(sys.executable, "-m", "hvr", "lsp", "--stdio")
    here = Editor(client)
    roots = None if folder is None else [lsp.WorkspaceFolder(folder.as_uri(), folder.name)]
    try:
        await client.initialize_async(
            lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), workspace_folders=roots)
        )
        client.initialized(lsp.InitializedParams())
        yield here
    finally:
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
