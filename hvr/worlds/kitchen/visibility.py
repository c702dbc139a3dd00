"""Visibility of objects, and the arguments, targets and failures of actions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

from hvr.values import Value
from hvr.worlds.kitchen.state import (
    CROUCH,
    THOR_5,
    KitchenObject,
    KitchenObjects,
    KitchenState,
    Profile,
)
from hvr.worlds.scenes import (
    CAMERA_HEIGHT,
    VISIBILITY_DISTANCE,
    Box,
    ObjectSpec,
    Scene,
    Vec,
    visibility_points,
)
from hvr.worlds.thor.observe import LIDDED, ObjectTypeFacts, load_facts

# Fixed geometry -----------------------------------------------------------------------------------
# Grid, bounds, and faucets with their basins.

GRID = 0.25
"""Distance between neighbouring grid points in metres."""

STANDING_ROOM = 0.2
"""Radius in metres around each grid point without furniture."""

ZONE_SOURCES = frozenset(
    {"CoffeeMachine", "Faucet", "Fridge", "Microwave", "StoveBurner", "Toaster"}
)
"""Types that heat, cool, fill or clean objects."""

Point = tuple[float, float]


class Room:
    """The static part of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.facts: ObjectTypeFacts = load_facts()
        self.grid: tuple[Point, ...] = scene.grid
        self.grid_set = frozenset(scene.grid)
        self.agent_height = scene.start_position[1]
        self.floor = next((o.object_id for o in scene.objects if o.object_type == "Floor"), None)
        self.bounds = _bounds(scene)
        self.basins = _served_basins(scene)
        self.holes = _holes(scene)
        self.cold = frozenset(o.object_id for o in scene.objects if o.object_type == "Fridge")
        self.sources = tuple(o.object_id for o in scene.objects if o.object_type in ZONE_SOURCES)
        self._points: dict[float, tuple[Point, ...]] = {}
        self.reach = lru_cache(maxsize=16384)(self._reach)

    def _reach(self, box: Box) -> float:
        if any(box.distance(x, z) <= VISIBILITY_DISTANCE - 0.05 for x, z in self.grid):
            return VISIBILITY_DISTANCE
        nearest = min(box.distance(x, z) for x, z in self.grid)
        return max(VISIBILITY_DISTANCE, nearest + 0.05)

    def walkable(self, x: float, z: float) -> bool:
        """Return whether the agent, standing on some grid point, covers a point."""
        cx, cz = round(x / GRID), round(z / GRID)
        for ix in (cx - 1, cx, cx + 1):
            for iz in (cz - 1, cz, cz + 1):
                point = (ix * GRID, iz * GRID)
                if point in self.grid_set and math.dist(point, (x, z)) < STANDING_ROOM:
                    return True
        return False

    def snap(self, x: float, z: float, grid: float = GRID) -> Point:
        """Return the nearest grid position, whether or not the agent can stand on it."""
        if grid == GRID:
            return round(x / GRID) * GRID, round(z / GRID) * GRID
        return round(round(x / grid) * grid, 5), round(round(z / grid) * grid, 5)

    def stands(self, x: float, z: float) -> bool:
        """Return whether the agent can stand at a point.

        A point off the 0.25 m grid needs one neighbouring grid point where the agent can stand, so
        that finer grids have no gaps.
        """
        if (x, z) in self.grid_set:
            return True
        x0, z0 = math.floor(x / GRID + 1e-6) * GRID, math.floor(z / GRID + 1e-6) * GRID
        xs = (x0,) if abs(x - x0) < 1e-4 else (x0, x0 + GRID)
        zs = (z0,) if abs(z - z0) < 1e-4 else (z0, z0 + GRID)
        return any((px, pz) in self.grid_set for px in xs for pz in zs)

    def points(self, grid: float) -> tuple[Point, ...]:
        """Return the points of a grid where the agent can stand, sorted."""
        if grid == GRID:
            return self.grid
        if grid not in self._points:
            b = self.bounds
            self._points[grid] = tuple(
                (round(i * grid, 5), round(j * grid, 5))
                for i in range(math.floor(b.x0 / grid), math.ceil(b.x1 / grid) + 1)
                for j in range(math.floor(b.z0 / grid), math.ceil(b.z1 / grid) + 1)
                if self.stands(i * grid, j * grid)
            )
        return self._points[grid]


def _bounds(scene: Scene) -> Box:
    boxes = [o.box for o in scene.objects] or [Box(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)]
    return Box(
        min(b.x0 for b in boxes),
        min(b.y0 for b in boxes),
        min(b.z0 for b in boxes),
        max(b.x1 for b in boxes),
        max(b.y1 for b in boxes),
        max(b.z1 for b in boxes),
    )


def _holes(scene: Scene) -> dict[str, tuple[Box, ...]]:
    """Return, for each counter, the boxes of its sinks and burners, where nothing can stand."""
    cuts = [o.box for o in scene.objects if o.object_type in ("SinkBasin", "Sink", "StoveBurner")]
    return {
        o.object_id: tuple(box for box in cuts if abs(box.y1 - o.box.y1) < 0.3)
        for o in scene.objects
        if o.object_type == "CounterTop"
    }


def _served_basins(scene: Scene) -> dict[str, tuple[str, ...]]:
    # What a Sink itself holds stands on its rim, beside the basin, where no water reaches it.
    basins = [o for o in scene.objects if o.object_type == "SinkBasin"]
    return {
        faucet.object_id: (min(basins, key=lambda b: (_apart(faucet, b), b.object_id)).object_id,)
        for faucet in scene.objects
        if faucet.object_type == "Faucet" and basins
    }


def _apart(a: ObjectSpec, b: ObjectSpec) -> float:
    (ax, _, az), (bx, _, bz) = a.position, b.box.center
    return math.hypot(ax - bx, az - bz)


# Visibility ---------------------------------------------------------------------------------------
# An object is visible, and therefore interactable, if its nearest part is within 1.5 m of the agent
# (horizontally), one of its visibility points lies in the square 90 degree view, and no closed
# receptacle encloses it at any depth. The held object is visible. Other objects never occlude it,
# because the shapes that AI2-THOR casts its rays against are not public.

HORIZONS = (-30.0, 0.0, 30.0, 60.0)
"""Default horizons of GetInteractablePoses in degrees."""

QUARTERS = (0.0, 90.0, 180.0, 270.0)
"""Default rotations of GetInteractablePoses in degrees."""


class PoseQuery(Value):
    """The candidate poses of GetInteractablePoses.

    Args:
        positions: Candidate (x, z); None means the whole grid.
        max_distance: Maximum horizontal distance to the nearest part of the object. None means the
            range of sight, or more if this is at least 1.5 m and no grid point is that close.
        standings: Whether to try standing (True) and crouching (False).
    """

    positions: tuple[Point, ...] | None = None
    rotations: tuple[float, ...] = QUARTERS
    horizons: tuple[float, ...] = HORIZONS
    max_distance: float | None = None
    standings: tuple[bool, ...] = (True,)


def closed_around(things: KitchenObjects, object_id: str) -> str | None:
    """Return the id of the innermost closed receptacle that contains an object, or None."""
    for outer in things.ancestors(object_id):
        thing = things[outer]
        if thing.can("openable") and not thing.is_open and thing.object_type not in LIDDED:
            return outer
    return None


def is_visible(world: KitchenState, room: Room, object_id: str) -> bool:
    """Return whether the agent sees an object from its current pose; held objects are visible."""
    thing = world.things[object_id]
    if thing.inert:
        return False
    if world.held is not None and (
        object_id == world.held
        or (thing.parents and world.held in world.things.ancestors(object_id))
    ):
        return True
    # Cheapest checks first: most objects are out of reach, and projecting points is expensive.
    x, _, z = world.agent.position
    box = thing.box
    near = world.settings.visibility_distance
    distance = box.distance(x, z)
    if distance > near and (near < VISIBILITY_DISTANCE or distance > room.reach(box)):
        return False
    if thing.parents and closed_around(world.things, object_id) is not None:
        return False
    return world.agent.camera.sees(visibility_points(box), spread(world))


def spread(world: KitchenState) -> float:
    """Return the tangent of half the field of view."""
    degrees = world.settings.field_of_view
    return 1.0 if degrees == 90.0 else math.tan(math.radians(degrees) / 2.0)


def object_at(world: KitchenState, room: Room, x: float, y: float) -> str | None:
    """Return the id of the visible object at a point in the image, or None.

    This is the first object whose box the ray through the point meets; contents are preferred to
    their receptacle. `x` runs from left (0) to right (1), `y` from top (0) to bottom (1).
    """
    if not (0.0 <= x <= 1.0 and 0.0 <= y <= 1.0):
        return None
    eye = world.agent.camera
    half = spread(world)
    aim = eye.at((2.0 * x - 1.0) * half, (1.0 - 2.0 * y) * half, 1.0)
    ray = (aim[0] - eye.x, aim[1] - eye.y, aim[2] - eye.z)
    hits: dict[str, float] = {}
    for object_id, thing in world.things.items():
        entry = _entry(thing.box, (eye.x, eye.y, eye.z), ray)
        if entry is not None and is_visible(world, room, object_id):
            hits[object_id] = entry
    # The ray enters a receptacle's box before its contents, but the contents count.
    around = {outer for i in hits for outer in world.things.ancestors(i)}
    inner = {i: d for i, d in hits.items() if i not in around} or hits
    return min(inner, key=lambda i: (inner[i], i)) if inner else None


def _entry(box: Box, start: Vec, ray: Vec) -> float | None:
    near, far = 0.0, math.inf
    for low, high, at, step in zip(box[:3], box[3:], start, ray, strict=True):
        if abs(step) < 1e-9:
            if not low <= at <= high:
                return None
            continue
        a, b = sorted(((low - at) / step, (high - at) / step))
        near, far = max(near, a), min(far, b)
    return near if 0.0 < near <= far else None


def poses(
    world: KitchenState, room: Room, object_id: str, query: PoseQuery
) -> list[dict[str, Any]]:
    """Return the poses from which the agent would see the object, as arguments for TeleportFull.

    There are none for an object that is held, destroyed or in a closed receptacle.
    """
    thing = world.things[object_id]
    hidden = thing.inert or closed_around(world.things, object_id) is not None
    if hidden or object_id == world.held:
        return []
    limit = query.max_distance
    if limit is None:
        near = world.settings.visibility_distance
        limit = near if near < VISIBILITY_DISTANCE else max(near, room.reach(thing.box))
    positions = query.positions
    # Cache only the recurring queries of the skills: custom positions would flood the cache.
    usual = query.max_distance is None and positions is None
    sighting = _sighting if usual else _sighting.__wrapped__
    return [
        {
            "x": x,
            "y": room.agent_height,
            "z": z,
            "rotation": yaw,
            "horizon": horizon,
            "standing": standing,
        }
        for standing in query.standings
        for x, z, yaw, horizon in sighting(
            thing.box,
            room.points(world.settings.grid_size) if positions is None else positions,
            query.rotations,
            query.horizons,
            limit,
            room.agent_height + CAMERA_HEIGHT - (0.0 if standing else CROUCH),
        )
    ]


@lru_cache(maxsize=2048)
def _sighting(
    box: Box,
    positions: tuple[Point, ...],
    rotations: tuple[float, ...],
    horizons: tuple[float, ...],
    limit: float,
    eye: float,
) -> tuple[tuple[float, float, float, float], ...]:
    """Return each pose (x, z, yaw, horizon) from which a point of the box is in view.

    The box is at most `limit` metres away horizontally; `eye` is the height of the camera.
    """
    # A point is in view if neither its lateral nor its vertical offset exceeds its depth.
    turns = [(r, math.sin(math.radians(r)), math.cos(math.radians(r))) for r in rotations]
    tilts = [(h, math.sin(math.radians(h)), math.cos(math.radians(h))) for h in horizons]
    points = visibility_points(box)
    sightings = []
    for x, z in positions:
        if box.distance(x, z) > limit:
            continue
        offsets = [(px - x, py - eye, pz - z) for px, py, pz in points]
        for yaw, sin_y, cos_y in turns:
            ahead = []
            for dx, up, dz in offsets:
                side, forward = abs(dx * cos_y - dz * sin_y), dx * sin_y + dz * cos_y
                # At any horizon, the depth is at most the length of (forward, up), so points with a
                # greater lateral offset are never in view.
                if side * side <= forward * forward + up * up + 1e-9:
                    ahead.append((side, up, forward))
            for horizon, sin_p, cos_p in tilts:
                for side, up, forward in ahead:
                    depth = forward * cos_p - up * sin_p
                    if depth > 0.0 and side <= depth and abs(up * cos_p + forward * sin_p) <= depth:
                        sightings.append((x, z, yaw, horizon))
                        break
    return tuple(sightings)


Args = Mapping[str, Any]
Result = tuple[KitchenState, Any]


class ActionFailedError(Exception):
    """The action failed, and the world is unchanged."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class BadRequestError(Exception):
    """The action or an argument is unknown to AI2-THOR, or an argument is missing."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Context(Value):
    """The inputs of an action other than the state and its arguments.

    Args:
        placement_table: Whether PutObject respects AI2-THOR's placement table.
        seed: Seed of effects that are random in AI2-THOR.
    """

    room: Room
    placement_table: bool = True
    seed: int = 0
    profile: Profile = THOR_5


def forced(args: Args) -> bool:
    return bool(args.get("forceAction", False))


def target(
    world: KitchenState, context: Context, args: Args, name: str = "objectId"
) -> KitchenObject:
    """Return the object whose id is the argument `name`, or else at the image point `x`, `y`.

    Raises:
        ActionFailedError: The object does not exist, or it is not visible and the action is not
            forced.
    """
    object_id = args.get(name)
    if object_id is None:
        point = (number(args, "x", -1.0), number(args, "y", -1.0))
        object_id = object_at(world, context.room, *point)
        if object_id is None:
            raise ActionFailedError(
                f"ArgumentException: no object is at ({point[0]:g}, {point[1]:g}) of the image"
            )
    # AI2-THOR checks existence before visibility; the order determines the error message.
    return seen_or_forced(world, context, existing(world, object_id), forced(args))


def existing(world: KitchenState, object_id: Any) -> KitchenObject:
    thing: KitchenObject | None = (
        world.things.get(object_id) if isinstance(object_id, str) else None
    )
    if thing is None:
        raise ActionFailedError(
            f"ArgumentException: objectId: {object_id} is not the objectId on any object in "
            "the scene!"
        )
    return thing


def seen_or_forced(
    world: KitchenState, context: Context, thing: KitchenObject, force: bool
) -> KitchenObject:
    if not force and not is_visible(world, context.room, thing.object_id):
        raise ActionFailedError(
            "NullReferenceException: Target object not found within the specified visibility."
        )
    return thing


def number(args: Args, name: str, default: float) -> float:
    value = args.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise ActionFailedError(f"ArgumentException: {name} must be a number, not {value!r}")
    return float(value)


def vector(value: Any, what: str) -> Vec:
    """Return a point or rotation given as {x, y, z}, or raise an ActionFailedError about `what`."""
    try:
        point = float(value["x"]), float(value["y"]), float(value["z"])
    except (TypeError, KeyError, ValueError, IndexError):
        point = (math.nan, 0.0, 0.0)
    if not all(map(isfinite, point)):
        raise ActionFailedError(
            f"ArgumentException: {what} must be a dict with the numbers x, y and z"
        )
    return point


def entries(value: Any, what: str) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ActionFailedError(f"ArgumentException: {what} must be a list")
    return list(value)
