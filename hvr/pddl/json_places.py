"""JSON values that know where they stand in their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from json import JSONDecoder
from sys import intern
from typing import Any

from hvr.pddl.lexer import SourceText
from hvr.pddl.location import Location

_DEEPEST = 12
"""How many levels of lists and objects know their places; what is deeper is not taken apart."""
_GAP = re.compile(r"[\s,:]*")
_DECODER = JSONDecoder()


class PlacedObject(dict[str, Any]):
    """An object of a JSON text; `location` is that of its brace."""

    __slots__ = ("location",)

    location: Location


class PlacedText(str):
    """A string of a JSON text; `location` is that of its quotation mark."""

    __slots__ = ("location",)

    location: Location


def with_places(source: SourceText, holders: frozenset[str]) -> Any:
    """Return the value of a JSON text, with `PlacedObject` and `PlacedText` for dict and str.

    Args:
        source: a text that is known to be JSON, in which no object has a name twice.
        holders: the names of those members of objects in which places are wanted.

    Raises:
        RecursionError: it is nested too deeply.
    """
    return _read(source, _skip(source.text, 0), holders, _DEEPEST)


def _read(source: SourceText, offset: int, holders: frozenset[str], levels: int) -> Any:
    text = source.text
    if text[offset] == "[" and levels:
        return [_read(source, place, holders, levels - 1) for place in _items(text, offset)]
    if text[offset] == "{":
        value, _ = _DECODER.raw_decode(text, offset)
        # The same few names in every step, each a string of its own until here.
        members = PlacedObject(zip(map(intern, value), value.values(), strict=True))
        if levels and not holders.isdisjoint(value):
            # Names and values take turns.
            for name, place in zip(value, islice(_items(text, offset), 1, None, 2), strict=True):
                if name in holders:
                    members[name] = _read(source, place, holders, levels - 1)
        members.location = source.location(offset)
        return members
    value, _ = _DECODER.raw_decode(text, offset)
    if not isinstance(value, str):
        return value
    placed = PlacedText(value)
    placed.location = source.location(offset)
    return placed


def places_of_items(text: str) -> Iterator[int]:
    """Yield where the items of the list begin that a JSON text is."""
    return _items(text, _skip(text, 0))


def _items(text: str, offset: int) -> Iterator[int]:
    """Yield where the items of a list begin, or the names and values of an object."""
    place = _skip(text, offset + 1)
    while text[place] not in "]}":
        yield place
        place = _skip(text, _DECODER.raw_decode(text, place)[1])


def _skip(text: str, place: int) -> int:
    gap = _GAP.match(text, place)
    assert gap is not None
    return gap.end()
