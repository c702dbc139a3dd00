"""Changes of single objects that no robot makes: removing, moving and setting them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from hvr.worlds.kitchen.action_context import (
    ActionFailedError,
    Args,
    Context,
    Result,
    existing,
    forced,
    vector,
)
from hvr.worlds.kitchen.manipulation import set_openness, toggle
from hvr.worlds.kitchen.placement import fallen, free_spots, holder_of_box, landing
from hvr.worlds.kitchen.scene_setup import posed
from hvr.worlds.kitchen.state import KitchenObject, KitchenObjects, KitchenState
from hvr.worlds.kitchen.state_changes import (
    break_object,
    clean,
    cook,
    dirty,
    empty,
    fill,
    slice_object,
    use_up,
)
from hvr.worlds.kitchen.visibility import closed_around

# Objects come and go ------------------------------------------------------------------------------


def remove(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `RemoveFromScene`; contents of a removed receptacle fall."""
    return _without(world, context, existing(world, args["objectId"])), None


def disable(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `DisableObject`: take an object out of the scene until `EnableObject`."""
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

    Without `anywhere`, they are within the agent's reach.
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

    An object that is already in the state, or cannot reach it, stays unchanged.
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
