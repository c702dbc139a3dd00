"""The objects of a scene, read once from the knowledge graph and ordered by preference."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import (
    CUTTABLE,
    FURNITURE,
    INSTRUMENT,
    LONG,
    OPEN,
    PIECE_OF,
    SITUATION,
    Ontology,
    Roles,
    roles_of,
)
from hvr.knowledge.scene_graph import Extent
from hvr.pddl.formulas import And, Atom, Exists, Expression, Not, Or
from hvr.values import cached_property

PLACEHOLDER = "x"
"""Stands for the object in formulas about one object."""

Position = tuple[float, float, float]


def number_of(name: str) -> int:
    """Return the number at the end of an object's name, or 0."""
    last = name.rpartition("-")[2]
    return int(last) if last.isdigit() else 0


@dataclass(frozen=True)
class Inventory:
    """The objects of a scene and the facts about them.

    Args:
        distances: Distances from the robot in metres. Objects without a distance count as far away.
        did_not_fit: Pairs of an object and a place that had no room for it.
        avoided: Objects that must not be used.
        used: Objects that the robot has acted on.
        unseen: Closed places that the robot has not yet looked into.
        doubted: Objects whose last observation was unexpected and is not confirmed yet.
    """

    scene: str
    ontology: Ontology
    classes: Mapping[str, str]
    facts: frozenset[Atom]
    distances: Mapping[str, float]
    did_not_fit: frozenset[tuple[str, str]] = frozenset()
    avoided: frozenset[str] = frozenset()
    positions: Mapping[str, Position] = field(default_factory=dict)
    extents: Mapping[str, Extent] = field(default_factory=dict)
    used: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()
    doubted: frozenset[str] = frozenset()

    @cached_property
    def _by_class(self) -> dict[str, tuple[str, ...]]:
        members: dict[str, list[str]] = defaultdict(list)
        for name, object_class in self.classes.items():
            if name not in self.avoided:
                members[object_class].append(name)
        return {c: tuple(sorted(names, key=self._rank)) for c, names in members.items()}

    def most_things(self, place: str) -> int | None:
        """Return how many objects the class of a place permits on or in it; None for no limit."""
        classes = self.ontology.superclasses(self.classes[place], reflexive=True)
        limits = [int(str(n)) for c in classes for n in self.ontology.annotation(c, "holdsAtMost")]
        return min(limits, default=None)

    @cached_property
    def too_full(self) -> frozenset[str]:
        """Places that had no room for an object."""
        return frozenset(place for _, place in self.did_not_fit)

    @cached_property
    def unplaced(self) -> frozenset[str]:
        """Portable objects whose place is unknown."""
        held = set(self.held)
        return frozenset(
            name
            for name in self.classes
            if self.true("pickupable", name)
            and self.true("present", name)
            and name not in self.parents
            and name not in held
        )

    def _rank(self, name: str) -> tuple[bool, int, float, int, str]:
        """Return a sort key: places with room first, then objects in the open, then near ones."""
        return (
            name in self.too_full,
            2 if name in self.unplaced else int(self.hidden(name)),
            # rounded, so that floating-point noise does not decide
            round(self.distances.get(name, math.inf), 2),
            number_of(name),
            name,
        )

    def without(self, names: Collection[str]) -> Inventory:
        """Return the inventory with the named objects left out.

        Objects with contents stay, since the contents may be needed, but are marked as avoided.
        """
        avoided = frozenset(n for n in names if self.contents.get(n))
        gone = set(names) - avoided
        kept = {n: c for n, c in self.classes.items() if n not in gone}
        facts = frozenset(a for a in self.facts if gone.isdisjoint(a.args))
        return replace(self, classes=kept, facts=facts, avoided=self.avoided | avoided)

    def of(self, object_class: str) -> tuple[str, ...]:
        """Return the usable objects of a class, starting with the preferred objects.

        The objects of subclasses are returned only if the class has no direct objects.
        """
        direct = self._by_class.get(object_class)
        if direct is not None:
            return direct
        if not self.ontology.has_class(object_class):
            return ()
        below = self.ontology.subclasses(object_class, reflexive=True)
        names = [n for c in below for n in self._by_class.get(c, ())]
        return tuple(sorted(names, key=self._rank))

    @cached_property
    def parents(self) -> dict[str, str]:
        """The place that each object is directly on or in."""
        return {a.args[0]: a.args[1] for a in self.facts if a.predicate in {"on", "in"}}

    @cached_property
    def contents(self) -> dict[str, tuple[str, ...]]:
        """The objects directly on or in each object."""
        inside: dict[str, list[str]] = defaultdict(list)
        for inner, outer in sorted(self.parents.items()):
            inside[outer].append(inner)
        return {outer: tuple(inner) for outer, inner in inside.items()}

    @property
    def held(self) -> tuple[str, ...]:
        """The objects that the robot holds."""
        return tuple(sorted(a.args[0] for a in self.facts if a.predicate == "holding"))

    def preferred(self, work: str) -> frozenset[str]:
        """Return the classes that the ontology prefers for an activity, such as `slicing`."""
        return frozenset(
            str(kind)
            for preference in self.ontology.subjects("prefers")
            if work in self.ontology.annotation(preference, "context")
            for kind in self.ontology.annotation(preference, "prefers")
        )

    def tools(self, role: str, work: str) -> tuple[str, ...]:
        """Return the objects with a role, starting with the best for an activity such as `slicing`.

        Objects in the open come first, then preferred classes (`k:context` and `k:prefers` of an
        individual), then the nearest objects.
        """
        preferred = self.preferred(work)
        predicates = self.roles.predicates(role)
        able = (
            a.args[0]
            for a in self.facts
            if a.predicate in predicates
            and a.args[0] not in self.avoided
            and self.true("present", a.args[0])
        )
        return tuple(
            sorted(
                able,
                key=lambda n: (self.hidden(n), self.classes[n] not in preferred, self._rank(n)),
            )
        )

    def hidden(self, name: str) -> bool:
        """Return whether an object is behind a closed door."""
        parent = self.parents.get(name)
        return parent is not None and self.true("openable", parent) and not self.plays(parent, OPEN)

    def pairs(self, predicate: str) -> tuple[tuple[str, str], ...]:
        return tuple(sorted((a.args[0], a.args[1]) for a in self.facts if a.predicate == predicate))

    @cached_property
    def roles(self) -> Roles:
        return roles_of(self.ontology)

    def joined(self, role: str) -> tuple[tuple[str, str], ...]:
        """Return the sorted object pairs in the first relation with a role; () if none has it."""
        predicate = self.roles.predicate(role)
        return self.pairs(predicate) if predicate is not None else ()

    def plays(self, name: str, *roles: str) -> bool:
        """Return whether an object has a state or affordance with one of the roles."""
        return any(self.true(p, name) for role in roles for p in self.roles.predicates(role))

    def true(self, predicate: str, *args: str) -> bool:
        return Atom(predicate, args) in self.facts

    def holds(self, formula: Expression, name: str) -> bool:
        """Return whether a formula about `PLACEHOLDER` is true of an object.

        The only supported quantifier ranges over one object on or in this object, or over the place
        of this object.

        Raises:
            TypeError: The formula has another form.
        """
        match formula:
            case Atom(predicate, args):
                return (
                    Atom(predicate, tuple(name if a == PLACEHOLDER else a for a in args))
                    in self.facts
                )
            case Not(operand):
                return not self.holds(operand, name)
            case And(operands):
                return all(self.holds(o, name) for o in operands)
            case Or(operands):
                return any(self.holds(o, name) for o in operands)
            case Exists((variable,), Atom("in" | "on" as predicate, (inner, outer))):
                inner, outer = (name if a == PLACEHOLDER else a for a in (inner, outer))
                if inner == variable.name:
                    here = self.contents.get(outer, ())
                    return any(self.true(predicate, thing, outer) for thing in here)
                place = self.parents.get(inner, "")
                kind = self.ontology.pddl_type(self.classes[place]) if place else None
                return kind in variable.types and self.true(predicate, inner, place)
        raise TypeError(f"expected a formula over one object, found {formula}")


def situation(name: str, inventory: Inventory) -> tuple[object, ...]:
    """Return the place and state of an object, as far as they matter for planning.

    Objects of one class in the same situation are interchangeable, except for their distance.
    """
    parent = inventory.parents.get(name)
    where = None
    if parent is not None:
        where = (
            inventory.classes[parent],
            inventory.plays(parent, OPEN),
            # Places on large furniture count as the same; each small place is a situation of its
            # own.
            inventory.plays(parent, LONG) or parent,
        )
    state = tuple(inventory.true(p, name) for p in inventory.roles.predicates(SITUATION))
    return where, state, bool(inventory.contents.get(name))


def take_inventory(
    graph: KnowledgeGraph,
    scene: str,
    positions: Mapping[str, Position] | None = None,
    robot: Position = (0.0, 0.0, 0.0),
    extents: Mapping[str, Extent] | None = None,
) -> Inventory:
    classes = {name: graph.object_class(name) for name in graph.objects()}
    distances = {
        name: math.hypot(x - robot[0], z - robot[2])
        for name, (x, _, z) in (positions or {}).items()
    }
    return Inventory(
        scene,
        graph.ontology,
        classes,
        graph.facts(),
        distances,
        graph.did_not_fit(),
        positions=dict(positions or {}),
        extents=extents or {},
    )


# Chosen objects -----------------------------------------------------------------------------------

_MOST_KINDS = 4
"""Maximum number of situations per class from which to choose objects.

The nearest come first, so the others are far away or behind doors, and every extra object makes the
problem harder to solve.
"""


@dataclass
class ObjectSelection:
    """A growing selection of objects, each with the reason for selecting it."""

    inventory: Inventory
    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, name: str | None, reason: str) -> None:
        """Add an object, unless it is None or already selected."""
        if name is not None and name not in self.reasons:
            self.reasons[name] = reason

    @property
    def pieces(self) -> tuple[tuple[str, str], ...]:
        """Existing and future pieces, each with the object to which it belongs."""
        return self.inventory.joined(PIECE_OF)

    def is_piece(self, name: str) -> bool:
        return any(piece == name for piece, _ in self.pieces)

    def first(self, object_class: str, reason: str) -> str | None:
        """Return a selected object of a class, selecting one if necessary; None if none exists."""
        names = self.inventory.of(object_class)
        chosen = next((n for n in names if n in self.reasons), names[0] if names else None)
        self.add(chosen, reason)
        return chosen

    def tool(self) -> None:
        """Select a cutting tool.

        A tool selected for another reason does not count if the ontology prefers another class.
        """
        tools = self.inventory.tools(INSTRUMENT, "slicing")
        kinds = {self.inventory.classes[n] for n in tools if n in self.reasons}
        if tools and not kinds & (self.inventory.preferred("slicing") or kinds):
            self.add(tools[0], "to cut with")

    def pick(
        self, classes: tuple[str, ...], count: int, reason: str, among: frozenset[str] = frozenset()
    ) -> None:
        """Select the nearest objects of some classes in each kind of situation.

        The planner decides which situation gives the shorter plan; the nearest mug may be full, for
        example.

        Args:
            count: Number of objects to select per class and situation.
            among: Objects from which to select; empty for no restriction.
        """
        # Furniture does not move, so the nearest piece suffices.
        places = [c for c in classes if self.inventory.roles.plays(c, FURNITURE)]
        if places:
            for object_class in places:
                for name in self._of(object_class, among)[:count]:
                    self.add(name, reason)
            return
        owned = {self.inventory.classes[piece] for piece, _ in self.pieces}
        pieces = [c for c in classes if c in owned]
        for object_class in pieces:
            self.pick_pieces(object_class, count, reason)
        kinds: dict[object, int] = {}
        for object_class in classes:
            if object_class in pieces:
                continue
            for name in self._of(object_class, among):
                kind = (object_class, situation(name, self.inventory))
                if kind not in kinds and len(kinds) >= _MOST_KINDS:
                    continue
                kinds[kind] = kinds.get(kind, 0) + 1
                if kinds[kind] <= count:
                    self.add(name, reason)

    def _of(self, object_class: str, among: frozenset[str]) -> tuple[str, ...]:
        names = self.inventory.of(object_class)
        return tuple(n for n in names if n in among) if among else names

    def pick_pieces(self, object_class: str, count: int, reason: str) -> None:
        """Select pieces of a class: existing pieces, then future pieces of the nearest objects.

        With future pieces, the objects to cut and a cutting tool are also selected.
        """
        owners = [(p, s) for p, s in self.pieces if self.inventory.classes[p] == object_class]
        present = [p for p, _ in owners if self.inventory.true("present", p)]
        for name in present[:count]:
            self.add(name, reason)
        missing = count - len(present)
        sources = {s for _, s in owners if self.inventory.true("present", s)}
        ranked = [
            n
            for c in sorted({self.inventory.classes[s] for s in sources})
            for n in self.inventory.of(c)
            if n in sources
        ]
        for source in ranked:
            if missing <= 0:
                break
            pieces = sorted((p for p, s in owners if s == source), key=number_of)
            for name in pieces[:missing]:
                self.add(name, reason)
            self.add(source, f"what {object_class} is cut from")
            missing -= len(pieces)
            if self.inventory.plays(source, CUTTABLE):
                self.tool()
