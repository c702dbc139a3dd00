"""The symbolic validator: one step at a time, or a whole plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from hvr.errors import UsageError
from hvr.pddl import (
    Atom,
    Domain,
    Expression,
    FunctionTerm,
    GroundAction,
    GroundingLimitError,
    Misfit,
    MisfitKind,
    Problem,
    State,
    Task,
    UnsupportedPddlError,
    applicable_actions,
    parse_domain,
    parse_plan,
    parse_problem,
)
from hvr.validation.report import (
    Failure,
    FailureKind,
    Outcome,
    StepRef,
    StepReport,
    UnmetLiteral,
    ValidationReport,
)
from hvr.validation.violations import blame, is_fixed

_KINDS = {
    MisfitKind.UNKNOWN_ACTION: FailureKind.UNKNOWN_ACTION,
    MisfitKind.UNKNOWN_OBJECT: FailureKind.UNKNOWN_OBJECT,
    MisfitKind.WRONG_ARITY: FailureKind.WRONG_ARITY,
    MisfitKind.WRONG_TYPE: FailureKind.WRONG_TYPE,
}

# Executed steps, newest first: (older ones, action, bits that changed, its cost). A linked list
# makes a fork one assignment, and what changed is all that undo and the explanations need.
_History: TypeAlias = "tuple[_History, GroundAction, tuple[int, ...], Fraction] | None"


class Validator:
    """Executes steps on a state and says why one cannot be executed.

    Args:
        task: a task, or a domain.
        problem: the problem, when `task` is a domain.
        state: the state to begin in; the initial state of the problem if None.

    Raises:
        UsageError: a domain without a problem, or a task with one.
    """

    def __init__(
        self, task: Task | Domain, problem: Problem | None = None, *, state: State | None = None
    ) -> None:
        if isinstance(task, Domain):
            if problem is None:
                raise UsageError("a validator needs a problem to go with the domain")
            task = Task(task, problem)
        elif problem is not None:
            raise UsageError("a validator of a task takes no further problem")
        if state is not None and state.task is not task:
            raise UsageError("the state to begin in belongs to another task")
        self.task = task
        self._bits = (state or task.initial).bits
        self._steps = 0
        self._history: _History = None

    @property
    def state(self) -> State:
        """The present state."""
        return State(self.task, self._bits)

    @property
    def step_number(self) -> int:
        """How many steps have been executed."""
        return self._steps

    @property
    def steps(self) -> tuple[GroundAction, ...]:
        """The steps that have been executed."""
        return tuple(action for _, action, _, _ in _newest_first(self._history))[::-1]

    # Moving ---------------------------------------------------------------------------------

    def apply(self, action: GroundAction) -> StepReport:
        """Execute a step, or say why it cannot be executed and change nothing.

        Raises:
            GroundingLimitError: a quantifier of the action has too many instances.
        """
        failure = self._advance(action)
        if failure is not None:
            return StepReport(False, self._steps + 1, action, failure=failure)
        assert self._history is not None
        _, _, changed, cost = self._history
        added: list[Atom] = []
        deleted: list[Atom] = []
        for index in changed:
            into = added if self._bits >> index & 1 else deleted
            into.append(self.task.fluent(index))
        return StepReport(True, self._steps, action, tuple(added), tuple(deleted), cost)

    def undo(self) -> GroundAction:
        """Take back the last step and return it.

        Raises:
            UsageError: no step has been executed.
        """
        if self._history is None:
            raise UsageError("there is no step to undo")
        self._history, action, changed, _ = self._history
        for index in changed:
            self._bits ^= 1 << index
        self._steps -= 1
        return action

    def fork(self) -> Validator:
        """Return a validator that goes on from here on its own; this costs nothing."""
        other = Validator.__new__(Validator)
        other.task = self.task
        other._bits = self._bits
        other._steps = self._steps
        other._history = self._history
        return other

    # Asking ---------------------------------------------------------------------------------

    def check(self, plan: Iterable[GroundAction]) -> ValidationReport:
        """Say whether a plan leads from here to the goal. The validator itself stays here.

        Steps are numbered on from `step_number`.
        """
        plan = tuple(plan)
        ahead = self.fork()
        executed = 0
        try:
            for action in plan:
                failure = ahead._advance(action)
                if failure is not None:
                    return ValidationReport(Outcome.INVALID, len(plan), executed, failure)
                executed += 1
            goal = ahead.goal_failure()
        except GroundingLimitError as error:
            return ValidationReport(Outcome.UNKNOWN, len(plan), executed, reason=str(error))
        outcome = Outcome.VALID if goal is None else Outcome.INVALID
        return ValidationReport(outcome, len(plan), executed, goal, ahead.cost())

    def goal_holds(self) -> bool:
        """Say whether the goal of the problem is true now."""
        return self.task.goal.holds(self._bits)

    def goal_failure(self) -> Failure | None:
        """Say what is missing for the goal, or None when it is reached."""
        if self.goal_holds():
            return None
        literals = self._blame(self.task.problem.goal, {})
        return Failure(FailureKind.GOAL, "The goal is not reached.", literals=literals)

    def cost(self) -> Fraction | None:
        """Return the value of the metric of the steps so far, None where it is undefined."""
        total = sum((cost for _, _, _, cost in _newest_first(self._history)), Fraction(0))
        return self.task.plan_cost(self._steps, total)

    def applicable_actions(self, limit: int | None = None) -> tuple[GroundAction, ...]:
        """Return the actions that are applicable now, at most `limit`, in a fixed order."""
        return tuple(islice(applicable_actions(self.state), limit))

    # Inside ---------------------------------------------------------------------------------

    def _advance(self, action: GroundAction) -> Failure | None:
        operator = self.task.try_ground(action)
        if isinstance(operator, Misfit):
            return self._failure(
                _KINDS[operator.kind],
                action,
                f"is not a step of this task: {operator.message}",
                suggestion=operator.suggestion,
            )
        bits = self._bits
        if not operator.precondition.holds(bits):
            schema = self.task.domain.actions[action.name]
            names = (p.name for p in schema.parameters)
            binding = dict(zip(names, action.args, strict=True))
            return self._failure(
                FailureKind.PRECONDITION,
                action,
                "cannot be executed: its precondition does not hold",
                literals=self._blame(schema.precondition, binding),
            )
        cost = operator.cost(bits)
        if isinstance(cost, FunctionTerm):
            return self._failure(
                FailureKind.UNDEFINED_VALUE,
                action,
                f"cannot be executed: its cost needs {cost}, which has no value",
            )
        after = operator.apply(bits)
        self._history = self._history, action, _set_bits(bits ^ after), cost
        self._bits = after
        self._steps += 1
        return None

    def _failure(
        self,
        kind: FailureKind,
        action: GroundAction,
        why: str,
        *,
        literals: tuple[UnmetLiteral, ...] = (),
        suggestion: str = "",
    ) -> Failure:
        step = self._steps + 1
        return Failure(
            kind,
            f"Step {step} {action} {why}.",
            step,
            action,
            literals,
            suggestion,
            action.location,
        )

    def _blame(self, formula: Expression, binding: dict[str, str]) -> tuple[UnmetLiteral, ...]:
        found = blame(self.task, self._bits, formula, binding)
        fluents = {
            self.task.index(f): f
            for f in found
            if isinstance(f, Atom) and not is_fixed(self.task, f)
        }
        changed_by: dict[Expression, StepRef] = {}
        number = self._steps
        for _, action, changed, _ in _newest_first(self._history):
            if not fluents:
                break
            for index in changed:
                if (atom := fluents.pop(index, None)) is not None:
                    changed_by[atom] = StepRef(number, action)
            number -= 1
        return tuple(
            UnmetLiteral(f, wanted, is_fixed(self.task, f), changed_by.get(f))
            for f, wanted in found.items()
        )


def validate(
    domain: Domain | str | Path,
    problem: Problem | str | Path,
    plan: Sequence[GroundAction] | str | Path,
) -> ValidationReport:
    """Say whether a plan is valid.

    Args:
        domain: a domain, its text or its path.
        problem: a problem, its text or its path.
        plan: a plan, its text or its path.

    Returns:
        the report; its outcome is unknown when the input uses a part of PDDL that is not
        supported yet.

    Raises:
        DataFileError: a file cannot be read.
        PddlError: a text cannot be used; the message says where and why.
    """
    steps: Sequence[GroundAction] = ()
    try:
        if isinstance(domain, str | Path):
            domain = parse_domain(domain)
        if isinstance(problem, str | Path):
            problem = parse_problem(problem, domain)
        steps = parse_plan(plan) if isinstance(plan, str | Path) else plan
    except UnsupportedPddlError as error:
        return ValidationReport(Outcome.UNKNOWN, len(steps), 0, reason=str(error))
    return Validator(domain, problem).check(steps)


def _newest_first(
    history: _History,
) -> Iterator[tuple[_History, GroundAction, tuple[int, ...], Fraction]]:
    while history is not None:
        yield history
        history = history[0]


def _set_bits(bits: int) -> tuple[int, ...]:
    found: list[int] = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return tuple(found)
