"""Placement: where an object comes to rest, and which receptacle holds it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from hvr.worlds.kitchen.state import KitchenObject, KitchenState
from hvr.worlds.kitchen.visibility import Room, closed_around
from hvr.worlds.scenes import Box, Vec

# Support ------------------------------------------------------------------------------------------
# Which receptacle holds an object, judged from boxes alone.
#
# Used where no `parentReceptacles` are given: for ALFRED's object poses, and for the few objects
# that were falling when their scene was recorded.

CLOSED_BOXES = frozenset(
    {"Fridge", "Microwave", "Cabinet", "Drawer", "Safe", "Box", "LaundryHamper"}
)
"""Receptacles that enclose their contents."""

VESSELS = frozenset({"Pan", "Pot", "Bowl", "Plate", "Mug", "Cup"})
"""Pickupable receptacles."""

SURFACES = frozenset(
    {"CounterTop", "DiningTable", "SideTable", "StoveBurner", "Stool", "Chair", "CoffeeTable"}
    | {"Desk", "Dresser", "TVStand", "Ottoman", "Footstool"}
)
"""Receptacles that support objects on their top face."""

BACKED = frozenset({"Sofa", "ArmChair", "Bed", "Toilet", "Bathtub", "DogBed", "Cart"})
"""Receptacles whose box extends above their seat, to the top of a back, tank or handle."""

HOLDERS = frozenset({"TowelHolder", "HandTowelHolder", "ToiletPaperHanger"})
"""Wall-mounted receptacles for one object."""

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
# In metres, between the bottom of the object and the top of the receptacle unless noted.
_MARGIN = 0.05  # maximum distance of the centre outside the footprint
_BELOW = 0.08  # maximum depth below a surface
_SUNK = 0.16  # the same for tables, and for furniture beside the object
_ABOVE = 0.12  # maximum height above a surface
_FALL = 0.5  # maximum height of a fall
_BESIDE = 0.5  # maximum distance from furniture that is larger in another version


class Solid(NamedTuple):
    object_id: str
    object_type: str
    box: Box


def holder_of(body: Solid, holders: Iterable[Solid]) -> str | None:
    """Return the id of the receptacle that holds an object, or None.

    The candidates are, in this order: a vessel around the object's centre; an appliance or burner
    that accepts its type; a basin, closed box or tray around it; a surface at its bottom; the
    floor; the nearest surface up to 0.5 m below; a surface at its height up to 0.5 m beside it
    (furniture that is larger in another version of the scene); the floor at any depth. Among equal
    candidates, the one with the smallest base area is chosen, since it is the innermost receptacle;
    among surfaces below or beside the object, the nearest one.
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


def _rank(holder: Solid, body: Solid) -> int | None:
    """Return the rank of a receptacle in the order of `holder_of`, or None if it is unsuitable."""
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


def _in_vessel(around: Box, body: Solid, x: float, z: float) -> bool:
    if body.object_type in _ONLY["StoveBurner"]:
        return False
    box = body.box
    if not around.over(x, z, -0.15 * min(around.x1 - around.x0, around.z1 - around.z0)):
        return False
    return around.y0 - 0.005 <= box.y0 <= around.y1 + 0.02


# Placement ----------------------------------------------------------------------------------------
# Where an object comes to rest in or on a receptacle.
#
# AI2-THOR tries the points of the receptacle nearest to the agent first. This code does the same on
# a 5 cm lattice over the receptacle's box. Boxes approximate the true shapes:
#
# * Fridge, Cabinet, Drawer, Microwave, Safe and Box must contain the object's whole box, placed
#   lengthwise, crosswise or diagonally. High ones have a shelf every 0.38 m. Flat objects (up to
#   6 cm) may overlap there.
# * On counters, tables, shelves and in basins, the bottom corners must lie within the footprint;
#   if no such spot is free, the centre must; if none is, flat objects may overlap. The true shape
#   of a counter may be an L, so points where the agent can stand do not belong to it. Neither do
#   sinks and burners.
# * A basin that is too small or full for that holds a pile of at most ten objects.
# * CoffeeMachine, Toaster and StoveBurner hold one object in their centre.
# * Plates, bowls, pans, pots, mugs and cups hold objects side by side while there is room, then in
#   a pile of at most ten (three in mugs and cups). A garbage can holds everything.

LATTICE = 0.05
"""Distance between candidate positions, in metres."""

SHELF_SPACING = 0.38
"""Distance between the shelves of high closed receptacles, in metres."""

ON_FLOOR = 0.5
"""Maximum height in metres of an object's bottom up to which AI2-THOR also reports the Floor."""

_WALL = 0.015  # wall thickness of closed boxes
_FLAT = 0.06  # maximum height of objects that may overlap
_TOUCH = 0.002  # boxes that overlap by less only touch
_PILE = {"Mug": 3, "Cup": 3, "GarbageCan": 10_000}
_PILE_USUAL = 10
_ATTACH = frozenset({"CoffeeMachine", "Toaster", "StoveBurner"}) | HOLDERS
_TOPS = (SURFACES - {"Chair"}) | {"Floor", "Sink", "Toilet", "Bathtub"}
_SEATS = {"Chair": 0.45, "Sofa": 0.45, "ArmChair": 0.45, "Bed": 0.6}
"""Heights of seats in metres; the boxes of the furniture include the backs."""


def surface_height(receptacle: KitchenObject) -> float:
    """Return the height in metres at which objects stand on or in a receptacle."""
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
    """Return the object at a free position in or on the receptacle, or None if none is free.

    Args:
        forced: Whether AI2-THOR's `forceAction` is set.
        chance: Selects a random position; None means the one nearest to the agent.
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
    """Return the ids that AI2-THOR reports as receptacles of an object that was just put down.

    The Floor is included if it holds the receptacle and the object's bottom is at most 0.5 m above
    it, or the receptacle is a GarbageCan. In the recorded scenes, objects up to 0.47 m above the
    floor have both receptacles, and objects at 0.58 m or more only the other receptacle.
    """
    parents = [receptacle.object_id]
    if placed.box.y0 <= ON_FLOOR or receptacle.object_type == "GarbageCan":
        things = world.things
        parents += [
            p for p in receptacle.parents if p in things and things[p].object_type == "Floor"
        ]
    return tuple(parents)


def holder_of_box(
    world: KitchenState, thing: KitchenObject, before: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the receptacle of an object according to its box.

    The result is `before` if it contains this receptacle, or if there is no such receptacle.
    Contents of the object itself do not count as receptacles.
    """
    inside = {thing.object_id, *world.things.deep_contents(thing.object_id)}
    spaces = [
        Solid(t.object_id, t.object_type, t.box)
        for t in world.things.values()
        if t.can("receptacle") and not t.inert and t.object_id not in inside
    ]
    holder = holder_of(Solid(thing.object_id, thing.object_type, thing.box), spaces)
    if holder is None or holder in before:
        return before
    return (holder,)


def free_spots(
    world: KitchenState, room: Room, receptacle: KitchenObject, reach: float | None
) -> list[Vec]:
    """Return free positions in a receptacle, starting with the nearest to the agent.

    `reach` is the maximum distance from the agent in metres, or None for no limit.
    """
    height, agent = surface_height(receptacle), world.agent.position
    around = {receptacle.object_id, *world.things.ancestors(receptacle.object_id)}
    band = receptacle.box._replace(y0=height, y1=height + _FLAT)
    taken = [
        box
        for object_id, box in world.things.bodies.items()
        if object_id not in around and box.overlaps(band)
    ]
    taken += room.holes.get(receptacle.object_id, ())
    walled = receptacle.object_type in ("CounterTop", "DiningTable")
    return [
        (x, height, z)
        for x, z in _lattice(receptacle.box, agent)
        if (reach is None or math.hypot(x - agent[0], z - agent[2]) <= reach)
        and not any(box.over(x, z) for box in taken)
        and not (walled and room.walkable(x, z))
    ]


def landing(
    world: KitchenState, room: Room, x: float, z: float, below: float, thing_id: str
) -> KitchenObject:
    """Return the highest surface at (x, z) that is lower than `below`, or else the floor.

    Surfaces of the object `thing_id` and its contents, and those in closed receptacles,
    do not count.
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
        # The agent can stand here, so this is floor even if a counter's box covers it.
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
    # Unrolled for speed: every placement compares all bodies.
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
    # Like the spots, the nearest level comes first.
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
    # Without room side by side, the object goes onto the pile unless that is full.
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
    # Narrow shelves count as 0.3 m wide and deep because objects may extend over the edge.
    if kind == "Shelf":
        x0, _, z0, x1, _, z1 = footprint
        wx, wz = max(0.0, 0.3 - (x1 - x0)) / 2, max(0.0, 0.3 - (z1 - z0)) / 2
        footprint = Box(x0 - wx, footprint.y0, z0 - wz, x1 + wx, footprint.y1, z1 + wz)
    around = {receptacle.object_id, *world.things.ancestors(receptacle.object_id)}
    band = Box(footprint.x0, height, footprint.z0, footprint.x1, top, footprint.z1)
    others = _others(world, thing, around, band)
    # From safe to doubtful: corners inside, then only the centre, then overlapping flat objects.
    # Each pass tries all spots, so a safer spot wins even if it is farther away.
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
                # Spots are sorted by distance, so no later one is within reach.
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
