"""How well the name of a class fits things of another: exactly, or as people take names."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.wording import load_wording


class Likeness(IntEnum):
    """How well a name fits a thing."""

    NONE = 0
    LIKE = 1
    EXACT = 2

    @property
    def word(self) -> str:
        """The likeness as a mark says it."""
        return ("other", "like", "named")[self]


@lru_cache(maxsize=65536)
def covers(wanted: str, other: str) -> bool:
    """Say whether a thing of one class may be meant by the name of another.

    A slice of tomato is meant by "tomato" too, and "slice of tomato" asks for the tomato.

    Args:
        wanted: class of the words.
        other: class of a thing.
    """
    ontology = load_ontology()
    if wanted == other or (ontology.has_class(other) and ontology.is_a(other, wanted)):
        return True
    if is_piece(wanted) and whole(wanted) == other:
        return True
    return is_piece(other) and covers(wanted, whole(other))


@lru_cache(maxsize=65536)
def likeness(wanted: str, other: str) -> Likeness:
    """Return how well the name of a class fits a thing of another.

    Args:
        wanted: class of the words.
        other: class of a thing.
    """
    if covers(wanted, other):
        return Likeness.EXACT
    pair = frozenset((whole(wanted), whole(other)))
    return Likeness.LIKE if pair in load_wording().confused else Likeness.NONE


@lru_cache(maxsize=65536)
def best(wanted: frozenset[str], other: str) -> Likeness:
    """Return how well any of several names fits a thing."""
    return max((likeness(w, other) for w in wanted), default=Likeness.NONE)


def is_piece(name: str) -> bool:
    """Say whether a class is one of pieces, such as slices of tomato."""
    return name.endswith(("Sliced", "Cracked"))


def whole(name: str) -> str:
    """Return the class that pieces of a class are of; itself for what is no piece."""
    return name.removesuffix("Sliced").removesuffix("Cracked")
