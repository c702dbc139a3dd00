"""Which things the name of a class stands for: exactly, or as people take names."""

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
def covers(wanted: str, found: str) -> bool:
    """Return a thing of one class may be meant by the name of another.

    A slice of tomato is meant by "tomato" too, and "slice of tomato" asks for the tomato.

    Args:
        wanted: class of the words.
        found: class of a thing.
    """
    ontology = load_ontology()
    if wanted == found or (ontology.has_class(found) and ontology.is_a(found, wanted)):
        return True
    if is_piece(wanted) and whole(wanted) == found:
        return True
    return is_piece(found) and covers(wanted, whole(found))


@lru_cache(maxsize=65536)
def likeness(wanted: str, found: str) -> Likeness:
    """Return how well the name of a class fits a thing of another.

    Args:
        wanted: class of the words.
        found: class of a thing.
    """
    if covers(wanted, found):
        return Likeness.EXACT
    pair = frozenset((whole(wanted), whole(found)))
    return Likeness.LIKE if pair in load_wording().confused else Likeness.NONE


@lru_cache(maxsize=65536)
def best(wanted: frozenset[str], found: str) -> Likeness:
    """Return how well any of several names fits a thing."""
    return max((likeness(w, found) for w in wanted), default=Likeness.NONE)


def is_piece(name: str) -> bool:
    """It is a class of pieces, such as slices of tomato."""
    return name.endswith(("Sliced", "Cracked"))


def whole(name: str) -> str:
    """Return the class that pieces of a class are of; itself for what is no piece."""
    return name.removesuffix("Sliced").removesuffix("Cracked")
