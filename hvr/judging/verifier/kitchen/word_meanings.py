"""What words of a request can mean, one by one, for `mention_reader`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from hvr.judging.verifier.kitchen.mentions import FAMILIES, REMEMBERED, Named, State
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.wording import Wording
from hvr.language.lexicon import Entry, FunctionWord, Lexicon, Noun
from hvr.language.vocabulary import load_lexicon

_PREDICATE = re.compile(r"\((not \()?([a-z_]+)")


@lru_cache(maxsize=4)
def lexicon_of(ontology: Ontology) -> Lexicon:
    """Return the words of an ontology, read once."""
    return load_lexicon(ontology)


@lru_cache(maxsize=4)
def sources_of_liquids(ontology: Ontology) -> tuple[tuple[str, str], ...]:
    """Return classes of things that liquids come from, each with its liquid."""
    liquids = {
        str(v) for dish in ontology.instances("Dish") for v in ontology.annotation(dish, "liquid")
    }
    return tuple(
        (kind, str(liquid))
        for means in ontology.instances("Means")
        for liquid in ontology.annotation(means, "achieves")
        if str(liquid) in liquids
        for needs in ontology.annotation(means, "needs")
        for kind in str(needs).split()
    )


@lru_cache(maxsize=4)
def loose_states(wording: Wording) -> Mapping[str, tuple[State, bool]]:
    """Return the states that words mean, and whether they may last from the start."""
    return {
        word: ((FAMILIES[name], True), name not in REMEMBERED)
        for name, predicate in wording.predicates.items()
        if name in FAMILIES
        for word in predicate.loose
    }


def says_being(entries: tuple[Entry, ...]) -> bool:
    """Say whether words can be a verb of being: a side table is a `stand`, too."""
    return any(isinstance(e, FunctionWord) and e.role == "be" for e in entries)


def named_by(entries: tuple[Entry, ...], count: int) -> Named | None:
    """Return what words name, if they are a noun; `count` is the number before them."""
    nouns = [e for e in entries if isinstance(e, Noun)]
    if not nouns:
        return None
    if count == 1 and any(n.collective for n in nouns):
        count = 0
    elif count == 1 and all(n.plural for n in nouns):
        count = -1
    return Named(frozenset(n.object_class for n in nouns), count)


def named_exactly(ontology: Ontology, token: str) -> Named | None:
    """Return what a name such as `mug-1` names."""
    stem, _, number = token.rpartition("-")
    object_class = ontology.class_of_pddl_type(stem) if number.isdecimal() else None
    return Named(frozenset({object_class})) if object_class else None


def states_of(condition: str) -> set[State]:
    """Return the states that a condition in PDDL asks for."""
    return {
        (FAMILIES[predicate], (predicate == "dirty") == bool(negated))
        for negated, predicate in _PREDICATE.findall(condition)
        if predicate in FAMILIES
    }


def may_last(condition: str) -> bool:
    """Say whether what a condition asks for may have been so from the start."""
    return REMEMBERED.isdisjoint(name for _, name in _PREDICATE.findall(condition))
