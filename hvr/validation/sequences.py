"""Plans that are mere sequences of steps: in which order, and whether they are valid.

A sequence is judged quickly, by bits and numbers alone. That accepts a valid plan; of another it
says where it fails, and what went wrong there is explained with the history of the steps before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

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
from hvr.pddl.conditions import Operator
from hvr.pddl.model import walk
from hvr.validation.report import (
    Failure,
    FailureKind,
    OnFailure,
    Outcome,
    UnmetLiteral,
    ValidationReport,
)
from hvr.validation.stepper import MOST_FAILURES, Stepper
from hvr.validation.trajectory import Constraints, Violation


def sequence_order(task: Task, plan: Sequence[Step], epsilon: Fraction) -> Sequence[int] | None:
    """Return the indexes of the steps in the order of execution; None if time matters.

    Time matters for a task with durative actions, processes, events or timed initial literals, and
    in a plan with steps no further apart than `epsilon`.
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
    """Return a step without its time."""
    return step.action if isinstance(step, TimedAction) else step


# Quickly ------------------------------------------------------------------------------------


def forgets_the_past(task: Task) -> bool:
    """Say whether a state is all that the rest of a sequence depends on.

    Not where preferences and trajectory constraints look at the states before, too.
    """
    constraints = And((task.domain.constraints, task.problem.constraints))
    return not (
        task.preference_names or any(isinstance(item, Trajectory) for item in walk(constraints))
    )


def is_simple(task: Task) -> bool:
    """Say whether operators alone judge sequences: nothing is derived from their effects."""
    return not task.domain.derived and forgets_the_past(task)


def check_quickly(
    start: State, steps: Iterable[Operator | None], count: int, before: int
) -> ValidationReport | int:
    """Accept a valid plan, or say how many of its steps can be executed before something fails.

    Args:
        start: the state to begin in, of a task that `forgets_the_past`.
        steps: the operators; None for a step that has none.
        count: how many steps there are.
        before: how many steps were executed before, which counts in the metric.
    """
    bits, values = start.bits_for_steps(), start.values
    task = start.task
    close = task.close_for_steps if task.derived_predicates else None
    executed = 0
    # Written out instead of calling `Operator.applicable` and `apply`: calls would cost more than
    # what they do.
    try:
        for operator in steps:
            if operator is None:
                return executed
            before_step = bits
            if bits & operator.positive != operator.positive or bits & operator.negative:
                return executed
            if not operator.plain and not operator.precondition.holds(bits, values):
                return executed
            if operator.conditional:
                bits = operator.apply(bits, values)
            else:
                bits = bits & operator.keep | operator.add
            if operator.numeric:
                values = operator.apply_numbers(before_step, values)
            if close is not None:
                bits = close(bits, values)
            executed += 1
        if close is not None:
            bits = task.close(bits, values)
        if not task.goal.holds(bits, values):
            return executed
        cost = task.metric_value(values, Fraction(before + count), {})
    except (
        GroundingLimitError,
        InconsistentEffectError,
        NumberTooLargeError,
        UndefinedValueError,
    ):
        # Whoever executes the step in full gets the same error, and tells it.
        return executed
    return ValidationReport(Outcome.VALID, count, count, cost=cost)


# In full ------------------------------------------------------------------------------------


class SequenceRun:
    """Judges one sequence.

    Args:
        stepper: where the plan begins; it stays there.
        plan: the steps.
        on_failure: what to do about a step that fails.
        executed: The first steps, if they are known to be applicable. `plan` is then the step
            after them that fails, or empty.
    """

    def __init__(
        self,
        stepper: Stepper,
        plan: Sequence[GroundAction],
        on_failure: OnFailure,
        executed: Sequence[Operator] | None = None,
    ) -> None:
        self.task = stepper.task
        self.plan = plan
        self._ahead = stepper.fork()
        if executed is not None:
            self._ahead.follow(executed, to_a_step=bool(plan))
        self._on_failure = on_failure
        self._constraints = Constraints(self.task)
        self._failures: list[Failure] = []
        self._executed = 0 if executed is None else len(executed)
        self._count = self._executed + len(plan)

    def run(self) -> ValidationReport:
        """Judge the plan."""
        if self._constraints:
            # A constraint is about the whole plan, with the steps that were executed before.
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
        """Judge what is demanded of the end of the plan, and of the plan as a whole."""
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
        # Without some of its steps a plan has another cost than it would have.
        if self._executed == self._count:
            values, steps = ahead.state.values, Fraction(ahead.step_number)
            cost = self.task.metric_value(values, steps, violated)
        outcome = Outcome.INVALID if self._failures else Outcome.VALID
        return self._report(outcome).replace(cost=cost, violated=tuple(violated.items()))

    def _report(self, outcome: Outcome) -> ValidationReport:
        return ValidationReport(outcome, self._count, self._executed, tuple(self._failures))

    def _note(self, violation: Violation | None) -> None:
        """Note a violation of a constraint, once."""
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
        why = f"{violation.why}: {violation.text}"
        self._failures.append(
            Failure(
                FailureKind.CONSTRAINT,
                f"A trajectory constraint is violated {after}: {why}.",
                step=at,
                action=action,
                literals=literals,
                location=None if action is None else action.location,
                condition=violation.location,
            )
        )
