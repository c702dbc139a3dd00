"""Documents that the studio shows, as JSON: runs, plans and judged plans.

The server sends a run's document to the page; `sharing.py` embeds any of them in one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.base.texts import read_text
from hvr.values import SCHEMA_VERSION

if TYPE_CHECKING:
    from hvr.judging.verdict import PlanVerdict
    from hvr.runs.report.run_page.story import Story

Document = dict[str, Any]

_LONGEST = 20_000
"""Maximum number of characters of a prompt or answer in a document."""


# Runs ---------------------------------------------------------------------------------------------


def run_document(folder: Path) -> Document:
    """Return the document of a run, which may be in progress or broken off.

    Raises:
        DataFileError: The folder is not a run folder, or a file in it is damaged.
    """
    from hvr.runs.folder import read_status
    from hvr.runs.report.run_page.reading import read_story

    story = read_story(folder)
    sight = str(read_status(folder)[0].get("sight") or "")
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "run",
        "name": folder.name,
        "sight": sight,
        "before": None if story.before is None else story.before.to_json(),
        "after": None if story.after is None else story.after.to_json(),
        "story": _told(story),
    }


def _told(story: Story) -> Document:
    told = asdict(replace(story, before=None, after=None, route=None, steps=(), asked=()))
    for name in ("before", "after", "route"):
        del told[name]
    steps = []
    for step in story.steps:
        pose = None if step.pose is None else step.pose._asdict()
        steps.append({**asdict(replace(step, pose=None)), "pose": pose})
    asked = [
        {**asdict(one), "prompt": _cut(one.prompt), "answer": _cut(one.answer)}
        for one in story.asked
    ]
    return {**told, "steps": steps, "asked": asked}


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n… ({len(text)} characters)"


# Plans --------------------------------------------------------------------------------------------


def plan_document(
    domain: Path, problem: Path, plan: Path | str, *, side: str = "steps"
) -> Document:
    """Return the document of a plan: its texts, and each change of the state.

    Args:
        plan: The plan's file, or its text.
        side: The view to begin with: `steps`, `picture`, `tasks`, `numbers` or `drawing`.

    Raises:
        HvrError: A file cannot be read, or there is no plan whose states can be shown.
    """
    from hvr.doors.operations import answer
    from hvr.doors.schema import PlanTextRequest
    from hvr.worlds.facts.drawing import drawing_of

    texts = {
        "domain": read_text(domain),
        "problem": read_text(problem),
        "plan": plan if isinstance(plan, str) else read_text(plan),
    }
    drawing = drawing_of(domain, texts["domain"])
    request = PlanTextRequest(domain=texts["domain"], problem=texts["problem"], plan=texts["plan"])
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "plan",
        "name": problem.name if isinstance(plan, str) else plan.name,
        "side": side,
        "texts": texts,
        "trace": answer("trace_plan", request),
        "drawing": drawing and drawing.to_json(),
    }


# Reports ------------------------------------------------------------------------------------------


def judged_document(judged: Iterable[tuple[str, str, PlanVerdict]]) -> Document:
    """Return the findings of `hvr judge` in plans, given as names, goals and verdicts."""
    from hvr.judging.reports import suggestion, summary
    from hvr.runs.report.sections import report, section, table

    sections = []
    for name, goal, verdict in judged:
        parts = [table("The plan", ("step", "action", "finding", "reason"), _judged_rows(verdict))]
        evidence = list(_evidence(verdict))
        if evidence:
            header = ("step", "effect", "needed by", "undone by")
            parts.append(table("Effects of these steps", header, evidence))
        said = (goal, summary(verdict), *suggestion(verdict))
        sections.append(section(name, *parts, text=[line for line in said if line]))
    return report("Judged plan", sections)


def _judged_rows(verdict: PlanVerdict) -> Iterator[Sequence[str]]:
    from hvr.judging.verdict import CritiqueKind

    missing = CritiqueKind.MISSING
    for number in range(1, len(verdict.plan) + 2):
        here = [critique for critique in verdict.critiques if critique.index == number]
        for critique in here:
            if critique.kind is missing:
                names = " ".join(map(str, critique.actions)) or "?"
                yield "+", names, critique.kind.value, critique.reason
        if number <= len(verdict.plan):
            found = [critique for critique in here if critique.kind is not missing]
            mark, why = (found[-1].kind.value, found[-1].reason) if found else ("", "")
            yield str(number), str(verdict.plan[number - 1]), mark, why


def _evidence(verdict: PlanVerdict) -> Iterator[Sequence[str]]:
    for critique in verdict.critiques:
        for link in critique.links:
            readers = ", ".join(
                "the goal" if reader > len(verdict.plan) else str(reader) for reader in link.readers
            )
            undone = "" if link.undone_by is None else str(link.undone_by)
            yield str(critique.index), link.literal, readers or "nothing", undone


def outline(document: Mapping[str, Any]) -> str:
    """Return a document as plain text, for browsers without JavaScript."""
    if document["kind"] == "run":
        story = document["story"]
        marks = {True: "ok", False: "!!"}
        steps = (
            f"{marks[one['as_expected']]} {one['number']:>3} {one['action']}"
            for one in story["steps"]
        )
        return "\n".join((story["request"], story["outcome"], *steps))
    if document["kind"] == "plan":
        found = document["trace"]["report"]
        return "\n".join((found["outcome"], document["texts"]["plan"]))
    if document["kind"] == "pair":
        both = ((document[side]["title"], *document[side]["steps"]) for side in ("left", "right"))
        return "\n\n".join("\n".join(lines) for lines in both)
    return "\n".join(
        "\t".join(row)
        for section in document["sections"]
        for part in section["parts"]
        if part["kind"] == "table"
        for row in (part["header"], *part["rows"])
    )
