"""The symbolic judge: redundant and missing steps of a plan, proven by execution.

The judge finds a repair with the fewest insertions and, among these repairs, one with the fewest
steps. For a valid plan, this is the shortest part that reaches the goal. The steps that the repair
deletes are redundant; those that it inserts were missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

from hvr.errors import HvrError
from hvr.judging.evidence import Evidence, ExecutionTrace, missing, reaches
from hvr.judging.reduction import MAX_EXACT_STEPS, Reduction, smallest_reduction
from hvr.judging.repair import MAX_CONDITION_TESTS, PlacedStep, PlanRepair, repair
from hvr.judging.verdict import Cause, Critique, CritiqueKind, PlanVerdict
from hvr.pddl import GroundAction, Step
from hvr.pddl.state import Operator
from hvr.validation.minimise import eliminate_actions, minimise
from hvr.validation.repair import find_repair
from hvr.validation.report import Outcome
from hvr.validation.sequences import action_of, sequence_order
from hvr.validation.trajectory import Constraints
from hvr.validation.validator import Validator

# Judging by full checks ---------------------------------------------------------------------------
# Judging by full validation, for plans with times, preferences, constraints or a metric.
#
# A step, or a pair of steps, is redundant if the plan without it is valid and no worse by the
# metric. If an invalid plan becomes valid without one of its steps, that step is the fault.
# Otherwise the steps that the validator suggests are missing.

_ROUNDS = 5
_WHY = "the plan without it is valid and no worse"


def judge_by_checking(validator: Validator, plan: Sequence[Step], *, exact: int) -> PlanVerdict:
    """Judge a plan by validating it repeatedly with steps left out; see `judge`.

    This serves plans with concurrent steps, preferences, constraints or a metric.
    """
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
        # A limit on states rather than time keeps the result independent of the machine's load.
        repair, why = find_repair(validator, steps, report, seconds=math.inf)
        if repair is None:
            break
        at = len(steps) if repair.step is None else repair.step - 1
        place = places[at] if at < len(places) else len(plan)
        reason = report.failure.message if report.failure is not None else "the goal is not reached"
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
    rest = [index for index in range(len(plan)) if index != without]
    verdict = _judge_valid(
        validator, [plan[i] for i in rest], tuple([actions[i] for i in rest]), exact
    )
    fails = "it cannot be executed" if failing == without + 1 else "with it the plan is not valid"
    first = Critique(
        CritiqueKind.REMOVE,
        without + 1,
        (actions[without],),
        f"{fails}, and without it the plan is valid",
        Cause.CONTRADICTORY,
    )
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
        # Steps may be redundant only in pairs, such as opening and closing a door.
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


# Symbolic judge -----------------------------------------------------------------------------------

_Item = TypeVar("_Item")


def judge(
    validator: Validator,
    plan: Sequence[Step],
    *,
    exact: int = MAX_EXACT_STEPS,
    work: int = MAX_CONDITION_TESTS,
) -> PlanVerdict:
    """Judge a plan.

    Args:
        exact: Maximum number of steps for which to prove that the result is smallest.
        work: Maximum number of conditions to test in the search for a repair. Beyond it, the best
            repair found is reduced without a proof.
    """
    task = validator.task
    order = sequence_order(task, plan, validator.epsilon)
    # Concurrent steps, preferences and constraints need full validation.
    if order is None or task.preference_names or Constraints(task):
        return judge_by_checking(validator, plan, exact=exact)
    actions = [action_of(plan[i]) for i in order]
    verdict = _Judge(validator, actions, exact, work).run()
    # Fewer steps may cost more by the metric.
    if verdict.valid and verdict.removed and is_worse(validator, actions, verdict.repaired):
        return judge_by_checking(validator, plan, exact=exact)
    return verdict if list(order) == list(range(len(plan))) else _renumbered(verdict, order)


@dataclass(frozen=True)
class _Repaired:
    """A repaired plan; `places` are its steps' indexes in the judged plan (None if inserted)."""

    places: tuple[int | None, ...]
    operators: tuple[Operator, ...]
    proven: bool
    least: int = 0
    alternatives: tuple[frozenset[int], ...] = ()


class _Judge:
    def __init__(
        self, validator: Validator, actions: Sequence[GroundAction], exact: int, work: int
    ) -> None:
        self.task = validator.task
        self.start = validator.state
        self.actions = tuple(actions)
        self.exact = exact
        self.work = work

    def run(self) -> PlanVerdict:
        trace = ExecutionTrace.of(self.start, self.actions)
        repaired = self._without_redundant(trace)
        if repaired is None:
            found = repair(self.start, trace.operators, self.work)
            if found.steps is None:
                return self._without_repair(trace, found)
            repaired = self._with(found.steps, found)
        assert reaches(self.start, repaired.operators), "the repaired plan must be valid"
        repaired = self._earlier(repaired)
        return PlanVerdict(
            self.actions,
            self._critiques(trace, repaired),
            tuple([operator.action for operator in repaired.operators]),
            trace.valid,
            repaired.proven,
            least=repaired.least,
            alternatives=tuple(
                tuple(sorted(index + 1 for index in removed)) for removed in repaired.alternatives
            ),
        )

    # Repair -------------------------------------------------------------------------------------

    def _without_redundant(self, trace: ExecutionTrace) -> _Repaired | None:
        merged: list[PlacedStep] = [(i, o) for i, o in enumerate(trace.operators) if o is not None]
        if len(merged) <= self.exact:
            reduction = smallest_reduction(self.start, [operator for _, operator in merged])
            if reduction.kept is not None or reduction.proven:
                return _repaired(merged, reduction)
        # Too long for an exact reduction: drop failing steps and eliminate greedily.
        merged = [(i, o) for i, o in merged if i not in trace.failing]
        return self._greedily(merged)

    def _with(self, steps: Sequence[PlacedStep], found: PlanRepair) -> _Repaired:
        if found.smallest:
            places, operators = zip(*steps, strict=True) if steps else ((), ())
            return _Repaired(places, operators, True, found.least)
        repaired = None
        if len(steps) <= self.exact:
            repaired = _repaired(steps, smallest_reduction(self.start, [o for _, o in steps]))
        repaired = repaired or self._greedily(steps)
        assert repaired is not None, "the whole plan reaches the goal"
        return replace(repaired, proven=False, least=found.least, alternatives=())

    def _greedily(self, merged: Sequence[PlacedStep]) -> _Repaired | None:
        kept = eliminate_actions(self.start, [operator.action for _, operator in merged])
        return None if kept is None else _repaired(merged, Reduction(kept, False))

    def _earlier(self, repaired: _Repaired) -> _Repaired:
        """Move each insertion to the earliest position at which the plan stays valid."""
        places, operators = list(repaired.places), list(repaired.operators)
        begin = 0
        while begin < len(places):
            end = begin
            while end < len(places) and places[end] is None:
                end += 1
            here = begin
            while end > begin and here > 0 and places[here - 1] is not None:
                length = end - begin
                moved = _moved(operators, here, length)
                if not reaches(self.start, moved):
                    break
                operators, places = moved, _moved(places, here, length)
                here -= 1
            begin = max(end, begin + 1)
        return replace(repaired, places=tuple(places), operators=tuple(operators))

    # Findings -----------------------------------------------------------------------------------

    def _critiques(self, trace: ExecutionTrace, repaired: _Repaired) -> tuple[Critique, ...]:
        kept = [place for place in repaired.places if place is not None]
        evidence = Evidence(trace, kept)
        removed = sorted(set(range(len(trace.plan))).difference(kept))
        critiques = [evidence.redundant(index) for index in removed]
        if len(kept) < len(repaired.places):
            critiques += self._missing(repaired)
        return tuple(sorted(critiques, key=lambda c: (c.index, c.kind is CritiqueKind.REMOVE)))

    def _missing(self, repaired: _Repaired) -> list[Critique]:
        after = ExecutionTrace.of(self.start, [operator.action for operator in repaired.operators])
        places = repaired.places
        critiques = []
        begin = 0
        while begin < len(places):
            if places[begin] is not None:
                begin += 1
                continue
            end = begin
            while end < len(places) and places[end] is None:
                end += 1
            following = places[end] if end < len(places) else len(self.actions)
            assert following is not None
            critiques.append(missing(after, places, begin, end, following, len(self.actions)))
            begin = end
        return critiques

    def _without_repair(self, trace: ExecutionTrace, found: PlanRepair) -> PlanVerdict:
        report = Validator(self.task, state=self.start).check(self.actions)
        failure = report.failure
        index = len(self.actions) + 1 if failure is None or failure.step is None else failure.step
        why = failure.message if failure is not None else report.reason
        unmet = ", ".join(str(literal) for literal in failure.literals[:3]) if failure else ""
        reason = why + (f" Missing: {unmet}." if unmet else "")
        critique = Critique(CritiqueKind.MISSING, index, (), reason)
        if found.hopeless:
            unknown = "no steps can repair the plan: the goal is proven unreachable"
        else:
            unknown = f"no repair was found in {self.work:,} condition tests"
            if found.least:
                unknown += f"; every repair inserts at least {found.least}"
        return PlanVerdict(
            self.actions, (critique,), None, trace.valid, False, unknown, found.least
        )


def _repaired(merged: Sequence[PlacedStep], reduction: Reduction) -> _Repaired | None:
    if reduction.kept is None:
        return None
    kept = [merged[number] for number in reduction.kept]
    # Steps that are not actions of the task are removed in every alternative.
    indexes = [i for i, _ in merged if i is not None]
    never = frozenset(range(max(indexes, default=-1) + 1)).difference(indexes)
    alternatives = []
    for removed in reduction.alternatives:
        left_out = [merged[number][0] for number in removed]
        alternatives.append(never.union(i for i in left_out if i is not None))
    return _Repaired(
        tuple([index for index, _ in kept]),
        tuple([operator for _, operator in kept]),
        reduction.proven,
        alternatives=tuple(alternatives),
    )


def _moved(items: list[_Item], begin: int, length: int) -> list[_Item]:
    run = items[begin : begin + length]
    return [*items[: begin - 1], *run, items[begin - 1], *items[begin + length :]]


def is_worse(
    validator: Validator, plan: Sequence[GroundAction], other: Sequence[GroundAction] | None
) -> bool:
    """Return whether `other` is worse by the metric than `plan`, or only one has a metric value."""
    metric = validator.task.problem.metric
    if metric is None or other is None:
        return False
    old, new = validator.check(plan).cost, validator.check(other).cost
    if old is None or new is None:
        return old is not new
    return new < old if metric.direction == "maximize" else new > old


def _renumbered(verdict: PlanVerdict, order: Sequence[int]) -> PlanVerdict:
    """Convert a verdict's step numbers from execution order to the order of the plan file."""

    def number(index: int) -> int:
        return order[index - 1] + 1 if index <= len(order) else index

    return replace(
        verdict,
        critiques=tuple([replace(c, index=number(c.index)) for c in verdict.critiques]),
        alternatives=tuple(
            tuple(sorted(number(i) for i in removed)) for removed in verdict.alternatives
        ),
    )
