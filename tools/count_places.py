"""Count where objects are in the packaged scenes, to guide the search for objects.

    python tools/count_places.py            # writes hvr/worlds/data/places.json

For each type of object, the file counts the types of places that directly hold one at the start of
a scene.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from hvr.worlds.scenes import PlaceCounts, load_scene, scene_names

FILE = Path(__file__).resolve().parent.parent / "hvr" / "worlds" / "data" / "places.json"


def count_places(scenes: Iterable[str]) -> PlaceCounts:
    """Return how many objects of each type are in each type of place."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name in scenes:
        scene = load_scene(name)
        types = {o.object_id: o.object_type for o in scene.objects}
        for o in scene.objects:
            if "pickupable" in o.properties and o.parents and o.parents[0] in types:
                counts[o.object_type][types[o.parents[0]]] += 1
    return {thing: dict(sorted(places.items())) for thing, places in sorted(counts.items())}


if __name__ == "__main__":
    FILE.write_text(json.dumps(count_places(scene_names()), indent=1) + "\n", encoding="utf-8")
