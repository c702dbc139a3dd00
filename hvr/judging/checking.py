"""The judge of plans with times, preferences, constraints or a metric: by full checks.

A step, or a pair of steps, is superfluous if the plan without it is valid and no worse by the
metric. If a plan is valid without one of its steps, this is what is wrong with it; else what the
validator's advice puts in is missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from hvr.errors import HvrError
from hvr.judging.verdict import Cause, Critique, CritiqueKind, PlanVerdict
from hvr.pddl import GroundAction, Step
from hvr.validation import Validator
from hvr.validation.minimise import minimise
from hvr.validation.repair import find_repair
from hvr.validation.report import Outcome
from hvr.validation.sequences import action_of

_ROUNDS = 5
_WHY = "the plan without it is valid and no worse"


def judge_by_checking(validator: Validator, plan: Sequence[Step], *, exact: int) -> PlanVerdict:
    """Judge a plan whose validity is more than the execution of its steps; see `judge`."""
    actions = tuple([action_of(step) for step in plan])
    report = validator.check(plan)
    if report.outcome is Outcome.UNKNOWN:
        return PlanVerdict(actions, unknown=report.reason)
    if report.valid:
        return _judge_valid(validator, plan, actions, exact)
    failing = None if report.failure is None else report.failure.step
    without = _without_one(validator, plan, failing, exact)
    if without is not None:
        return _judge_rest(validator, plan, actions, without, failing, exact)
    critiques, steps, places = [], list(plan), list(range(len(plan)))
    why = ""
    for _ in range(_ROUNDS):
        # The search ends by the number of its states, so that a busy machine changes nothing.
        repair, why = find_repair(validator, steps, report, seconds=math.inf)
        if repair is None:
            break
        at = len(steps) if repair.step is None else repair.step - 1
        place = places[at] if at < len(places) else len(plan)
        reason = report.failure.message if report.failure is not None else "the goal is missed"
        critiques.append(Critique(CritiqueKind.MISSING, place + 1, repair.actions, reason))
        steps[at:at] = repair.actions
        places[at:at] = [place] * len(repair.actions)
        report = validator.check(steps)
        if report.valid:
            repaired = tuple([action_of(step) for step in steps])
            return PlanVerdict(actions, tuple(critiques), repaired, False)
    failure = report.failure
    number = len(plan) + 1 if failure is None or failure.step is None else failure.step
    reason = failure.message if failure is not None else why
    found = critiques or [Critique(CritiqueKind.MISSING, number, (), reason)]
    return PlanVerdict(actions, tuple(found), None, False, unknown=why)


def _without_one(
    validator: Validator, plan: Sequence[Step], failing: int | None, exact: int
) -> int | None:
    """Return the index of a step without which a plan is valid, the failing one before others."""
    order = [] if failing is None else [failing - 1]
    if len(plan) <= exact:
        order += [index for index in range(len(plan)) if index not in order]
    for index in order:
        try:
            if validator.check([*plan[:index], *plan[index + 1 :]]).valid:
                return index
        except HvrError:
            continue
    return None


def _judge_rest(
    validator: Validator,
    plan: Sequence[Step],
    actions: tuple[GroundAction, ...],
    without: int,
    failing: int | None,
    exact: int,
) -> PlanVerdict:
    """Judge a plan that is valid without one of its steps."""
    rest = [index for index in range(len(plan)) if index != without]
    verdict = _judge_valid(
        validator, [plan[i] for i in rest], tuple([actions[i] for i in rest]), exact
    )
    fails = "it cannot be executed" if failing == without + 1 else "with it the plan is not valid"
    first = Critique(
        CritiqueKind.REMOVE, without + 1, (actions[without],),
        f"{fails}, and without it the plan is valid", Cause.CONTRADICTORY,
    )  # fmt: skip
    others = [replace(c, index=rest[c.index - 1] + 1) for c in verdict.critiques]
    critiques = tuple(sorted([first, *others], key=lambda critique: critique.index))
    return replace(verdict, plan=actions, critiques=critiques, valid=False)


def _judge_valid(
    validator: Validator, plan: Sequence[Step], actions: tuple[GroundAction, ...], exact: int
) -> PlanVerdict:
    _, removed = minimise(validator, plan)
    kept = [i for i in range(len(plan)) if i + 1 not in removed]
    proven = len(kept) <= exact
    if proven:
        pair = _pair(validator, plan, kept)
        while pair is not None:
            kept = [i for i in kept if i not in pair]
            _, again = minimise(validator, [plan[i] for i in kept])
            kept = [i for place, i in enumerate(kept, 1) if place not in again]
            pair = _pair(validator, plan, kept)
    gone = sorted(set(range(len(plan))).difference(kept))
    critiques = [
        Critique(CritiqueKind.REMOVE, i + 1, (actions[i],), _WHY, Cause.IRRELEVANT) for i in gone
    ]
    repaired = tuple([actions[i] for i in kept])
    return PlanVerdict(actions, tuple(critiques), repaired, True, proven)


def _pair(
    validator: Validator, plan: Sequence[Step], kept: Sequence[int]
) -> tuple[int, ...] | None:
    """Return two steps that can be left out together, None if there are none."""
    cost = validator.check([plan[i] for i in kept]).cost
    metric = validator.task.problem.metric
    sign = -1 if metric is not None and metric.direction == "maximize" else 1
    for pair in combinations(kept, 2):
        try:
            report = validator.check([plan[i] for i in kept if i not in pair])
        except HvrError:
            continue
        if report.valid and _no_worse(report.cost, cost, sign):
            return pair
    return None


def _no_worse(new: Fraction | None, old: Fraction | None, sign: int) -> bool:
    if old is None:
        return True
    return new is not None and sign * new <= sign * old
