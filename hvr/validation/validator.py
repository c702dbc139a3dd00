"""The symbolic validator: one step at a time, or a whole plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from hvr.errors import InconsistentEffectError, UsageError
from hvr.pddl import (
    And,
    Atom,
    Domain,
    Expression,
    GroundAction,
    GroundingLimitError,
    Misfit,
    MisfitKind,
    NumberTooLargeError,
    Problem,
    State,
    Step,
    Task,
    TimedAction,
    Trajectory,
    UndefinedValueError,
    UnsupportedPddlError,
    applicable_actions,
    parse_domain,
    parse_problem,
    read_plan,
)
from hvr.pddl.compiler import Binding, Compiler
from hvr.pddl.conditions import Operator
from hvr.pddl.lexer import Source
from hvr.pddl.model import walk
from hvr.pddl.numeric import Values
from hvr.pddl.plan import plain_steps
from hvr.pddl.task import TOTAL_COST, binding_of
from hvr.validation.report import (
    Failure,
    FailureKind,
    OnFailure,
    Outcome,
    StepRef,
    StepReport,
    UnmetLiteral,
    ValidationReport,
    place_of,
)
from hvr.validation.sequences import action_of, sequence_order
from hvr.validation.trajectory import Constraints, Violation
from hvr.validation.violations import StateChange, unmet_literals

TOLERANCE = Fraction(1, 100)
"""How far a duration may be from what its action demands; planners round. VAL's default."""

EXACT = Fraction(0)
"""How far numeric conditions may be missed: not at all."""

MOST_FAILURES = 1000
"""How many failures are reported of one plan."""

KINDS = {
    MisfitKind.UNKNOWN_ACTION: FailureKind.UNKNOWN_ACTION,
    MisfitKind.UNKNOWN_OBJECT: FailureKind.UNKNOWN_OBJECT,
    MisfitKind.WRONG_ARITY: FailureKind.WRONG_ARITY,
    MisfitKind.WRONG_TYPE: FailureKind.WRONG_TYPE,
    MisfitKind.DURATIVE: FailureKind.START_TIME,
}

# Executed steps, newest first: (older ones, action, bits that changed, the numbers before, the
# preferences that were violated). A linked list makes a fork one assignment, and what changed is
# all that undo and the explanations need.
_History: TypeAlias = (
    "tuple[_History, GroundAction, tuple[int, ...], Values, tuple[str, ...]] | None"
)


class Validator:
    """Executes steps on a state and says why one cannot be executed.

    Args:
        task: a task, or a domain.
        problem: the problem, when `task` is a domain.
        state: the state to begin in; the initial state of the problem if None.
        tolerance: how far a duration may be from what its action demands.
        epsilon: steps no further apart than this are simultaneous; a tenth of `tolerance` if
            None, as in VAL.
        numeric_tolerance: how far numeric conditions may be missed, when `task` is a domain;
            VAL forgives 0.0001.

    Raises:
        UsageError: a domain without a problem, or a task with one.
    """

    def __init__(
        self,
        task: Task | Domain,
        problem: Problem | None = None,
        *,
        state: State | None = None,
        tolerance: Fraction = TOLERANCE,
        epsilon: Fraction | None = None,
        numeric_tolerance: Fraction = EXACT,
    ) -> None:
        if isinstance(task, Domain):
            if problem is None:
                raise UsageError("a validator needs a problem to go with the domain")
            task = Task(task, problem, tolerance=numeric_tolerance)
        elif problem is not None:
            raise UsageError("a validator of a task takes no further problem")
        if state is not None and state.task is not task:
            raise UsageError("the state to begin in belongs to another task")
        self.task = task
        self.tolerance = tolerance
        self.epsilon = tolerance / 10 if epsilon is None else epsilon
        start = state or task.initial
        self._bits = start.bits
        self._values = start.values
        self._steps = 0
        self._history: _History = None
        # Operators by the text of the step, for plans that are only checked.
        self._by_text: dict[str, Operator] = {}
        self._simple = _is_simple(task)

    @property
    def state(self) -> State:
        """The present state."""
        return State(self.task, self._bits, self._values)

    @property
    def step_number(self) -> int:
        """How many steps have been executed."""
        return self._steps

    @property
    def steps(self) -> tuple[GroundAction, ...]:
        """The steps that have been executed."""
        return tuple(entry[1] for entry in _newest_first(self._history))[::-1]

    # Moving ---------------------------------------------------------------------------------

    def apply(self, action: GroundAction) -> StepReport:
        """Execute a step, or say why it cannot be executed and change nothing.

        Trajectory constraints are judged by `check` only.

        Raises:
            GroundingLimitError: a quantifier of the action has too many instances.
            NumberTooLargeError: a number grows too large.
        """
        failure = self._advance(action)
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
        """Take back the last step and return it.

        Raises:
            UsageError: no step has been executed.
        """
        if self._history is None:
            raise UsageError("there is no step to undo")
        self._history, action, changed, self._values, _ = self._history
        for index in changed:
            self._bits ^= 1 << index
        self._steps -= 1
        return action

    def fork(self) -> Validator:
        """Return a validator that goes on from here on its own; this costs nothing."""
        other = Validator.__new__(Validator)
        other.__dict__.update(self.__dict__)
        return other

    # Asking ---------------------------------------------------------------------------------

    def check(
        self, plan: Iterable[Step], *, on_failure: OnFailure = OnFailure.STOP
    ) -> ValidationReport:
        """Say whether a plan leads from here to the goal. The validator itself stays here.

        A plan with durative actions, or for a task in which time matters, is judged in time;
        any other is a sequence, numbered on from `step_number`.

        Args:
            plan: the steps.
            on_failure: whether to stop at the first failure, or to go on (to MOST_FAILURES) as if
                the failing step had been skipped, or executed all the same.
        """
        plan = tuple(plan)
        try:
            actions = self._sequence(plan)
            if actions is None:
                from hvr.validation.temporal import TemporalRun

                return TemporalRun(self, _with_times(plan)).run(on_failure)
            if self._simple:
                found = map(self._operator_of, actions)
                if (report := self._check_quickly(found, len(actions))) is not None:
                    return report
            return self._check_sequence(actions, on_failure)
        except (GroundingLimitError, NumberTooLargeError) as error:
            return ValidationReport(Outcome.UNKNOWN, len(plan), 0, reason=str(error))

    def check_file(
        self,
        source: str | Path,
        *,
        file: str | None = None,
        on_failure: OnFailure = OnFailure.STOP,
        lenient: bool = False,
    ) -> ValidationReport:
        """Read a plan and say whether it is valid.

        Args:
            source: the text of the plan, or the path of its file.
            file: the name that messages give it.
            on_failure: see `check`.
            lenient: see `hvr.pddl.read_plan`.

        Raises:
            DataFileError: the file cannot be read.
            PddlSyntaxError: it is not a plan.
        """
        text = Source.read(source, file=file, default="<plan>", lenient=lenient)
        if self._simple and (steps := plain_steps(text.text)) is not None:
            known = self._by_text
            found = (known.get(step) or self._operator(step) for step in steps)
            if (report := self._check_quickly(found, len(steps))) is not None:
                seen = tuple([f"{w.location}: {w.message}" for w in text.warnings])
                return report.replace(notes=seen) if seen else report
        plan = read_plan(text.text, file=text.file, lenient=lenient)
        report = self.check(plan.steps, on_failure=on_failure)
        notes = [f"{w.location}: {w.message}" for w in (*text.warnings, *plan.warnings)]
        if plan.notation == "call":
            notes.append("the steps were read as action(object, …)")
        return report.replace(notes=(*report.notes, *notes)) if notes else report

    def trace(
        self, plan: Iterable[Step]
    ) -> Iterator[
        tuple[int | None, Fraction | None, GroundAction | None, tuple[Atom, ...], tuple[Atom, ...]]
    ]:
        """Yield what each step of a plan does, up to the first failure.

        Yields:
            the number of the step (None for a timed initial literal), its time in a temporal plan
            (the start and the end of a durative action come separately), the action, and the
            atoms that became true and false.
        """
        plan = tuple(plan)
        actions = self._sequence(plan)
        if actions is None:
            from hvr.validation.temporal import TemporalRun

            yield from TemporalRun(self, _with_times(plan)).trace()
            return
        ahead = self.fork()
        for action in actions:
            report = ahead.apply(action)
            if not report.ok:
                return
            yield report.step, None, action, report.added, report.deleted

    def state_after(self, plan: Iterable[Step], number: int) -> State:
        """Return the state after a step of a plan has ended; 0 is the present state.

        The state before the first failing step, if that comes earlier.
        """
        plan = tuple(plan)
        if number <= 0:
            return self.state
        actions = self._sequence(plan)
        if actions is None:
            from hvr.validation.temporal import TemporalRun

            return TemporalRun(self, _with_times(plan)).state_after(number)
        ahead = self.fork()
        for action in actions[:number]:
            if not ahead.apply(action).ok:
                break
        return ahead.state

    def goal_holds(self) -> bool:
        """Say whether the goal of the problem is true now."""
        return self.task.goal.holds(self._bits, self._values)

    def goal_failure(self) -> Failure | None:
        """Say what is missing for the goal, or None when it is reached."""
        if self.goal_holds():
            return None
        goal = self.task.problem.goal
        literals = self._unmet(goal, {})
        return Failure(
            FailureKind.GOAL,
            "The goal is not reached.",
            literals=literals,
            condition=place_of(goal),
        )

    def cost(self) -> Fraction | None:
        """Return the value of the metric of the steps so far, None where it is undefined.

        Preferences of the goal count as if this were the end; those of constraints are judged by
        `check` only.
        """
        violated = self._violated_preferences(self._history)
        return self.task.metric_value(self._values, Fraction(self._steps), violated)

    def applicable_actions(self, limit: int | None = None) -> tuple[GroundAction, ...]:
        """Return the actions that are applicable now, at most `limit`, in a fixed order.

        Durative actions are left out.
        """
        return tuple(islice(applicable_actions(self.state), limit))

    # Sequences ------------------------------------------------------------------------------

    def _sequence(self, plan: Sequence[Step]) -> list[GroundAction] | None:
        """Return the steps in the order of execution, None if they are to be judged in time."""
        order = sequence_order(self.task, plan, self.epsilon)
        return None if order is None else [action_of(plan[index]) for index in order]

    def _check_sequence(
        self, plan: Sequence[GroundAction], on_failure: OnFailure
    ) -> ValidationReport:
        ahead = self.fork()
        constraints = Constraints(self.task)
        failures: list[Failure] = []
        executed = 0
        if constraints:
            for number, (bits, values) in enumerate(ahead._past_states()):
                found = constraints.observe(Fraction(number), bits, values)
                ahead._constrain(constraints, found, failures)
        for action in plan:
            if failures and (on_failure is OnFailure.STOP or len(failures) >= MOST_FAILURES):
                break
            before = ahead._steps
            failure = ahead._advance(action, force=on_failure is OnFailure.FORCE)
            if failure is not None:
                failures.append(failure)
                if on_failure is OnFailure.STOP:
                    break
                if ahead._steps == before:
                    # A skipped step keeps its number, so that later ones keep theirs.
                    ahead._skip(action)
            else:
                executed += 1
            if constraints:
                ahead._constrain(
                    constraints,
                    constraints.observe(Fraction(ahead._steps), ahead._bits, ahead._values),
                    failures,
                )
        if failures and on_failure is OnFailure.STOP:
            return ValidationReport(Outcome.INVALID, len(plan), executed, tuple(failures))
        if len(failures) >= MOST_FAILURES:
            note = f"stopped after {MOST_FAILURES} failures"
            return ValidationReport(
                Outcome.INVALID, len(plan), executed, tuple(failures), notes=(note,)
            )
        goal = ahead.goal_failure()
        if goal is not None:
            failures.append(goal)
        violated = ahead._violated_preferences(ahead._history)
        if constraints:
            ahead._constrain(constraints, constraints.finish(), failures)
            for preferred in constraints.preferred:
                violated[preferred.name] = violated.get(preferred.name, 0) + preferred.violated
        cost: Fraction | None = None
        if executed == len(plan):
            cost = self.task.metric_value(ahead._values, Fraction(ahead._steps), violated)
        return ValidationReport(
            Outcome.INVALID if failures else Outcome.VALID,
            len(plan),
            executed,
            tuple(failures),
            cost,
            tuple(violated.items()),
        )

    def _constrain(
        self, constraints: Constraints, violation: Violation | None, failures: list[Failure]
    ) -> None:
        """Note a violation of a constraint, once."""
        if violation is None:
            return
        constraints.forget(violation)
        at = None if self._steps == 0 else self._steps
        literals: tuple[UnmetLiteral, ...] = ()
        if violation.blamed is not None:
            formula, wanted = violation.blamed
            literals = self._unmet(formula, violation.binding, wanted=wanted)
        action = self._history[1] if self._history is not None else None
        after = "in the initial state" if at is None else f"after step {at} {action}"
        failures.append(
            Failure(
                FailureKind.CONSTRAINT,
                f"A trajectory constraint is violated {after}: {violation.why}: {violation.text}.",
                at,
                action,
                literals,
                "",
                None if action is None else action.location,
                None,
                violation.location,
            )
        )

    def _past_states(self) -> Iterator[tuple[int, Values]]:
        """Yield the states from the first one to the present one."""
        states = [(self._bits, self._values)]
        bits = self._bits
        for _, _, changed, before, _ in _newest_first(self._history):
            for index in changed:
                bits ^= 1 << index
            states.append((bits, before))
        yield from reversed(states)

    def _violated_preferences(self, history: _History) -> dict[str, int]:
        """Count violated preferences: of preconditions so far, and of the goal now."""
        violated: dict[str, int] = {}
        for name in self.task.preference_names:
            violated[name] = 0
        for entry in _newest_first(history):
            for name in entry[4]:
                violated[name] = violated.get(name, 0) + 1
        for name in goal_preferences(self.task, self._bits, self._values):
            violated[name] = violated.get(name, 0) + 1
        return violated

    # Quick checks ---------------------------------------------------------------------------

    def _check_quickly(
        self, steps: Iterable[Operator | None], count: int
    ) -> ValidationReport | None:
        """Accept a valid plan; None if it is invalid, or not to be judged by bits and numbers."""
        bits, values = self._bits, self._values
        try:
            for operator in steps:
                if operator is None:
                    return None
                before = bits
                if bits & operator.positive != operator.positive or bits & operator.negative:
                    return None
                if not operator.plain and not operator.precondition.holds(bits, values):
                    return None
                if operator.conditional:
                    bits = operator.apply(bits, values)
                else:
                    bits = bits & operator.keep | operator.add
                if operator.numeric:
                    values = operator.apply_numbers(before, values)
            if not self.task.goal.holds(bits, values):
                return None
            cost = self.task.metric_value(values, Fraction(self._steps + count), {})
        except (
            GroundingLimitError,
            InconsistentEffectError,
            NumberTooLargeError,
            UndefinedValueError,
        ):
            return None
        return ValidationReport(Outcome.VALID, count, count, cost=cost)

    def _operator(self, text: str) -> Operator | None:
        """Return the operator of what stands in the parentheses of a step, if there is one."""
        names = text.split()
        if not names:
            return None
        operator = self.task.try_ground(GroundAction(names[0], tuple(names[1:])))
        if isinstance(operator, Misfit):
            return None
        if len(self._by_text) > 200_000:
            self._by_text.clear()
        self._by_text[text] = operator
        return operator

    def _operator_of(self, action: GroundAction) -> Operator | None:
        operator = self.task.try_ground(action)
        return None if isinstance(operator, Misfit) else operator

    # Inside ---------------------------------------------------------------------------------

    def _advance(self, action: GroundAction, *, force: bool = False) -> Failure | None:
        """Execute a step; return why it cannot be. With `force` it is executed all the same."""
        operator = self.task.try_ground(action)
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
                    literals=self._unmet(schema.precondition, binding_of(schema, action)),
                )
                failure = failure.replace(condition=place_of(schema.precondition))
                if not force:
                    return failure
            violated = tuple(
                [name for name, wish in operator.preferences if not wish.holds(bits, values)]
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
        self._history = self._history, action, set_bits(bits ^ after), values, violated
        self._bits = after
        self._values = numbers
        self._steps += 1
        return failure

    def _skip(self, action: GroundAction) -> None:
        self._history = self._history, action, (), self._values, ()
        self._steps += 1

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

    def _unmet(
        self, formula: Expression, binding: Binding, *, wanted: bool = True
    ) -> tuple[UnmetLiteral, ...]:
        return unmet_literals(
            self.task,
            self._bits,
            self._values,
            formula,
            binding,
            self._changes(),
            wanted=wanted,
        )

    def _changes(self) -> Iterator[StateChange]:
        number, after = self._steps, self._values
        for _, action, changed, before, _ in _newest_first(self._history):
            yield StateChange(StepRef(number, action), changed, before, after)
            number, after = number - 1, before


def validate(
    domain: Domain | str | Path,
    problem: Problem | str | Path,
    plan: Sequence[Step] | str | Path,
    *,
    tolerance: Fraction = TOLERANCE,
    epsilon: Fraction | None = None,
    numeric_tolerance: Fraction = EXACT,
    lenient: bool = False,
) -> ValidationReport:
    """Say whether a plan is valid.

    Args:
        domain: a domain, its text, or its file as a path or a string such as "domain.pddl".
        problem: a problem, its text or its file.
        plan: a plan, its text or its file.
        tolerance: how far a duration may be from what its action demands.
        epsilon: steps no further apart than this are simultaneous.
        numeric_tolerance: how far numeric conditions may be missed; VAL forgives 0.0001.
        lenient: whether to overlook what leaves the meaning clear.

    Returns:
        the report; its outcome is unknown when the input uses a part of PDDL that is not
        supported.

    Raises:
        DataFileError: a file cannot be read.
        UsageError: a string could be a text or the name of a file.
        PddlError: a text cannot be used; the message says where and why.
    """
    from hvr.files import text_or_path

    try:
        if isinstance(domain, str | Path):
            domain = parse_domain(text_or_path(domain), lenient=lenient)
        if isinstance(problem, str | Path):
            problem = parse_problem(text_or_path(problem), domain, lenient=lenient)
        validator = Validator(
            domain,
            problem,
            tolerance=tolerance,
            epsilon=epsilon,
            numeric_tolerance=numeric_tolerance,
        )
    except UnsupportedPddlError as error:
        return ValidationReport(Outcome.UNKNOWN, 0, 0, reason=str(error))
    if isinstance(plan, str | Path):
        return validator.check_file(text_or_path(plan), lenient=lenient)
    return validator.check(plan)


def _is_simple(task: Task) -> bool:
    """Say whether sequences can be judged by bits and numbers alone."""
    domain, problem = task.domain, task.problem
    constraints = And((domain.constraints, problem.constraints))
    return not (
        domain.derived
        or task.preference_names
        or any(isinstance(item, Trajectory) for item in walk(constraints))
    )


def goal_preferences(task: Task, bits: int, values: Values) -> Iterator[str]:
    """Yield the name of each instance of a preference of the goal that a state violates."""
    compiler = Compiler(task)
    for preference, binding in compiler.preferences(task.problem.goal, {}):
        if not compiler.condition(preference.body, binding).holds(bits, values):
            yield preference.name


def set_bits(bits: int) -> tuple[int, ...]:
    """Return the indexes of the set bits."""
    found: list[int] = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return tuple(found)


def _with_times(plan: Sequence[Step]) -> list[TimedAction]:
    """Give steps without a time the times 1, 2, 3 and so on."""
    return [
        step if isinstance(step, TimedAction) else TimedAction(step, Fraction(number))
        for number, step in enumerate(plan, 1)
    ]


def _newest_first(
    history: _History,
) -> Iterator[tuple[_History, GroundAction, tuple[int, ...], Values, tuple[str, ...]]]:
    while history is not None:
        yield history
        history = history[0]
