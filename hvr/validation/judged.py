"""The result of one plan of a batch: a `PlanResult` and what its reports need besides."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hvr.validation.report import (
    Outcome,
    PlanResult,
    ValidationReport,
    decimal_text,
    number_to_json,
)
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.continuous.curves import Curve
    from hvr.validation.findings import Finding
    from hvr.validation.timeline import Timeline


NOT_VALIDATED = "HVR006"
STDIN = "-"
"""The name that stands for standard input among plan files."""


class ShownState(Value):
    """A state as texts.

    Attributes:
        step: the number of the step that it follows; 0 for the initial state.
        asked: the number that was asked for; larger where the plan does not get that far.
        atoms: the true atoms, in alphabetical order.
        numbers: the function terms that have a value, and the value.
    """

    step: int
    asked: int
    atoms: tuple[str, ...]
    numbers: tuple[tuple[str, Fraction], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "after_step": self.step,
            "atoms": list(self.atoms),
            "numbers": {term: number_to_json(value) for term, value in self.numbers},
        }


class HappeningText(Value):
    """What changed the state at one moment, as texts.

    Attributes:
        step: the number of the step; 0 where none of the plan's steps is the cause.
        action: the step or the event; "" for a timed initial literal.
        time: when, in a temporal plan.
        added: the atoms that became true.
        deleted: the atoms that became false.
    """

    step: int
    action: str
    time: Fraction | None
    added: tuple[str, ...]
    deleted: tuple[str, ...]

    def __str__(self) -> str:
        at = "" if self.time is None else f"{decimal_text(self.time)}: "
        cause = f"step {self.step}" if self.step else "event"
        cause = f"{cause} {self.action}" if self.action else "timed initial literal"
        changes = [f"+{atom}" for atom in self.added] + [f"-{atom}" for atom in self.deleted]
        return f"{at}{cause}: {' '.join(changes) or 'no change'}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "step": self.step or None,
            "action": self.action or None,
            "time": None if self.time is None else number_to_json(self.time),
            "added": list(self.added),
            "deleted": list(self.deleted),
        }


class Judged(Value):
    """A plan's result in a batch, which is what is reported.

    Attributes:
        result: what was found out.
        rule: the id of the rule that a file breaks, when it cannot be used; that file is the
            domain or the problem when the result names no plan.
        seconds: how long reading and judging the plan took.
        state: a state on the way, when one was asked for.
        happenings: what changed when, when it was asked for.
        values: the numeric fluents over time, when they were asked for.
        blocked: The plans that cannot be judged because of this result, which is about their domain
            or problem.
        timeline: The plan over time, when a picture was asked for; not part of the JSON values.
        warnings: what was found about the domain and the problem of a suite, with the first of
            their plans.
    """

    result: PlanResult
    rule: str = ""
    seconds: float = 0.0
    state: ShownState | None = None
    happenings: tuple[HappeningText, ...] | None = None
    warnings: tuple[Finding, ...] = ()
    values: tuple[Curve, ...] | None = None
    timeline: Timeline | None = None
    blocked: tuple[str, ...] = ()

    @property
    def plan(self) -> str:
        """The name of the plan file; "" when it is the domain or the problem that is judged."""
        return self.result.plan

    def expanded(self) -> tuple[Judged, ...]:
        """Return this result, and one for each plan that it blocks."""
        reason = "not validated: its domain or problem cannot be used"
        report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=reason)
        domain, problem = self.result.domain, self.result.problem
        blocked = (PlanResult(plan, domain, problem, report) for plan in self.blocked)
        return (self, *(Judged(result, NOT_VALIDATED) for result in blocked))

    @property
    def report(self) -> ValidationReport:
        """The verdict."""
        return self.result.report

    def to_json(self) -> dict[str, Any]:
        """Return JSON values; without the time taken, so that equal runs print the same."""
        data = self.result.to_json()
        data["plan"] = self.plan or None
        data["rule"] = self.rule or None
        if self.state is not None:
            data["state"] = self.state.to_json()
        if self.happenings is not None:
            data["happenings"] = [happening.to_json() for happening in self.happenings]
        if self.values is not None:
            data["values"] = [curve.to_json() for curve in self.values]
        return data
