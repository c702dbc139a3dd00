"""Scenes from ProcTHOR's house files (schema 1.0.0), without Unity."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hvr.base.texts import read_json
from hvr.errors import DataFileError, SceneError
from hvr.values import Value
from hvr.worlds.scenes import (
    Box,
    GridPoint,
    ObjectSpec,
    Scene,
    Vec,
    grid_distances,
    load_scene,
    scene_names,
)
from hvr.worlds.thor.observe import FLOOR, PROPERTIES, STATES

# Assets -------------------------------------------------------------------------------------------
# Sizes, properties, masses and materials of assets and types in iTHOR's recorded rooms.

_NUMBER = re.compile(r"_?\d+$")
_TURN = 1.0
"""Maximum deviation in degrees from a quarter turn at which a box has the object's true size."""


class AssetFacts(Value):
    """Facts about an asset, or about all objects of a type.

    Args:
        size: Edge lengths of the unrotated box in metres.
    """

    object_type: str
    size: Vec
    properties: frozenset[str]
    mass: float
    materials: tuple[str, ...] | None


class AssetBook(Value):
    """Facts about assets and types.

    Args:
        types: Facts about each type: medians and majorities of its assets.
        stems: Types by the asset's name in lower case and without its number.
    """

    assets: Mapping[str, AssetFacts]
    types: Mapping[str, AssetFacts]
    stems: Mapping[str, str]

    def type_of(self, asset: str, identifier: str) -> str | None:
        if asset in self.assets:
            return self.assets[asset].object_type
        named = identifier.partition("|")[0]
        if named in self.types:
            return named
        stem = _NUMBER.sub("", asset)
        return stem if stem in self.types else self.stems.get(stem.lower())


@lru_cache(maxsize=1)
def recorded_assets() -> AssetBook:
    """Collect the facts about all assets and types in the packaged rooms."""
    by_type: dict[str, list[ObjectSpec]] = defaultdict(list)
    by_asset: dict[str, list[ObjectSpec]] = defaultdict(list)
    stems: dict[str, Counter[str]] = defaultdict(Counter)
    for scene in scene_names():
        for spec in load_scene(scene).objects:
            by_type[spec.object_type].append(spec)
            if spec.asset_id:
                by_asset[spec.asset_id].append(spec)
                stems[_NUMBER.sub("", spec.asset_id).lower()][spec.object_type] += 1
    return AssetBook(
        {asset: _facts(specs) for asset, specs in by_asset.items()},
        {name: _facts(specs) for name, specs in by_type.items()},
        {stem: types.most_common(1)[0][0] for stem, types in stems.items()},
    )


def rotated_size(size: Vec, yaw: float) -> Vec:
    """Return the edge lengths of the axis-aligned box around a rotated box."""
    cosine, sine = abs(math.cos(math.radians(yaw))), abs(math.sin(math.radians(yaw)))
    width, height, depth = size
    return width * cosine + depth * sine, height, width * sine + depth * cosine


def _facts(specs: Iterable[ObjectSpec]) -> AssetFacts:
    specs = list(specs)
    straight = [spec for spec in specs if abs((spec.rotation[1] + 45) % 90 - 45) <= _TURN]
    sizes = [rotated_size(spec.box.size, spec.rotation[1]) for spec in straight or specs]
    properties = Counter(name for spec in specs for name in spec.properties)
    materials = Counter(spec.materials for spec in specs)
    return AssetFacts(
        Counter(spec.object_type for spec in specs).most_common(1)[0][0],
        tuple(statistics.median(lengths) for lengths in zip(*sizes, strict=True)),
        frozenset(name for name, number in properties.items() if 2 * number > len(specs)),
        statistics.median(spec.mass for spec in specs),
        materials.most_common(1)[0][0],
    )


# Houses -------------------------------------------------------------------------------------------
# A house file lists the assets of its objects, their positions and their contents, but no shapes.
# An object gets the box of the same asset in iTHOR's rooms, or the median box of its type. Parts of
# assets that are separate objects in AI2-THOR (burners, knobs, basins, faucets, drawers) are not in
# the file.

SCHEMA = "1.0.0"
_GRID = 0.25
_BODY = 0.1
_STEP, _HEAD = 0.1, 1.6
_ON_WALLS = frozenset({"Blinds", "Curtains", "LightSwitch", "Mirror", "Painting", "Window"})
_FLOOR_ID = f"{FLOOR}|house"
_MOST_DEPTH = 20
_THIN, _THICK = 0.01, 0.3

_Point = tuple[float, float]
_Segment = tuple[_Point, _Point]


def is_house(content: object) -> bool:
    return isinstance(content, Mapping) and "proceduralParameters" in content


def scene_from_house(house: Mapping[str, Any], path: Path) -> Scene:
    """Return the scene of a ProcTHOR house, named after the file `path`.

    Raises:
        SceneError: The house is invalid or follows another schema.
    """
    try:
        schema = house.get("metadata", {}).get("schema", SCHEMA)
        if schema != SCHEMA:
            raise SceneError(f"{path}: expected ProcTHOR schema {SCHEMA}, found {schema}")
        return _House(house, recorded_assets()).scene(re.sub(r"\W", "", path.stem) or "house")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise SceneError(
            f"{path}: not a ProcTHOR house of schema {SCHEMA} ({type(error).__name__}: {error}): "
            "rooms, objects and metadata.agent are needed"
        ) from error


class _House:
    def __init__(self, house: Mapping[str, Any], book: AssetBook) -> None:
        self.house = house
        self.book = book
        self.rooms = [[_flat(p) for p in room["floorPolygon"]] for room in house["rooms"]]
        if not self.rooms or any(len(room) < 3 for room in self.rooms):
            raise ValueError("a room needs a floorPolygon of three points or more")
        self.unknown: Counter[str] = Counter()
        self.estimated: Counter[str] = Counter()

    def scene(self, name: str) -> Scene:
        objects = [self._floor(), *self._objects(self.house["objects"], (), 0)]
        if len({one.object_id for one in objects}) < len(objects):
            raise ValueError("two objects have the same id")
        agent = self.house["metadata"]["agent"]
        position = _vec(agent["position"])
        ground = _Ground(self.rooms, list(self._walls()), objects)
        return Scene(
            name=name,
            objects=tuple(sorted(objects, key=lambda one: one.object_id)),
            start_position=position,
            start_yaw=float(agent.get("rotation", {}).get("y", 0.0)) % 360.0,
            start_horizon=float(agent.get("horizon", 0.0)),
            grid=ground.reached((position[0], position[2])),
            start_standing=bool(agent.get("standing", True)),
            notes=tuple(self._notes(len(objects) - 1)),
        )

    def _floor(self) -> ObjectSpec:
        points = [point for room in self.rooms for point in room]
        (x0, x1), (z0, z1) = ((min(side), max(side)) for side in zip(*points, strict=True))
        facts = self.book.types[FLOOR]
        return ObjectSpec(
            _FLOOR_ID,
            FLOOR,
            FLOOR,
            "",
            (0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0),
            facts.properties,
            mass=facts.mass,
            materials=facts.materials,
            box=Box(x0, -0.1, z0, x1, 0.0, z1),
        )

    def _objects(
        self, entries: Sequence[Mapping[str, Any]], parents: tuple[str, ...], depth: int
    ) -> Iterator[ObjectSpec]:
        """Yield objects and their children; an unknown object's children get its parents."""
        if depth > _MOST_DEPTH:
            raise ValueError(f"children more than {_MOST_DEPTH} levels deep")
        for entry in entries:
            identifier, asset = str(entry["id"]), str(entry.get("assetId") or "")
            kind = self.book.type_of(asset, identifier)
            inside = parents
            if kind is None:
                self.unknown[identifier.partition("|")[0]] += 1
            else:
                facts = self.book.assets.get(asset)
                if facts is None:
                    facts = self.book.types[kind]
                    self.estimated[kind] += 1
                yield _spec(entry, identifier, asset, facts, kind, parents or (_FLOOR_ID,))
                inside = (identifier, *parents)
            yield from self._objects(entry.get("children") or (), inside, depth + 1)

    def _walls(self) -> Iterator[_Segment]:
        feet = {
            str(wall["id"]): _foot(wall["polygon"])
            for wall in self.house.get("walls") or ()
            if not wall.get("empty")
        }
        openings = list(self._openings(feet))
        whole = list(feet.values()) or [
            side for room in self.rooms for side in zip(room, [*room[1:], room[0]], strict=True)
        ]
        for wall in whole:
            yield from _cut(wall, [span for one in openings if (span := _along(one, wall))])

    def _openings(self, feet: Mapping[str, _Segment]) -> Iterator[_Segment]:
        for door in self.house.get("doors") or ():
            rooms = {door["room0"], door["room1"]}
            shut = door.get("openable") and not door.get("openness", 1)
            foot = feet.get(str(door.get("wall0")))
            if len(rooms) == 2 and "exterior" not in rooms and not shut and foot is not None:
                along = [float(point["x"]) for point in door["holePolygon"]]
                yield _at(foot, min(along)), _at(foot, max(along))

    def _notes(self, number: int) -> Iterator[str]:
        known = number - self.estimated.total()
        yield (
            f"a ProcTHOR house: {known} of {number} objects have the size and the properties that "
            f"their asset has in iTHOR's rooms; for {self.estimated.total()} they are estimated "
            "from the median of their type"
        )
        yield (
            "parts of assets (burners, knobs, basins, faucets, drawers), windows and doors are not "
            "objects of the scene; where the robot can stand is estimated from walls and boxes"
        )
        if self.unknown:
            named = ", ".join(f"{kind} ({n})" for kind, n in sorted(self.unknown.items()))
            yield f"left out because hvr does not know the type: {named}"


def _spec(
    entry: Mapping[str, Any],
    identifier: str,
    asset: str,
    facts: AssetFacts,
    kind: str,
    parents: tuple[str, ...],
) -> ObjectSpec:
    position, rotation = _vec(entry["position"]), _vec(entry.get("rotation") or _UPRIGHT)
    openness = entry.get("openness")
    state: dict[str, Any] = {}
    if openness and "openable" in facts.properties:
        state = {"isOpen": True, "openness": float(openness)}
    for source, field, required in (
        ("isOn", "isToggled", "toggleable"),
        ("isDirty", "isDirty", "dirtyable"),
    ):
        if entry.get(source) is not None and required in facts.properties:
            state[field] = bool(entry[source])
    return ObjectSpec(
        object_id=identifier,
        object_type=kind,
        name=identifier,
        asset_id=asset,
        position=position,
        rotation=rotation,
        properties=facts.properties,
        state=MappingProxyType(state),
        mass=facts.mass,
        materials=facts.materials,
        parents=parents,
        controls=() if "toggleable" in facts.properties else None,
        box=Box.around(position, rotated_size(facts.size, rotation[1])),
    )


class _Ground:
    def __init__(
        self,
        rooms: Sequence[Sequence[_Point]],
        walls: Sequence[_Segment],
        objects: Sequence[ObjectSpec],
    ) -> None:
        self._rooms, self._walls = rooms, walls
        self._boxes = [
            one.box
            for one in objects
            if one.object_type not in _ON_WALLS
            and one.object_id != _FLOOR_ID
            and one.box.y1 > _STEP
            and one.box.y0 < _HEAD
        ]

    def reached(self, start: _Point) -> tuple[_Point, ...]:
        first = (round(start[0] / _GRID) * _GRID, round(start[1] / _GRID) * _GRID)
        reached = grid_distances(first, lambda a, b: self._free(b) and self._open(a, b))
        return tuple(sorted({*reached, start}))

    def _free(self, point: _Point) -> bool:
        return (
            any(_inside(point, room) for room in self._rooms)
            and all(box.distance(*point) >= _BODY for box in self._boxes)
            and all(_distance(point, wall) >= _BODY for wall in self._walls)
        )

    def _open(self, one: _Point, two: _Point) -> bool:
        return not any(_cross(one, two, *wall) for wall in self._walls)


_UPRIGHT = MappingProxyType({"x": 0.0, "y": 0.0, "z": 0.0})


def _foot(polygon: Sequence[Mapping[str, Any]]) -> _Segment:
    lowest = min(float(point["y"]) for point in polygon)
    points = [_flat(point) for point in polygon if float(point["y"]) <= lowest + _THIN]
    return points[0], points[-1]


def _at(segment: _Segment, distance: float) -> _Point:
    (ax, az), (bx, bz) = segment
    length = math.dist(*segment)
    share = min(max(distance / length, 0.0), 1.0) if length else 0.0
    return ax + share * (bx - ax), az + share * (bz - az)


def _along(opening: _Segment, wall: _Segment) -> tuple[float, float] | None:
    # A wall between two rooms is stored once per room, possibly in opposite directions.
    if any(_distance(point, wall) > _THICK for point in opening):
        return None
    (ax, az), (bx, bz) = wall
    length = math.dist(*wall) or 1.0
    spans = [((x - ax) * (bx - ax) + (z - az) * (bz - az)) / length for x, z in opening]
    return None if max(spans) - min(spans) < _THIN else (min(spans), max(spans))


def _cut(wall: _Segment, openings: Sequence[tuple[float, float]]) -> Iterator[_Segment]:
    place, length = 0.0, math.dist(*wall)
    for begin, stop in sorted(openings):
        if begin > place:
            yield _at(wall, place), _at(wall, begin)
        place = max(place, stop)
    if place < length:
        yield _at(wall, place), wall[1]


def _inside(point: _Point, polygon: Sequence[_Point]) -> bool:
    x, z = point
    crossings = sum(
        (az > z) != (bz > z) and x < (bx - ax) * (z - az) / (bz - az) + ax
        for (ax, az), (bx, bz) in zip(polygon, [*polygon[1:], polygon[0]], strict=True)
    )
    return crossings % 2 == 1


def _distance(point: _Point, segment: _Segment) -> float:
    (ax, az), (bx, bz) = segment
    dx, dz = bx - ax, bz - az
    square = dx * dx + dz * dz
    share = ((point[0] - ax) * dx + (point[1] - az) * dz) / square if square else 0.0
    share = min(max(share, 0.0), 1.0)
    return math.dist(point, (ax + share * dx, az + share * dz))


def _cross(a: _Point, b: _Point, c: _Point, d: _Point) -> bool:
    def side(p: _Point, q: _Point, r: _Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) <= 0 and side(c, d, a) * side(c, d, b) <= 0


def _flat(point: Mapping[str, Any]) -> _Point:
    x, _, z = _vec(point)
    return x, z


def _vec(point: Mapping[str, Any]) -> Vec:
    vector = float(point["x"]), float(point.get("y", 0.0)), float(point["z"])
    if not all(map(math.isfinite, vector)):
        raise ValueError(f"expected a point of finite numbers, found {point}")
    return vector


# Recorded -----------------------------------------------------------------------------------------
# Scenes from the metadata of AI2-THOR events.
#
# Metadata describes all objects but not where the agent can stand. For a packaged scene, its grid
# is used; for any other scene, the points are estimated from the boxes of objects on the floor.

_STATES = (*STATES, "openness")
_STEP_recorded = 0.1
_HEAD_recorded = 1.6
_NOT_IN_THE_WAY = frozenset(
    {"CounterTop", "Floor", "Blinds", "Curtains", "LightSwitch", "Mirror", "Painting", "Window"}
)


def scene_from_file(path: Path) -> Scene:
    """Return the scene in a JSON file.

    Args:
        path: File with a ProcTHOR house or with the metadata of an AI2-THOR event, directly or
            under the key `metadata`.

    Raises:
        SceneError: The file cannot be read, or contains neither.
    """
    try:
        content = read_json(path)
    except DataFileError as error:
        raise SceneError(str(error)) from error
    if is_house(content):
        return scene_from_house(content, path)
    if isinstance(content, Mapping) and isinstance(content.get("metadata"), Mapping):
        content = content["metadata"]
    if not isinstance(content, Mapping):
        raise SceneError(f"{path}: not the metadata of an AI2-THOR event: expected a JSON object")
    try:
        return scene_from_metadata(content)
    except SceneError as error:
        raise SceneError(f"{path}: {error}") from error


def scene_from_metadata(
    metadata: Mapping[str, Any], grid: Iterable[tuple[float, float]] | None = None
) -> Scene:
    """Return the scene at the moment of an event.

    Relations, states and the held object are taken unchanged from the metadata.

    Args:
        metadata: Metadata of one agent, in AI2-THOR's schema.
        grid: (x, z) of the points where the agent can stand, 0.25 m apart. None means the grid of
            the packaged scene with this name, or an estimate by `walkable_points`.

    Raises:
        SceneError: A field is missing or invalid.
    """
    try:
        name = metadata["sceneName"].removesuffix("_physics")
        agent = metadata["agent"]
        position = _vec_recorded(agent["position"])
        objects = tuple(
            sorted((_object(entry) for entry in metadata["objects"]), key=lambda o: o.object_id)
        )
        held = [entry["objectId"] for entry in metadata.get("inventoryObjects") or ()]
        points = grid
        if points is None and name in scene_names():
            points = load_scene(name).grid
        if points is None:
            points = walkable_points(objects, (position[0], position[2]))
        return Scene(
            name=name,
            objects=objects,
            start_position=position,
            start_yaw=float(agent["rotation"]["y"]) % 360.0,
            start_horizon=float(agent["cameraHorizon"]) + 0.0,
            grid=tuple(sorted({*points, (position[0], position[2])})),
            held=held[0] if held else None,
            start_standing=bool(agent.get("isStanding", True)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise SceneError(
            f"not the metadata of an AI2-THOR event ({type(error).__name__}: {error}): sceneName, "
            "agent and objects are needed"
        ) from error


def walkable_points(
    objects: Iterable[ObjectSpec], start: tuple[float, float]
) -> tuple[tuple[float, float], ...]:
    """Return the 0.25 m grid points that the agent can reach, estimated from boxes.

    A point is free if no box between ankle and head is within 0.1 m. The agent extends 0.2 m to
    each side, but boxes are larger than the objects in them. The box of an L-shaped counter covers
    most of a kitchen, so the cabinets below counters are used instead. The box of the Floor limits
    the room; without a Floor, all boxes together do. This finds 98 % of the 3914 grid points of the
    packaged kitchens, and about as many further points, which ALFRED's pruned grid lacks.
    """
    known = list(objects)
    floors = [o.box for o in known if o.object_type == "Floor"] or [o.box for o in known]
    level = min((b.y1 for b in floors), default=0.0)
    x0, x1 = min(b.x0 for b in floors), max(b.x1 for b in floors)
    z0, z1 = min(b.z0 for b in floors), max(b.z1 for b in floors)
    obstacles = [
        o.box
        for o in known
        if o.object_type not in _NOT_IN_THE_WAY
        and o.box.y1 > level + _STEP_recorded
        and o.box.y0 < level + _HEAD_recorded
    ]

    def is_free(_: GridPoint, point: GridPoint) -> bool:
        x, z = point
        inside = x0 + _BODY <= x <= x1 - _BODY and z0 + _BODY <= z <= z1 - _BODY
        return inside and all(box.distance(x, z) >= _BODY for box in obstacles)

    first = (round(start[0] / _GRID) * _GRID, round(start[1] / _GRID) * _GRID)
    return tuple(sorted(grid_distances(first, is_free)))


def _object(entry: Mapping[str, Any]) -> ObjectSpec:
    box = entry["axisAlignedBoundingBox"]
    state = {key: entry[key] for key in _STATES if key in entry}
    materials, controls = entry.get("salientMaterials"), entry.get("controlledObjects")
    return ObjectSpec(
        object_id=str(entry["objectId"]),
        object_type=str(entry["objectType"]),
        name=str(entry["name"]),
        asset_id=str(entry.get("assetId") or ""),
        position=_vec_recorded(entry["position"]),
        rotation=_vec_recorded(entry["rotation"]),
        properties=frozenset(prop for prop in PROPERTIES if entry.get(prop)),
        state=MappingProxyType(state),
        mass=float(entry.get("mass") or 0.0),
        materials=None if materials is None else tuple(materials),
        parents=tuple(entry.get("parentReceptacles") or ()),
        controls=None if controls is None else tuple(controls),
        box=Box.around(_vec_recorded(box["center"]), _vec_recorded(box["size"])),
    )


def _vec_recorded(point: Mapping[str, Any]) -> Vec:
    vector = float(point["x"]), float(point["y"]), float(point["z"])
    if not all(map(math.isfinite, vector)):
        raise ValueError(f"expected a point of finite numbers, found {point}")
    return vector
