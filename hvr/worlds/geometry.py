"""Geometry of a scene: boxes, distances and the camera.

Lengths are in metres and angles in degrees, following AI2-THOR: the y axis points up, yaw 0 looks
along +z, yaw 90 along +x, and a positive horizon looks down.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

Vec = tuple[float, float, float]
GridPoint = tuple[float, float]

CAMERA_HEIGHT = 0.675
"""Height of the standing agent's camera above `agent.position`."""

VISIBILITY_DISTANCE = 1.5
"""Range of sight and reach in metres: the horizontal distance to the nearest part of an object."""


def vector(numbers: Any) -> Vec:
    x, y, z = numbers
    return float(x), float(y), float(z)


class Box(NamedTuple):
    """An axis-aligned box, given by its lowest and highest corners."""

    x0: float
    y0: float
    z0: float
    x1: float
    y1: float
    z1: float

    @classmethod
    def around(cls, center: Vec, size: Vec) -> Box:
        """Return the box with this centre and these edge lengths."""
        (x, y, z), (w, h, d) = center, size
        return cls(x - w / 2, y - h / 2, z - d / 2, x + w / 2, y + h / 2, z + d / 2)

    @classmethod
    def of_object(cls, entry: Mapping[str, Any]) -> Box:
        """Return the bounding box in an object's AI2-THOR metadata."""
        box = entry["axisAlignedBoundingBox"]
        center, size = ((p["x"], p["y"], p["z"]) for p in (box["center"], box["size"]))
        return cls.around(center, size)

    @property
    def center(self) -> Vec:
        return ((self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2, (self.z0 + self.z1) / 2)

    @property
    def size(self) -> Vec:
        return (self.x1 - self.x0, self.y1 - self.y0, self.z1 - self.z0)

    @property
    def footprint(self) -> float:
        return (self.x1 - self.x0) * (self.z1 - self.z0)

    def distance(self, x: float, z: float) -> float:
        """Return the horizontal distance from a point to the nearest part of the box."""
        dx = max(self.x0 - x, 0.0, x - self.x1)
        dz = max(self.z0 - z, 0.0, z - self.z1)
        return math.hypot(dx, dz)

    def over(self, x: float, z: float, margin: float = 0.0) -> bool:
        """Return whether (x, z) lies within the box as seen from above, widened by `margin`."""
        return (
            self.x0 - margin <= x <= self.x1 + margin and self.z0 - margin <= z <= self.z1 + margin
        )

    def overlaps(self, other: Box, slack: float = 0.0) -> bool:
        """Return whether the boxes overlap by more than `slack` along every axis."""
        return (
            self.x0 + slack < other.x1
            and other.x0 + slack < self.x1
            and self.z0 + slack < other.z1
            and other.z0 + slack < self.z1
            and self.y0 + slack < other.y1
            and other.y0 + slack < self.y1
        )

    def within(self, other: Box, slack: float = 1e-6) -> bool:
        """Return whether this box lies inside the other one, with a tolerance of `slack`."""
        return (
            self.x0 >= other.x0 - slack
            and self.y0 >= other.y0 - slack
            and self.z0 >= other.z0 - slack
            and self.x1 <= other.x1 + slack
            and self.y1 <= other.y1 + slack
            and self.z1 <= other.z1 + slack
        )


def grid_distances(
    start: GridPoint, is_open: Callable[[GridPoint, GridPoint], bool], spacing: float = 0.25
) -> dict[GridPoint, int]:
    """Return each reachable grid point with its number of moves from `start`.

    Moves lead to the four points at distance `spacing`, where `is_open` permits it.
    """
    distances = {start: 0}
    todo = deque([start])
    while todo:
        x, z = here = todo.popleft()
        for point in ((x + spacing, z), (x - spacing, z), (x, z + spacing), (x, z - spacing)):
            if point not in distances and is_open(here, point):
                distances[point] = distances[here] + 1
                todo.append(point)
    return distances


class Camera(NamedTuple):
    """Position and direction of the agent's camera."""

    x: float
    y: float
    z: float
    yaw: float
    horizon: float

    @classmethod
    def of_agent(cls, position: Vec, yaw: float, horizon: float) -> Camera:
        """Return the camera of a standing agent at AI2-THOR's `agent.position`."""
        return cls(position[0], position[1] + CAMERA_HEIGHT, position[2], yaw, horizon)

    def sees(self, points: Iterable[Vec], spread: float = 1.0) -> bool:
        """Return whether a point lies in the square field of view, as if nothing hid it.

        `spread` is the tangent of half the field of view; 1 means 90 degrees.
        """
        sin_y, cos_y, sin_p, cos_p = _directions(self.yaw, self.horizon)
        for px, py, pz in points:
            dx, dy, dz = px - self.x, py - self.y, pz - self.z
            ahead = dx * sin_y + dz * cos_y
            depth = ahead * cos_p - dy * sin_p
            if (
                depth > 0.0
                and abs(dx * cos_y - dz * sin_y) <= depth * spread
                and abs(dy * cos_p + ahead * sin_p) <= depth * spread
            ):
                return True
        return False

    def at(self, right: float, up: float, ahead: float) -> Vec:
        """Return the world position of a point given relative to the camera, in metres."""
        sin_y, cos_y, sin_p, cos_p = _directions(self.yaw, self.horizon)
        level = ahead * cos_p + up * sin_p
        return (
            self.x + right * cos_y + level * sin_y,
            self.y - ahead * sin_p + up * cos_p,
            self.z - right * sin_y + level * cos_y,
        )


@lru_cache(maxsize=1024)
def _directions(yaw: float, horizon: float) -> tuple[float, float, float, float]:
    turn, pitch = math.radians(yaw), math.radians(horizon)
    return math.sin(turn), math.cos(turn), math.sin(pitch), math.cos(pitch)


_SPACING = 0.3
_MOST_PER_AXIS = 6


@lru_cache(maxsize=8192)
def visibility_points(box: Box) -> tuple[Vec, ...]:
    """Return points spread over a box, which replace AI2-THOR's visibility points.

    They form a lattice, inset from each face by 5 % of the edge. Neighbours are at most 0.3 m
    apart, or more if an axis would need more than six points. An edge up to 2 cm has only its
    centre.
    """
    axes: list[tuple[float, ...]] = []
    for low, high in ((box.x0, box.x1), (box.y0, box.y1), (box.z0, box.z1)):
        length = high - low
        count = min(_MOST_PER_AXIS, math.ceil(length / _SPACING) + 1) if length > 0.02 else 1
        if count == 1:
            axes.append(((low + high) / 2,))
            continue
        start, span = low + 0.05 * length, 0.9 * length
        axes.append(tuple(start + span * i / (count - 1) for i in range(count)))
    xs, ys, zs = axes
    return tuple((x, y, z) for x in xs for y in ys for z in zs)
