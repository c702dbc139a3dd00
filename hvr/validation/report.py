"""Validation reports as plain values, and as text. They hold no reference to a task or a state."""

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
from hvr.pddl.model import parts_of
from hvr.validation.outcomes import OnFailure as OnFailure
from hvr.validation.outcomes import Outcome as Outcome
from hvr.values import Value

# Report -------------------------------------------------------------------------------------------
# What the validator found, as plain values. They hold no reference to a task or a state.


class FailureKind(StrEnum):
    """What makes a plan invalid."""

    PRECONDITION = "precondition"
    GOAL = "goal"
    UNKNOWN_ACTION = "unknown action"
    UNKNOWN_OBJECT = "unknown object"
    WRONG_ARITY = "wrong arity"
    WRONG_TYPE = "wrong type"
    UNDEFINED_VALUE = "undefined value"
    INVARIANT = "invariant"
    """An `over all` condition fails while its action goes on."""
    END_CONDITION = "end condition"
    DURATION = "duration"
    """A duration that the action does not allow, is missing or is not wanted."""
    START_TIME = "start time"
    """A negative start time, or none where the domain is temporal."""
    INTERFERENCE = "interference"
    """Two steps at the same time, one of which changes what the other reads or changes."""
    CONSTRAINT = "constraint"
    """A trajectory constraint is violated."""
    EVENT = "event"
    """An event happens again and again without time going by, or cannot happen."""
    NO_DECOMPOSITION = "no decomposition"
    """A hierarchical problem, and a plan that does not say which tasks its actions carry out."""
    UNKNOWN_TASK = "unknown task"
    UNKNOWN_METHOD = "unknown method"
    UNKNOWN_REFERENCE = "unknown reference"
    """An identifier that no line of the plan has."""
    NO_TREE = "no tree"
    """A task that stands below none, two or itself."""
    SUBTASKS = "subtasks"
    """The tasks below a task are not those of its method."""
    LISTING_ORDER = "listing order"
    """The tasks below a task are listed in an order that its method forbids."""
    SUBTASK_ORDER = "subtask order"
    """Actions come in an order that a method forbids."""
    METHOD_PRECONDITION = "method precondition"


class StepRef(Value):
    """A step that was executed; numbers count from 1.

    Attributes:
        number: its place in the plan; None for what is no step of it.
        action: the step, the event or the process; None for a timed initial literal.
        time: when it changed the state, in a temporal plan.
    """

    number: int | None
    action: GroundAction | None
    time: Fraction | None = None

    def __str__(self) -> str:
        if self.action is None:
            return f"the timed initial literal at {decimal_text(self.time or Fraction(0))}"
        at = "" if self.time is None else f" at {decimal_text(self.time)}"
        if self.number is None:
            return f"{short(self.action)}{at}"
        return f"step {self.number} {short(self.action)}{at}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "number": self.number,
            "action": None if self.action is None else str(self.action),
            "time": None if self.time is None else number_to_json(self.time),
        }


class UnmetLiterals(Sequence["UnmetLiteral"]):
    """Literals that are looked for when they are first read; they equal the tuple of them.

    A verdict needs none of them. Until then they keep the task alive. A copy or a pickle has the
    literals themselves.
    """

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[], Iterable[UnmetLiteral]]) -> None:
        self._find: Callable[[], Iterable[UnmetLiteral]] | None = find
        self._found: tuple[UnmetLiteral, ...] = ()

    def found(self) -> tuple[UnmetLiteral, ...]:
        """Return the literals."""
        if self._find is not None:
            self._found = tuple(self._find())
            self._find = None
        return self._found

    def settled(self) -> tuple[UnmetLiteral, ...]:
        """Return the literals; their own reasons have been looked for, too."""
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
        formula: the atom, equality or numeric comparison, with its place in the domain or
            problem file as `location`; a whole `(exists …)` or `(or …)` when nothing in it can
            be pointed at, because it has no instance.
        wanted: the value that the condition needs; the present value is the other one.
        fixed: no action can ever change the value.
        changed_by: the step that gave it its present value (for a comparison: that last changed
            one of its numbers), None if it was so initially.
        numbers: of a comparison, the present value of each function term; None: it has none.
        because: of a derived atom, the literals of its best rule that are wanting.
    """

    formula: Expression
    wanted: bool
    fixed: bool = False
    changed_by: StepRef | None = None
    numbers: tuple[tuple[FunctionTerm, Fraction | None], ...] = ()
    because: Sequence[UnmetLiteral] = ()

    @property
    def location(self) -> Location | None:
        """Where the literal stands in the domain or problem file."""
        return getattr(self.formula, "location", None)

    @property
    def actual(self) -> bool:
        """The present value of the formula."""
        return not self.wanted

    def __str__(self) -> str:
        return str(self.formula if self.wanted else Not(self.formula))

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "formula": str(self.formula),
            "wanted": self.wanted,
            "actual": self.actual,
            "fixed": self.fixed,
            "changed_by": self.changed_by and self.changed_by.to_json(),
            "numbers": {
                str(term): None if value is None else number_to_json(value)
                for term, value in self.numbers
            },
            "because": [literal.to_json() for literal in self.because],
            "location": location_to_json(self.location),
        }


class Failure(Value):
    """Why a step cannot be executed, or why the goal is not reached.

    Attributes:
        kind: what is wrong.
        step: the number of the failing step; None for the goal.
        action: the failing step; None for the goal.
        message: one sentence without the literals.
        literals: the smallest set of literals that were found to be wanting: of a disjunction
            its best disjunct, of an `exists` its best instance, of a `forall` all offenders.
        suggestion: the nearest known name, or "".
        location: where the step was read, if from a text.
        time: in a temporal plan, when the condition was violated.
        condition: the place of the violated condition as a whole in the domain or problem file.
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

    def explain(self, limit: int | None = 20) -> str:
        """Return the failure in sentences, one a line, naming at most `limit` literals."""

        return explain_failure(self, limit)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "kind": self.kind.value,
            "message": self.message,
            "step": self.step,
            "action": None if self.action is None else str(self.action),
            "literals": [literal.to_json() for literal in self.literals],
            "suggestion": self.suggestion or None,
            "location": location_to_json(self.location),
            "time": None if self.time is None else number_to_json(self.time),
            "condition": location_to_json(self.condition),
        }


class StepReport(Value):
    """What one step did, or why it could not be done (then the state has not changed).

    Attributes:
        step: its number; for a failed step, the number that it would have had.
        added: the atoms that became true.
        deleted: the atoms that became false.
        cost: what the step added to (total-cost).
    """

    ok: bool
    step: int
    action: GroundAction
    added: tuple[Atom, ...] = ()
    deleted: tuple[Atom, ...] = ()
    cost: Fraction = Fraction(0)
    failure: Failure | None = None

    def explain(self) -> str:
        """Return the report in sentences."""

        return explain_step(self)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "ok": self.ok,
            "step": self.step,
            "action": str(self.action),
            "added": _texts(self.added),
            "deleted": _texts(self.deleted),
            "cost": number_to_json(self.cost),
            "failure": self.failure and self.failure.to_json(),
        }


class Decomposed(Value):
    """How a task of a hierarchical plan was decomposed; together they prove that it is valid.

    Attributes:
        identifier: the identifier of the task in the plan; None for the initial network.
        task: the task.
        method: its method; "" for the initial network.
        parameters: the values of the method's parameters.
        subtasks: for each subtask of the method, the identifier of the task that it is.
        position: after how many actions the precondition of the method holds, with what is
            ordered before the task done, and nothing of it begun.
    """

    identifier: int | None
    task: GroundAction | None
    method: str
    parameters: tuple[tuple[str, str], ...]
    subtasks: tuple[int, ...]
    position: int

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "id": self.identifier,
            "task": None if self.task is None else str(self.task),
            "method": self.method or None,
            "parameters": dict(self.parameters),
            "subtasks": list(self.subtasks),
            "position": self.position,
        }


class ValidationReport(Value):
    """The answer about a whole plan.

    Attributes:
        outcome: valid, invalid, or unknown when the question could not be decided.
        steps: the number of steps of the plan.
        executed: how many of them could be executed.
        failures: why the plan is invalid: its first failing step, or the goal; all of them when
            they were asked for.
        cost: the value of the problem's metric, the number of steps where it has none (the
            makespan, of a temporal plan); None unless the plan is valid or only misses the goal,
            and when the metric is undefined.
        violated: how many instances of each preference are violated, by name; the ones that are
            fulfilled are named with 0.
        reason: why the outcome is unknown, else "".
        notes: what else a reader should know, such as the notation that was read.
        certificate: of a valid hierarchical plan, how each task was decomposed.
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

    @property
    def failure(self) -> Failure | None:
        """The first failure."""
        return self.failures[0] if self.failures else None

    @property
    def valid(self) -> bool:
        """Whether the plan was proven to be valid."""
        return self.outcome is Outcome.VALID

    def __repr__(self) -> str:
        steps = f"{self.executed} of {self.steps} steps executed"
        cost = "" if self.cost is None else f", cost {decimal_text(self.cost)}"
        return f"<ValidationReport: {self.outcome}, {steps}{cost}>"

    def _repr_html_(self) -> str:
        from hvr.base.notebooks import html_card

        cost = "" if self.cost is None else f"Cost: {decimal_text(self.cost)}"
        title, _, why = self.explain().partition(". ")
        return html_card(title.removesuffix("."), (why, cost, *self.notes))

    def explain(self, limit: int | None = 20) -> str:
        """Return the report in sentences, fit as feedback to whoever made the plan."""

        return explain_report(self, limit)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        certificate = [decomposed.to_json() for decomposed in self.certificate]
        return {
            "outcome": self.outcome.value,
            "steps": self.steps,
            "executed": self.executed,
            "cost": None if self.cost is None else number_to_json(self.cost),
            "failure": self.failure and self.failure.to_json(),
            "failures": [failure.to_json() for failure in self.failures],
            "violated_preferences": dict(self.violated),
            "reason": self.reason or None,
            "notes": list(self.notes),
            **({"certificate": certificate} if certificate else {}),
        }


class Repair(Value):
    """What would repair a plan: steps to insert, or another change of it.

    Attributes:
        step: the number of the step that `actions` come before; None: after the last step.
        actions: the steps to insert.
        completes: the whole plan is valid with them.
        change: another change of the plan, in words; "" where steps are inserted into a sequence.
        plan: the plan after that change, which was proven valid.
    """

    step: int | None
    actions: tuple[GroundAction, ...]
    completes: bool
    change: str = ""
    plan: tuple[Step, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "before_step": self.step,
            "insert": [str(action) for action in self.actions],
            "completes": self.completes,
            "change": self.change or None,
            "plan": [str(step) for step in self.plan] or None,
        }


class PlanResult(Value):
    """Everything found out about one plan file.

    Attributes:
        plan: the name of the plan file, `<stdin>` for standard input.
        domain: the name of the domain file.
        problem: the name of the problem file.
        report: the verdict; unknown when the file cannot be used.
        diagnostic: what is wrong with the text of the file, with its place, when that is why.
        repair: advice, when it was asked for and found.
        repair_note: why there is no advice, when it was asked for and not found.
        minimised: a valid plan without unnecessary steps, when it was asked for.
        removed: the numbers of the steps that `minimised` leaves out.
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

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "plan": self.plan,
            "domain": self.domain,
            "problem": self.problem,
            **self.report.to_json(),
            "diagnostic": self.diagnostic
            and {
                "message": self.diagnostic.message,
                "expected": self.diagnostic.expected or None,
                "suggestion": self.diagnostic.suggestion or None,
                "location": location_to_json(self.diagnostic.location),
            },
            "repair": self.repair and self.repair.to_json(),
            "repair_note": self.repair_note or None,
            "minimised": None
            if self.minimised is None
            else {
                "steps": [str(action) for action in self.minimised],
                "removed": list(self.removed),
            },
        }


def number_to_json(value: Fraction) -> int | float:
    """Return a number as an integer where it is one, or where no float is large enough."""
    if value.denominator == 1:
        return value.numerator
    try:
        return float(value)
    except OverflowError:
        return round(value)


def decimal_text(value: Fraction) -> str:
    """Return a number as people write it: 3, 0.25, 0.333333333, 1e+400."""
    if value.denominator == 1 and abs(value) < 10**15:
        return str(value.numerator)
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.9g}"


def location_to_json(place: Location | None) -> dict[str, Any] | None:
    """Return a place as JSON values."""
    if place is None:
        return None
    return {"file": place.file, "line": place.line, "column": place.column}


def place_of(formula: Expression) -> Location | None:
    """Return the place of a formula; of a conjunction, that of its first part."""
    place: Location | None = getattr(formula, "location", None)
    parts = parts_of(formula)
    return place or (place_of(parts[0]) if parts else None)


def _texts(atoms: Iterable[Atom]) -> list[str]:
    return [str(atom) for atom in atoms]


# Text ---------------------------------------------------------------------------------------------
# Reports as text. Every function here is a function of the report alone.


def explain_report(report: ValidationReport, limit: int | None = 20) -> str:
    """Return a report in sentences, fit as feedback to whoever made the plan."""
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
    """Return the report of one step in sentences."""
    if report.failure is not None:
        return explain_failure(report.failure)
    parts = []
    if report.added:
        parts.append(f"made true: {' '.join(map(str, report.added))}")
    if report.deleted:
        parts.append(f"made false: {' '.join(map(str, report.deleted))}")
    return f"Step {report.step} {report.action} was executed; {'; '.join(parts) or 'no change'}."


def explain_failure(failure: Failure, limit: int | None = 20) -> str:
    """Return a failure in sentences, one a line, naming at most `limit` literals."""
    hint = f" Did you mean {failure.suggestion!r}?" if failure.suggestion else ""
    lines = [f"{failure.message}{hint}"]
    lines += [f"- {explain_literal(literal)}" for literal in failure.literals[:limit]]
    if limit is not None and len(failure.literals) > limit:
        lines.append(f"- and {len(failure.literals) - limit} more.")
    return "\n".join(lines)


def explain_literal(
    literal: UnmetLiteral, unchanged: str = "in the initial state, and no step has changed it"
) -> str:
    """Return an unmet literal in a sentence.

    Args:
        literal: it.
        unchanged: when it was as it is, if no step that was looked at has changed it.
    """
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
        wanting = ", ".join(map(str, literal.because))
        return f"{start}; it is {actual}, and would be {wanted} with {wanting}."
    if not isinstance(formula, Atom):
        return f"{start}; it is {actual}: there is nothing that it could hold for."
    if literal.fixed:
        return f"{start}; it is {actual}, and no action can change it."
    if literal.changed_by is not None:
        return f"{start}; it was made {actual} by {literal.changed_by}."
    return f"{start}; it was {actual} {unchanged}."


def explain_numbers(literal: UnmetLiteral) -> str:
    """Return the present values of the numbers of a comparison."""
    parts = [
        f"{term} has no value" if value is None else f"{term} is {decimal_text(value)}"
        for term, value in literal.numbers
    ]
    return ", ".join(parts)


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 step`, `2 steps`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
