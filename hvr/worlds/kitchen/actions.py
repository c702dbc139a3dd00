"""AI2-THOR's actions, simulated by hvr: `ACTIONS` lists them with their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from hvr.values import Value, cached_property
from hvr.worlds.kitchen import (
    cameras,
    hand,
    manipulation,
    navigation,
    pushing,
    scene_changes,
    scene_setup,
    state_changes,
)
from hvr.worlds.kitchen.action_context import Args, BadRequestError, Context, Result
from hvr.worlds.kitchen.state import THOR_5, KitchenState, Profile
from hvr.worlds.kitchen.state_changes import FALL_TIME, PUT_TIME, STEP_TIME

Handler = Callable[[KitchenState, Context, Args], Result]


class ActionSpec(Value):
    """One action.

    Args:
        run: Returns the new state and `actionReturn`, or raises ActionFailedError.
        seconds: Simulated duration.
        open_ended: Whether unknown arguments are ignored.
        asks: Whether it only returns something and changes nothing.
    """

    run: Handler
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    seconds: float = STEP_TIME
    open_ended: bool = False
    asks: bool = False

    @cached_property
    def allowed(self) -> frozenset[str]:
        """Names of all arguments."""
        return frozenset({*self.required, *self.optional}) | _ALWAYS


_ALWAYS = frozenset({"action", "forceAction", "renderImage", "agentId", "sequenceId"})
_OBJECT = ("objectId",)
_SCREEN = ("x", "y")
_MOVE = ("moveMagnitude", "snapToGrid")
_POSES = ("positions", "rotations", "horizons", "standings", "maxDistance", "maxPoses")
_WAYS = MappingProxyType(
    {
        "Ahead": (0.0, 0.0, 1.0),
        "Back": (0.0, 0.0, -1.0),
        "Left": (-1.0, 0.0, 0.0),
        "Right": (1.0, 0.0, 0.0),
        "Up": (0.0, 1.0, 0.0),
        "Down": (0.0, -1.0, 0.0),
    }
)
_POSE = ("position", "x", "y", "z", "rotation", "horizon", "standing")

ACTIONS: Mapping[str, ActionSpec] = MappingProxyType(
    {
        "MoveAhead": ActionSpec(partial(navigation.move, turn=0.0), (), _MOVE),
        "MoveBack": ActionSpec(partial(navigation.move, turn=180.0), (), _MOVE),
        "MoveLeft": ActionSpec(partial(navigation.move, turn=270.0), (), _MOVE),
        "MoveRight": ActionSpec(partial(navigation.move, turn=90.0), (), _MOVE),
        "RotateLeft": ActionSpec(partial(navigation.rotate, sign=-1), (), ("degrees",)),
        "RotateRight": ActionSpec(partial(navigation.rotate, sign=1), (), ("degrees",)),
        "LookUp": ActionSpec(partial(navigation.look, sign=-1), (), ("degrees",)),
        "LookDown": ActionSpec(partial(navigation.look, sign=1), (), ("degrees",)),
        "RotateLook": ActionSpec(navigation.rotate_look, (), ("rotation", "horizon")),
        "Teleport": ActionSpec(navigation.teleport, (), _POSE),
        "TeleportFull": ActionSpec(
            navigation.teleport, ("position", "rotation", "horizon", "standing"), _POSE
        ),
        "GetReachablePositions": ActionSpec(
            navigation.reachable_positions,
            (),
            ("gridSize", "maxStepCount", "directionsRelativeAgent"),
            asks=True,
        ),
        "GetInteractablePoses": ActionSpec(
            navigation.interactable_poses, _OBJECT, _POSES, asks=True
        ),
        "PositionsFromWhichItemIsInteractable": ActionSpec(
            navigation.positions_of_interaction, _OBJECT, ("horizon", *_POSES), asks=True
        ),
        "GetShortestPath": ActionSpec(
            navigation.shortest_path,
            (),
            ("objectId", "objectType", "position", "allowedError"),
            asks=True,
        ),
        "GetShortestPathToPoint": ActionSpec(
            navigation.shortest_path, ("target",), ("position", "allowedError"), asks=True
        ),
        "GetObjectInFrame": ActionSpec(
            navigation.object_in_frame, _SCREEN, ("checkVisible",), asks=True
        ),
        "Crouch": ActionSpec(partial(navigation.set_standing, standing=False)),
        "Stand": ActionSpec(partial(navigation.set_standing, standing=True)),
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
        "MoveHeldObject": ActionSpec(hand.move, (), ("ahead", "right", "up", "forceVisible")),
        **{
            f"MoveHeldObject{way}": ActionSpec(
                partial(hand.move_along, axis=axis), ("moveMagnitude",), ("forceVisible",)
            )
            for way, axis in _WAYS.items()
        },
        "RotateHeldObject": ActionSpec(hand.rotate, (), ("pitch", "yaw", "roll", "rotation")),
        "PushObject": ActionSpec(pushing.push, _OBJECT, (*_SCREEN, "moveMagnitude")),
        "PullObject": ActionSpec(
            partial(pushing.push, turn=180.0), _OBJECT, (*_SCREEN, "moveMagnitude")
        ),
        "DirectionalPush": ActionSpec(
            pushing.push, _OBJECT, (*_SCREEN, "moveMagnitude", "pushAngle")
        ),
        "OpenObject": ActionSpec(
            manipulation.set_openness, _OBJECT, (*_SCREEN, "openness", "moveMagnitude")
        ),
        "CloseObject": ActionSpec(
            partial(manipulation.set_openness, default=0.0), _OBJECT, _SCREEN
        ),
        "ToggleObjectOn": ActionSpec(partial(manipulation.toggle, on=True), _OBJECT, _SCREEN),
        "ToggleObjectOff": ActionSpec(partial(manipulation.toggle, on=False), _OBJECT, _SCREEN),
        "SliceObject": ActionSpec(state_changes.slice_object, _OBJECT, _SCREEN),
        "BreakObject": ActionSpec(state_changes.break_object, _OBJECT, _SCREEN),
        "CookObject": ActionSpec(state_changes.cook, _OBJECT, _SCREEN),
        "DirtyObject": ActionSpec(state_changes.dirty, _OBJECT, _SCREEN),
        "CleanObject": ActionSpec(state_changes.clean, _OBJECT, _SCREEN),
        "FillObjectWithLiquid": ActionSpec(state_changes.fill, _OBJECT, (*_SCREEN, "fillLiquid")),
        "EmptyLiquidFromObject": ActionSpec(state_changes.empty, _OBJECT, _SCREEN),
        "UseUpObject": ActionSpec(state_changes.use_up, _OBJECT, _SCREEN),
        "RemoveFromScene": ActionSpec(scene_changes.remove, _OBJECT),
        "DisableObject": ActionSpec(scene_changes.disable, _OBJECT),
        "EnableObject": ActionSpec(scene_changes.enable, _OBJECT),
        "TeleportObject": ActionSpec(
            scene_changes.teleport_object,
            ("objectId", "position"),
            ("rotation", "forceKinematic", "allowTeleportOutOfHand", "makeUnbreakable"),
        ),
        "PlaceObjectAtPoint": ActionSpec(
            scene_changes.place_at_point,
            ("objectId", "position"),
            ("rotation", "forceKinematic", "allowTeleportOutOfHand"),
        ),
        "GetSpawnCoordinatesAboveReceptacle": ActionSpec(
            scene_changes.spawn_coordinates, _OBJECT, ("anywhere",), asks=True
        ),
        "SetObjectStates": ActionSpec(scene_changes.set_object_states, ("SetObjectStates",)),
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
        "EnableTemperatureDecay": ActionSpec(partial(scene_setup.set_decay, decays=True)),
        "DisableTemperatureDecay": ActionSpec(partial(scene_setup.set_decay, decays=False)),
        "PausePhysicsAutoSim": ActionSpec(
            partial(cameras.pause, paused=True), (), ("agentManagerOnly",)
        ),
        "UnpausePhysicsAutoSim": ActionSpec(partial(cameras.pause, paused=False)),
        "AdvancePhysicsStep": ActionSpec(
            cameras.advance, (), ("timeStep", "simSeconds", "allowAutoSimulation")
        ),
        "GetMapViewCameraProperties": ActionSpec(cameras.map_view_properties, asks=True),
        "ToggleMapView": ActionSpec(cameras.toggle_map_view),
        "AddThirdPartyCamera": ActionSpec(
            cameras.add, ("position", "rotation"), cameras.CAMERA_ARGUMENTS
        ),
        "UpdateThirdPartyCamera": ActionSpec(
            cameras.update, ("thirdPartyCameraId",), cameras.CAMERA_ARGUMENTS
        ),
        "Initialize": ActionSpec(scene_setup.initialize, open_ended=True),
    }
)


_TEXTURES = "has no textures, colours or lamps to change"
_SHAPES = "knows only the boxes of objects, no shapes"
_PHYSICS = "has no physics engine: nothing is kinematic, and no force acts on parts of objects"
_STRAIGHT = "moves the hand by MoveHeldObject and RotateHeldObject only"
_REBUILDS = "plays only the packaged scenes and recorded ones"

UNSUPPORTED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "RandomizeMaterials",
                "ResetMaterials",
                "RandomizeColors",
                "ResetColors",
                "RandomizeLighting",
                "ChangeColorOfMaterials",
                "SetSkybox",
            ),
            _TEXTURES,
        ),
        **dict.fromkeys(
            (
                "GetCoordinateFromRaycast",
                "PerformRaycast",
                "Get2DSemanticHull",
                "Get2DSemanticHulls",
                "GetVisibleObjects",
            ),
            _SHAPES,
        ),
        **dict.fromkeys(
            (
                "TouchThenApplyForce",
                "MakeAllObjectsMoveable",
                "MakeAllObjectsStationary",
                "MakeAllObjectsUnbreakable",
                "MakeObjectBreakable",
                "MakeObjectsStaticKinematicMassThreshold",
                "SetMassProperties",
                "StackBooks",
            ),
            _PHYSICS,
        ),
        **dict.fromkeys(
            ("MoveHandDelta", "MoveHandMagnitude", "MoveHandToXYZ", "RotateHand"), _STRAIGHT
        ),
        **dict.fromkeys(
            ("CreateHouse", "CreateObject", "CreateObjectAtLocation", "SpawnAsset"), _REBUILDS
        ),
        "RandomToggleStateOfAllObjects": "sets states by SetObjectStates only",
        "RandomToggleSpecificState": "sets states by SetObjectStates only",
    }
)
"""AI2-THOR's actions that the kitchen refuses, with the reason."""


_PUT_BOTH = ActionSpec(
    manipulation.put_named,
    ("objectId", "receptacleObjectId"),
    ("placeStationary", "randomSeed"),
    PUT_TIME,
)


def find_action(name: str, args: Mapping[str, Any], profile: Profile = THOR_5) -> ActionSpec:
    """Return the action with this name after checking its arguments."""
    spec = ACTIONS.get(name)
    if spec is None:
        why = f" (hvr's kitchen {UNSUPPORTED[name]})" if name in UNSUPPORTED else ""
        raise BadRequestError("InvalidAction", f"Invalid action: {name}{why}")
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
    # A position may be given as x, y and z, an object as an image point.
    if "position" in missing and all(args.get(axis) is not None for axis in "xyz"):
        return [key for key in missing if key != "position"]
    on_screen = "x" in spec.optional and all(args.get(axis) is not None for axis in "xy")
    if "objectId" in missing and on_screen:
        return [key for key in missing if key != "objectId"]
    return missing


QUERIES = frozenset(name for name, spec in ACTIONS.items() if spec.asks)
"""Actions that change nothing but return something."""
