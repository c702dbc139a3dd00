"""Taking, putting, dropping and throwing."""

from __future__ import annotations

import math
import random

from hvr.worlds.kitchen.actions.common import (
    ActionFailedError,
    Args,
    Context,
    Result,
    forced,
    number,
    target,
)
from hvr.worlds.kitchen.actions.states import shattered
from hvr.worlds.kitchen.placement import fallen, holders, landing, place
from hvr.worlds.kitchen.world import KitchenState, Thing

FRAGILE = frozenset({"Egg"})
"""Types that break when dropped onto the floor; thrown hard, everything breakable breaks."""

HARD_THROW = 100.0
"""From this `moveMagnitude` on a breakable thing breaks when it lands, newtons."""


def pickup(world: KitchenState, context: Context, args: Args) -> Result:
    """PickupObject: take a thing, with what it holds."""
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
        # AI2-THOR reports nested receptacles all as parents: those left behind go.
        if not carried.issuperset(inner.parents):
            taken.append(inner.but(parents=tuple(p for p in inner.parents if p in carried)))
    return world.changed(*taken).but(held=thing.object_id).carried(), thing.object_id


def put(world: KitchenState, context: Context, args: Args) -> Result:
    """PutObject of AI2-THOR 5: what is in the hand goes on or in the receptacle `objectId`."""
    held = _held(world)
    receptacle = target(world, context, args)
    return _put(world, context, held, receptacle, forced(args))


def put_named(world: KitchenState, context: Context, args: Args) -> Result:
    """PutObject of 2.1.0: `objectId` is the held object, `receptacleObjectId` the place."""
    held = _held(world)
    if args["objectId"] != held.object_id:
        raise ActionFailedError(f"Agent isn't holding {args['objectId']}")
    receptacle = target(world, context, args, "receptacleObjectId")
    return _put(world, context, held, receptacle, forced(args))


def _held(world: KitchenState) -> Thing:
    if world.held is None:
        raise ActionFailedError("Can't place an object if Agent isn't holding anything")
    return world.things[world.held]


def _put(
    world: KitchenState, context: Context, held: Thing, receptacle: Thing, force: bool
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
    world: KitchenState, context: Context, held: Thing, receptacle: Thing, force: bool
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
    """DropHandObject: it falls onto what is below the hand; an egg breaks on the floor."""
    if world.held is None:
        raise ActionFailedError("Nothing is in the agent's hand to drop!")
    x, y, z = world.agent.hand
    return _fall(world, context, x, y, z, breaks=FRAGILE)


def throw(world: KitchenState, context: Context, args: Args) -> Result:
    """ThrowObject: it lands one to two metres ahead, where the agent could walk."""
    if world.held is None:
        raise ActionFailedError("Nothing in Hand to Throw!")
    power = number(args, "moveMagnitude", 50.0)
    chance = random.Random(f"{context.seed}/{world.steps}")
    agent, room = world.agent, context.room
    far = min(2.0, 0.5 + power / 150.0) * chance.uniform(0.9, 1.1)
    yaw = math.radians(agent.yaw)
    aim = (agent.position[0] + far * math.sin(yaw), agent.position[2] + far * math.cos(yaw))
    x, z = aim
    # Furniture and walls stop it: it lands on the nearest free floor.
    if not room.walkable(x, z):
        x, z = min(room.grid, key=lambda p: (round(math.dist(p, aim), 6), p))
    breaks = FRAGILE if power < HARD_THROW else None
    return _fall(world, context, x, agent.hand[1], z, breaks=breaks)


def _fall(
    world: KitchenState,
    context: Context,
    x: float,
    y: float,
    z: float,
    breaks: frozenset[str] | None,
) -> Result:
    """Let go of the held object over (x, z); `breaks` None means whatever is breakable."""
    held = world.things[world.held or ""]
    onto = landing(world, context.room, x, z, y, held.object_id)
    rested = fallen(held, onto, x, z)
    after = world.moved(held, rested).but(held=None)
    hard = onto.object_type == "Floor"
    if hard and held.can("breakable") and (breaks is None or held.object_type in breaks):
        after = shattered(after, context, rested)
    px, py, pz = rested.position
    return after, {"x": round(px, 5), "y": round(py, 5), "z": round(pz, 5)}
