"""Visibility and reach: what the agent sees and can touch.

An object is visible, and then also interactable, when its nearest part is within 1.5 m of
the agent (horizontally), one of its visibility points lies in the square 90 degree view,
and no closed receptacle surrounds it at any depth. What is in the hand is visible.
Other things never hide it: the shapes that AI2-THOR casts its rays against are not
public.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from hvr.values import Value
from hvr.worlds.geometry import (
    CAMERA_HEIGHT,
    VISIBILITY_DISTANCE,
    Box,
    Vec,
    visibility_points,
)
from hvr.worlds.kitchen.room import Point, Room
from hvr.worlds.kitchen.world import CROUCH, KitchenState, Things
from hvr.worlds.thor.types import LIDDED

HORIZONS = (-30.0, 0.0, 30.0, 60.0)
"""Horizons that GetInteractablePoses tries unless told otherwise, degrees."""

QUARTERS = (0.0, 90.0, 180.0, 270.0)
"""Rotations that GetInteractablePoses tries unless told otherwise, degrees."""


class PoseQuery(Value):
    """The poses that GetInteractablePoses tries.

    Args:
        positions: (x, z) to try; the whole grid when None.
        rotations: yaws to try, degrees.
        horizons: horizons to try, degrees.
        max_distance: horizontal distance to the nearest part that is not to be exceeded; None
            is AI2-THOR's 1.5 m, or more for what no grid point is that near to.
        standings: whether to try standing (True) and crouching (False).
    """

    positions: tuple[Point, ...] | None = None
    rotations: tuple[float, ...] = QUARTERS
    horizons: tuple[float, ...] = HORIZONS
    max_distance: float | None = None
    standings: tuple[bool, ...] = (True,)


def closed_around(things: Things, object_id: str) -> str | None:
    """Return id of the nearest closed receptacle around an object, or None."""
    for outer in things.ancestors(object_id):
        thing = things[outer]
        if thing.can("openable") and not thing.is_open and thing.object_type not in LIDDED:
            return outer
    return None


def is_visible(world: KitchenState, room: Room, object_id: str) -> bool:
    """Return whether the agent sees the object from where it is."""
    thing = world.things[object_id]
    if thing.inert:
        return False
    if world.held is not None and (
        object_id == world.held
        or (thing.parents and world.held in world.things.ancestors(object_id))
    ):
        return True
    # In order of cost: most objects are out of reach, and projecting points is dearest.
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
    """Return tangent of half the field of view."""
    degrees = world.settings.field_of_view
    return 1.0 if degrees == 90.0 else math.tan(math.radians(degrees) / 2.0)


def object_at(world: KitchenState, room: Room, x: float, y: float) -> str | None:
    """Return id of the visible object at a point of the image, or None.

    The first box that the ray through the point meets; what a receptacle holds comes
    before the receptacle, whose box is around it.

    Args:
        world: the present state.
        room: its unchanging part.
        x: from left (0) to right (1).
        y: from top (0) to bottom (1).
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
    # The box of a receptacle is around what it holds: the ray meets it first, but one means
    # the content.
    around = {outer for i in hits for outer in world.things.ancestors(i)}
    inner = {i: d for i, d in hits.items() if i not in around} or hits
    return min(inner, key=lambda i: (inner[i], i)) if inner else None


def _entry(box: Box, start: Vec, ray: Vec) -> float | None:
    """Return how far along the ray it enters the box, None when it misses or starts inside."""
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
    """Return poses from which the object is visible now, for TeleportFull."""
    thing = world.things[object_id]
    hidden = thing.inert or closed_around(world.things, object_id) is not None
    if hidden or object_id == world.held:
        return []
    limit = query.max_distance
    if limit is None:
        near = world.settings.visibility_distance
        limit = near if near < VISIBILITY_DISTANCE else max(near, room.reach(thing.box))
    positions = query.positions
    # Only the questions of the skills come again; positions of a caller would fill the cache.
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
    """Return each (x, z, yaw, horizon) from which a point of the box lies in view.

    A point at `forward` and `side` of the agent and `up` above its eye is in view when
    neither its offset to the side nor that up or down exceeds its depth.
    """
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
                # Whatever the horizon, the depth is at most the length of (forward, up): what
                # lies further to the side than that need not be tried at any.
                if side * side <= forward * forward + up * up + 1e-9:
                    ahead.append((side, up, forward))
            for horizon, sin_p, cos_p in tilts:
                for side, up, forward in ahead:
                    depth = forward * cos_p - up * sin_p
                    if depth > 0.0 and side <= depth and abs(up * cos_p + forward * sin_p) <= depth:
                        sightings.append((x, z, yaw, horizon))
                        break
    return tuple(sightings)
