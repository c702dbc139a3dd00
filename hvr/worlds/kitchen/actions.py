"""AI2-THOR's actions, simulated by hvr: `ACTIONS` lists them with their arguments."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from hvr.values import Value, cached_property
from hvr.worlds.geometry import Vec
from hvr.worlds.kitchen import manipulation, navigation, state_changes
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
from hvr.worlds.kitchen.state import (
    THOR_5,
    KitchenObject,
    KitchenObjects,
    KitchenState,
    Profile,
    initialized,
)
from hvr.worlds.kitchen.state_changes import FALL_TIME, PUT_TIME, STEP_TIME

# Scene setup --------------------------------------------------------------------------------------

CAMERA_PLANES = MappingProxyType({"cameraNearPlane": 0.01, "cameraFarPlane": 20.0})
"""The result of `Initialize`, in metres."""


def initialize(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `Initialize`: set grid, reach and image size; the scene stays unchanged."""
    try:
        settings = initialized(world.settings, args)
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
        moved = _posed(thing, vector(pose.get("position"), "position"), pose.get("rotation"))
        count[thing.spec.name] += 1
        if count[thing.spec.name] > 1:
            moved = _copy(moved, count[thing.spec.name] - 1)
        placed.append(moved)
    return _arranged(world, placed), None


def _posed(thing: KitchenObject, position: Vec, rotation: Any) -> KitchenObject:
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


# Action table -------------------------------------------------------------------------------------

Handler = Callable[[KitchenState, Context, Args], Result]


class ActionSpec(Value):
    """One action.

    Args:
        run: Returns the new state and `actionReturn`, or raises ActionFailedError.
        seconds: Simulated duration.
        open_ended: Whether unknown arguments are ignored.
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
    """AI2-THOR does not know the action or one of its arguments."""

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
        "MoveAhead": ActionSpec(partial(navigation.move, turn=0.0), (), _MOVE),
        "MoveBack": ActionSpec(partial(navigation.move, turn=180.0), (), _MOVE),
        "MoveLeft": ActionSpec(partial(navigation.move, turn=270.0), (), _MOVE),
        "MoveRight": ActionSpec(partial(navigation.move, turn=90.0), (), _MOVE),
        "RotateLeft": ActionSpec(partial(navigation.rotate, sign=-1), (), ("degrees",)),
        "RotateRight": ActionSpec(partial(navigation.rotate, sign=1), (), ("degrees",)),
        "LookUp": ActionSpec(partial(navigation.look, sign=-1), (), ("degrees",)),
        "LookDown": ActionSpec(partial(navigation.look, sign=1), (), ("degrees",)),
        "Teleport": ActionSpec(navigation.teleport, (), _POSE),
        "TeleportFull": ActionSpec(
            navigation.teleport, ("position", "rotation", "horizon", "standing"), _POSE
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
        "OpenObject": ActionSpec(manipulation.set_openness, _OBJECT, (*_SCREEN, "openness")),
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
        "SetObjectPoses": ActionSpec(set_object_poses, ("objectPoses",), ("placeStationary",)),
        "InitialRandomSpawn": ActionSpec(
            random_spawn,
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
        "SetTemperatureDecayTime": ActionSpec(set_decay_time, ("decayTime",)),
        "EnableTemperatureDecay": ActionSpec(partial(set_decay, decays=True)),
        "DisableTemperatureDecay": ActionSpec(partial(set_decay, decays=False)),
        "Initialize": ActionSpec(initialize, open_ended=True),
    }
)


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
    """Return the missing arguments that are not given in another form.

    A position may be given as x, y and z, an object as an image point.
    """
    if "position" in missing and all(args.get(axis) is not None for axis in "xyz"):
        return [key for key in missing if key != "position"]
    on_screen = "x" in spec.optional and all(args.get(axis) is not None for axis in "xy")
    if "objectId" in missing and on_screen:
        return [key for key in missing if key != "objectId"]
    return missing
