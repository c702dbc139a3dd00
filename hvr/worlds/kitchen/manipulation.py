"""Manipulation: taking, putting, dropping, throwing, pushing, opening, switching, turning."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from hvr.worlds.kitchen.placement import fallen, holder_of_box, holders, landing, place
from hvr.worlds.kitchen.state import KitchenObject, KitchenState
from hvr.worlds.kitchen.state_changes import shattered
from hvr.worlds.kitchen.visibility import (
    ActionFailedError,
    Args,
    Context,
    Result,
    forced,
    number,
    target,
    vector,
)
from hvr.worlds.scenes import Vec

# Objects in hand ----------------------------------------------------------------------------------

FRAGILE = frozenset({"Egg"})
"""Types that break when dropped onto the floor. A hard throw breaks all breakable objects."""

HARD_THROW = 100.0
"""Minimum `moveMagnitude`, in newtons, at which a breakable object breaks when thrown."""


def pickup(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `PickupObject`: take an object together with its contents."""
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
    """Execute `PutObject` of AI2-THOR 2.1.0, in which `objectId` is the held object."""
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
    """Execute `ThrowObject`: the object falls at the walkable point nearest to its aim.

    The aim is at most 2.2 m ahead. It depends on `moveMagnitude`, with a random deviation of up to
    10 %.
    """
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
    """Let the held object fall; types in `breaks` (None: all breakable ones) break on the floor."""
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
"""How far a drawer opens, as a share of its depth."""


def set_openness(
    world: KitchenState, context: Context, args: Args, *, default: float = 1.0
) -> Result:
    """Execute `OpenObject` (`default` 1) or `CloseObject` (`default` 0).

    `default` is the openness if no argument gives it. Closing a closed object succeeds.
    `moveMagnitude` is the old name of `openness`; as in AI2-THOR, its value 0 means fully open.
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


_Matrix = tuple[Vec, Vec, Vec]


def move_held(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `MoveHeldObject`: move the hand by `right`, `up` and `ahead`, in metres."""
    return _moved(
        world, (number(args, "right", 0.0), number(args, "up", 0.0), number(args, "ahead", 0.0))
    )


def move_along(world: KitchenState, _context: Context, args: Args, *, axis: Vec) -> Result:
    """Execute `MoveHeldObjectAhead` or a similar action that moves the hand along `axis`."""
    length = number(args, "moveMagnitude", 0.0)
    if length <= 0.0:
        raise ActionFailedError("ArgumentOutOfRangeException: moveMagnitude must be > 0")
    x, y, z = axis
    return _moved(world, (x * length, y * length, z * length))


def _moved(world: KitchenState, shift: Vec) -> Result:
    _check_held(world)
    (x, y, z), (dx, dy, dz) = world.extras.hand_shift, shift
    place = (round(x + dx, 5), round(y + dy, 5), round(z + dz, 5))
    moved = world.but(extras=replace(world.extras, hand_shift=place))
    camera, reach = world.agent.camera, world.settings.visibility_distance
    if math.dist(moved.hand, camera[:3]) > reach:
        raise ActionFailedError(
            f"The target position is out of range: the hand reaches {reach:g} m from the camera."
        )
    return moved.carried(), None


def rotate_held(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `RotateHeldObject`: turn by `pitch`, `yaw` and `roll`, or to a local `rotation`."""
    _check_held(world)
    if args.get("rotation") is not None:
        turn = vector(args["rotation"], "rotation")
    else:
        by = (number(args, "pitch", 0.0), number(args, "yaw", 0.0), -number(args, "roll", 0.0))
        turn = _angles(_product(_matrix(by), _matrix(world.extras.hand_turn)))
    turn = (turn[0] % 360.0, turn[1] % 360.0, turn[2] % 360.0)
    turned = world.but(extras=replace(world.extras, hand_turn=turn))
    held = world.things[world.held or ""]
    upright = _matrix(hand_rotation(turned))[1][1] >= -1e-9
    return turned.changed(held.but(liquid=held.liquid if upright else None)), None


def _check_held(world: KitchenState) -> None:
    if world.held is None:
        raise ActionFailedError("Agent must be holding an object to move or rotate it")


def hand_rotation(world: KitchenState) -> Vec:
    """Return the world rotation of the hand: Euler angles in degrees."""
    agent, turn = world.agent, world.extras.hand_turn
    if not any(turn):
        return agent.horizon, agent.yaw, 0.0
    return _angles(_product(_matrix((agent.horizon, agent.yaw, 0.0)), _matrix(turn)))


# Unity's Euler angles turn about z, then x, then y.


def _matrix(angles: Vec) -> _Matrix:
    (sx, sy, sz), (cx, cy, cz) = (
        tuple(f(math.radians(a)) for a in angles) for f in (math.sin, math.cos)
    )
    return (
        (cy * cz + sy * sx * sz, sy * sx * cz - cy * sz, sy * cx),
        (cx * sz, cx * cz, -sx),
        (cy * sx * sz - sy * cz, sy * sz + cy * sx * cz, cy * cx),
    )


def _product(a: _Matrix, b: _Matrix) -> _Matrix:
    def row(r: Vec) -> Vec:
        x, y, z = (sum(r[k] * b[k][j] for k in range(3)) for j in range(3))
        return x, y, z

    return row(a[0]), row(a[1]), row(a[2])


def _angles(m: _Matrix) -> Vec:
    sx = max(-1.0, min(1.0, -m[1][2]))
    if abs(sx) > 1.0 - 1e-9:  # only the sum of the other two angles is determined
        x, y, z = math.copysign(90.0, sx), math.degrees(math.atan2(-m[2][0], m[0][0])), 0.0
    else:
        x = math.degrees(math.asin(sx))
        y = math.degrees(math.atan2(m[0][2], m[2][2]))
        z = math.degrees(math.atan2(m[1][0], m[1][1]))
    return round(x, 4) % 360.0, round(y, 4) % 360.0, round(z, 4) % 360.0


Heading = tuple[float, float]
"""A horizontal unit vector (x, z)."""

_PULSE = 0.02
"""Duration of a push in seconds: one step of AI2-THOR's physics."""

_FRICTION = 0.5
_GRAVITY = 9.81
_FARTHEST = 2.0
_STEP = 0.05
_TOUCH = 0.01


def push(world: KitchenState, context: Context, args: Args, *, turn: float = 0.0) -> Result:
    """Execute `PushObject`, `PullObject` (turn 180) or `DirectionalPush` (with `pushAngle`).

    A push with `moveMagnitude` newtons lasts for one step of physics; then friction stops the
    object. The object slides along the surfaces that it hits and pushes no other object.
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
    world: KitchenState, context: Context, thing: KitchenObject, heading: Heading, length: float
) -> KitchenState:
    here, support = thing, world.things.get(next(iter(thing.parents), ""))
    ignored = {thing.object_id, *world.things.deep_contents(thing.object_id), *thing.parents}
    others = [
        t
        for t in world.things.values()
        if t.object_id not in ignored and not t.inert and t.object_type != "Floor"
    ]
    others = [t for t in others if not t.box.overlaps(thing.box, _TOUCH)]
    step = length / math.ceil(length / _STEP)
    while length > step / 2:
        ahead = here.shifted(heading[0] * step, 0.0, heading[1] * step)
        x, _y, z = ahead.box.center
        face = next(filter(None, (_face_hit(t, ahead) for t in others)), None)
        if face is not None:
            along = heading[0] * face[0] + heading[1] * face[1]
            heading = face if along > 0.0 else (-face[0], -face[1])
            length = min(length * along * along, length - step)
            continue
        on_floor = support is None or support.object_type == "Floor"
        if on_floor and not context.room.walkable(x, z):
            break
        if not on_floor and support is not None and not support.box.over(x, z):
            if not context.room.walkable(x, z):
                break
            return _fell(world, context, thing, x, z)
        here = ahead
        length -= step
    if here is thing:
        return world
    return world.moved(thing, here.but(parents=holder_of_box(world, here, thing.parents)))


def _face_hit(thing: KitchenObject, mover: KitchenObject) -> Heading | None:
    """Return the direction of the face of `thing` that touches a moving object, or None."""
    if not thing.box.overlaps(mover.box, _TOUCH):
        return None
    yaw = math.radians(thing.rotation[1])
    right, ahead = (math.cos(yaw), -math.sin(yaw)), (math.sin(yaw), math.cos(yaw))
    wide, deep = _sides(thing, abs(right[0]), abs(ahead[0]))
    boxes = thing.box, mover.box
    (x, _, z), (mx, _, mz) = (box.center for box in boxes)
    across, along = mover.box.x1 - mover.box.x0, mover.box.z1 - mover.box.z0
    depths = []
    for axis in (right, ahead, (1.0, 0.0), (0.0, 1.0)):
        reach = wide * abs(axis[0] * right[0] + axis[1] * right[1])
        reach += deep * abs(axis[0] * ahead[0] + axis[1] * ahead[1])
        reach += across * abs(axis[0]) + along * abs(axis[1])
        apart = abs((mx - x) * axis[0] + (mz - z) * axis[1])
        depths.append((reach / 2 - apart, (-axis[1], axis[0])))
    depth, face = min(depths)
    return face if depth > _TOUCH else None


def _sides(thing: KitchenObject, cos: float, sin: float) -> tuple[float, float]:
    across, along = thing.box.x1 - thing.box.x0, thing.box.z1 - thing.box.z0
    spread = cos * cos - sin * sin
    if abs(spread) > 0.1:  # otherwise the box does not determine the sides
        wide, deep = (across * cos - along * sin) / spread, (along * cos - across * sin) / spread
        if wide > 0.0 and deep > 0.0:
            return wide, deep
    return across, along


def _fell(
    world: KitchenState, context: Context, thing: KitchenObject, x: float, z: float
) -> KitchenState:
    onto = landing(world, context.room, x, z, thing.box.y0, thing.object_id)
    rested = fallen(thing, onto, x, z)
    after = world.moved(thing, rested)
    if onto.object_type == "Floor" and thing.object_type in FRAGILE and thing.can("breakable"):
        return shattered(after, context, rested)
    return after
