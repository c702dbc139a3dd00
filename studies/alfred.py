"""Build the start scene of an ALFRED demonstration.

ALFRED's demonstrations were recorded in AI2-THOR 2.1.0. A record (one line of the extracted
`train_kitchen.jsonl`) gives the kitchen, the pose of each pickupable object, and the agent's pose.
Fixed objects come from the packaged AI2-THOR 5 kitchen of the same name; furniture and appliances
that have moved since 2.1.0 are moved back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from hvr.errors import SceneError
from hvr.worlds.kitchen.placement import Solid, holder_of
from hvr.worlds.scenes import Box, LegacyReceptacle, ObjectSpec, Scene, Vec, load_scene
from hvr.worlds.thor.observe import TypeFacts, load_facts

RENAMED = MappingProxyType({"Glassbottle": "Bottle"})
"""Object types renamed since 2.1.0."""

_MOVABLE = frozenset(
    {"CoffeeMachine", "DiningTable", "Fridge", "GarbageCan", "Microwave", "SideTable", "Toaster"}
    | {"ArmChair", "Bathtub", "BathtubBasin", "Bed", "Cart", "CoffeeTable", "Desk", "DeskLamp"}
    | {"Dresser", "FloorLamp", "HandTowelHolder", "Ottoman", "Sofa", "TVStand", "Toilet"}
    | {"ToiletPaperHanger", "TowelHolder"}
)
_GONE = {
    "Bathtub": (1.6, 0.6, 0.8),
    "Cart": (0.6, 0.9, 0.4),
    "DiningTable": (1.2, 0.75, 0.8),
    "Dresser": (1.0, 0.9, 0.5),
    "Shelf": (0.8, 0.35, 0.3),
}
"""Sizes, in metres, of furniture types that an AI2-THOR 5 room may no longer contain."""
_OPEN_AT_FIRST = frozenset({"Box", "Laptop"})
_CELL = 0.25


def scene_from_alfred(record: Mapping[str, Any]) -> Scene:
    """Return the scene in which a demonstration starts.

    * `object_poses` lists all pickupable objects; a name listed k times means k copies. Ids have
      the form that AI2-THOR assigns after setting poses, `Type|x|y|z`. Sizes come from objects of
      the same type in the packaged kitchen.
    * Parents are derived from bounding boxes (`hvr.worlds.kitchen.placement`).
    * `dirty_and_empty` makes dirtyable objects dirty and fillable ones empty.
    * `object_toggles` switches all objects of a type.
    * The agent's position comes from `init` and is added to the grid if missing.

    The fields `object_toggles` and `dirty_and_empty` are optional.
    """
    try:
        base = load_scene(str(record["floor_plan"]))
        init = record["init"]
        start = (float(init["x"]), float(init["z"]))
        fixed = [
            spec
            for spec in _as_in_2_1_0(base.objects, base.legacy)
            if "pickupable" not in spec.properties
        ]
        placed = _placed(record, base)
        toggles = {t["objectType"]: bool(t["isOn"]) for t in record.get("object_toggles", ())}
        holders = _holders([*fixed, *placed])
        objects = [_switched(spec, toggles) for spec in fixed]
        for spec in placed:
            parent = holder_of(_body(spec), holders)
            objects.append(replace(spec, parents=(parent,) if parent else ()))
        point = (round(start[0] / _CELL) * _CELL, round(start[1] / _CELL) * _CELL)
        return Scene(
            name=base.name,
            objects=tuple(sorted(objects, key=lambda o: o.object_id)),
            start_position=(start[0], base.start_position[1], start[1]),
            start_yaw=float(init["rotation"]),
            start_horizon=float(init.get("horizon", 30.0)),
            grid=tuple(sorted({*base.grid, point})),
            legacy=base.legacy,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SceneError(
            "invalid ALFRED record: expected floor_plan, object_poses and init, found "
            f"{type(error).__name__}: {error}"
        ) from error


def resolve_id(scene: Scene, alfred_id: str, first_piece: int = 0) -> str | None:
    """Return the scene id of the object that a record calls `alfred_id`.

    Without an exact match, the nearest object of the id's type is taken; None if there is none.
    Pieces are numbered from `first_piece` in the scene and from 1 in the record.
    """
    whole, _, tail = alfred_id.partition("|")
    parts = tail.split("|")
    kind = RENAMED.get(whole, whole)
    suffix = "|".join(parts[3:])
    if suffix == "SinkBasin":
        kind = "SinkBasin"
    ids = {spec.object_id for spec in scene.objects}
    plain = "|".join([kind if suffix != "SinkBasin" else whole, *parts[:3]])
    if suffix == "SinkBasin":
        plain += "|SinkBasin"
    # Ids contain positions: match a moved or differently rounded object by type and distance.
    if plain not in ids:
        try:
            x, y, z = (float(part) for part in parts[:3])
        except ValueError:
            return None
        same = [spec for spec in scene.objects if spec.object_type == kind]
        if not same:
            return None
        moved = {entry.object_id: entry for entry in scene.legacy}
        flat = alfred_id in moved
        plain = min(
            same,
            key=lambda o: (
                math.dist((o.position[0], o.position[2]), (x, z))
                if flat
                else math.dist(o.position, (x, y, z)),
                o.object_id,
            ),
        ).object_id
    if suffix and suffix != "SinkBasin":
        piece, _, k = suffix.rpartition("_")
        if not k.isdigit():
            return None
        return f"{plain}|{piece}_{max(0, int(k) - 1) + first_piece}"
    return plain


def _as_in_2_1_0(
    objects: Iterable[ObjectSpec], legacy: Iterable[LegacyReceptacle]
) -> list[ObjectSpec]:
    """Return the objects, with furniture and appliances at their places in AI2-THOR 2.1.0.

    Each receptacle of 2.1.0 is matched to the nearest object of its type, which is moved if they
    are more than 5 cm apart on the floor plan. An appliance keeps its height above its support.
    """
    result = {spec.object_id: spec for spec in objects}
    free = set(result)
    for entry in sorted(legacy, key=lambda e: e.object_id):
        if entry.object_type not in _MOVABLE and entry.object_type not in _GONE:
            continue
        x, _, z = entry.position
        same = [result[i] for i in free if result[i].object_type == entry.object_type]
        if not same:
            if not any(o.object_type == entry.object_type for o in result.values()):
                lost = _lost(entry)
                result[lost.object_id] = lost
            continue
        spec = min(
            same, key=lambda o: (math.dist((o.position[0], o.position[2]), (x, z)), o.object_id)
        )
        # Match each object once, so that two of a type never take the same place.
        free.discard(spec.object_id)
        dx, dz = x - spec.position[0], z - spec.position[2]
        if math.hypot(dx, dz) <= 0.05:
            continue
        # A small shift stays on the same support, so the height is unchanged.
        dy = entry.position[1] - spec.position[1] if math.hypot(dx, dz) > 1.0 else 0.0
        result[spec.object_id] = _shifted(spec, dx, dy, dz)
    holders = _holders(result.values())
    for object_id, spec in list(result.items()):
        if spec.parents and "moveable" in spec.properties and object_id not in free:
            parent = holder_of(_body(spec), holders)
            result[object_id] = replace(spec, parents=(parent,) if parent else ())
    return list(result.values())


def _lost(entry: LegacyReceptacle) -> ObjectSpec:
    size = _GONE.get(entry.object_type, (0.8, 0.6, 0.5))
    x, y, z = entry.position
    return ObjectSpec(
        object_id=entry.object_id,
        object_type=entry.object_type,
        name=entry.object_type,
        asset_id="",
        position=entry.position,
        rotation=(0.0, 0.0, 0.0),
        properties=frozenset({"receptacle"}),
        box=Box.around((x, y + size[1] / 2, z), size),
    )


def _shifted(spec: ObjectSpec, dx: float, dy: float, dz: float) -> ObjectSpec:
    x, y, z = spec.position
    b = spec.box
    return replace(
        spec,
        position=(x + dx, y + dy, z + dz),
        box=Box(b.x0 + dx, b.y0 + dy, b.z0 + dz, b.x1 + dx, b.y1 + dy, b.z1 + dz),
    )


def _body(spec: ObjectSpec) -> Solid:
    return Solid(spec.object_id, spec.object_type, spec.box)


def _holders(objects: Iterable[ObjectSpec]) -> list[Solid]:
    return [
        Solid(spec.object_id, spec.object_type, spec.box)
        for spec in objects
        if "receptacle" in spec.properties
    ]


def _switched(spec: ObjectSpec, toggles: Mapping[str, bool]) -> ObjectSpec:
    if spec.object_type not in toggles:
        return spec
    state = {**spec.state, "isToggled": toggles[spec.object_type]}
    return replace(spec, state=MappingProxyType(state))


def _placed(record: Mapping[str, Any], base: Scene) -> list[ObjectSpec]:
    types = load_facts().types
    dirty = bool(record.get("dirty_and_empty", False))
    samples = {o.object_type: o for o in base.objects if "pickupable" in o.properties}
    used: set[str] = set()
    placed = []
    for pose in record["object_poses"]:
        name = str(pose["name"])
        kind = name.split("_")[0]
        kind = RENAMED.get(kind, kind)
        facts = types.get(kind)
        if facts is None:
            raise SceneError(f"unknown object type {kind!r} in an ALFRED record")
        position = (float(pose["x"]), float(pose["y"]), float(pose["z"]))
        rotation = pose.get("rotation") or {}
        angles = tuple(float(rotation.get(axis, 0.0)) % 360.0 for axis in "xyz")
        object_id = _free_id(kind, position, used)
        used.add(object_id)
        sample = samples.get(kind)
        size, pivot = _size(facts, sample)
        state: dict[str, Any] = {}
        if sample is not None and not dirty:
            state.update(
                {k: v for k, v in sample.state.items() if k in ("isFilledWithLiquid", "fillLiquid")}
            )
        if dirty and "dirtyable" in facts.properties:
            state["isDirty"] = True
        if kind in _OPEN_AT_FIRST:
            state |= {"isOpen": True, "openness": 1.0}
        placed.append(
            ObjectSpec(
                object_id=object_id,
                object_type=kind,
                name=name,
                asset_id=sample.asset_id if sample is not None else "",
                position=position,
                rotation=(angles[0], angles[1], angles[2]),
                properties=sample.properties if sample is not None else facts.properties,
                state=MappingProxyType(state),
                mass=sample.mass if sample is not None else facts.mass,
                materials=facts.materials,
                box=_box(position, angles[1], size, pivot),
            )
        )
    return placed


def _size(facts: TypeFacts, sample: ObjectSpec | None) -> tuple[Vec, float]:
    """Return an object's unrotated size and the height of its pivot above its bottom, in metres."""
    if sample is None:
        return facts.size, facts.pivot_height
    x, yaw, z = sample.rotation
    if any(5.0 < angle < 355.0 for angle in (x, z)) or min(yaw % 90.0, 90.0 - yaw % 90.0) > 5.0:
        return facts.size, facts.pivot_height
    w, h, d = sample.box.size
    if round(yaw / 90.0) % 2:
        w, d = d, w
    return (w, h, d), sample.position[1] - sample.box.y0


def _box(position: Vec, yaw: float, size: Vec, pivot: float) -> Box:
    w, h, d = size
    turn = math.radians(yaw)
    c, s = abs(math.cos(turn)), abs(math.sin(turn))
    x, y, z = position
    return Box.around(
        (x, y - pivot + h / 2, z), (round(w * c + d * s, 6), h, round(w * s + d * c, 6))
    )


def _free_id(kind: str, position: Vec, used: set[str]) -> str:
    """Return `Type|x|y|z`, with a suffix if that id is taken."""
    text = "|".join(f"{value:+06.2f}" for value in position)
    object_id = f"{kind}|{text}"
    count = 1
    while object_id in used:
        count += 1
        object_id = f"{kind}|{text}|copy_{count}"
    return object_id
