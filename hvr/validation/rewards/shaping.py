"""Rewards step by step: potential-based shaping, which leaves the best policy the best.

Ng, Harada & Russell 1999, "Policy invariance under reward transformations".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from hvr.errors import UsageError
from hvr.pddl import State
from hvr.pddl.model import parts_of
from hvr.validation.rewards.score import PlanScore
from hvr.values import Value

Potential: TypeAlias = Callable[[State], float]
"""How good a state is, from 0 to 1."""


class StepScore(Value):
    """The worth of each step of one completion.

    Attributes:
        rewards: One number for each step of the plan, from -1 to 1; 0 behind a step that fails.
        score: The worth of the whole completion.
    """

    rewards: tuple[float, ...]
    score: PlanScore


def goal_share(state: State) -> float:
    """Return the share of the goal's conditions that hold in a state."""
    parts = parts_of(state.task.problem.goal)
    return sum(state.holds(part) for part in parts) / len(parts) if parts else 1.0


def shaped(potentials: Sequence[float], final: float, discount: float = 1.0) -> tuple[float, ...]:
    """Return the reward of each step of an episode.

    A step is worth the discounted potential behind it less the potential before it; behind the last
    step the potential is 0, and the final reward is added. So the discounted sum is the discounted
    final reward less the potential of the first state, whatever the steps are.

    Args:
        potentials: The potential of the state before each step, from 0 to 1.
        final: The reward of the whole episode, from 0 to 1.
        discount: The discount of the learner, above 0 and at most 1.

    Raises:
        UsageError: A number is out of its range.
    """
    if not 0 < discount <= 1:
        raise UsageError(f"the discount must be above 0 and at most 1, got {discount:g}")
    if any(not 0 <= value <= 1 for value in (*potentials, final)):
        raise UsageError("potentials and the final reward must be from 0 to 1")
    if not potentials:
        return ()
    behind = [discount * value for value in potentials[1:]] + [final]
    return tuple([after - before for after, before in zip(behind, potentials, strict=True)])
