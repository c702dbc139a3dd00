"""The events of a run, as values: the same ones are shown, traced and tested."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hvr.execution.deviations import Deviation, Difference
from hvr.execution.observation import AudioEvent
from hvr.pddl.model import Atom, Expression, GroundAction
from hvr.planning.plans import Plan
from hvr.validation import ValidationReport
from hvr.values import Value


class Understood(Value):
    """The request has become a goal.

    Args:
        stages: PDDL conditions that are wanted, to be reached in this order.
        ends: how things shall be left besides, by preference.
        notes: what was assumed, one sentence each.
        said: each stage in plain words.
        unread: content words of the request that are in none of them.
        reader: who read the request: the grammar, or the learnt reader with its head.
    """

    stages: tuple[str, ...]
    ends: tuple[str, ...]
    notes: tuple[str, ...]
    said: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    reader: str = "grammar"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
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
        plan: the plan.
        report: what the validator says of it.
        objects: names of the objects of its problem.
        first_step: number of its first step in the run.
        seconds: wall time of making and validating it.
        looking_for: things that it opens a place to look for; empty for a plan for the goal.
    """

    plan: Plan
    report: ValidationReport
    objects: tuple[str, ...]
    first_step: int
    seconds: float
    looking_for: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
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
        number: of the step in the run, from 1.
        action: the action.
        block: number of its block in the plan.
        success: the environment reported success.
        error: its message if not.
        difference: how the observed state differs from the expected one.
        sent: the environment's own actions.
        failures: the deviations, each difference explained once.
        sounds: what was heard.
        not_seen: effects that are believed and were not seen.
        looks: how often it was looked again to be sure.
        changed: literals that hold since the step, and did not before; of worlds of facts only.
        time: The time at which it was done; None in worlds without time.
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
        """Whether everything went as the domain says, but for what changes by itself."""
        return self.success and not self.failures

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
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
    """Deviations that no executed step shows: a step that cannot be tried, an unmet goal."""

    failures: tuple[Deviation, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"event": "noticed", "failures": [f.to_json() for f in self.failures]}


class Recovery(Value):
    """A recovery strategy was used.

    Args:
        rung: Name of the strategy.
        reason: the deviation in a sentence.
        outcome: what came of it: `worked`, `failed`, a new plan, or why there is none.
        step: number of the step after which it was used.
    """

    rung: str
    reason: str
    outcome: str
    step: int

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "event": "recovery",
            "rung": self.rung,
            "reason": self.reason,
            "outcome": self.outcome,
            "step": self.step,
        }


class Replanning(Value):
    """The rest of the plan no longer works; a new one is made from what is seen."""

    reason: str
    attempt: int

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"event": "replanning", "attempt": self.attempt, "reason": self.reason}


class Finished(Value):
    """The run has ended.

    Args:
        reached: the goal holds in what the environment shows.
        steps: how many steps were executed.
        replans: how often a new plan was made.
        reason: why the goal was not reached, else empty.
        unmet: what is missing for the goal.
        remains: the same in sentences.
        failures: how many deviations of each kind were noticed.
        recoveries: how often each recovery strategy was used.
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
        """Return plain JSON values."""
        return {
            "event": "finished",
            "reached": self.reached,
            "steps": self.steps,
            "replans": self.replans,
            "reason": self.reason,
            "unmet": list(self.unmet),
            "remains": list(self.remains),
            "failures": dict(self.failures),
            "recoveries": dict(self.recoveries),
        }


Event = Understood | PlanReady | StepDone | Noticed | Recovery | Replanning | Finished
