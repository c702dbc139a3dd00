"""Navigation: moves, turns, and queries about poses of the agent."""

from __future__ import annotations

import math
from typing import Any

from hvr.worlds.geometry import Vec
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
from hvr.worlds.kitchen.state import AgentPose, KitchenState
from hvr.worlds.kitchen.visibility import GRID, HORIZONS, QUARTERS, Point, PoseQuery, Room, poses

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
        if not HORIZON_UP - 1e-6 <= horizon <= HORIZON_DOWN + 1e-6:
            raise ActionFailedError(
                f"ArgumentOutOfRangeException: Each horizon must be in "
                f"[{HORIZON_UP:g}:{HORIZON_DOWN:g}]. You gave {horizon:g}."
            )
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
    if abs(y - room.agent_height) > 0.1:
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
    return world, [{"x": x, "y": y, "z": z} for x, z in context.room.points(grid)]


def interactable_poses(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `GetInteractablePoses`: return poses from which the object is in reach."""
    object_id = existing(world, args["objectId"]).object_id
    positions, standings = args.get("positions"), args.get("standings")
    max_distance = None if args.get("maxDistance") is None else number(args, "maxDistance", 1.5)
    query = PoseQuery(
        positions=None if positions is None else _points(positions),
        rotations=_numbers(args.get("rotations"), QUARTERS),
        horizons=_numbers(args.get("horizons"), HORIZONS),
        max_distance=max_distance,
        standings=(True,) if standings is None else _flags(standings),
    )
    options = poses(world, context.room, object_id, query)
    return world, options[: int(number(args, "maxPoses", len(options)))]


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
