"""Whether a plan is judged as a mere sequence of steps, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hvr.pddl import GroundAction, Step, TimedAction
from hvr.validation.validator import Validator


def sequence_order(validator: Validator, plan: Sequence[Step]) -> tuple[int, ...] | None:
    """Return the indexes of the steps in the order of execution; None if time matters.

    Time matters for a task with durative actions or timed initial literals, and in a plan with
    simultaneous steps.
    """
    problem, domain = validator.task.problem, validator.task.domain
    if domain.durative_actions or problem.timed_init:
        return None
    starts = [(step.start, i) for i, step in enumerate(plan) if isinstance(step, TimedAction)]
    if not starts:
        return tuple(range(len(plan)))
    starts.sort()
    if len(starts) < len(plan) or starts[0][0] < 0:
        return None
    if any(two[0] - one[0] <= validator.epsilon for one, two in pairwise(starts)):
        return None
    return tuple([index for _, index in starts])


def action_of(step: Step) -> GroundAction:
    """Return a step without its time."""
    return step.action if isinstance(step, TimedAction) else step
