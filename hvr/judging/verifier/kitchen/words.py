"""Kitchen actions and facts in words, and by class instead of by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from hvr.judging.verifier.kitchen.linked_plan import NEGATIVE_STATES, Fact
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.wording import load_wording
from hvr.pddl.model import GroundAction

Name = Callable[[str, Mapping[str, str]], str]
"""What an object is called, given the PDDL types of all."""

FINISH = "finish"
"""The node that stands for the end of a kitchen plan."""
FINISH_TEXT = "What is so at the end."

_LIQUID = "liquid"
_UNSAID = frozenset({"near", "hand_empty", "present", "filled", "fits"})
"""Left out of the end of a plan: where the robot stands, what never changes, and that a vessel is
filled, which its liquid says already."""


def class_of(name: str, types: Mapping[str, str]) -> str:
    """Return the class of the ontology that an object is of; its PDDL type if there is none."""
    pddl_type = _type_of(name, types)
    if pddl_type == _LIQUID:
        return name
    return load_ontology().class_of_pddl_type(pddl_type) or pddl_type


def _type_of(name: str, types: Mapping[str, str]) -> str:
    return types.get(name, name.rpartition("-")[0] or name)


@lru_cache(maxsize=4096)
def label(object_class: str) -> str:
    """Return what people call a class."""
    ontology = load_ontology()
    return ontology.label(object_class) if ontology.has_class(object_class) else object_class


def say_action(action: GroundAction, types: Mapping[str, str], name: Name = class_of) -> str:
    """Return a step in words, `pick up the mug`."""
    names = [label(name(a, types)) for a in action.args]
    known = load_wording().actions.get(action.name)
    text = known.step.fill([f"the {n}" for n in names]) if known is not None else ""
    return text or " ".join((action.name.replace("_", " "), *names))


def say_ends(facts: Iterable[Fact], types: Mapping[str, str], name: Name = class_of) -> str:
    """Return what holds at the end, in words."""
    clauses: dict[str, int] = {}
    for fact in facts:
        clause = _clause(fact, types, name)
        if clause:
            clauses[clause] = clauses.get(clause, 0) + 1
    counted = [c if n == 1 else f"{n} times {c}" for c, n in clauses.items()]
    return "at the end " + (", ".join(counted) or "nothing is different")


def _clause(fact: Fact, types: Mapping[str, str], name: Name) -> str:
    """Return a fact as a clause; empty for what goes without saying."""
    known = load_wording().predicates.get(fact.predicate)
    silent = fact.predicate in _UNSAID if fact.positive else fact.predicate not in NEGATIVE_STATES
    if known is None or silent:
        return ""
    # Liquids have no article: the mug contains coffee.
    names = [
        ("" if _type_of(a, types) == _LIQUID else "the ") + label(name(a, types)) for a in fact.args
    ]
    return (known.end if fact.positive else known.false).fill(names)


def lifted(fact: Fact, types: Mapping[str, str], name: Name = class_of) -> tuple[str, ...]:
    """Return the types of a fact: its predicate with the class of each argument.

    `(on mug-1 table-2)` is of the types `on Mug` and `on . DiningTable`.
    """
    sign = "" if fact.positive else "not "
    if not fact.args:
        return (f"{sign}{fact.predicate}",)
    return tuple(
        f"{sign}{fact.predicate} {'. ' * i}{name(a, types)}" for i, a in enumerate(fact.args)
    )


def all_lifted(
    facts: Sequence[Fact], types: Mapping[str, str], name: Name = class_of
) -> tuple[str, ...]:
    """Return the types of several facts, each once."""
    return tuple(dict.fromkeys(t for f in facts for t in lifted(f, types, name)))
