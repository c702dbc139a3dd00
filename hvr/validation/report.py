"""Validation reports as plain values without references to tasks or states, and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, overload

from hvr.base.printable import short, short_names
from hvr.pddl import (
    Atom,
    Diagnostic,
    Equal,
    Expression,
    FunctionTerm,
    GroundAction,
    Location,
    Not,
    Step,
)
from hvr.pddl.formulas import parts_of
from hvr.validation.outcomes import OnFailure as OnFailure
from hvr.validation.outcomes import Outcome as Outcome
from hvr.values import Value

# Report -------------------------------------------------------------------------------------------


class FailureKind(StrEnum):
    """The kind of a failure, which makes a plan invalid."""

    PRECONDITION = "precondition"
    GOAL = "goal"
    UNKNOWN_ACTION = "unknown action"
    UNKNOWN_OBJECT = "unknown object"
    WRONG_ARITY = "wrong arity"
    WRONG_TYPE = "wrong type"
    UNDEFINED_VALUE = "undefined value"
    INVARIANT = "invariant"
    """An `over all` condition fails while its action runs."""
    END_CONDITION = "end condition"
    DURATION = "duration"
    """A duration is missing, not allowed by the action, or given for an instantaneous action."""
    START_TIME = "start time"
    """A start time is negative, or missing in a temporal domain."""
    INTERFERENCE = "interference"
    """Two simultaneous steps interfere: one changes what the other reads or changes."""
    CONSTRAINT = "constraint"
    """A trajectory constraint is violated."""
    EVENT = "event"
    """An event repeats endlessly at one time, or cannot happen."""
    NO_DECOMPOSITION = "no decomposition"
    """The plan of a hierarchical problem lacks its decomposition."""
    UNKNOWN_TASK = "unknown task"
    UNKNOWN_METHOD = "unknown method"
    UNKNOWN_REFERENCE = "unknown reference"
    """No line of the plan has this identifier."""
    NO_TREE = "no tree"
    """A task has no parent, several parents, or itself as an ancestor."""
    SUBTASKS = "subtasks"
    """The tasks below a task do not match the subtasks of its method."""
    LISTING_ORDER = "listing order"
    """The subtasks of a task are listed in an order that its method forbids."""
    SUBTASK_ORDER = "subtask order"
    """The order of the actions violates the ordering of a method."""
    METHOD_PRECONDITION = "method precondition"


class StepRef(Value):
    """The cause of a change: a step, an event, a process or a timed initial literal.

    Attributes:
        number: 1-based number in the plan, or None for an event, process or timed literal.
        action: The step, event or process, or None for a timed initial literal.
        time: The time of the change, in a temporal plan.
    """

    number: int | None
    action: GroundAction | None
    time: Fraction | None = None

    json_shape = "*"

    def __str__(self) -> str:
        if self.action is None:
            return f"the timed initial literal at {decimal_text(self.time or Fraction(0))}"
        at = "" if self.time is None else f" at {decimal_text(self.time)}"
        if self.number is None:
            return f"{short(self.action)}{at}"
        return f"step {self.number} {short(self.action)}{at}"


class UnmetLiterals(Sequence["UnmetLiteral"]):
    """A sequence of literals that is computed on first access.

    A verdict needs no literals. Until they are computed, they keep the task alive. Copies and
    pickles contain the computed literals.
    """

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[], Iterable[UnmetLiteral]]) -> None:
        self._find: Callable[[], Iterable[UnmetLiteral]] | None = find
        self._found: tuple[UnmetLiteral, ...] = ()

    def found(self) -> tuple[UnmetLiteral, ...]:
        if self._find is not None:
            self._found = tuple(self._find())
            self._find = None
        return self._found

    def settled(self) -> tuple[UnmetLiteral, ...]:
        """Return the literals after computing them and their reasons (`because`) at all levels."""
        for literal in self.found():
            if isinstance(literal.because, UnmetLiterals):
                literal.because.settled()
        return self._found

    def __len__(self) -> int:
        return len(self.found())

    @overload
    def __getitem__(self, index: int) -> UnmetLiteral: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[UnmetLiteral, ...]: ...
    def __getitem__(self, index: int | slice) -> UnmetLiteral | tuple[UnmetLiteral, ...]:
        return self.found()[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, UnmetLiterals):
            other = other.found()
        return self.found() == other

    def __hash__(self) -> int:
        return hash(self.found())

    def __repr__(self) -> str:
        return repr(self.found())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.found(),)


class UnmetLiteral(Value):
    """One literal of a violated condition.

    Attributes:
        formula: The atom, equality or numeric comparison, located in the domain or problem file. It
            is a whole `(exists …)` or `(or …)` if there is no instance to point at.
        wanted: The value that the condition requires; the present value is the opposite.
        fixed: Whether no action can ever change the value.
        changed_by: The step that caused the present value, or last changed a number of a
            comparison, or None if the value is the initial one.
        numbers: The function terms of a comparison with their present values, or None if undefined.
        because: The unmet literals of the best rule for a derived atom.
    """

    formula: Expression
    wanted: bool
    fixed: bool = False
    changed_by: StepRef | None = None
    numbers: tuple[tuple[FunctionTerm, Fraction | None], ...] = ()
    because: Sequence[UnmetLiteral] = ()

    json_shape = "formula wanted actual fixed changed_by numbers{} because location"

    @property
    def location(self) -> Location | None:
        """The place of the literal in the domain or problem file, if known."""
        return getattr(self.formula, "location", None)

    @property
    def actual(self) -> bool:
        """The present value of the formula."""
        return not self.wanted

    def __str__(self) -> str:
        return str(self.formula if self.wanted else Not(self.formula))


class Failure(Value):
    """The reason why a step cannot be executed, or why the goal is not reached.

    Attributes:
        kind: The category of the failure.
        message: The failure in one sentence, without the literals.
        step: The number of the failing step, or None if no step fails, as for a missed goal.
        action: The failing step or decomposed task, if any.
        literals: A smallest set of unmet literals: the best disjunct of a disjunction, the best
            instance of an `exists`, all violated instances of a `forall`.
        suggestion: The nearest known name, or "".
        location: The place of the step in the plan file, if it was read from text.
        time: The time of the violation, in a temporal plan.
        condition: The place of the violated condition in the domain or problem file.
    """

    kind: FailureKind
    message: str
    step: int | None = None
    action: GroundAction | None = None
    literals: Sequence[UnmetLiteral] = ()
    suggestion: str = ""
    location: Location | None = None
    time: Fraction | None = None
    condition: Location | None = None

    json_shape = "kind message step action literals suggestion? location time condition"

    def explain(self, limit: int | None = 20) -> str:
        return explain_failure(self, limit)


class StepReport(Value):
    """The effect of one step, or why it failed and left the state unchanged.

    Attributes:
        ok: Whether the step was executed.
        step: The step number, or the number that a failed step would have had.
        action: The step.
        added: The atoms that became true.
        deleted: The atoms that became false.
        cost: The increase of (total-cost).
        failure: The reason why the step could not be executed, or None if it was.
    """

    ok: bool
    step: int
    action: GroundAction
    added: tuple[Atom, ...] = ()
    deleted: tuple[Atom, ...] = ()
    cost: Fraction = Fraction(0)
    failure: Failure | None = None

    json_shape = "*"

    def explain(self) -> str:
        return explain_step(self)


class Decomposed(Value):
    """The decomposition of a task in a hierarchical plan, as a part of the proof of validity.

    Attributes:
        identifier: The identifier of the task in the plan, or None for the initial network.
        task: The task, or None for the initial network.
        method: The name of the method, or "" for the initial network.
        parameters: The values of the method's parameters.
        subtasks: The task identifier for each subtask of the method.
        position: The number of executed actions after which the method's precondition holds:
            everything ordered before the task is complete, and none of its own actions has begun.
    """

    identifier: int | None
    task: GroundAction | None
    method: str
    parameters: tuple[tuple[str, str], ...]
    subtasks: tuple[int, ...]
    position: int

    json_shape = "id=identifier task method? parameters{} subtasks position"


class ValidationReport(Value):
    """The verdict on a whole plan.

    Attributes:
        outcome: The verdict, which is unknown if the question could not be decided.
        steps: The number of steps of the plan.
        executed: The number of executed steps.
        failures: The first failure, or all of them if requested.
        cost: The value of the problem's metric, by default the number of steps (the makespan of a
            temporal plan). None if a step fails or the metric is undefined.
        violated: The number of violated instances of each preference, by name.
        reason: The reason why the outcome is unknown, or "".
        notes: Further information for the reader, such as the notation of the plan.
        certificate: The decomposition of each task, for a valid hierarchical plan.
    """

    outcome: Outcome
    steps: int
    executed: int
    failures: tuple[Failure, ...] = ()
    cost: Fraction | None = None
    violated: tuple[tuple[str, int], ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    certificate: Sequence[Decomposed] = ()

    json_shape = (
        "outcome steps executed cost failure failures violated_preferences=violated{} "
        "reason? notes certificate-"
    )

    @property
    def failure(self) -> Failure | None:
        """The first failure, if any."""
        return self.failures[0] if self.failures else None

    @property
    def valid(self) -> bool:
        """Whether the plan was proven valid."""
        return self.outcome is Outcome.VALID

    def __repr__(self) -> str:
        steps = f"{self.executed} of {self.steps} steps executed"
        cost = "" if self.cost is None else f", cost {decimal_text(self.cost)}"
        return f"<ValidationReport: {self.outcome}, {steps}{cost}>"

    def _repr_html_(self) -> str:
        from hvr.base.printable import html_card

        cost = "" if self.cost is None else f"Cost: {decimal_text(self.cost)}"
        title, _, why = self.explain().partition(". ")
        return html_card(title.removesuffix("."), (why, cost, *self.notes))

    def explain(self, limit: int | None = 20) -> str:
        return explain_report(self, limit)


class Repair(Value):
    """A repair of a plan: steps to insert, or another change.

    Attributes:
        step: The number of the step before which to insert `actions`, or None to append them.
        actions: The steps to insert.
        completes: Whether the repaired plan is valid, rather than only getting past the first
            failure.
        change: A description of another change, or "" if steps are inserted into a sequence.
        plan: The plan after that change, proven valid, or empty if there is no such change.
    """

    step: int | None
    actions: tuple[GroundAction, ...]
    completes: bool
    change: str = ""
    plan: tuple[Step, ...] = ()

    json_shape = "before_step=step insert=actions completes change? plan?"


class Minimised(Value):
    """A valid plan without redundant steps, and the numbers of the omitted steps.

    Attributes:
        steps: The remaining steps.
        removed: The numbers of the omitted steps in the original plan.
    """

    steps: tuple[Step, ...]
    removed: tuple[int, ...]

    json_shape = "*"


class PlanResult(Value):
    """The results for one plan file.

    Attributes:
        plan: The name of the plan file, `<stdin>` for standard input.
        domain: The name of the domain file.
        problem: The name of the problem file.
        report: The verdict, which is unknown if the file is unusable.
        diagnostic: The located error in the text, if that makes the file unusable.
        repair: The repair of an invalid plan, if one was requested and found.
        repair_note: The reason why no requested repair is given, or "".
        minimised: A valid plan without redundant steps, if requested.
        removed: The numbers of the steps that `minimised` omits.
    """

    plan: str
    domain: str
    problem: str
    report: ValidationReport
    diagnostic: Diagnostic | None = None
    repair: Repair | None = None
    repair_note: str = ""
    minimised: tuple[Step, ...] | None = None
    removed: tuple[int, ...] = ()

    json_shape = "plan? domain problem *report diagnostic repair repair_note? minimised=shortened"

    @property
    def shortened(self) -> Minimised | None:
        """The minimised plan with the numbers of the omitted steps, if requested."""
        return None if self.minimised is None else Minimised(self.minimised, self.removed)


def decimal_text(value: Fraction) -> str:
    """Return a number in decimal notation: 3, 0.25, 0.333333333, 1e+400.

    Fractions, and integers of more than 15 digits, are rounded to 9 digits.
    """
    if value.denominator == 1 and abs(value) < 10**15:
        return str(value.numerator)
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.9g}"


def place_of(formula: Expression) -> Location | None:
    """Return the location of a formula or, if it has none, of its first part (recursively)."""
    place: Location | None = getattr(formula, "location", None)
    parts = parts_of(formula)
    return place or (place_of(parts[0]) if parts else None)


# Text ---------------------------------------------------------------------------------------------


def explain_report(report: ValidationReport, limit: int | None = 20) -> str:
    match report.outcome:
        case Outcome.VALID:
            steps = count(report.steps, "step")
            return f"The plan is valid: its {steps} can be executed and the goal is reached."
        case Outcome.UNKNOWN:
            return f"It could not be decided whether the plan is valid: {report.reason}."
        case Outcome.INVALID:
            why = [explain_failure(failure, limit) for failure in report.failures]
            return "The plan is invalid. " + ("\n".join(why) or report.reason)


def explain_step(report: StepReport) -> str:
    if report.failure is not None:
        return explain_failure(report.failure)
    parts = []
    if report.added:
        parts.append(f"made true: {' '.join(map(str, report.added))}")
    if report.deleted:
        parts.append(f"made false: {' '.join(map(str, report.deleted))}")
    return f"Step {report.step} {report.action} was executed; {'; '.join(parts) or 'no change'}."


def explain_failure(failure: Failure, limit: int | None = 20) -> str:
    """Return a failure in sentences, one per line, with at most `limit` literals (None: all)."""
    hint = f" Did you mean {failure.suggestion!r}?" if failure.suggestion else ""
    lines = [f"{failure.message}{hint}"]
    lines += [f"- {explain_literal(literal)}" for literal in failure.literals[:limit]]
    if limit is not None and len(failure.literals) > limit:
        lines.append(f"- and {len(failure.literals) - limit} more.")
    return "\n".join(lines)


def explain_literal(
    literal: UnmetLiteral, unchanged: str = "in the initial state, and no step has changed it"
) -> str:
    """Return an unmet literal as a sentence, which ends with `unchanged` if no step changed it."""
    return short_names(_literal(literal, unchanged))


def _literal(literal: UnmetLiteral, unchanged: str) -> str:
    wanted, actual = ("true", "false") if literal.wanted else ("false", "true")
    formula = literal.formula
    if isinstance(formula, Equal):
        relation = "be the same object" if literal.wanted else "be two different objects"
        return f"{formula.left} and {formula.right} must {relation}."
    start = f"{formula} must be {wanted}"
    if literal.numbers:
        changed = f", last changed by {literal.changed_by}" if literal.changed_by else ""
        return f"{start}; {explain_numbers(literal)}{changed}."
    if literal.because:
        missing = ", ".join(map(str, literal.because))
        return f"{start}; it is {actual}, and would be {wanted} with {missing}."
    if not isinstance(formula, Atom):
        return f"{start}; it is {actual}: it has no instance."
    if literal.fixed:
        return f"{start}; it is {actual}, and no action can change it."
    if literal.changed_by is not None:
        return f"{start}; it was made {actual} by {literal.changed_by}."
    return f"{start}; it was {actual} {unchanged}."


def explain_numbers(literal: UnmetLiteral) -> str:
    parts = [
        f"{term} has no value" if value is None else f"{term} is {decimal_text(value)}"
        for term, value in literal.numbers
    ]
    return ", ".join(parts)


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 step`, `2 steps`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
