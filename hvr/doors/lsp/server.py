"""The language server: open texts, positions in them, diagnostics, and editor features."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from hvr.doors.lsp.actions import (
    PLAN,
    SHOW_STATES,
    VALIDATE,
    Analyst,
    Edit,
    NoAnalysisError,
    fixes,
    formatted,
    run,
)
from hvr.doors.lsp.completion import describe, proposals
from hvr.doors.lsp.models import Models, NamePlace
from hvr.doors.lsp.symbols import (
    Kind,
    Occurrence,
    PlanSymbols,
    Role,
    Symbols,
    changed,
    column,
    name_at,
    units,
)
from hvr.validation.findings import RULES
from hvr.validation.suites import FileKind

# Server -------------------------------------------------------------------------------------------
# The server: texts that are open in an editor, places in them, and their diagnostics.

_PAUSE = 0.05
"""Seconds without a change after which an analysis begins."""
_STALE = 1.0
"""Seconds after which the analysis of a text that has changed since is cancelled."""
_SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
_UNUSED = frozenset("HVR301 HVR304 HVR305 HVR306 HVR307 HVR308 HVR316".split())


class PddlServer(LanguageServer):
    """The language server of one editor, with the text of each file that is open in it."""

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
        return to_fs_path(uri) or uri

    @property
    def encoding(self) -> str:
        """The encoding in whose code units the editor counts columns."""
        found = self.workspace.position_encoding or "utf-16"
        return str(getattr(found, "value", found))

    def column(self, file: str, line: int, column: int) -> int:
        """Convert a column in characters to the editor's units."""
        return units(self._line(file, line)[:column], self.encoding)

    def place(self, uri: str, position: lsp.Position) -> tuple[str, int, int]:
        """Return the file, line and column (in characters) of an editor's position."""
        file = self.file(uri)
        text = self._line(file, position.line)
        return file, position.line, column(text, position.character, self.encoding)

    def change(self, uri: str, changes: Iterable[lsp.TextDocumentContentChangeEvent]) -> None:
        """Apply the editor's changes to an open text."""
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
        """Convert a range in characters to the editor's units."""
        return lsp.Range(
            lsp.Position(line, self.column(file, line, start)),
            lsp.Position(end_line, self.column(file, end_line, end)),
        )

    def _line(self, file: str, line: int) -> str:
        lines = self.models.names(file).tree.lines
        return lines[line] if line < len(lines) else ""

    def location(self, file: str, one: Occurrence) -> lsp.Location:
        where = self.range(file, one.line, one.start, one.line, one.end)
        return lsp.Location(from_fs_path(file) or file, where)

    def edit(self, file: str, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
        uri = from_fs_path(file) or file
        changes = [lsp.TextEdit(self.range(file, *edit[:4]), edit.text) for edit in edits]
        return lsp.WorkspaceEdit(changes={uri: changes})

    # Analysis

    def schedule(self) -> None:
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


# Features -----------------------------------------------------------------------------------------
# The features of the language server; each delegates to the responsible module.

_MOST_CHANGES = 6
_NAME = re.compile(r"[a-z][a-z0-9_-]*", re.IGNORECASE)
_ICONS = {
    "predicate": lsp.CompletionItemKind.Property,
    "function": lsp.CompletionItemKind.Field,
    "type": lsp.CompletionItemKind.Class,
    "object": lsp.CompletionItemKind.Value,
    "constant": lsp.CompletionItemKind.Constant,
    "parameter": lsp.CompletionItemKind.Variable,
    "keyword": lsp.CompletionItemKind.Keyword,
    "domain": lsp.CompletionItemKind.Module,
}
_SYMBOLS = {
    Kind.TYPE: lsp.SymbolKind.Class,
    Kind.OBJECT: lsp.SymbolKind.Constant,
    Kind.RELATION: lsp.SymbolKind.Property,
    Kind.SCHEMA: lsp.SymbolKind.Function,
    Kind.METHOD: lsp.SymbolKind.Method,
}


def make_server() -> PddlServer:
    server = PddlServer()
    _add_texts(server)
    _add_navigation(server)
    _add_renaming(server)
    _add_editing(server)
    _add_fixes(server)
    _add_commands(server)
    return server


def _add_texts(server: PddlServer) -> None:
    @server.feature(lsp.INITIALIZED)
    def initialized(ls: PddlServer, _: lsp.InitializedParams) -> None:
        ls.models.roots = [ls.file(folder.uri) for folder in ls.workspace.folders.values()]
        if not ls.models.roots and ls.workspace.root_path:
            ls.models.roots = [ls.workspace.root_path]

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(ls: PddlServer, params: lsp.DidOpenTextDocumentParams) -> None:
        ls.models.texts[ls.file(params.text_document.uri)] = params.text_document.text
        ls.schedule()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(ls: PddlServer, params: lsp.DidChangeTextDocumentParams) -> None:
        ls.change(params.text_document.uri, params.content_changes)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(ls: PddlServer, params: lsp.DidCloseTextDocumentParams) -> None:
        ls.models.texts.pop(ls.file(params.text_document.uri), None)
        ls.schedule()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(ls: PddlServer, _: lsp.DidChangeWatchedFilesParams) -> None:
        ls.schedule()

    @server.feature(lsp.SHUTDOWN)
    async def shutdown(ls: PddlServer, _: None) -> None:
        await ls.analyst.end()


def _at(ls: PddlServer, params: Any) -> tuple[str, Occurrence | None]:
    file, line, column = ls.place(params.text_document.uri, params.position)
    return file, name_at(ls.models.names(file), line, column)


def _add_navigation(server: PddlServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(ls: PddlServer, params: lsp.HoverParams) -> lsp.Hover | None:
        file, found = _at(ls, params)
        text = "" if found is None else describe(ls.models, file, found)
        if found is None or not text:
            return None
        where = ls.range(file, found.line, found.start, found.line, found.end)
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), where)

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(ls: PddlServer, params: lsp.DefinitionParams) -> list[lsp.Location]:
        file, found = _at(ls, params)
        place = None if found is None else ls.models.declaration(file, found)
        return [] if place is None else [ls.location(place[0], place[1].occurrence)]

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(ls: PddlServer, params: lsp.ReferenceParams) -> list[lsp.Location]:
        file, found = _at(ls, params)
        places: list[NamePlace] = [] if found is None else list(ls.models.places(file, found))
        declared = params.context.include_declaration
        return [
            ls.location(other, one)
            for other, one in places
            if declared or one.role is not Role.DECLARED
        ]


def _add_renaming(server: PddlServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(ls: PddlServer, params: lsp.PrepareRenameParams) -> lsp.Range | None:
        file, found = _at(ls, params)
        if found is None or ls.models.declaration(file, found) is None:
            return None
        return ls.range(file, found.line, found.start, found.line, found.end)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(ls: PddlServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        file, found = _at(ls, params)
        if found is None or ls.models.declaration(file, found) is None:
            return None
        name = _new_name(ls, file, found, params.new_name)
        changes: dict[str, list[lsp.TextEdit]] = {}
        for other, one in ls.models.places(file, found):
            where = ls.location(other, one)
            changes.setdefault(where.uri, []).append(lsp.TextEdit(where.range, name))
        return lsp.WorkspaceEdit(changes=changes)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(ls: PddlServer, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        file = ls.file(params.text_document.uri)
        names = ls.models.names(file)
        found: list[lsp.DocumentSymbol] = []
        if not isinstance(names, Symbols):
            return []
        for kind, icon in _SYMBOLS.items():
            for one in names.declared(kind):
                at, node = one.occurrence, one.node
                name = ls.range(file, at.line, at.start, at.line, at.end)
                whole = name
                if node is not None and kind not in (Kind.TYPE, Kind.OBJECT):
                    whole = ls.range(file, node.line, node.start, node.end_line, node.end)
                found.append(lsp.DocumentSymbol(at.name, icon, whole, name, one.noun))
        return found


def _new_name(ls: PddlServer, file: str, found: Occurrence, name: str) -> str:
    variable = found.kind is Kind.VARIABLE
    if not _NAME.fullmatch(name.removeprefix("?") if variable else name):
        raise JsonRpcInvalidParams(
            f"{name!r} is not a name: expected a letter, then letters, digits, '-' and '_'"
        )
    name = f"?{name.removeprefix('?')}" if variable else name
    other = found._replace(name=name.lower())
    if other.name != found.name and ls.models.declaration(file, other) is not None:
        raise JsonRpcInvalidParams(f"{found.kind.value} {name!r} already exists")
    return name


def _add_editing(server: PddlServer) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION,
        lsp.CompletionOptions(trigger_characters=["(", ":", "?", "-", " "]),
    )
    def completion(ls: PddlServer, params: lsp.CompletionParams) -> lsp.CompletionList:
        file, line, column = ls.place(params.text_document.uri, params.position)
        text = ls.models.names(file).tree.lines[line] if line >= 0 else ""
        start = column
        while start > 0 and text[start - 1] not in " \t();":
            start -= 1
        where = ls.range(file, line, start, line, column)
        items = [
            lsp.CompletionItem(
                one.name,
                kind=_ICONS.get(one.noun, lsp.CompletionItemKind.Function),
                detail=f"{one.noun} {one.detail}".strip(),
                sort_text=f"{one.rank}{one.name}",
                text_edit=lsp.TextEdit(where, one.name),
            )
            for one in proposals(ls.models, file, line, column)
        ]
        return lsp.CompletionList(is_incomplete=False, items=items)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(
        ls: PddlServer, params: lsp.DocumentFormattingParams
    ) -> list[lsp.TextEdit] | None:
        file = ls.file(params.text_document.uri)
        text = ls.models.text(file)
        new = formatted(text, indent=params.options.tab_size)
        if new == text:
            return None
        lines = ls.models.names(file).tree.lines
        whole = ls.range(file, 0, 0, len(lines) - 1, len(lines[-1]))
        return [lsp.TextEdit(whole, new)]

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def hints(ls: PddlServer, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        file = ls.file(params.text_document.uri)
        found: list[lsp.InlayHint] = []
        lines = ls.models.names(file).tree.lines
        first, last = params.range.start.line, params.range.end.line
        for step in ls.steps.get(file, ()):
            line = step["line"]
            if first <= line <= last and line < len(lines):
                at = ls.range(file, line, 0, line, len(lines[line]))
                number = lsp.InlayHint(at.start, f"{step['number']}", padding_right=True)
                found.append(number)
                if shown := _changes(step["changes"]):
                    found.append(lsp.InlayHint(at.end, shown, padding_left=True))
        return found


def _changes(changes: list[str]) -> str:
    more = f" and {len(changes) - _MOST_CHANGES} more" if len(changes) > _MOST_CHANGES else ""
    return " ".join(changes[:_MOST_CHANGES]) + more


def _add_fixes(server: PddlServer) -> None:
    kinds = [lsp.CodeActionKind.QuickFix]

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True),
    )
    def actions(ls: PddlServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        file = ls.file(params.text_document.uri)
        about = {(one["rule"], one["message"]): one for one in ls.found.get(file, ())}
        found: list[lsp.CodeAction] = []
        for one in params.context.diagnostics:
            if one.source != "hvr":
                continue
            known = about.get((str(one.code), one.message), {})
            _, line, column = ls.place(params.text_document.uri, one.range.start)
            rule = str(one.code)
            for fix in fixes(
                ls.models, file, rule, one.message, line, column, known.get("about", "")
            ):
                edit = ls.edit(file, fix.edits)
                found.append(
                    lsp.CodeAction(
                        fix.title, kinds[0], [one], fix.preferred, edit=edit, data={"rule": rule}
                    )
                )
            if rule.startswith("HVR1") and ls.models.kind(file) is FileKind.PLAN:
                found.append(
                    lsp.CodeAction("Repair the plan", kinds[0], [one], True, data={"plan": file})
                )
        return found

    @server.feature(lsp.CODE_ACTION_RESOLVE)
    async def resolve(ls: PddlServer, action: lsp.CodeAction) -> lsp.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        file = data.get("plan", "")
        of = ls.models.problem_of(file) if file in ls.models.texts else None
        if of is None:
            return action
        texts = {name: ls.models.text(name) for name in (*of, file)}
        try:
            answer = await ls.analyst.ask({"texts": texts, "plan": [*of, file]})
        except NoAnalysisError as error:
            answer = {"explanation": str(error)}
        edits = _repair(ls, file, answer)
        if edits:
            action.edit = ls.edit(file, edits)
        else:
            message = f"no repair: {answer['explanation']}"
            ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, message))
        return action


def _repair(ls: PddlServer, file: str, answer: dict[str, Any]) -> list[Edit]:
    names = ls.models.names(file)
    lines = names.tree.lines
    if "plan" in answer:
        return [Edit(0, 0, len(lines) - 1, len(lines[-1]), answer["plan"])]
    if "insert" not in answer or not isinstance(names, PlanSymbols):
        return []
    steps = names.steps
    before = answer["before"]
    if before is not None and before <= len(steps):
        line = steps[before - 1].line
        return [Edit(line, 0, line, 0, "".join(f"{step}\n" for step in answer["insert"]))]
    line = steps[-1].end_line if steps else len(lines) - 1
    column = len(lines[line])
    return [Edit(line, column, line, column, "".join(f"\n{step}" for step in answer["insert"]))]


def _add_commands(server: PddlServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def lenses(ls: PddlServer, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        file = ls.file(params.text_document.uri)
        kind = ls.models.kind(file)
        titles = {
            FileKind.PROBLEM: (("Validate its plans", VALIDATE), ("Plan", PLAN)),
            FileKind.PLAN: (("Validate", VALIDATE), ("Show states", SHOW_STATES)),
        }.get(kind, ())
        items = ls.models.names(file).tree.items
        line = items[0].line if items else 0
        where = ls.range(file, line, 0, line, 0)
        uri = params.text_document.uri
        return [
            lsp.CodeLens(where, lsp.Command(name, command, arguments=[uri]))
            for name, command in titles
        ]

    def add(command: str) -> None:
        @server.command(command)
        async def execute(ls: PddlServer, uri: str) -> dict[str, Any]:
            return await _execute(ls, command, ls.file(uri))

    for command in (VALIDATE, PLAN, SHOW_STATES):
        add(command)


async def _execute(ls: PddlServer, command: str, file: str) -> dict[str, Any]:
    done = await run(ls.models, command, file)
    kind = lsp.MessageType.Info if done.code == 0 else lsp.MessageType.Warning
    written = ""
    if done.plan:
        written = await _write_plan(ls, file, done.plan)
    message = f"wrote {Path(written).name}" if written else done.text
    ls.window_show_message(lsp.ShowMessageParams(kind, message))
    return {"code": done.code, "text": done.text, "file": written}


async def _write_plan(ls: PddlServer, problem: str, text: str) -> str:
    path = Path(problem)
    target = path.with_suffix(".plan")
    number = 2
    while target.exists():
        target = path.with_name(f"{path.stem}-{number}.plan")
        number += 1
    uri = from_fs_path(str(target)) or str(target)
    start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    edit = lsp.WorkspaceEdit(
        document_changes=[
            lsp.CreateFile(uri, options=lsp.CreateFileOptions(ignore_if_exists=True)),
            lsp.TextDocumentEdit(
                lsp.OptionalVersionedTextDocumentIdentifier(uri), [lsp.TextEdit(start, text)]
            ),
        ]
    )
    answer = await ls.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit, "hvr: plan"))
    return str(target) if answer.applied else ""
