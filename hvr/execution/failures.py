"""Deviations as values: one for every difference between a run and the domain that counts.

They know nothing of how they were found (`detection`) or what is done about them
(`recovery`); they can be compared, printed and written as JSON.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from hvr.pddl.model import Expression, GroundAction, Not, Trajectory
from hvr.values import Value


class DeviationKind(StrEnum):
    """The kind of a deviation."""

    DROPPED = "dropped"
    """What was in the hand is not there any more, and no action put it down."""
    ACTION_FAILED = "action failed"
    """The environment refused the action, and none of the kinds below says why."""
    BLOCKED = "blocked"
    """The object is there, but cannot be reached, seen or grasped: something is in the way."""
    OCCUPIED = "occupied"
    """The receptacle has no room: something else is in or on it."""
    WRONG_OBJECT = "wrong object"
    """The action had its effect, on another object than the one meant."""
    MISSING_PRECONDITION = "missing precondition"
    """The action needs something that does not hold: a step before it is missing or undone."""
    NO_EFFECT = "no effect"
    """The action was reported as done, and nothing of what it should do is to be seen."""
    WRONG_EFFECT = "wrong effect"
    """The action did only a part of what it should do, or something that it should not."""
    CHANGED_BY_OTHERS = "changed by others"
    """Something changed that the action has nothing to do with."""
    MISPERCEIVED = "misperceived"
    """What was believed of something not in view turns out to be otherwise."""
    MISSING_OBJECT = "missing object"
    """An object is not where it was believed to be, and nowhere else to be seen."""
    GOAL_UNMET = "goal unmet"
    """All steps of the plan were done, and the goal does not hold."""
    CONSTRAINT_BROKEN = "constraint broken"
    """Something that was to be kept throughout is no longer so, and nothing can mend it."""


class Side(StrEnum):
    """The side of an action that was violated."""

    PRE = "pre"
    """A precondition: what had to hold before the action."""
    POST = "post"
    """A postcondition: what had to hold after it, its effects and what should have stayed."""


class Deviation(Value):
    """One deviation of the observed outcome from the one that the domain predicts.

    Args:
        kind: its kind.
        side: whether a pre- or a postcondition is violated.
        literals: the violated condition: PDDL literals that should hold and were seen not
            to. Empty only where the environment refused an action and nothing that the
            domain knows was violated.
        step: number of the step in the run, from 1; the step after which it was noticed.
        action: the action of that step; None where the goal of a finished plan is unmet.
        explanation: one sentence.
        objects: names of the objects that it is about, the most telling first.
        evidence: sounds and messages that speak for it, in words.
    """

    kind: DeviationKind
    side: Side
    literals: tuple[Expression, ...]
    step: int
    action: GroundAction | None
    explanation: str
    objects: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "kind": self.kind.value,
            "side": self.side.value,
            "literals": [str(literal) for literal in self.literals],
            "step": self.step,
            "action": None if self.action is None else str(self.action),
            "explanation": self.explanation,
            "objects": list(self.objects),
            "evidence": list(self.evidence),
        }


def constraint_broken(constraint: Trajectory, step: int, action: GroundAction | None) -> Deviation:
    """Return the deviation of a constraint that is broken.

    Args:
        constraint: the constraint.
        step: number of the last step.
        action: that step.
    """
    formula = constraint.formulas[0]
    wanted = formula if constraint.operator == "always" else Not(formula)
    return Deviation(
        DeviationKind.CONSTRAINT_BROKEN, Side.POST, (wanted,), step, action,
        f"What was to be kept is broken after step {step}: {constraint}.",
    )  # fmt: skip
