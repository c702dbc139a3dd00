"""Build hvr's packaged scenes and type facts from extracted AI2-THOR data.

    python tools/build_scenes.py KITCHENS OTHER_ROOMS OBJECT_TYPES_JSON
        [--output hvr/worlds/data] [--worlds worlds]

KITCHENS and OTHER_ROOMS are folders of FloorPlanN.json files with the views `ai2thor_5` and
`alfred_2_1_0` of each room. OBJECT_TYPES_JSON contains facts about the object types; types that
occur in kitchens are measured only there. The same input gives the same bytes.
hvr/worlds/data/README.md describes the rules.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import statistics
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hvr.worlds.kitchen.placement import Solid, holder_of
from hvr.worlds.scenes import Box

ALWAYS_KEPT_TYPES = ("Box",)
LEGACY_TYPES = frozenset(
    {
        "Cabinet",
        "CoffeeMachine",
        "CounterTop",
        "DiningTable",
        "Drawer",
        "Faucet",
        "Fridge",
        "GarbageCan",
        "Microwave",
        "Safe",
        "Shelf",
        "SideTable",
        "Sink",
        "SinkBasin",
        "StoveBurner",
        "StoveKnob",
        "Toaster",
        "ArmChair",
        "Bathtub",
        "BathtubBasin",
        "Bed",
        "Cart",
        "CoffeeTable",
        "Desk",
        "DeskLamp",
        "Dresser",
        "FloorLamp",
        "HandTowelHolder",
        "Ottoman",
        "Sofa",
        "TVStand",
        "Toilet",
        "ToiletPaperHanger",
        "TowelHolder",
    }
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kitchens", type=Path, help="folder of FloorPlanN.json files")
    parser.add_argument("others", type=Path, help="same for living rooms, bedrooms and bathrooms")
    parser.add_argument("types", type=Path, help="object_types.json")
    parser.add_argument("--output", type=Path, default=Path("hvr/worlds/data"))
    parser.add_argument("--worlds", type=Path, default=Path("worlds"))
    options = parser.parse_args()
    kitchens, others = read_scenes(options.kitchens), read_scenes(options.others)
    if not kitchens or not others:
        parser.error("no FloorPlanN.json in one of the folders")
    total = write_scenes(kitchens, options.worlds / "kitchen" / "scenes")
    total += write_scenes(others, options.worlds / "home" / "scenes")
    known = json.loads(options.types.read_text(encoding="utf-8"))
    facts = type_facts(known, kitchens, others)
    text = json.dumps(facts, indent=1, sort_keys=True) + "\n"
    (options.output / "object_types.json").write_text(text, encoding="utf-8")
    count = len(kitchens) + len(others)
    print(f"{count} scenes, {total} bytes; {len(facts['types'])} types, {len(text)} bytes")


def read_scenes(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("FloorPlan*.json"), key=lambda p: int(re.sub(r"\D", "", p.stem)))
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def write_scenes(scenes: list[dict[str, Any]], folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for scene in scenes:
        packed = json.dumps(compact(scene), separators=(",", ":"), sort_keys=True).encode()
        data = gzip.compress(packed, compresslevel=9, mtime=0)
        (folder / f"{scene['floor_plan']}.json.gz").write_bytes(data)
        total += len(data)
    return total


def compact(scene: dict[str, Any]) -> dict[str, Any]:
    view, legacy = scene["ai2thor_5"], scene["alfred_2_1_0"]
    objects = sorted(view["objects"], key=lambda o: o["objectId"])
    by_id = {o["objectId"]: o for o in objects}
    holders = [
        Solid(o["objectId"], o["objectType"], box_of(o))
        for o in objects
        if "receptacle" in o["properties"]
    ]
    start = view["agent_start"]
    grid = {tuple(p) for p in legacy["reachable"]["points"]}
    walked = legacy["walked_by_experts_outside_layout"]
    grid |= {tuple(p) for p in (walked["points"] if isinstance(walked, dict) else walked)}
    grid.add((start["position"][0], start["position"][2]))
    return {
        "name": scene["floor_plan"],
        "start": {
            "position": start["position"],
            "yaw": start["rotation"] if start["rotation"] is not None else likely_yaw(view),
            "horizon": start.get("horizon") or 0.0,
        },
        "grid": sorted(grid),
        "objects": [compact_object(o, by_id, holders) for o in objects],
        "legacy": moved_receptacles(legacy, by_id),
    }


def box_of(entry: dict[str, Any]) -> Box:
    return Box.around(tuple(entry["aabb"]["center"]), tuple(entry["aabb"]["size"]))


def compact_object(
    entry: dict[str, Any], by_id: dict[str, Any], holders: list[Solid]
) -> dict[str, Any]:
    """Return the packaged form of one object, without default values."""
    if not entry.get("parentReceptacles") and "pickupable" in entry["properties"]:
        entry = as_set_up(entry)
    result = {
        "id": entry["objectId"],
        "type": entry["objectType"],
        "name": entry["name"],
        "pos": entry["position"],
        "props": sorted(entry["properties"]),
        "box": [*entry["aabb"]["center"], *entry["aabb"]["size"]],
    }
    state = {k: v for k, v in (entry.get("state") or {}).items() if keep_state(entry, k)}
    rotation = [round(a % 360.0, 2) % 360.0 for a in entry["rotation"]]
    optional = {
        "asset": entry.get("assetId") or None,
        "rot": rotation if any(rotation) else None,
        "state": state or None,
        "mass": entry.get("mass") or None,
        "mat": entry.get("salientMaterials"),
        "ctl": entry.get("controlledObjects"),
        "in": clean_parents(entry, by_id, holders) or None,
    }
    result.update({key: value for key, value in optional.items() if value is not None})
    return result


def as_set_up(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an object at the initial position that its id states, if it has fallen since."""
    origin = [float(part) for part in entry["objectId"].split("|")[1:4]]
    shift = [a - b for a, b in zip(origin, entry["position"], strict=True)]
    if max(map(abs, shift)) < 0.02:
        return entry
    center = [round(a + b, 4) for a, b in zip(entry["aabb"]["center"], shift, strict=True)]
    return {**entry, "position": origin, "aabb": {**entry["aabb"], "center": center}}


def keep_state(entry: dict[str, Any], key: str) -> bool:
    """Return whether to keep a state value; known errors of AI2-THOR are dropped.

    AI2-THOR reports a cold Floor under a fridge, and half-open drawers that are closed.
    """
    if entry["objectType"] == "Floor" and key == "temperature":
        return False
    return key != "openness" or (entry["state"].get("isOpen", False))


def clean_parents(entry: dict[str, Any], by_id: dict[str, Any], holders: list[Solid]) -> list[str]:
    """Return an object's plausible parents, innermost first (see hvr/worlds/data/README.md)."""
    parents = [p for p in entry.get("parentReceptacles") or () if p in by_id]
    kinds = {p: by_id[p]["objectType"] for p in parents}
    if not set(entry["properties"]) & {"pickupable", "moveable"}:
        return [p for p in parents if kinds[p] == "Floor"]
    if "pickupable" not in entry["properties"]:
        # AI2-THOR reports a side table inside its own drawer, and a desk on the chair beneath it.
        size = box_of(entry).footprint
        parents = [p for p in parents if box_of(by_id[p]).footprint >= size]
    if len(parents) > 1:
        parents = [p for p in parents if kinds[p] != "Floor"]
    if not parents and "pickupable" in entry["properties"]:
        found = holder_of(Solid(entry["objectId"], entry["objectType"], box_of(entry)), holders)
        return [found] if found else []
    x, _, z = entry["aabb"]["center"]

    def innermost(parent: str) -> tuple[int, float, float]:
        box = box_of(by_id[parent])
        middle = box.center
        within = sum(p in (by_id[parent].get("parentReceptacles") or ()) for p in parents)
        return -within, round(box.footprint, 3), math.hypot(middle[0] - x, middle[2] - z)

    return sorted(parents, key=innermost)


def likely_yaw(view: dict[str, Any]) -> int:
    """Return the quarter turn whose view contains most of the initially visible objects."""
    x, _, z = view["agent_start"]["position"]
    best = (-1, 0)
    for yaw in (0, 90, 180, 270):
        ahead = (math.sin(math.radians(yaw)), math.cos(math.radians(yaw)))
        seen = 0
        for entry in view["objects"]:
            if entry["visible_at_start"]:
                dx, dz = entry["aabb"]["center"][0] - x, entry["aabb"]["center"][2] - z
                depth = dx * ahead[0] + dz * ahead[1]
                seen += depth > 0 and abs(dx * ahead[1] - dz * ahead[0]) <= depth
        best = max(best, (seen, -yaw))
    return -best[1]


def moved_receptacles(legacy: dict[str, Any], by_id: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the receptacles of 2.1.0 whose ids do not occur in AI2-THOR 5."""
    found = [
        {"id": entry["id"], "type": entry["type"], "pos": entry["position"]}
        for entry in legacy["static_and_appliances"]
        if entry["type"] in LEGACY_TYPES and entry["id"] not in by_id
    ]
    return sorted(found, key=lambda entry: entry["id"])


def type_facts(
    raw: dict[str, Any], kitchens: list[dict[str, Any]], others: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return facts about all occurring types and their pieces."""
    instances = instances_of(others) | instances_of(kitchens)
    slices = raw["slices"]
    pieces = {k: v for k, v in slices.items() if k not in ("id_rule", "largest_k_used_in_alfred")}
    names = set(instances) | set(pieces.values()) | set(ALWAYS_KEPT_TYPES)
    types: dict[str, Any] = {}
    for name in sorted(names):
        known = raw["types"][name]
        facts: dict[str, Any] = {"properties": usual_properties(name, instances, pieces, known)}
        placeable = [r for r in known.get("placeable_in", ()) if r in names]
        if placeable:
            facts["placeable_in"] = placeable
        if name in pieces:
            facts["slices_into"] = pieces[name]
            facts["pieces"] = slices["largest_k_used_in_alfred"].get(pieces[name], 1)
        found = instances.get(name, [])
        if found and "pickupable" in facts["properties"]:
            facts["mass"] = statistics.median_low([e["mass"] for e in found])
            facts["materials"] = found[0].get("salientMaterials") or []
            upright = [e for e in found if not any(5 < a % 90 < 85 for a in e["rotation"])] or found
            facts["size"] = [
                round(statistics.median(e["aabb"]["size"][i] for e in upright), 4) for i in range(3)
            ]
            heights = [
                e["position"][1] - (e["aabb"]["center"][1] - e["aabb"]["size"][1] / 2)
                for e in upright
            ]
            facts["pivot_height"] = round(statistics.median(heights), 4)
        types[name] = facts
    for source, piece in pieces.items():
        whole, part = types[source], types[piece]
        count = whole["pieces"]
        part["mass"] = round(whole["mass"] / count, 4)
        part["materials"] = whole["materials"]
        longest = max((0, 2), key=lambda i: whole["size"][i])
        size = list(whole["size"])
        if piece == "EggCracked":
            size = [0.1, 0.02, 0.1]
        else:
            size[longest] = max(0.02, round(size[longest] / count, 4))
        part["size"] = size
        part["pivot_height"] = round(size[1] / 2, 4)
    return {
        "accepts_only": {
            k: v["accepts_only"]
            for k, v in raw["types"].items()
            if k in names and v.get("accepts_only")
        },
        "fully_inside": [t for t in raw["lists"]["fully_inside_receptacles"] if t in names],
        "must_be_open": [t for t in raw["lists"]["must_be_open_to_put"] if t in names],
        "types": types,
    }


def instances_of(scenes: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    instances: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for scene in scenes:
        for entry in scene["ai2thor_5"]["objects"]:
            instances[entry["objectType"]].append(entry)
    return dict(instances)


def usual_properties(
    name: str,
    instances: dict[str, list[dict[str, Any]]],
    pieces: dict[str, str],
    known: dict[str, Any],
) -> list[str]:
    """Return the properties of most instances; the documented ones for pieces and absent types."""
    found = instances.get(name)
    if found:
        counts = Counter(p for entry in found for p in entry["properties"])
        return sorted(p for p, n in counts.items() if n * 2 > len(found))
    if name in pieces.values():
        cookable = ["cookable"] if "cookable" in known["documented"]["actionable"] else []
        return [*cookable, "pickupable"]
    return sorted(p for p, n in known["observed"]["properties"].items() if n == "all")


if __name__ == "__main__":
    main()
