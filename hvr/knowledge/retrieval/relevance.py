"""The objects of a scene that a goal needs: only they enter the planning problem.

Objects that the goal speaks of are chosen by class, the nearest of each kind of situation (a mug
in the open, a mug in the coffee machine). Then come the means of bringing about the goal's
conditions (a burner with its knob and a pan to fry, a faucet to wash), and last what all of these
stand on or in and a surface to put things down on. Each part looks at what the parts before it
have chosen, so that a pan which is wanted anyway is the one to fry in; hence the order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hvr.knowledge.retrieval.chosen import Chosen
from hvr.knowledge.retrieval.constraints import spared, spoken_of
from hvr.knowledge.retrieval.inventory import Inventory, situation
from hvr.knowledge.retrieval.means import Means
from hvr.knowledge.retrieval.supplies import supplies_of
from hvr.knowledge.roles import CUTTABLE, SLOT
from hvr.pddl.model import And, Atom, Equal, Exists, Expression, Forall, Imply, Not, Or


@dataclass(frozen=True)
class Relevant:
    """The chosen objects, and the reason for each.

    Args:
        reasons: object name to the reason, in the order of choice.
    """

    reasons: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The objects, in order of name."""
        return tuple(sorted(self.reasons))


def relevant_objects(
    goals: Iterable[Expression],
    inventory: Inventory,
    constraints: Iterable[Expression] = (),
    changing: Collection[str] = (),
) -> Relevant:
    """Choose the objects for some goals.

    Args:
        goals: what is wanted, without conditions on how things are left.
        inventory: what there is.
        constraints: what is to be kept on the way. What they speak of is chosen, too, and what the
            goals need where the things that must not be used are not there.
        changing: the predicates that actions change, for constraints on all things of a kind.
    """
    goals, constraints = tuple(goals), tuple(constraints)
    kept = [name for one in constraints for name in spoken_of(one, inventory, changing)]
    reasons = _chosen(goals, inventory, kept)
    unusable = frozenset(name for one in constraints for name in spared(one, inventory))
    named = {node for goal in goals for kind, node in walk(goal, True) if kind == "object"}
    if unusable - named:
        reasons = {**_chosen(goals, inventory.without(unusable - named), ()), **reasons}
    return Relevant(reasons)


def with_others(chosen: Relevant, names: Iterable[str], inventory: Inventory) -> Relevant:
    """Return a choice with some objects more, and with what these depend on."""
    chooser = _Chooser(inventory)
    for name, reason in chosen.reasons.items():
        chooser.chosen.add(name, reason)
    for name in names:
        if name in inventory.classes:
            chooser.chosen.add(name, "without it there is no plan")
    chooser.complete()
    return Relevant(chooser.chosen.reasons)


def one_of_each(chosen: Relevant, inventory: Inventory) -> Relevant:
    """Return a choice with one thing more of every kind in every situation.

    Things of a class whose situations are the same do the same in a plan, but for the way to them:
    what a goal takes of them is chosen, and one more stands for all the others.
    """
    spare: dict[object, str] = {}
    for name in inventory.of("PhysicalObject"):
        if name not in chosen.reasons:
            full = name in inventory.too_full
            kind = inventory.classes[name], full, situation(name, inventory)
            spare.setdefault(kind, name)
    return with_others(chosen, spare.values(), inventory)


def _chosen(
    goals: Iterable[Expression], inventory: Inventory, kept: Iterable[str]
) -> dict[str, str]:
    chooser = _Chooser(inventory)
    for goal in goals:
        chooser.choose(goal)
    for name in kept:
        chooser.chosen.add(name, "a constraint speaks of it")
    chooser.complete()
    return chooser.chosen.reasons


class _Chooser:
    """Chooses what goals speak of, and in the end what that stands on or in."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.chosen = Chosen(inventory)

    def choose(self, goal: Expression) -> None:
        """Choose what a goal speaks of, and the means to it."""
        # Variables of the same classes may mean different things, so they are counted first and
        # that many objects are chosen of each situation.
        wanted: dict[tuple[tuple[str, ...], frozenset[str]], int] = {}
        only = dict(alternatives(goal))
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
                    self.all_of(classes)
                else:
                    kind_of = classes, only.get(variable, frozenset())
                    wanted[kind_of] = wanted.get(kind_of, 0) + 1
        for (classes, among), count in wanted.items():
            self.chosen.pick(classes, count, "wanted", among)
        Means(self.chosen).choose(literals, variables)
        for atom, positive in literals:
            if not positive and atom.predicate in {"on", "in"} and atom.args[0] not in variables:
                self.removed_from(atom.args[1], variables)

    def removed_from(self, place: str, variables: Mapping[str, tuple[str, ...]]) -> None:
        """Choose what is on or in a place that shall hold nothing."""
        for name in tuple(self.chosen.reasons):
            if name == place or self.inventory.classes[name] in variables.get(place, ()):
                for inner in self.inventory.contents.get(name, ()):
                    self.chosen.add(inner, f"to be taken from {name}")

    def all_of(self, classes: tuple[str, ...]) -> None:
        """Choose all objects of some classes, but no pieces: most of these do not exist yet."""
        for object_class in classes:
            for name in self.inventory.of(object_class):
                if not self.chosen.is_piece(name):
                    self.chosen.add(name, "all of them are wanted")

    def named(self, name: str) -> None:
        """Choose an object that the goal names; with a piece that is not made yet, its source."""
        self.chosen.add(name, "named in the goal")
        if self.inventory.true("present", name):
            return
        for piece, source in self.chosen.pieces:
            if piece == name:
                self.chosen.add(source, f"what {name} is cut from")
                if self.inventory.plays(source, CUTTABLE):
                    self.chosen.tool()

    def complete(self) -> None:
        """Choose a surface to put things down on, and where everything is and what is on it.

        A thing cannot be taken without the fridge that it is in, a burner not be used without
        the pan that is on it, and a plate not be moved without the knife that lies on it.
        """
        full = self.inventory.too_full
        kinds = supplies_of(self.inventory.ontology).put_down
        counters = [n for n in self.chosen.reasons if self.inventory.classes[n] in kinds[:1]]
        if not any(n not in full for n in counters):
            places = [n for c in kinds for n in self.inventory.of(c)]
            best = next((n for n in places if n not in full), places[0] if places else None)
            self.chosen.add(best, "to put things down")
        for name in self.inventory.held:
            self.chosen.add(name, "in the hand")
        waiting = list(self.chosen.reasons)
        while waiting:
            name = waiting.pop()
            more = []
            parent = self.inventory.parents.get(name)
            portable = self.inventory.true("pickupable", name)
            if parent is not None and (portable or self.chosen.is_piece(name)):
                more.append((parent, f"where {name} is"))
            # What stands on a table is in nobody's way: there is room beside it.
            if self.inventory.plays(name, SLOT) or portable:
                more += [(inner, f"is on or in {name}")
                         for inner in self.inventory.contents.get(name, ())]  # fmt: skip
            for other, reason in more:
                if other not in self.chosen.reasons:
                    self.chosen.add(other, reason)
                    waiting.append(other)


def walk(formula: Expression, positive: bool) -> Iterator[tuple[str, Any]]:
    """Yield the literals, quantified variables and object names of a formula, in its order.

    Args:
        formula: the formula.
        positive: whether it stands under an even number of negations.

    Yields:
        `("literal", (atom, positive))`, `("variable", (name, types, for all))`, and
        `("object", name)`.
    """
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
            # That there is no such thing calls for no object.
            for variable in variables if positive or every else ():
                yield "variable", (variable.name, variable.types, every)
            yield from walk(body, positive)
        case _:
            return


def alternatives(formula: Expression) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the variables that are one of some objects, with these: `(or (= ?x a) (= ?x b))`."""
    match formula:
        case Or(operands) if operands and all(isinstance(o, Equal) for o in operands):
            sides = [(o.left, o.right) for o in operands if isinstance(o, Equal)]
            yield sides[0][0], frozenset(name for _, name in sides)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from alternatives(operand)
        case Equal(left, right) if left.startswith("?") and not right.startswith("?"):
            yield left, frozenset({right})
        case Exists(_, body) | Forall(_, body):
            yield from alternatives(body)
        case _:
            return
