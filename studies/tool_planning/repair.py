"""A control for plan correction, which only corrects tool names and chains the links.

A method that always names existing tools and links them in a chain gains from both as a side
effect, so it must also be compared with this control.
"""

from __future__ import annotations

from dataclasses import replace

from hvr.base.texts import squeezed
from hvr.tools.tool_plans import ToolGraph, ToolPlan


def renamed(plan: ToolPlan, graph: ToolGraph) -> ToolPlan:
    """Return a plan whose tool names are corrected where they differ only in case and punctuation.

    Unknown and ambiguous names remain unchanged.
    """
    known: dict[str, list[str]] = {}
    for tool in graph.tools:
        known.setdefault(squeezed(tool.id), []).append(tool.id)

    def right(name: str) -> str:
        candidates = known.get(squeezed(name), [])
        return candidates[0] if name not in graph and len(candidates) == 1 else name

    links = tuple((right(source), right(target)) for source, target in plan.links)
    return replace(plan, tools=tuple(map(right, plan.tools)), links=links)


def relinked(plan: ToolPlan) -> ToolPlan:
    return replace(plan, links=plan.chain)
