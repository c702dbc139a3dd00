"""Reports of verdicts as text, JSON records and SARIF, and a search for shorter plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import hvr
from hvr.judging.symbolic import is_worse
from hvr.judging.verdict import Critique, CritiqueKind, Improvement, PlanVerdict
from hvr.pddl import GroundAction, State, Step, Task
from hvr.planning.search.planners import Planner
from hvr.validation.sequences import action_of
from hvr.validation.validator import Validator

# Reports ------------------------------------------------------------------------------------------

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
# SARIF level, description of the rule, and predicate of a message
_RULES = {
    CritiqueKind.REMOVE: ("warning", "A step of the plan is redundant.", "is redundant"),
    CritiqueKind.MISSING: ("error", "Steps are missing from the plan.", "is missing here"),
    CritiqueKind.ARGUMENT: ("error", "An argument of a step is wrong.", "has a wrong argument"),
}
_SHOWN = 3


def lines(verdict: PlanVerdict) -> Iterator[str]:
    """Yield the lines of a report: the plan with its findings, then a summary."""
    at: dict[int, list[Critique]] = {}
    for critique in verdict.critiques:
        at.setdefault(critique.index, []).append(critique)
    for number in range(1, len(verdict.plan) + 2):
        for critique in at.get(number, ()):
            if critique.kind is CritiqueKind.MISSING:
                names = " ".join(map(str, critique.actions)) or "?"
                yield f"   + {critique.kind.value} {names}"
                yield f"       {critique.reason}"
        if number > len(verdict.plan):
            break
        here = [c for c in at.get(number, ()) if c.kind is not CritiqueKind.MISSING]
        kinds = {c.kind for c in here}
        mark = "-" if CritiqueKind.REMOVE in kinds else "!" if here else " "
        named = "".join(f"  {kind.value}" for kind in CritiqueKind if kind in kinds)
        yield f"{mark} {number:3} {verdict.plan[number - 1]}{named}"
        for critique in here:
            cause = f"{critique.cause.value}: " if critique.cause else ""
            yield f"       {cause}{critique.reason}"
    yield summary(verdict)
    removed = _numbers(sorted(verdict.removed))
    others = [o for o in verdict.alternatives if set(o) != set(verdict.removed)]
    for other in others[:_SHOWN]:
        yield f"equally good: remove {_numbers(other)} instead of {removed}"
    yield from suggestion(verdict)


def suggestion(verdict: PlanVerdict) -> Iterator[str]:
    better = verdict.improvement
    if better is None:
        return
    fewer = len(verdict.repaired or verdict.plan) - len(better.plan)
    enough = f"{len(better.plan)} step{' is' if len(better.plan) == 1 else 's are'} enough"
    steps = _numbers(range(better.first, better.last + 1))
    of = "" if verdict.repaired in (None, verdict.plan) else " of the repaired plan"
    yield f"IMPROVE: {enough}, {fewer} fewer; instead of {steps}{of}:"
    yield from (f"      {action}" for action in better.instead or ("nothing",))


def summary(verdict: PlanVerdict) -> str:
    if verdict.outcome == "clean":
        proof = "proven: no step is redundant" if verdict.proven else "nothing found"
        return f"clean: {len(verdict.plan)} step{'s' * (len(verdict.plan) != 1)} ({proof})"
    if verdict.outcome == "undecided":
        return f"undecided: {verdict.unknown}"
    removed = len(verdict.removed)
    missing = sum(len(c.actions) or 1 for c in verdict.missing)
    wrong = len({c.index for c in verdict.critiques if c.kind is CritiqueKind.ARGUMENT})
    parts = [f"{removed} redundant"] * bool(removed) + [f"{missing} missing"] * bool(missing)
    parts += [f"{wrong} with wrong arguments"] * bool(wrong)
    end = ""
    if verdict.repaired is not None:
        proof = ", proven minimal" if verdict.proven else ""
        if not verdict.proven and missing:
            proof = f", smallest found; every repair inserts at least {verdict.least}"
        left = len(verdict.repaired)
        end = f"; {left} step{'s remain' if left != 1 else ' remains'}{proof}"
    unknown = f" ({verdict.unknown})" if verdict.unknown else ""
    found = f"{', '.join(parts[:-1])}{' and ' * (len(parts) > 1)}{parts[-1]}"
    return f"criticised: {found}{end}{unknown}"


def record(request: str, verdict: PlanVerdict) -> dict[str, Any]:
    """Return a verdict as a training record: request, plan, findings, repaired plan and proof."""
    document = verdict.to_json()
    proof = {name: document[name] for name in ("valid", "proven", "least", "edits", "unknown")}
    return {
        "request": request,
        "plan": [str(action) for action in verdict.plan],
        "outcome": verdict.outcome,
        "critique": document["critiques"],
        "repaired": document["repaired"],
        "proof": proof,
    }


def _numbers(numbers: Sequence[int]) -> str:
    return ("step " if len(numbers) == 1 else "steps ") + ", ".join(map(str, numbers))


def sarif(verdicts: Sequence[tuple[Path, PlanVerdict, Sequence[Step]]]) -> dict[str, Any]:
    """Return the findings as a SARIF log, given the file, verdict and steps of each plan."""
    kinds = list(_RULES)
    results = [
        {
            "ruleId": critique.kind.value,
            "ruleIndex": kinds.index(critique.kind),
            "level": _RULES[critique.kind][0],
            "message": {"text": _message(critique)},
            "locations": [_location(file, critique, [action_of(step) for step in steps])],
        }
        for file, verdict, steps in verdicts
        for critique in verdict.critiques
    ]
    rules = [{"id": kind.value, "shortDescription": {"text": _RULES[kind][1]}} for kind in kinds]
    driver = {"name": "hvr judge", "semanticVersion": hvr.__version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _message(critique: Critique) -> str:
    names = " ".join(map(str, critique.actions)) or "steps"
    return f"{names} {_RULES[critique.kind][2]}: {critique.reason}"


def _location(file: Path, critique: Critique, actions: Sequence[GroundAction]) -> dict[str, Any]:
    action = actions[min(critique.index, len(actions)) - 1] if actions else None
    place = action.location if action is not None else None
    region: dict[str, int] = {"startLine": 1}
    if place is not None:
        region = {"startLine": place.line, "startColumn": place.column}
    physical = {"artifactLocation": {"uri": file.as_posix()}, "region": region}
    return {"physicalLocation": physical}


# Shorter plans ------------------------------------------------------------------------------------
# A shorter plan with other steps is a suggestion, not a finding: the judged plan is not wrong.


def shorter_plan(
    validator: Validator, verdict: PlanVerdict, planner: Planner
) -> Improvement | None:
    """Ask a planner for a plan that is shorter than the repaired one and no worse by the metric.

    Returns:
        The plan and its difference; None if no plan is repaired, or the planner's plan does not
        qualify.

    Raises:
        PlannerError: The planner found no plan in time, or does not support the task.
    """
    left = verdict.repaired
    if not left:
        return None
    found = planner.solve(_from(validator.state)).plan
    if found is None or len(found) >= len(left):
        return None
    # The planner may have ignored costs, preferences or constraints.
    report = validator.check(found)
    if not report.valid or is_worse(validator, left, found):
        return None
    begin = 0
    while begin < len(found) and found[begin] == left[begin]:
        begin += 1
    end = 0
    while end < len(found) - begin and found[-1 - end] == left[-1 - end]:
        end += 1
    return Improvement(found, begin + 1, len(left) - end, found[begin : len(found) - end])


def _from(state: State) -> Task:
    task = state.task
    return Task(task.domain, task.problem.replace(init=state.atoms(static=True)))
