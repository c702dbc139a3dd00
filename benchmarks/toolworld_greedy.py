"""A baseline without planning, which takes the first value of each name."""

from __future__ import annotations

from collections.abc import Iterator

from toolworld_findings import entities, trait

from hvr.tools.calling.calls import CallOutcome, Json, ToolCall, ToolEnvironment
from hvr.tools.catalogue.schema import Effect
from hvr.tools.navigation.known_values import compatibility
from hvr.tools.navigation.request import EntityQuery, Place, ToolRequest, filled, leaves

LIKE = 0.8
"""Minimum similarity of a name to a parameter."""


def greedy(tools: ToolEnvironment, request: ToolRequest) -> tuple[list[CallOutcome], str]:
    """Call each callable query tool once, then make the goal calls with the first values.

    A value with the properties that a query describes is preferred to others of the same name.

    Returns:
        The outcomes, and the parameter asked for, if any.
    """
    outcomes: list[CallOutcome] = []

    def values(name: str, wanted: EntityQuery) -> Iterator[Json]:
        features = {trait(one) for one in wanted.constraints}
        said = [
            fact.value for fact in request.said if compatibility(name, (fact.name,), "") >= LIKE
        ]
        found = [(value, traits) for o in outcomes for path, value, traits in entities(o.result)
                 if o.ok and compatibility(name, path, o.call.tool) >= LIKE]  # fmt: skip
        yield from [value for value, traits in found if features and features <= traits]
        yield from [*said, *(value for value, _ in found)]

    readers = [tool for tool in tools.catalogue.tools if tool.effect is Effect.READS]
    while readers:
        for tool in readers:
            needed = [p.name for p in tool.takes if p.required]
            first = [next(values(name, EntityQuery()), None) for name in needed]
            if None not in first:
                outcomes.append(
                    tools.call(ToolCall(tool.name, dict(zip(needed, first, strict=True))))
                )
                readers.remove(tool)
                break
        else:
            break
    for goal in request.goals:
        taken: dict[Place, Json] = {}
        for place, name, value in leaves(goal.arguments):
            if isinstance(value, EntityQuery):
                new = (one for one in values(name, value) if one not in taken.values())
                if (first_one := next(new, None)) is None:
                    return outcomes, name
                taken[place] = first_one
        outcomes.append(tools.call(ToolCall(goal.tool, filled(goal.arguments, taken))))
    return outcomes, ""
