"""What a request to a world of tools asks for: calls to be made and values to be found out.

A goal call gives the arguments that the user said and describes the others: each is the id, or
another value, of the one entity that meets some constraints. A value is said, or identified by
looking it up; what is neither is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from hvr.tools.calling.calls import Json


@dataclass(frozen=True)
class NamedValue:
    """A value under a name: something that the user says, or that an entity has.

    Args:
        name: As a schema or a result names it; empty if the user does not say what it is.
        value: The value.
    """

    name: str
    value: Json


class Order(Enum):
    """Which of several entities is meant."""

    LEAST = "least"
    """The one with the least value of a property, as in "the cheapest"."""
    MOST = "most"
    """The one with the largest value of a property, as in "the latest"."""
    LISTED = "listed"
    """The one at a position in the list that a tool returns, as in "the first"."""


@dataclass(frozen=True)
class Selection:
    """Which of several entities that meet the constraints is meant.

    Args:
        order: How they are ordered.
        by: The property that orders them; empty where they are ordered as listed.
        position: Which one in that order, from 1; -1 is the last.
    """

    order: Order
    by: str = ""
    position: int = 1


@dataclass(frozen=True)
class EntityQuery:
    """A value that queries find: that of the one entity that meets these constraints.

    Args:
        constraints: Properties of the entity itself, or of one that it is linked to.
        selection: Which of several entities is meant; None if there is to be only one.
        every: Whether all entities that meet the constraints are meant, a call for each.
    """

    constraints: tuple[NamedValue, ...] = ()
    selection: Selection | None = None
    every: bool = False


Argument: TypeAlias = "Json | EntityQuery | list[Argument] | dict[str, Argument]"
"""An argument of a goal call: a value, a query for one, or a list or object of such."""


@dataclass(frozen=True)
class GoalCall:
    """A call that is to be made, or values that are to be found out.

    Args:
        tool: Its name; empty where the values of the arguments are only to be found out.
        arguments: By parameter, or, without a tool, by the name of what is to be known.
    """

    tool: str
    arguments: Mapping[str, Argument]


@dataclass(frozen=True)
class ToolRequest:
    """A request: what is to be done and found out, and what the user says beside it.

    Args:
        goals: Goal calls in the order in which the request names them.
        said: What the user says beside their arguments, such as a name or an address. Every
            fact constrains the entities that are looked up, and none may be left unused when
            something is written.
        ordered: Whether the order matters: a goal call waits for those before it, as long as
            these may still be made.
        text: The request in words; empty if it was not given in words.
    """

    goals: tuple[GoalCall, ...]
    said: tuple[NamedValue, ...] = ()
    ordered: bool = True
    text: str = ""


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
        if not isinstance(value, (EntityQuery, dict, list)):
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
    if isinstance(value, EntityQuery):
        return found.get(place, value)
    if isinstance(value, dict):
        return {name: _filled(inner, found, (*place, name)) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, found, (*place, index)) for index, inner in enumerate(value)]
    return value
