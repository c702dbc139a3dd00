"""What a completion is worth, and how that comes."""

from __future__ import annotations

from typing import Any

from hvr.values import Value

REACHED = 0.6
"""The least reward of a plan that reaches the goal."""

MISSED = 0.5
"""No plan that does not reach the goal has more."""

_READ, _STEPS, _GOALS = 0.05, 0.3, 0.15


class PlanScore(Value):
    """The worth of one completion.

    Attributes:
        reward: from 0 to 1; `MISSED` at most unless the plan reaches the goal, then `REACHED` at
            least.
        valid: whether the plan can be executed and reaches the goal.
        steps: how many steps the plan has; None if the completion has no plan.
        executable: the share of the steps that come before the first one that fails.
        goals: the share of the goal's conditions that hold where the plan ends or fails.
        says: what is wrong, in words for the model; empty for a valid plan.
    """

    reward: float
    valid: bool = False
    steps: int | None = None
    executable: float = 0.0
    goals: float = 0.0
    says: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "reward": self.reward,
            "valid": self.valid,
            "steps": self.steps,
            "executable": self.executable,
            "goals": self.goals,
            "says": self.says,
        }


def no_plan(says: str) -> PlanScore:
    """Return the score of a completion in which no plan could be judged."""
    return PlanScore(0.0, says=says)


def reached(steps: int, best: int | None) -> PlanScore:
    """Return the score of a valid plan.

    Args:
        steps: how many it has.
        best: how many the best known plan has; None if that is not known.
    """
    share = 1.0 if best is None or steps <= best else best / steps
    return PlanScore(REACHED + (1 - REACHED) * share, True, steps, 1.0, 1.0)


def missed(steps: int, executable: float, goals: float, says: str) -> PlanScore:
    """Return the score of a plan that does not reach the goal.

    It grows with what can be executed and with what is reached of the goal.
    """
    reward = _READ + _STEPS * executable + _GOALS * goals
    return PlanScore(min(reward, MISSED), False, steps, executable, goals, says)
