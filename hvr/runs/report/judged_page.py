"""The page of a judged plan: each step with what is said of it, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable

from hvr.judging.reports import advice, summary
from hvr.judging.verdict import Critique, CritiqueKind, PlanVerdict
from hvr.runs.report.markup import element, escaped, page, paragraph, table


def judged_page(judged: Iterable[tuple[str, str, PlanVerdict]]) -> str:
    """Return the page of some plans: of each its name, its goal, and the verdict."""
    parts = []
    for name, goal, verdict in judged:
        parts.append(element("h2", escaped(name)))
        parts.append(paragraph(goal, "note"))
        parts.append(element("p", escaped(summary(verdict))))
        parts.append(table("The plan", ("step", "action", "finding", "reason"), _rows(verdict)))
        parts += [element("p", escaped(line)) for line in advice(verdict)]
        evidence = list(_evidence(verdict))
        if evidence:
            header = ("step", "makes", "read by", "undone by")
            parts.append(table("What the named steps make", header, evidence))
    return page("Judged plan", "\n".join((element("h1", "Judged plan"), *parts)))


def _rows(verdict: PlanVerdict) -> Iterable[tuple[str, str, str, str]]:
    at: dict[int, list[Critique]] = {}
    for critique in verdict.critiques:
        at.setdefault(critique.index, []).append(critique)
    for number in range(1, len(verdict.plan) + 2):
        mark, why = "", ""
        for critique in at.get(number, ()):
            if critique.kind is not CritiqueKind.MISSING:
                mark, why = critique.kind.value, critique.reason
            else:
                names = " ".join(map(str, critique.actions)) or "?"
                yield "+", names, critique.kind.value, critique.reason
        if number <= len(verdict.plan):
            action = str(verdict.plan[number - 1])
            yield str(number), action, mark, why


def _evidence(verdict: PlanVerdict) -> Iterable[tuple[str, str, str, str]]:
    for critique in verdict.critiques:
        for link in critique.links:
            readers = ", ".join(
                "the goal" if reader > len(verdict.plan) else str(reader) for reader in link.readers
            )
            undone = "" if link.undone_by is None else str(link.undone_by)
            yield str(critique.index), link.literal, readers or "nothing", undone
