"""Relevance: the objects and places that a goal needs. Only these enter the planning problem."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hvr.knowledge.ontology import BIN, CARRIER, CUTTABLE, SERVED, SLOT, Ontology, roles_of
from hvr.knowledge.retrieval.inventory import Inventory, ObjectSelection, situation
from hvr.knowledge.retrieval.means import Means, supplies_of
from hvr.pddl.formulas import (
    And,
    Atom,
    Equal,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
    Trajectory,
)
from hvr.pddl.formulas import walk as walk_expression
from hvr.pddl.model import Problem

# Constraints --------------------------------------------------------------------------------------
# Every object that a constraint covers can violate it, so all of them belong in the problem. A
# forbidden object also needs a replacement, such as the stove for the microwave.


def constrained_objects(
    constraint: Expression, inventory: Inventory, changing: Collection[str]
) -> Iterator[str]:
    """Yield the objects that a constraint names, or affects now through a quantifier.

    These are the objects of the quantified types for which one of its atoms with a predicate in
    `changing` is true now. For a constraint on all doors ("never two open at once"), they are the
    open doors. A plan never touches objects outside its problem, so all other doors stay closed.
    """
    predicates: set[str] = set()
    kinds: set[str] = set()
    for part in walk_expression(constraint):
        if isinstance(part, Exists | Forall):
            kinds.update(kind for variable in part.variables for kind in variable.types)
        elif isinstance(part, Atom):
            predicates |= {part.predicate} & set(changing)
            yield from (arg for arg in part.args if arg in inventory.classes)
    ontology = inventory.ontology
    classes = {ontology.class_of_pddl_type(kind) for kind in kinds}
    for atom in sorted(inventory.facts, key=str) if kinds else ():
        own = inventory.classes.get(atom.args[0]) if atom.args else None
        if (
            own is not None
            and atom.predicate in predicates
            and any(c is None or ontology.is_a(own, c) for c in classes)
        ):
            yield atom.args[0]


def protected_objects(constraint: Expression, inventory: Inventory) -> frozenset[str]:
    """Return the objects for which a constraint always forbids some use, such as opening."""
    found: set[str] = set()
    for atom, variables in _never(constraint, {}):
        if not atom.args:
            continue
        place = atom.args[-1]
        if place not in variables:
            found.add(place)
            continue
        for kind in variables[place]:
            object_class = inventory.ontology.class_of_pddl_type(kind)
            if object_class is not None:
                found.update(inventory.of(object_class))
    return frozenset(name for name in found if name in inventory.classes)


_Variables = dict[str, tuple[str, ...]]


def _never(formula: Expression, variables: _Variables) -> Iterator[tuple[Atom, _Variables]]:
    """Yield the atoms that a formula forbids at all times, each with the types of its variables."""
    match formula:
        case Trajectory("always", _, (body,)):
            yield from _never(body, variables)
        case And(operands):
            for operand in operands:
                yield from _never(operand, variables)
        case Forall(more, body):
            yield from _never(body, {**variables, **{v.name: v.types for v in more}})
        case Not(Exists(more, body)):
            yield from _never(Not(body), {**variables, **{v.name: v.types for v in more}})
        case Not(Atom() as atom):
            yield atom, variables
        case _:
            return


# Relevance ----------------------------------------------------------------------------------------
# Goal objects are chosen by class, the nearest in each kind of situation (a mug in the open, a mug
# in the coffee machine). Next come the means to achieve the goal's conditions (a burner with its
# knob and a pan to fry, a faucet to wash). Last come the places of all these objects and a surface
# to put things down. The order matters: each part reuses earlier choices, such as a pan that the
# goal needs anyway.


@dataclass(frozen=True)
class Relevant:
    """The selected objects in order of selection, each with the reason."""

    reasons: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The objects, sorted by name."""
        return tuple(sorted(self.reasons))


def relevant_objects(
    goals: Iterable[Expression],
    inventory: Inventory,
    constraints: Iterable[Expression] = (),
    changing: Collection[str] = (),
) -> Relevant:
    """Select the objects for goals and constraints.

    Args:
        goals: The goals, without preferred final conditions.
        constraints: Trajectory constraints. Their objects are also selected, and forbidden objects
            are replaced.
        changing: Predicates that actions change, for constraints on all objects of a class.
    """
    goals, constraints = tuple(goals), tuple(constraints)
    kept = [name for one in constraints for name in constrained_objects(one, inventory, changing)]
    reasons = _chosen(goals, inventory, kept)
    unusable = frozenset(name for one in constraints for name in protected_objects(one, inventory))
    named = {node for goal in goals for kind, node in walk(goal, True) if kind == "object"}
    if unusable - named:
        # A second choice, made without the forbidden objects, adds their replacements.
        reasons = {**_chosen(goals, inventory.without(unusable - named), ()), **reasons}
    return Relevant(reasons)


def with_others(
    chosen: Relevant,
    names: Iterable[str],
    inventory: Inventory,
    reason: str = "without it there is no plan",
) -> Relevant:
    """Return a selection extended by more objects and their dependencies, all with one `reason`."""
    chooser = _Chooser(inventory)
    for name, known in chosen.reasons.items():
        chooser.chosen.add(name, known)
    for name in names:
        if name in inventory.classes:
            chooser.chosen.add(name, reason)
    chooser.complete()
    return Relevant(chooser.chosen.reasons)


def one_of_each(chosen: Relevant, inventory: Inventory) -> Relevant:
    """Add one object of every class in every situation.

    Objects of one class in the same situation are interchangeable in a plan, except for their
    distance. One object therefore represents all those that the goal does not need.
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
        chooser.chosen.add(name, "a constraint names it")
    chooser.complete()
    return chooser.chosen.reasons


class _Chooser:
    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.chosen = ObjectSelection(inventory)

    def choose(self, goal: Expression) -> None:
        # Variables with the same classes may denote different objects. They are counted first, and
        # as many objects are chosen in each situation.
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
        for name in tuple(self.chosen.reasons):
            if name == place or self.inventory.classes[name] in variables.get(place, ()):
                for inner in self.inventory.contents.get(name, ()):
                    self.chosen.add(inner, f"to be taken from {name}")

    def all_of(self, classes: tuple[str, ...]) -> None:
        for object_class in classes:
            for name in self.inventory.of(object_class):
                if not self.chosen.is_piece(name):
                    self.chosen.add(name, "all of them are requested")

    def named(self, name: str) -> None:
        self.chosen.add(name, "named in the goal")
        if self.inventory.true("present", name):
            return
        for piece, source in self.chosen.pieces:
            if piece == name:
                self.chosen.add(source, f"what {name} is cut from")
                if self.inventory.plays(source, CUTTABLE):
                    self.chosen.tool()

    def complete(self) -> None:
        # Taking an object requires the fridge that contains it, using a burner requires the pan on
        # it, and moving a plate requires the knife that lies on it.
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
            # Things on a table are not in the way, because there is room beside them.
            if self.inventory.plays(name, SLOT) or portable:
                more += [
                    (inner, f"is on or in {name}")
                    for inner in self.inventory.contents.get(name, ())
                ]
            for other, reason in more:
                if other not in self.chosen.reasons:
                    self.chosen.add(other, reason)
                    waiting.append(other)


def walk(formula: Expression, positive: bool) -> Iterator[tuple[str, Any]]:
    """Yield the literals, quantified variables and object names of a formula, in order.

    They have the forms `("literal", (atom, positive))`, `("variable", (name, types, for all))` and
    `("object", name)`. `positive` is False for a formula inside an odd number of negations.
    Variables of a negated `exists` are omitted.
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
            # no object is needed for the absence of a thing
            for variable in variables if positive or every else ():
                yield "variable", (variable.name, variable.types, every)
            yield from walk(body, positive)
        case _:
            return


def alternatives(formula: Expression) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield (variable, objects) for each variable that a formula restricts to some objects."""
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


# Places -------------------------------------------------------------------------------------------


def allow_all_places(
    problem: Problem, ontology: Ontology, did_not_fit: Collection[tuple[str, str]] = ()
) -> Problem:
    """Allow any portable object to be put anywhere, as AI2-THOR's forced actions do.

    Places for one object at a time (a burner, a toaster, a coffee machine) keep AI2-THOR's
    placement table, which force does not override. Pairs that did not fit before stay forbidden.
    """
    having: dict[str, set[str]] = {}
    for atom in problem.init:
        having.setdefault(atom.predicate, set()).add(atom.args[0] if atom.args else "")
    places = having.get("surface", set()) | having.get("container", set())
    for predicate in roles_of(ontology).predicates(SLOT):
        places -= having.get(predicate, set())
    free = {
        Atom("fits", (thing, place))
        for thing in having.get("pickupable", ())
        for place in places
        if thing != place and (thing, place) not in did_not_fit
    }
    return problem.replace(init=problem.init | free)


def forbid_objects(problem: Problem, names: Collection[str]) -> Problem:
    """Forbid switching some objects and putting anything on or in them, but not emptying them."""
    if not names:
        return problem
    kept = (
        a
        for a in problem.init
        if not (a.predicate == "fits" and a.args[1] in names)
        and not (a.predicate == "toggleable" and a.args[0] in names)
    )
    return problem.replace(init=frozenset(kept))


def forbid_untidy_places(problem: Problem, wanted: Expression, inventory: Inventory) -> Problem:
    """Forbid putting anything but food on or in dishes, and anything in a bin.

    Placements that the goal requires stay allowed. For example, a knife is not put down on the
    plate that will be served. Every plan of the restricted problem is also a plan of the original
    problem.
    """
    roles = inventory.roles
    asked = _asked(wanted, inventory)

    def sensible(thing: str, place: str) -> bool:
        one, other = inventory.classes[thing], inventory.classes[place]
        if (one, other) in asked:
            return True
        if roles.plays(other, BIN):
            return False
        return not roles.plays(other, CARRIER) or roles.plays(one, SERVED)

    kept = (a for a in problem.init if a.predicate != "fits" or sensible(*a.args))
    return problem.replace(init=frozenset(kept))


def _asked(wanted: Expression, inventory: Inventory) -> set[tuple[str, str]]:
    """Return (class, class) pairs: the goal requires an object of the first on or in the second."""
    classes: dict[str, set[str]] = {}
    pairs = []
    for kind, node in walk(wanted, True):
        if kind == "variable":
            name, types, _ = node
            named = (inventory.ontology.class_of_pddl_type(t) for t in types)
            classes[name] = {c for c in named if c is not None}
        elif kind == "literal" and node[0].predicate in {"on", "in"}:
            pairs.append(node[0].args)

    def of(name: str) -> set[str]:
        return classes.get(name) or {inventory.classes.get(name, "")}

    return {(one, other) for inner, outer in pairs for one in of(inner) for other in of(outer)}
