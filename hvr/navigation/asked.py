"""What is asked of a world of tools, by meaning, and the errand that it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hvr.calling.values import Json
from hvr.navigation.request import Argument, EntityQuery, GoalCall, NamedValue, ToolRequest
from hvr.navigation.suiting import Suiting
from hvr.tools.catalogue.schema import Catalogue


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
    wants = []
    for name in asked.done:
        arguments: dict[str, Argument] = {}
        for parameter in schemas[name].takes:
            meaning = suits.meaning(name, parameter.name)
            called = parameter.name if meaning is None else meaning.name
            if called in asked.values:
                arguments[parameter.name] = asked.values[called]
            elif parameter.required:
                query: Argument = EntityQuery()
                several = "array" in parameter.type.split("|")
                arguments[parameter.name] = [query] if several else query
        wants.append(GoalCall(name, arguments))
    wants += [
        GoalCall("", {name: asked.values.get(name, EntityQuery())}) for name in asked.known
    ]  # fmt: skip
    facts = tuple(NamedValue(name, value) for name, value in asked.values.items())
    return ToolRequest(tuple(wants), facts, ordered=False)
