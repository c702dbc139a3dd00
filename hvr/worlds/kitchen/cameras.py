"""Third-party cameras, the map view and simulated time. Cameras exist in the metadata only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hvr.worlds.kitchen.state import KitchenState
from hvr.worlds.kitchen.state_changes import STEP_TIME, settle
from hvr.worlds.kitchen.visibility import (
    ActionFailedError,
    Args,
    BadRequestError,
    Context,
    Result,
    Room,
    number,
)

# Third-party cameras ------------------------------------------------------------------------------

CAMERA_ARGUMENTS = (
    "position",
    "rotation",
    "fieldOfView",
    "skyboxColor",
    "orthographic",
    "orthographicSize",
    "parent",
    "agentPositionRelativeCoordinates",
    "antiAliasing",
)


def add(world: KitchenState, _context: Context, args: Args) -> Result:
    cameras = world.extras.cameras
    first = {
        "thirdPartyCameraId": len(cameras),
        "position": {"x": 0.0, "y": 0.0, "z": 0.0},
        "rotation": {"x": 0.0, "y": 0.0, "z": 0.0},
        "fieldOfView": 90.0,
    }
    camera = _changed(first, "AddThirdPartyCamera", args)
    return _with_cameras(world, (*cameras, camera)), None


def update(world: KitchenState, _context: Context, args: Args) -> Result:
    """Execute `UpdateThirdPartyCamera`; omitted arguments and coordinates keep their values."""
    cameras = list(world.extras.cameras)
    which = args["thirdPartyCameraId"]
    if isinstance(which, bool) or not isinstance(which, int) or not 0 <= which < len(cameras):
        raise ActionFailedError(
            f"no third-party camera {which!r}: there are {len(cameras)}, numbered from 0"
        )
    cameras[which] = _changed(cameras[which], "UpdateThirdPartyCamera", args)
    return _with_cameras(world, tuple(cameras)), None


def _with_cameras(world: KitchenState, cameras: tuple[Mapping[str, Any], ...]) -> KitchenState:
    return world.but(extras=replace(world.extras, cameras=cameras))


def _changed(camera: Mapping[str, Any], action: str, args: Args) -> dict[str, Any]:
    size = args.get("orthographicSize")
    if size is not None and (isinstance(size, bool) or not isinstance(size, (int, float))):
        raise BadRequestError(
            "InvalidArgument",
            f"action: {action} has an invalid argument: orthographicSize: expected a number",
        )
    changed = dict(camera)
    for name in ("position", "rotation"):
        given = args.get(name)
        if given is None:
            continue
        if not isinstance(given, Mapping) or not given.keys() <= {"x", "y", "z"}:
            raise ActionFailedError(
                f"ArgumentException: {name} must be a dict with the numbers x, y and z"
            )
        old = changed[name]
        changed[name] = {axis: number(given, axis, old[axis]) for axis in ("x", "y", "z")}
    view = number(args, "fieldOfView", changed["fieldOfView"])
    if not 0.0 < view < 180.0:
        raise ActionFailedError("fieldOfView must be in (0, 180)")
    changed["fieldOfView"] = view
    return changed


# Map view -----------------------------------------------------------------------------------------


def map_view_camera(room: Room) -> dict[str, Any]:
    """Return the properties of a camera that sees the whole room from above."""
    b = room.bounds
    x, _, z = b.center
    return {
        "position": {"x": round(x, 5), "y": round(b.y1 + 1.0, 5), "z": round(z, 5)},
        "rotation": {"x": 90.0, "y": 0.0, "z": 0.0},
        "orthographicSize": round(max(b.x1 - b.x0, b.z1 - b.z0) / 2, 5),
        "orthographic": True,
    }


def map_view_properties(world: KitchenState, context: Context, _args: Args) -> Result:
    return world, map_view_camera(context.room)


def toggle_map_view(world: KitchenState, _context: Context, _args: Args) -> Result:
    """Execute `ToggleMapView`, which changes only the camera in the metadata."""
    return world.but(extras=replace(world.extras, map_view=not world.extras.map_view)), None


# Time ---------------------------------------------------------------------------------------------


def pause(world: KitchenState, _context: Context, _args: Args, *, paused: bool) -> Result:
    return world.but(extras=replace(world.extras, paused=paused)), None


def advance(world: KitchenState, context: Context, args: Args) -> Result:
    """Execute `AdvancePhysicsStep`: let time pass while it is paused."""
    if not world.extras.paused:
        raise ActionFailedError(
            "AdvancePhysicsStep can only be called if Physics Autosimulation is currently paused! "
            "Either use the PausePhysicsAutoSim() action first, or if you already used it, "
            "Physics Autosimulation has been turned back on already."
        )
    step = number(args, "timeStep", STEP_TIME)
    seconds = number(args, "simSeconds", step)
    if not 0.0 < step <= 0.05 or seconds < 0.0:
        raise ActionFailedError("timeStep must be in (0, 0.05], and simSeconds must be >= 0")
    return settle(world, context.room, seconds), None
