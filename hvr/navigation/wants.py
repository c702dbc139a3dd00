"""What a request wants: calls that shall have been made, with values that it gives or describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hvr.calling.values import Json


@dataclass(frozen=True)
class NamedValue:
    """A value under a name: something that the request says, or that an entity has.

    Args:
        name: as a schema or a result names it.
        value: what it is.
    """

    name: str
    value: Json


@dataclass(frozen=True)
class Sought:
    """A value that only look-ups yield: that of the one entity which has these features."""

    features: tuple[NamedValue, ...] = ()


Argument: TypeAlias = "Json | Sought | list[Argument] | dict[str, Argument]"
"""An argument of a wanted call: a value, one that is sought, or a list or object of such."""


@dataclass(frozen=True)
class Want:
    """A call that shall have been made, or a value that shall be known.

    Args:
        tool: its name; empty where the values of the arguments are only to be known.
        arguments: by parameter; those that are sought have to be found first.
    """

    tool: str
    arguments: Mapping[str, Argument]


@dataclass(frozen=True)
class Errand:
    """A request as what it wants and what it says.

    Args:
        wants: in the order in which the request names them.
        facts: values that it gives beside them, such as a name or an address to look up by.
        ordered: whether that order matters: a wanted call waits for those before it, as long as
            these may still be made.
    """

    wants: tuple[Want, ...]
    facts: tuple[NamedValue, ...] = ()
    ordered: bool = True


Place: TypeAlias = "tuple[str | int, ...]"


def leaves(arguments: Mapping[str, Argument]) -> Iterator[tuple[Place, str, Argument]]:
    """Return each value in arguments that has no parts, with its place and the name it goes by."""
    todo: list[tuple[Place, str, Argument]] = [((k,), k, v) for k, v in arguments.items()]
    while todo:
        place, name, value = todo.pop(0)
        if isinstance(value, Mapping):
            todo[:0] = [((*place, key), key, inner) for key, inner in value.items()]
        elif isinstance(value, list):
            todo[:0] = [((*place, index), name, inner) for index, inner in enumerate(value)]
        else:
            yield place, name, value


def given_leaves(arguments: Mapping[str, Argument]) -> Iterator[tuple[Place, str, Json]]:
    """Return each value in arguments that has no parts and is not sought; see `leaves`."""
    for place, name, value in leaves(arguments):
        if not isinstance(value, (Sought, dict, list)):
            yield place, name, value


def scalars_in(arguments: Mapping[str, Argument]) -> Iterator[Json]:
    """Return the given texts, numbers and truth values in arguments."""
    return (value for _, _, value in given_leaves(arguments) if value is not None)


def peers_of(place: Place, values: Mapping[Place, Json]) -> list[Json]:
    """Return the values before a place that belong to it: in its object, or its row of lists.

    Args:
        place: in the arguments of a call.
        values: at other places, in the order of the call.
    """
    row = row_of(place)
    return [
        value
        for other, value in values.items()
        if row is not None and len(other) == len(place) and row_of(other) == row
    ]


def row_of(place: Place) -> int | None:
    """Return the row of the innermost list in which a place is; None if it is in none."""
    return next((step for step in reversed(place) if isinstance(step, int)), None)


def at(arguments: Mapping[str, Json], place: Place) -> Json:
    """Return the value at a place of given arguments."""
    value: Any = arguments
    for step in place:
        value = value[step]
    found: Json = value
    return found


def filled(arguments: Mapping[str, Argument], found: Mapping[Place, Json]) -> dict[str, Argument]:
    """Return arguments with the values that were found at their places."""
    return {name: _filled(value, found, (name,)) for name, value in arguments.items()}


def _filled(value: Argument, found: Mapping[Place, Json], place: Place) -> Argument:
    if isinstance(value, Sought):
        return found.get(place, value)
    if isinstance(value, dict):
        return {name: _filled(inner, found, (*place, name)) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, found, (*place, index)) for index, inner in enumerate(value)]
    return value
