"""Step-by-step execution of a plan, with undo and forks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Self, TypeAlias

from hvr.base.printable import short, short_names
from hvr.errors import InconsistentEffectError, UsageError
from hvr.pddl import (
    Atom,
    Expression,
    GroundAction,
    Misfit,
    MisfitKind,
    State,
    Task,
    UndefinedValueError,
)
from hvr.pddl.compiler import Binding, Compiler
from hvr.pddl.state import Operator, Values, set_bits
from hvr.pddl.task import TOTAL_COST, binding_of
from hvr.validation.report import Failure, FailureKind, StepRef, StepReport, UnmetLiteral, place_of

if TYPE_CHECKING:
    from hvr.validation.violations import StateChange

MOST_FAILURES = 1000

KINDS = {
    MisfitKind.UNKNOWN_ACTION: FailureKind.UNKNOWN_ACTION,
    MisfitKind.UNKNOWN_OBJECT: FailureKind.UNKNOWN_OBJECT,
    MisfitKind.WRONG_ARITY: FailureKind.WRONG_ARITY,
    MisfitKind.WRONG_TYPE: FailureKind.WRONG_TYPE,
    MisfitKind.DURATIVE: FailureKind.START_TIME,
}

# Executed steps, newest first: (older ones, action, flipped bits, previous numbers, violated
# preferences). A linked list makes a fork one assignment, and the changes are all that undo and
# the explanations need. They are stored as indexes, since a step flips few bits of thousands.
_History: TypeAlias = (
    "tuple[_History, GroundAction, tuple[int, ...], Values, tuple[str, ...]] | None"
)


MOST_KEPT = 10_000
"""After more steps, reasons are computed eagerly: lazy ones would keep all steps in memory."""


class Stepper:
    """Executes steps on a state and explains why a step cannot be executed.

    Raises:
        UsageError: The state belongs to a different task.
    """

    def __init__(self, task: Task, state: State | None = None) -> None:
        if state is not None and state.task is not task:
            raise UsageError("the initial state belongs to a different task")
        self.task = task
        self._start = state or task.initial
        # None in the first state, whose derived atoms may never be needed.
        self._known_bits: int | None = None
        self._values = self._start.values
        self._steps = 0
        self._history: _History = None

    @property
    def _bits(self) -> int:
        return self._start.bits if self._known_bits is None else self._known_bits

    @_bits.setter
    def _bits(self, bits: int) -> None:
        self._known_bits = bits

    @property
    def state(self) -> State:
        known = self._known_bits
        return self._start if known is None else State(self.task, known, self._values)

    @property
    def step_number(self) -> int:
        return self._steps

    @property
    def steps(self) -> tuple[GroundAction, ...]:
        return tuple(action for _, action, *_ in _newest_first(self._history))[::-1]

    @property
    def last_step(self) -> GroundAction | None:
        return None if self._history is None else self._history[1]

    # Moving ---------------------------------------------------------------------------------

    def apply(self, action: GroundAction) -> StepReport:
        """Execute a step; if it fails, explain why and leave the state unchanged.

        Only `check` judges trajectory constraints.

        Raises:
            GroundingLimitError: A quantifier of the action has too many instances.
            NumberTooLargeError: A number grows too large.
        """
        failure = self.advance(action)
        if failure is not None:
            return StepReport(False, self._steps + 1, action, failure=failure)
        assert self._history is not None
        _, _, changed, before, _ = self._history
        added: list[Atom] = []
        deleted: list[Atom] = []
        for index in changed:
            into = added if self._bits >> index & 1 else deleted
            into.append(self.task.fluent(index))
        cost = Fraction(0)
        if before is not self._values:
            spent = self.task.number(TOTAL_COST, self._values)
            cost = Fraction((spent or 0) - (self.task.number(TOTAL_COST, before) or 0))
        return StepReport(True, self._steps, action, tuple(added), tuple(deleted), cost)

    def undo(self) -> GroundAction:
        """Undo the last step and return it; raise a UsageError if there is none."""
        if self._history is None:
            raise UsageError("there is no step to undo")
        self._history, action, changed, self._values, _ = self._history
        # The changes include derived atoms, so undoing derives nothing.
        for index in changed:
            self._bits ^= 1 << index
        self._steps -= 1
        return action

    def fork(self) -> Self:
        """Return an independent copy in constant time."""
        # State and history are replaced, never mutated, so a shallow copy suffices.
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    # Queries --------------------------------------------------------------------------------

    def goal_holds(self) -> bool:
        return self.task.goal.holds(self._bits, self._values)

    def goal_failure(self) -> Failure | None:
        if self.goal_holds():
            return None
        goal = self.task.problem.goal
        literals = self.unmet(goal, {})
        return Failure(
            FailureKind.GOAL,
            "The goal is not reached.",
            literals=literals,
            condition=place_of(goal),
        )

    def cost(self) -> Fraction | None:
        """Return the metric value of the steps so far, or None if it is undefined.

        Goal preferences are evaluated in the current state. Only `check` judges preferences in
        constraints.
        """
        violated = self.violated_preferences()
        return self.task.metric_value(self._values, Fraction(self._steps), violated)

    def applicable_actions(self, limit: int | None = None) -> tuple[GroundAction, ...]:
        """Return at most `limit` applicable actions in a fixed order, without durative actions."""
        from hvr.pddl.task import applicable_actions

        return tuple(islice(applicable_actions(self.state), limit))

    # For judges of whole plans --------------------------------------------------------------

    def advance(self, action: GroundAction, *, force: bool = False) -> Failure | None:
        """Execute a step and return its failure, if any.

        `force` executes a step even if its precondition does not hold. A step that does not belong
        to the task or has no defined effect is never executed.
        """
        operator = self.task.try_ground(action)
        if self.task.domain.is_hybrid and not isinstance(operator, Misfit):
            return self._failure(
                FailureKind.START_TIME,
                action,
                "has no start time: with processes or events, only a whole plan can be judged",
            )
        if isinstance(operator, Misfit):
            return self._failure(
                KINDS[operator.kind],
                action,
                f"is not a step of this task: {operator.message}",
                suggestion=operator.suggestion,
            )
        failure: Failure | None = None
        bits, values = self._bits, self._values
        schema = self.task.domain.actions[action.name]
        try:
            if not operator.precondition.holds(bits, values):
                failure = self._failure(
                    FailureKind.PRECONDITION,
                    action,
                    "cannot be executed: its precondition does not hold",
                    literals=self.unmet(schema.precondition, binding_of(schema, action)),
                )
                failure = failure.replace(condition=place_of(schema.precondition))
                if not force:
                    return failure
            # For a forced step, too: everything is read in the state before it.
            violated = tuple(
                [
                    name
                    for name, condition in operator.preferences
                    if not condition.holds(bits, values)
                ]
            )
            after = operator.apply(bits, values)
            numbers = operator.apply_numbers(bits, values)
            after = self.task.close(after, numbers)
        except UndefinedValueError as error:
            return failure or self._failure(
                FailureKind.UNDEFINED_VALUE, action, f"cannot be executed: {error}"
            )
        except InconsistentEffectError as error:
            return failure or self._failure(
                FailureKind.INTERFERENCE, action, f"cannot be executed: {error}"
            )
        self._moved(action, after, numbers, violated)
        return failure

    def begin(self, *, to_a_step: bool) -> None:
        if to_a_step:
            self._bits = self.state.bits_for_steps()

    def follow(self, operators: Iterable[Operator], *, to_a_step: bool) -> None:
        """Execute steps known to be applicable and to violate no preference.

        If `to_a_step`, derived atoms that no step reads are omitted, because only a step is judged
        next.
        """
        close = self.task.close_for_steps if to_a_step else self.task.close
        for operator in operators:
            bits, values = self._bits, self._values
            numbers = operator.apply_numbers(bits, values)
            after = close(operator.apply(bits, values), numbers)
            self._moved(operator.action, after, numbers, ())

    def _moved(
        self, action: GroundAction, bits: int, values: Values, violated: tuple[str, ...]
    ) -> None:
        changed = tuple(set_bits(self._bits ^ bits))
        self._history = self._history, action, changed, self._values, violated
        self._bits = bits
        self._values = values
        self._steps += 1

    def skip(self, action: GroundAction) -> None:
        """Count a step without executing it, so that later steps keep their numbers."""
        self._history = self._history, action, (), self._values, ()
        self._steps += 1

    def _failure(
        self,
        kind: FailureKind,
        action: GroundAction,
        why: str,
        *,
        literals: Sequence[UnmetLiteral] = (),
        suggestion: str = "",
    ) -> Failure:
        step = self._steps + 1
        return Failure(
            kind,
            short_names(f"Step {step} {short(action)} {why}."),
            step,
            action,
            literals,
            suggestion,
            action.location,
        )

    def unmet(
        self, formula: Expression, binding: Binding, *, wanted: bool = True
    ) -> Sequence[UnmetLiteral]:
        """Return the literals that keep a formula from having the `wanted` value."""
        from hvr.validation.violations import unmet_literals

        past = _Past(self._steps, self._values, self._history)
        reasons = unmet_literals(
            self.task, self._bits, self._values, formula, binding, past, wanted=wanted
        )
        return reasons if self._steps <= MOST_KEPT else reasons.settled()

    def past_states(self) -> Iterator[tuple[int, Values]]:
        states = [(self._bits, self._values)]
        bits = self._bits
        for _, _, changed, before, _ in _newest_first(self._history):
            for index in changed:
                bits ^= 1 << index
            states.append((bits, before))
        yield from reversed(states)

    def violated_preferences(self) -> dict[str, int]:
        """Count the violations of each preference, as if the plan ended in this state."""
        violated = dict.fromkeys(self.task.preference_names, 0)
        for *_, names in _newest_first(self._history):
            for name in names:
                violated[name] = violated.get(name, 0) + 1
        for name in goal_preferences(self.task, self._bits, self._values):
            violated[name] = violated.get(name, 0) + 1
        return violated


def goal_preferences(task: Task, bits: int, values: Values) -> Iterator[str]:
    """Yield the name of each goal preference that a state violates, once per violated instance."""
    compiler = Compiler(task)
    for preference, binding in compiler.preferences(task.problem.goal, {}):
        if not compiler.condition(preference.body, binding).holds(bits, values):
            yield preference.name


def _newest_first(
    history: _History,
) -> Iterator[tuple[_History, GroundAction, tuple[int, ...], Values, tuple[str, ...]]]:
    while history is not None:
        yield history
        history = history[0]


class _Past:
    """What each executed step changed, newest first; it can be iterated repeatedly."""

    __slots__ = ("_history", "_steps", "_values")

    def __init__(self, steps: int, values: Values, history: _History) -> None:
        self._steps = steps
        self._values = values
        self._history = history

    def __iter__(self) -> Iterator[StateChange]:
        from hvr.validation.violations import StateChange

        number, after = self._steps, self._values
        for _, action, changed, before, _ in _newest_first(self._history):
            yield StateChange(StepRef(number, action), changed, before, after)
            number, after = number - 1, before
