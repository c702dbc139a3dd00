"""Where the values of a call come from, and which of them may be written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from hvr.base.printable import one_line, short

if TYPE_CHECKING:
    from hvr.tools.calling.values import Json, ToolCall

Place: TypeAlias = "tuple[str | int, ...]"
"""Where a value stands in arguments: keys of objects and indexes of lists, from the outside in."""

_SHOWN = 80
"""Characters of a value that a message shows."""


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
    """It merely stands in a result."""
    UNKNOWN = "unknown"

    @property
    def may_be_written(self) -> bool:
        """Whether a call that may write can have such a value."""
        return self not in (Provenance.FOUND, Provenance.UNKNOWN)


@dataclass(frozen=True)
class Source:
    """Where a value comes from.

    Args:
        kind: Why it is in the call.
        why: A clause for people, such as "the id of the loan with the title Dune".
    """

    kind: Provenance
    why: str = ""


NO_SOURCE = Source(Provenance.UNKNOWN, "no one has said it")
"""The source of a value of which nothing is known."""


@dataclass(frozen=True)
class Unsupported:
    """A value of a call that may not be written.

    Args:
        place: Where it stands in the arguments.
        value: The value.
        source: Where it comes from.
    """

    place: Place
    value: Json
    source: Source

    def __str__(self) -> str:
        shown = short(one_line(json.dumps(self.value, ensure_ascii=False)), _SHOWN)
        why = self.source.why or f"its source is: {self.source.kind}"
        return f"{place_text(self.place)} = {shown} ({short(one_line(why), 2 * _SHOWN)})"


def source_of(place: Place, sources: Mapping[Place, Source]) -> Source:
    """Return the source of the value at a place: its own, or that of what it is part of.

    Args:
        place: Where the value stands in the arguments.
        sources: The known sources, by place; the source of a list or object holds for its parts.
    """
    for length in range(len(place), 0, -1):
        if (found := sources.get(place[:length])) is not None:
            return found
    return NO_SOURCE


def unsupported(call: ToolCall, sources: Mapping[Place, Source]) -> tuple[Unsupported, ...]:
    """Return the values of a call that may not be written, in the order of its arguments.

    Args:
        call: The call. An empty list or object and null are values like any other.
        sources: See `source_of`.
    """
    found = ((place, value, source_of(place, sources)) for place, value in leaf_values(call))
    return tuple(Unsupported(*one) for one in found if not one[2].kind.may_be_written)


def leaf_values(call: ToolCall) -> Iterator[tuple[Place, Json]]:
    """Return the values without parts in a call's arguments, with their places."""
    todo: list[tuple[Place, Json]] = [((k,), v) for k, v in reversed(list(call.arguments.items()))]
    while todo:
        place, value = todo.pop()
        if isinstance(value, dict) and value:
            todo += [((*place, key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list) and value:
            parts = list(enumerate(value))
            todo += [((*place, index), inner) for index, inner in reversed(parts)]
        else:
            yield place, value


def sources_json(call: ToolCall, sources: Mapping[Place, Source]) -> list[Json]:
    """Return where each value of a call comes from, as plain JSON values.

    Keys of objects are data, so a place is a list and never joined to one text.
    """
    told: list[Json] = []
    for place, _ in leaf_values(call):
        source = source_of(place, sources)
        told.append({"place": list(place), "source": source.kind.value, "why": source.why})
    return told


def place_text(place: Place) -> str:
    """Return a place as messages show it, such as `items[0].id`."""
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in place]
    return short(one_line("".join(parts).removeprefix(".")), _SHOWN)
