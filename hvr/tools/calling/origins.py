"""Which call gave a value: what the log, and the graph that learns from it, has of arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from hvr.tools.calling.values import CallOutcome, Json

MOST = 100_000
"""Values of one result that are looked at."""


class ValueSource(StrEnum):
    """Who gave a value."""

    REQUEST = "request"
    RESULT = "result"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ValueOrigin:
    """Where a value comes from.

    Args:
        source: who gave it.
        call: of a result: the number of the call, from 0.
        path: of a result: where in it the value stands; a key of an object is a text, a place in
            a list a number. Keys of results are data, so they are never joined to one text.
    """

    source: ValueSource
    call: int | None = None
    path: tuple[str | int, ...] = ()


def trace(
    arguments: Mapping[str, Json],
    outcomes: Sequence[CallOutcome],
    request: Sequence[Json] = (),
) -> dict[str, ValueOrigin]:
    """Return where each argument comes from.

    What the request says goes before results, and later results before earlier ones; equal values
    of different types are different values.

    Args:
        arguments: of a call, by parameter.
        outcomes: of the calls before it, in order.
        request: values that the request gives.
    """
    return {name: _origin(value, outcomes, request) for name, value in arguments.items()}


def _origin(value: Json, outcomes: Sequence[CallOutcome], request: Sequence[Json]) -> ValueOrigin:
    if any(same(value, given) for given in request):
        return ValueOrigin(ValueSource.REQUEST)
    for number in range(len(outcomes) - 1, -1, -1):
        if outcomes[number].ok:
            for path, found in places(outcomes[number].result):
                if same(value, found):
                    return ValueOrigin(ValueSource.RESULT, number, path)
    return ValueOrigin(ValueSource.UNKNOWN)


def same(one: Json, other: Json) -> bool:
    """Say whether two values are equal and of one type; `true` is not 1, and 1.0 is 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def places(result: Json, most: int = MOST) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Return the values in a result with their paths, from the outside in, without recursion.

    Args:
        result: of a call; nobody knows how large.
        most: values that are looked at; of a larger result the first ones.
    """
    todo: list[tuple[tuple[str | int, ...], Json]] = [((), result)]
    for path, value in todo:
        yield path, value
        left = most - len(todo)
        if isinstance(value, dict):
            todo += [((*path, key), inner) for key, inner in islice(value.items(), left)]
        elif isinstance(value, list):
            todo += [((*path, index), inner) for index, inner in enumerate(islice(value, left))]
