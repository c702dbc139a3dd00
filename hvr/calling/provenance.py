"""Where the values of a call come from, and which of them may be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from hvr.calling.values import Json


class Provenance(StrEnum):
    """Why a value is in a call."""

    SAID = "said"
    """The user says it in this request."""
    IDENTIFIED = "identified"
    """It is the id of the one entity that meets what the user says."""
    DEFAULT = "default"
    """It is the default of the tool's schema."""
    CONFIRMED = "confirmed"
    """The user has confirmed it."""
    FOUND = "found"
    """It stands in a result, and nothing says that it is meant."""
    UNKNOWN = "unknown"


MAY_BE_WRITTEN = frozenset(
    {Provenance.SAID, Provenance.IDENTIFIED, Provenance.DEFAULT, Provenance.CONFIRMED}
)


@dataclass(frozen=True)
class Source:
    """Where a value comes from.

    Args:
        kind: Why it is in the call.
        why: A clause for people, such as "the id of the loan with the title Dune".
    """

    kind: Provenance
    why: str = ""


Place = tuple[str | int, ...]
"""Where a value stands in arguments: keys of objects and indexes of lists."""


def unsupported(arguments: Mapping[str, Json], sources: Mapping[Place, Source]) -> tuple[str, ...]:
    """Return the places of values that may not be written, as people read them.

    Args:
        arguments: Of a call, by parameter.
        sources: Where each value comes from; of one that is not there nothing is known.
    """
    return tuple(
        ".".join(map(str, place))
        for place, value in _leaves(arguments)
        if value is not None and (place not in sources or sources[place].kind not in MAY_BE_WRITTEN)
    )


def _leaves(arguments: Mapping[str, Json]) -> Iterator[tuple[Place, Json]]:
    todo: list[tuple[Place, Json]] = [((name,), value) for name, value in arguments.items()]
    for place, value in todo:
        if isinstance(value, dict):
            todo += [((*place, name), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            todo += [((*place, index), inner) for index, inner in enumerate(value)]
        else:
            yield place, value
