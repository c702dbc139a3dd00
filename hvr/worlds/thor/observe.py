"""Observation: convert AI2-THOR's metadata to a scene graph."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from hvr.errors import DataFileError, UnknownObjectError
from hvr.knowledge.scene_graph import Extent, SceneGraph, SceneObject
from hvr.values import Value
from hvr.worlds.scenes import Box, Vec, vector

# Types --------------------------------------------------------------------------------------------
# AI2-THOR's object types and fields that other folders use, named by meaning.

FLOOR = "Floor"

SILENT = frozenset({"StoveKnob"})
"""Switches that make no sound; their burners do."""

LIDDED = frozenset({"Toilet"})
"""Receptacles that hold objects on their lid and hide nothing when closed."""

BASINS = frozenset({"Sink", "SinkBasin", "Bathtub", "BathtubBasin"})
"""Receptacles for running water."""

TABLES = frozenset(
    {"CoffeeTable", "CounterTop", "Desk", "DiningTable", "Dresser", "Shelf", "SideTable", "TVStand"}
)
"""Furniture that holds objects on top, moveable or not."""

OPEN_PLACES = frozenset({"CounterTop", "DiningTable", "SideTable", "SinkBasin", "Shelf", "Stool"})
"""Places where another agent may put objects."""

PUT_ASIDE_PLACES = ("CounterTop", "DiningTable", "SideTable", "ShelvingUnit", "Shelf", "Floor")
"""Places for putting objects aside, in order of preference."""

USUAL_LIQUID = "water"
"""The liquid used if none is named."""

SLICEABLE = "sliceable"
"""The property field of objects that can be cut."""

PROPERTIES = (
    "receptacle",
    "toggleable",
    "breakable",
    "canFillWithLiquid",
    "dirtyable",
    "canBeUsedUp",
    "cookable",
    "isHeatSource",
    "isColdSource",
    SLICEABLE,
    "openable",
    "pickupable",
    "moveable",
)
"""Metadata fields that say what can be done with an object."""

STATES = (
    "isToggled",
    "isBroken",
    "isFilledWithLiquid",
    "fillLiquid",
    "isDirty",
    "isUsedUp",
    "isCooked",
    "temperature",
    "isSliced",
    "isOpen",
)
"""Metadata fields that actions can change."""


# Type facts ---------------------------------------------------------------------------------------
# From AI2-THOR's placement table and from measured scenes; `data/README.md` lists the sources.


class TypeFacts(Value):
    """Facts about one object type.

    Args:
        properties: AI2-THOR's property fields that are true (`pickupable`, …).
        placeable_in: Receptacle types in the placement table.
        slices_into: Type of the pieces, or None if it cannot be sliced.
        size: Usual size of the axis-aligned box in metres.
        pivot_height: Usual height of `position` above the bottom of the box in metres.
    """

    properties: frozenset[str]
    placeable_in: frozenset[str]
    slices_into: str | None = None
    pieces: int = 0
    mass: float = 0.0
    materials: tuple[str, ...] = ()
    size: Vec = (0.1, 0.1, 0.1)
    pivot_height: float = 0.0


class ObjectTypeFacts(Value):
    """Facts about all object types.

    Args:
        accepts_only: For receptacles that hold exactly one object: the accepted types.
        must_be_open: Receptacles that must be open to put something in.
        fully_inside: Receptacles that must enclose the whole box of an object.
    """

    types: Mapping[str, TypeFacts]
    accepts_only: Mapping[str, frozenset[str]]
    must_be_open: frozenset[str]
    fully_inside: frozenset[str]

    def pieces_of(self, object_type: str) -> tuple[str, int] | None:
        """Return the type and the number of pieces of a sliceable type, or None for other types."""
        facts = self.types.get(object_type)
        if facts is None or facts.slices_into is None:
            return None
        return facts.slices_into, facts.pieces


@lru_cache(maxsize=1)
def load_facts() -> ObjectTypeFacts:
    path = files("hvr.worlds") / "data" / "object_types.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        types = {
            name: TypeFacts(
                properties=frozenset(entry.get("properties", ())),
                placeable_in=frozenset(entry.get("placeable_in", ())),
                slices_into=entry.get("slices_into"),
                pieces=entry.get("pieces", 0),
                mass=entry.get("mass", 0.0),
                materials=tuple(entry.get("materials", ())),
                size=vector(entry.get("size", (0.1, 0.1, 0.1))),
                pivot_height=entry.get("pivot_height", 0.0),
            )
            for name, entry in raw["types"].items()
        }
        return ObjectTypeFacts(
            types=MappingProxyType(types),
            accepts_only=MappingProxyType(
                {k: frozenset(v) for k, v in raw["accepts_only"].items()}
            ),
            must_be_open=frozenset(raw["must_be_open"]),
            fully_inside=frozenset(raw["fully_inside"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataFileError(
            f"hvr's own file {path} is missing or damaged ({error}): reinstall hvr"
        ) from error


# Naming -------------------------------------------------------------------------------------------
# Conversion between AI2-THOR's object ids and hvr's names.
#
# A name is the lower-case type and a number, such as `mug-1`. Objects are numbered per type in the
# order of their ids. Pieces have names before they exist: bread `bread-n`, which is cut into eight
# pieces, has the pieces `breadsliced-(8n-7)` to `breadsliced-(8n)`, and egg `egg-n` has
# `eggcracked-n`. If a simulator creates more pieces than expected, the additional ones are numbered
# after all expected ones of the type.

_PIECE = re.compile(r"(?P<source>.+)\|(?P<type>[A-Za-z]+)_(?P<k>\d+)")
_NAME = re.compile(r"(?P<type>[a-z]+)-(?P<number>[1-9]\d*)")


class Names:
    """hvr's names for the objects of a scene. They do not change when objects move or are cut.

    Args:
        object_types: Type of every object by id. Pieces (`<id>|AppleSliced_0`) are named after
            their source.
        slice_base: Number of the first piece in the simulator's ids: 0 in AI2-THOR 5, 1 in 2.1.0.
    """

    def __init__(self, object_types: Mapping[str, str], slice_base: int = 0) -> None:
        self._base = slice_base
        self._facts = load_facts()
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._types: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._sources: dict[str, tuple[str, ...]] = {}
        by_type: dict[str, list[str]] = {}
        for object_id in sorted(object_types):
            if self._split(object_id, object_types) is None:
                by_type.setdefault(object_types[object_id], []).append(object_id)
        for object_type, ids in sorted(by_type.items()):
            for number, object_id in enumerate(ids, start=1):
                name = f"{object_type.lower()}-{number}"
                self._ids[name] = object_id
                self._names[object_id] = name
                self._types[object_id] = object_type
                self._numbers[object_id] = number
            kind = self._facts.pieces_of(object_type)
            if kind is not None:
                self._sources[kind[0]] = tuple(ids)

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Names:
        """Return the names for the scene of an event, which should be the first event.

        If the scene already contains pieces, their ids show whether numbering begins at 0 or 1.
        """
        types = {o["objectId"]: o["objectType"] for o in metadata["objects"]}
        names = cls(types)
        first = {i.rpartition("_")[2] for i in types if names._split(i, types) is not None}
        return names if not first or "0" in first else cls(types, 1)

    @property
    def all(self) -> tuple[str, ...]:
        """Names of all whole objects, ordered by type and number."""
        return tuple(self._ids)

    def name(self, object_id: str) -> str:
        """Return hvr's name for an object; an unknown id raises an UnknownObjectError."""
        known = self._names.get(object_id)
        if known is not None:
            return known
        match = _PIECE.fullmatch(object_id)
        if match and match["source"] in self._types:
            kind = self._facts.pieces_of(self._types[match["source"]])
            if kind is not None and kind[0] == match["type"]:
                number = self._piece_number(match["source"], kind[1], int(match["k"]))
                if number is not None:
                    return f"{kind[0].lower()}-{number}"
        raise UnknownObjectError(
            f"no object of this scene has the id {object_id!r}"
            f"{self._suggestion(object_id, self._names)}"
        )

    def object_id(self, name: str) -> str:
        """Return AI2-THOR's id of an object, or of a piece of an object that is not cut yet.

        Raises:
            UnknownObjectError: No object of the scene has this name.
        """
        known = self._ids.get(name)
        if known is not None:
            return known
        piece = self._piece(name)
        if piece is None:
            raise UnknownObjectError(
                f"no object of this scene is called {name!r}{self._suggestion(name, self._ids)}"
            )
        source, piece_type, k = piece
        return f"{source}|{piece_type}_{k}"

    def pieces(self, name: str) -> tuple[str, ...]:
        """Return the names of the pieces that an object has or would have; empty if it has none."""
        object_id = self.object_id(name)
        kind = self._facts.pieces_of(self._types.get(object_id, ""))
        if kind is None:
            return ()
        piece_type, count = kind
        first = (self._numbers[object_id] - 1) * count + 1
        return tuple(f"{piece_type.lower()}-{first + i}" for i in range(count))

    def source(self, name: str) -> str | None:
        """Return the name of the object that a piece comes from, or None for a whole object."""
        if name in self._ids:
            return None
        piece = self._piece(name)
        if piece is None:
            self.object_id(name)  # raises for an unknown name
            return None
        return self._names[piece[0]]

    def type_of(self, name: str) -> str:
        object_id = self.object_id(name)
        known = self._types.get(object_id)
        return known if known is not None else object_id.rpartition("|")[2].rpartition("_")[0]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._ids or self._piece(name) is not None)

    def _split(self, object_id: str, types: Mapping[str, str]) -> str | None:
        match = _PIECE.fullmatch(object_id)
        if match is None or match["source"] not in types:
            return None
        kind = self._facts.pieces_of(types[match["source"]])
        return match["source"] if kind is not None and kind[0] == match["type"] else None

    def _piece_number(self, source: str, count: int, k: int) -> int | None:
        """Return the number in the name of piece `k`; numbers above `count` come after all others.

        The result is None if `k` is below the first number.
        """
        number = self._numbers[source]
        if count == 1 and k <= 1:
            return number
        index = k - self._base
        if index < 0:
            return None
        if index < count:
            return (number - 1) * count + 1 + index
        sources = len(self._sources[self._facts.pieces_of(self._types[source])[0]])  # type: ignore[index]
        return sources * count + (index - count) * sources + number

    def _piece(self, name: str) -> tuple[str, str, int] | None:
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        for piece_type, sources in self._sources.items():
            if piece_type.lower() != match["type"]:
                continue
            count = self._facts.pieces_of(self._types[sources[0]])[1]  # type: ignore[index]
            number = int(match["number"]) - 1
            if number < len(sources) * count:
                return sources[number // count], piece_type, number % count + self._base
            extra = number - len(sources) * count
            if count == 1:
                return None
            k = count + extra // len(sources) + self._base
            return sources[extra % len(sources)], piece_type, k
        return None

    @staticmethod
    def _suggestion(unknown: str, known: Iterable[str]) -> str:
        near = difflib.get_close_matches(unknown, list(known), n=3, cutoff=0.6)
        return f"; did you mean {', '.join(near)}?" if near else ""


# --------------------------------------------------------------------------------------------------

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
"""Metadata fields that become attributes of scene objects."""

_BREAKS_APART = frozenset(
    {"Bottle", "Bowl", "Cup", "Egg", "Mug", "Plate", "Statue", "Vase", "WineBottle"}
)


def scene_graph(metadata: Mapping[str, Any], names: Names) -> SceneGraph:
    """Return an event's scene in hvr's names.

    * `parents` are the direct receptacles, innermost first. A receptacle that contains another
      parent is left out, and so is the Floor if the object has another parent.
    * Objects in a held receptacle have it as parent, although AI2-THOR reports none.
    * Remains of sliced or broken objects are kept, without parents and out of reach.
    * A filled WineBottle for which AI2-THOR names no liquid contains wine.
    * `controls` contains pairs such as (knob, burner) from `controlledObjects`, and (faucet, basin)
      for the nearest SinkBasin.
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
    return Box.of_object(entry)


def is_inert(entry: Mapping[str, Any]) -> bool:
    """Return whether only remains of the object are left because it was sliced or shattered."""
    return bool(entry["isSliced"] or (entry["isBroken"] and entry["objectType"] in _BREAKS_APART))


def direct_parents(
    entry: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]], held_id: str | None
) -> tuple[str, ...]:
    """Return the ids of the receptacles that directly hold an object, innermost first.

    Args:
        held_id: Id of the held object, if any. It counts as the receptacle of its contents, for
            which AI2-THOR reports none.
    """
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
    """Return (control, controlled) pairs of ids: knob and burner, or faucet and nearest basin."""
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
