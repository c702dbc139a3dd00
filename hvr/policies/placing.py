"""Keep plans within the room that places have, as `hvr.knowledge.retrieval.room` predicts it.

A problem limits the room of a place only where the limit can matter, by constraints of the form
"never these things together in this place", for things that the goal places or a plan puts there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from hvr.errors import ImpossibleGoalError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import alternatives, walk
from hvr.knowledge.retrieval.room import Capacity, Crowd
from hvr.pddl import And, Atom, GroundAction, Not, Or, Task, Trajectory
from hvr.pddl.facts import necessary_literals
from hvr.pddl.formulas import Exists, Expression, Formula
from hvr.values import Value

PLACED = frozenset({"on", "in"})


class PlacingCondition(Value):
    """A part of a goal that puts one of some things on or in one of some places.

    Args:
        classes: Classes of the place if any of them will do; empty for named places.
        needed: Whether the goal has no alternative.
    """

    things: tuple[str, ...]
    places: tuple[str, ...]
    classes: tuple[str, ...] = ()
    needed: bool = False


class Placing:
    """The room for the things of one goal.

    Args:
        wanted: The goal, without preferred final conditions.
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
        """Predict which things of the goal crowd each other; return further places to use.

        Args:
            names: The objects of the problem.
        """
        placements = [*self._placements(names)]
        for place in sorted({p for one in placements for p in one.places}):
            things = {t for one in placements if place in one.places for t in one.things}
            self._examine(place, things)
        return tuple(dict.fromkeys(chain.from_iterable(self._spares(placements, names))))

    def check(self, names: Collection[str]) -> None:
        """Check that no thing is too large for all its places, as a refusal has confirmed.

        Raises:
            ImpossibleGoalError: One is.
        """
        inventory = self._inventory
        for one in self._placements(names):
            places = [p for c in one.classes for p in inventory.of(c)]
            refused = [p for t, p in inventory.did_not_fit if t in one.things and p in places]
            if (
                one.needed
                and refused
                and not any(
                    inventory.parents.get(thing) == place
                    or (inventory.true("fits", thing, place) and self._room.takes(place, (thing,)))
                    for thing in one.things
                    for place in places
                )
            ):
                kinds = " or ".join(dict.fromkeys(inventory.classes[p].lower() for p in places))
                raise ImpossibleGoalError(
                    f"no {kinds} has room for {' or '.join(one.things)}: it did not fit in "
                    f"{' and '.join(sorted(refused))}, and the others are no larger or are full"
                )

    def relax(self) -> None:
        """Trust a prediction only where a refusal has confirmed it."""
        self._relaxed = True

    def constraints(self, names: Collection[str]) -> tuple[Trajectory, ...]:
        """Return the predicted crowds among some objects as constraints."""
        self.expect(names)
        return tuple(
            Trajectory("always", (), (Not(And(tuple(self._at(t, c.place) for t in c.things))),))
            for c in (self.confirmed() if self._relaxed else self.crowds)
            if c.place in names and c.things <= set(names)
            # Sizes are estimates: a thing without room anywhere is tried once.
            if len(c.things) > 1 or not c.things & self._homeless or c in self.confirmed()
        )

    def confirmed(self) -> tuple[Crowd, ...]:
        """Return the single things without room somewhere, where a refusal has shown the same.

        If a thing was too large for one place, as predicted, the other predictions for it count.
        """
        too_large = {
            thing
            for thing, place in self._inventory.did_not_fit
            if place in self._inventory.classes and not self._room.takes(place, (thing,))
        }
        return tuple(c for c in self.crowds if len(c.things) == 1 and c.things <= too_large)

    def overfull(self, task: Task, actions: Iterable[GroundAction]) -> bool:
        """Return whether a plan puts objects where they have no room; remember those objects."""
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
        """Yield the places that are needed for all things of the goal: known ones, then nearest."""
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
    """Yield each thing that a plan puts down, its place, and the things already there."""
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
    """Check that a goal does not need more things on or in a place than its class holds.

    Raises:
        ImpossibleGoalError: The goal puts too many objects on a place.
    """
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
                f"{places[0]} holds at most {most} things, but {count} should be there: name "
                "fewer, or another place for some of them"
            )
