"""Orders in English: `Pick up the mug-1 and put it on the countertop-1`."""

from __future__ import annotations

import re

from hvr.knowledge.conduct import load_conduct
from hvr.policies.llm.answers.words import (
    ARTICLES,
    ENDS,
    PARTICLES,
    PREPOSITIONS,
    is_verb,
    stem,
    without_leading,
)

Order = tuple[str, tuple[str, ...]]
"""A verb with its particle, and the noun phrases that it is about."""

INSTANCE = re.compile(r"(?<![A-Za-z])[A-Za-z][A-Za-z_]*+[-_ |#]?\d+")
"""A name of one object, such as `mug-1`, `Mug_1` or `Mug 1`."""

_COMMENT = re.compile(r"(?:\s+[-–—]+\s|\s#|\s//|:\s).*$")
_CLAUSES = re.compile(r",?\s+and\s+(?:then\s+)?|,?\s+then\s+|;\s+|\.\s+(?=[A-Z])|,\s+(?=then\b)")
_PRONOUNS = frozenset({"it", "them", "itself"})
_NEAR = frozenset({"next", "near", "beside", "by"})


def read_order(text: str) -> list[Order]:
    """Return the orders of a sentence; none when it does not begin with a verb.

    `from …` and `with …` are left out, and `it` is the first object of the previous order.
    """
    text = re.sub(r"\([^()]*\)", " ", text)
    text = _COMMENT.sub("", without_leading(text.strip()))
    clauses: list[str] = []
    for part in _CLAUSES.split(text):
        words = without_leading(part.strip()).split(maxsplit=1)
        if words and (is_verb(words[0]) or not clauses):
            clauses.append(" ".join(words))
        elif words and clauses:
            clauses[-1] += f" and {part}"
    orders: list[Order] = []
    for clause in clauses:
        order = _clause(clause, orders[-1][1][:1] if orders else ())
        if order is None:
            break
        orders.append(order)
    return orders


def noun_phrases(text: str) -> tuple[str, ...]:
    """Return the names in arguments without much grammar, such as `mug-1 on the countertop-1`."""
    return _phrases(_words(text))[0]


def _clause(text: str, antecedent: tuple[str, ...]) -> Order | None:
    words = _words(text)
    if not words or not is_verb(words[0]):
        return None
    verb = stem(words[0])
    name = [verb]
    rest = words[1:]
    while rest and rest[0].lower() in PARTICLES:
        name.append(rest.pop(0).lower())
    if verb in load_conduct().contents_verbs:
        rest = _poured(rest)
    phrases, preposition = _phrases(rest)
    if len(name) == 1 and preposition and preposition not in _NEAR:
        name.append(preposition)
    args: list[str] = []
    for phrase in phrases:
        args += antecedent if phrase.lower() in _PRONOUNS else (phrase,)
    return " ".join(name), tuple(args)


def _poured(words: list[str]) -> list[str]:
    """Drop the liquid: `the water from pot-1 into cup-1` is about the pot and the cup."""
    lower = [w.lower() for w in words]
    return words[lower.index("from") + 1 :] if "from" in lower else words


def _words(text: str) -> list[str]:
    text = text.replace(",", " , ").replace("->", " -> ").replace("=>", " -> ")
    stripped = (w if w == "->" else w.strip("\"'.;:!?<>[]{}*") for w in text.split())
    return [w for w in stripped if w]


def _phrases(words: list[str]) -> tuple[tuple[str, ...], str]:
    """Return the noun phrases and the first preposition among them."""
    phrases: list[str] = []
    current: list[str] = []
    preposition = ""

    def end() -> None:
        if current:
            phrases.append(" ".join(current))
            current.clear()

    for place, word in enumerate(words):
        lower = word.lower()
        following = words[place + 1] if place + 1 < len(words) else ""
        if lower in ENDS or (lower == "to" and is_verb(following)):
            break
        if lower in PREPOSITIONS or (lower == "top" and following.lower() == "of"):
            end()
            preposition = preposition or lower.replace("->", "to").replace("top", "on")
        elif lower in {",", "and", "&"}:
            end()
        elif lower in ARTICLES or (not current and (lower == "of" or word.isdigit())):
            continue
        else:
            current.append(word)
            if INSTANCE.fullmatch(" ".join(current[-2:])) or INSTANCE.fullmatch(word):
                end()
    end()
    return tuple(phrases), preposition
