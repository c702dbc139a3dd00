"""Pushing: objects slide over their surface until something stops them, or fall from its edge."""

from __future__ import annotations

import math

from hvr.worlds.kitchen.action_context import (
    ActionFailedError,
    Args,
    Context,
    Result,
    number,
    target,
)
from hvr.worlds.kitchen.manipulation import FRAGILE
from hvr.worlds.kitchen.placement import fallen, holder_of_box, landing
from hvr.worlds.kitchen.state import KitchenObject, KitchenState
from hvr.worlds.kitchen.state_changes import shattered

_PULSE = 0.02
"""Seconds for which a push acts: one step of AI2-THOR's physics."""

_FRICTION = 0.5
_GRAVITY = 9.81
_FARTHEST = 2.0
_STEP = 0.05
_TOUCH = 0.01


def push(world: KitchenState, context: Context, args: Args, *, turn: float = 0.0) -> Result:
    """Execute `PushObject`, `PullObject` (turn 180) or `DirectionalPush` (with `pushAngle`).

    A push of `moveMagnitude` newtons acts for one step of physics; friction then stops the object.
    """
    thing = target(world, context, args)
    if not (thing.can("pickupable") or thing.can("moveable")) or thing.inert:
        raise ActionFailedError(
            f"Target Primary Property type incompatible with push/pull: {thing.object_id}"
        )
    if thing.object_id == world.held:
        raise ActionFailedError("Can't push or pull an object that is in the agent's hand")
    force = number(args, "moveMagnitude", 0.0)
    if force <= 0.0:
        raise ActionFailedError("ArgumentOutOfRangeException: moveMagnitude must be > 0")
    speed = force * _PULSE / max(thing.spec.mass or 1.0, 0.01)
    length = min(_FARTHEST, speed * speed / (2.0 * _FRICTION * _GRAVITY))
    yaw = math.radians(world.agent.yaw + turn + number(args, "pushAngle", 0.0))
    return _slid(world, context, thing, (math.sin(yaw), math.cos(yaw)), length), None


def _slid(
    world: KitchenState,
    context: Context,
    thing: KitchenObject,
    direction: tuple[float, float],
    length: float,
) -> KitchenState:
    here, support = thing, world.things.get(next(iter(thing.parents), ""))
    ignored = {thing.object_id, *world.things.deep_contents(thing.object_id), *thing.parents}
    others = [
        t.box
        for t in world.things.values()
        if t.object_id not in ignored and not t.inert and t.object_type != "Floor"
    ]
    others = [box for box in others if not box.overlaps(thing.box, _TOUCH)]
    steps = math.ceil(length / _STEP)
    for _ in range(steps):
        ahead = here.shifted(direction[0] * length / steps, 0.0, direction[1] * length / steps)
        x, _y, z = ahead.box.center
        if any(ahead.box.overlaps(box, _TOUCH) for box in others):
            break
        on_floor = support is None or support.object_type == "Floor"
        if on_floor and not context.room.walkable(x, z):
            break
        if not on_floor and support is not None and not support.box.over(x, z):
            if not context.room.walkable(x, z):
                break
            return _fell(world, context, thing, x, z)
        here = ahead
    if here is thing:
        return world
    return world.moved(thing, here.but(parents=holder_of_box(world, here, thing.parents)))


def _fell(
    world: KitchenState, context: Context, thing: KitchenObject, x: float, z: float
) -> KitchenState:
    onto = landing(world, context.room, x, z, thing.box.y0, thing.object_id)
    rested = fallen(thing, onto, x, z)
    after = world.moved(thing, rested)
    if onto.object_type == "Floor" and thing.object_type in FRAGILE and thing.can("breakable"):
        return shattered(after, context, rested)
    return after
