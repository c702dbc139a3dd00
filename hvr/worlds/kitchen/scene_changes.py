"""Changes that the robot cannot make: to settings, arrangements and single objects."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from hvr.worlds.kitchen.manipulation import set_openness, toggle
from hvr.worlds.kitchen.placement import (
    CLOSED_BOXES,
    Solid,
    fallen,
    free_spots,
    holder_of,
    holder_of_box,
    holders,
    landing,
    place,
)
from hvr.worlds.kitchen.state import KitchenObject, KitchenObjects, KitchenState, initialized
from hvr.worlds.kitchen.state_changes import (
    STEP_TIME,
    break_object,
    clean,
    cook,
    dirty,
    empty,
    fill,
    settle,
    slice_object,
    use_up,
)
from hvr.worlds.kitchen.visibility import (
    ActionFailedError,
    Args,
    BadRequestError,
    Context,
    Result,
    Room,
    closed_around,
    entries,
    existing,
    forced,
    number,
    vector,
)
from hvr.worlds.scenes import Vec

CAMERA_PLANES = MappingProxyType({"cameraNearPlane": 0.01, "cameraFarPlane": 20.0})
"""Camera distances in the result of `Initialize`, in metres."""


def initialize(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `Initialize`: set grid, reach, view and image size; the scene is unchanged."""
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
    return world.but(settings=replace(world.settings, decays=decays)), None


def set_object_poses(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `SetObjectPoses`, which duplicates objects named twice.

    Pickupable or moveable objects that are not named disappear. The receptacle of each object is
    determined from the boxes; nothing falls.
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

    The held object and `excludedObjectIds` stay. The placement table must allow the place; an
    object without a free place is not moved. The same `randomSeed` gives the same scene.
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


# Objects come and go ------------------------------------------------------------------------------


def remove(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `RemoveFromScene`; contents of a removed receptacle fall."""
    return _without(world, context, existing(world, args["objectId"])), None


def disable(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `DisableObject`: remove an object from the scene until `EnableObject`."""
    thing = existing(world, args["objectId"])
    after = _without(world, context, thing)
    return after.but(extras=replace(after.extras, disabled=(*after.extras.disabled, thing))), None


def enable(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `EnableObject`: bring a disabled object back to its place."""
    object_id = args["objectId"]
    disabled = {thing.object_id: thing for thing in world.extras.disabled}
    thing = disabled.pop(object_id, None) if isinstance(object_id, str) else None
    if thing is None:
        existing(world, object_id)
        return world, None
    parents = tuple(p for p in thing.parents if p in world.things)
    back = world.changed(thing.but(parents=parents))
    return back.but(extras=replace(world.extras, disabled=tuple(disabled.values()))), None


def _without(world: KitchenState, context: Context, thing: KitchenObject) -> KitchenState:
    if thing.spec.is_fixture and thing.object_type == "Floor":
        raise ActionFailedError("ArgumentException: the floor cannot be removed")
    inside = world.things.contents.get(thing.object_id, ())
    left = {i: t for i, t in world.things.items() if i != thing.object_id}
    held = None if world.held == thing.object_id else world.held
    after = world.but(things=KitchenObjects(_orphaned(left, thing.object_id)), held=held)
    for inner in (after.things[i] for i in inside):
        if inner.parents or inner.spec.is_fixture or inner.inert:
            continue
        x, _, z = inner.box.center
        onto = landing(after, context.room, x, z, inner.box.y1, inner.object_id)
        after = after.moved(inner, fallen(inner, onto, x, z))
    return after


def _orphaned(things: dict[str, KitchenObject], gone: str) -> dict[str, KitchenObject]:
    return {
        i: t.but(parents=tuple(p for p in t.parents if p != gone)) if gone in t.parents else t
        for i, t in things.items()
    }


# Places -------------------------------------------------------------------------------------------


def teleport_object(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `TeleportObject`: move an object's pivot to `position`; nothing falls."""
    thing = _movable(world, args)
    position = vector(args["position"], "position")
    return _settled(world, context, thing, posed(thing, position, args.get("rotation")), args), None


def place_at_point(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `PlaceObjectAtPoint`: put the bottom of an object on `position`."""
    thing = _movable(world, args)
    x, y, z = vector(args["position"], "position")
    turned = posed(thing, thing.position, args.get("rotation"))
    raised = turned.moved_to((x, y + turned.box.size[1] / 2, z))
    return _settled(world, context, thing, raised, args), None


def _movable(world: KitchenState, args: Args) -> KitchenObject:
    thing = existing(world, args["objectId"])
    if thing.inert or not (thing.can("pickupable") or thing.can("moveable")):
        raise ActionFailedError(f"{thing.object_id} is neither pickupable nor moveable.")
    return thing


def _settled(
    world: KitchenState, context: Context, old: KitchenObject, new: KitchenObject, args: Args
) -> KitchenState:
    inside = {old.object_id, *world.things.deep_contents(old.object_id)}
    if not forced(args):
        if not new.box.within(context.room.bounds, 0.1):
            raise ActionFailedError(f"{new.position} is out of scene bounds.")
        hit = next(
            (
                i
                for i, box in world.things.bodies.items()
                if i not in inside and i not in _around(world, new) and box.overlaps(new.box, 0.005)
            ),
            None,
        )
        if hit is not None:
            raise ActionFailedError(f"{old.spec.name} would collide with {hit}.")
    held = None if world.held == old.object_id else world.held
    placed = new.but(parents=holder_of_box(world, new, ()))
    return world.moved(old, placed).but(held=held)


def _around(world: KitchenState, thing: KitchenObject) -> set[str]:
    outer = holder_of_box(world, thing, ())
    return {*outer, *(a for o in outer for a in world.things.ancestors(o))}


def spawn_coordinates(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `GetSpawnCoordinatesAboveReceptacle`: return points on which objects can stand.

    If `anywhere` is false, only points within the agent's reach are returned, and no points in a
    closed receptacle.
    """
    receptacle = existing(world, args["objectId"])
    if not receptacle.can("receptacle"):
        raise ActionFailedError("This target object is NOT a receptacle!")
    anywhere = args.get("anywhere", True) is not False
    closed = receptacle.can("openable") and not receptacle.is_open
    if not anywhere and (closed or closed_around(world.things, receptacle.object_id) is not None):
        return world, []
    reach = None if anywhere else world.settings.visibility_distance
    points = free_spots(world, context.room, receptacle, reach)
    return world, [{"x": round(x, 5), "y": round(y, 5), "z": round(z, 5)} for x, y, z in points]


# States -------------------------------------------------------------------------------------------
# Each state is set by the action that a robot would use, so the same conditions hold.

_Setter = Callable[[KitchenState, Context, Args, Any], Result]
_SETTERS: Mapping[str, tuple[str, _Setter]] = MappingProxyType(
    {
        "toggleable": ("isToggled", lambda w, c, a, on: toggle(w, c, a, on=bool(on))),
        "openable": (
            "isOpen",
            lambda w, c, a, on: set_openness(w, c, a, default=1.0 if on else 0.0),
        ),
        "breakable": ("isBroken", lambda w, c, a, on: break_object(w, c, a) if on else (w, None)),
        "sliceable": ("isSliced", lambda w, c, a, on: slice_object(w, c, a) if on else (w, None)),
        "cookable": ("isCooked", lambda w, c, a, on: cook(w, c, a) if on else (w, None)),
        "canBeUsedUp": ("isUsedUp", lambda w, c, a, on: use_up(w, c, a) if on else (w, None)),
        "dirtyable": ("isDirty", lambda w, c, a, on: (dirty if on else clean)(w, c, a)),
        "canFillWithLiquid": (
            "isFilledWithLiquid",
            lambda w, c, a, on: fill(w, c, {"fillLiquid": "water", **a}) if on else empty(w, c, a),
        ),
    }
)


def set_object_states(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `SetObjectStates`: set one state of all objects of a type, or of all types.

    Objects that are already in the state, or cannot be, stay unchanged.
    """
    wanted = args["SetObjectStates"]
    kind = wanted.get("stateChange") if isinstance(wanted, Mapping) else None
    if not isinstance(kind, str) or kind not in _SETTERS:
        raise ActionFailedError(
            f"ArgumentException: SetObjectStates needs stateChange, one of {', '.join(_SETTERS)}"
        )
    field, _ = _SETTERS[kind]
    if not isinstance(wanted.get(field), bool):
        raise ActionFailedError(f"ArgumentException: stateChange {kind!r} needs {field}, a bool")
    object_type = wanted.get("objectType")
    extra = {name: wanted[name] for name in ("fillLiquid", "openness") if name in wanted}
    for thing in list(world.things.values()):
        if object_type in (None, "", thing.object_type):
            world = _set(world, context, thing, kind, wanted[field], extra)
    return world, None


def _set(
    world: KitchenState,
    context: Context,
    thing: KitchenObject,
    kind: str,
    on: bool,
    extra: Mapping[str, Any],
) -> KitchenState:
    if thing.inert or not thing.can(kind):
        return world
    try:
        args = {"objectId": thing.object_id, "forceAction": True, **extra}
        return _SETTERS[kind][1](world, context, args, on)[0]
    except ActionFailedError:
        return world


# Cameras and time ---------------------------------------------------------------------------------


# Third-party cameras ------------------------------------------------------------------------------

CAMERA_ARGUMENTS = (
    "position",
    "rotation",
    "fieldOfView",
    "skyboxColor",
    "orthographic",
    "orthographicSize",
    "parent",
    "agentPositionRelativeCoordinates",
    "antiAliasing",
)


def add(world: KitchenState, _context: Context, args: Args) -> Result:
    cameras = world.extras.cameras
    first = {
        "thirdPartyCameraId": len(cameras),
        "position": {"x": 0.0, "y": 0.0, "z": 0.0},
        "rotation": {"x": 0.0, "y": 0.0, "z": 0.0},
        "fieldOfView": 90.0,
    }
    camera = _changed(first, "AddThirdPartyCamera", args)
    return _with_cameras(world, (*cameras, camera)), None


def update(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `UpdateThirdPartyCamera`; omitted arguments and coordinates keep their values."""
    cameras = list(world.extras.cameras)
    which = args["thirdPartyCameraId"]
    if isinstance(which, bool) or not isinstance(which, int) or not 0 <= which < len(cameras):
        raise ActionFailedError(
            f"no third-party camera {which!r}: there are {len(cameras)}, numbered from 0"
        )
    cameras[which] = _changed(cameras[which], "UpdateThirdPartyCamera", args)
    return _with_cameras(world, tuple(cameras)), None


def _with_cameras(world: KitchenState, cameras: tuple[Mapping[str, Any], ...]) -> KitchenState:
    return world.but(extras=replace(world.extras, cameras=cameras))


def _changed(camera: Mapping[str, Any], action: str, args: Args) -> dict[str, Any]:
    size = args.get("orthographicSize")
    if size is not None and (isinstance(size, bool) or not isinstance(size, (int, float))):
        raise BadRequestError(
            "InvalidArgument",
            f"action: {action} has an invalid argument: orthographicSize: expected a number",
        )
    changed = dict(camera)
    for name in ("position", "rotation"):
        given = args.get(name)
        if given is None:
            continue
        if not isinstance(given, Mapping) or not given.keys() <= {"x", "y", "z"}:
            raise ActionFailedError(
                f"ArgumentException: {name} must be a dict with the numbers x, y and z"
            )
        old = changed[name]
        changed[name] = {axis: number(given, axis, old[axis]) for axis in ("x", "y", "z")}
    view = number(args, "fieldOfView", changed["fieldOfView"])
    if not 0.0 < view < 180.0:
        raise ActionFailedError("fieldOfView must be in (0, 180)")
    changed["fieldOfView"] = view
    return changed


# Map view -----------------------------------------------------------------------------------------


def map_view_camera(room: Room) -> dict[str, Any]:
    """Return the properties of a camera that sees the whole room from above."""
    b = room.bounds
    x, _, z = b.center
    return {
        "position": {"x": round(x, 5), "y": round(b.y1 + 1.0, 5), "z": round(z, 5)},
        "rotation": {"x": 90.0, "y": 0.0, "z": 0.0},
        "orthographicSize": round(max(b.x1 - b.x0, b.z1 - b.z0) / 2, 5),
        "orthographic": True,
    }


def map_view_properties(world: KitchenState, context: Context, _args: Args) -> Result:
    return world, map_view_camera(context.room)


def toggle_map_view(world: KitchenState, _context: Context, _args: Args) -> Result:
    """Execute `ToggleMapView`, which changes only the camera in the metadata."""
    return world.but(extras=replace(world.extras, map_view=not world.extras.map_view)), None


# Time ---------------------------------------------------------------------------------------------


def pause(world: KitchenState, _context: Context, _args: Args, *, paused: bool) -> Result:
    return world.but(extras=replace(world.extras, paused=paused)), None


def advance(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `AdvancePhysicsStep`: let time pass while simulated time is paused."""
    if not world.extras.paused:
        raise ActionFailedError(
            "AdvancePhysicsStep can only be called if Physics Autosimulation is currently paused! "
            "Either use the PausePhysicsAutoSim() action first, or if you already used it, "
            "Physics Autosimulation has been turned back on already."
        )
    step = number(args, "timeStep", STEP_TIME)
    seconds = number(args, "simSeconds", step)
    if not 0.0 < step <= 0.05 or seconds < 0.0:
        raise ActionFailedError("timeStep must be in (0, 0.05], and simSeconds must be >= 0")
    return settle(world, context.room, seconds), None
