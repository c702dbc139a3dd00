"""What all actions share: the context, the failure, the look-up of a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hvr.envs.kitchen.room import Room
from hvr.envs.kitchen.visibility import is_visible
from hvr.envs.kitchen.world import Thing, World

Args = Mapping[str, Any]
Result = tuple[World, Any]


class ActionFailedError(Exception):
    """The action cannot be done; the world stays as it was.

    Args:
        message: AI2-THOR's `errorMessage`.
        code: `errorCode`, usually None.
    """

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True)
class Context:
    """What an action may look at besides the world.

    Args:
        room: the unchanging part of the scene.
        placement_table: PutObject asks AI2-THOR's placement table.
        seed: for what is random in the real thing.
    """

    room: Room
    placement_table: bool = True
    seed: int = 0


def forced(args: Args) -> bool:
    """The value of `forceAction`."""
    return bool(args.get("forceAction", False))


def target(world: World, context: Context, args: Args) -> Thing:
    """The object that `objectId` names, in AI2-THOR's order of checks.

    Raises:
        ActionFailedError: it does not exist, or is not visible and nothing forces it.
    """
    object_id = args["objectId"]
    thing = world.things.get(object_id)
    if thing is None:
        raise ActionFailedError(
            f"ArgumentException: objectId: {object_id} is not the objectId on any object in "
            "the scene!"
        )
    if not forced(args) and not is_visible(world, context.room, object_id):
        raise ActionFailedError(
            "NullReferenceException: Target object not found within the specified visibility."
        )
    return thing


def number(args: Args, name: str, default: float) -> float:
    """A numeric argument.

    Raises:
        ActionFailedError: it is not a number.
    """
    value = args.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ActionFailedError(f"ArgumentException: {name} must be a number, not {value!r}")
    return float(value)
