"""The closed table of actions: name, arguments, what carries it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from hvr.envs.kitchen.actions import handling, navigation, states, switching
from hvr.envs.kitchen.actions.common import Args, Context, Result
from hvr.envs.kitchen.world import World

Handler = Callable[[World, Context, Args], Result]


@dataclass(frozen=True)
class ActionSpec:
    """One action.

    Args:
        run: gives the new world and `actionReturn`, or raises ActionFailedError.
        required: arguments that must be given.
        optional: arguments that may be given.
    """

    run: Handler
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


class BadRequestError(Exception):
    """The action or its arguments are not AI2-THOR's.

    Args:
        code: AI2-THOR's `errorCode`.
        message: its `errorMessage`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


_ALWAYS = frozenset({"action", "forceAction", "renderImage", "agentId", "sequenceId"})
_OBJECT = ("objectId",)
_MOVE = ("moveMagnitude", "snapToGrid")
_POSE = ("position", "x", "y", "z", "rotation", "horizon", "standing")

ACTIONS: Mapping[str, ActionSpec] = MappingProxyType(
    {
        "MoveAhead": ActionSpec(navigation.move_ahead, (), _MOVE),
        "MoveBack": ActionSpec(navigation.move_back, (), _MOVE),
        "MoveLeft": ActionSpec(navigation.move_left, (), _MOVE),
        "MoveRight": ActionSpec(navigation.move_right, (), _MOVE),
        "RotateLeft": ActionSpec(navigation.rotate_left, (), ("degrees",)),
        "RotateRight": ActionSpec(navigation.rotate_right, (), ("degrees",)),
        "LookUp": ActionSpec(navigation.look_up, (), ("degrees",)),
        "LookDown": ActionSpec(navigation.look_down, (), ("degrees",)),
        "Teleport": ActionSpec(navigation.teleport, (), _POSE),
        "TeleportFull": ActionSpec(
            navigation.teleport_full, ("position", "rotation", "horizon", "standing"), _POSE
        ),
        "GetReachablePositions": ActionSpec(
            navigation.reachable_positions,
            (),
            ("gridSize", "maxStepCount", "directionsRelativeAgent"),
        ),
        "GetInteractablePoses": ActionSpec(
            navigation.interactable_poses,
            _OBJECT,
            ("positions", "rotations", "horizons", "standings", "maxDistance", "maxPoses"),
        ),
        "Pass": ActionSpec(navigation.pass_time),
        "Done": ActionSpec(navigation.pass_time),
        "NoOp": ActionSpec(navigation.pass_time),
        "PickupObject": ActionSpec(handling.pickup, _OBJECT, ("manualInteract",)),
        "PutObject": ActionSpec(handling.put, _OBJECT, ("placeStationary", "randomSeed")),
        "DropHandObject": ActionSpec(handling.drop, (), ("autoSimulation",)),
        "DropHeldObject": ActionSpec(handling.drop, (), ("autoSimulation",)),
        "ThrowObject": ActionSpec(handling.throw, (), ("moveMagnitude", "autoSimulation")),
        "OpenObject": ActionSpec(switching.open_object, _OBJECT, ("openness",)),
        "CloseObject": ActionSpec(switching.close_object, _OBJECT),
        "ToggleObjectOn": ActionSpec(switching.toggle_on, _OBJECT),
        "ToggleObjectOff": ActionSpec(switching.toggle_off, _OBJECT),
        "SliceObject": ActionSpec(states.slice_object, _OBJECT),
        "BreakObject": ActionSpec(states.break_object, _OBJECT),
        "CookObject": ActionSpec(states.cook, _OBJECT),
        "DirtyObject": ActionSpec(states.dirty, _OBJECT),
        "CleanObject": ActionSpec(states.clean, _OBJECT),
        "FillObjectWithLiquid": ActionSpec(states.fill, _OBJECT, ("fillLiquid",)),
        "EmptyLiquidFromObject": ActionSpec(states.empty, _OBJECT),
        "UseUpObject": ActionSpec(states.use_up, _OBJECT),
    }
)


def find_action(name: str, args: Mapping[str, Any]) -> ActionSpec:
    """The action with this name, its arguments checked.

    Raises:
        BadRequestError: unknown action, unknown argument, or missing argument.
    """
    spec = ACTIONS.get(name)
    if spec is None:
        raise BadRequestError("InvalidAction", f"Invalid action: {name}")
    allowed = {*spec.required, *spec.optional}
    unknown = [key for key in args if key not in allowed and key not in _ALWAYS]
    if unknown:
        raise BadRequestError(
            "InvalidArgument",
            f"action: {name} has an invalid argument: {','.join(sorted(unknown))}. "
            f"Expected arguments: {', '.join(sorted(allowed | {'forceAction'}))}",
        )
    missing = [key for key in spec.required if args.get(key) is None]
    if "position" in missing and all(args.get(axis) is not None for axis in "xyz"):
        missing.remove("position")
    if missing:
        raise BadRequestError(
            "MissingArguments",
            f"action: {name} is missing the following arguments: {','.join(missing)}",
        )
    return spec
