"""Which PDDL predicate stands for what in the graph, as the ontology's annotations say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from hvr.errors import DataFileError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.terms import RDF
from hvr.values import Value

Kind = Literal["class", "flag", "relation", "value", "classes"]

_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "subject object": ("subject", "object"),
    "subject": ("subject",),
    "object": ("object",),
    "none": (),
}


class PredicateRule(Value):
    """Where a PDDL predicate comes from.

    Args:
        predicate: its name.
        kind: `class`: true of the instances of a class; `flag`: where a boolean property is
            true; `relation`: of the ends of an object property; `value`: of what has an
            individual as value of a property; `classes`: of the instances of classes that
            an annotation property joins.
        term: local name of the class, property or individual.
        arguments: which ends are arguments, of `subject` and `object`.
        prop: for `value`, the property.
    """

    predicate: str
    kind: Kind
    term: str
    arguments: tuple[str, ...]
    prop: str = ""


@lru_cache(maxsize=8)
def predicate_rules(ontology: Ontology) -> Mapping[str, PredicateRule]:
    """Return the rule of every PDDL predicate that the ontology knows.

    Raises:
        DataFileError: the annotations of a predicate are incomplete or contradict others.
    """
    rules: dict[str, PredicateRule] = {}
    for term in ontology.subjects("pddlPredicate"):
        for predicate in ontology.annotation(term, "pddlPredicate"):
            rule = _rule(ontology, term, str(predicate))
            other = rules.setdefault(rule.predicate, rule)
            if other is not rule:
                raise DataFileError(
                    f"ontology: both k:{other.term} and k:{term} stand for the predicate "
                    f"{predicate!r}; leave one k:pddlPredicate"
                )
    return rules


def _rule(ontology: Ontology, term: str, predicate: str) -> PredicateRule:
    kinds = {str(v) for v in ontology.annotation(term, RDF + "type")}
    if "owl:Class" in kinds:
        return PredicateRule(predicate, "class", term, ("subject",))
    value_of = ontology.annotation(term, "valueOf")
    if value_of:
        return PredicateRule(predicate, "value", term, ("subject",), str(value_of[0]))
    written = " ".join(str(v) for v in ontology.annotation(term, "pddlArguments"))
    if written not in _ARGUMENTS:
        raise DataFileError(
            f"ontology: k:{term} stands for the predicate {predicate!r} and needs one "
            f"k:pddlArguments of {', '.join(map(repr, _ARGUMENTS))}"
        )
    kind: Kind = "relation"
    if "owl:AnnotationProperty" in kinds:
        kind = "classes"
    elif "owl:DatatypeProperty" in kinds:
        kind = "flag"
    return PredicateRule(predicate, kind, term, _ARGUMENTS[written])
