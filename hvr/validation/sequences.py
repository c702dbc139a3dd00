"""Validation of plain step sequences.

The fast path runs on bits and numbers alone. It accepts a valid plan, or finds the failing step,
which a `Stepper` then explains with the history of the earlier steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from typing import TYPE_CHECKING, TypeVar

from hvr.errors import InconsistentEffectError
from hvr.pddl import (
    And,
    GroundAction,
    GroundingLimitError,
    NumberTooLargeError,
    State,
    Step,
    Task,
    TimedAction,
    Trajectory,
    UndefinedValueError,
)
from hvr.pddl.formulas import walk
from hvr.pddl.state import Operator, Values
from hvr.validation.report import (
    Failure,
    FailureKind,
    OnFailure,
    Outcome,
    UnmetLiteral,
    ValidationReport,
)
from hvr.validation.stepper import MOST_FAILURES, MOST_KEPT, Stepper

if TYPE_CHECKING:
    from hvr.validation.trajectory import Violation


_Step = TypeVar("_Step")

_FEWEST_STEPS, _MOST_STEPS = 50, 20_000
"""Comparing shorter plans costs more than judging them; longer ones would fill the memory."""
_FEWEST_STATES, _MOST_STATES = 4, 128
_MOST_BYTES = 4_000_000
_SLICE = 64


def sequence_order(task: Task, plan: Sequence[Step], epsilon: Fraction) -> Sequence[int] | None:
    """Return the step indexes in execution order, or None if time matters.

    Time matters if the task has durative actions, processes, events or timed initial literals, if
    some steps of the plan are no further apart than `epsilon`, if only some steps have times, or if
    a time is negative.
    """
    domain = task.domain
    if domain.durative_actions or domain.processes or domain.events or task.problem.timed_init:
        return None
    starts = [(step.start, i) for i, step in enumerate(plan) if isinstance(step, TimedAction)]
    if not starts:
        return range(len(plan))
    starts.sort()
    if len(starts) < len(plan) or starts[0][0] < 0:
        return None
    if any(two[0] - one[0] <= epsilon for one, two in pairwise(starts)):
        return None
    return tuple([index for _, index in starts])


def action_of(step: Step) -> GroundAction:
    return step.action if isinstance(step, TimedAction) else step


# Fast path ----------------------------------------------------------------------------------------


def is_markovian(task: Task) -> bool:
    """Return whether the validity of the remaining steps depends on the current state alone.

    Preferences and trajectory constraints also depend on earlier states.
    """
    constraints = And((task.domain.constraints, task.problem.constraints))
    return not (
        task.preference_names or any(isinstance(item, Trajectory) for item in walk(constraints))
    )


def is_simple(task: Task) -> bool:
    """Return whether the task is Markovian and has no derived predicates."""
    return not task.domain.derived and is_markovian(task)


class Checkpoints:
    """States along the plan that was judged last.

    A plan with the same beginning resumes at the last recorded state before the first difference.
    """

    def __init__(self) -> None:
        self._steps: Sequence[object] = ()
        self._every = 1
        # The state before the first step, and after every `_every` steps.
        self._states: list[tuple[int, Values]] = []

    def resume(self, steps: Sequence[object], bits: int, values: Values) -> tuple[int, int, Values]:
        """Return the number of leading steps to skip, and the state after them.

        `bits` and `values` are the state before `steps`, which become the last judged plan.
        """
        count = len(steps)
        size = bits.bit_length() // 8 + 8 * len(values) + 100
        most = min(_MOST_STATES, _MOST_BYTES // size)
        if not _FEWEST_STEPS <= count <= _MOST_STEPS or most < _FEWEST_STATES:
            self._steps, self._states = (), []
            return 0, bits, values
        place = 0
        if self._states and self._states[0] == (bits, values) and count <= most * self._every:
            place = min(common(self._steps, steps) // self._every, len(self._states) - 1)
            del self._states[place + 1 :]
        else:
            self._every = 1 + count // (most // 2)
            self._states = [(bits, values)]
        self._steps = steps
        return place * self._every, *self._states[place]

    def note(self, bits: int, values: Values) -> None:
        self._states.append((bits, values))

    @property
    def until_next(self) -> int | None:
        return self._every if self._states else None


def common(one: Sequence[object], two: Sequence[object]) -> int:
    """Return the length of the common prefix of two sequences."""
    place, most = 0, min(len(one), len(two))
    # Slices are compared in C, where identical objects need no comparison.
    while place < most and one[place : place + _SLICE] == two[place : place + _SLICE]:
        place += _SLICE
    while place < most and one[place] == two[place]:
        place += 1
    return min(place, most)


def check_quickly(
    start: State,
    plan: Sequence[_Step],
    operator_of: Callable[[_Step], Operator | None],
    before: int,
    states: Checkpoints,
) -> ValidationReport | int:
    """Return the report of a valid plan, or the number of steps executed before a failure.

    Args:
        start: The initial state of a task for which `is_markovian` holds.
        operator_of: A function that returns the operator of a step, or None for an unusable step.
        before: The number of steps executed earlier, which count in the metric.
        states: The recorded states of the plan judged last, which the check updates.
    """
    task, count = start.task, len(plan)
    executed, bits, values = states.resume(plan, start.bits_for_steps(), start.values)
    every = states.until_next
    operators = map(operator_of, islice(plan, executed, None))
    try:
        while every is not None and count - executed >= every:
            passed, bits, values = _advance(task, bits, values, islice(operators, every))
            executed += passed
            if passed < every:
                return executed
            states.note(bits, values)
        passed, bits, values = _advance(task, bits, values, operators)
        executed += passed
        if executed < count:
            return executed
        if task.derived_predicates:
            bits = task.close(bits, values)
        if not task.goal.holds(bits, values):
            return executed
        cost = task.metric_value(values, Fraction(before + count), {})
    except (GroundingLimitError, NumberTooLargeError, UndefinedValueError):
        # The full execution of the step raises the same error and reports it.
        return executed
    return ValidationReport(Outcome.VALID, count, count, cost=cost)


def _advance(
    task: Task, bits: int, values: Values, operators: Iterable[Operator | None]
) -> tuple[int, int, Values]:
    close = task.close_for_steps if task.derived_predicates else None
    executed = 0
    # `Operator.applicable` and `apply` are inlined: a call would cost more than its body.
    try:
        for operator in operators:
            if operator is None:
                break
            before_step = bits
            if bits & operator.positive != operator.positive or bits & operator.negative:
                break
            if not operator.plain and not operator.precondition.holds(bits, values):
                break
            if operator.conditional:
                bits = operator.apply(bits, values)
            else:
                bits = bits & operator.keep | operator.add
            if operator.numeric:
                values = operator.apply_numbers(before_step, values)
            if close is not None:
                bits = close(bits, values)
            executed += 1
    except (GroundingLimitError, InconsistentEffectError, NumberTooLargeError, UndefinedValueError):
        pass
    return executed, bits, values


class Follower:
    """Keeps a stepper at the end of the executable part of the last explained plan.

    For the next plan it undoes only the steps that the two plans do not share.
    """

    def __init__(self) -> None:
        self._ahead: Stepper | None = None
        self._start: State | None = None
        self._executed: Sequence[Operator] = ()
        self._to_a_step = False

    def after(self, stepper: Stepper, executed: Sequence[Operator], *, to_a_step: bool) -> Stepper:
        ahead, start = self._ahead, stepper.state
        # If this raises, a step may be half executed: discard the stepper.
        self._ahead = None
        same = to_a_step == self._to_a_step and start is self._start
        if ahead is None or not same or stepper.step_number:
            ahead, kept = stepper.fork(), 0
            ahead.begin(to_a_step=to_a_step)
        else:
            kept = common(self._executed, executed)
            for _ in range(len(self._executed) - kept):
                ahead.undo()
        ahead.follow(executed[kept:], to_a_step=to_a_step)
        if len(executed) <= MOST_KEPT:
            self._ahead, self._start = ahead, start
            self._executed, self._to_a_step = executed, to_a_step
        return ahead


# Full check ---------------------------------------------------------------------------------------


class SequenceRun:
    """Judges one sequence.

    Args:
        stepper: The stepper in the state before the plan, which stays unchanged.
        executed: The number of steps that the stepper has already executed. If it is positive,
            `plan` contains only the failing step, or is empty.
    """

    def __init__(
        self,
        stepper: Stepper,
        plan: Sequence[GroundAction],
        on_failure: OnFailure,
        executed: int = 0,
    ) -> None:
        self.task = stepper.task
        self.plan = plan
        self._ahead = stepper.fork()
        self._on_failure = on_failure
        from hvr.validation.trajectory import Constraints

        self._constraints = Constraints(self.task)
        self._failures: list[Failure] = []
        self._executed = executed
        self._count = executed + len(plan)

    def run(self) -> ValidationReport:
        if self._constraints:
            # Constraints cover the whole trajectory, including the steps executed before.
            for number, (bits, values) in enumerate(self._ahead.past_states()):
                self._note(self._constraints.observe(Fraction(number), bits, values))
        for action in self.plan:
            if self._stopped:
                break
            self._step(action)
        if self._failures and self._on_failure is OnFailure.STOP:
            return self._report(Outcome.INVALID)
        if len(self._failures) >= MOST_FAILURES:
            note = f"stopped after {MOST_FAILURES} failures"
            return self._report(Outcome.INVALID).replace(notes=(note,))
        return self._at_end()

    @property
    def _stopped(self) -> bool:
        limit = 1 if self._on_failure is OnFailure.STOP else MOST_FAILURES
        return len(self._failures) >= limit

    def _step(self, action: GroundAction) -> None:
        ahead = self._ahead
        before = ahead.step_number
        failure = ahead.advance(action, force=self._on_failure is OnFailure.FORCE)
        if failure is None:
            self._executed += 1
        else:
            self._failures.append(failure)
            if self._on_failure is OnFailure.STOP:
                return
            if ahead.step_number == before:
                # A skipped step keeps its number, so that later ones keep theirs.
                ahead.skip(action)
        if self._constraints:
            state = ahead.state
            time = Fraction(ahead.step_number)
            self._note(self._constraints.observe(time, state.bits, state.values))

    def _at_end(self) -> ValidationReport:
        ahead = self._ahead
        goal = ahead.goal_failure()
        if goal is not None:
            self._failures.append(goal)
        violated = ahead.violated_preferences()
        if self._constraints:
            self._note(self._constraints.finish())
            for preferred in self._constraints.preferred:
                violated[preferred.name] = violated.get(preferred.name, 0) + preferred.violated
        cost: Fraction | None = None
        # The cost of an incomplete execution is meaningless.
        if self._executed == self._count:
            values, steps = ahead.state.values, Fraction(ahead.step_number)
            cost = self.task.metric_value(values, steps, violated)
        outcome = Outcome.INVALID if self._failures else Outcome.VALID
        return self._report(outcome).replace(cost=cost, violated=tuple(violated.items()))

    def _report(self, outcome: Outcome) -> ValidationReport:
        return ValidationReport(outcome, self._count, self._executed, tuple(self._failures))

    def _note(self, violation: Violation | None) -> None:
        if violation is None:
            return
        self._constraints.forget(violation)
        ahead = self._ahead
        at = ahead.step_number or None
        literals: Sequence[UnmetLiteral] = ()
        if violation.blamed is not None:
            formula, wanted = violation.blamed
            literals = ahead.unmet(formula, violation.binding, wanted=wanted)
        action = ahead.last_step
        after = "in the initial state" if at is None else f"after step {at} {action}"
        self._failures.append(
            Failure(
                FailureKind.CONSTRAINT,
                f"The trajectory constraint {violation.text} is violated {after}: {violation.why}.",
                step=at,
                action=action,
                literals=literals,
                location=None if action is None else action.location,
                condition=violation.location,
            )
        )
