"""The means to a goal: appliances, vessels, tools and water, from the ontology.

An object that is already selected is preferred over others of its class, because every additional
object makes the problem harder to solve. If a goal can be reached in several ways, the means for
all of them are selected, and the planner finds the shortest plan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache

from hvr.knowledge.ontology import (
    APPARATUS,
    CONTAINS,
    DIVIDED,
    FILLED,
    FILLER,
    LIQUID,
    PORTABLE,
    RUNNING,
    RUNS_INTO,
    SWITCHES,
    TREATS,
    Ontology,
    roles_of,
)
from hvr.knowledge.retrieval.inventory import ObjectSelection
from hvr.pddl.formulas import Atom

# Supplies -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Supply:
    """A way to achieve a state or to provide a liquid: an object, and how it is used.

    Args:
        achieves: PDDL predicate of the state, or name of the liquid.
        needs: Class that must have an available object.
        reason: Why the object is selected, in words.
        goes_into: Classes of places on or in which objects are treated, the appliance first.
        heats: Whether the object is an appliance that changes the state of its contents.
        switched: Whether a separate control switches the object.
        runs: Whether the liquid runs from the object into another object.
        vessels: Classes of vessels in which a liquid can be treated, preferred classes first.
    """

    achieves: str
    needs: str
    reason: str
    goes_into: tuple[str, ...]
    heats: bool
    switched: bool
    runs: bool
    vessels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Supplies:
    """All ways to achieve states and provide liquids that an ontology describes.

    Args:
        by_achieved: Supplies by the state or liquid that they achieve.
        heating: Supplies that use an appliance, ordered by `k:rank`.
        ended: Supplies by the predicate that they make false.
        heated: Predicates that every appliance achieves.
        treated: The subset of `heated` that an appliance achieves only for suitable classes.
        of_contents: Predicates that a vessel gets when its contents are heated.
        carriers: Classes for carrying a liquid to immovable objects, preferred classes first.
        put_down: Classes of places to put objects down, preferred classes first.
        liquid: Name of the liquid to heat, for reasons.
    """

    by_achieved: Mapping[str, Supply]
    heating: tuple[Supply, ...]
    ended: Mapping[str, Supply]
    heated: frozenset[str]
    treated: frozenset[str]
    of_contents: frozenset[str]
    carriers: tuple[str, ...]
    put_down: tuple[str, ...]
    liquid: str


@lru_cache(maxsize=8)
def supplies_of(ontology: Ontology) -> Supplies:
    roles = roles_of(ontology)
    switched = {ontology.range_of(prop) for prop in roles.players(SWITCHES)}
    running = {ontology.domain_of(prop) for prop in roles.players(RUNS_INTO)}

    def listed(name: str, prop: str) -> tuple[str, ...]:
        return tuple(w for v in ontology.annotation(name, prop) for w in str(v).split())

    def text(name: str, prop: str) -> str:
        return next(map(str, ontology.annotation(name, prop)), "")

    vessels = [
        (text(name, "condition"), text(name, "liquid"), listed(name, "vesselOrder"))
        for name in ontology.instances("VesselFor")
    ]
    found: dict[str, tuple[int, Supply, tuple[str, ...]]] = {}
    for name in ontology.instances("Means"):
        need, achieved = next(iter(listed(name, "needs")), ""), text(name, "achieves")
        supply = Supply(
            achieved,
            need,
            text(name, "because"),
            listed(name, "goesInto") or (need,),
            roles.plays(need, APPARATUS),
            need in switched,
            need in running,
            next((order for c, _, order in vessels if f"({achieved} " in c), ()),
        )
        rank = int(next(iter(listed(name, "rank")), 0))
        found[name] = rank, supply, listed(name, "ends")
    ranked = sorted(found.values(), key=lambda entry: entry[0])
    put_down = sorted((int(rank), name) for name, rank in ontology.pairs("putDownRank"))
    return Supplies(
        {supply.achieves: supply for _, supply, _ in found.values()},
        tuple(supply for _, supply, _ in ranked if supply.heats),
        {end: supply for _, supply, ends in found.values() for end in ends},
        frozenset(p for c in roles.players(APPARATUS) for p in listed(c, "makes")),
        frozenset(
            predicate
            for _, entailed in ontology.pairs("entails")
            for predicate in ontology.predicates(entailed)
        ),
        frozenset(
            predicate
            for _, state in ontology.pairs("ofContents")
            for predicate in ontology.predicates(state)
        ),
        tuple(c for of in roles.players(LIQUID) for c in listed(of, "carriedIn")),
        tuple(name for _, name in put_down),
        next((liquid for _, liquid, _ in vessels if liquid), LIQUID),
    )


# Means --------------------------------------------------------------------------------------------


class Means:
    """Selects the means to a goal, in addition to the objects already selected."""

    def __init__(self, chosen: ObjectSelection) -> None:
        self.chosen = chosen
        self.inventory = chosen.inventory
        self._roles = self.inventory.roles
        self._supplies = supplies_of(self.inventory.ontology)

    def choose(
        self, literals: list[tuple[Atom, bool]], variables: dict[str, tuple[str, ...]]
    ) -> None:
        """Select the means to the literals of a goal, given the classes of its variables."""
        # Collect all literals of a subject first: a potato that must be hot and `microwaved` needs
        # no stove.
        marks: dict[str, set[str]] = {}
        for atom, positive in literals:
            if positive and atom.args:
                marks.setdefault(atom.args[0], set()).add(atom.predicate)
        for atom, positive in literals:
            if not atom.args:
                continue
            subject = atom.args[0]
            classes = variables.get(subject) or tuple(
                c for c in (self.inventory.classes.get(subject),) if c
            )
            self._for_literal(atom, positive, classes, marks.get(subject, set()))

    def _for_literal(
        self, atom: Atom, positive: bool, classes: tuple[str, ...], marks: Set[str]
    ) -> None:
        predicate, roles, supplies = atom.predicate, self._roles, self._supplies
        by = supplies.by_achieved if positive else supplies.ended
        if predicate in roles.predicates(FILLED):
            self._source("to fill or empty")
        elif predicate in roles.predicates(RUNNING):
            self._switches(classes)
        elif positive and predicate in roles.predicates(DIVIDED):
            self.chosen.tool()
            self._pieces()
        elif positive and predicate in supplies.heated:
            self._heat(classes, marks, predicate)
        elif positive and predicate in supplies.of_contents:
            self._heat_contents(classes, marks)
        elif positive and predicate in roles.predicates(CONTAINS):
            self._liquid(atom.args[1], classes)
        elif predicate in by:
            self._use(by[predicate], classes)

    def _use(self, supply: Supply, classes: tuple[str, ...]) -> None:
        if supply.switched:
            self._switched(supply, classes)
            return
        if supply.runs:
            self._source(supply.reason)
            places = [self.inventory.ontology.range_of(p) for p in self._roles.players(RUNS_INTO)]
        else:
            self.chosen.first(supply.needs, supply.reason)
            places = [supply.needs]
        for place in places:
            if place is not None:
                self._carrier(classes, place)

    def _pieces(self) -> None:
        # The effects of cutting concern pieces, so the problem needs one piece; further pieces
        # would be interchangeable.
        pairs = self.chosen.pieces
        for piece, source in pairs:
            if source in self.chosen.reasons and not any(
                s == source and p in self.chosen.reasons for p, s in pairs
            ):
                self.chosen.add(piece, f"a piece of {source}")

    def _switches(self, classes: tuple[str, ...]) -> None:
        for control, controlled in self.inventory.joined(SWITCHES):
            if controlled in self.chosen.reasons and self.inventory.classes[controlled] in classes:
                self.chosen.add(control, f"switches {controlled}")
            elif control in self.chosen.reasons and self.inventory.classes[control] in classes:
                self.chosen.add(controlled, f"is switched by {control}")

    def _carrier(self, classes: tuple[str, ...], place: str) -> None:
        """Select a dish for objects that can be put into a place only in a dish."""
        related = self.inventory.ontology.related
        for object_class in classes:
            places = related("placeableIn", object_class)
            if place in places:
                continue
            dishes = sorted(d for d in places if place in related("placeableIn", d))
            tried = self.inventory.did_not_fit
            names = [
                n
                for d in dishes
                for n in self.inventory.of(d)
                if not any((n, p) in tried for p in self.inventory.of(place))
            ]
            if not any(n in self.chosen.reasons for n in names) and names:
                best = min(names, key=lambda n: self.inventory.distances.get(n, math.inf))
                self.chosen.add(best, f"carries a {object_class} into the {place}")

    def _heat(self, classes: tuple[str, ...], marks: Set[str], predicate: str) -> None:
        # Choose nothing if the goal names the appliance, whose mark brings its own means.
        if any(supply.achieves in marks for supply in self._supplies.heating):
            return
        related = self.inventory.ontology.related
        # The classes are ordered by preference or equivalent; either way, take the first.
        for object_class in classes[:1]:
            places = related("placeableIn", object_class)
            for supply in self._supplies.heating:
                # Every appliance makes things hot, but it cooks only suitable classes.
                treats = predicate not in self._supplies.treated or any(
                    object_class in related(relation, supply.needs)
                    for relation in self._roles.players(TREATS)
                )
                if not treats or places.isdisjoint(supply.goes_into):
                    continue
                if supply.switched:
                    self._switched(supply, classes)
                else:
                    self.chosen.first(supply.needs, "to heat")

    def _switched(self, supply: Supply, classes: tuple[str, ...]) -> None:
        """Select an appliance with its control, and a dish unless the object needs none."""
        related = self.inventory.ontology.related
        places = {p for c in classes for p in related("placeableIn", c)}
        vessel = None
        if supply.needs not in places:
            dishes = [c for c in supply.goes_into if c != supply.needs]
            named = [
                n
                for n in self.chosen.reasons
                if self.inventory.classes[n] in places.intersection(dishes)
            ]
            kind = next((c for c in dishes if c in places), dishes[-1])
            vessel = named[0] if named else self.chosen.first(kind, "to cook in")
        every = self.inventory.of(supply.needs)
        if not every:
            return
        dishes = [n for n in self.chosen.reasons if self.inventory.parents.get(n) in every]
        under = [
            self.inventory.parents[n]
            for n in (vessel, *dishes)
            if n and self.inventory.parents.get(n) in every
        ]
        free = [b for b in every if not self.inventory.contents.get(b)]
        used = [b for b in every if b in self.chosen.reasons]
        # Using the one under the dish saves moving the dish; using a free one saves clearing it.
        best = [*used, *under, *free, *every][0]
        self.chosen.add(best, "to heat")
        for control, controlled in self.inventory.joined(SWITCHES):
            if controlled == best:
                self.chosen.add(control, f"switches {best}")

    def _heat_contents(self, classes: tuple[str, ...], marks: Set[str]) -> None:
        """Select the means to heat a liquid in its vessel, or in another vessel to pour it from."""
        related = self.inventory.ontology.related
        places = {p for c in classes for p in related("placeableIn", c)}
        asked = marks & {supply.achieves for supply in self._supplies.heating}
        for supply in self._supplies.heating:
            if asked - {supply.achieves}:
                continue
            if not supply.switched:
                if supply.needs in places:
                    self.chosen.first(supply.needs, "to heat")
            elif supply.needs in places:
                self._switched(supply, classes)
            else:
                reason = f"to heat {self._supplies.liquid} in"
                tried = (self.chosen.first(kind, reason) for kind in supply.vessels)
                vessel = next((name for name in tried if name is not None), None)
                if vessel is not None:
                    self._switched(supply, (self.inventory.classes[vessel],))

    def _source(self, reason: str) -> None:
        joined = self.inventory.joined(RUNS_INTO)
        for kind in filter(
            None, map(self.inventory.ontology.domain_of, self._roles.players(RUNS_INTO))
        ):
            for source in self.inventory.of(kind):
                drains = [d for s, d in joined if s == source]
                if drains:
                    self.chosen.add(source, reason)
                    self.chosen.add(drains[0], reason)
                    return

    def _liquid(self, liquid: str, classes: tuple[str, ...]) -> None:
        supply = self._supplies.by_achieved.get(liquid)
        related, plays = self.inventory.ontology.related, self._roles.plays
        if supply is not None and supply.runs:
            self._source(f"for {liquid}")
        elif supply is not None:
            source = self.chosen.first(supply.needs, supply.reason)
            fits = {p for c in classes for p in related("placeableIn", c)}
            if source is not None and plays(supply.needs, FILLER) and supply.needs not in fits:
                kinds = sorted(
                    c
                    for c in self.inventory.ontology.object_types
                    if supply.needs in related("placeableIn", c)
                )
                label = self.inventory.ontology.label(supply.needs)
                self.chosen.pick(tuple(kinds), 1, f"fits the {label}")
        if not any(plays(c, PORTABLE) for c in classes):
            for carrier in self._supplies.carriers:
                if self.chosen.first(carrier, "to carry what is poured") is not None:
                    break
        # vessels full of another liquid must be emptied first
        vessels = [n for n in self.chosen.reasons if self.inventory.classes[n] in classes]
        if vessels and all(self.inventory.plays(n, FILLED) for n in vessels):
            self._source("to pour away what is in it")
