"""Moving about and asking where one could stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hvr.envs.geometry import Vec
from hvr.envs.kitchen.actions.common import (
    ActionFailedError,
    Args,
    Context,
    Result,
    forced,
    number,
)
from hvr.envs.kitchen.room import GRID, Room
from hvr.envs.kitchen.visibility import HORIZONS, QUARTERS, poses
from hvr.envs.kitchen.world import Agent, World

HORIZON_UP, HORIZON_DOWN = -30.0, 60.0
"""Limits of the horizon, degrees."""


def move_ahead(world: World, context: Context, args: Args) -> Result:
    """MoveAhead."""
    return _move(world, context, args, 0.0)


def move_back(world: World, context: Context, args: Args) -> Result:
    """MoveBack."""
    return _move(world, context, args, 180.0)


def move_left(world: World, context: Context, args: Args) -> Result:
    """MoveLeft."""
    return _move(world, context, args, 270.0)


def move_right(world: World, context: Context, args: Args) -> Result:
    """MoveRight."""
    return _move(world, context, args, 90.0)


def _move(world: World, context: Context, args: Args, turn: float) -> Result:
    magnitude = number(args, "moveMagnitude", GRID)
    if magnitude <= 0.0:
        raise ActionFailedError("ArgumentOutOfRangeException: moveMagnitude must be > 0")
    agent, room = world.agent, context.room
    direction = math.radians(agent.yaw + turn)
    dx, dz = magnitude * math.sin(direction), magnitude * math.cos(direction)
    x, y, z = agent.position
    for part in range(1, max(1, math.ceil(magnitude / GRID)) + 1):
        share = min(1.0, part * GRID / magnitude)
        point = room.snap(x + share * dx, z + share * dz)
        if point not in room.grid_set and point != room.snap(x, z):
            raise ActionFailedError(
                f"{_blocker(world, *point)} is blocking Agent 0 from moving by "
                f"({dx:.4f}, 0.0000, {dz:.4f})."
            )
    end = room.snap(x + dx, z + dz)
    return world.with_agent(Agent((end[0], y, end[1]), agent.yaw, agent.horizon)), None


def _blocker(world: World, x: float, z: float) -> str:
    """Name of the nearest thing that stands there."""
    near = [
        (round(t.box.distance(x, z), 3), t.spec.name)
        for t in world.things.values()
        if t.object_type != "Floor" and not t.inert and t.box.y0 < 1.8
    ]
    return min(near)[1] if near else "Wall"


def rotate_left(world: World, _context: Context, args: Args) -> Result:
    """RotateLeft."""
    return _rotate(world, -number(args, "degrees", 90.0))


def rotate_right(world: World, _context: Context, args: Args) -> Result:
    """RotateRight."""
    return _rotate(world, number(args, "degrees", 90.0))


def _rotate(world: World, degrees: float) -> Result:
    if degrees == 0.0:
        raise ActionFailedError("ArgumentOutOfRangeException: degrees must be > 0")
    agent = world.agent
    yaw = round((agent.yaw + degrees) % 360.0, 4) % 360.0
    return world.with_agent(Agent(agent.position, yaw, agent.horizon)), None


def look_up(world: World, _context: Context, args: Args) -> Result:
    """LookUp."""
    return _look(world, -_tilt(args))


def look_down(world: World, _context: Context, args: Args) -> Result:
    """LookDown."""
    return _look(world, _tilt(args))


def _tilt(args: Args) -> float:
    degrees = number(args, "degrees", 30.0)
    if degrees <= 0.0 or abs(degrees * 10 - round(degrees * 10)) > 1e-6:
        raise ActionFailedError(
            "ArgumentException: LookUp/Down degrees must be positive and a multiple of 0.1"
        )
    return degrees


def _look(world: World, degrees: float) -> Result:
    agent = world.agent
    horizon = round(agent.horizon + degrees, 4)
    if horizon > HORIZON_DOWN:
        raise ActionFailedError(
            "can't look down beyond 60 degrees below the forward horizon", "LookDownCantExceedMin"
        )
    if horizon < HORIZON_UP:
        raise ActionFailedError(
            "can't look up beyond 30 degrees above the forward horizon", "LookUpCantExceedMax"
        )
    return world.with_agent(Agent(agent.position, agent.yaw, horizon)), None


def teleport(world: World, context: Context, args: Args) -> Result:
    """Teleport: what is not given stays as it is."""
    agent = world.agent
    if args.get("position") is not None:
        position = _point(args["position"])
    else:
        x, y, z = agent.position
        position = (number(args, "x", x), number(args, "y", y), number(args, "z", z))
    yaw = _yaw(args["rotation"]) if args.get("rotation") is not None else agent.yaw
    horizon = number(args, "horizon", agent.horizon)
    force = forced(args)
    if not force:
        _check_place(world, context.room, position)
        if not HORIZON_UP - 1e-6 <= horizon <= HORIZON_DOWN + 1e-6:
            raise ActionFailedError(
                f"ArgumentOutOfRangeException: Each horizon must be in "
                f"[{HORIZON_UP:g}:{HORIZON_DOWN:g}]. You gave {horizon:g}."
            )
    return world.with_agent(Agent(position, yaw % 360.0, horizon)), None


def teleport_full(world: World, context: Context, args: Args) -> Result:
    """TeleportFull: Teleport with every argument given."""
    return teleport(world, context, args)


def _check_place(world: World, room: Room, position: Vec) -> None:
    x, y, z = position
    shown = f"({x:.4f}, {y:.4f}, {z:.4f})"
    b = room.bounds
    if not (b.x0 <= x <= b.x1 and b.y0 - 0.1 <= y <= b.y1 and b.z0 <= z <= b.z1):
        raise ActionFailedError(
            f"Teleport position {shown} out of scene bounds! Ignore this by setting "
            f"forceAction=true."
        )
    point = room.snap(x, z)
    if math.dist(point, (x, z)) > 0.01:
        raise ActionFailedError(f"Teleport position {shown} is not on the grid of size {GRID}.")
    if point not in room.grid_set:
        raise ActionFailedError(f"Collided with: {_blocker(world, x, z)}.")
    if abs(y - room.agent_height) > 0.1:
        raise ActionFailedError(
            f"After teleporting and adjusting agent position to floor, there was too large a "
            f"change({abs(y - room.agent_height):.4f} > 0.05) in the y component."
        )


def reachable_positions(world: World, context: Context, _args: Args) -> Result:
    """GetReachablePositions: every point of the scene's grid, sorted.

    AI2-THOR floods from the agent; the packaged grid is given whole, which differs only
    where experts' paths left gaps (FloorPlan29).
    """
    y = context.room.agent_height
    return world, [{"x": x, "y": y, "z": z} for x, z in context.room.grid]


def interactable_poses(world: World, context: Context, args: Args) -> Result:
    """GetInteractablePoses."""
    object_id = args["objectId"]
    if object_id not in world.things:
        raise ActionFailedError(
            f"ArgumentException: objectId: {object_id} is not the objectId on any object in "
            "the scene!"
        )
    positions = args.get("positions")
    found = poses(
        world,
        context.room,
        object_id,
        None if positions is None else [_flat(p) for p in positions],
        _numbers(args.get("rotations"), QUARTERS),
        _numbers(args.get("horizons"), HORIZONS),
        None if args.get("maxDistance") is None else number(args, "maxDistance", 1.5),
    )
    most = args.get("maxPoses")
    return world, found if most is None else found[: int(most)]


def pass_time(world: World, _context: Context, _args: Args) -> Result:
    """Pass, Done, NoOp: only time goes on."""
    return world, None


def _numbers(given: Any, default: Sequence[float]) -> Sequence[float]:
    if given is None:
        return default
    try:
        return [float(value) for value in given]
    except (TypeError, ValueError):
        raise ActionFailedError("ArgumentException: a list of numbers is needed") from None


def _flat(point: Any) -> tuple[float, float]:
    x, _, z = _point(point)
    return x, z


def _point(value: Any) -> Vec:
    try:
        return float(value["x"]), float(value["y"]), float(value["z"])
    except (TypeError, KeyError, ValueError):
        raise ActionFailedError(
            "ArgumentException: position must be a dict with the numbers x, y and z"
        ) from None


def _yaw(value: Any) -> float:
    try:
        return float(value["y"] if isinstance(value, dict) else value)
    except (TypeError, KeyError, ValueError):
        raise ActionFailedError(
            "ArgumentException: rotation must be a number or a dict with the number y"
        ) from None
