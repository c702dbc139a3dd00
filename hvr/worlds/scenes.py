"""Scenes: their initial objects and the points where the agent can stand.

iTHOR's rooms are the files `FloorPlanN.json.gz` in the `scenes` folder of their world, built by
`tools/build_scenes.py`. `data/README.md` lists the sources and the rules for cleaning recorded
relations.
"""

from __future__ import annotations

import difflib
import gzip
import json
import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from hvr.errors import SceneError
from hvr.knowledge.world_file import load_world, scene_files
from hvr.values import Value, cached_property

# Geometry -----------------------------------------------------------------------------------------


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
    """Return the reachable grid points, each with its number of moves from `start`.

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


# Scenes -------------------------------------------------------------------------------------------


NO_BOX = Box(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The box of an object without extent."""


@dataclass(frozen=True)
class ObjectSpec:
    """One object in the initial state of a scene.

    Args:
        position: Pivot in metres.
        rotation: Euler angles in degrees.
        properties: Property fields that are true (`pickupable`, `receptacle`, …).
        state: State fields that differ from their defaults (`isToggled`, …).
        parents: Ids of the receptacles that hold the object, innermost first.
        controls: Ids of the objects that it switches, or None if it is not toggleable.
    """

    object_id: str
    object_type: str
    name: str
    asset_id: str
    position: Vec
    rotation: Vec
    properties: frozenset[str]
    state: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    mass: float = 0.0
    materials: tuple[str, ...] | None = None
    parents: tuple[str, ...] = ()
    controls: tuple[str, ...] | None = None
    box: Box = NO_BOX

    @cached_property
    def is_fixture(self) -> bool:
        """Whether the object belongs to the room: it is neither pickupable nor moveable."""
        return not ("pickupable" in self.properties or "moveable" in self.properties)


class LegacyReceptacle(Value):
    """A receptacle or appliance whose position differs in AI2-THOR 2.1.0."""

    object_id: str
    object_type: str
    position: Vec


class Scene(Value):
    """The initial state of a scene.

    Args:
        objects: Objects in the order of their ids.
        start_position: Initial `agent.position` in metres.
        start_horizon: Initial horizon in degrees; positive looks down.
        grid: (x, z) of the points where the agent can stand, 0.25 m apart.
        held: Id of the object in the agent's hand, if any.
        start_standing: Whether the agent stands rather than crouches.
        notes: Values that were estimated and parts that were omitted, one sentence each.
    """

    name: str
    objects: tuple[ObjectSpec, ...]
    start_position: Vec
    start_yaw: float
    start_horizon: float
    grid: tuple[tuple[float, float], ...]
    legacy: tuple[LegacyReceptacle, ...] = ()
    held: str | None = None
    start_standing: bool = True
    notes: tuple[str, ...] = ()


def scene_names(world: str | None = None) -> tuple[str, ...]:
    """Return the names of a world's packaged scenes in natural order (None: of all worlds)."""
    every = scene_files()
    return (
        tuple(every) if world is None else tuple(n for n in every if n in load_world(world).scenes)
    )


def is_recorded(scene: str) -> bool:
    """Return whether a scene is given as the path of a JSON file rather than by name."""
    return scene.endswith(".json")


def load_scene(name: str) -> Scene:
    """Load a scene.

    Args:
        name: Name of a packaged scene, with or without AI2-THOR's suffix `_physics`; or path of a
            .json file with the metadata of an AI2-THOR event or a ProcTHOR house.

    Raises:
        SceneError: The scene does not exist (the message suggests similar names), or its file is
            damaged.
    """
    if is_recorded(name):
        from hvr.worlds.thor.imported_scenes import scene_from_file

        return scene_from_file(Path(name))
    return _packaged(name)


@lru_cache(maxsize=128)
def _packaged(name: str) -> Scene:
    plain = name.removesuffix("_physics")
    known = scene_files()
    path = known.get(plain)
    if path is None:
        near = difflib.get_close_matches(plain, known, n=3, cutoff=0.5)
        raise SceneError(
            f"unknown scene {name!r}"
            + (f"; did you mean {' or '.join(near)}?" if near else "")
            + (
                f" ({len(known)} scenes: {', '.join(_scene_ranges())})"
                if known
                else ": reinstall hvr"
            )
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SceneError(f"the file of scene {plain} cannot be read: {error}") from error
    return parse_scene(data, str(path))


def _scene_ranges() -> list[str]:
    by_world: dict[Path, list[str]] = {}
    for name, path in scene_files().items():
        by_world.setdefault(path.parent, []).append(name)
    return [f"{names[0]} to {names[-1]}" for names in by_world.values()]


def parse_scene(data: bytes, source: str) -> Scene:
    try:
        raw = json.loads(gzip.decompress(data))
        start = raw["start"]
        return Scene(
            name=raw["name"],
            objects=tuple(_object(entry) for entry in raw["objects"]),
            start_position=vector(start["position"]),
            start_yaw=float(start["yaw"]),
            start_horizon=float(start["horizon"]),
            grid=tuple((float(x), float(z)) for x, z in raw["grid"]),
            legacy=tuple(
                LegacyReceptacle(entry["id"], entry["type"], vector(entry["pos"]))
                for entry in raw.get("legacy", ())
            ),
        )
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SceneError(
            f"{source} is damaged ({type(error).__name__}: {error}): reinstall hvr"
        ) from error


def _object(entry: Mapping[str, Any]) -> ObjectSpec:
    center, size = vector(entry["box"][:3]), vector(entry["box"][3:])
    materials, controls = entry.get("mat"), entry.get("ctl")
    return ObjectSpec(
        object_id=entry["id"],
        object_type=entry["type"],
        name=entry["name"],
        asset_id=entry.get("asset", ""),
        position=vector(entry["pos"]),
        rotation=vector(entry.get("rot", (0, 0, 0))),
        properties=frozenset(entry["props"]),
        state=MappingProxyType(dict(entry.get("state", {}))),
        mass=float(entry.get("mass", 0.0)),
        materials=None if materials is None else tuple(materials),
        parents=tuple(entry.get("in", ())),
        controls=None if controls is None else tuple(controls),
        box=Box.around(center, size),
    )


def scenes_with(object_types: Collection[str], world: str | None = None) -> tuple[str, ...]:
    """Return the scenes (None: of all worlds) that contain an object of one of the types."""
    return tuple(
        name
        for name in scene_names(world)
        if any(o.object_type in object_types for o in load_scene(name).objects)
    )


# Usual places -------------------------------------------------------------------------------------

PlaceCounts = Mapping[str, Mapping[str, int]]
"""Numbers of objects, by type and place: `{"Mug": {"CounterTop": 12, "Cabinet": 3}}`."""


@lru_cache(maxsize=1)
def place_counts() -> PlaceCounts:
    """Return how many objects of each class are at each place; see `tools/count_places.py`."""
    path = files("hvr.worlds") / "data" / "places.json"
    counts: PlaceCounts = json.loads(path.read_text(encoding="utf-8"))
    return counts
