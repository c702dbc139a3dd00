"""Support: which receptacle holds an object, judged from boxes alone.

Used where no `parentReceptacles` are given: for ALFRED's object poses, and for the few
objects of the recorded scenes that were falling when they were written down.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hvr.worlds.geometry import Box

CLOSED_BOXES = frozenset(
    {"Fridge", "Microwave", "Cabinet", "Drawer", "Safe", "Box", "LaundryHamper"}
)
"""Receptacles that surround what they hold."""

VESSELS = frozenset({"Pan", "Pot", "Bowl", "Plate", "Mug", "Cup"})
"""Pickupable receptacles."""

SURFACES = frozenset(
    {"CounterTop", "DiningTable", "SideTable", "StoveBurner", "Stool", "Chair", "CoffeeTable"}
    | {"Desk", "Dresser", "TVStand", "Ottoman", "Footstool"}
)
"""Receptacles that carry things on their top face."""

BACKED = frozenset({"Sofa", "ArmChair", "Bed", "Toilet", "Bathtub", "DogBed", "Cart"})
"""Receptacles whose box reaches above what they carry: it ends at a back, a tank or a handle."""

HOLDERS = frozenset({"TowelHolder", "HandTowelHolder", "ToiletPaperHanger"})
"""Receptacles on a wall that hold one thing."""

_TRAYS = frozenset(
    {"SinkBasin", "Sink", "Shelf", "GarbageCan", "CoffeeMachine", "Toaster", "BathtubBasin"}
    | HOLDERS
)
_ONLY = {
    "CoffeeMachine": frozenset({"Mug"}),
    "Toaster": frozenset({"BreadSliced"}),
    "StoveBurner": frozenset({"Pan", "Pot", "Kettle"}),
    "TowelHolder": frozenset({"Towel"}),
    "HandTowelHolder": frozenset({"HandTowel"}),
    "ToiletPaperHanger": frozenset({"ToiletPaper"}),
}
# All in metres, between the bottom of the object and the top of the receptacle unless said.
_MARGIN = 0.05  # how far its middle may lie beside the footprint
_BELOW = 0.08  # how far it may be sunk into a surface
_SUNK = 0.16  # likewise for tables, and for furniture beside it
_ABOVE = 0.12  # how far it may hover over a surface
_FALL = 0.5  # how far it may have to fall
_BESIDE = 0.5  # how far it may lie beside furniture that is larger in another version


class Holder(NamedTuple):
    """A receptacle and the space it takes."""

    object_id: str
    object_type: str
    box: Box


class Body(NamedTuple):
    """An object that rests somewhere, and the space it takes."""

    object_id: str
    object_type: str
    box: Box


def holder_of(body: Body, holders: Iterable[Holder]) -> str | None:
    """Return id of the receptacle that holds the object, or None.

    In this order: a vessel around its middle; an appliance or burner that takes its type;
    a basin, closed box or tray around it; a surface at its bottom; the floor; the nearest
    surface up to 0.5 m below; a surface at its height up to 0.5 m beside it (furniture
    that is larger in another version of the scene); the floor however far below. Among several
    of a kind the one with the smallest footprint wins, so that the innermost is chosen.

    Args:
        body: the object; it never holds itself.
        holders: all receptacles of the scene.
    """
    best: tuple[int, float, str] | None = None
    for holder in holders:
        if holder.object_id == body.object_id:
            continue
        rank = _rank(holder, body)
        if rank is None:
            continue
        x, _, z = body.box.center
        tie = {9: body.box.y0 - holder.box.y1, 10: holder.box.distance(x, z)}.get(
            rank, holder.box.footprint
        )
        candidate = (rank, tie, holder.object_id)
        if best is None or candidate < best:
            best = candidate
    return best[2] if best else None


def _rank(holder: Holder, body: Body) -> int | None:
    """Return the place of a receptacle in the order of `holder_of`; None if it holds not."""
    around, kind, box = holder.box, holder.object_type, body.box
    x, y, z = box.center
    if kind in VESSELS:
        return 0 if _in_vessel(around, body, x, z) else None
    if kind in _ONLY and body.object_type not in _ONLY[kind]:
        return None
    gap = box.y0 - around.y1
    if not around.over(x, z, _MARGIN if kind != "Shelf" else 0.15):
        beside = kind in SURFACES and abs(gap) <= _SUNK and around.distance(x, z) <= _BESIDE
        return 10 if beside and kind not in ("Stool", "Chair", "StoveBurner") else None
    inside = around.y0 - _MARGIN <= box.y0 and y <= around.y1 + 0.02
    if kind in ("CoffeeMachine", "Toaster"):
        return 1 if inside and around.over(x, z) else None
    if kind == "StoveBurner":
        return 2 if abs(gap) <= _BELOW and around.over(x, z) else None
    if kind == "SinkBasin":
        return 3 if around.y0 - _MARGIN <= box.y0 <= around.y1 - 0.01 else None
    if kind in CLOSED_BOXES:
        return 4 if inside and around.footprint >= box.footprint else None
    if kind == "Shelf":
        return 5 if -_MARGIN <= box.y0 - around.y0 <= _BELOW else None
    if kind in _TRAYS:
        if kind == "Sink":
            return 6 if abs(gap) <= _BELOW else None
        return 5 if around.y0 - _MARGIN <= box.y0 <= around.y1 else None
    if kind in SURFACES:
        sunk = _SUNK if kind in ("DiningTable", "SideTable") else _BELOW
        if -sunk <= gap <= _ABOVE:
            return 7
        return 9 if 0.0 < gap <= _FALL else None
    if kind in BACKED:
        return 7 if inside else None
    if kind == "Floor":
        return 8 if gap <= _FALL / 2 else 11
    return None


def _in_vessel(around: Box, body: Body, x: float, z: float) -> bool:
    """Return whether the body is no pan or pot and lies in the middle part of the vessel."""
    if body.object_type in _ONLY["StoveBurner"]:
        return False
    box = body.box
    if not around.over(x, z, -0.15 * min(around.x1 - around.x0, around.z1 - around.z0)):
        return False
    return around.y0 - 0.005 <= box.y0 <= around.y1 + 0.02
