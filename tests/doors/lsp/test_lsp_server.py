"""The language server through a client of the protocol."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp

from hvr.validation.batch import BatchOptions, ModelReader, judge_all
from hvr.validation.findings import findings
from hvr.validation.lint_files import LintTargets, lint_files, without_ignored
from tests.doors.lsp.editor import Editor, editor

pytestmark = pytest.mark.slow
BLOCKS = Path(__file__).parents[3] / "examples" / "blocks"


def session(folder: Path, check: Callable[[Editor], Awaitable[None]]) -> None:
    async def run() -> None:
        async with editor(folder) as here:
            await check(here)

    asyncio.run(run())


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    for name in ("domain.pddl", "problem.pddl", "plan.txt"):
        (tmp_path / name).write_bytes((BLOCKS / name).read_bytes())
    return tmp_path


def test_diagnostics_are_those_of_lint_and_validate(blocks: Path) -> None:
    domain, problem, plan = (blocks / n for n in ("domain.pddl", "problem.pddl", "plan.txt"))
    found = without_ignored(lint_files(LintTargets(((str(domain), str(problem)),))))
    model = ModelReader(BatchOptions()).read(str(domain), str(problem))
    for judged in judge_all(model, [str(plan)]):
        found += findings(judged)
    expected = {(f.file, f.rule.id, f.message) for f in found}

    async def check(here: Editor) -> None:
        seen = set()
        for path in (domain, problem, plan):
            uri = here.open(path)
        for path in (domain, problem, plan):
            uri = path.as_uri()
            here.found.pop(uri, None)
        here.change(plan.as_uri(), plan.read_text(encoding="utf-8"))
        for path in (domain, problem, plan):
            for one in await here.diagnostics(path.as_uri()):
                seen.add((str(path), str(one.code), one.message))
        assert seen == expected
        assert any(code == "HVR101" for _, code, _ in seen)

    session(blocks, check)


def test_a_plan_is_repaired_renamed_and_explained(blocks: Path) -> None:
    async def check(here: Editor) -> None:
        domain, plan = here.open(blocks / "domain.pddl"), here.open(blocks / "plan.txt")
        found = await here.diagnostics(plan)
        client = here.client
        context = lsp.CodeActionContext(found)
        document = lsp.TextDocumentIdentifier(plan)
        actions = await client.text_document_code_action_async(
            lsp.CodeActionParams(document, found[0].range, context)
        )
        action = next(a for a in actions or () if isinstance(a, lsp.CodeAction))
        done = await client.code_action_resolve_async(action)
        assert done.edit is not None
        assert done.edit.changes is not None
        (edit,) = done.edit.changes[plan]
        here.change(plan, edit.new_text, edit.range)
        assert await here.diagnostics(plan) == []
        hints = await client.text_document_inlay_hint_async(
            lsp.InlayHintParams(document, lsp.Range(lsp.Position(0, 0), lsp.Position(9, 0)))
        )
        labels = [str(hint.label) for hint in hints or ()]
        assert labels[0] == "1"
        assert "+(holding a)" in labels[1]
        renamed = await client.text_document_rename_async(
            lsp.RenameParams(new_name="grab", **here.at(plan, 0, 3))
        )
        assert renamed is not None
        assert {uri: len(edits) for uri, edits in (renamed.changes or {}).items()} == {
            domain: 1,
            plan: 3,
        }
        with pytest.raises(Exception, match="already exists"):
            await client.text_document_rename_async(
                lsp.RenameParams(new_name="stack", **here.at(plan, 0, 3))
            )
        with pytest.raises(Exception, match="not a name"):
            await client.text_document_rename_async(
                lsp.RenameParams(new_name="a b", **here.at(plan, 0, 3))
            )

    session(blocks, check)


def test_the_commands_run_on_the_texts_of_the_editor(blocks: Path) -> None:
    async def check(here: Editor) -> None:
        here.open(blocks / "domain.pddl")
        problem = here.open(blocks / "problem.pddl")
        plan = here.open(blocks / "plan.txt", "(pick-up a)\n(stack a b)\n")
        lenses = await here.client.text_document_code_lens_async(
            lsp.CodeLensParams(lsp.TextDocumentIdentifier(plan))
        )
        assert [one.command.title for one in lenses or () if one.command] == [
            "Validate",
            "Show states",
        ]

        async def run(command: str, uri: str) -> dict:
            return await here.client.workspace_execute_command_async(
                lsp.ExecuteCommandParams(command, [uri])
            )

        done = await run("hvr.validate", plan)
        assert done["code"] == 1
        assert "(on c a)" in done["text"]
        assert "+(holding a)" in (await run("hvr.showStates", plan))["text"]
        done = await run("hvr.plan", problem)
        assert done["code"] == 0
        (edit,) = here.applied
        text = str(edit.document_changes)
        assert "problem.plan" in text
        assert "(stack c a)" in text
        assert not (blocks / "problem.plan").exists()  # the editor writes it

    session(blocks, check)


def test_edits_lead_to_the_same_state_as_opening_the_text(blocks: Path) -> None:
    """Random edits, with characters of two code units and all line ends."""
    random_ = random.Random(1)
    text = (blocks / "domain.pddl").read_text(encoding="utf-8")

    async def check(here: Editor) -> None:
        nonlocal text
        uri = here.open(blocks / "domain.pddl")
        for _ in range(60):
            breaks = list(re.finditer(r"\r\n|\r|\n", text))
            begins = [0, *(one.end() for one in breaks)]
            stops = [*(one.start() for one in breaks), len(text)]
            line = random_.randrange(len(begins))
            start = random_.randrange(begins[line], stops[line] + 1)
            end = min(stops[line], start + random_.randrange(6))
            new = random_.choice(["", "x", "(", ")", "\n", "\r\n", "; 𝔸 é", "(p ?x)", " - t"])
            # Columns of an editor are UTF-16.
            first, last = (
                len(text[begins[line] : at].encode("utf-16-le")) // 2 for at in (start, end)
            )
            where = lsp.Range(lsp.Position(line, first), lsp.Position(line, last))
            here.change(uri, new, where)
            text = text[:start] + new + text[end:]
        after = [(d.code, d.message, str(d.range)) for d in await here.diagnostics(uri)]
        names = await _outline(here, uri)
        other = here.open(blocks / "other" / "domain.pddl", text)
        assert [(d.code, d.message, str(d.range)) for d in await here.diagnostics(other)] == after
        assert await _outline(here, other) == names

    session(blocks, check)


async def _outline(here: Editor, uri: str) -> list[str]:
    found = await here.client.text_document_document_symbol_async(
        lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri))
    )
    return [f"{one.name} {one}" for one in found or ()]


def test_a_wrong_request_is_one_error_of_the_protocol(blocks: Path) -> None:
    async def check(here: Editor) -> None:
        uri = here.open(blocks / "domain.pddl")
        assert (
            await here.client.text_document_hover_async(lsp.HoverParams(**here.at(uri, 500, 500)))
            is None
        )
        assert (
            await here.client.text_document_hover_async(
                lsp.HoverParams(**here.at("file:///nowhere/x.pddl", 0, 0))
            )
            is None
        )
        with pytest.raises(Exception, match="nothing"):
            await here.client.workspace_execute_command_async(
                lsp.ExecuteCommandParams("hvr.nothing", [])
            )
        done = await here.client.workspace_execute_command_async(
            lsp.ExecuteCommandParams("hvr.plan", ["file:///nowhere/x.pddl"])
        )
        assert done["code"] == 2

    session(blocks, check)
