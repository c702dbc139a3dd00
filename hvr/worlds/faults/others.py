"""Interventions of somebody else in the room, by forced actions that the robot does not see.

Where a change needs the hand, what the robot holds is put aside and taken again, so that it
holds afterwards what it held before. Everything is done with AI2-THOR's own actions, except
that a kitchen may have a thing stood on a receptacle that PutObject refuses even when forced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hvr.worlds.base import Environment
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.kitchen.placement import surface_height
from hvr.worlds.thor.types import ASIDE, USUAL_LIQUID

_SETTERS: Mapping[tuple[str, bool], str] = {
    ("isOpen", True): "OpenObject",
    ("isOpen", False): "CloseObject",
    ("isToggled", True): "ToggleObjectOn",
    ("isToggled", False): "ToggleObjectOff",
    ("isDirty", True): "DirtyObject",
    ("isDirty", False): "CleanObject",
    ("isFilledWithLiquid", True): "FillObjectWithLiquid",
    ("isFilledWithLiquid", False): "EmptyLiquidFromObject",
    ("isBroken", True): "BreakObject",
    ("isSliced", True): "SliceObject",
    ("isCooked", True): "CookObject",
    ("isUsedUp", True): "UseUpObject",
}
"""The action that gives a state field a value."""

CHANGEABLE: Mapping[str, str] = {
    "isOpen": "openable",
    "isToggled": "toggleable",
    "isDirty": "dirtyable",
    "isFilledWithLiquid": "canFillWithLiquid",
}
"""State fields that can be changed both ways, and the property that an object needs."""


def entries(env: Environment) -> dict[str, dict[str, Any]]:
    """Return metadata of all objects by id."""
    return {o["objectId"]: o for o in env.last_event.metadata["objects"]}


def held(env: Environment) -> str | None:
    """Return id of what is in the hand."""
    inventory = env.last_event.metadata["inventoryObjects"]
    return str(inventory[0]["objectId"]) if inventory else None


def drop(env: Environment) -> bool:
    """Let what is held fall; return whether something was held."""
    return held(env) is not None and bool(env.step("DropHandObject", forceAction=True))


def change(env: Environment, object_id: str, field: str, value: str | bool) -> bool:
    """Give a state field a value; return whether that changed it."""
    before = entries(env)[object_id]
    wanted = bool(value)
    setter = _SETTERS.get((field, wanted))
    if setter is None or bool(before[field]) == wanted:
        return False
    more = {}
    if setter == "FillObjectWithLiquid":
        more["fillLiquid"] = value if isinstance(value, str) else USUAL_LIQUID
    return bool(env.step(setter, objectId=object_id, forceAction=True, **more))


def move(env: Environment, object_id: str, receptacle: str) -> bool:
    """Put an object on or in a receptacle; return whether that moved it there.

    What is in the hand, or in what is in the hand, is not taken away. A closed receptacle
    is opened and closed again.
    """
    known = entries(env)
    thing, place = known[object_id], known[receptacle]
    there = thing["parentReceptacles"] or ()
    inside = [object_id, *contents(known, object_id)]
    if not thing["pickupable"] or receptacle in there or receptacle in inside:
        return False
    in_hand = held(env)
    if in_hand in inside or object_id in contents(known, in_hand):
        return False
    closed = place["openable"] and not place["isOpen"]
    # A running microwave does not open.
    if closed and place["toggleable"] and place["isToggled"]:
        return False
    if closed:
        env.step("OpenObject", objectId=receptacle, forceAction=True)
    aside = _put_aside(env, avoid=(receptacle,)) if in_hand else True
    done = aside and _carry(env, object_id, receptacle)
    if in_hand and aside:
        env.step("PickupObject", objectId=in_hand, forceAction=True)
    if closed:
        env.step("CloseObject", objectId=receptacle, forceAction=True)
    return done


def occupy(env: Environment, object_id: str, receptacle: str) -> bool:
    """Make sure that an object is on or in a receptacle; return whether it is."""
    there = entries(env)[object_id]["parentReceptacles"] or ()
    return receptacle in there or move(env, object_id, receptacle)


def contents(known: Mapping[str, Mapping[str, Any]], object_id: str | None) -> set[str]:
    """Return ids of all that an object holds, at any depth."""
    inside: set[str] = set()
    todo = [object_id] if object_id else []
    while todo:
        for inner in known.get(todo.pop(), {}).get("receptacleObjectIds") or ():
            if inner not in inside:
                inside.add(inner)
                todo.append(inner)
    return inside


def _carry(env: Environment, object_id: str, receptacle: str) -> bool:
    """Take and put, with an empty hand; return whether it worked."""
    home = entries(env)[object_id]["parentReceptacles"] or ()
    if not env.step("PickupObject", objectId=object_id, forceAction=True):
        return False
    if env.step("PutObject", objectId=receptacle, forceAction=True):
        return True
    if stand(env, object_id, receptacle):
        return True
    _put_aside(env, first=home)
    return False


def _put_aside(env: Environment, first: Iterable[str] = (), avoid: Sequence[str] = ()) -> bool:
    """Put what is in the hand somewhere; return whether a place took it."""
    known = entries(env)
    places = [i for kind in ASIDE for i, o in known.items() if o["objectType"] == kind]
    return any(
        bool(env.step("PutObject", objectId=i, forceAction=True))
        for i in (*first, *places)
        if i not in avoid
    )


def stand(env: Environment, object_id: str, receptacle: str) -> bool:
    """Stand what is held in the middle of an empty receptacle; only hvr's kitchen can."""
    if not isinstance(env, Kitchen):
        return False
    now = env.snapshot()
    thing, place = now.world.things[object_id], now.world.things[receptacle]
    if now.world.held != object_id or not place.can("receptacle"):
        return False
    x, _, z = place.box.center
    tall = thing.box.y1 - thing.box.y0
    there = thing.moved_to((x, surface_height(place) + tall / 2, z))
    world = now.world.changed(there.replace(parents=(receptacle,)))
    env.restore(replace(now, world=replace(world, held=None)))
    return True
