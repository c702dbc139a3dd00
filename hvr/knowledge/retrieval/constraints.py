"""What trajectory constraints mean for the choice of objects.

A constraint may be broken with any object that it speaks of, so these belong to the problem. And
what must not be used calls for something else to use: without the microwave there is the stove.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.pddl.model import And, Atom, Exists, Expression, Forall, Not, Trajectory, walk


def spoken_of(
    constraint: Expression, inventory: Inventory, changing: Collection[str]
) -> Iterator[str]:
    """Yield the objects that a constraint names, and those that count in it as things are now.

    Of all doors ("never two open at once") these are the ones that stand open: a plan leaves
    alone what is not in its problem, so that the others stay closed.

    Args:
        constraint: the constraint.
        inventory: what there is.
        changing: the predicates that actions change.
    """
    predicates: set[str] = set()
    kinds: set[str] = set()
    for part in walk(constraint):
        if isinstance(part, Exists | Forall):
            kinds.update(kind for variable in part.variables for kind in variable.types)
        elif isinstance(part, Atom):
            predicates |= {part.predicate} & set(changing)
            yield from (arg for arg in part.args if arg in inventory.classes)
    ontology = inventory.ontology
    classes = {ontology.class_of_pddl_type(kind) for kind in kinds}
    for atom in sorted(inventory.facts, key=str) if kinds else ():
        own = inventory.classes.get(atom.args[0]) if atom.args else None
        if own is not None and atom.predicate in predicates and any(
            c is None or ontology.is_a(own, c) for c in classes
        ):  # fmt: skip
            yield atom.args[0]


def spared(constraint: Expression, inventory: Inventory) -> frozenset[str]:
    """Return the objects that a constraint forbids to use in some way: not to open, not to fill.

    Args:
        constraint: the constraint.
        inventory: what there is.
    """
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
    """Yield the atoms that must be false at all times, each with the types of its variables."""
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
