"""Similarity of macro actions, whoever does them: by what they bring about and by words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from hvr.knowledge.retrieval.words import singular
from hvr.pddl import is_variable
from hvr.planning.library.entry import Entry
from hvr.planning.library.literals import Literal

_Shape = tuple[str, tuple[str, ...]]
_POSITIVE = 0.75
"""Weight of what is made true in the similarity of effects; the rest is for what is made false."""

_EFFECTS = 0.5
"""Weight of effects in the similarity of macro actions; the rest is for words."""

_SMALL = frozenset(["the", "a", "an", "of", "with", "and", "then", "to", "from"])


@dataclass(frozen=True)
class Signature:
    """The features of a macro action by which it is compared with others.

    Args:
        typed: predicates of the postcondition with the types of their arguments.
        made: predicates that it makes true, with constants.
        undone: predicates that it makes false, with constants.
        words: the words of its names, without variables.
    """

    typed: tuple[tuple[str, bool, tuple[str, ...]], ...]
    made: tuple[_Shape, ...]
    undone: tuple[_Shape, ...]
    words: frozenset[str]


def signature(entry: Entry) -> Signature:
    """Return the signature of a macro action."""
    words = {
        singular(word.lower())
        for name in entry.names
        for word in name.split()
        if not is_variable(word)
    }
    return Signature(
        tuple(
            sorted(
                (atom.predicate, wanted, tuple(entry.types.get(a, a) for a in atom.args))
                for atom, wanted in entry.effects
            )
        ),
        tuple(sorted(_shapes(entry.effects, True))),
        tuple(sorted(_shapes(entry.effects, False))),
        frozenset(words - _SMALL),
    )


def similarity(one: Signature, other: Signature) -> float:
    """Return how alike two macro actions are, from 0 to 1; 1 for the same postcondition, whatever
    the words.
    """
    if one.typed and one.typed == other.typed:
        return 1.0
    effects = _POSITIVE * _jaccard(one.made, other.made)
    effects += (1 - _POSITIVE) * _jaccard(one.undone, other.undone)
    return _EFFECTS * effects + (1 - _EFFECTS) * _jaccard(one.words, other.words)


def _shapes(literals: Iterable[Literal], wanted: bool) -> list[_Shape]:
    return [
        (atom.predicate, tuple("?" if is_variable(a) else a for a in atom.args))
        for atom, positive in literals
        if positive == wanted
    ]


def _jaccard(one: Iterable[object], other: Iterable[object]) -> float:
    """Return the Jaccard index of two multisets; 1 if both are empty."""
    a, b = Counter(one), Counter(other)
    union = (a | b).total()
    return (a & b).total() / union if union else 1.0
