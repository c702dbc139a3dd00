"""The means to a goal: appliances, vessels, tools, water.

An object that is chosen already is taken before another of its class: every further object makes
the problem harder to solve. Where a goal may be reached in several ways, the means of all are
chosen, and the planner finds the shortest.
"""

from __future__ import annotations

import math

from hvr.pddl.model import Atom
from hvr.retrieval.chosen import Chosen


class Means:
    """Chooses the means to a goal.

    Args:
        chosen: the objects that the goal speaks of; the means are added.
    """

    def __init__(self, chosen: Chosen) -> None:
        self.chosen = chosen
        self.inventory = chosen.inventory

    def choose(
        self, literals: list[tuple[Atom, bool]], variables: dict[str, tuple[str, ...]]
    ) -> None:
        """Choose the means to the literals of a goal.

        Args:
            literals: atoms of the goal, each with whether it is to hold.
            variables: the classes of its variables.
        """
        # All of a subject first: a potato that is to be hot and `microwaved` needs no stove.
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
        self, atom: Atom, positive: bool, classes: tuple[str, ...], marks: set[str]
    ) -> None:
        predicate = atom.predicate
        if predicate in {"sliced", "cracked"} and positive:
            self.chosen.tool()
            self._pieces()
        elif predicate in {"cooked", "hot"} and positive:
            self._heat(classes, marks, predicate)
        elif predicate == "microwaved" and positive:
            self.chosen.first("Microwave", "to heat")
            self._carrier(classes, "Microwave")
        elif predicate == "toasted" and positive:
            self.chosen.first("Toaster", "to toast")
        elif predicate == "stove_heated" and positive:
            self._stove(classes)
        elif predicate == "warm_liquid" and positive:
            self._warm_liquid(classes, marks)
        elif predicate in {"cold", "chilled"} and positive:
            self.chosen.first("Fridge", "to cool")
            self._carrier(classes, "Fridge")
        elif (predicate == "washed" and positive) or (predicate == "dirty" and not positive):
            self._sink("to wash")
            self._carrier(classes, "SinkBasin")
        elif predicate == "contains" and positive:
            self._liquid(atom.args[1], classes)
        elif predicate == "filled":
            self._sink("to fill or empty")
        elif predicate == "toggled":
            self._switches(classes)

    def _pieces(self) -> None:
        """Choose one piece of each chosen source.

        The effects of cutting are about pieces, so without any the problem would not know that
        something comes of it; more than one would be as good as each other.
        """
        pairs = self.inventory.pairs("piece_of")
        for piece, source in pairs:
            if source in self.chosen.reasons and not any(
                s == source and p in self.chosen.reasons for p, s in pairs
            ):
                self.chosen.add(piece, f"a piece of {source}")

    def _switches(self, classes: tuple[str, ...]) -> None:
        """Choose the knobs of burners, and the burners of knobs."""
        for knob, burner in self.inventory.pairs("knob_of"):
            if burner in self.chosen.reasons and "StoveBurner" in classes:
                self.chosen.add(knob, f"switches {burner}")
            elif knob in self.chosen.reasons and "StoveKnob" in classes:
                self.chosen.add(burner, f"is switched by {knob}")

    def _carrier(self, classes: tuple[str, ...], place: str) -> None:
        """Choose a dish to carry things into a place with, if they may not be put there bare."""
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

    def _heat(self, classes: tuple[str, ...], marks: set[str], predicate: str) -> None:
        """Choose whatever heats, or also cooks, things of the first class.

        Nothing if the goal says how: the mark of that appliance brings its own means.
        """
        if marks & {"microwaved", "stove_heated", "toasted"}:
            return
        ontology = self.inventory.ontology
        # The classes are of one rank or in order of preference; for either the first will do.
        for object_class in classes[:1]:
            # Heat alone makes hot; cooked is only what the appliance cooks.
            cooks = {a for a in ("Microwave", "StoveBurner", "Toaster")
                     if object_class in ontology.related("cooks", a)}  # fmt: skip
            places = ontology.related("placeableIn", object_class)
            if "Microwave" in places and (predicate == "hot" or "Microwave" in cooks):
                self.chosen.first("Microwave", "to heat")
            if "Toaster" in places and (predicate == "hot" or "Toaster" in cooks):
                self.chosen.first("Toaster", "to heat")
            if places & {"Pan", "Pot", "StoveBurner"} and (
                predicate == "hot" or "StoveBurner" in cooks
            ):
                self._stove(classes)

    def _stove(self, classes: tuple[str, ...]) -> None:
        """Choose a burner with its knob, and a pan or pot unless the thing itself goes on it."""
        places = {p for c in classes for p in self.inventory.ontology.related("placeableIn", c)}
        vessel = None
        if "StoveBurner" not in places:
            named = [n for n in self.chosen.reasons
                     if self.inventory.classes[n] in places & {"Pan", "Pot"}]  # fmt: skip
            kind = "Pan" if "Pan" in places else "Pot"
            vessel = named[0] if named else self.chosen.first(kind, "to cook in")
        burners = self.inventory.of("StoveBurner")
        if not burners:
            return
        cookware = [n for n in self.chosen.reasons if self.inventory.parents.get(n) in burners]
        under = [self.inventory.parents[n] for n in (vessel, *cookware) if n
                 and self.inventory.parents.get(n) in burners]  # fmt: skip
        free = [b for b in burners if not self.inventory.contents.get(b)]
        used = [b for b in burners if b in self.chosen.reasons]
        # The burner under the cookware saves moving it, a free one saves clearing it.
        burner = [*used, *under, *free, *burners][0]
        self.chosen.add(burner, "to heat")
        for knob, controlled in self.inventory.pairs("knob_of"):
            if controlled == burner:
                self.chosen.add(knob, f"switches {burner}")

    def _warm_liquid(self, classes: tuple[str, ...], marks: set[str]) -> None:
        """Choose what heats the liquid in vessels of some classes.

        In the vessel itself, by microwave or stove; or in a kettle or pot that the liquid is
        then poured out of.
        """
        ontology = self.inventory.ontology
        places = {p for c in classes for p in ontology.related("placeableIn", c)}
        if "stove_heated" not in marks and "Microwave" in places:
            self.chosen.first("Microwave", "to heat")
        if "microwaved" in marks:
            return
        if "StoveBurner" in places:
            self._stove(classes)
            return
        vessel = self.chosen.first("Kettle", "to heat water in") or self.chosen.first(
            "Pot", "to heat water in"
        )
        if vessel is not None:
            self._stove((self.inventory.classes[vessel],))

    def _sink(self, reason: str) -> None:
        """Choose the first faucet that runs into a basin, with the basin."""
        for faucet in self.inventory.of("Faucet"):
            basins = [b for f, b in self.inventory.pairs("faucet_of") if f == faucet]
            if basins:
                self.chosen.add(faucet, reason)
                self.chosen.add(basins[0], reason)
                return

    def _liquid(self, liquid: str, classes: tuple[str, ...]) -> None:
        """Choose where a liquid comes from, and what to carry it in to vessels of some classes."""
        if liquid == "water":
            self._sink("for water")
        elif liquid == "coffee":
            machine = self.chosen.first("CoffeeMachine", "to brew")
            fits = {p for c in classes for p in self.inventory.ontology.related("placeableIn", c)}
            if machine is not None and "CoffeeMachine" not in fits:
                self.chosen.pick(("Mug",), 1, "fits the coffee machine")
        elif liquid == "wine":
            self.chosen.first("WineBottle", "has wine")
        ontology = self.inventory.ontology
        if not any(ontology.is_a(c, "Pickupable") for c in classes):
            for carrier in ("Cup", "Mug", "Bowl"):
                if self.chosen.first(carrier, "to carry what is poured") is not None:
                    break
        # What is full of something else must be emptied first.
        vessels = [n for n in self.chosen.reasons if self.inventory.classes[n] in classes]
        if vessels and all(self.inventory.true("filled", n) for n in vessels):
            self._sink("to pour away what is in it")
