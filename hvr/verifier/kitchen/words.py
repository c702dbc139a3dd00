"""Kitchen actions and facts in words, and by class instead of by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from hvr.knowledge.ontology import load_ontology
from hvr.pddl.model import GroundAction
from hvr.verifier.kitchen.linked_plan import Fact

ACTIONS: Mapping[str, tuple[str, str]] = {
    "navigate_to_obj": ("go to the {0}", "Walk up to a thing or a piece of furniture."),
    "pick_up": ("pick up the {0}", "Take a thing into the hand."),
    "put_on": ("put the {0} on the {1}", "Put down what is held on something."),
    "put_in": ("put the {0} in the {1}", "Put what is held into something."),
    "open_obj": ("open the {0}", "Open a door, a drawer or a lid."),
    "close_obj": ("close the {0}", "Close a door, a drawer or a lid."),
    "toggle_on": ("turn on the {0}", "Switch an appliance, a tap or a light on."),
    "toggle_off": ("turn off the {0}", "Switch an appliance, a tap or a light off."),
    "slice_obj": ("slice the {0}", "Cut a thing into slices."),
    "crack_obj": ("crack the {0}", "Crack an egg."),
    "pour": ("pour from the {0} into the {1}", "Pour a liquid from one vessel into another."),
    "drop_obj": ("drop the {0}", "Let go of what is held."),
    "throw_away": ("throw the {0} into the {1}", "Put a thing into the garbage can."),
}
"""What an atomic action does with its arguments, and what it is for."""

Name = Callable[[str, Mapping[str, str]], str]
"""What an object is called, given the PDDL types of all."""

FINISH = "finish"
"""The node that stands for the end of a kitchen plan."""
FINISH_TEXT = "What is so at the end."

_FACTS: Mapping[str, tuple[str, str]] = {
    "on": ("the {0} is on the {1}", ""),
    "in": ("the {0} is in the {1}", ""),
    "holding": ("the {0} is in the hand", ""),
    "opened": ("the {0} is open", "the {0} is closed"),
    "toggled": ("the {0} is on", "the {0} is off"),
    "sliced": ("the {0} is sliced", ""),
    "cracked": ("the {0} is cracked", ""),
    "cooked": ("the {0} is cooked", ""),
    "hot": ("the {0} is hot", ""),
    "cold": ("the {0} is cold", ""),
    "dirty": ("the {0} is dirty", "the {0} is clean"),
    "contains": ("the {0} contains {1}", ""),
    "filled": ("", "the {0} is empty"),
    "washed": ("the {0} is washed", ""),
    "microwaved": ("the {0} is microwaved", ""),
    "stove_heated": ("the {0} was on the stove", ""),
    "toasted": ("the {0} is toasted", ""),
    "chilled": ("the {0} was in the fridge", ""),
    "warm_liquid": ("what the {0} holds is warm", ""),
}


def class_of(name: str, types: Mapping[str, str]) -> str:
    """Return the class of the ontology that an object is of; its PDDL type if there is none."""
    kind = types.get(name, name.rpartition("-")[0] or name)
    if kind == "liquid":
        return name
    return load_ontology().class_of_pddl_type(kind) or kind


@lru_cache(maxsize=4096)
def label(object_class: str) -> str:
    """Return what people call a class."""
    ontology = load_ontology()
    return ontology.label(object_class) if ontology.has_class(object_class) else object_class


def say_action(action: GroundAction, types: Mapping[str, str], name: Name = class_of) -> str:
    """Return a step in words, `pick up the mug`."""
    names = [label(name(a, types)) for a in action.args]
    known = ACTIONS.get(action.name)
    if known is None or len(names) < known[0].count("{"):
        return " ".join((action.name.replace("_", " "), *names))
    return known[0].format(*names)


def say_ends(facts: Iterable[Fact], types: Mapping[str, str], name: Name = class_of) -> str:
    """Return what holds at the end, in words."""
    clauses: dict[str, int] = {}
    for fact in facts:
        text = _FACTS.get(fact.predicate, ("", ""))[0 if fact.positive else 1]
        if text:
            clause = text.format(*(label(name(a, types)) for a in fact.args))
            clauses[clause] = clauses.get(clause, 0) + 1
    said = [c if n == 1 else f"{n} times {c}" for c, n in clauses.items()]
    return "at the end " + (", ".join(said) if said else "nothing is different")


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
