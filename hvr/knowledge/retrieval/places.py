"""Sensible places: fewer than AI2-THOR allows to put things on or in."""

from __future__ import annotations

from collections.abc import Collection

from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import walk
from hvr.knowledge.roles import BIN, CARRIER, SERVED, SLOT, roles_of
from hvr.pddl.model import Atom, Expression, Problem


def any_place(
    problem: Problem, ontology: Ontology, did_not_fit: Collection[tuple[str, str]] = ()
) -> Problem:
    """Let everything that fits the hand go everywhere, as forced puts of AI2-THOR do.

    Only what takes one thing at a time (a burner, a toaster, a coffee machine) keeps what
    AI2-THOR's placement table says of it: no force overrides that.

    Args:
        problem: the problem.
        ontology: says which places take one thing at a time.
        did_not_fit: pairs of a thing and a place that had no room for it.
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


def unused(problem: Problem, names: Collection[str]) -> Problem:
    """Leave some objects alone: nothing is put on or in them, nor are they switched.

    What is on or in them can be taken from there.

    Args:
        problem: the problem.
        names: the objects.
    """
    if not names:
        return problem
    kept = (
        a for a in problem.init
        if not (a.predicate == "fits" and a.args[1] in names)
        and not (a.predicate == "toggleable" and a.args[0] in names)
    )  # fmt: skip
    return problem.replace(init=frozenset(kept))


def tidy_places(problem: Problem, wanted: Expression, inventory: Inventory) -> Problem:
    """Forbid things other than food on or in dishes, and anything in a bin.

    What the goal wants there may be put there all the same. A knife is then not put down on
    the plate that is served. Every plan of the new problem is one of the old.

    Args:
        problem: the problem.
        wanted: what is asked for.
        inventory: what there is.
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
    """Return the pairs of classes of which the goal wants one on or in the other."""
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
