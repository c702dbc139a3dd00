"""Words for a world: what its ontology says, and for the rest what the names of its domain say.

An ontology ties words to the domain by the annotations that hvr's own has: `k:pddlType` with
`rdfs:label` and `skos:altLabel` for types, `k:pddlPredicate` with `k:saidTrue` and `k:saidFalse`
for predicates, `k:pddlAction` with `k:imperative` for actions. Without one `(at truck1 depot)` is
"truck1 is at depot" and `(has robot parcel)` is "robot has parcel".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hvr.knowledge.ontology import Ontology
from hvr.knowledge.wording import ActionWording, PredicateWording, Template, Wording, wording_of
from hvr.pddl import ActionSchema, Domain, Predicate

_VERB = re.compile(r"(has|knows|needs|owns|(?!is|has|was|this|bus|gas|glass)[a-z]+[^aious]s)")
"""A first word that says by itself what its first object does, such as `contains`."""


_PLACES = frozenset({"at", "in", "on", "near"})
"""Words that `(robot-at ?room)` ends in, which says of the robot where it is."""


@dataclass(frozen=True)
class WorldWords:
    """Words for a domain.

    Args:
        wording: how facts and actions are said.
        types: what things of each type are called, the usual word first.
    """

    wording: Wording
    types: Mapping[str, tuple[str, ...]]


def words_for(domain: Domain, ontology: Ontology | None = None) -> WorldWords:
    """Return the words for a domain: those of an ontology, and derived ones for what it lacks.

    Raises:
        DataFileError: a wording of the ontology is malformed.
    """
    given = wording_of(ontology) if ontology is not None else None
    predicates = {name: _derived(p) for name, p in domain.predicates.items()}
    actions = {name: _imperative(a) for name, a in domain.actions.items()}
    if given is not None:
        said = {n: p for n, p in given.predicates.items() if p.true and p.false}
        predicates.update({n: p for n, p in said.items() if n in predicates})
        told = {n: a for n, a in given.actions.items() if a.imperative}
        actions.update({n: a for n, a in told.items() if n in actions})
    types = {name: _called(name, ontology) for name in ("object", *domain.types)}
    wording = Wording(
        MappingProxyType(actions), MappingProxyType(predicates), MappingProxyType(types),
        MappingProxyType({}), MappingProxyType({}), frozenset(),
        MappingProxyType({}), MappingProxyType({}), frozenset(),
    )  # fmt: skip
    return WorldWords(wording, MappingProxyType(types))


def _called(type_name: str, ontology: Ontology | None) -> tuple[str, ...]:
    plain = words_of(type_name)
    known = ontology.class_of_pddl_type(type_name) if ontology is not None else None
    if ontology is None or known is None:
        return (plain,)
    return tuple(dict.fromkeys((*(label.lower() for label in ontology.labels(known)), plain)))


def words_of(name: str) -> str:
    """Return a name as words: `fuel-level` and `fuel_level` are "fuel level"."""
    return " ".join(re.split(r"[-_\s]+", name.strip("-_"))) or name


def said_of(predicate: Predicate) -> tuple[str, str]:
    """Return derived clauses that say that a predicate holds, and that it does not."""
    words = words_of(predicate.name)
    places = [f"{{{number}}}" for number in range(len(predicate.parameters))]
    if not places:
        thing, _, how = words.rpartition(" ")
        if not thing:
            return f"{words} holds", f"{words} does not hold"
        return f"the {thing} is {how}", f"the {thing} is not {how}"
    first, *others = places
    if not others and words.endswith("ing"):
        return f"{words} {first}", f"not {words} {first}"
    after = f" {' and '.join(others)}" if others else ""
    verb, _, rest = words.partition(" ")
    thing, _, last = words.rpartition(" ")
    if not others and thing and last in _PLACES:
        return f"the {thing} is {last} {first}", f"the {thing} is not {last} {first}"
    if verb == "is":
        return f"{first} is {rest}{after}", f"{first} is not {rest}{after}"
    if _VERB.fullmatch(verb):
        return f"{first} {words}{after}", f"it is not so that {first} {words}{after}"
    return f"{first} is {words}{after}", f"{first} is not {words}{after}"


def _derived(predicate: Predicate) -> PredicateWording:
    arity = len(predicate.parameters)
    true, false = (Template(text, arity) for text in said_of(predicate))
    return PredicateWording(true, false, true, (), (), ())


def imperative_of(action: ActionSchema) -> str:
    """Return a derived order: `(drive ?t ?from ?to)` is "drive {0}, {1}, {2}"."""
    places = ", ".join(f"{{{number}}}" for number in range(len(action.parameters)))
    return f"{words_of(action.name)} {places}".strip()


def _imperative(action: ActionSchema) -> ActionWording:
    order = Template(imperative_of(action), len(action.parameters))
    return ActionWording(order, order, order, "", ())


def object_words(name: str) -> tuple[str, ...]:
    """Return what an object may be called: by its name, and with a blank before its number."""
    plain = words_of(name)
    spaced = re.sub(r"(?<=[a-z])(?=[0-9])", " ", plain)
    return tuple(dict.fromkeys((name, plain, spaced)))


def plural(word: str) -> str:
    """Return the regular plural of a noun."""
    if re.search(r"(s|x|z|ch|sh)$", word):
        return f"{word}es"
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}s"
