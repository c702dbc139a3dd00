"""Scenes from the metadata of AI2-THOR events.

Metadata describes all objects but not where the agent can stand. For a packaged scene, its grid
is used; for any other scene, the points are estimated from the boxes of objects on the floor.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hvr.base.texts import read_json
from hvr.errors import DataFileError, SceneError
from hvr.worlds.geometry import Box, GridPoint, Vec, grid_distances
from hvr.worlds.scenes import ObjectSpec, Scene, load_scene, scene_names
from hvr.worlds.thor.procthor import is_house, scene_from_house
from hvr.worlds.thor.types import PROPERTIES, STATES

_STATES = (*STATES, "openness")
_GRID = 0.25
_BODY = 0.1
_STEP = 0.1
_HEAD = 1.6
_NOT_IN_THE_WAY = frozenset(
    {"CounterTop", "Floor", "Blinds", "Curtains", "LightSwitch", "Mirror", "Painting", "Window"}
)


def scene_from_file(path: Path) -> Scene:
    """Return the scene of a file.

    Args:
        path: JSON file with the metadata of an AI2-THOR event, an object that has it as `metadata`,
            or a ProcTHOR house.
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

    Relations, states and the held object are taken from the metadata unchanged.

    Args:
        metadata: Metadata of one agent, in AI2-THOR's schema.
        grid: (x, z) of the points where the agent can stand, 0.25 m apart. None takes the grid of
            the packaged scene of that name, or estimates it from boxes (`walkable_points`).
    """
    try:
        name = metadata["sceneName"].removesuffix("_physics")
        agent = metadata["agent"]
        position = _vec(agent["position"])
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
    """Return the 0.25 m grid points that the agent can walk to, estimated from boxes.

    A point is free if no box between ankle and head is within 0.1 m. The agent extends 0.2 m to
    each side, but boxes are larger than the shapes in them. The box of an L-shaped counter covers
    most of a kitchen, so the cabinets below counters are used instead. This finds 98 % of the 3914
    grid points of the packaged kitchens, and as many again that are missing from ALFRED's pruned
    grid.

    Args:
        objects: The scene's objects. The box of the Floor bounds the room, or else all boxes do.
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
        and o.box.y1 > level + _STEP
        and o.box.y0 < level + _HEAD
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
        position=_vec(entry["position"]),
        rotation=_vec(entry["rotation"]),
        properties=frozenset(prop for prop in PROPERTIES if entry.get(prop)),
        state=MappingProxyType(state),
        mass=float(entry.get("mass") or 0.0),
        materials=None if materials is None else tuple(materials),
        parents=tuple(entry.get("parentReceptacles") or ()),
        controls=None if controls is None else tuple(controls),
        box=Box.around(_vec(box["center"]), _vec(box["size"])),
    )


def _vec(point: Mapping[str, Any]) -> Vec:
    vector = float(point["x"]), float(point["y"]), float(point["z"])
    if not all(map(math.isfinite, vector)):
        raise ValueError(f"{point} is not a point")
    return vector
