"""What the validator found, as plain values. They hold no reference to a task or a state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from hvr.pddl import Atom, Expression, GroundAction, Location, Not


class Outcome(StrEnum):
    """The answer to "is this plan valid?"."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class FailureKind(StrEnum):
    """What makes a plan invalid."""

    PRECONDITION = "precondition"
    GOAL = "goal"
    UNKNOWN_ACTION = "unknown action"
    UNKNOWN_OBJECT = "unknown object"
    WRONG_ARITY = "wrong arity"
    WRONG_TYPE = "wrong type"
    UNDEFINED_VALUE = "undefined value"


@dataclass(frozen=True, slots=True)
class StepRef:
    """A step that was executed; numbers count from 1."""

    number: int
    action: GroundAction

    def __str__(self) -> str:
        return f"step {self.number} {self.action}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"number": self.number, "action": str(self.action)}


@dataclass(frozen=True, slots=True)
class UnmetLiteral:
    """One literal of a violated condition.

    Attributes:
        formula: the atom or equality; a whole `(exists …)` or `(or …)` when nothing in it can
            be pointed at, because it has no instance.
        wanted: the value that the condition needs; the present value is the other one.
        fixed: no action can ever change the value.
        changed_by: the step that gave it its present value, None if it was so initially.
    """

    formula: Expression
    wanted: bool
    fixed: bool = False
    changed_by: StepRef | None = None

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
        }


@dataclass(frozen=True, slots=True)
class Failure:
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
    """

    kind: FailureKind
    message: str
    step: int | None = None
    action: GroundAction | None = None
    literals: tuple[UnmetLiteral, ...] = ()
    suggestion: str = ""
    location: Location | None = None

    def explain(self, limit: int | None = 20) -> str:
        """Return the failure in sentences, one a line, naming at most `limit` literals."""
        from hvr.validation.text import explain_failure

        return explain_failure(self, limit)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        place = self.location
        return {
            "kind": self.kind.value,
            "message": self.message,
            "step": self.step,
            "action": None if self.action is None else str(self.action),
            "literals": [literal.to_json() for literal in self.literals],
            "suggestion": self.suggestion or None,
            "location": place and {"file": place.file, "line": place.line, "column": place.column},
        }


@dataclass(frozen=True, slots=True)
class StepReport:
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
        from hvr.validation.text import explain_step

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


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """The answer about a whole plan.

    Attributes:
        outcome: valid, invalid, or unknown when the question could not be decided.
        steps: the number of steps of the plan.
        executed: how many of them could be executed.
        failure: why the plan is invalid: its first failing step, or the goal.
        cost: the value of the problem's metric, the number of steps where it has none; None
            unless the plan is valid or only misses the goal, and when the metric is undefined.
        reason: why the outcome is unknown, else "".
    """

    outcome: Outcome
    steps: int
    executed: int
    failure: Failure | None = None
    cost: Fraction | None = None
    reason: str = ""

    @property
    def valid(self) -> bool:
        """Whether the plan was proven to be valid."""
        return self.outcome is Outcome.VALID

    def explain(self, limit: int | None = 20) -> str:
        """Return the report in sentences, fit as feedback to whoever made the plan."""
        from hvr.validation.text import explain_report

        return explain_report(self, limit)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "outcome": self.outcome.value,
            "steps": self.steps,
            "executed": self.executed,
            "cost": None if self.cost is None else number_to_json(self.cost),
            "failure": self.failure and self.failure.to_json(),
            "reason": self.reason or None,
        }


def number_to_json(value: Fraction) -> int | float:
    """Return a number as an integer where it is one."""
    return value.numerator if value.denominator == 1 else float(value)


def _texts(atoms: Iterable[Atom]) -> list[str]:
    return [str(atom) for atom in atoms]
