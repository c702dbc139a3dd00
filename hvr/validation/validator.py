"""The symbolic validator: step by step, or for a whole plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.texts import check_real
from hvr.errors import ContinuousChangeError, UsageError
from hvr.pddl import (
    Atom,
    Diagnostic,
    Domain,
    GroundAction,
    GroundingLimitError,
    Misfit,
    NumberTooLargeError,
    Problem,
    State,
    Step,
    Task,
    TimedAction,
    UnsupportedPddlError,
    parse_domain,
    parse_problem,
    read_plan,
)
from hvr.pddl.plan import PlainPlan, plain_plan
from hvr.pddl.reader import SourceText
from hvr.pddl.state import Operator
from hvr.validation.report import OnFailure, Outcome, ValidationReport
from hvr.validation.sequences import (
    Checkpoints,
    Follower,
    SequenceRun,
    action_of,
    check_quickly,
    is_markovian,
    sequence_order,
)
from hvr.validation.stepper import Stepper

if TYPE_CHECKING:
    from hvr.pddl.plan import LazyTimedPlan
    from hvr.validation.continuous.dynamics import Dynamics
    from hvr.validation.temporal import TemporalRun
    from hvr.validation.timeline import Curve, ProcessSpan

TOLERANCE = Fraction(1, 100)
"""Default tolerance of durations, as in VAL, because planners round."""

EXACT = Fraction(0)

_MOST_TEXTS = 200_000
_SMALLEST_EPSILON = 9
"""Number of decimals of the smallest epsilon to try."""
_CALLS = "the steps were read as action(object, …)"


class Validator(Stepper):
    """Executes steps on a state, judges whole plans, and explains failures.

    Args:
        epsilon: The largest time difference between simultaneous steps, by default a tenth of
            `tolerance`, as in VAL.
        numeric_tolerance: The tolerance of numeric conditions, if `task` is a domain. VAL uses
            0.0001.
        until: The time at which processes and events stop, by default the plan's last happening.

    Raises:
        UsageError: A domain is given without a problem, or a task with a problem.
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
        until: Fraction | None = None,
    ) -> None:
        if isinstance(task, Domain):
            if problem is None:
                raise UsageError("a domain was given without a problem: pass both, or a task")
            task = Task(task, problem, tolerance=numeric_tolerance)
        elif problem is not None:
            raise UsageError("a task already has a problem: pass only one of them")
        super().__init__(task, state)
        self.tolerance = tolerance
        self.epsilon = tolerance / 10 if epsilon is None else epsilon
        self.until = until
        # Operators by the text of the step: plans of one problem repeat their steps, and looking up
        # a text is faster than parsing it.
        self._by_text: dict[str, Operator] = {}
        self._by_states = is_markovian(task)
        # A plan is judged from the first step that differs from the previous plan.
        self._states_by_text, self._states_by_action = Checkpoints(), Checkpoints()
        self._follower = Follower()
        self._dynamics: Dynamics | None = None

    def lasting(self, until: Fraction) -> Validator:
        """Return a validator that starts in this state and continues until the time `until`."""
        from copy import copy

        other = copy(self)
        other.until = until
        return other

    def check(
        self, plan: Iterable[Step], *, on_failure: OnFailure = OnFailure.STOP
    ) -> ValidationReport:
        """Check whether a plan leads from the current state to the goal.

        A plan is judged over time if `sequence_order` says that time matters. Any other plan is a
        sequence, whose numbering continues from `step_number`. The validator stays unchanged. The
        outcome is unknown if a limit is exceeded. After a failure, `on_failure` decides whether to
        stop or to continue (up to MOST_FAILURES) with the failing step skipped or executed
        regardless.
        """
        plan = tuple(plan)
        try:
            actions = self._sequence(plan)
            if actions is None:
                return self._in_time(plan).run(on_failure)
            if not self._by_states:
                return SequenceRun(self, actions, on_failure).run()
            count = len(actions)
            verdict = check_quickly(
                self.state, actions, self._operator_of, self.step_number, self._states_by_action
            )
            if isinstance(verdict, ValidationReport):
                return verdict
            if on_failure is not OnFailure.STOP:
                return SequenceRun(self, actions, on_failure).run()
            before = [self.task.ground(action) for action in actions[:verdict]]
            report = self._explained(before, actions[verdict : verdict + 1]).replace(steps=count)
            from hvr.validation.violations import with_step_locations

            # Cached operators may carry the locations of another plan's steps.
            return with_step_locations(report, lambda number: actions[number - 1], self.step_number)
        except (ContinuousChangeError, GroundingLimitError, NumberTooLargeError) as error:
            return ValidationReport(Outcome.UNKNOWN, len(plan), 0, reason=str(error))

    def check_file(
        self,
        source: str | Path,
        *,
        file: str | None = None,
        on_failure: OnFailure = OnFailure.STOP,
        lenient: bool = False,
    ) -> ValidationReport:
        """Read a plan from text (`str`) or a file (`Path`), and check whether it is valid.

        `file` is the file name to use in messages; `on_failure` is described in `check`.

        Raises:
            DataFileError: The file cannot be read.
            PddlSyntaxError: The text is not a plan.
        """
        text = SourceText.read(source, file=file, default="<plan>", lenient=lenient)
        notes = _notes(text.warnings)
        domain = self.task.domain
        timed = domain.durative_actions or domain.is_hybrid or self.task.problem.timed_init
        plain = None if timed else plain_plan(text, self.epsilon)
        if plain is not None and plain.calls:
            notes = (*notes, _CALLS)
        if plain is not None and self._by_states:
            known = self._by_text
            report = check_quickly(
                self.state,
                plain.steps,
                lambda step: known.get(step) or self._operator(step),
                self.step_number,
                self._states_by_text,
            )
            if not isinstance(report, ValidationReport) and on_failure is OnFailure.STOP:
                report = self._failed_at(plain, report)
            if isinstance(report, ValidationReport):
                return _with_notes(report, notes)
        if timed:
            from hvr.pddl.plan import lazy_timed_plan

            if (steps_in_time := lazy_timed_plan(text)) is not None:
                return _with_notes(self._judged_in_time(steps_in_time, on_failure), notes)
        if plain is not None:
            return _with_notes(self._judged_in_order(plain, on_failure), notes)
        plan = read_plan(text.text, file=text.file, lenient=lenient)
        notes = (*notes, *_notes(plan.warnings), *((_CALLS,) if plan.notation == "call" else ()))
        return _with_notes(self.check(plan.steps, on_failure=on_failure), notes)

    def _failed_at(self, plain: PlainPlan, executed_steps: int) -> ValidationReport:
        # Steps after the failing one are not parsed.
        from hvr.validation.violations import with_step_locations

        steps, known, count = plain.steps, self._by_text, len(plain.steps)
        before = [known.get(step) or self._operator(step) for step in steps[:executed_steps]]
        failing = [plain.read(executed_steps + 1)] if executed_steps < count else []
        executed = [operator for operator in before if operator is not None]
        report = self._explained(executed, failing).replace(steps=count)
        return with_step_locations(report, plain.read, self.step_number)

    def _judged_in_order(self, plain: PlainPlan, on_failure: OnFailure) -> ValidationReport:
        try:
            return SequenceRun(self, plain.actions, on_failure).run()
        except (GroundingLimitError, NumberTooLargeError) as error:
            return ValidationReport(Outcome.UNKNOWN, len(plain.steps), 0, reason=str(error))

    def _judged_in_time(self, steps: LazyTimedPlan, on_failure: OnFailure) -> ValidationReport:
        try:
            return self._in_time(steps).run(on_failure)
        except (ContinuousChangeError, GroundingLimitError, NumberTooLargeError) as error:
            return ValidationReport(Outcome.UNKNOWN, len(steps), 0, reason=str(error))

    def _explained(
        self, executed: Sequence[Operator], failing: Sequence[GroundAction]
    ) -> ValidationReport:
        try:
            ahead = self._follower.after(self, executed, to_a_step=bool(failing))
            return SequenceRun(ahead, failing, OnFailure.STOP, len(executed)).run()
        except (GroundingLimitError, NumberTooLargeError) as error:
            return ValidationReport(Outcome.UNKNOWN, len(executed), 0, reason=str(error))

    def trace(
        self, plan: Iterable[Step]
    ) -> Iterator[
        tuple[int | None, Fraction | None, GroundAction | None, tuple[Atom, ...], tuple[Atom, ...]]
    ]:
        """Yield (step number, time, action, added atoms, deleted atoms) up to the first failure.

        The number is None for events and timed initial literals, and the time is None in plans
        without times. Starts and ends of durative actions are yielded separately.
        """
        plan = tuple(plan)
        actions = self._sequence(plan)
        if actions is None:
            yield from self._in_time(plan).trace()
            return
        ahead = self.fork()
        for action in actions:
            report = ahead.apply(action)
            if not report.ok:
                return
            yield report.step, None, action, report.added, report.deleted

    def curves(self, plan: Iterable[Step]) -> tuple[Curve, ...]:
        """Return the numeric fluents up to the first failure; untimed steps are one unit apart."""
        return self._in_time(tuple(plan)).curves()

    def process_spans(self, plan: Iterable[Step]) -> tuple[ProcessSpan, ...]:
        """Return the intervals in which processes were active, up to the first failure."""
        if not self.task.domain.is_hybrid:
            return ()
        run = self._in_time(tuple(plan))
        run.curves()
        return tuple(run.process_spans)

    def state_after(self, plan: Iterable[Step], number: int) -> State:
        """Return the state after a step of a plan has ended (0 for the current state).

        If an earlier step of a sequence fails, return the state before that step. If a timed plan
        fails before the step begins, return the current state.
        """
        plan = tuple(plan)
        if number <= 0:
            return self.state
        actions = self._sequence(plan)
        if actions is None:
            return self._in_time(plan).state_after(number)
        ahead = self.fork()
        for action in actions[:number]:
            if not ahead.apply(action).ok:
                break
        return ahead.state

    def smaller_epsilon(self, plan: Sequence[Step]) -> Fraction | None:
        """Return the largest power of ten below `epsilon` that makes a plan valid.

        Returns None if there is no such power, if no two times of the plan are that close, or if a
        step has no time.
        """
        times = {Fraction(initial.time) for initial in self.task.problem.timed_init}
        for step in plan:
            if not isinstance(step, TimedAction):
                return None
            times.add(step.start)
            if step.duration is not None:
                times.add(step.start + step.duration)
        gaps = (two - one for one, two in pairwise(sorted(times)))
        least = min((gap for gap in gaps if gap <= self.epsilon), default=None)
        if least is None:
            return None
        from copy import copy

        from hvr.pddl.plan import LazyTimedPlan

        other = copy(self)
        for digits in range(1, _SMALLEST_EPSILON + 1):
            other.epsilon = Fraction(1, 10**digits)
            if other.epsilon >= self.epsilon:
                continue
            if isinstance(plan, LazyTimedPlan):
                report = other._judged_in_time(plan, OnFailure.STOP)
            else:
                report = other.check(plan)
            if report.valid:
                return other.epsilon
            if other.epsilon < least:
                return None
        return None

    def _sequence(self, plan: Sequence[Step]) -> list[GroundAction] | None:
        order = sequence_order(self.task, plan, self.epsilon)
        return None if order is None else [action_of(plan[index]) for index in order]

    def _in_time(self, plan: Sequence[Step] | LazyTimedPlan) -> TemporalRun:
        # Lazy import: most plans are sequences, and the command must start fast.
        from hvr.pddl.plan import LazyTimedPlan
        from hvr.validation.temporal import TemporalRun

        steps = plan if isinstance(plan, LazyTimedPlan) else with_times(plan)
        if not self.task.domain.is_hybrid:
            return TemporalRun(self, steps)
        from hvr.validation.continuous.dynamics import Dynamics
        from hvr.validation.continuous.hybrid import HybridRun

        if self._dynamics is None:
            self._dynamics = Dynamics(self.task)
        return HybridRun(self, steps, self._dynamics)

    def _operator(self, text: str) -> Operator | None:
        operator = self._operator_of(_action(text))
        if operator is None:
            return None
        if len(self._by_text) > _MOST_TEXTS:
            self._by_text.clear()
        self._by_text[text] = operator
        return operator

    def _operator_of(self, action: GroundAction) -> Operator | None:
        operator = self.task.try_ground(action)
        return None if isinstance(operator, Misfit) else operator


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
    """Check whether a plan is valid.

    Args:
        domain: A domain, its text as a string (never used as a file name), or its file as a path.
        problem: A problem, its text or its file.
        plan: A plan, its text or its file.
        tolerance: The tolerance of durations.
        epsilon: The largest time difference between simultaneous steps, by default a tenth of
            `tolerance`.
        numeric_tolerance: The tolerance of numeric conditions. VAL uses 0.0001.
        lenient: Whether to tolerate errors that leave the meaning clear.

    Returns:
        The report; its outcome is unknown if the input uses an unsupported part of PDDL.

    Raises:
        DataFileError: A file cannot be read.
        UsageError: A string for the domain or problem is not PDDL text, the plan contains something
            other than steps, or a tolerance is negative or not a number.
        PddlError: The PDDL is invalid; the message says where and why.
    """
    for name, value in (("tolerance", tolerance), ("numeric_tolerance", numeric_tolerance)):
        check_real(name, value)
    if epsilon is not None:
        check_real("epsilon", epsilon)
    warnings: list[Diagnostic] = []
    try:
        if not isinstance(domain, Domain):
            source = model_source(domain, "domain")
            domain = parse_domain(source, lenient=lenient, warnings=warnings)
        if not isinstance(problem, Problem):
            problem = parse_problem(
                model_source(problem, "problem"), domain, lenient=lenient, warnings=warnings
            )
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
        report = validator.check_file(plan, lenient=lenient)
    else:
        report = validator.check(checked_steps(plan))
    notes = _notes(warnings)
    return report.replace(notes=(*notes, *report.notes)) if notes else report


def _notes(warnings: Iterable[Diagnostic]) -> tuple[str, ...]:
    return tuple([f"{warning.location}: {warning.message}" for warning in warnings])


def _with_notes(report: ValidationReport, notes: tuple[str, ...]) -> ValidationReport:
    return report.replace(notes=(*report.notes, *notes)) if notes else report


def checked_steps(plan: Iterable[Step]) -> Sequence[Step]:
    """Return a plan given as a sequence of steps; raise a UsageError if it is anything else."""
    steps = list(plan) if isinstance(plan, Iterable) else [plan]
    for number, step in enumerate(steps, 1):
        if not isinstance(step, GroundAction | TimedAction):
            raise UsageError(
                f"step {number} of the plan must be a GroundAction or TimedAction, not "
                f"{type(step).__name__}: pass a plan's text as one string, and a file as "
                "pathlib.Path(…)",
                field="plan",
            )
    return steps


def model_source(source: str | Path, part: str) -> str | Path:
    """Return a domain or problem, given as text or path, after a plausibility check.

    Raises:
        UsageError: The value is neither a string nor a path, or the string has no parentheses and
            looks like a file name.
    """
    if not isinstance(source, str | Path):
        raise UsageError(
            f"the {part} must be a str or a pathlib.Path, not {type(source).__name__}", field=part
        )
    if isinstance(source, str) and "(" not in source:
        raise UsageError(
            f"the {part} must be PDDL text, but has no parentheses: pass a file as pathlib.Path(…)",
            field=part,
        )
    return source


def _action(text: str) -> GroundAction:
    name, *args = text.split()
    return GroundAction(name, tuple(args))


def with_times(plan: Sequence[Step]) -> list[TimedAction]:
    """Return a plan whose untimed steps have the times 1, 2, 3 and so on."""
    return [
        step if isinstance(step, TimedAction) else TimedAction(step, Fraction(number))
        for number, step in enumerate(plan, 1)
    ]
