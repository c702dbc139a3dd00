"""Which fields of a scene graph, and which sorts of predicates, stand behind PDDL atoms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from hvr.knowledge.mapping import predicate_rules
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.terms import k
from hvr.values import Value


@dataclass(frozen=True, eq=False)
class Fields:
    """The attributes of a scene object that predicates stand for, by the ontology's annotations.

    Args:
        flags: the boolean attribute of a predicate: `{"opened": "isOpen"}`.
        values: attribute and value of a predicate: `{"hot": ("temperature", "Hot")}`.
        neutral: the value of such an attribute for which there is no predicate.
        ends: the attribute that has the second argument of a predicate as its value.
    """

    flags: Mapping[str, str]
    values: Mapping[str, tuple[str, str]]
    neutral: Mapping[str, str]
    ends: Mapping[str, str]


class Sorts(Value):
    """Predicates that are not simply seen.

    Args:
        remembered: about the past: no observation shows them, they are kept as a record.
        drifting: they change by themselves, in their own time.
    """

    remembered: frozenset[str] = frozenset()
    drifting: frozenset[str] = frozenset()


@lru_cache(maxsize=8)
def fields_of(ontology: Ontology) -> Fields:
    """Return the fields behind the predicates of an ontology."""
    flags, values, ends = {}, {}, {}
    for rule in predicate_rules(ontology).values():
        behind = [str(f) for f in ontology.annotation(rule.prop or rule.term, "thorField")]
        if not behind:
            continue
        if rule.kind == "flag":
            flags[rule.predicate] = behind[0]
        elif rule.kind == "relation":
            ends[rule.predicate] = behind[0]
        elif rule.kind == "value":
            for value in ontology.annotation(rule.term, "thorValue"):
                values[rule.predicate] = (behind[0], str(value))
    spoken = set(values.values())
    neutral = {
        str(field): str(value)
        for name, prop in ontology.pairs("valueOf")
        for field in ontology.annotation(prop, "thorField")
        for value in ontology.annotation(name, "thorValue")
        if (str(field), str(value)) not in spoken
    }
    return Fields(flags, values, neutral, ends)


@lru_cache(maxsize=8)
def sorts_of(ontology: Ontology) -> Sorts:
    """Return which predicates of an ontology are remembered, and which change by themselves."""
    above = ontology.rules.superproperties
    rules = predicate_rules(ontology).values()
    drifting = set(ontology.subjects("changesByItself"))
    return Sorts(
        frozenset(r.predicate for r in rules if k("historyMark") in above.get(k(r.term), ())),
        frozenset(r.predicate for r in rules if drifting & {r.term, r.prop}),
    )


def own_sorts() -> Sorts:
    """Return the sorts of hvr's own ontology."""
    return sorts_of(load_ontology())
