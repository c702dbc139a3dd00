"""Observation: convert AI2-THOR's metadata to a scene graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hvr.knowledge.scene_graph import Extent, SceneGraph, SceneObject
from hvr.worlds.naming import Names

ATTRIBUTES = (
    "receptacle",
    "toggleable",
    "isToggled",
    "breakable",
    "isBroken",
    "canFillWithLiquid",
    "isFilledWithLiquid",
    "fillLiquid",
    "dirtyable",
    "isDirty",
    "canBeUsedUp",
    "isUsedUp",
    "cookable",
    "isCooked",
    "temperature",
    "isHeatSource",
    "isColdSource",
    "sliceable",
    "isSliced",
    "openable",
    "isOpen",
    "openness",
    "pickupable",
    "isPickedUp",
    "moveable",
)
"""Metadata fields that become attributes."""

_BREAKS_APART = frozenset(
    {"Bottle", "Bowl", "Cup", "Egg", "Mug", "Plate", "Statue", "Vase", "WineBottle"}
)


def scene_graph(metadata: Mapping[str, Any], names: Names) -> SceneGraph:
    """Return an event's scene in hvr's names.

    * `parents` are the direct receptacles, innermost first. Receptacles that contain another parent
      are left out; so is the Floor if there is another parent.
    * Objects in the held receptacle have it as parent, although AI2-THOR reports none.
    * Remains of sliced or broken objects stay, without parents and out of reach.
    * A filled WineBottle without a liquid from AI2-THOR contains wine.
    * `controls` contains (knob, burner) from `controlledObjects`, and (faucet, basin) for the
    nearest
      SinkBasin.
    """
    entries = {o["objectId"]: o for o in metadata["objects"]}
    inventory = metadata.get("inventoryObjects") or ()
    held_id = inventory[0]["objectId"] if inventory else None
    objects: dict[str, SceneObject] = {}
    for object_id, entry in entries.items():
        name = names.name(object_id)
        position = entry["position"]
        inert = is_inert(entry)
        objects[name] = SceneObject(
            name=name,
            object_type=entry["objectType"],
            object_id=object_id,
            attributes=MappingProxyType(_attributes(entry)),
            parents=()
            if inert
            else tuple(names.name(p) for p in direct_parents(entry, entries, held_id)),
            position=(position["x"], position["y"], position["z"]),
            in_reach=bool(entry.get("isInteractable", entry["visible"])) and not inert,
            distance=float(entry["distance"]),
            extent=_extent(entry),
        )
    return SceneGraph(
        scene=str(metadata.get("sceneName", "")).removesuffix("_physics"),
        objects=MappingProxyType(objects),
        held=names.name(held_id) if held_id is not None else None,
        controls=tuple((names.name(a), names.name(b)) for a, b in controls(list(entries.values()))),
    )


def _extent(entry: Mapping[str, Any]) -> Extent | None:
    box = entry.get("axisAlignedBoundingBox")
    if not box or not box.get("size"):
        return None
    (cx, cy, cz), (w, h, d) = ([b[a] for a in "xyz"] for b in (box["center"], box["size"]))
    return cx - w / 2, cy - h / 2, cz - d / 2, cx + w / 2, cy + h / 2, cz + d / 2


def is_inert(entry: Mapping[str, Any]) -> bool:
    """Return whether the object is only the remains of a sliced or shattered object."""
    return bool(entry["isSliced"] or (entry["isBroken"] and entry["objectType"] in _BREAKS_APART))


def direct_parents(
    entry: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]], held_id: str | None
) -> tuple[str, ...]:
    """Return the ids of the receptacles that directly hold an object, innermost first."""
    object_id = entry["objectId"]
    if object_id == held_id or entry["isPickedUp"]:
        return ()
    parents = [p for p in entry.get("parentReceptacles") or () if p in entries and p != object_id]
    if not parents:
        if held_id is not None and _rides_on(entry, entries.get(held_id)):
            return (held_id,)
        return ()
    # For a mug in a bowl on a table, AI2-THOR reports both, but the table only holds the bowl.
    if len(parents) > 1:
        around = {p: _ancestors(p, entries) for p in parents}
        parents = [
            p
            for p in parents
            if not any(p in around[q] and q not in around[p] for q in parents if q != p)
        ]
    if len(parents) > 1:
        parents = [p for p in parents if entries[p]["objectType"] != "Floor"] or parents
    return tuple(sorted(parents, key=lambda p: (_tightness(entry, entries[p]), p)))


def _ancestors(object_id: str, entries: Mapping[str, Mapping[str, Any]]) -> set[str]:
    seen: set[str] = set()
    todo = [object_id]
    while todo:
        for outer in entries.get(todo.pop(), {}).get("parentReceptacles") or ():
            if outer not in seen:
                seen.add(outer)
                todo.append(outer)
    return seen


def _tightness(entry: Mapping[str, Any], parent: Mapping[str, Any]) -> tuple[float, float]:
    box, around = entry["axisAlignedBoundingBox"], parent["axisAlignedBoundingBox"]
    size, a, b = around["size"], box["center"], around["center"]
    return round(size["x"] * size["z"], 3), math.hypot(a["x"] - b["x"], a["z"] - b["z"])


def _rides_on(entry: Mapping[str, Any], held: Mapping[str, Any] | None) -> bool:
    """Return whether an object without parents lies in the held object, also on a high pile."""
    if held is None or not held["receptacle"] or not entry["pickupable"] or is_inert(entry):
        return False
    a, b = entry["axisAlignedBoundingBox"]["center"], held["axisAlignedBoundingBox"]
    below = b["center"]["y"] - b["size"]["y"] / 2 - 0.3
    return a["y"] >= below and all(
        abs(a[axis] - b["center"][axis]) <= b["size"][axis] / 2 + 0.05 for axis in "xz"
    )


def _attributes(entry: Mapping[str, Any]) -> dict[str, Any]:
    attributes = {key: entry[key] for key in ATTRIBUTES if key in entry}
    wine = entry["objectType"] == "WineBottle" and attributes.get("isFilledWithLiquid")
    if wine and attributes.get("fillLiquid") is None:
        attributes["fillLiquid"] = "wine"
    return attributes


def controls(entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return (control, controlled) id pairs: knob and burner, faucet and nearest basin."""
    ids = {entry["objectId"] for entry in entries}
    basins = [entry for entry in entries if entry["objectType"] == "SinkBasin"]
    pairs = []
    for entry in entries:
        for controlled in entry.get("controlledObjects") or ():
            if controlled in ids:
                pairs.append((entry["objectId"], controlled))
        if entry["objectType"] == "Faucet" and basins:
            at = entry["position"]

            def apart(basin: Mapping[str, Any], at: Mapping[str, Any] = at) -> float:
                center = basin["axisAlignedBoundingBox"]["center"]
                return math.hypot(center["x"] - at["x"], center["z"] - at["z"])

            nearest = min(basins, key=lambda basin: (apart(basin), basin["objectId"]))
            pairs.append((entry["objectId"], nearest["objectId"]))
    return pairs
