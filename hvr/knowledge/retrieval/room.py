"""Room on and in places: predict from sizes which things have room together.

The prediction needs only boxes: of a place, of its contents, and of a thing.
It does not know how an environment places things. It assumes that each thing goes to the free
spot nearest to the robot, which may stand on any side of the place, and that things of up to 6 cm
can lie on one another. Refusals of the environment correct it (`Inventory.did_not_fit`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, product

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.roles import BIN, CARRIER, SLOT
from hvr.knowledge.scene_graph import Extent
from hvr.values import Value

_WALL = 0.02
"""Thickness of the walls of places that close, in metres."""

_GAP = 0.01
"""Distance between things that stand side by side, in metres."""

_FLAT = 0.06
"""Maximum height of things that lie on one another, in metres."""

_SHELF = 0.4
"""Distance between the shelves of high places that close, in metres."""

_AWAY = 0.6
"""Distance of the robot from the middle of a side of the place, in metres."""

_AMPLE = 0.3
"""Share of a place up to which it counts as nearly empty."""

_MOST_TOGETHER = 4
"""Maximum number of things whose combinations are examined."""

Spot = tuple[float, float, float, float, bool]
"""A horizontal area (lowest x and z, highest x and z) and whether a flat thing lies there."""


class Crowd(Value):
    """Things that have no room together in a place.

    Args:
        things: Names of things; at least one of them must stay elsewhere.
    """

    place: str
    things: frozenset[str]


class Capacity:
    """The room in a scene, as known from boxes.

    Places whose room is unknown, such as basins and places for one thing at a time, count as free.
    """

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._known: dict[object, bool] = {}

    def crowds(self, things: Collection[str], place: str) -> Iterator[Crowd]:
        """Yield the smallest sets of things that have no room together in a place.

        Each thing in such a set was not there before, or all others were not.
        """
        new = [t for t in sorted(things) if self._inventory.parents.get(t) != place]
        found: list[frozenset[str]] = []
        for size in range(1, _MOST_TOGETHER + 1):
            for some in combinations(new, size):
                together = frozenset(some)
                if any(one <= together for one in found) or self.takes(place, some):
                    continue
                found.append(together)
                yield Crowd(place, together)

    def crowd(self, thing: str, place: str, others: Collection[str]) -> Crowd | None:
        """Return things that leave no room for a thing in a place; None if there is room.

        Args:
            others: Things that are already there.
        """
        if self.takes(place, (thing,), others):
            return None
        left = sorted(others)
        for other in tuple(left):
            fewer = [o for o in left if o != other]
            if not self.takes(place, (thing,), fewer):
                left = fewer
        return Crowd(place, frozenset((thing, *left)))

    def takes(
        self, place: str, things: Sequence[str], others: Collection[str] | None = None
    ) -> bool:
        """Return whether some things have room in a place, put there in this order.

        Args:
            others: Things that are already there; by default, the present contents.
        """
        inventory = self._inventory
        if others is None:
            others = inventory.contents.get(place, ())
        most = inventory.most_things(place)
        if most is not None and len(others) + len(things) > most:
            return False
        extent = inventory.extents.get(place)
        if extent is None or not self._is_limited(place):
            return True
        present = [o for o in others if inventory.parents.get(o) == place]
        boxes = [b for o in present if (b := inventory.extents.get(o)) is not None]
        sizes = [_size(inventory, o) for o in others if o not in present]
        sizes += [_size(inventory, t) for t in things]
        shut = inventory.true("openable", place)
        key = (
            tuple(round(v, 2) for v in extent),
            tuple(sorted(tuple(round(v, 2) for v in b) for b in boxes)),
            tuple(sizes),
        )
        if key not in self._known:
            known = [s for s in sizes if s is not None]
            packing = _Packing(extent, boxes, closed=shut)
            self._known[key] = packing.is_ample(known) or all(
                packing.holds(known, side) for side in range(4)
            )
        return self._known[key]

    def _is_limited(self, place: str) -> bool:
        inventory = self._inventory
        if inventory.true("pickupable", place) or inventory.plays(place, CARRIER, SLOT, BIN):
            return False
        return inventory.true("openable", place) or inventory.true("surface", place)


_Size = tuple[float, float, float]


def _size(inventory: Inventory, name: str) -> _Size | None:
    box = inventory.extents.get(name)
    if box is None:
        return None
    x0, y0, z0, x1, y1, z1 = box
    return round(x1 - x0, 3), round(y1 - y0, 3), round(z1 - z0, 3)


class _Packing:
    """Things put one after another on or in a place, each at the free spot nearest to the robot."""

    def __init__(self, place: Extent, contents: Iterable[Extent], *, closed: bool) -> None:
        x0, y0, z0, x1, y1, z1 = place
        wall = _WALL if closed else 0.0
        self._area = (x0 + wall, z0 + wall, x1 - wall, z1 - wall)
        self._height = y1 - y0 if closed else math.inf
        shelves = max(1, int((y1 - y0) / _SHELF)) if closed else 1
        self._shelves: list[list[Spot]] = [[] for _ in range(shelves)]
        middle = ((x0 + x1) / 2, (z0 + z1) / 2)
        self._robot = (
            (middle[0], z0 - _AWAY),
            (middle[0], z1 + _AWAY),
            (x0 - _AWAY, middle[1]),
            (x1 + _AWAY, middle[1]),
        )
        for a0, b0, c0, a1, b1, c1 in contents:
            shelf = min(shelves - 1, max(0, int((b0 - y0) / _SHELF))) if closed else 0
            self._shelves[shelf].append((a0, c0, a1, c1, b1 - b0 <= _FLAT))

    def is_ample(self, sizes: Collection[_Size]) -> bool:
        """Return whether there is so much room that placing need not be tried."""
        x0, z0, x1, z1 = self._area
        if any(h > self._height or 2 * max(w, d) > min(x1 - x0, z1 - z0) for w, h, d in sizes):
            return False
        taken = sum((t[2] - t[0]) * (t[3] - t[1]) for shelf in self._shelves for t in shelf)
        return taken + sum(w * d for w, _, d in sizes) <= _AMPLE * (x1 - x0) * (z1 - z0)

    def holds(self, sizes: Iterable[_Size], side: int) -> bool:
        """Return whether things of the given sizes have room in this order."""
        shelves = [list(taken) for taken in self._shelves]
        return all(self._put(size, shelves, side) for size in sizes)

    def _put(self, size: _Size, shelves: list[list[Spot]], side: int) -> bool:
        width, height, depth = size
        if height > self._height:
            return False
        flat = height <= _FLAT
        # A flat thing lies on flat ones only if there is no room beside them.
        for above in (False, True) if flat else (False,):
            for wide, deep in ((width, depth), (depth, width)):
                for taken in shelves:
                    in_the_way = [t for t in taken if not (above and t[4])]
                    spot = self._spot(wide, deep, in_the_way, side)
                    if spot is not None:
                        taken.append((*spot, flat))
                        return True
        return False

    def _spot(
        self, width: float, depth: float, taken: Sequence[Spot], side: int
    ) -> tuple[float, float, float, float] | None:
        x0, z0, x1, z1 = self._area
        low, high = (x0 + width / 2, z0 + depth / 2), (x1 - width / 2, z1 - depth / 2)
        if low[0] > high[0] or low[1] > high[1]:
            return None
        robot = self._robot[side]
        reach = (width / 2 + _GAP, depth / 2 + _GAP)
        # The nearest free centre is the robot's own projection or touches a limit.
        xs, zs = ([low[a], high[a], min(max(robot[a], low[a]), high[a])] for a in (0, 1))
        for a0, c0, a1, c1, _ in taken:
            xs += [a0 - reach[0], a1 + reach[0]]
            zs += [c0 - reach[1], c1 + reach[1]]
        spots = sorted(
            (math.dist(robot, (x, z)), x, z)
            for x, z in product(xs, zs)
            if low[0] <= x <= high[0] and low[1] <= z <= high[1]
        )
        for _, x, z in spots:
            spot = (x - width / 2, z - depth / 2, x + width / 2, z + depth / 2)
            if all(
                spot[0] >= t[2] or t[0] >= spot[2] or spot[1] >= t[3] or t[1] >= spot[3]
                for t in taken
            ):
                return spot
        return None
