"""Whether a plan is judged as a mere sequence of steps, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from hvr.pddl import GroundAction, Step, Task, TimedAction


def sequence_order(task: Task, plan: Sequence[Step], epsilon: Fraction) -> Sequence[int] | None:
    """Return the indexes of the steps in the order of execution; None if time matters.

    Time matters for a task with durative actions or timed initial literals, and in a plan with
    steps no further apart than `epsilon`.
    """
    if task.domain.durative_actions or task.problem.timed_init:
        return None
    starts = [(step.start, i) for i, step in enumerate(plan) if isinstance(step, TimedAction)]
    if not starts:
        return range(len(plan))
    starts.sort()
    if len(starts) < len(plan) or starts[0][0] < 0:
        return None
    if any(two[0] - one[0] <= epsilon for one, two in pairwise(starts)):
        return None
    return tuple([index for _, index in starts])


def action_of(step: Step) -> GroundAction:
    """Return a step without its time."""
    return step.action if isinstance(step, TimedAction) else step
