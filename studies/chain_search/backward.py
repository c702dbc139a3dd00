"""The paper's pruned backward search: from the goal to what is known, thresholds decay with depth.

NaviAgent, section 3.3 and eq. 22, calls it alpha-beta; it prunes by thresholds and is no search of
games. Its constants and its pseudocode are not in the text, so this is a bounded best-first search
of the same kind. It may miss chains that there are: `hvr.tools.navigation.chains` does not.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hvr.tools.navigation.chains import CallFacts, NavigationTool, ToolChain
from hvr.tools.navigation.experience import passed_on
from hvr.tools.navigation.graph import UNTRIED, NavigationGraph


@dataclass(frozen=True)
class BackwardBounds:
    """The settings of the search; all values are hvr's.

    Args:
        alpha: a parameter that scores less is not looked for, unless the goal's tools take it.
        beta: a tool that scores less is left out.
        decay: by how much both sink from one depth to the next.
        depth: of calls before the goal, at most.
        tools: that are kept, at most.
        producers: of one parameter that are looked at, at most: the best.
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
    """Return a chain that the pruned search finds; None if it finds none, though there may be one.

    Args:
        graph: of the tools.
        facts: what is so now.
        goal: what is to be so.
        bounds: of the search.
    """
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
    """Return the tools that give a parameter, or one whose value was passed on to it; sorted."""
    made = set(graph.outputs.sources(parameter))
    for source in graph.passes.sources(parameter):
        evidence = graph.passes.get(source, parameter)
        if evidence is not None and evidence.successes:
            made.update(graph.outputs.sources(source))
    return sorted(name for name in made if graph.usable(name))


def tool_score(graph: NavigationGraph, tool: str, parameter: str, goal: CallFacts) -> float:
    """Return eq. 22: the weight of the link, and of those to the goal's tools and parameters."""
    score = (graph.outputs.get(tool, parameter) or UNTRIED).weight
    targets = graph.calls.targets(tool)
    score += max((targets[name].weight for name in goal.done if name in targets), default=0.0)
    if parameter in goal.known:
        score += (graph.outputs.get(tool, parameter) or UNTRIED).weight
    # A tool that fails more often than one that nobody tried is worth less, and the other way.
    return score * graph.tools[tool].evidence.weight / UNTRIED.weight


def forward_chain(
    facts: CallFacts,
    goal: CallFacts,
    tools: Iterable[NavigationTool],
    scores: Mapping[str, float],
) -> tuple[str, ...] | None:
    """Return calls of some tools that reach a goal, without what no other call needs.

    Tools come as soon as they can, of those at once the best score first. Then those are kept
    from which the goal, or a call that is kept, has something first.
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
    wanted = set(goal.done - facts.done) | {giver[p] for p in goal.known - facts.known}
    for tool in reversed(order):
        if tool.name in wanted:
            wanted |= {giver[p] for p in tool.needs - facts.known}
    return tuple(tool.name for tool in order if tool.name in wanted)


def _step(graph: NavigationGraph, name: str) -> NavigationTool:
    tool = graph.tools[name]
    return NavigationTool(name, tool.needs, tool.gives | passed_on(graph, tool))
