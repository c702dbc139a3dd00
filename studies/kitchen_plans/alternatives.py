"""Alternative plans for a goal: longer, with other tools, leaving objects in other places.

Planners' plans are uniform, and people's are not. A verifier trained only on shortest plans would
treat every other step as a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random

from hvr.pddl.formulas import Atom
from hvr.pddl.model import GroundAction
from hvr.pddl.task import Task
from studies.kitchen_plans.hard_negatives import Steps, carried_out, other_objects, other_places

_TRIES = 8
_WALK = "navigate_to_obj"


def detours(
    task: Task, actions: Sequence[GroundAction], draw: Random, most: int = 2
) -> list[Steps]:
    """Return at most `most` different plans that also reach the goal of a task."""
    plan = tuple(actions)
    ways: list[Callable[[], Iterator[Steps]]] = [
        lambda: _tidied(plan),
        lambda: _looked(task, plan, draw),
        lambda: _moved_vessels(task, plan, draw),
        lambda: other_objects(task, plan, draw),
        lambda: _other_surfaces(task, plan, draw),
    ]
    # Shuffle, so that no kind of detour dominates when `most` is small.
    draw.shuffle(ways)
    alternatives: list[Steps] = []
    for way in ways:
        for steps in islice(way(), _TRIES):
            state = carried_out(task, steps)
            if steps != plan and state is not None and task.goal.holds(state):
                alternatives.append(steps)
                break
        if len(alternatives) == most:
            break
    return alternatives


def _tidied(plan: Steps) -> Iterator[Steps]:
    opened = dict.fromkeys(a.args[0] for a in plan if a.name == "open_obj")
    for action in plan:
        if action.name == "close_obj":
            opened.pop(action.args[0], None)
    steps = list(plan)
    for name in opened:
        steps += [GroundAction(_WALK, (name,)), GroundAction("close_obj", (name,))]
    yield tuple(steps)


def _looked(task: Task, plan: Steps, draw: Random) -> Iterator[Steps]:
    """Yield the plan preceded by a look behind a door, or by a walk to an object."""
    facts = {(a.predicate, *a.args) for a in task.problem.init if isinstance(a, Atom)}
    doors = [n for n in task.objects if ("openable", n) in facts and ("opened", n) not in facts]
    draw.shuffle(doors)
    for name in doors:
        look = [GroundAction(_WALK, (name,)), GroundAction("open_obj", (name,))]
        yield (*look, GroundAction("close_obj", (name,)), *plan)
    for name in draw.sample(list(task.objects), min(3, len(task.objects))):
        yield (GroundAction(_WALK, (name,)), *plan)


def _other_surfaces(task: Task, plan: Steps, draw: Random) -> Iterator[Steps]:
    """Yield plans that leave objects in other places, but not on or in portable objects."""
    facts = {(a.predicate, *a.args) for a in task.problem.init if isinstance(a, Atom)}
    for steps in other_places(task, plan, draw):
        put = {a.args[1] for a in steps if a.name in {"put_on", "put_in"}}
        put -= {a.args[1] for a in plan if a.name in {"put_on", "put_in"}}
        if not any(("pickupable", name) in facts for name in put):
            yield steps


def _moved_vessels(task: Task, plan: Steps, draw: Random) -> Iterator[Steps]:
    """Yield plans that begin by moving a receptacle that is filled later."""
    facts = {(a.predicate, *a.args) for a in task.problem.init if isinstance(a, Atom)}
    vessels = [a.args[1] for a in plan if a.name in {"put_on", "put_in"}]
    for name in dict.fromkeys(v for v in vessels if ("pickupable", v) in facts):
        places = [n for n in task.objects if ("fits", name, n) in facts and n != name]
        draw.shuffle(places)
        for place in places[:4]:
            put = "put_in" if ("container", place) in facts else "put_on"
            yield (
                GroundAction(_WALK, (name,)),
                GroundAction("pick_up", (name,)),
                GroundAction(_WALK, (place,)),
                GroundAction(put, (name, place)),
                *plan,
            )
