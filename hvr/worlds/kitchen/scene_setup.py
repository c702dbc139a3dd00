"""Scene setup: settings of the room, and actions that arrange all objects at once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from hvr.worlds.geometry import Vec
from hvr.worlds.kitchen.action_context import (
    ActionFailedError,
    Args,
    Context,
    Result,
    entries,
    number,
    vector,
)
from hvr.worlds.kitchen.placement import CLOSED_BOXES, Solid, holder_of, holders, place
from hvr.worlds.kitchen.state import KitchenObject, KitchenObjects, KitchenState, initialized

CAMERA_PLANES = MappingProxyType({"cameraNearPlane": 0.01, "cameraFarPlane": 20.0})
"""The result of `Initialize`, in metres."""


def initialize(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `Initialize`: set grid, reach and image size; the scene stays unchanged."""
    try:
        settings = initialized(world.settings, args)
        if "rotateStepDegrees" in args and settings.snap_to_grid and settings.rotate_step % 90.0:
            raise ValueError(
                "'snapToGrid': True needs a 'rotateStepDegrees' that is a multiple of 90, "
                f"got {settings.rotate_step:g}"
            )
    except ValueError as error:
        raise ActionFailedError(f"ArgumentException: {error}") from None
    return world.but(settings=settings), dict(CAMERA_PLANES)


def set_decay_time(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `SetTemperatureDecayTime`, which also restarts running timers."""
    seconds = number(args, "decayTime", 0.0)
    if seconds < 0.0:
        raise ActionFailedError(f"decayTime must be >= 0. You gave {seconds:g}")
    settings = replace(world.settings, decay_time=seconds)
    timers = MappingProxyType(dict.fromkeys(world.timers, world.time + seconds))
    return world.but(settings=settings, timers=timers), None


def set_decay(world: KitchenState, _context: Context, _args: Args, *, decays: bool) -> Result:
    """Execute `EnableTemperatureDecay` or `DisableTemperatureDecay`."""
    return world.but(settings=replace(world.settings, decays=decays)), None


def set_object_poses(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `SetObjectPoses`: objects not named disappear, objects named twice are duplicated.

    The boxes decide which receptacle then holds an object; nothing falls.
    """
    by_name = {
        t.spec.name: t
        for t in world.things.values()
        if not t.spec.is_fixture and not t.inert and "|copy_" not in t.object_id
    }
    placed: list[KitchenObject] = []
    count: Counter[str] = Counter()
    for pose in entries(args["objectPoses"], "objectPoses"):
        name = pose.get("objectName") if isinstance(pose, dict) else None
        thing = by_name.get(name) if isinstance(name, str) else None
        if thing is None:
            raise ActionFailedError(
                f"No Pickupable or Moveable object of name {name} found in scene."
            )
        moved = posed(thing, vector(pose.get("position"), "position"), pose.get("rotation"))
        count[thing.spec.name] += 1
        if count[thing.spec.name] > 1:
            moved = _copy(moved, count[thing.spec.name] - 1)
        placed.append(moved)
    return _arranged(world, placed), None


def posed(thing: KitchenObject, position: Vec, rotation: Any) -> KitchenObject:
    """Return the object with its pivot at `position`, and turned if `rotation` is given."""
    x, y, z = thing.position
    moved = thing.shifted(position[0] - x, position[1] - y, position[2] - z)
    if rotation is None:
        return moved
    rx, ry, rz = vector(rotation, "rotation")
    return moved.but(rotation=(rx % 360.0, ry % 360.0, rz % 360.0))


def _copy(thing: KitchenObject, number_: int) -> KitchenObject:
    spec = replace(
        thing.spec,
        object_id=f"{thing.object_id}_copy_{number_}",
        name=f"{thing.spec.name}_copy_{number_}",
    )
    return thing.but(spec=spec)


def _arranged(world: KitchenState, placed: Sequence[KitchenObject]) -> KitchenState:
    fixed = [t for t in world.things.values() if t.spec.is_fixture]
    spaces = [
        Solid(t.object_id, t.object_type, t.box) for t in (*fixed, *placed) if t.can("receptacle")
    ]
    rested = []
    for thing in placed:
        holder = holder_of(Solid(thing.object_id, thing.object_type, thing.box), spaces)
        rested.append(thing.but(parents=(holder,) if holder else ()))
    by_id = {t.object_id: t for t in (*fixed, *rested)}
    return world.but(things=KitchenObjects(by_id), held=None)


def random_spawn(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `InitialRandomSpawn`: move every pickupable object to a random place.

    The place is one that the placement table allows; objects without room stay. The same
    `randomSeed` gives the same scene.
    """
    chance = random.Random(f"spawn/{int(number(args, 'randomSeed', 0.0))}")
    shut_out = set(_texts(args, "excludedReceptacles"))
    stays = set(_texts(args, "excludedObjectIds"))
    in_view = bool(args.get("forceVisible", False))
    world = _duplicated(world, args)
    loose = [
        t
        for t in world.things.values()
        if t.can("pickupable")
        and not t.inert
        and t.object_id != world.held
        and t.object_id not in stays
    ]
    chance.shuffle(loose)
    # Large objects and vessels go first because they need the most room and may hold others.
    loose.sort(key=lambda t: (not t.can("receptacle"), -round(t.box.footprint, 2)))
    for thing in loose:
        world = _spawned(world, context, world.things[thing.object_id], shut_out, in_view, chance)
    return world, None


def _texts(args: Args, name: str) -> list[str]:
    return [] if args.get(name) is None else [str(v) for v in entries(args[name], name)]


def _duplicated(world: KitchenState, args: Args) -> KitchenState:
    wanted = args.get("numDuplicatesOfType")
    copies: list[KitchenObject] = []
    for entry in [] if wanted is None else entries(wanted, "numDuplicatesOfType"):
        if not isinstance(entry, dict) or "objectType" not in entry:
            raise ActionFailedError(
                "ArgumentException: numDuplicatesOfType needs objectType and count"
            )
        same = [
            t
            for t in world.things.values()
            if t.object_type == entry["objectType"] and t.can("pickupable") and not t.inert
        ]
        if not same:
            continue
        more = int(number(entry, "count", 1.0)) - len(same)
        copies += [_copy(same[0], k) for k in range(1, max(0, min(more, 50)) + 1)]
    return world.changed(*copies) if copies else world


def _spawned(
    world: KitchenState,
    context: Context,
    thing: KitchenObject,
    shut_out: set[str],
    in_view: bool,
    chance: random.Random,
) -> KitchenState:
    facts = context.room.facts.types.get(thing.object_type)
    allowed = facts.placeable_in if facts is not None else frozenset()
    places = [
        t
        for t in world.things.values()
        if t.can("receptacle")
        and t.object_type in allowed
        and t.object_type not in shut_out
        and t.object_id not in (thing.object_id, world.held)
        and not t.inert
        and not (in_view and t.object_type in CLOSED_BOXES and not t.is_open)
        and thing.object_id not in world.things.ancestors(t.object_id)
        and not (t.object_type in context.room.facts.accepts_only and _taken(world, t))
    ]
    chance.shuffle(places)
    lifted = world.changed(thing.turned_back().but(parents=()))
    for receptacle in places:
        rested = place(
            lifted, context.room, lifted.things[thing.object_id], receptacle, True, chance
        )
        if rested is None:
            continue
        rested = rested.but(parents=holders(world, rested, receptacle))
        return world.moved(thing, rested)
    return world


def _taken(world: KitchenState, receptacle: KitchenObject) -> bool:
    return bool(world.things.contents.get(receptacle.object_id))
