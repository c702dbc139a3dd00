"""Planning steps of tools, learnt from observed calls."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.tools.navigation.chains import NavigationTool
from hvr.tools.navigation.graph import GraphTool, NavigationGraph

MIN_PASSES = 1
"""Number of times a value must be passed on before two parameters count as equivalent."""


def learnt_tools(graph: NavigationGraph, least: int = MIN_PASSES) -> Iterator[NavigationTool]:
    for tool in graph.usable_tools():
        yield NavigationTool(tool.name, tool.needs, tool.gives | passed_on(graph, tool, least))


def passed_on(graph: NavigationGraph, tool: GraphTool, least: int = MIN_PASSES) -> frozenset[str]:
    """Return the meanings to which values from a tool's results were passed on."""
    return frozenset(
        target
        for given in tool.gives
        for target, evidence in graph.passes.targets(given).items()
        if evidence.successes >= least
    )
