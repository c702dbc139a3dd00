"""What a request names: things, places, states, liquids, and how many.

This is no goal, and less than `hvr.planning.language` reads: every word of the ontology that
occurs counts, whatever stands around it, so that something comes of any sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from hvr.errors import LanguageError
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.planning.language.lexicon import (
    Adjective,
    Dish,
    Entry,
    Function,
    Lexicon,
    Noun,
    Verb,
    tokenize,
)
from hvr.planning.language.vocabulary import load_lexicon

FAMILIES: Mapping[str, str] = {
    "hot": "heat", "microwaved": "heat", "stove_heated": "heat", "toasted": "heat",
    "cooked": "heat", "warm_liquid": "heat", "cold": "cold", "chilled": "cold",
    "washed": "wash", "dirty": "wash", "sliced": "slice", "cracked": "crack",
    "filled": "fill", "contains": "fill", "opened": "open", "toggled": "switch",
    "holding": "hold",
}  # fmt: skip
"""Predicates of states, and what they have in common."""

_PREDICATE = re.compile(r"\((not \()?([a-z_]+)")
_NO_STATES = frozenset({"and", "or", "not", "exists", "forall", "when", "near", "on", "in"})


@dataclass(frozen=True)
class Named:
    """Something that is named.

    Args:
        classes: of the ontology; it is of one of them.
        count: how many; 0 for all, -1 for several.
        optional: it is not said but needed, such as the mug of a coffee.
    """

    classes: frozenset[str]
    count: int = 1
    optional: bool = False


@dataclass(frozen=True)
class Asked:
    """What a request names.

    Args:
        things: in the order of the words.
        states: families of states, and whether they are to be so or not so.
        liquids: water, coffee, wine.
    """

    things: tuple[Named, ...] = ()
    states: frozenset[tuple[str, bool]] = frozenset()
    liquids: frozenset[str] = frozenset()


@lru_cache(maxsize=65536)
def asked_of(request: str) -> Asked:
    """Read a request; of an empty one, or one far too long, nothing is read."""
    ontology = load_ontology()
    lexicon = _lexicon(ontology)
    try:
        tokens = tokenize(request)
    except LanguageError:
        return Asked()
    things: list[Named] = []
    states: set[tuple[str, bool]] = set()
    liquids: set[str] = set()
    count = 1
    place = 0
    while place < len(tokens):
        length, entries = next(iter(lexicon.matches(tokens, place)), (1, ()))
        noun = _noun(entries, count)
        if noun is not None:
            things.append(noun)
        for entry in entries:
            match entry:
                case Verb() | Adjective():
                    states |= _states(entry.condition or "")
                    if isinstance(entry, Verb) and entry.liquid:
                        liquids.add(entry.liquid)
                case Dish() if noun is None:
                    parts = [Named(frozenset({p.object_class}), p.count) for p in entry.parts]
                    things += [p for p in parts if p not in things]
                    for part in entry.parts:
                        states |= _states(part.condition or "")
                    if entry.vessels:
                        things.append(Named(frozenset(entry.vessels), optional=True))
                    if entry.liquid:
                        liquids.add(entry.liquid)
        number = next(
            (e.value for e in entries if isinstance(e, Function) and e.role in {"det", "number"}),
            None,
        )
        if isinstance(number, int):
            count = number
        elif tokens[place].isdecimal():
            count = int(tokens[place])
        elif noun is not None:
            count = 1
        if not entries:
            things += _by_name(ontology, tokens[place])
        place += length
    return Asked(tuple(dict.fromkeys(things)), frozenset(states), frozenset(liquids))


def covers(wanted: str, found: str) -> bool:
    """A thing of one class may be meant by the name of another.

    A slice of tomato is meant by "tomato" too, and "slice of tomato" asks for the tomato.

    Args:
        wanted: class of the words.
        found: class of a thing.
    """
    ontology = load_ontology()
    if wanted == found or (ontology.has_class(found) and ontology.is_a(found, wanted)):
        return True
    if _is_piece(wanted) and _whole(wanted) == found:
        return True
    return _is_piece(found) and covers(wanted, _whole(found))


def _is_piece(name: str) -> bool:
    return name.endswith(("Sliced", "Cracked"))


def _whole(name: str) -> str:
    return name.removesuffix("Sliced").removesuffix("Cracked")


@lru_cache(maxsize=4)
def _lexicon(ontology: Ontology) -> Lexicon:
    return load_lexicon(ontology)


def _noun(entries: tuple[Entry, ...], count: int) -> Named | None:
    nouns = [e for e in entries if isinstance(e, Noun)]
    if not nouns:
        return None
    if count == 1 and any(n.collective for n in nouns):
        count = 0
    elif count == 1 and all(n.plural for n in nouns):
        count = -1
    return Named(frozenset(n.object_class for n in nouns), count)


def _by_name(ontology: Ontology, token: str) -> list[Named]:
    """`mug-1` and the like."""
    stem, _, number = token.rpartition("-")
    found = ontology.class_of_pddl_type(stem) if number.isdecimal() else None
    return [Named(frozenset({found}))] if found else []


def _states(condition: str) -> set[tuple[str, bool]]:
    found = set()
    for negated, predicate in _PREDICATE.findall(condition):
        if predicate in FAMILIES and predicate not in _NO_STATES:
            wanted = not negated
            if predicate == "dirty":
                wanted = not wanted
            found.add((FAMILIES[predicate], wanted))
    return found
