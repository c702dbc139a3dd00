"""Steps to put into a plan: their places, and the plan with them."""

from __future__ import annotations

from itertools import islice, product
from typing import TypeAlias

from hvr.judging.course import Course
from hvr.pddl import GroundAction, Misfit
from hvr.pddl.conditions import Operator

Insertion: TypeAlias = tuple[int, GroundAction]
"""A step, and the index of the step that it comes before."""

_NEAR, _MOST_BLENDS = 3, 16
"""How near a step is blended with others, and in how many ways."""


def anywhere(course: Course, candidates: tuple[Insertion, ...]) -> tuple[Insertion, ...]:
    """Return each step to be put in at every place of a plan, in the order in which they were.

    Near its own place a step is also blended with those of the plan: of a way in two steps where
    one leads there, the plan may have the first.
    """
    actions = tuple(dict.fromkeys([action for _, action in candidates]))
    united = [(place, a) for place in range(len(course.plan) + 1) for a in actions]
    for place, action in candidates:
        for index in range(max(0, place - _NEAR), min(len(course.plan), place + _NEAR)):
            step = course.plan[index]
            if step.name != action.name or course.operators[index] is None:
                continue
            blends = product(
                *[dict.fromkeys(pair) for pair in zip(step.args, action.args, strict=True)]
            )
            for args in islice(blends, _MOST_BLENDS):
                blend = GroundAction(step.name, args)
                if blend != step and not isinstance(course.task.try_ground(blend), Misfit):
                    united.append((index, blend))
    return tuple(sorted(dict.fromkeys(united), key=lambda insertion: insertion[0]))


def operators_of(
    course: Course, insertions: tuple[Insertion, ...]
) -> list[tuple[int | None, Operator]]:
    """Return a plan with steps put in: operators, each with its index or None if it was put in."""
    merged: list[tuple[int | None, Operator]] = []
    waiting = list(insertions)
    for place in range(len(course.plan) + 1):
        while waiting and waiting[0][0] == place:
            merged.append((None, course.task.ground(waiting.pop(0)[1])))
        if place < len(course.plan) and (operator := course.operators[place]) is not None:
            merged.append((place, operator))
    return merged
