"""Opening, closing, switching on and off."""

from __future__ import annotations

import math

from hvr.worlds.kitchen.actions.common import (
    ActionFailedError,
    Args,
    Context,
    Result,
    number,
    target,
)
from hvr.worlds.kitchen.world import KitchenState, Thing

DRAWER_TRAVEL = 0.815
"""Share of its depth by which an open drawer comes out."""


def open_object(world: KitchenState, context: Context, args: Args) -> Result:
    """OpenObject, to `openness` (1 unless given)."""
    return _set_openness(world, context, args, number(args, "openness", 1.0))


def close_object(world: KitchenState, context: Context, args: Args) -> Result:
    """CloseObject; closing what is closed is no error."""
    return _set_openness(world, context, args, 0.0)


def _set_openness(world: KitchenState, context: Context, args: Args, openness: float) -> Result:
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


def _drawer_shift(thing: Thing, openness: float) -> tuple[float, float]:
    """Return how far a drawer moves along its own forward direction, metres."""
    yaw = math.radians(thing.rotation[1])
    ahead = (round(math.sin(yaw)), round(math.cos(yaw)))
    w, _, d = thing.spec.box.size
    travel = DRAWER_TRAVEL * (w if ahead[0] else d) * openness
    return ahead[0] * travel, ahead[1] * travel


def toggle_on(world: KitchenState, context: Context, args: Args) -> Result:
    """ToggleObjectOn."""
    return _toggle(world, context, args, True)


def toggle_off(world: KitchenState, context: Context, args: Args) -> Result:
    """ToggleObjectOff."""
    return _toggle(world, context, args, False)


def _toggle(world: KitchenState, context: Context, args: Args, on: bool) -> Result:
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
