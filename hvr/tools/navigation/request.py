"""Requests to a tool world: the calls to make and the values to find.

A goal call contains the arguments that the user stated, and a query for each other argument. A
query describes the only entity that satisfies its constraints. Values that are neither stated nor
identified become questions to the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from hvr.tools.calling.calls import Json
from hvr.tools.catalogue.schema import ToolParameter


@dataclass(frozen=True)
class NamedValue:
    """A value with its name, stated by the user or found as a property of an entity.

    The name comes from a schema or a result; it is empty if the user does not name the value.
    """

    name: str
    value: Json


class Order(Enum):
    LEAST = "least"
    """The one with the smallest value of a property, as in "the cheapest"."""
    MOST = "most"
    """The one with the largest value of a property, as in "the latest"."""
    LISTED = "listed"
    """The one at a position in the list that a tool returns, as in "the first"."""


@dataclass(frozen=True)
class Selection:
    """The selection of one of the entities that satisfy the constraints.

    Args:
        by: Property that determines the order; empty for the order of the list.
        position: 1-based position in that order; -1 for the last.
    """

    order: Order
    by: str = ""
    position: int = 1


@dataclass(frozen=True)
class EntityQuery:
    """An argument to be looked up: the only entity that satisfies the constraints.

    Args:
        constraints: Required properties of the entity or of an entity linked to it.
        selection: Selection among several matching entities; None if exactly one must match.
        every: Whether to make the call once for each matching entity.
    """

    constraints: tuple[NamedValue, ...] = ()
    selection: Selection | None = None
    every: bool = False


Argument: TypeAlias = "Json | EntityQuery | list[Argument] | dict[str, Argument]"
"""An argument of a goal call: a value, a query, or a list or object that contains them."""


@dataclass(frozen=True)
class GoalCall:
    """A call to make, or values to find.

    Args:
        tool: Name of the tool; empty if the user only wants to know the values.
        arguments: Arguments by parameter name or, if there is no tool, by the name of the value to
            find.
    """

    tool: str
    arguments: Mapping[str, Argument]


@dataclass(frozen=True)
class ToolRequest:
    """A request: goal calls, and further facts that the user states.

    Args:
        said: Stated facts that are not arguments, such as a name or an address. Each constrains the
            entities that queries find, and a writing call must use them all.
        ordered: Whether each goal call waits for the earlier ones as long as they are still
            possible.
        text: Request in words; empty if it was given as calls.
    """

    goals: tuple[GoalCall, ...]
    said: tuple[NamedValue, ...] = ()
    ordered: bool = True
    text: str = ""


Place: TypeAlias = "tuple[str | int, ...]"


def open_argument(parameter: ToolParameter, query: EntityQuery | None = None) -> Argument:
    """Return the argument for a missing value: a query, in a list if the parameter is a list."""
    argument: Argument = query or EntityQuery()
    return [argument] if parameter.is_list else argument


def leaves(arguments: Mapping[str, Argument]) -> Iterator[tuple[Place, str, Argument]]:
    """Yield (place, nearest enclosing key, value) for each scalar or query in arguments."""
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
    for place, name, value in leaves(arguments):
        if not isinstance(value, (EntityQuery, dict, list)):
            yield place, name, value


def scalars_in(arguments: Mapping[str, Argument]) -> Iterator[Json]:
    return (value for _, _, value in given_leaves(arguments) if value is not None)


def peers_of(place: Place, values: Mapping[Place, Json]) -> list[Json]:
    """Return the values in the same list item as a place.

    If there is no list on the path, there are none. Items with the same index in parallel lists
    count as the same item.
    """
    row = row_of(place)
    return [
        value
        for other, value in values.items()
        if row is not None and len(other) == len(place) and row_of(other) == row
    ]


def row_of(place: Place) -> int | None:
    """Return the index in the innermost list on the path to a place; None if it is in no list."""
    return next((step for step in reversed(place) if isinstance(step, int)), None)


def at(arguments: Mapping[str, Json], place: Place) -> Json:
    value: Any = arguments
    for step in place:
        value = value[step]
    found: Json = value
    return found


def filled(arguments: Mapping[str, Argument], found: Mapping[Place, Json]) -> dict[str, Argument]:
    return {name: _filled(value, found, (name,)) for name, value in arguments.items()}


def _filled(value: Argument, found: Mapping[Place, Json], place: Place) -> Argument:
    if isinstance(value, EntityQuery):
        return found.get(place, value)
    if isinstance(value, dict):
        return {name: _filled(inner, found, (*place, name)) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, found, (*place, index)) for index, inner in enumerate(value)]
    return value
