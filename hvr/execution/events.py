"""Events of a run: the values that are displayed, recorded and tested."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hvr.execution.deviations import Deviation, Difference
from hvr.execution.observation import AudioEvent
from hvr.pddl.formulas import Atom, Expression
from hvr.pddl.model import GroundAction
from hvr.planning.plans import Plan
from hvr.validation.report import ValidationReport
from hvr.values import Value, json_fields


class Understood(Value):
    """The request has been parsed as a goal.

    Args:
        stages: PDDL conditions to reach, in this order.
        ends: Preferred final conditions.
        notes: Assumptions, one sentence each.
        said: Paraphrase of each stage.
        unread: Content words of the request that no stage covers.
        reader: The parser that understood the request: the grammar, or the learnt reader and its
            head.
    """

    stages: tuple[str, ...]
    ends: tuple[str, ...]
    notes: tuple[str, ...]
    said: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    reader: str = "grammar"

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        return {
            "event": "understood",
            "stages": list(self.stages),
            "ends": list(self.ends),
            "notes": list(self.notes),
            "reading": list(self.said),
            "unread": list(self.unread),
            "read_by": self.reader,
        }


class PlanReady(Value):
    """A plan was found and validated.

    Args:
        first_step: Number of its first step in the run.
        seconds: Wall time of planning and validation.
        looking_for: Objects that the plan opens a place to find; empty for a plan for the goal.
    """

    plan: Plan
    report: ValidationReport
    objects: tuple[str, ...]
    first_step: int
    seconds: float
    looking_for: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        looking = {"looking_for": list(self.looking_for)} if self.looking_for else {}
        return {
            "event": "plan",
            **looking,
            "first_step": self.first_step,
            "plan": self.plan.to_json(),
            "objects": list(self.objects),
            "validation": self.report.to_json(),
        }


class StepDone(Value):
    """A step was validated, executed and observed.

    Args:
        number: 1-based number of the step in the run.
        block: Index of the step's block in the plan.
        success: Whether the environment reported success.
        error: Message of the environment on failure.
        failures: Deviations; each explains different facts.
        not_seen: Effects that are believed but were not seen.
        looks: Number of additional looks.
        changed: Literals that became true in this step; only in worlds of facts.
        time: Time of the step; None in worlds without time.
    """

    number: int
    action: GroundAction
    block: int
    success: bool
    error: str
    difference: Difference
    sent: tuple[dict[str, Any], ...]
    failures: tuple[Deviation, ...] = ()
    sounds: tuple[AudioEvent, ...] = ()
    not_seen: tuple[Atom, ...] = ()
    looks: int = 0
    changed: tuple[Expression, ...] = ()
    time: Fraction | None = None

    @property
    def as_expected(self) -> bool:
        """Whether the step had its expected outcome, apart from facts that drift by themselves."""
        return self.success and not self.failures

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        changed = {"changed": [str(literal) for literal in self.changed]} if self.changed else {}
        return {
            "event": "step",
            "step": self.number,
            "action": str(self.action),
            "block": self.block,
            "success": self.success,
            "error": self.error,
            "difference": self.difference.to_json(),
            "sent": list(self.sent),
            "failures": [f.to_json() for f in self.failures],
            "sounds": [str(s) for s in self.sounds],
            "not_seen": [str(a) for a in self.not_seen],
            "looks": self.looks,
            **changed,
            **({} if self.time is None else {"time": float(self.time)}),
        }


class Noticed(Value):
    """Deviations outside an executed step: an inapplicable step or an unmet goal."""

    failures: tuple[Deviation, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        return {"event": "noticed", **json_fields(self)}


class Recovery(Value):
    """A recovery strategy was used.

    Args:
        strategy: Name of the strategy.
        reason: The deviation, as a sentence.
        outcome: `worked`, `failed`, the new plan, or why there is none.
        step: Number of the step after which it was used.
    """

    strategy: str
    reason: str
    outcome: str
    step: int

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        return {
            "event": "recovery",
            "rung": self.strategy,
            "reason": self.reason,
            "outcome": self.outcome,
            "step": self.step,
        }


class Replanning(Value):
    """The rest of the plan no longer works, so a new plan is made from the observed state."""

    reason: str
    attempt: int

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        return {"event": "replanning", "attempt": self.attempt, "reason": self.reason}


class Finished(Value):
    """The run has ended.

    Args:
        reached: Whether the goal holds in the environment's report.
        reason: Why the goal was not reached; empty if it was.
        remains: The unmet literals as sentences.
        failures: Number of deviations by kind.
        recoveries: Number of uses by recovery strategy.
    """

    reached: bool
    steps: int
    replans: int
    reason: str = ""
    unmet: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    failures: tuple[tuple[str, int], ...] = ()
    recoveries: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        return {
            "event": "finished",
            **json_fields(self),
            "failures": dict(self.failures),
            "recoveries": dict(self.recoveries),
        }


Event = Understood | PlanReady | StepDone | Noticed | Recovery | Replanning | Finished
