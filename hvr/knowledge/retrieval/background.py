"""The ontology's knowledge about a request: dishes, words, preferences and notes.

    vegan meal: LettuceSliced, TomatoSliced, PotatoSliced (cooked), on or in one Plate

A language model has its own idea of a vegan meal, but the kitchen's definition decides whether a
plan is right.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from hvr.base.english import singular, words
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.roles import CONTAINS, roles_of

_MOST_DISHES = 4
_MOST_WORDS = 8
_FILLERS = frozenset(("a", "an", "the", "of", "and", "on", "in", "with", "some", "one"))
_LITERAL = re.compile(r"\((not )?\(?(\w+) \?x(?: (\w+))?\)")


def dishes(request: str, ontology: Ontology) -> tuple[str, ...]:
    """Return the dishes that a request names, each with its parts."""
    return tuple(_dish(name, ontology) for name in _named(request, ontology))


def ingredients(request: str, ontology: Ontology) -> tuple[str, ...]:
    """Return the classes of the parts and vessels of the dishes that a request names."""
    classes: list[str] = []
    for dish in _named(request, ontology):
        for part in ontology.annotation(dish, "part"):
            classes += [str(c) for c in ontology.annotation(str(part), "ofClass")]
        classes += _listed(ontology, dish, "vesselOrder")[:1]
        classes += [str(place) for place in ontology.annotation(dish, "place")]
        liquids = set(map(str, ontology.annotation(dish, "liquid")))
        for means in ontology.instances("Means"):
            if liquids & set(map(str, ontology.annotation(means, "achieves"))):
                classes += _listed(ontology, means, "needs")
    return tuple(dict.fromkeys(name.removeprefix("k:") for name in classes))


def _named(request: str, ontology: Ontology) -> tuple[str, ...]:
    spoken = _spoken(request)
    fits: list[tuple[int, str]] = []
    for dish in ontology.instances("Dish"):
        asked = tuple(map(str, ontology.annotation(dish, "askedAs")))
        texts = [_content(text) for text in (*ontology.labels(dish), *asked)]
        best = max((len(text) for text in texts if text and text <= spoken), default=0)
        if best:
            fits.append((-best, dish))
    # "tomato egg toast" does not also mention toast.
    chosen: list[str] = []
    covered: set[str] = set()
    for _, dish in sorted(fits):
        own = {w for text in ontology.labels(dish) for w in _content(text)} & spoken
        if not own or not own <= covered:
            chosen.append(dish)
            covered |= own
    return tuple(chosen[:_MOST_DISHES])


def known_dishes(ontology: Ontology) -> str:
    """Return the names of all dishes."""
    return ", ".join(sorted(ontology.label(name) for name in ontology.instances("Dish")))


def meanings(request: str, ontology: Ontology) -> tuple[str, ...]:
    """Return the conditions on `x` that verbs and adjectives of a request achieve."""
    # Match contiguous words: 'put a cup on a table' does not contain 'put on'.
    spoken = f" {' '.join(words(request))} "
    conditions_by_word: dict[str, str] = {}
    for kind in ("Verb", "Adjective"):
        for name in ontology.instances(kind):
            conditions = ontology.annotation(name, "condition")
            forms = (*ontology.labels(name), *map(str, ontology.annotation(name, "participle")))
            named = [text for text in forms if f" {' '.join(words(text))} " in spoken]
            if named and conditions:
                conditions_by_word[max(named, key=len)] = _plain(str(conditions[0]))
    lines = (f"{word}: {text}" for word, text in conditions_by_word.items() if word != text)
    return tuple(lines)[:_MOST_WORDS]


def preferences(classes: Collection[str], ontology: Ontology) -> tuple[str, ...]:
    """Return the preferences between kinds that are both present."""
    texts = []
    for name in ontology.instances("Preference"):
        sides = [
            {c for c in ontology.subclasses(kind, reflexive=True) if c in classes}
            for side in ("prefers", "over")
            for value in ontology.annotation(name, side)
            if ontology.has_class(kind := str(value).removeprefix("k:"))
        ]
        if len(sides) == 2 and all(sides):
            texts.append(ontology.label(name))
    return tuple(texts)


def default_end_states(ontology: Ontology) -> tuple[str, ...]:
    """Return the preferred final state of a kitchen."""
    return tuple(map(ontology.label, ontology.preferences("end of task")))


def notes(
    ontology: Ontology,
    *,
    reader: str,
    predicates: Collection[str] = (),
    classes: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return the notes on some predicates and classes for a reader, `goal` or `steps`."""
    above = {a for c in classes for a in ontology.superclasses(c, reflexive=True)}
    texts: list[str] = []
    for name in ontology.instances("Note"):
        meant = " ".join(map(str, ontology.annotation(name, "forWhom")))
        about = set(_listed(ontology, name, "aboutPredicate"))
        kinds = set(_listed(ontology, name, "aboutClass"))
        if (not meant or meant == reader) and (about & set(predicates) or kinds & above):
            texts += map(str, ontology.annotation(name, "tells"))
    return tuple(texts)


def _listed(ontology: Ontology, name: str, prop: str) -> list[str]:
    return [word for value in ontology.annotation(name, prop) for word in str(value).split()]


def _dish(name: str, ontology: Ontology) -> str:
    parts = [
        _part(str(part), ontology) for part in sorted(ontology.annotation(name, "part"), key=str)
    ]
    holds = roles_of(ontology).predicate(CONTAINS) or CONTAINS
    liquids = [f"{holds} {liquid}" for liquid in ontology.annotation(name, "liquid")]
    vessels = _listed(ontology, name, "vesselOrder")
    places = [str(p).removeprefix("k:") for p in ontology.annotation(name, "place")]
    where = f"on one {places[0]}" if places else ""
    if vessels and liquids:
        where = f"in one {' or '.join(vessels)}"
    elif vessels:
        where = f"together on or in one {' or '.join(vessels)}"
    return f"{ontology.label(name)}: {', '.join(filter(None, (*parts, *liquids, where)))}"


def _part(name: str, ontology: Ontology) -> str:
    kind = next((str(c).removeprefix("k:") for c in ontology.annotation(name, "ofClass")), name)
    count = next((f"{c} " for c in ontology.annotation(name, "count")), "")
    conditions = " and ".join(_plain(str(c)) for c in ontology.annotation(name, "condition"))
    return f"{count}{kind}{f' ({conditions})' if conditions else ''}"


def _plain(condition: str) -> str:
    joint = " or " if condition.startswith("(or ") else " and "
    return joint.join(_literals(condition)) or condition.replace("?", "")


def _literals(condition: str) -> Iterator[str]:
    for sign, predicate, value in _LITERAL.findall(condition):
        yield f"{'not ' if sign else ''}{predicate}{f' {value}' if value else ''}"


def _spoken(request: str) -> frozenset[str]:
    return frozenset(form for word in words(request) for form in (word, singular(word)))


def _content(text: str) -> frozenset[str]:
    return frozenset(singular(word) for word in words(text) if word not in _FILLERS)
