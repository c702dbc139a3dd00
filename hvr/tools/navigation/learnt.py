"""What chains are planned with once calls have been seen: tools, and how likely each goes well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hvr.tools.navigation.chains import CallCounts, NavigationTool
from hvr.tools.navigation.graph import GraphTool, NavigationGraph

LEAST_PASSES = 1
"""How often a value has to have been passed on for the one parameter to stand for the other."""


def learnt_tools(graph: NavigationGraph, least: int = LEAST_PASSES) -> Iterator[NavigationTool]:
    """Give the tools that may be called, with what calls have shown that they give.

    What a tool gives is known under every meaning to which its value was passed on successfully.

    Args:
        graph: of the tools.
        least: how often, at least.
    """
    for tool in graph.usable_tools():
        yield NavigationTool(tool.name, tool.needs, tool.gives | passed_on(graph, tool, least))


def passed_on(graph: NavigationGraph, tool: GraphTool, least: int = LEAST_PASSES) -> frozenset[str]:
    """Return the meanings to which what a tool gives was passed on."""
    return frozenset(
        target
        for given in tool.gives
        for target, evidence in graph.passes.targets(given).items()
        if evidence.successes >= least
    )


def learnt_counts(
    graph: NavigationGraph,
    before: str = "",
    names: Iterable[str] | None = None,
) -> dict[str, CallCounts]:
    """Return the chances of tools, from which chains have their costs.

    The cost of a call is -100 ln(p_link p_success): p_success is the tool's own share of
    successes, p_link what calls say of its coming after another: `before` if one is named, else
    the best of all that have come before it. It is 1 where none was seen.

    Args:
        graph: of the tools.
        before: the tool that was called last.
        names: tools; all that may be called if None.
    """
    if names is None:
        names = (tool.name for tool in graph.usable_tools())
    return {name: _counts(graph, name, before) for name in names}


def _counts(graph: NavigationGraph, name: str, before: str) -> CallCounts:
    tool = graph.tools.get(name) or GraphTool(name)
    sources = (before,) if before else graph.calls.sources(name)
    seen = [evidence.weight for source in sources
            if (evidence := graph.calls.get(source, name)) is not None]  # fmt: skip
    return CallCounts(tool.evidence.successes, tool.evidence.failures, max(seen, default=1.0))
