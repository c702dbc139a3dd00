"""Placement: where an object comes to rest, and which receptacle holds it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from hvr.worlds.geometry import Box, Vec
from hvr.worlds.kitchen.state import KitchenObject, KitchenState
from hvr.worlds.kitchen.visibility import Room, closed_around

# Support ------------------------------------------------------------------------------------------
# Support: which receptacle holds an object, judged from boxes alone.
#
# Used where no `parentReceptacles` are given: for ALFRED's object poses, and for the few
# objects of the recorded scenes that were falling when they were written down.

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


# Placement ----------------------------------------------------------------------------------------
# Placement: where a thing comes to rest in or on a receptacle.
#
# AI2-THOR tries points of the receptacle from the nearest to the agent; so does this, on a
# 5 cm lattice over the receptacle's box. Boxes stand for the true shapes:
#
# * Fridge, Cabinet, Drawer, Microwave, Safe and Box must contain the whole box of the
#   thing, lying along, across or diagonally; high ones have a shelf every
#   0.38 m. Flat things (up to 6 cm) may lie across each other there.
# * On counters, tables, shelves and in basins the bottom corners must lie within the
#   footprint; when no such spot is free, the middle; when none is, flat things may lie
#   across each other. A counter's box may be L-shaped in
#   truth: points over which the agent can stand are not counter. Sinks and burners are not
#   counter either.
# * A basin too small or too full for that takes a pile of at most ten.
# * CoffeeMachine, Toaster and StoveBurner hold one thing in their middle.
# * Plates, bowls, pans, pots, mugs and cups take things side by side as long as there is
#   room, then in a pile of at most ten (three in mugs and cups); a garbage can takes
#   everything.

LATTICE = 0.05
"""Distance of the spots tried, metres."""

SHELF_SPACING = 0.38
"""Distance of the shelves in high closed boxes, metres."""

ON_FLOOR = 0.5
"""Up to this height of its bottom an object also counts as on the floor, metres."""

_WALL = 0.015  # thickness of the walls of closed boxes
_FLAT = 0.06  # up to this height things may lie across each other
_TOUCH = 0.002  # boxes that share less than this only touch
_PILE = {"Mug": 3, "Cup": 3, "GarbageCan": 10_000}
_PILE_USUAL = 10
_ATTACH = frozenset({"CoffeeMachine", "Toaster", "StoveBurner"}) | HOLDERS
_TOPS = (SURFACES - {"Chair"}) | {"Floor", "Sink", "Toilet", "Bathtub"}
_SEATS = {"Chair": 0.45, "Sofa": 0.45, "ArmChair": 0.45, "Bed": 0.6}
"""Heights of seats: their boxes end at their backs."""


def surface_height(receptacle: KitchenObject) -> float:
    """Return height at which things stand on or in a receptacle, metres."""
    box, kind = receptacle.box, receptacle.object_type
    if kind in _TOPS:
        return box.y1
    if kind in _SEATS:
        return min(box.y1, box.y0 + _SEATS[kind])
    if kind == "CoffeeMachine":
        return box.y0 + 0.05
    if kind == "Toaster":
        return box.y0 + 0.5 * (box.y1 - box.y0)
    return box.y0 + min(0.01, (box.y1 - box.y0) / 2)


def place(
    world: KitchenState,
    room: Room,
    thing: KitchenObject,
    receptacle: KitchenObject,
    forced: bool,
    chance: random.Random | None = None,
) -> KitchenObject | None:
    """Return the thing at the first free spot of the receptacle, or None when there is none.

    Args:
        world: the present state.
        room: its unchanging part.
        thing: what is put down.
        receptacle: where.
        forced: also try spots that the agent does not reach.
        chance: tries the spots in random order instead of the nearest first.
    """
    kind = receptacle.object_type
    if kind in _ATTACH:
        x, _, z = receptacle.box.center
        return _standing(thing, x, z, surface_height(receptacle))
    if kind in CLOSED_BOXES:
        return _inside(world, thing, receptacle, chance)
    if kind in VESSELS or kind == "GarbageCan":
        return _placed_in_vessel(world, thing, receptacle)
    return _on_surface(world, room, thing, receptacle, forced, chance)


def holders(
    world: KitchenState, placed: KitchenObject, receptacle: KitchenObject
) -> tuple[str, ...]:
    """Return ids that AI2-THOR reports as receptacles of something just put down.

    Beside the receptacle itself the Floor, when the receptacle stands on it and the object
    is low: the space that counts as on the floor is about half a metre high (in the
    recorded scenes, what lies up to 0.47 m in such a receptacle has both, from 0.58 m on
    only the receptacle).
    """
    parents = [receptacle.object_id]
    if placed.box.y0 <= ON_FLOOR or receptacle.object_type == "GarbageCan":
        things = world.things
        parents += [
            p for p in receptacle.parents if p in things and things[p].object_type == "Floor"
        ]
    return tuple(parents)


def landing(
    world: KitchenState, room: Room, x: float, z: float, below: float, thing_id: str
) -> KitchenObject:
    """Return the receptacle on which something falls that is let go at a point.

    Args:
        world: the present state.
        room: its unchanging part.
        x: of the point, metres.
        z: of the point.
        below: height of the point; only lower surfaces catch.
        thing_id: id of what falls.

    Returns:
        the highest surface under the point, else the floor.
    """
    best: KitchenObject | None = None
    ignored = {thing_id, *world.things.deep_contents(thing_id)}
    for object_id, candidate in world.things.items():
        kind = candidate.object_type
        if object_id in ignored or candidate.inert or not candidate.can("receptacle"):
            continue
        if kind in CLOSED_BOXES or kind in _ATTACH or kind == "Floor":
            continue
        if not candidate.box.over(x, z) or surface_height(candidate) >= below:
            continue
        # Where the agent can stand there is floor, whatever box of a counter covers it.
        if kind == "CounterTop" and room.walkable(x, z):
            continue
        if closed_around(world.things, object_id) is not None:
            continue
        if best is None or surface_height(candidate) > surface_height(best):
            best = candidate
    if best is None:
        floor = room.floor
        return world.things[floor] if floor else _bare_floor(room)
    return best


def fallen(thing: KitchenObject, onto: KitchenObject, x: float, z: float) -> KitchenObject:
    """Return the thing resting at (x, z) on what caught it."""
    parents = (onto.object_id,) if onto.object_id else ()
    return _standing(thing, x, z, surface_height(onto)).but(parents=parents)


def _bare_floor(room: Room) -> KitchenObject:
    spec = replace(room.scene.objects[0], object_id="", object_type="Floor")
    low = room.bounds.y0
    flat = Box(room.bounds.x0, low, room.bounds.z0, room.bounds.x1, low, room.bounds.z1)
    return KitchenObject(spec, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), flat)


def _standing(thing: KitchenObject, x: float, z: float, height: float) -> KitchenObject:
    tall = thing.box.y1 - thing.box.y0
    return thing.moved_to((round(x, 4), round(height + tall / 2, 4), round(z, 4)))


def _turned(thing: KitchenObject, degrees: float) -> KitchenObject:
    """Return the thing turned about the vertical through the middle of its box."""
    (x, y, z), (w, h, d) = thing.box.center, thing.box.size
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    rx, ry, rz = thing.rotation
    px, py, pz = thing.position
    return thing.but(
        box=Box.around((x, y, z), (w * abs(c) + d * abs(s), h, w * abs(s) + d * abs(c))),
        rotation=(rx, (ry + degrees) % 360.0, rz),
        position=(x + (px - x) * c + (pz - z) * s, py, z - (px - x) * s + (pz - z) * c),
    )


def _lattice(
    box: Box, agent: Vec, chance: random.Random | None = None
) -> Sequence[tuple[float, float]]:
    spots = _sorted_lattice(box, (agent[0], agent[2]))
    return spots if chance is None else chance.sample(spots, len(spots))


@lru_cache(maxsize=1024)
def _sorted_lattice(box: Box, agent: tuple[float, float]) -> tuple[tuple[float, float], ...]:
    (cx, _, cz), (w, _, d) = box.center, box.size
    nx, nz = int(w / 2 / LATTICE), int(d / 2 / LATTICE)
    spots = [
        (cx + i * LATTICE, cz + j * LATTICE) for i in range(-nx, nx + 1) for j in range(-nz, nz + 1)
    ]
    ax, az = agent
    spots.sort(key=lambda s: (round(math.hypot(s[0] - ax, s[1] - az), 4), s))
    return tuple(spots)


def _footed(thing: KitchenObject, x: float, z: float, height: float) -> Box:
    w, h, d = thing.box.size
    return Box(x - w / 2, height, z - d / 2, x + w / 2, height + h, z + d / 2)


def _others(world: KitchenState, thing: KitchenObject, ignored: set[str], near: Box) -> list[Box]:
    """Return boxes of bodies in this space that can be in the way."""
    # Written out: this looks at every body for every thing put down.
    x0, y0, z0, x1, y1, z1 = near
    bodies = [
        (object_id, box)
        for object_id, box in world.things.bodies.items()
        if box[0] < x1
        and x0 < box[3]
        and box[2] < z1
        and z0 < box[5]
        and box[1] < y1
        and y0 < box[4]
    ]
    if not bodies:
        return []
    out = {thing.object_id, *world.things.deep_contents(thing.object_id), *ignored}
    return [box for object_id, box in bodies if object_id not in out]


def _free(box: Box, others: list[Box]) -> bool:
    return not any(box.overlaps(other, _TOUCH) for other in others)


def _inside(
    world: KitchenState,
    thing: KitchenObject,
    receptacle: KitchenObject,
    chance: random.Random | None,
) -> KitchenObject | None:
    b = receptacle.box
    inner = Box(b.x0 + _WALL, b.y0, b.z0 + _WALL, b.x1 - _WALL, b.y1, b.z1 - _WALL)
    floor = surface_height(receptacle)
    height = thing.box.y1 - thing.box.y0
    levels = [floor]
    while levels[-1] + 2 * SHELF_SPACING <= b.y1 + _WALL and levels[-1] + SHELF_SPACING < b.y1:
        levels.append(levels[-1] + SHELF_SPACING)
    around = {receptacle.object_id, *world.things.ancestors(receptacle.object_id)}
    others = _others(world, thing, around, b)
    ay = world.agent.position[1]
    spots = _lattice(inner, world.agent.position, chance)
    # As with the spots, the level nearest to the agent comes first.
    levels.sort(key=lambda y: (abs(y + height / 2 - ay - 0.2), y))
    passes = [others]
    if height <= _FLAT:
        passes.append([o for o in others if o.y1 - o.y0 > _FLAT])
    for in_the_way in passes:
        for angle in (0.0, 90.0, 45.0):
            body = _turned(thing, angle) if angle else thing
            w, _, d = body.box.size
            if w > inner.x1 - inner.x0 or d > inner.z1 - inner.z0:
                continue
            for level in levels:
                for x, z in spots:
                    box = _footed(body, x, z, level)
                    if box.within(inner) and _free(box, in_the_way):
                        return _standing(body, x, z, level)
    return None


def _placed_in_vessel(
    world: KitchenState, thing: KitchenObject, receptacle: KitchenObject
) -> KitchenObject | None:
    base = surface_height(receptacle)
    content = [
        world.things[i]
        for i in world.things.contents.get(receptacle.object_id, ())
        if not world.things[i].inert
    ]
    taken = [other.box for other in content]
    for x, z in _lattice(receptacle.box, receptacle.box.center):
        box = _footed(thing, x, z, base)
        fits = (
            box.x0 >= receptacle.box.x0
            and box.x1 <= receptacle.box.x1
            and box.z0 >= receptacle.box.z0
            and box.z1 <= receptacle.box.z1
        )
        if fits and _free(box, taken):
            return _standing(thing, x, z, base)
    # No room side by side: it goes onto the pile, unless that is high enough.
    if len(content) >= _PILE.get(receptacle.object_type, _PILE_USUAL):
        return None
    x, _, z = receptacle.box.center
    if receptacle.object_type == "GarbageCan":
        return _standing(thing, x, z, base)
    return _standing(thing, x, z, max([base, *(box.y1 for box in taken)]))


def _on_surface(
    world: KitchenState,
    room: Room,
    thing: KitchenObject,
    receptacle: KitchenObject,
    forced: bool,
    chance: random.Random | None,
) -> KitchenObject | None:
    kind = receptacle.object_type
    height = surface_height(receptacle)
    top = height + (thing.box.y1 - thing.box.y0)
    footprint = receptacle.box
    # Narrow shelves count as 0.3 m wide and deep: things may stand over their edge.
    if kind == "Shelf":
        x0, _, z0, x1, _, z1 = footprint
        wx, wz = max(0.0, 0.3 - (x1 - x0)) / 2, max(0.0, 0.3 - (z1 - z0)) / 2
        footprint = Box(x0 - wx, footprint.y0, z0 - wz, x1 + wx, footprint.y1, z1 + wz)
    around = {receptacle.object_id, *world.things.ancestors(receptacle.object_id)}
    band = Box(footprint.x0, height, footprint.z0, footprint.x1, top, footprint.z1)
    others = _others(world, thing, around, band)
    # From what surely holds to what may: corners inside, then the middle, then flat things
    # across each other. Each pass tries all spots, so that a better spot farther off wins.
    passes = [(True, others), (False, others)]
    if top - height <= _FLAT:
        passes.append((True, [box for box in others if box.y1 - box.y0 > _FLAT]))
    cut = room.holes.get(receptacle.object_id, ())
    agent = world.agent.position
    reach = room.reach(footprint)
    spots = _lattice(footprint, agent, chance)
    walled = kind in ("CounterTop", "DiningTable")
    for corners_inside, in_the_way in passes:
        for quarter in (0.0, 90.0):
            body = _turned(thing, quarter) if quarter else thing
            w, h, d = body.box.size
            for x, z in spots:
                # The nearest spots come first: those after this one are out of reach, too.
                if not forced and math.hypot(x - agent[0], z - agent[2]) > reach:
                    break
                box = Box(x - w / 2, height, z - d / 2, x + w / 2, height + h, z + d / 2)
                if corners_inside and not (
                    box.x0 >= footprint.x0
                    and box.x1 <= footprint.x1
                    and box.z0 >= footprint.z0
                    and box.z1 <= footprint.z1
                ):
                    continue
                if not _free(box, in_the_way):
                    continue
                if walled and room.walkable(x, z):
                    continue
                if any(
                    c.x0 < box.x1 and box.x0 < c.x1 and c.z0 < box.z1 and box.z0 < c.z1 for c in cut
                ):
                    continue
                return _standing(body, x, z, height)
    return _placed_in_vessel(world, thing, receptacle) if kind in ("SinkBasin", "Sink") else None
