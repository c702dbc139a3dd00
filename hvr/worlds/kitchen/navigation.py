"""Navigation: moves, turns, and queries about poses of the agent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hvr.worlds.geometry import GridPoint, Vec, grid_distances
from hvr.worlds.kitchen.action_context import (
    ActionFailedError,
    Args,
    Context,
    Result,
    entries,
    existing,
    forced,
    number,
    vector,
)
from hvr.worlds.kitchen.state import AgentPose, KitchenObject, KitchenState
from hvr.worlds.kitchen.visibility import GRID, HORIZONS, Point, PoseQuery, Room, object_at, poses

_FARTHEST = 50.0
"""Upper bound on the length of a room in metres. It bounds the collision checks of a long move."""

HORIZON_UP, HORIZON_DOWN = -30.0, 60.0
"""Limits of the horizon in degrees."""


def move(world: KitchenState, context: Context, args: Args, *, turn: float) -> Result:
    """Execute a move such as `MoveAhead`; `turn` is its direction relative to the agent."""
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
    """Return AI2-THOR's name of the object nearest to a point, to report as the obstacle."""
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
    """Execute `RotateLook`: turn to a rotation and horizon; a missing one stays unchanged."""
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
    """Execute `Stand` or `Crouch`, which raise and lower the camera."""
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

    AI2-THOR searches from the agent's position. The packaged grid is returned as a whole, which
    differs only where ALFRED's expert paths left gaps (FloorPlan29).
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
    """Return the points of a grid through the agent, turned by its yaw, that can be walked to."""
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
    object is in reach, or to the point of the grid nearest to `target`.
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
    """Return the points of a shortest path at which its direction changes, with both ends."""
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
        rotations=_numbers(args.get("rotations"), turns),
        horizons=_numbers(args.get("horizons"), HORIZONS),
        max_distance=max_distance,
        standings=(True, False) if standings is None else _flags(standings),
    )
    options = poses(world, context.room, object_id, query)
    return world, options[: int(number(args, "maxPoses", len(options)))]


def positions_of_interaction(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `PositionsFromWhichItemIsInteractable`: return the fields of the poses as lists."""
    query = {"objectId": args["objectId"], "horizons": [number(args, "horizon", 30.0)]}
    _, found = interactable_poses(world, context, {**args, **query})
    return world, {
        name: [float(pose[name]) for pose in found]
        for name in ("x", "z", "rotation", "standing", "horizon")
    }


def object_in_frame(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `GetObjectInFrame`: return the id of the visible object at an image point."""
    x, y = number(args, "x", -1.0), number(args, "y", -1.0)
    if not (0.0 <= x <= 1.0 and 0.0 <= y <= 1.0):
        raise ActionFailedError("ArgumentOutOfRangeException: x and y must be in [0:1]")
    found = object_at(world, context.room, x, y)
    if found is None:
        raise ActionFailedError(f"Unable to find an object at ({x:g}, {y:g}) of the image.")
    return world, found


def pass_time(world: KitchenState, _context: Context, _args: Args) -> Result:
    """Execute `Pass`, `Done` or `NoOp`: only time passes."""
    return world, None


def _numbers(given: Any, default: tuple[float, ...]) -> tuple[float, ...]:
    if given is None:
        return default
    try:
        return tuple(float(value) for value in given)
    except (TypeError, ValueError):
        raise ActionFailedError("ArgumentException: a list of numbers is needed") from None


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
