"""Which objects of a scene a goal needs: only they enter the planning problem.

Objects the goal speaks of are chosen by class, the nearest of each kind of situation (a mug
in the open, a mug in the coffee machine); to them comes what brings about the conditions of
the goal (`k:Means` in words: a burner with its knob and a pan to fry, a faucet to wash), what
all of these stand on or in, and a surface to put things down on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hvr.pddl.model import And, Atom, Exists, Expression, Forall, Imply, Not, Or
from hvr.retrieval.inventory import Inventory

_WORK_SURFACES = ("CounterTop", "DiningTable", "SideTable")


@dataclass(frozen=True)
class Relevant:
    """The chosen objects, and why each was chosen.

    Args:
        reasons: object name to the reason, in the order of choice.
    """

    reasons: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The objects, in order of name."""
        return tuple(sorted(self.reasons))


def relevant_objects(goals: Iterable[Expression], inventory: Inventory) -> Relevant:
    """Choose the objects for some goals.

    Args:
        goals: what is wanted, without conditions on how things are left.
        inventory: what there is.
    """
    chooser = _Chooser(inventory)
    for goal in goals:
        chooser.choose(goal)
    chooser.complete()
    return Relevant(chooser.reasons)


def situation(name: str, inventory: Inventory) -> tuple[object, ...]:
    """Return what makes a difference to a plan: the place and the state of an object.

    Objects of a class whose situations are equal are as good as each other, but for the way.

    Args:
        name: the object.
        inventory: what there is.
    """
    parent = inventory.parents.get(name)
    where = None
    if parent is not None:
        where = (
            inventory.classes[parent],
            inventory.true("opened", parent),
            inventory.true("large", parent) or parent,
        )
    state = tuple(
        inventory.true(p, name)
        for p in ("dirty", "filled", "hot", "cold", "cooked", "opened", "toggled")
    )
    return where, state, bool(inventory.contents.get(name))


@dataclass
class _Chooser:
    inventory: Inventory
    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, name: str | None, reason: str) -> None:
        if name is not None and name not in self.reasons:
            self.reasons[name] = reason

    # --- what the goal speaks of ----------------------------------------------------------

    def choose(self, goal: Expression) -> None:
        wanted: dict[tuple[str, ...], int] = {}
        variables: dict[str, tuple[str, ...]] = {}
        literals: list[tuple[Atom, bool]] = []
        for kind, node in walk(goal, True):
            if kind == "literal":
                literals.append(node)
            elif kind == "object":
                self.named(node)
            else:
                variable, types, every = node
                classes = tuple(
                    c for t in types if (c := self.inventory.ontology.class_of_pddl_type(t))
                )
                variables[variable] = classes
                if every:
                    for object_class in classes:
                        for name in self.inventory.of(object_class):
                            if not self.is_piece(name):
                                self.add(name, "all of them are wanted")
                else:
                    wanted[classes] = wanted.get(classes, 0) + 1
        for classes, count in wanted.items():
            self.pick(classes, count, "wanted")
        self.means(literals, variables)

    def named(self, name: str) -> None:
        """An object of the goal; a piece that is not made yet, with what it is cut from."""
        self.add(name, "named in the goal")
        if self.inventory.true("present", name):
            return
        for piece, source in self.inventory.pairs("piece_of"):
            if piece == name:
                self.add(source, f"what {name} is cut from")
                if self.inventory.true("sliceable", source):
                    self.tool()

    def is_piece(self, name: str) -> bool:
        return any(piece == name for piece, _ in self.inventory.pairs("piece_of"))

    def pick(self, classes: tuple[str, ...], count: int, reason: str) -> None:
        """The `count` nearest of every kind of situation, of the first four kinds."""
        places = [c for c in classes if self.inventory.ontology.is_a(c, "Furniture")]
        if places:
            for object_class in places:
                for name in self.inventory.of(object_class)[:count]:
                    self.add(name, reason)
            return
        owned = {self.inventory.classes[piece] for piece, _ in self.inventory.pairs("piece_of")}
        pieces = [c for c in classes if c in owned]
        for object_class in pieces:
            self.pick_pieces(object_class, count, reason)
        kinds: dict[object, int] = {}
        for object_class in classes:
            if object_class in pieces:
                continue
            for name in self.inventory.of(object_class):
                kind = (object_class, situation(name, self.inventory))
                if kind not in kinds and len(kinds) >= 4:
                    continue
                kinds[kind] = kinds.get(kind, 0) + 1
                if kinds[kind] <= count:
                    self.add(name, reason)

    def pick_pieces(self, object_class: str, count: int, reason: str) -> None:
        owners = [(p, s) for p, s in self.inventory.pairs("piece_of")
                  if self.inventory.classes[p] == object_class]  # fmt: skip
        present = [p for p, _ in owners if self.inventory.true("present", p)]
        for name in present[:count]:
            self.add(name, reason)
        missing = count - len(present)
        sources = {s for _, s in owners if self.inventory.true("present", s)}
        ranked = [n for c in sorted({self.inventory.classes[s] for s in sources})
                  for n in self.inventory.of(c) if n in sources]  # fmt: skip
        for source in ranked:
            if missing <= 0:
                break
            pieces = [p for p, s in owners if s == source]
            pieces.sort(key=lambda n: int(n.rsplit("-", 1)[1]))
            for name in pieces[:missing]:
                self.add(name, reason)
            self.add(source, f"what {object_class} is cut from")
            missing -= len(pieces)
            if self.inventory.true("sliceable", source):
                self.tool()

    # --- what brings it about --------------------------------------------------------------

    def means(
        self, literals: list[tuple[Atom, bool]], variables: dict[str, tuple[str, ...]]
    ) -> None:
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
            self.for_literal(atom, positive, classes, marks.get(subject, set()))

    def for_literal(
        self, atom: Atom, positive: bool, classes: tuple[str, ...], marks: set[str]
    ) -> None:
        predicate = atom.predicate
        if predicate in {"sliced", "cracked"} and positive:
            self.tool()
            for piece, source in self.inventory.pairs("piece_of"):
                if source in self.reasons and piece not in self.reasons:
                    first = not any(
                        s == source and p in self.reasons
                        for p, s in self.inventory.pairs("piece_of")
                    )
                    if first:
                        self.add(piece, f"a piece of {source}")
        elif predicate in {"cooked", "hot"} and positive:
            self.heat(classes, marks, predicate)
        elif predicate == "microwaved" and positive:
            self.first("Microwave", "to heat")
            self.carrier(classes, "Microwave")
        elif predicate == "toasted" and positive:
            self.first("Toaster", "to toast")
        elif predicate == "stove_heated" and positive:
            self.stove(classes)
        elif predicate == "warm_liquid" and positive:
            self.warm_liquid(classes, marks)
        elif predicate in {"cold", "chilled"} and positive:
            self.first("Fridge", "to cool")
            self.carrier(classes, "Fridge")
        elif (predicate == "washed" and positive) or (predicate == "dirty" and not positive):
            self.sink("to wash")
            self.carrier(classes, "SinkBasin")
        elif predicate == "contains" and positive:
            self.liquid(atom.args[1], classes)
        elif predicate == "filled":
            self.sink("to fill or empty")
        elif predicate == "toggled":
            self.switches(classes)

    def switches(self, classes: tuple[str, ...]) -> None:
        """The knobs of burners, and the burners of knobs."""
        for knob, burner in self.inventory.pairs("knob_of"):
            if burner in self.reasons and "StoveBurner" in classes:
                self.add(knob, f"switches {burner}")
            elif knob in self.reasons and "StoveKnob" in classes:
                self.add(burner, f"is switched by {knob}")

    def first(self, object_class: str, reason: str) -> str | None:
        """Return one object of a class, one already chosen if there is one."""
        names = self.inventory.of(object_class)
        chosen = next((n for n in names if n in self.reasons), names[0] if names else None)
        self.add(chosen, reason)
        return chosen

    def carrier(self, classes: tuple[str, ...], place: str) -> None:
        """A dish to put things into a place with, when they may not be put there themselves."""
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
            if not any(n in self.reasons for n in names) and names:
                best = min(names, key=lambda n: self.inventory.distances.get(n, math.inf))
                self.add(best, f"carries a {object_class} into the {place}")

    def tool(self) -> None:
        """Something to cut with: the first in the open; a sharp knife if both are."""
        names = [*self.inventory.of("Knife"), *self.inventory.of("ButterKnife")]
        if not any(n in self.reasons and n.startswith("knife-") for n in names) and names:
            best = min(names, key=lambda n: (self.hidden(n), not n.startswith("knife-")))
            self.add(best, "to cut with")

    def hidden(self, name: str) -> bool:
        parent = self.inventory.parents.get(name)
        return (
            parent is not None
            and self.inventory.true("openable", parent)
            and not self.inventory.true("opened", parent)
        )

    def heat(self, classes: tuple[str, ...], marks: set[str], predicate: str) -> None:
        if marks & {"microwaved", "stove_heated", "toasted"}:
            return
        ontology = self.inventory.ontology
        for object_class in classes[:1]:
            cooks = {a for a in ("Microwave", "StoveBurner", "Toaster")
                     if object_class in ontology.related("cooks", a)}  # fmt: skip
            places = ontology.related("placeableIn", object_class)
            if "Microwave" in places and (predicate == "hot" or "Microwave" in cooks):
                self.first("Microwave", "to heat")
            if "Toaster" in places and (predicate == "hot" or "Toaster" in cooks):
                self.first("Toaster", "to heat")
            if places & {"Pan", "Pot", "StoveBurner"} and (
                predicate == "hot" or "StoveBurner" in cooks
            ):
                self.stove(classes)

    def stove(self, classes: tuple[str, ...]) -> None:
        """A burner with its knob, and a pan or pot unless the thing itself goes on it."""
        places = {p for c in classes for p in self.inventory.ontology.related("placeableIn", c)}
        vessel = None
        if "StoveBurner" not in places:
            kind = "Pan" if "Pan" in places else "Pot"
            vessel = self.first(kind, "to cook in")
        burners = self.inventory.of("StoveBurner")
        if not burners:
            return
        cookware = [n for n in self.reasons if self.inventory.parents.get(n) in burners]
        under = [self.inventory.parents[n] for n in (vessel, *cookware) if n
                 and self.inventory.parents.get(n) in burners]  # fmt: skip
        free = [b for b in burners if not self.inventory.contents.get(b)]
        burner = next(
            (b for b in (*(n for n in burners if n in self.reasons), *under, *free, *burners)),
            burners[0],
        )
        self.add(burner, "to heat")
        for knob, controlled in self.inventory.pairs("knob_of"):
            if controlled == burner:
                self.add(knob, f"switches {burner}")

    def warm_liquid(self, classes: tuple[str, ...], marks: set[str]) -> None:
        ontology = self.inventory.ontology
        places = {p for c in classes for p in ontology.related("placeableIn", c)}
        if "stove_heated" not in marks and "Microwave" in places:
            self.first("Microwave", "to heat")
        if "microwaved" in marks:
            return
        if "StoveBurner" in places:
            self.stove(classes)
            return
        vessel = self.first("Kettle", "to heat water in") or self.first("Pot", "to heat water in")
        if vessel is not None:
            self.stove((self.inventory.classes[vessel],))

    def sink(self, reason: str) -> None:
        for faucet in self.inventory.of("Faucet"):
            basins = [b for f, b in self.inventory.pairs("faucet_of") if f == faucet]
            if basins:
                self.add(faucet, reason)
                self.add(basins[0], reason)
                return

    def liquid(self, liquid: str, classes: tuple[str, ...]) -> None:
        if liquid == "water":
            self.sink("for water")
        elif liquid == "coffee":
            machine = self.first("CoffeeMachine", "to brew")
            fits = {p for c in classes for p in self.inventory.ontology.related("placeableIn", c)}
            if machine is not None and "CoffeeMachine" not in fits:
                self.pick(("Mug",), 1, "fits the coffee machine")
        elif liquid == "wine":
            self.first("WineBottle", "has wine")
        ontology = self.inventory.ontology
        if not any(ontology.is_a(c, "Pickupable") for c in classes):
            for carrier in ("Cup", "Mug", "Bowl"):
                if self.first(carrier, "to carry what is poured") is not None:
                    break
        vessels = [n for n in self.reasons if self.inventory.classes[n] in classes]
        if vessels and all(self.inventory.true("filled", n) for n in vessels):
            self.sink("to pour away what is in it")

    # --- what these need ---------------------------------------------------------------------

    def complete(self) -> None:
        """Parents, occupants of single slots, contents of dishes, a place to put things."""
        full = self.inventory.too_full
        counters = [n for n in self.reasons if self.inventory.classes[n] == "CounterTop"]
        if not any(n not in full for n in counters):
            places = [n for c in _WORK_SURFACES for n in self.inventory.of(c)]
            best = next((n for n in places if n not in full), places[0] if places else None)
            self.add(best, "to put things down")
        for name in self.inventory.held:
            self.add(name, "in the hand")
        waiting = list(self.reasons)
        while waiting:
            name = waiting.pop()
            more = []
            parent = self.inventory.parents.get(name)
            portable = self.inventory.true("pickupable", name)
            if parent is not None and (portable or self.is_piece(name)):
                more.append((parent, f"where {name} is"))
            holds_one = self.inventory.true("holds_one", name)
            if holds_one or portable:
                more += [(inner, f"is on or in {name}")
                         for inner in self.inventory.contents.get(name, ())]  # fmt: skip
            for other, reason in more:
                if other not in self.reasons:
                    self.add(other, reason)
                    waiting.append(other)


def walk(formula: Expression, positive: bool) -> Iterator[tuple[str, Any]]:
    """Yield literals, quantified variables and object names of a formula."""
    match formula:
        case Atom(_, args):
            yield "literal", (formula, positive)
            for arg in args:
                if not arg.startswith("?") and "-" in arg:
                    yield "object", arg
        case Not(operand):
            yield from walk(operand, not positive)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from walk(operand, positive)
        case Imply(left, right):
            yield from walk(left, not positive)
            yield from walk(right, positive)
        case Exists(variables, body) | Forall(variables, body):
            every = isinstance(formula, Forall)
            for variable in variables if positive or every else ():
                yield "variable", (variable.name, variable.types, every)
            yield from walk(body, positive)
        case _:
            return
