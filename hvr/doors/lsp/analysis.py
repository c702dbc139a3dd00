"""The process that lints and validates the texts of an editor.

It reads one JSON request per line from standard input, and writes one line with the result of each.
It has no state except a cache, so the server can kill and restart it at any time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from hvr.errors import HvrError
from hvr.pddl import Location, print_plan, read_plan
from hvr.validation.batch import BatchOptions, ModelReader, UnusableModelError, judge_source
from hvr.validation.findings import Finding, Judged, explain_repair, findings
from hvr.validation.lint_files import LintTargets, lint_files, without_ignored
from hvr.validation.sequences import action_of
from hvr.validation.suites import language_of

_OPTIONS = BatchOptions(happenings=True)
_ADVICE = BatchOptions(advise=True)


def analyse(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the findings about models and plans.

    Args:
        request: `pairs` of a domain and a problem (or None), `plans` as domain, problem and plan,
            and `texts` of open files by path.

    Returns:
        `findings`, each with its file; and `steps` by plan, with the line, number and effect of
            each step.
    """
    texts: dict[str, str] = request["texts"]
    pairs = tuple([(domain, problem) for domain, problem in request["pairs"]])
    found = without_ignored(lint_files(LintTargets(pairs), texts=texts), texts) if pairs else []
    steps: dict[str, Any] = {}
    for domain, problem, plan in request["plans"]:
        judged = _judged(texts, domain, problem, plan, _OPTIONS)
        found += [one for one in findings(judged) if one.file == plan]
        steps[plan] = list(_steps(judged, texts[plan]))
    return {"findings": list(map(_to_json, found)), "steps": steps}


def repair(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the repair of a plan that `hvr validate --advise` suggests, or why there is none.

    Args:
        request: `plan` as domain, problem and plan, and `texts` of open files by path.

    Returns:
        `explanation`; and, if there is a repair, either the steps to `insert` before step `before`
            (None to append them), or the whole repaired `plan`.
    """
    domain, problem, plan = request["plan"]
    judged = _judged(request["texts"], domain, problem, plan, _ADVICE)
    found = judged.result.repair
    if found is None:
        return {"explanation": judged.result.repair_note or "no repair was found"}
    answer: dict[str, Any] = {"explanation": explain_repair(found)}
    if found.change:
        return {**answer, "plan": print_plan(found.plan)}
    return {**answer, "before": found.step, "insert": [str(action) for action in found.actions]}


def _judged(
    texts: Mapping[str, str], domain: str, problem: str, plan: str, options: BatchOptions
) -> Judged:
    if language_of(texts[domain]) is not None:
        options = BatchOptions()  # hierarchical plans have neither happenings nor advice
    try:
        model = ModelReader(options).read(domain, problem, texts=(texts[domain], texts[problem]))
    except UnusableModelError as error:
        return error.result
    return judge_source(model, plan, lambda: texts[plan])


def _steps(judged: Judged, text: str) -> Iterator[dict[str, Any]]:
    try:
        plan = read_plan(text).steps
    except (HvrError, RecursionError):
        return
    changes: dict[int, tuple[list[str], list[str]]] = {}
    for happening in judged.happenings or ():
        added, deleted = changes.setdefault(happening.step, ([], []))
        added += happening.added
        deleted += happening.deleted
    for number, step in enumerate(plan, 1):
        place = action_of(step).location
        if place is None:
            continue
        if number in changes and number <= judged.report.executed:
            added, deleted = changes[number]
            every = [f"+{atom}" for atom in added] + [f"-{atom}" for atom in deleted]
        else:
            every = []
        yield {"line": place.line - 1, "number": number, "changes": every}


def _to_json(finding: Finding) -> dict[str, Any]:
    return {
        "file": finding.file,
        "place": _place(finding.location),
        "rule": finding.rule.id,
        "level": finding.level.value,
        "message": finding.message,
        "about": finding.subject,
        "related": [
            {"file": one.location.file, "place": _place(one.location), "message": one.message}
            for one in finding.related
        ],
    }


def _place(place: Location | None) -> list[int] | None:
    return None if place is None else [place.line - 1, place.column - 1]


def main() -> None:
    """Answer requests until standard input ends."""
    for line in sys.stdin:
        try:
            request = json.loads(line)
            answer = repair(request) if "plan" in request else analyse(request)
        except (HvrError, RecursionError, MemoryError) as error:
            answer = {"error": str(error) or type(error).__name__}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
