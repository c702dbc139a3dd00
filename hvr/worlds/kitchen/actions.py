"""AI2-THOR's actions, listed with their arguments in `ACTIONS`; navigation and its queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from hvr.values import Value, cached_property
from hvr.worlds.kitchen import manipulation, scene_changes, state_changes
from hvr.worlds.kitchen.state import THOR_5, AgentPose, KitchenObject, KitchenState, Profile
from hvr.worlds.kitchen.state_changes import FALL_TIME, PUT_TIME, STEP_TIME
from hvr.worlds.kitchen.visibility import (
    GRID,
    HORIZONS,
    ActionFailedError,
    Args,
    BadRequestError,
    Context,
    Point,
    PoseQuery,
    Result,
    Room,
    entries,
    existing,
    forced,
    number,
    object_at,
    poses,
    vector,
)
from hvr.worlds.scenes import GridPoint, Vec, grid_distances

_FARTHEST = 50.0
"""Maximum length of a room in metres, which limits the collision checks of a long move."""

HORIZON_UP, HORIZON_DOWN = -30.0, 60.0
"""Limits of the horizon in degrees."""


def move(world: KitchenState, context: Context, args: Args, *, turn: float) -> Result:
    """Execute a move such as `MoveAhead`; `turn` is its direction in degrees from ahead."""
    settings = world.settings
    magnitude = number(args, "moveMagnitude", settings.grid_size)
    if magnitude <= 0.0:
        raise ActionFailedError("ArgumentOutOfRangeException: moveMagnitude must be > 0")
    agent, room = world.agent, context.room
    direction = math.radians(agent.yaw + turn)
    dx, dz = magnitude * math.sin(direction), magnitude * math.cos(direction)
    x, y, z = agent.position
    if settings.snap_to_grid if args.get("snapToGrid") is None else bool(args["snapToGrid"]):
        end = room.snap(x + dx, z + dz, settings.grid_size)
    else:
        end = (round(x + dx, 5), round(z + dz, 5))
    if not forced(args) and end != (x, z):
        # Check every grid step on the way, so that a long move cannot jump over furniture.
        parts = max(1, math.ceil(min(magnitude, _FARTHEST) / GRID - 1e-9))
        shares = [part / parts for part in range(1, parts)]
        for px, pz in [*((x + share * dx, z + share * dz) for share in shares), end]:
            if not room.stands(px, pz):
                raise ActionFailedError(
                    f"{_blocker(world, px, pz)} is blocking Agent 0 from moving by "
                    f"({dx:.4f}, 0.0000, {dz:.4f})."
                )
    moved = AgentPose((end[0], y, end[1]), agent.yaw, agent.horizon, agent.standing)
    return world.with_agent(moved), None


def _blocker(world: KitchenState, x: float, z: float) -> str:
    near = [
        (round(t.box.distance(x, z), 3), t.spec.name)
        for t in world.things.values()
        if t.object_type != "Floor" and not t.inert and t.box.y0 < 1.8 and t.object_id != world.held
    ]
    return min(near)[1] if near else "Wall"


def rotate(world: KitchenState, _context: Context, args: Args, *, sign: int) -> Result:
    """Execute `RotateLeft` (sign -1) or `RotateRight` (sign 1)."""
    degrees = sign * number(args, "degrees", world.settings.rotate_step)
    if degrees == 0.0:
        raise ActionFailedError("ArgumentOutOfRangeException: degrees must be > 0")
    agent = world.agent
    yaw = round((agent.yaw + degrees) % 360.0, 4) % 360.0
    return world.with_agent(AgentPose(agent.position, yaw, agent.horizon, agent.standing)), None


def look(world: KitchenState, context: Context, args: Args, *, sign: int) -> Result:
    """Execute `LookUp` (sign -1) or `LookDown` (sign 1)."""
    degrees = number(args, "degrees", context.profile.look_step)
    if degrees <= 0.0 or abs(degrees * 10 - round(degrees * 10)) > 1e-6:
        raise ActionFailedError(
            "ArgumentException: LookUp/Down degrees must be positive and a multiple of 0.1"
        )
    agent = world.agent
    horizon = round(agent.horizon + sign * degrees, 4)
    if horizon > HORIZON_DOWN:
        raise ActionFailedError(
            "can't look down beyond 60 degrees below the forward horizon", "LookDownCantExceedMin"
        )
    if horizon < HORIZON_UP:
        raise ActionFailedError(
            "can't look up beyond 30 degrees above the forward horizon", "LookUpCantExceedMax"
        )
    return world.with_agent(AgentPose(agent.position, agent.yaw, horizon, agent.standing)), None


def rotate_look(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `RotateLook`: set rotation and horizon; an omitted one keeps its value."""
    agent = world.agent
    yaw = agent.yaw if args.get("rotation") is None else _yaw(args["rotation"]) % 360.0
    horizon = number(args, "horizon", agent.horizon)
    _check_horizon(horizon)
    return world.with_agent(AgentPose(agent.position, yaw, horizon, agent.standing)), None


def _check_horizon(horizon: float) -> None:
    if not HORIZON_UP - 1e-6 <= horizon <= HORIZON_DOWN + 1e-6:
        raise ActionFailedError(
            f"ArgumentOutOfRangeException: Each horizon must be in "
            f"[{HORIZON_UP:g}:{HORIZON_DOWN:g}]. You gave {horizon:g}."
        )


def set_standing(world: KitchenState, _context: Context, _args: Args, *, standing: bool) -> Result:
    """Execute `Stand` (`standing` is True) or `Crouch`, which raise and lower the camera."""
    agent = world.agent
    if agent.standing == standing:
        word = "standing" if standing else "crouching"
        raise ActionFailedError(f"agent is already {word}")
    return world.with_agent(AgentPose(agent.position, agent.yaw, agent.horizon, standing)), None


def teleport(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `Teleport` or `TeleportFull`; missing arguments keep their current values."""
    agent = world.agent
    if args.get("position") is not None:
        position = vector(args["position"], "position")
    else:
        x, y, z = agent.position
        position = (number(args, "x", x), number(args, "y", y), number(args, "z", z))
    yaw = _yaw(args["rotation"]) if args.get("rotation") is not None else agent.yaw
    horizon = number(args, "horizon", agent.horizon)
    standing = agent.standing if args.get("standing") is None else bool(args["standing"])
    if not forced(args):
        _check_place(world, context.room, position)
        position = (position[0], context.room.agent_height, position[2])
        _check_horizon(horizon)
    return world.with_agent(AgentPose(position, yaw % 360.0, horizon, standing)), None


def _check_place(world: KitchenState, room: Room, position: Vec) -> None:
    x, y, z = position
    shown = f"({x:.4f}, {y:.4f}, {z:.4f})"
    b = room.bounds
    if not (b.x0 <= x <= b.x1 and b.y0 - 0.1 <= y <= b.y1 and b.z0 <= z <= b.z1):
        raise ActionFailedError(
            f"Teleport position {shown} out of scene bounds! Ignore this by setting "
            f"forceAction=true."
        )
    grid = world.settings.grid_size
    off_grid = math.dist(room.snap(x, z, grid), (x, z)) > 0.01
    if off_grid and world.settings.snap_to_grid and (x, z) not in room.grid_set:
        raise ActionFailedError(f"Teleport position {shown} is not on the grid of size {grid:g}.")
    if not room.stands(x, z):
        raise ActionFailedError(f"Collided with: {_blocker(world, x, z)}.")
    if abs(y - room.agent_height) > 0.05:
        raise ActionFailedError(
            f"After teleporting and adjusting agent position to floor, there was too large a "
            f"change({abs(y - room.agent_height):.4f} > 0.05) in the y component."
        )


def reachable_positions(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `GetReachablePositions`: return every point where the agent can stand, sorted.

    AI2-THOR searches from the agent's position. This function returns the whole grid of the scene,
    which differs only where ALFRED's expert paths left gaps (FloorPlan29).
    """
    y = context.room.agent_height
    grid = number(args, "gridSize", world.settings.grid_size)
    if grid < 0.02:
        raise ActionFailedError("ArgumentOutOfRangeException: gridSize must be >= 0.02")
    points = context.room.points(grid)
    if args.get("directionsRelativeAgent"):
        points = _points_along_agent(world, context.room, grid)
    return world, [{"x": x, "y": y, "z": z} for x, z in points]


def _points_along_agent(world: KitchenState, room: Room, grid: float) -> tuple[Point, ...]:
    turn = math.radians(world.agent.yaw)
    x0, _, z0 = world.agent.position

    def at(point: GridPoint) -> Point:
        right, ahead = point
        x = x0 + right * math.cos(turn) + ahead * math.sin(turn)
        z = z0 - right * math.sin(turn) + ahead * math.cos(turn)
        return round(x, 5), round(z, 5)

    def is_open(_before: GridPoint, after: GridPoint) -> bool:
        return room.snap(*at((after[0] * grid, after[1] * grid))) in room.grid_set

    reached = grid_distances((0.0, 0.0), is_open, 1.0)
    return tuple(sorted(at((right * grid, ahead * grid)) for right, ahead in reached))


def shortest_path(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `GetShortestPath` or `GetShortestPathToPoint`.

    The path leads over the grid, from `position` or the agent, to the nearest point from which the
    object is in reach, or to the grid point nearest to `target`.
    """
    room = context.room
    start = _nearest(room, vector(args.get("position") or _here(world), "position"))
    if "target" in args:
        ends = {_nearest(room, vector(args["target"], "target"))}
    else:
        ends = {
            (pose["x"], pose["z"])
            for pose in poses(world, room, _wanted(world, args).object_id, PoseQuery())
        }
    steps = grid_distances(start, lambda _, after: after in room.grid_set)
    near = [(steps[end], end) for end in ends if end in steps]
    if not near:
        raise ActionFailedError("Path to target could not be found")
    corners = _corners(steps, min(near)[1])
    y = room.agent_height
    return world, {"corners": [{"x": x, "y": y, "z": z} for x, z in corners]}


def _wanted(world: KitchenState, args: Args) -> KitchenObject:
    if args.get("objectId") is not None:
        return existing(world, args["objectId"])
    kind = args.get("objectType")
    found = [t for t in world.things.values() if t.object_type == kind and not t.inert]
    if len(found) != 1:
        raise ActionFailedError(
            f"GetShortestPath needs an objectId, or an objectType with one object, not {kind!r}"
        )
    return found[0]


def _here(world: KitchenState) -> dict[str, float]:
    x, y, z = world.agent.position
    return {"x": x, "y": y, "z": z}


def _nearest(room: Room, place: Vec) -> Point:
    x, _, z = place
    return min(room.grid, key=lambda point: (round(math.dist(point, (x, z)), 6), point))


def _corners(steps: Mapping[Point, int], end: Point) -> list[Point]:
    path = [end]
    while steps[path[-1]]:
        x, z = path[-1]
        around = ((x + GRID, z), (x - GRID, z), (x, z + GRID), (x, z - GRID))
        before = [p for p in around if steps.get(p, math.inf) < steps[path[-1]]]
        # Going straight on gives the fewest corners.
        on = (2 * x - path[-2][0], 2 * z - path[-2][1]) if len(path) > 1 else before[0]
        path.append(on if on in before else before[0])
    inner = [
        here
        for last, here, after in zip(path, path[1:], path[2:], strict=False)
        if (here[0] - last[0], here[1] - last[1]) != (after[0] - here[0], after[1] - here[1])
    ]
    return [path[0], *inner, *path[-1:]][::-1] if len(path) > 1 else path


def interactable_poses(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `GetInteractablePoses`: return poses from which the object is in reach.

    As in AI2-THOR, rotations default to multiples of `rotateStepDegrees`, and the agent may stand
    or crouch.
    """
    object_id = existing(world, args["objectId"]).object_id
    positions, standings = args.get("positions"), args.get("standings")
    step = world.settings.rotate_step
    turns = tuple(step * turn for turn in range(math.ceil(360.0 / step - 1e-9)))
    max_distance = None if args.get("maxDistance") is None else number(args, "maxDistance", 1.5)
    query = PoseQuery(
        positions=None if positions is None else _points(positions),
        rotations=_numbers(args, "rotations", turns),
        horizons=_numbers(args, "horizons", HORIZONS),
        max_distance=max_distance,
        standings=(True, False) if standings is None else _flags(standings),
    )
    options = poses(world, context.room, object_id, query)
    return world, options[: int(number(args, "maxPoses", len(options)))]


def positions_of_interaction(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `PositionsFromWhichItemIsInteractable`: return poses as one list per field."""
    query = {"objectId": args["objectId"], "horizons": [number(args, "horizon", 30.0)]}
    _, found = interactable_poses(world, context, {**args, **query})
    return world, {
        name: [float(pose[name]) for pose in found]
        for name in ("x", "z", "rotation", "standing", "horizon")
    }


def object_in_frame(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `GetObjectInFrame`: return the id of the visible object at a point in the image."""
    x, y = number(args, "x", -1.0), number(args, "y", -1.0)
    if not (0.0 <= x <= 1.0 and 0.0 <= y <= 1.0):
        raise ActionFailedError("ArgumentOutOfRangeException: x and y must be in [0:1]")
    found = object_at(world, context.room, x, y)
    if found is None:
        raise ActionFailedError(f"Unable to find an object at ({x:g}, {y:g}) of the image.")
    return world, found


def pass_time(world: KitchenState, _context: Context, _args: Args) -> Result:
    return world, None


def _numbers(args: Args, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    given = args.get(name)
    if given is None:
        return default
    try:
        return tuple(float(value) for value in given)
    except (TypeError, ValueError):
        raise ActionFailedError(
            f"ArgumentException: {name} must be a list of numbers, got {given!r}"
        ) from None


def _points(positions: Any) -> tuple[Point, ...]:
    vectors = (vector(point, "each of positions") for point in entries(positions, "positions"))
    return tuple((x, z) for x, _, z in vectors)


def _flags(standings: Any) -> tuple[bool, ...]:
    return tuple(bool(value) for value in entries(standings, "standings"))


def _yaw(value: Any) -> float:
    try:
        yaw = float(value["y"] if isinstance(value, dict) else value)
        if math.isfinite(yaw):
            return yaw
        raise ValueError
    except (TypeError, KeyError, ValueError):
        raise ActionFailedError(
            "ArgumentException: rotation must be a number or a dict with the number y"
        ) from None


Handler = Callable[[KitchenState, Context, Args], Result]


class ActionSpec(Value):
    """An action: its implementation and its arguments.

    Args:
        run: Function that returns the new state and `actionReturn`, or raises ActionFailedError.
        seconds: Simulated duration.
        open_ended: Whether unknown arguments are ignored.
        asks: Whether the action is a query, which changes nothing.
    """

    run: Handler
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    seconds: float = STEP_TIME
    open_ended: bool = False
    asks: bool = False

    @cached_property
    def allowed(self) -> frozenset[str]:
        """Names of all accepted arguments."""
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
        "MoveAhead": ActionSpec(partial(move, turn=0.0), (), _MOVE),
        "MoveBack": ActionSpec(partial(move, turn=180.0), (), _MOVE),
        "MoveLeft": ActionSpec(partial(move, turn=270.0), (), _MOVE),
        "MoveRight": ActionSpec(partial(move, turn=90.0), (), _MOVE),
        "RotateLeft": ActionSpec(partial(rotate, sign=-1), (), ("degrees",)),
        "RotateRight": ActionSpec(partial(rotate, sign=1), (), ("degrees",)),
        "LookUp": ActionSpec(partial(look, sign=-1), (), ("degrees",)),
        "LookDown": ActionSpec(partial(look, sign=1), (), ("degrees",)),
        "RotateLook": ActionSpec(rotate_look, (), ("rotation", "horizon")),
        "Teleport": ActionSpec(teleport, (), _POSE),
        "TeleportFull": ActionSpec(
            teleport, ("position", "rotation", "horizon", "standing"), _POSE
        ),
        "GetReachablePositions": ActionSpec(
            reachable_positions,
            (),
            ("gridSize", "maxStepCount", "directionsRelativeAgent"),
            asks=True,
        ),
        "GetInteractablePoses": ActionSpec(interactable_poses, _OBJECT, _POSES, asks=True),
        "PositionsFromWhichItemIsInteractable": ActionSpec(
            positions_of_interaction, _OBJECT, ("horizon", *_POSES), asks=True
        ),
        "GetShortestPath": ActionSpec(
            shortest_path, (), ("objectId", "objectType", "position", "allowedError"), asks=True
        ),
        "GetShortestPathToPoint": ActionSpec(
            shortest_path, ("target",), ("position", "allowedError"), asks=True
        ),
        "GetObjectInFrame": ActionSpec(object_in_frame, _SCREEN, ("checkVisible",), asks=True),
        "Crouch": ActionSpec(partial(set_standing, standing=False)),
        "Stand": ActionSpec(partial(set_standing, standing=True)),
        "Pass": ActionSpec(pass_time),
        "Done": ActionSpec(pass_time),
        "NoOp": ActionSpec(pass_time),
        "PickupObject": ActionSpec(manipulation.pickup, _OBJECT, (*_SCREEN, "manualInteract")),
        "PutObject": ActionSpec(
            manipulation.put, _OBJECT, (*_SCREEN, "placeStationary", "randomSeed"), PUT_TIME
        ),
        "DropHandObject": ActionSpec(manipulation.drop, (), ("autoSimulation",), FALL_TIME),
        "DropHeldObject": ActionSpec(manipulation.drop, (), ("autoSimulation",), FALL_TIME),
        "ThrowObject": ActionSpec(
            manipulation.throw, (), ("moveMagnitude", "autoSimulation"), FALL_TIME
        ),
        "MoveHeldObject": ActionSpec(
            manipulation.move_held, (), ("ahead", "right", "up", "forceVisible")
        ),
        **{
            f"MoveHeldObject{way}": ActionSpec(
                partial(manipulation.move_along, axis=axis), ("moveMagnitude",), ("forceVisible",)
            )
            for way, axis in _WAYS.items()
        },
        "RotateHeldObject": ActionSpec(
            manipulation.rotate_held, (), ("pitch", "yaw", "roll", "rotation")
        ),
        "PushObject": ActionSpec(manipulation.push, _OBJECT, (*_SCREEN, "moveMagnitude")),
        "PullObject": ActionSpec(
            partial(manipulation.push, turn=180.0), _OBJECT, (*_SCREEN, "moveMagnitude")
        ),
        "DirectionalPush": ActionSpec(
            manipulation.push, _OBJECT, (*_SCREEN, "moveMagnitude", "pushAngle")
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
            scene_changes.set_object_poses, ("objectPoses",), ("placeStationary",)
        ),
        "InitialRandomSpawn": ActionSpec(
            scene_changes.random_spawn,
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
        "SetTemperatureDecayTime": ActionSpec(scene_changes.set_decay_time, ("decayTime",)),
        "EnableTemperatureDecay": ActionSpec(partial(scene_changes.set_decay, decays=True)),
        "DisableTemperatureDecay": ActionSpec(partial(scene_changes.set_decay, decays=False)),
        "PausePhysicsAutoSim": ActionSpec(
            partial(scene_changes.pause, paused=True), (), ("agentManagerOnly",)
        ),
        "UnpausePhysicsAutoSim": ActionSpec(partial(scene_changes.pause, paused=False)),
        "AdvancePhysicsStep": ActionSpec(
            scene_changes.advance, (), ("timeStep", "simSeconds", "allowAutoSimulation")
        ),
        "GetMapViewCameraProperties": ActionSpec(scene_changes.map_view_properties, asks=True),
        "ToggleMapView": ActionSpec(scene_changes.toggle_map_view),
        "AddThirdPartyCamera": ActionSpec(
            scene_changes.add, ("position", "rotation"), scene_changes.CAMERA_ARGUMENTS
        ),
        "UpdateThirdPartyCamera": ActionSpec(
            scene_changes.update, ("thirdPartyCameraId",), scene_changes.CAMERA_ARGUMENTS
        ),
        "Initialize": ActionSpec(scene_changes.initialize, open_ended=True),
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
"""AI2-THOR actions that the kitchen refuses, with the reason."""


_PUT_BOTH = ActionSpec(
    manipulation.put_named,
    ("objectId", "receptacleObjectId"),
    ("placeStationary", "randomSeed"),
    PUT_TIME,
)


def find_action(name: str, args: Mapping[str, Any], profile: Profile = THOR_5) -> ActionSpec:
    """Return the action with this name after checking its arguments.

    Raises:
        BadRequestError: The action or an argument is unknown, or an argument is missing.
    """
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
"""Names of the actions that only return information."""
