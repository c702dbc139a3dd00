"""The symbolic judge: superfluous and missing steps of a plan, proven by execution.

What a plan should have been is what can be made of it with the fewest steps put in and, among
these, the fewest kept. For a valid plan that is its smallest part that reaches the goal. What is
left out is superfluous, what is put in was missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from hvr.judging.checking import judge_by_checking
from hvr.judging.course import Course, reaches
from hvr.judging.evidence import Evidence, missing
from hvr.judging.insertions import Insertion, anywhere, operators_of, with_variants
from hvr.judging.mending import Mending, mend
from hvr.judging.reduction import EXACT_STEPS, Reduction, smallest
from hvr.judging.verdict import Critique, CritiqueKind, PlanVerdict
from hvr.pddl import GroundAction, Step
from hvr.pddl.conditions import Operator
from hvr.validation import Validator
from hvr.validation.minimise import eliminate
from hvr.validation.relaxation import Clock
from hvr.validation.sequences import action_of, sequence_order
from hvr.validation.trajectory import Constraints

_Item = TypeVar("_Item")
_Placed: TypeAlias = tuple[int | None, Operator]
"""A step, and its index in the judged plan; None if it was put in."""

_MOST_STATES = 12_000
"""How many states are looked at to find the fewest steps to put in."""

_MOST_PROBES = 600_000
"""How much may be probed for this, where much is missing: in pairs of steps."""

SECONDS = 30.0
"""How long missing steps are looked for, at most."""


def judge(
    validator: Validator,
    plan: Sequence[Step],
    *,
    exact: int = EXACT_STEPS,
    seconds: float = SECONDS,
) -> PlanVerdict:
    """Judge a plan.

    Args:
        validator: where the plan begins.
        plan: the plan.
        exact: up to how many steps what is left is proven to be smallest.
        seconds: how long to look for missing steps, and for a proof. When they are over, what is
            known by then is reduced greedily, and nothing is proven of it.
    """
    task = validator.task
    order = sequence_order(task, plan, validator.epsilon)
    if order is None or task.preference_names or Constraints(task):
        return judge_by_checking(validator, plan, exact=exact, seconds=seconds)
    actions = [action_of(plan[i]) for i in order]
    verdict = _Judge(validator, actions, exact, Clock(seconds)).run()
    if verdict.valid and verdict.removed and _is_worse(validator, actions, verdict.repaired):
        return judge_by_checking(validator, plan, exact=exact, seconds=seconds)
    return verdict if list(order) == list(range(len(plan))) else _renumbered(verdict, order)


@dataclass(frozen=True)
class _Repaired:
    """A plan as it should have been.

    Args:
        places: of each step the index in the judged plan, None if it was put in.
        operators: the steps.
        proven: no part of it reaches the goal, nor any other way with as few steps put in
            among those that were looked at.
        alternatives: sets of steps of the judged plan that may be left out instead.
    """

    places: tuple[int | None, ...]
    operators: tuple[Operator, ...]
    proven: bool
    alternatives: tuple[frozenset[int], ...] = ()


class _Judge:
    def __init__(
        self, validator: Validator, actions: Sequence[GroundAction], exact: int, clock: Clock
    ) -> None:
        self.task = validator.task
        self.start = validator.state
        self.actions = tuple(actions)
        self.exact = exact
        self.clock = clock

    def run(self) -> PlanVerdict:
        course = Course.of(self.start, self.actions)
        repaired = self._without(course)
        unknown = ""
        if repaired is None:
            mending = mend(course, self.clock)
            if mending.inserted is None:
                return self._unmended(course)
            repaired = self._with(course, mending)
        assert reaches(self.start, repaired.operators), "the repaired plan must be valid"
        repaired = self._earlier(repaired)
        return PlanVerdict(
            self.actions,
            self._critiques(course, repaired),
            tuple([operator.action for operator in repaired.operators]),
            course.valid,
            repaired.proven,
            unknown,
            tuple(
                tuple(sorted(index + 1 for index in removed)) for removed in repaired.alternatives
            ),
        )

    # What the plan should have been -------------------------------------------------------------

    def _without(self, course: Course) -> _Repaired | None:
        """Return the smallest part of the plan that reaches the goal; None if no part does."""
        merged: list[_Placed] = [(i, o) for i, o in enumerate(course.operators) if o is not None]
        if len(merged) <= self.exact:
            operators = [operator for _, operator in merged]
            reduction = smallest(self.start, operators, clock=self.clock)
            if reduction.kept is not None or reduction.proven:
                return _repaired(merged, reduction)
        merged = [(i, o) for i, o in merged if i not in course.failing]
        return self._greedily(merged)

    def _with(self, course: Course, mending: Mending) -> _Repaired:
        """Return the plan with the fewest steps put in, and of these the shortest."""
        assert mending.inserted is not None
        if len(course.plan) <= self.exact:
            found, many = mending.candidates, len(mending.inserted)
            # Anywhere first: the same steps may do more at another place, and fewer of them be
            # enough. Where it takes more than one, others like them are tried, too.
            repaired = (
                self._fewest(course, anywhere(course, found), 1)
                or self._fewest(course, anywhere(course, with_variants(course, found)), many)
                or self._fewest(course, found, many)
            )
            if repaired is not None:
                return repaired
        merged = operators_of(course, mending.inserted)
        merged = [(i, o) for i, o in merged if i is None or i not in mending.passed]
        repaired = self._greedily(merged)
        assert repaired is not None
        return repaired

    def _fewest(
        self, course: Course, candidates: Sequence[Insertion], most: int
    ) -> _Repaired | None:
        """Return the plan with the fewest of some steps put in; None where `most` are too few."""
        known = [(i, o) for i, o in enumerate(course.operators) if o is not None]
        operators = [operator for _, operator in known]
        offers: list[list[Operator]] = [[] for _ in range(len(known) + 1)]
        for place, action in candidates:
            offers[sum(i < place for i, _ in known)].append(self.task.ground(action))
        size = len(operators) + sum(map(len, offers))
        for budget in range(1, most + 1):
            # Each step is probed with all others, with each number of steps put in.
            if size**2 * (budget + 1) > _MOST_PROBES or self.clock.expired:
                break
            reduction = smallest(
                self.start,
                operators,
                offers=offers,
                budget=budget,
                most=_MOST_STATES,
                clock=self.clock,
            )
            if reduction.kept is not None or not reduction.proven:
                return _repaired(known, reduction)
        return None

    def _greedily(self, merged: Sequence[_Placed]) -> _Repaired | None:
        kept = eliminate(self.start, [operator.action for _, operator in merged])
        if kept is None:
            return None
        return _repaired(merged, Reduction(kept, False))

    def _earlier(self, repaired: _Repaired) -> _Repaired:
        """Move what was put in as far ahead as the plan stays valid."""
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

    # What is said of it -------------------------------------------------------------------------

    def _critiques(self, course: Course, repaired: _Repaired) -> tuple[Critique, ...]:
        kept = [place for place in repaired.places if place is not None]
        evidence = Evidence(course, kept)
        removed = sorted(set(range(len(course.plan))).difference(kept))
        critiques = [evidence.superfluous(index) for index in removed]
        if len(kept) < len(repaired.places):
            critiques += self._missing(repaired)
        return tuple(sorted(critiques, key=lambda c: (c.index, c.kind is CritiqueKind.REMOVE)))

    def _missing(self, repaired: _Repaired) -> list[Critique]:
        after = Course.of(self.start, [operator.action for operator in repaired.operators])
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

    def _unmended(self, course: Course) -> PlanVerdict:
        """Return what is known of a plan that no steps were found to mend."""
        report = Validator(self.task, state=self.start).check(self.actions)
        failure = report.failure
        index = len(self.actions) + 1 if failure is None or failure.step is None else failure.step
        why = failure.message if failure is not None else report.reason
        wanting = ", ".join(str(literal) for literal in failure.literals[:3]) if failure else ""
        critique = Critique(
            CritiqueKind.MISSING, index, (), why + (f" Wanting: {wanting}." if wanting else "")
        )
        unknown = "no steps were found that mend the plan"
        if self.clock.expired:
            unknown += f" in {self.clock.seconds:g} seconds"
        return PlanVerdict(self.actions, (critique,), None, course.valid, False, unknown)


def _repaired(merged: Sequence[_Placed], reduction: Reduction) -> _Repaired | None:
    if reduction.kept is None:
        return None
    kept = frozenset(reduction.kept)
    places: list[int | None] = []
    operators: list[Operator] = []
    waiting = list(reversed(reduction.inserted))
    for number in range(len(merged) + 1):
        while waiting and waiting[-1][0] == number:
            places.append(None)
            operators.append(waiting.pop()[1])
        if number in kept:
            places.append(merged[number][0])
            operators.append(merged[number][1])
    # What is no action of the task at all is left out in every way.
    indexes = [i for i, _ in merged if i is not None]
    never = frozenset(range(max(indexes, default=-1) + 1)).difference(indexes)
    alternatives = []
    for removed in reduction.alternatives:
        left_out = [merged[number][0] for number in removed]
        alternatives.append(never.union(i for i in left_out if i is not None))
    return _Repaired(tuple(places), tuple(operators), reduction.proven, tuple(alternatives))


def _moved(items: list[_Item], begin: int, length: int) -> list[_Item]:
    """Return a list with a run of items one place ahead."""
    run = items[begin : begin + length]
    return [*items[: begin - 1], *run, items[begin - 1], *items[begin + length :]]


def _is_worse(
    validator: Validator, plan: Sequence[GroundAction], other: Sequence[GroundAction] | None
) -> bool:
    """Say whether another plan has a worse value of the metric than a valid one."""
    metric = validator.task.problem.metric
    if metric is None or other is None:
        return False
    old, new = validator.check(plan).cost, validator.check(other).cost
    if old is None or new is None:
        return new is None and old is not None
    return new < old if metric.direction == "maximize" else new > old


def _renumbered(verdict: PlanVerdict, order: Sequence[int]) -> PlanVerdict:
    """Return a verdict on the steps in order of execution with the numbers of the file."""

    def number(index: int) -> int:
        return order[index - 1] + 1 if index <= len(order) else index

    return replace(
        verdict,
        critiques=tuple([replace(c, index=number(c.index)) for c in verdict.critiques]),
        alternatives=tuple(
            tuple(sorted(number(i) for i in removed)) for removed in verdict.alternatives
        ),
    )
