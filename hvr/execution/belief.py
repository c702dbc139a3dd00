"""The robot's belief about the scene: what it sees now, and of the rest what it saw last.

A belief never contradicts what is seen now. What is not seen keeps the state it was seen or
is expected in: an action that was reported as done is believed to have had its effects.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.worlds.thor.types import LIDDED


class Sight(StrEnum):
    """The part of an event's metadata that the robot is allowed to see."""

    OMNISCIENT = "omniscient"
    """Everything, wherever it is: AI2-THOR's metadata lists the whole scene."""
    VISIBLE = "visible"
    """What AI2-THOR calls visible (in view, within 1.5 m, not shut in), what is in the hand,
    and what is in or on a compact open receptacle that is visible."""
    DOORS = "doors"
    """Everything but what is behind a closed door; that is not known at the beginning, either."""


@dataclass(frozen=True)
class Belief:
    """A scene graph of which some parts were seen now and others earlier.

    Args:
        scene: every known object as it is believed to be.
        seen: names of the objects seen now.
        last_seen: step in which each object was last seen, 0 before the first step; what has
            never been seen is not in it.
    """

    scene: SceneGraph
    seen: frozenset[str]
    last_seen: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


def first_look(scene: SceneGraph, sight: Sight = Sight.OMNISCIENT) -> Belief:
    """Return the belief at the start of a run: the robot has been shown the room.

    With `Sight.DOORS` nobody has opened anything for it: it knows which things there are, and not
    where those are that it does not see.

    Args:
        scene: all that is there.
        sight: what the robot sees.
    """
    names = frozenset(scene.objects)
    if sight is Sight.DOORS:
        names = not_shut_in(scene)
        unseen = {
            name: replace(o, parents=(), in_reach=False)
            for name, o in scene.objects.items() if name not in names
        }  # fmt: skip
        scene = scene.replace(objects=MappingProxyType({**scene.objects, **unseen}))
    return Belief(scene, names, MappingProxyType(dict.fromkeys(names, 0)))


def not_shut_in(scene: SceneGraph) -> frozenset[str]:
    """Return the objects that are behind no closed door."""
    return frozenset(name for name in scene.objects if not scene.shut_in(name))


def seen_objects(
    scene: SceneGraph, visible: Collection[str], large: Collection[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the objects that are seen, and the receptacles that the robot sees into.

    Args:
        scene: all that is there.
        visible: names of what is in view.
        large: names of receptacles that are too long to be seen as a whole.

    Returns:
        names of the objects seen, and of the receptacles whose whole content is seen.
    """
    seen = set(visible)
    if scene.held is not None:
        seen.add(scene.held)
    whole: set[str] = set()
    todo = [n for n in seen if n in scene.objects]
    inside: dict[str, list[str]] = {}
    for name, o in scene.objects.items():
        for parent in o.parents[:1]:
            inside.setdefault(parent, []).append(name)
    # What is in a bowl in an open drawer is seen with the drawer: hence at any depth.
    while todo:
        name = todo.pop()
        attributes = scene.objects[name].attributes
        shut = attributes.get("openable") and not attributes.get("isOpen")
        shut = shut and scene.objects[name].object_type not in LIDDED
        if not attributes.get("receptacle") or shut or name in large or name in whole:
            continue
        whole.add(name)
        new = [n for n in inside.get(name, ()) if n not in seen]
        seen.update(new)
        todo += inside.get(name, ())
    return frozenset(seen), frozenset(whole)


def update(
    earlier: Belief,
    predicted: SceneGraph,
    observed: SceneGraph,
    seen: frozenset[str],
    whole: frozenset[str],
    step: int,
    robot: tuple[float, float, float],
) -> Belief:
    """Return the belief after an action.

    What is seen is as observed. What is not stays as predicted; but if the robot sees all that a
    receptacle holds, what it believed to be there and does not see is known to be nowhere.
    What the hand holds is always felt.

    Args:
        earlier: the belief before.
        predicted: the believed scene with the effects of the action.
        observed: all that is there.
        seen: names of what is seen of it.
        whole: receptacles whose whole content is seen.
        step: number of the step.
        robot: where the robot stands, (x, y, z) in metres.
    """
    objects: dict[str, SceneObject] = {}
    for name, o in observed.objects.items():
        if name in seen:
            objects[name] = o
    for name, o in predicted.objects.items():
        if name in seen:
            continue
        gone = bool(o.parents) and o.parents[0] in whole
        carried = name == predicted.held  # it was in the hand, and the hand feels it no more
        objects[name] = replace(
            o,
            parents=() if gone or carried else o.parents,
            in_reach=False,  # what is not seen cannot be used from here
            distance=round(math.dist(robot, o.position), 5),
        )
    scene = observed.replace(objects=MappingProxyType(objects))
    last = {**earlier.last_seen, **dict.fromkeys(seen, step)}
    return Belief(scene, seen, MappingProxyType(last))
