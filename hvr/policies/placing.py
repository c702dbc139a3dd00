"""Space in receptacles: keeps plans within the space that hvr predicts from sizes.

A problem limits the space in a place only if the limit can matter. The limits are constraints of
the form "never these objects together in this place", for objects that the goal or a plan puts in
the place.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, combinations, product

from hvr.errors import ImpossibleGoalError
from hvr.knowledge.ontology import BIN, CARRIER, SLOT
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import alternatives, walk
from hvr.knowledge.scene_graph import Extent
from hvr.pddl import And, Atom, GroundAction, Not, Or, Task, Trajectory
from hvr.pddl.facts import necessary_literals
from hvr.pddl.formulas import Exists, Expression, Formula
from hvr.values import Value

# Room ---------------------------------------------------------------------------------------------
# Predict from sizes which things have room together on or in a place.
#
# The prediction needs only the boxes of a place, of its contents, and of a thing. It does not know
# how an environment places things. It assumes that each thing goes to the free spot nearest to the
# robot, which may stand on any side of the place, and that things of up to 6 cm can lie on one
# another. Refusals by the environment correct the prediction (`Inventory.did_not_fit`).

_WALL = 0.02
"""Thickness of the walls of closable places, in metres."""

_GAP = 0.01
"""Distance between objects that stand side by side, in metres."""

_FLAT = 0.06
"""Maximum height of objects that can be stacked, in metres."""

_SHELF = 0.4
"""Distance between the shelves of high closable places, in metres."""

_AWAY = 0.6
"""Distance between the robot and the middle of a side of the place, in metres."""

_AMPLE = 0.3
"""Maximum occupied share of a place that counts as nearly empty."""

_MOST_TOGETHER = 4
"""Maximum number of objects whose combinations are examined."""

Spot = tuple[float, float, float, float, bool]
"""A horizontal area (minimum x and z, maximum x and z), and whether a flat object lies in it."""


class Crowd(Value):
    """Objects that do not fit into a place together."""

    place: str
    things: frozenset[str]


class Capacity:
    """The space in the receptacles of a scene, computed from bounding boxes.

    Places of unknown size, portable places, and places whose size sets no limit, such as basins,
    have unlimited space unless the ontology limits the number of objects in their class.
    """

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._known: dict[object, bool] = {}

    def crowds(self, things: Collection[str], place: str) -> Iterator[Crowd]:
        """Yield the minimal sets of objects that do not fit into a place together.

        Each set contains at least one object that is not in the place yet. Contents that are in
        `things` but not in the set count as moved away.
        """
        contents = self._inventory.contents.get(place, ())
        stays = [o for o in contents if o not in things]
        found: list[frozenset[str]] = []
        for size in range(1, _MOST_TOGETHER + 1):
            for some in combinations(sorted(things), size):
                together = frozenset(some)
                new = [t for t in some if t not in contents]
                if not new or any(one <= together for one in found):
                    continue
                if not self.takes(place, new, [*stays, *(t for t in some if t in contents)]):
                    found.append(together)
                    yield Crowd(place, together)

    def could_take(self, place: str, thing: str) -> bool:
        """Return whether an object would fit into a place without its portable contents."""
        contents = self._inventory.contents.get(place, ())
        stays = [o for o in contents if not self._inventory.true("pickupable", o)]
        return self.takes(place, (thing,), stays)

    def is_roomier(self, place: str, others: Iterable[str]) -> bool:
        """Return whether a place is larger than each of the others in at least one direction."""
        size = self._inner_size(place)
        return all(
            any(a > b for a, b in zip(size, self._inner_size(o), strict=True)) for o in others
        )

    def slack(self, place: str, thing: str) -> float:
        """Return the metres that an object leaves free in a place; negative if it does not fit.

        The result is infinite if a size is unknown.
        """
        size = _size(self._inventory, thing)
        if size is None or self._inventory.extents.get(place) is None:
            return math.inf
        room, width = self._inner_size(place), sorted((size[0], size[2]))
        left = [room[0] - width[0], room[1] - width[1]]
        return round(min(*left, room[2] - size[1]) if self._shuts(place) else min(left), 3)

    def _inner_size(self, place: str) -> tuple[float, float, float]:
        extent = self._inventory.extents.get(place)
        if extent is None:
            return math.inf, math.inf, math.inf
        x0, y0, z0, x1, y1, z1 = extent
        wall = 2 * _WALL if self._shuts(place) else 0.0
        less, more = sorted((x1 - x0 - wall, z1 - z0 - wall))
        return round(less, 3), round(more, 3), round(y1 - y0, 3)

    def _shuts(self, place: str) -> bool:
        return self._inventory.true("openable", place)

    def crowd(self, thing: str, place: str, others: Collection[str]) -> Crowd | None:
        """Return `thing` and a minimal subset of `others` beside which it does not fit, or None."""
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
        """Return whether objects fit into a place in this order, beside `others`.

        If `others` is None, the current contents of the place are used.
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
        x0, z0, x1, z1 = self._area
        if any(h > self._height or 2 * max(w, d) > min(x1 - x0, z1 - z0) for w, h, d in sizes):
            return False
        taken = sum((t[2] - t[0]) * (t[3] - t[1]) for shelf in self._shelves for t in shelf)
        return taken + sum(w * d for w, _, d in sizes) <= _AMPLE * (x1 - x0) * (z1 - z0)

    def holds(self, sizes: Iterable[_Size], side: int) -> bool:
        shelves = [list(taken) for taken in self._shelves]
        return all(self._put(size, shelves, side) for size in sizes)

    def _put(self, size: _Size, shelves: list[list[Spot]], side: int) -> bool:
        width, height, depth = size
        if height > self._height:
            return False
        flat = height <= _FLAT
        # A flat thing lies on other flat things only if there is no room beside them.
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
        # The nearest free centre is the robot's own projection, or touches a limit.
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


# --------------------------------------------------------------------------------------------------

PLACED = frozenset({"on", "in"})


class PlacingCondition(Value):
    """The part of a goal that puts one of several objects in or on one of several places.

    Args:
        classes: Classes of the place, if any place of a class is allowed; empty for named places.
        needed: Whether the goal cannot hold without this part.
    """

    things: tuple[str, ...]
    places: tuple[str, ...]
    classes: tuple[str, ...] = ()
    needed: bool = False


class Placing:
    """Checks whether the objects of a goal fit in their places; ignores end-state preferences.

    The methods take the `names` of the objects in the planning problem.
    """

    def __init__(self, wanted: Formula, inventory: Inventory) -> None:
        self._wanted = wanted
        self._inventory = inventory
        self._room = Capacity(inventory)
        self.crowds: dict[Crowd, None] = {}
        self._checked: set[tuple[str, frozenset[str]]] = set()
        self._homeless: set[str] = set()
        self._relaxed = False

    def expect(self, names: Collection[str]) -> tuple[str, ...]:
        """Predict which objects of the goal do not fit together; return further places to use."""
        placements = [*self._placements(names)]
        for place in sorted({p for one in placements for p in one.places}):
            things = {t for one in placements if place in one.places for t in one.things}
            self._examine(place, things)
        return tuple(dict.fromkeys(chain.from_iterable(self._spares(placements, names))))

    def check(self, names: Collection[str]) -> None:
        """Raise ImpossibleGoalError if the refusals so far show that an object fits in no place."""
        inventory = self._inventory
        for one in self._placements(names):
            places = [p for c in one.classes for p in inventory.of(c)]
            refused = [p for t, p in inventory.did_not_fit if t in one.things and p in places]
            if (
                one.needed
                and refused
                and not any(
                    inventory.parents.get(thing) == place
                    or (inventory.true("fits", thing, place) and not self._too_small(place, thing))
                    for thing in one.things
                    for place in places
                )
            ):
                kinds = " or ".join(dict.fromkeys(inventory.classes[p].lower() for p in places))
                others = ", and the others are no larger" if len(places) > len(refused) else ""
                they = "it" if len(one.things) == 1 else "they"
                raise ImpossibleGoalError(
                    f"no {kinds} has room for {' or '.join(one.things)}: {they} did not fit in "
                    f"{' and '.join(sorted(refused))}{others}"
                )

    def _too_small(self, place: str, thing: str) -> bool:
        """Return whether a place seems too small, and a place no smaller refused the object."""
        if self._room.could_take(place, thing):
            return False
        known = self._inventory.classes
        refused = [p for t, p in self._inventory.did_not_fit if t == thing and p in known]
        refused = [p for p in refused if not self._room.could_take(p, thing)]
        return not self._room.is_roomier(place, refused)

    def relax(self) -> None:
        """Ignore, in later calls, the predictions that no refusal has confirmed."""
        self._relaxed = True

    def constraints(self, names: Collection[str]) -> tuple[Trajectory, ...]:
        """Return constraints that forbid the objects predicted not to fit together."""
        return tuple(
            Trajectory("always", (), (Not(And(tuple(self._at(t, c.place) for t in c.things))),))
            for c in self._assumed(names)
            if len(c.things) > 1
        )

    def misfits(self, names: Collection[str]) -> frozenset[Atom]:
        """Return the `fits` facts of these objects that are predicted to be false."""
        single = (c for c in self._assumed(names) if len(c.things) == 1)
        return frozenset(Atom("fits", (t, c.place)) for c in single for t in c.things)

    def _assumed(self, names: Collection[str]) -> Iterator[Crowd]:
        self.expect(names)
        for crowd in self.confirmed() if self._relaxed else tuple(self.crowds):
            known = crowd.place in names and crowd.things <= set(names)
            if known and not self._is_to_be_tried(crowd):
                yield crowd

    def _is_to_be_tried(self, crowd: Crowd) -> bool:
        # Sizes are estimates, so a thing without room anywhere is tried where it nearly fits.
        if len(crowd.things) > 1 or not crowd.things & self._homeless:
            return False
        (thing,) = crowd.things
        if not self._inventory.true("fits", thing, crowd.place) or crowd in self.confirmed():
            return False
        alike = self._inventory.of(self._inventory.classes[crowd.place])
        left = [p for p in alike if self._inventory.true("fits", thing, p)]
        best = max(self._room.slack(p, thing) for p in left)
        return self._room.slack(crowd.place, thing) >= best

    def confirmed(self) -> tuple[Crowd, ...]:
        """Return the predicted misfits of single objects that refusals confirm.

        If an object did not fit into a place, as predicted, the predictions about places that are
        not larger count as confirmed too.
        """
        single = [c for c in self.crowds if len(c.things) == 1]
        return tuple(c for c in single if all(self._too_small(c.place, t) for t in c.things))

    def overfull(self, task: Task, actions: Iterable[GroundAction]) -> bool:
        """Return whether a plan puts objects where they do not fit, and record these objects.

        Objects that are already recorded do not count. After `relax`, the result is False.
        """
        if self._relaxed:
            return False
        before = len(self.crowds)
        moved: dict[str, set[str]] = {}
        for thing, place, others in _puts(task, actions, self._inventory):
            moved.setdefault(self._inventory.classes[place], set()).add(thing)
            here = set(self._inventory.contents.get(place, ()))
            if self._inventory.parents.get(thing) == place and here.issuperset(others):
                continue
            crowd = self._room.crowd(thing, place, others)
            names = {o.name for o in task.problem.objects}
            if crowd is not None:
                self.crowds[Crowd(place, crowd.things & names)] = None
        if len(self.crowds) == before:
            return False
        for place in sorted(o.name for o in task.problem.objects):
            things = moved.get(self._inventory.classes.get(place, ""))
            if things is not None:
                self._examine(place, things)
        return True

    def _examine(self, place: str, things: set[str]) -> None:
        key = place, frozenset(things)
        if key not in self._checked:
            self._checked.add(key)
            self.crowds.update(dict.fromkeys(self._room.crowds(things, place)))

    def _at(self, thing: str, place: str) -> Formula:
        kinds = (("on", "surface"), ("in", "container"))
        atoms = [Atom(p, (thing, place)) for p, kind in kinds if self._inventory.true(kind, place)]
        return atoms[0] if len(atoms) == 1 else Or(tuple(atoms))

    def _placements(self, names: Collection[str]) -> Iterator[PlacingCondition]:
        only = dict(alternatives(self._wanted))
        classes: dict[str, tuple[str, ...]] = {}
        ontology, inventory = self._inventory.ontology, self._inventory
        nodes = [*walk(self._wanted, True)]
        needed = {*_needed(self._wanted)}
        for kind, node in nodes:
            if kind == "variable":
                named = (ontology.class_of_pddl_type(t) for t in node[1])
                classes[node[0]] = tuple(c for c in named if c is not None)

        def of(argument: str) -> tuple[str, ...]:
            if argument not in classes:
                return (argument,) if argument in inventory.classes else ()
            among = only.get(argument)
            every = [n for c in classes[argument] for n in inventory.of(c) if n in names]
            return tuple(n for n in dict.fromkeys(every) if among is None or n in among)

        for kind, node in nodes:
            if kind == "literal" and node[1] and node[0].predicate in PLACED:
                inner, outer = node[0].args
                free = classes.get(outer, ()) if outer not in only else ()
                yield PlacingCondition(of(inner), of(outer), free, node[0] in needed)

    def _spares(
        self, placements: Sequence[PlacingCondition], names: Collection[str]
    ) -> Iterator[list[str]]:
        inventory = self._inventory
        things: dict[tuple[str, ...], dict[str, None]] = {}
        for one in placements:
            if one.classes:
                things.setdefault(one.classes, {}).update(dict.fromkeys(one.things[:1]))
        for classes, wanted in things.items():
            places = [p for c in classes for p in inventory.of(c)]
            places.sort(key=lambda place: place not in names)  # each further place costs time
            used: dict[str, list[str]] = {}
            for thing in sorted(wanted, key=self._footprint, reverse=True):
                if inventory.parents.get(thing) in places:
                    continue
                for place in places:
                    here = used.get(place, [])
                    fits = inventory.true("fits", thing, place)
                    if fits and self._room.takes(place, [*here, thing]):
                        used.setdefault(place, []).append(thing)
                        break
                else:
                    self._homeless.add(thing)
            yield [*used]

    def _footprint(self, name: str) -> float:
        x0, _, z0, x1, _, z1 = self._inventory.extents.get(name, (0.0,) * 6)
        return (x1 - x0) * (z1 - z0)


def _needed(goal: Expression) -> Iterator[Expression]:
    match goal:
        case And(operands):
            for operand in operands:
                yield from _needed(operand)
        case Exists(_, body):
            yield from _needed(body)
        case _:
            yield goal


def _puts(
    task: Task, actions: Iterable[GroundAction], inventory: Inventory
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    bits = task.initial.bits
    places = dict(inventory.parents)
    for action in actions:
        after = task.ground(action).apply(bits)
        gone = {a.args for a in task.atoms_in(bits & ~after) if a.predicate in PLACED}
        held = {a.args[0] for a in task.atoms_in(bits & ~after) if a.predicate == "holding"}
        for thing, place in gone:
            if places.get(thing) == place:
                del places[thing]
        for atom in task.atoms_in(after & ~bits):
            if atom.predicate in PLACED:
                thing, place = atom.args
                if thing in held:
                    yield thing, place, tuple(o for o, p in sorted(places.items()) if p == place)
                places[thing] = place
        bits = after


def check_numbers(goal: Expression, inventory: Inventory) -> None:
    """Raise ImpossibleGoalError if a goal puts more objects in a place than its class allows."""
    inside: dict[str, set[str]] = {}
    classes: dict[str, tuple[str, ...]] = {}
    while isinstance(goal, Exists):
        classes.update({v.name: v.types for v in goal.variables})
        goal = goal.body
    for literal, positive in necessary_literals(goal):
        if positive and isinstance(literal, Atom) and literal.predicate in PLACED:
            inside.setdefault(literal.args[1], set()).add(literal.args[0])
    for place, things in inside.items():
        kinds = [inventory.ontology.class_of_pddl_type(t) for t in classes.get(place, ())]
        places = [place] if place in inventory.classes else []
        places += [n for kind in kinds if kind is not None for n in inventory.of(kind)]
        limits = [inventory.most_things(name) for name in places]
        if not limits or None in limits:
            continue
        most = max(limit for limit in limits if limit is not None)
        count = len(things - classes.keys())
        if count > most:
            raise ImpossibleGoalError(
                f"{places[0]} holds at most {most} thing{'s' * (most != 1)}, but {count} should be "
                "there: name fewer things, or another place for some of them"
            )
