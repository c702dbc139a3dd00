"""What is asked of a world of tools, by meaning, and the errand that it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hvr.tools.calling.values import Json
from hvr.tools.catalogue.schema import Catalogue, ToolSchema
from hvr.tools.navigation.request import (
    Argument,
    EntityQuery,
    GoalCall,
    NamedValue,
    ToolRequest,
    given_leaves,
)
from hvr.tools.navigation.suiting import Suiting


@dataclass(frozen=True)
class ToolErrand:
    """What is wanted of a world of tools.

    Args:
        done: tools that are to have been called, in this order where nothing speaks for another.
        known: meanings of which a value is to be known in the end.
        values: what the request says, by meaning.
        request: in words, for people.
    """

    done: tuple[str, ...]
    known: tuple[str, ...]
    values: Mapping[str, Json]
    request: str = ""


def errand_of(asked: ToolErrand, catalogue: Catalogue, suits: Suiting) -> ToolRequest:
    """Return the errand of what is asked.

    What a wanted tool takes and the request says is given; what else it needs is sought.

    Args:
        asked: it.
        catalogue: has the tools that are to have been called.
        suits: knows the meanings of parameters.
    """
    schemas = {tool.name: tool for tool in catalogue.tools}
    wants = [goal_call(schemas[name], asked.values, suits) for name in asked.done]
    wants += [
        GoalCall("", {name: asked.values.get(name, EntityQuery())}) for name in asked.known
    ]  # fmt: skip
    facts = tuple(NamedValue(name, value) for name, value in asked.values.items())
    return ToolRequest(tuple(wants), facts, ordered=False, text=asked.request)


def goal_call(tool: ToolSchema, values: Mapping[str, Json], suits: Suiting) -> GoalCall:
    """Return the goal call of a tool, with a query for each required value that no one has said.

    Args:
        tool: The tool.
        values: The values that the request says, by meaning.
        suits: Knows the meanings of parameters.
    """
    arguments: dict[str, Argument] = {}
    for parameter in tool.takes:
        called = _called(tool.name, parameter.name, suits)
        if called in values:
            arguments[parameter.name] = values[called]
        elif parameter.required:
            query: Argument = EntityQuery()
            several = "array" in parameter.type.split("|")
            arguments[parameter.name] = [query] if several else query
    return GoalCall(tool.name, arguments)


def answered(request: ToolRequest, values: Mapping[str, Json], suits: Suiting) -> ToolRequest:
    """Return a request with the user's answers to its open questions.

    Args:
        request: The request.
        values: The answers, by meaning.
        suits: Knows the meanings of parameters.
    """
    goals = []
    for goal in request.goals:
        given = {
            name: values[called] for name in goal.arguments
            if (called := _called(goal.tool, name, suits)) in values
        }  # fmt: skip
        goals.append(replace(goal, arguments={**goal.arguments, **given}))
    kept = [one for one in request.said if one.name not in values]
    said = (*kept, *(NamedValue(name, value) for name, value in values.items()))
    return replace(request, goals=tuple(goals), said=said)


def values_of(request: ToolRequest, suits: Suiting) -> dict[str, Json]:
    """Return the values that a request says, by meaning."""
    found = {one.name: one.value for one in request.said if one.name}
    for goal in request.goals:
        for place, name, value in given_leaves(goal.arguments):
            if len(place) == 1:
                found.setdefault(_called(goal.tool, name, suits), value)
    return dict(sorted(found.items()))


def _called(tool: str, parameter: str, suits: Suiting) -> str:
    meaning = suits.meaning(tool, parameter)
    return parameter if meaning is None else meaning.name
