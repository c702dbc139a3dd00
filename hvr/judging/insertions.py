"""Steps to put into a plan: their places, and the plan with them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from hvr.judging.course import Course
from hvr.pddl import GroundAction, Misfit
from hvr.pddl.conditions import Operator

Insertion: TypeAlias = tuple[int, GroundAction]
"""A step, and the index of the step that it comes before."""

_MOST_VARIANTS = 30
"""How many steps more are tried because they are like those that were found."""


def anywhere(course: Course, candidates: tuple[Insertion, ...]) -> tuple[Insertion, ...]:
    """Return each step to be put in at every place of a plan."""
    actions = dict.fromkeys([action for _, action in candidates])
    return tuple([(place, a) for place in range(len(course.plan) + 1) for a in actions])


def with_variants(course: Course, candidates: tuple[Insertion, ...]) -> tuple[Insertion, ...]:
    """Return steps to be put in, and the same with another object of the type in the plan.

    Where any cup would do, the way that was found may have taken another one than the plan.
    """
    actions = tuple(dict.fromkeys([action for _, action in candidates]))
    variants = dict.fromkeys(islice(_variants(course, actions), _MOST_VARIANTS))
    return (*candidates, *[(0, variant) for variant in variants])


def _variants(course: Course, actions: tuple[GroundAction, ...]) -> Iterator[GroundAction]:
    """Yield actions that name another object of the plan in one place."""
    task = course.task
    named = dict.fromkeys([name for step in course.plan for name in step.args])
    for action in actions:
        for position, name in enumerate(action.args):
            for other in named:
                if other == name or task.objects.get(other) != task.objects[name]:
                    continue
                args = (*action.args[:position], other, *action.args[position + 1 :])
                variant = GroundAction(action.name, args)
                if variant not in actions and not isinstance(task.try_ground(variant), Misfit):
                    yield variant


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
