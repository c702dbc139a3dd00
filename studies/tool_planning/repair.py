"""Repairs without any model: names put right, links made anew.

A method that only names existing tools and links them in a chain does both implicitly, so it
has to be compared with this as well.
"""

from __future__ import annotations

from dataclasses import replace

from hvr.retrieval.words import squeezed
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan


def renamed(plan: ToolPlan, graph: ToolGraph) -> ToolPlan:
    """Return a plan with the graph's names of tools, where only case and signs differ.

    Other unknown names stay, and so do names that two tools of the graph could mean.
    """
    known: dict[str, list[str]] = {}
    for tool in graph.tools:
        known.setdefault(squeezed(tool.id), []).append(tool.id)

    def right(name: str) -> str:
        tools = known.get(squeezed(name), [])
        return tools[0] if name not in graph and len(tools) == 1 else name

    links = tuple((right(source), right(target)) for source, target in plan.links)
    return replace(plan, tools=tuple(map(right, plan.tools)), links=links)


def relinked(plan: ToolPlan) -> ToolPlan:
    """Return a plan whose links are those between tools that follow each other."""
    return replace(plan, links=plan.chain)
