"""The server: texts that are open in an editor, places in them, and their diagnostics."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from hvr.doors.lsp.commands import Analyst, NoAnalysisError
from hvr.doors.lsp.edits import Edit
from hvr.doors.lsp.models import Models
from hvr.doors.lsp.symbols import Occurrence
from hvr.doors.lsp.syntax import changed, column, units
from hvr.validation.findings import RULES
from hvr.validation.suites import FileKind

_PAUSE = 0.05
"""Seconds without a change before an analysis begins."""
_STALE = 1.0
"""Seconds after which an analysis of an older text is given up."""
_SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
_UNUSED = frozenset("HVR301 HVR304 HVR305 HVR306 HVR307 HVR308 HVR316".split())


class PddlServer(LanguageServer):
    """The server with the texts of its editor."""

    def __init__(self) -> None:
        super().__init__("hvr", version("hvr"))
        self.models = Models()
        self.analyst = Analyst()
        self.steps: dict[str, list[dict[str, Any]]] = {}
        self.found: dict[str, list[dict[str, Any]]] = {}
        self._shown: set[str] = set()
        self._waiting: asyncio.Task[None] | None = None
        self._changed = 0

    # Positions

    def file(self, uri: str) -> str:
        """Return the path of a document."""
        return to_fs_path(uri) or uri

    @property
    def encoding(self) -> str:
        """The code units of the editor's columns."""
        found = self.workspace.position_encoding or "utf-16"
        return str(getattr(found, "value", found))

    def column(self, file: str, line: int, column: int) -> int:
        """Return a column in the editor's units."""
        return units(self._line(file, line)[:column], self.encoding)

    def place(self, uri: str, position: lsp.Position) -> tuple[str, int, int]:
        """Return the file, line and column, in characters, of a position."""
        file = self.file(uri)
        text = self._line(file, position.line)
        return file, position.line, column(text, position.character, self.encoding)

    def change(self, uri: str, changes: Iterable[lsp.TextDocumentContentChangeEvent]) -> None:
        """Change an open text."""
        file = self.file(uri)
        text = self.models.texts.get(file, "")
        for one in changes:
            if isinstance(one, lsp.TextDocumentContentChangePartial):
                start, end = one.range.start, one.range.end
                first, last = (start.line, start.character), (end.line, end.character)
                text = changed(text, first, last, one.text, self.encoding)
            else:
                text = one.text
        self.models.texts[file] = text
        self.schedule()

    def range(self, file: str, line: int, start: int, end_line: int, end: int) -> lsp.Range:
        """Return a range in the editor's units."""
        return lsp.Range(
            lsp.Position(line, self.column(file, line, start)),
            lsp.Position(end_line, self.column(file, end_line, end)),
        )

    def _line(self, file: str, line: int) -> str:
        lines = self.models.names(file).tree.lines
        return lines[line] if line < len(lines) else ""

    def location(self, file: str, one: Occurrence) -> lsp.Location:
        """Return the location of a name."""
        where = self.range(file, one.line, one.start, one.line, one.end)
        return lsp.Location(from_fs_path(file) or file, where)

    def edit(self, file: str, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
        """Return edits of one file."""
        uri = from_fs_path(file) or file
        changes = [lsp.TextEdit(self.range(file, *edit[:4]), edit.text) for edit in edits]
        return lsp.WorkspaceEdit(changes={uri: changes})

    # Analysis

    def schedule(self) -> None:
        """Analyse the open texts soon."""
        self._changed += 1
        if self._waiting is None or self._waiting.done():
            self._waiting = asyncio.ensure_future(self._analyse_all())

    async def _analyse_all(self) -> None:
        seen = -1
        while seen != self._changed:
            seen = self._changed
            await asyncio.sleep(_PAUSE)
            if seen != self._changed:
                continue
            asking = asyncio.ensure_future(self.analyst.ask(self._request()))
            begun = asyncio.get_running_loop().time()
            while not asking.done():
                await asyncio.wait([asking], timeout=_PAUSE)
                late = asyncio.get_running_loop().time() - begun > _STALE
                if late and seen != self._changed and not asking.done():
                    asking.cancel()
                    await asyncio.wait([asking])
                    break
            if asking.cancelled():
                continue
            try:
                answer = asking.result()
            except NoAnalysisError as error:
                self.window_log_message(
                    lsp.LogMessageParams(lsp.MessageType.Warning, f"no diagnostics: {error}")
                )
                continue
            if seen == self._changed:
                self._publish(answer)

    def _request(self) -> dict[str, Any]:
        """Return the request for all open texts, with the other files of their models."""
        pairs: dict[tuple[str, str | None], None] = {}
        plans: list[tuple[str, str, str]] = []
        models = self.models
        for file in models.texts:
            kind = models.kind(file)
            if kind is FileKind.PLAN:
                if (of := models.problem_of(file)) is not None:
                    plans.append((*of, file))
                continue
            model = models.of(file)
            if model is None or kind is FileKind.BROKEN:
                if file.lower().endswith((".pddl", ".hddl")):
                    pairs.setdefault((file, None))
            elif file != model.domain:
                pairs.setdefault((model.domain, file))
        paired = {domain for domain, _ in pairs}
        for file in models.texts:
            if models.kind(file) is FileKind.DOMAIN and file not in paired:
                pairs.setdefault((file, None))
        texts = dict(models.texts)
        for files in (*pairs, *plans):
            texts.update({f: models.text(f) for f in files if f is not None})
        return {"pairs": list(pairs), "plans": plans, "texts": texts}

    def _publish(self, answer: dict[str, Any]) -> None:
        self.steps = answer["steps"]
        self.found = {}
        for one in answer["findings"]:
            self.found.setdefault(one["file"], []).append(one)
        now = set(self.models.texts)
        for file in sorted(now | self._shown):
            uri = from_fs_path(file) or file
            shown = [self._diagnostic(file, one) for one in self.found.get(file, ()) if file in now]
            self.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(uri, shown, self._version(uri))
            )
        self._shown = now
        if self.client_capabilities.workspace is not None:
            hints = self.client_capabilities.workspace.inlay_hint
            if hints is not None and hints.refresh_support:
                self.workspace_inlay_hint_refresh(None)

    def _version(self, uri: str) -> int | None:
        document = self.workspace.text_documents.get(uri)
        return None if document is None else document.version

    def _diagnostic(self, file: str, one: dict[str, Any]) -> lsp.Diagnostic:
        rule = RULES[one["rule"]]
        return lsp.Diagnostic(
            self._where(file, one["place"]),
            one["message"],
            _SEVERITY[one["level"]],
            code=rule.id,
            source="hvr",
            tags=[lsp.DiagnosticTag.Unnecessary] if rule.id in _UNUSED else None,
            related_information=[
                lsp.DiagnosticRelatedInformation(
                    lsp.Location(
                        from_fs_path(other["file"]) or other["file"],
                        self._where(other["file"], other["place"]),
                    ),
                    other["message"],
                )
                for other in one["related"]
            ]
            or None,
        )

    def _where(self, file: str, place: Sequence[int] | None) -> lsp.Range:
        """Return the range of the word or the list at a place, at most to the end of its line."""
        tree = self.models.names(file).tree
        line, start = place or (0, 0)
        line = min(line, len(tree.lines) - 1)
        text = tree.lines[line]
        start = min(start, len(text))
        end = start
        if text[start : start + 1] == "(":
            path = tree.path(line, start + 1)
            inner = path[-1] if path else None
            same = inner is not None and (inner.line, inner.start) == (line, start)
            one_line = same and inner is not None and inner.closed and inner.end_line == line
            end = inner.end if one_line and inner is not None else len(text.rstrip())
        else:
            while end < len(text) and text[end] not in " \t();":
                end += 1
        return self.range(file, line, start, line, max(end, min(start + 1, len(text))))
