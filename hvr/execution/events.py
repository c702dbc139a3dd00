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
from hvr.values import Value


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

    event = "understood"
    json_shape = "event stages ends notes reading=said unread read_by=reader"


_NAMED = 3
"""Maximum number of further places that the purpose of a plan names."""


class PlanReady(Value):
    """A plan was found and validated.

    Args:
        objects: Names of the objects in the planning problem.
        first_step: Number of the plan's first step in the run.
        seconds: Wall time of planning and validation.
        looking_for: Objects that the plan searches for or checks; empty if the plan pursues the
            goal.
        where: The place to search; empty unless the objects are lost.
        or_else: The places to search next, in this order, until the objects are found.
    """

    plan: Plan
    report: ValidationReport
    objects: tuple[str, ...]
    first_step: int
    seconds: float
    looking_for: tuple[str, ...] = ()
    where: str = ""
    or_else: tuple[str, ...] = ()

    @property
    def purpose(self) -> str | None:
        """Description of the search, or None if the plan pursues the goal."""
        if not self.looking_for:
            return None
        things = " and ".join(self.looking_for)
        if things.startswith("whether "):
            return f"finding out {things}, at {self.where}"
        if not self.where:
            return f"looking at {things} again"
        more = len(self.or_else) - _NAMED
        others = [*self.or_else[:_NAMED], *([f"{more} more"] if more > 0 else [])]
        then = f"; if not there, at {', '.join(others)}" if others else ""
        return f"looking for {things} at {self.where}{then}"

    event = "plan"
    json_shape = "event looking_for- purpose- first_step plan objects validation=report"


class StepDone(Value):
    """A step was validated, executed and observed.

    Args:
        number: 1-based number of the step in the run.
        block: Index of the step's block in the plan.
        success: Whether the environment reported success.
        error: The environment's error message; empty on success.
        difference: Facts that differ from the prediction.
        sent: Actions sent to the environment, in the environment's notation.
        failures: Deviations found in this step; no two explain the same fact.
        not_seen: Effects that are believed but were not seen.
        looks: Number of additional observations.
        changed: Literals that became true in this step; only in PDDL worlds.
        time: Time of the step, or None in worlds without time.
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

    event = "step"
    json_shape = (
        "event step=number action block success error difference sent failures sounds=sound_texts "
        "not_seen looks changed- time=seconds-"
    )

    @property
    def sound_texts(self) -> list[str]:
        return list(map(str, self.sounds))

    @property
    def seconds(self) -> float | None:
        return None if self.time is None else float(self.time)

    @property
    def as_expected(self) -> bool:
        """Whether the step succeeded without a deviation."""
        return self.success and not self.failures


class Noticed(Value):
    """Deviations were found outside an executed step: an inapplicable step or an unmet goal."""

    failures: tuple[Deviation, ...]

    event = "noticed"
    json_shape = "event failures"


class Recovery(Value):
    """A recovery strategy was used.

    Args:
        strategy: Name of the strategy.
        reason: The deviation, as a sentence.
        outcome: `worked`, `failed`, the new plan, or the reason why there is none.
        step: Number of the step after which the strategy was used.
    """

    strategy: str
    reason: str
    outcome: str
    step: int

    event = "recovery"
    json_shape = "event rung=strategy reason outcome step"


class Replanning(Value):
    """hvr makes a new plan from the observed state, usually because the plan no longer works.

    Args:
        reason: Why a new plan is needed.
        attempt: 1-based number of the new plan in the run.
    """

    reason: str
    attempt: int

    event = "replanning"
    json_shape = "event attempt reason"


class Finished(Value):
    """The run has ended.

    Args:
        reached: Whether the goal holds according to the environment's report.
        steps: Number of executed steps.
        replans: Number of new plans made during the run.
        reason: Why the goal was not reached; empty if it was.
        unmet: Literals of the goal that do not hold.
        remains: The unmet literals as sentences.
        failures: Number of deviations of each kind.
        recoveries: Number of uses of each recovery strategy.
        unseen: Objects that a reached goal depends on but that could not be observed at the end.
    """

    reached: bool
    steps: int
    replans: int
    reason: str = ""
    unmet: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    failures: tuple[tuple[str, int], ...] = ()
    recoveries: tuple[tuple[str, int], ...] = ()
    unseen: tuple[str, ...] = ()

    event = "finished"
    json_shape = "event reached steps replans reason unmet remains failures{} recoveries{} unseen-"


Event = Understood | PlanReady | StepDone | Noticed | Recovery | Replanning | Finished
