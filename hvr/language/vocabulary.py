"""The lexicon that the ontology's labels, verbs, adjectives and dishes make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hvr.errors import DataFileError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.roles import AFFORDANCE, FILLED, PORTABLE, THING, roles_of
from hvr.knowledge.terms import HIDDEN_LABEL
from hvr.language.lexicon import Adjective, Dish, Lexicon, Part, Verb, build_lexicon, tokenize


def load_lexicon(ontology: Ontology) -> Lexicon:
    """Read all words of an ontology.

    Raises:
        DataFileError: a word of the ontology lacks what its kind needs.
    """
    verbs = list(_verbs(ontology))
    roles = roles_of(ontology)
    filled = roles.predicate(FILLED)
    lexicon = build_lexicon(
        list(_nouns(ontology)),
        verbs,
        [*_adjectives(ontology), *_participles(ontology)],
        list(_dishes(ontology)),
        frozenset(
            name for name in ontology.subjects("collective")
            if _one(ontology, name, "collective") in {"True", "true"}
        ),
        _loose_nouns(ontology),
        (c for c in ontology.object_types if not roles.plays(c, PORTABLE)),
        [label for name in ontology.instances("Room") for label in ontology.labels(name)],
    )  # fmt: skip
    examples = {of: ontology.label(name) for name, of in ontology.pairs("exampleOf")}
    return replace(
        lexicon, fillings=_fillings(ontology), idioms=_idioms(ontology), examples=examples,
        full=f"({filled} ?x)" if filled else "",
    )  # fmt: skip


def _idioms(ontology: Ontology) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {
        tokenize(label): tokenize(_needed(ontology, name, "plainly"))
        for name in ontology.instances("Idiom")
        for label in ontology.labels(name)
    }


def _fillings(ontology: Ontology) -> dict[str, Part]:
    """Return the parts that can fill a dish, by their class and that which they are cut from."""
    parts = [
        _part(ontology, name)
        for name in sorted(ontology.instances("Part"))
        if _one(ontology, name, "filling") in {"True", "true"}
    ]
    sources = {p: c for c in ontology.object_types for p in ontology.related("slicesInto", c)}
    named = {part.object_class: part for part in parts}
    return named | {sources[c]: part for c, part in named.items() if c in sources}


def _part(ontology: Ontology, name: str) -> Part:
    return Part(
        _needed(ontology, name, "ofClass"),
        int(_one(ontology, name, "count") or 1),
        _one(ontology, name, "condition"),
    )


def _one(ontology: Ontology, name: str, prop: str) -> str | None:
    values = ontology.annotation(name, prop)
    return str(values[0]) if values else None


def _needed(ontology: Ontology, name: str, prop: str) -> str:
    value = _one(ontology, name, prop)
    if value is None:
        raise DataFileError(f"ontology: k:{name} has no k:{prop}")
    return value


def _nouns(ontology: Ontology) -> Iterator[tuple[str, str]]:
    """Yield the labels of classes; object types first, since the name of a type is more exact."""
    types, roles = frozenset(ontology.object_types), roles_of(ontology)
    unnamed = {name for name, value in ontology.pairs("neverNamed") if value in {"True", "true"}}
    for name in sorted(ontology.classes(), key=lambda c: (c not in types, c)):
        if name in unnamed or not roles.plays(name, THING):
            continue
        if roles.plays(name, AFFORDANCE) and name not in types and _is_affordance(ontology, name):
            continue
        for label in ontology.labels(name):
            yield label, name


def _loose_nouns(ontology: Ontology) -> Iterator[tuple[str, str, str]]:
    """Yield what people call things that are something else, for object types."""
    for name in sorted(ontology.object_types):
        for word in ontology.annotation(name, HIDDEN_LABEL.value):
            yield str(word), name, ontology.label(name)


def _is_affordance(ontology: Ontology, name: str) -> bool:
    """Return whether a class only says what its things are good for, which nobody names."""
    return bool(
        ontology.annotation(name, "pddlPredicate") or ontology.annotation(name, "thorField")
    )


def _verb(ontology: Ontology, name: str, word: str) -> Verb:
    return Verb(
        word,
        _needed(ontology, name, "frame"),
        _one(ontology, name, "condition"),
        _one(ontology, name, "requires"),
        tuple((_one(ontology, name, "place") or "").removeprefix("k:").split()),
        _one(ontology, name, "liquid"),
        _one(ontology, name, "back") in {"True", "true"},
        _one(ontology, name, "by"),
        (_one(ontology, name, "byClass") or "").removeprefix("k:"),
        _one(ontology, name, "ofDishes") in {"True", "true"},
    )


def learnt_verb(ontology: Ontology, kind: str) -> Verb | None:
    """Return the verb that says what a kind of request of the learnt reader does, or None."""
    name = next((n for n, learnt in ontology.pairs("learntAs") if learnt == kind), None)
    return None if name is None else _verb(ontology, name, ontology.label(name))


def _verbs(ontology: Ontology) -> Iterator[tuple[str, Verb]]:
    for name in ontology.instances("Verb"):
        for label in ontology.labels(name):
            yield label, _verb(ontology, name, label)


def _participles(ontology: Ontology) -> Iterator[tuple[str, Adjective]]:
    for name in ontology.instances("Verb"):
        verb = _verb(ontology, name, ontology.label(name))
        for word in ontology.annotation(name, "participle"):
            if verb.condition:
                yield (
                    str(word),
                    Adjective(str(word), verb.condition, False, verb.requires),
                )


def _adjectives(ontology: Ontology) -> Iterator[tuple[str, Adjective]]:
    for name in ontology.instances("Adjective"):
        condition = _needed(ontology, name, "condition")
        selects = _one(ontology, name, "selects") in {"True", "true"}
        for label in ontology.labels(name):
            requires = _one(ontology, name, "requires")
            yield label, Adjective(label, condition, selects, requires)


def _dishes(ontology: Ontology) -> Iterator[tuple[str, Dish]]:
    for name in ontology.instances("Dish"):
        parts = tuple(_part(ontology, str(part)) for part in ontology.annotation(name, "part"))
        base = tuple(_part(ontology, str(part)) for part in ontology.annotation(name, "base"))
        dish = Dish(
            ontology.label(name),
            tuple((_one(ontology, name, "vesselOrder") or "").split()),
            _one(ontology, name, "liquid"),
            parts,
            _one(ontology, name, "place"),
            base,
        )
        for label in ontology.labels(name):
            yield label, dish
