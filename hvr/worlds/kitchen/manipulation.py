"""Manipulation: picking up, putting, dropping, throwing, opening, closing and switching."""

from __future__ import annotations

import math
import random

from hvr.worlds.kitchen.action_context import (
    ActionFailedError,
    Args,
    Context,
    Result,
    forced,
    number,
    target,
)
from hvr.worlds.kitchen.placement import fallen, holders, landing, place
from hvr.worlds.kitchen.state import KitchenObject, KitchenState
from hvr.worlds.kitchen.state_changes import shattered

# Objects in hand ----------------------------------------------------------------------------------

FRAGILE = frozenset({"Egg"})
"""Types that break when dropped onto the floor. A hard throw breaks all breakable objects."""

HARD_THROW = 100.0
"""Minimum `moveMagnitude`, in newtons, at which a thrown breakable object breaks on landing."""


def pickup(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `PickupObject`: take an object with its contents."""
    thing = target(world, context, args)
    if not thing.can("pickupable"):
        raise ActionFailedError(
            f"{thing.object_id} must have the property CanPickup to be picked up."
        )
    if world.held is not None:
        raise ActionFailedError(
            "Agent hand has something in it already! Can't pick up anything else"
        )
    if thing.inert:
        raise ActionFailedError(
            "NullReferenceException: Target object not found within the specified visibility."
        )
    inside = world.things.deep_contents(thing.object_id)
    carried = {thing.object_id, *inside}
    taken = [thing.turned_back().but(parents=())]
    for inner in (world.things[i] for i in inside):
        # AI2-THOR lists all nested receptacles as parents, so drop those that stay behind.
        if not carried.issuperset(inner.parents):
            taken.append(inner.but(parents=tuple(p for p in inner.parents if p in carried)))
    after = world.changed(*taken).but(held=thing.object_id)
    return after.with_hand_reset().carried(), thing.object_id


def put(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute AI2-THOR 5's `PutObject`: put the held object on or in receptacle `objectId`."""
    held = _held(world)
    receptacle = target(world, context, args)
    return _put(world, context, held, receptacle, forced(args))


def put_named(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute 2.1.0's `PutObject`, in which `objectId` is the held object."""
    held = _held(world)
    if args["objectId"] != held.object_id:
        raise ActionFailedError(f"Agent isn't holding {args['objectId']}")
    receptacle = target(world, context, args, "receptacleObjectId")
    return _put(world, context, held, receptacle, forced(args))


def _held(world: KitchenState) -> KitchenObject:
    if world.held is None:
        raise ActionFailedError("Can't place an object if Agent isn't holding anything")
    return world.things[world.held]


def _put(
    world: KitchenState,
    context: Context,
    held: KitchenObject,
    receptacle: KitchenObject,
    force: bool,
) -> Result:
    if (
        receptacle.inert
        or receptacle is held
        or held.object_id in world.things.ancestors(receptacle.object_id)
    ):
        raise ActionFailedError("No valid Receptacle found")
    if not receptacle.can("receptacle"):
        raise ActionFailedError("This target object is NOT a receptacle!")
    if receptacle.object_type in context.room.facts.must_be_open and not receptacle.is_open:
        raise ActionFailedError(
            "Target openable Receptacle is CLOSED, can't place if target is not open!"
        )
    _check_type(world, context, held, receptacle, force)
    placed = place(world, context.room, held, receptacle, force)
    if placed is None:
        raise ActionFailedError("No valid positions to place object found")
    rested = placed.but(parents=holders(world, placed, receptacle))
    return world.moved(held, rested).but(held=None), None


def _check_type(
    world: KitchenState,
    context: Context,
    held: KitchenObject,
    receptacle: KitchenObject,
    force: bool,
) -> None:
    facts = context.room.facts
    what, where = held.spec.name, receptacle.spec.name
    only = facts.accepts_only.get(receptacle.object_type)
    if only is not None:
        present = [
            i
            for i in world.things.contents.get(receptacle.object_id, ())
            if not world.things[i].inert
        ]
        if held.object_type not in only:
            raise ActionFailedError(f"{what} is not a valid Object Type to be placed in {where}")
        if present:
            raise ActionFailedError(f"{where} is full right now")
        return
    if force or not context.placement_table:
        return
    known = facts.types.get(held.object_type)
    if known is None or receptacle.object_type not in known.placeable_in:
        raise ActionFailedError(f"{what} cannot be placed in {where}")


def drop(world: KitchenState, context: Context, _args: Args) -> Result:
    """Execute `DropHandObject`: the object falls below the hand; an egg breaks on the floor."""
    if world.held is None:
        raise ActionFailedError("Nothing is in the agent's hand to drop!")
    x, y, z = world.hand
    return _fall(world, context, x, y, z, breaks=FRAGILE)


def throw(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `ThrowObject`: the object lands up to two metres ahead on walkable floor."""
    if world.held is None:
        raise ActionFailedError("Nothing in Hand to Throw!")
    power = number(args, "moveMagnitude", 50.0)
    chance = random.Random(f"{context.seed}/{world.steps}")
    agent, room = world.agent, context.room
    far = min(2.0, 0.5 + power / 150.0) * chance.uniform(0.9, 1.1)
    yaw = math.radians(agent.yaw)
    aim = (agent.position[0] + far * math.sin(yaw), agent.position[2] + far * math.cos(yaw))
    x, z = aim
    # Furniture and walls stop the object, so it lands on the nearest free floor.
    if not room.walkable(x, z):
        x, z = min(room.grid, key=lambda p: (round(math.dist(p, aim), 6), p))
    breaks = FRAGILE if power < HARD_THROW else None
    return _fall(world, context, x, world.hand[1], z, breaks=breaks)


def _fall(
    world: KitchenState,
    context: Context,
    x: float,
    y: float,
    z: float,
    breaks: frozenset[str] | None,
) -> Result:
    """Release the held object over (x, z); `breaks` None means every breakable type."""
    held = world.things[world.held or ""]
    onto = landing(world, context.room, x, z, y, held.object_id)
    rested = fallen(held, onto, x, z)
    after = world.moved(held, rested).but(held=None)
    hard = onto.object_type == "Floor"
    if hard and held.can("breakable") and (breaks is None or held.object_type in breaks):
        after = shattered(after, context, rested)
    px, py, pz = rested.position
    return after, {"x": round(px, 5), "y": round(py, 5), "z": round(pz, 5)}


# Doors and switches -------------------------------------------------------------------------------

DRAWER_TRAVEL = 0.815
"""Travel of an open drawer as a share of its depth."""


def set_openness(
    world: KitchenState, context: Context, args: Args, *, default: float = 1.0
) -> Result:
    """Execute `OpenObject` or `CloseObject`; closing a closed object succeeds.

    `moveMagnitude` is the old name of `openness`; its 0 means fully open.
    """
    old = number(args, "moveMagnitude", 0.0) if default else 0.0
    openness = number(args, "openness", old or default)
    thing = target(world, context, args)
    if not thing.can("openable"):
        raise ActionFailedError(f"{thing.object_id} is not an Openable object")
    if thing.object_type == "Microwave" and thing.is_toggled:
        raise ActionFailedError("Target must be OFF to open!")
    if not 0.0 <= openness <= 1.0:
        raise ActionFailedError("openness must be in [0:1]")
    moved = thing.but(openness=openness)
    if thing.object_type != "Drawer":
        return world.changed(moved), None
    dx, dz = _drawer_shift(thing, openness - thing.openness)
    inner = [
        world.things[i].shifted(dx, 0.0, dz) for i in world.things.deep_contents(thing.object_id)
    ]
    return world.changed(moved.shifted(dx, 0.0, dz), *inner), None


def _drawer_shift(thing: KitchenObject, openness: float) -> tuple[float, float]:
    yaw = math.radians(thing.rotation[1])
    ahead = (round(math.sin(yaw)), round(math.cos(yaw)))
    w, _, d = thing.spec.box.size
    travel = DRAWER_TRAVEL * (w if ahead[0] else d) * openness
    return ahead[0] * travel, ahead[1] * travel


def toggle(world: KitchenState, context: Context, args: Args, *, on: bool) -> Result:
    """Execute `ToggleObjectOn` or `ToggleObjectOff`."""
    thing = target(world, context, args)
    if thing.object_type == "StoveBurner":
        raise ActionFailedError(
            "target object is controlled by another sim object. target object cannot be turned "
            "on/off directly"
        )
    if not thing.can("toggleable"):
        raise ActionFailedError("object is not toggleable.")
    if on and thing.is_broken:
        raise ActionFailedError("Target is broken and cannot be Toggled On!")
    if thing.is_toggled == on:
        word = "on" if on else "off"
        raise ActionFailedError(f"can't toggle object {word} if it's already {word}!")
    if on and thing.object_type == "Microwave" and thing.is_open:
        raise ActionFailedError("Target must be closed to Toggle On!")
    controlled = [world.things[i] for i in thing.spec.controls or () if i in world.things]
    return world.changed(*(t.but(is_toggled=on) for t in (thing, *controlled))), None
