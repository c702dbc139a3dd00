"""What iTHOR's recorded rooms say of assets and types: sizes, properties, masses, materials."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from hvr.values import Value
from hvr.worlds.geometry import Vec
from hvr.worlds.scenes import ObjectSpec, load_scene, scene_names

_NUMBER = re.compile(r"_?\d+$")
_TURN = 1.0
"""Degrees that a rotation may differ from a quarter turn for its box to show the sizes."""


class AssetFacts(Value):
    """What is known of an asset or of all objects of a type.

    Args:
        object_type: AI2-THOR's `objectType`.
        size: Edge lengths of the box before it is turned, metres.
        properties: Property fields that are true.
        mass: Kilograms.
        materials: `salientMaterials`, or None.
    """

    object_type: str
    size: Vec
    properties: frozenset[str]
    mass: float
    materials: tuple[str, ...] | None


class AssetBook(Value):
    """Facts of assets and types.

    Args:
        assets: Facts of assets, by their names.
        types: Facts of types: medians and majorities.
        stems: Types by the name of assets without their number, in lower case.
    """

    assets: Mapping[str, AssetFacts]
    types: Mapping[str, AssetFacts]
    stems: Mapping[str, str]

    def type_of(self, asset: str, identifier: str) -> str | None:
        """Return the type of an object by its asset and its id; None if hvr does not know it."""
        if asset in self.assets:
            return self.assets[asset].object_type
        named = identifier.partition("|")[0]
        if named in self.types:
            return named
        stem = _NUMBER.sub("", asset)
        return stem if stem in self.types else self.stems.get(stem.lower())


@lru_cache(maxsize=1)
def recorded_assets() -> AssetBook:
    """Collect the facts of all assets and types in the packaged rooms."""
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


def turned(size: Vec, yaw: float) -> Vec:
    """Return the edge lengths of the upright box around a box that is turned."""
    import math

    cosine, sine = abs(math.cos(math.radians(yaw))), abs(math.sin(math.radians(yaw)))
    width, height, depth = size
    return width * cosine + depth * sine, height, width * sine + depth * cosine


def _facts(specs: Iterable[ObjectSpec]) -> AssetFacts:
    specs = list(specs)
    straight = [spec for spec in specs if abs((spec.rotation[1] + 45) % 90 - 45) <= _TURN]
    sizes = [turned(spec.box.size, spec.rotation[1]) for spec in straight or specs]
    properties = Counter(name for spec in specs for name in spec.properties)
    materials = Counter(spec.materials for spec in specs)
    return AssetFacts(
        Counter(spec.object_type for spec in specs).most_common(1)[0][0],
        tuple(statistics.median(lengths) for lengths in zip(*sizes, strict=True)),
        frozenset(name for name, number in properties.items() if 2 * number > len(specs)),
        statistics.median(spec.mass for spec in specs),
        materials.most_common(1)[0][0],
    )
