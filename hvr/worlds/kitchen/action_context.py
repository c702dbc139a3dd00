"""The context of an action: its failure, and the lookup of its arguments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import isfinite
from typing import Any

from hvr.values import Value
from hvr.worlds.geometry import Vec
from hvr.worlds.kitchen.state import THOR_5, KitchenObject, KitchenState, Profile
from hvr.worlds.kitchen.visibility import Room, is_visible, object_at

Args = Mapping[str, Any]
Result = tuple[KitchenState, Any]


class ActionFailedError(Exception):
    """An action failed; the world stays unchanged."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class BadRequestError(Exception):
    """AI2-THOR does not know the action or one of its arguments."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Context(Value):
    """The inputs of an action other than the state and its arguments.

    Args:
        placement_table: Whether PutObject respects AI2-THOR's placement table.
        seed: Seed of effects that are random in AI2-THOR.
    """

    room: Room
    placement_table: bool = True
    seed: int = 0
    profile: Profile = THOR_5


def forced(args: Args) -> bool:
    """Return the value of `forceAction`."""
    return bool(args.get("forceAction", False))


def target(
    world: KitchenState, context: Context, args: Args, name: str = "objectId"
) -> KitchenObject:
    """Return the object given by `objectId`, or by the image point `x`, `y`.

    Raises:
        ActionFailedError: The object does not exist, or is not visible and the action is not
            forced.
    """
    object_id = args.get(name)
    if object_id is None:
        point = (number(args, "x", -1.0), number(args, "y", -1.0))
        object_id = object_at(world, context.room, *point)
        if object_id is None:
            raise ActionFailedError(
                f"ArgumentException: no object is at ({point[0]:g}, {point[1]:g}) of the image"
            )
    # AI2-THOR checks existence before visibility, which decides the error message.
    return seen_or_forced(world, context, existing(world, object_id), forced(args))


def existing(world: KitchenState, object_id: Any) -> KitchenObject:
    """Return the object with this id."""
    thing: KitchenObject | None = (
        world.things.get(object_id) if isinstance(object_id, str) else None
    )
    if thing is None:
        raise ActionFailedError(
            f"ArgumentException: objectId: {object_id} is not the objectId on any object in "
            "the scene!"
        )
    return thing


def seen_or_forced(
    world: KitchenState, context: Context, thing: KitchenObject, force: bool
) -> KitchenObject:
    """Return the object if the action may use it."""
    if not force and not is_visible(world, context.room, thing.object_id):
        raise ActionFailedError(
            "NullReferenceException: Target object not found within the specified visibility."
        )
    return thing


def number(args: Args, name: str, default: float) -> float:
    """Return a numeric argument."""
    value = args.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise ActionFailedError(f"ArgumentException: {name} must be a number, not {value!r}")
    return float(value)


def vector(value: Any, what: str) -> Vec:
    """Return a point or rotation given as {x, y, z}."""
    try:
        point = float(value["x"]), float(value["y"]), float(value["z"])
    except (TypeError, KeyError, ValueError, IndexError):
        point = (math.nan, 0.0, 0.0)
    if not all(map(isfinite, point)):
        raise ActionFailedError(
            f"ArgumentException: {what} must be a dict with the numbers x, y and z"
        )
    return point


def entries(value: Any, what: str) -> list[Any]:
    """Return a list argument."""
    if not isinstance(value, (list, tuple)):
        raise ActionFailedError(f"ArgumentException: {what} must be a list")
    return list(value)
