"""AI2-THOR's actions, played by hvr's own rules: `ACTIONS` lists them with their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hvr.values import Value, cached_property
from hvr.worlds.kitchen import manipulation, navigation, scene_setup, state_changes
from hvr.worlds.kitchen.action_context import Args, Context, Result
from hvr.worlds.kitchen.state import THOR_5, KitchenState, Profile
from hvr.worlds.kitchen.state_changes import FALL_TIME, PUT_TIME, STEP_TIME

# Actions ------------------------------------------------------------------------------------------
# AI2-THOR's actions, played by rules of our own; `table.ACTIONS` lists them all.


# Table --------------------------------------------------------------------------------------------
# The closed table of actions: name, arguments, what carries it out.

Handler = Callable[[KitchenState, Context, Args], Result]


class ActionSpec(Value):
    """One action.

    Args:
        run: gives the new world and `actionReturn`, or raises ActionFailedError.
        required: arguments that must be given.
        optional: arguments that may be given.
        seconds: simulated time that it takes.
        open_ended: takes any other argument too.
    """

    run: Handler
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    seconds: float = STEP_TIME
    open_ended: bool = False

    @cached_property
    def allowed(self) -> frozenset[str]:
        """Names of all arguments."""
        return frozenset({*self.required, *self.optional}) | _ALWAYS


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
_SCREEN = ("x", "y")
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
        "Crouch": ActionSpec(navigation.crouch),
        "Stand": ActionSpec(navigation.stand),
        "Pass": ActionSpec(navigation.pass_time),
        "Done": ActionSpec(navigation.pass_time),
        "NoOp": ActionSpec(navigation.pass_time),
        "PickupObject": ActionSpec(manipulation.pickup, _OBJECT, (*_SCREEN, "manualInteract")),
        "PutObject": ActionSpec(
            manipulation.put, _OBJECT, (*_SCREEN, "placeStationary", "randomSeed"), PUT_TIME
        ),
        "DropHandObject": ActionSpec(manipulation.drop, (), ("autoSimulation",), FALL_TIME),
        "DropHeldObject": ActionSpec(manipulation.drop, (), ("autoSimulation",), FALL_TIME),
        "ThrowObject": ActionSpec(
            manipulation.throw, (), ("moveMagnitude", "autoSimulation"), FALL_TIME
        ),
        "OpenObject": ActionSpec(manipulation.open_object, _OBJECT, (*_SCREEN, "openness")),
        "CloseObject": ActionSpec(manipulation.close_object, _OBJECT, _SCREEN),
        "ToggleObjectOn": ActionSpec(manipulation.toggle_on, _OBJECT, _SCREEN),
        "ToggleObjectOff": ActionSpec(manipulation.toggle_off, _OBJECT, _SCREEN),
        "SliceObject": ActionSpec(state_changes.slice_object, _OBJECT, _SCREEN),
        "BreakObject": ActionSpec(state_changes.break_object, _OBJECT, _SCREEN),
        "CookObject": ActionSpec(state_changes.cook, _OBJECT, _SCREEN),
        "DirtyObject": ActionSpec(state_changes.dirty, _OBJECT, _SCREEN),
        "CleanObject": ActionSpec(state_changes.clean, _OBJECT, _SCREEN),
        "FillObjectWithLiquid": ActionSpec(state_changes.fill, _OBJECT, (*_SCREEN, "fillLiquid")),
        "EmptyLiquidFromObject": ActionSpec(state_changes.empty, _OBJECT, _SCREEN),
        "UseUpObject": ActionSpec(state_changes.use_up, _OBJECT, _SCREEN),
        "SetObjectPoses": ActionSpec(
            scene_setup.set_object_poses, ("objectPoses",), ("placeStationary",)
        ),
        "InitialRandomSpawn": ActionSpec(
            scene_setup.random_spawn,
            (),
            (
                "randomSeed",
                "forceVisible",
                "placeStationary",
                "numDuplicatesOfType",
                "excludedReceptacles",
                "excludedObjectIds",
                "numPlacementAttempts",
                "numRepeats",
                "minFreePerReceptacleType",
            ),
        ),
        "SetTemperatureDecayTime": ActionSpec(scene_setup.set_decay_time, ("decayTime",)),
        "EnableTemperatureDecay": ActionSpec(scene_setup.enable_decay),
        "DisableTemperatureDecay": ActionSpec(scene_setup.disable_decay),
        "Initialize": ActionSpec(scene_setup.initialize, open_ended=True),
    }
)


_PUT_BOTH = ActionSpec(
    manipulation.put_named,
    ("objectId", "receptacleObjectId"),
    ("placeStationary", "randomSeed"),
    PUT_TIME,
)


def find_action(name: str, args: Mapping[str, Any], profile: Profile = THOR_5) -> ActionSpec:
    """Return the action with this name, its arguments checked.

    Raises:
        BadRequestError: unknown action, unknown argument, or missing argument.
    """
    spec = ACTIONS.get(name)
    if spec is None:
        raise BadRequestError("InvalidAction", f"Invalid action: {name}")
    if profile.put_names_both and name == "PutObject":
        spec = _PUT_BOTH
    if not spec.open_ended and not spec.allowed.issuperset(args):
        unknown = sorted(set(args) - spec.allowed)
        known = sorted({*spec.required, *spec.optional, "forceAction"})
        raise BadRequestError(
            "InvalidArgument",
            f"action: {name} has an invalid argument: {','.join(unknown)}. "
            f"Expected arguments: {', '.join(known)}",
        )
    missing = [key for key in spec.required if args.get(key) is None]
    if missing:
        missing = _still_missing(missing, args, spec)
    if missing:
        raise BadRequestError(
            "MissingArguments",
            f"action: {name} is missing the following arguments: {','.join(missing)}",
        )
    return spec


def _still_missing(missing: list[str], args: Mapping[str, Any], spec: ActionSpec) -> list[str]:
    """Return the missing arguments that are not given in another form either.

    A position may be given as x, y and z, an object as a point of the screen.
    """
    if "position" in missing and all(args.get(axis) is not None for axis in "xyz"):
        return [key for key in missing if key != "position"]
    on_screen = "x" in spec.optional and all(args.get(axis) is not None for axis in "xy")
    if "objectId" in missing and on_screen:
        return [key for key in missing if key != "objectId"]
    return missing
