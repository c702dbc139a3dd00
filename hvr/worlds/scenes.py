"""Scenes: their initial objects and the points where the agent can stand.

iTHOR's rooms are the files `FloorPlanN.json.gz` in the `scenes` folder of their world, built by
`tools/build_scenes.py`. `data/README.md` lists the sources and the rules for cleaning recorded
relations.
"""

from __future__ import annotations

import difflib
import gzip
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hvr.errors import SceneError
from hvr.knowledge.world_file import load_world, scene_files
from hvr.values import Value, cached_property
from hvr.worlds.geometry import Box, Vec, vector

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
    """Return the names of a world's packaged scenes (None: of all worlds), in natural order."""
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
            f"unknown scene {name!r}; "
            + (f"did you mean {' or '.join(near)}? " if near else "")
            + f"there are {len(known)} scenes: "
            + (", ".join(_scene_ranges()) or "reinstall hvr")
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
    """Return the scenes of a world (None: of all) that contain an object of one of the types."""
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
    """Return numbers of objects by place in the packaged scenes; see `tools/count_places.py`."""
    path = files("hvr.worlds") / "data" / "places.json"
    counts: PlaceCounts = json.loads(path.read_text(encoding="utf-8"))
    return counts
