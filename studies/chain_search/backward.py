"""The paper's pruned backward search from the goal to known facts, with depth-decaying thresholds.

NaviAgent (section 3.3, eq. 22) calls it alpha-beta, although it prunes by thresholds rather than
by game-tree bounds. The paper gives neither constants nor pseudocode, so this is a bounded
best-first search of the same kind. It may miss chains that `hvr.tools.navigation.chains` finds.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hvr.tools.navigation.chains import CallFacts, NavigationTool, ToolChain
from hvr.tools.navigation.graph import UNTRIED, GraphTool, NavigationGraph

# Learnt tools -------------------------------------------------------------------------------------

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


# Search -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BackwardBounds:
    """Settings of the search, with values chosen by hvr.

    Args:
        alpha: Minimum score of a parameter to search for, unless a goal tool takes it.
        beta: Minimum score of a tool.
        decay: Factor by which both thresholds change per level of depth.
        depth: Maximum number of calls before the goal.
        tools: Maximum number of tools to keep.
        producers: Maximum number of producers per parameter, best first.
    """

    alpha: float = 0.3
    beta: float = 0.3
    decay: float = 0.8
    depth: int = 8
    tools: int = 400
    producers: int = 20


BOUNDS = BackwardBounds()


def backward_chain(
    graph: NavigationGraph, facts: CallFacts, goal: CallFacts, bounds: BackwardBounds = BOUNDS
) -> ToolChain | None:
    """Return a chain found by the pruned search; None if it finds none, even if one exists."""
    if facts.covers(goal):
        return ToolChain()
    kept = backward_tools(graph, facts, goal, bounds)
    steps = [_step(graph, name) for name in kept]
    calls = forward_chain(facts, goal, steps, kept)
    return None if calls is None else ToolChain((), calls)


def backward_tools(
    graph: NavigationGraph, facts: CallFacts, goal: CallFacts, bounds: BackwardBounds = BOUNDS
) -> dict[str, float]:
    """Return the tools of the pruned subgraph with their scores (eq. 22)."""
    kept: dict[str, float] = {}
    looked_for: set[str] = set(facts.known)
    queue: list[tuple[float, int, str, str]] = []
    for name in sorted(goal.done - facts.done):
        if graph.usable(name):
            heapq.heappush(queue, (-1.0, 0, "tool", name))
    for name in sorted(goal.known - facts.known):
        heapq.heappush(queue, (-1.0, 0, "parameter", name))
    while queue and len(kept) < bounds.tools:
        rank, depth, kind, name = heapq.heappop(queue)
        cut = bounds.decay**depth
        if kind == "tool":
            if name in kept:
                continue
            kept[name] = -rank
            for parameter in sorted(graph.tools[name].needs - looked_for):
                score = (graph.inputs.get(parameter, name) or UNTRIED).weight
                near = any(parameter in graph.tools[n].takes for n in goal.done if n in graph.tools)
                if near or score >= bounds.alpha * cut:
                    heapq.heappush(queue, (rank * score, depth, "parameter", parameter))
        elif name not in looked_for and depth < bounds.depth:
            looked_for.add(name)
            scored = sorted(
                ((tool_score(graph, tool, name, goal), tool) for tool in producers(graph, name)),
                key=lambda pair: (-pair[0], pair[1]),
            )
            for score, tool in scored[: bounds.producers]:
                if score >= bounds.beta * cut:
                    entry = (rank * min(score, 1.0), depth + 1, "tool", tool)
                    heapq.heappush(queue, entry)
    return kept


def producers(graph: NavigationGraph, parameter: str) -> Iterable[str]:
    """Return the tools, sorted, that give a parameter or one whose value was passed on to it."""
    made = set(graph.outputs.sources(parameter))
    for source in graph.passes.sources(parameter):
        evidence = graph.passes.get(source, parameter)
        if evidence is not None and evidence.successes:
            made.update(graph.outputs.sources(source))
    return sorted(name for name in made if graph.usable(name))


def tool_score(graph: NavigationGraph, tool: str, parameter: str, goal: CallFacts) -> float:
    """Return a tool's score (eq. 22): its link weight plus the weights of its links to the goal."""
    score = (graph.outputs.get(tool, parameter) or UNTRIED).weight
    targets = graph.calls.targets(tool)
    score += max((targets[name].weight for name in goal.done if name in targets), default=0.0)
    if parameter in goal.known:
        score += (graph.outputs.get(tool, parameter) or UNTRIED).weight
    # Rank a tool that fails more often than an untried one below it, and vice versa.
    return score * graph.tools[tool].evidence.weight / UNTRIED.weight


def forward_chain(
    facts: CallFacts, goal: CallFacts, tools: Iterable[NavigationTool], scores: Mapping[str, float]
) -> tuple[str, ...] | None:
    """Return a sequence of calls that reaches the goal without redundant calls; None if none.

    Each tool is called as early as possible, those with the best scores first. A backward pass then
    keeps only the calls that first give a value that the goal or another kept call needs.
    """
    waiting = sorted(tools, key=lambda tool: (-scores.get(tool.name, 0.0), tool.name))
    giver: dict[str, str] = {}
    order: list[NavigationTool] = []
    so_far = facts
    while not so_far.covers(goal):
        ready = [tool for tool in waiting if tool.needs <= so_far.known]
        if not ready:
            return None
        for tool in ready:
            for given in sorted(tool.gives - so_far.known):
                giver.setdefault(given, tool.name)
            so_far = so_far.after(tool)
        order += ready
        made = {tool.name for tool in ready}
        waiting = [tool for tool in waiting if tool.name not in made]
    # Backward pass: keep the first producers of needed parameters, transitively.
    wanted = set(goal.done - facts.done) | {giver[p] for p in goal.known - facts.known}
    for tool in reversed(order):
        if tool.name in wanted:
            wanted |= {giver[p] for p in tool.needs - facts.known}
    return tuple(tool.name for tool in order if tool.name in wanted)


def _step(graph: NavigationGraph, name: str) -> NavigationTool:
    tool = graph.tools[name]
    return NavigationTool(name, tool.needs, tool.gives | passed_on(graph, tool))
