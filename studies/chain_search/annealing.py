"""The paper's heuristic search, which anneals a population of subgraphs.

NaviAgent (section 3.3, eq. 23) gives neither constants nor pseudocode. This implementation follows
the paper's prose, with constants chosen by hvr. It may miss chains that exist.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from hvr.tools.navigation.chains import CallFacts, NavigationTool, ToolChain, reachable
from hvr.tools.navigation.graph import NavigationGraph
from studies.chain_search.backward import (
    BOUNDS,
    BackwardBounds,
    backward_tools,
    forward_chain,
    passed_on,
    producers,
)


@dataclass(frozen=True)
class Annealing:
    """Settings of the search, with values chosen by hvr.

    Args:
        hot: Initial temperature, which falls to nearly 0.
        closeness: c1, weight of the tools' closeness to the goal.
        parameters: c2, weight of the share of satisfied parameters.
        depth: c3, weight of mean depth and number of tools.
        weights: c4, weight of the sum of link weights.
        complexity: c5, weight of the number of internal links.
    """

    population: int = 12
    rounds: int = 40
    hot: float = 0.5
    closeness: float = 1.0
    parameters: float = 5.0
    depth: float = 0.3
    weights: float = 0.1
    complexity: float = 0.05


ANNEALING = Annealing()


@dataclass(frozen=True)
class _Space:
    steps: Mapping[str, NavigationTool]
    scores: Mapping[str, float]
    givers: Mapping[str, tuple[str, ...]]
    facts: CallFacts
    goal: CallFacts


def annealed_chain(
    graph: NavigationGraph,
    facts: CallFacts,
    goal: CallFacts,
    seed: int = 0,
    settings: Annealing = ANNEALING,
    bounds: BackwardBounds = BOUNDS,
) -> ToolChain | None:
    """Return a chain found by the heuristic search in the subgraph with `bounds`; None if none."""
    if facts.covers(goal):
        return ToolChain()
    if not all(graph.usable(name) for name in goal.done - facts.done):
        return None
    space = _space(graph, facts, goal, bounds)
    random = Random(seed)
    start = frozenset(goal.done - facts.done)
    population = [start] * settings.population
    for number in range(settings.rounds):
        heat = settings.hot * (1 - number / settings.rounds) + 1e-6
        for i, old in enumerate(population):
            new = _mutated(old, space, random)
            gain = _fitness(new, space, settings) - _fitness(old, space, settings)
            # Accept a worse subgraph with a probability that falls with the temperature.
            if gain >= 0 or random.random() < math.exp(gain / heat):
                population[i] = new
    chains = [
        calls for some in sorted(set(population), key=sorted)
        if (calls := forward_chain(facts, goal, _steps(some, space), space.scores)) is not None
    ]  # fmt: skip
    return ToolChain((), min(chains, key=len)) if chains else None


def _space(
    graph: NavigationGraph, facts: CallFacts, goal: CallFacts, bounds: BackwardBounds
) -> _Space:
    scores = backward_tools(graph, facts, goal, bounds)
    steps = {
        name: NavigationTool(name, tool.needs, tool.gives | passed_on(graph, tool))
        for name in scores for tool in [graph.tools[name]]
    }  # fmt: skip
    wanted = goal.known.union(*(step.needs for step in steps.values()))
    givers = {
        parameter: tuple(name for name in producers(graph, parameter) if name in steps)
        for parameter in sorted(wanted - facts.known)
    }
    return _Space(steps, scores, givers, facts, goal)


def _steps(some: frozenset[str], space: _Space) -> list[NavigationTool]:
    return [space.steps[name] for name in sorted(some) if name in space.steps]


def _unmet(some: frozenset[str], space: _Space) -> list[str]:
    """Return the needs of the goal and of the tools in `some` that these tools do not give."""
    steps = _steps(some, space)
    needs = space.goal.known.union(*(step.needs for step in steps))
    return sorted(needs - reachable(space.facts, steps).known)


def _mutated(some: frozenset[str], space: _Space, random: Random) -> frozenset[str]:
    """Add a giver of a missing parameter to the tools in `some`, remove one of them, or both."""
    new = [
        name for parameter in _unmet(some, space) for name in space.givers.get(parameter, ())
        if name not in some
    ]  # fmt: skip
    spare = sorted(some - space.goal.done)
    # Remove only occasionally while parameters are still missing.
    take = bool(spare) and (not new or random.random() < 0.2)
    if take:
        some = some - {random.choice(spare)}
    if new and (not take or random.random() < 0.5):
        some = some | {random.choice(new)}
    return some


def _fitness(some: frozenset[str], space: _Space, settings: Annealing) -> float:
    steps = _steps(some, space)
    if not steps:
        return 0.0
    depth = _depths(steps, space)
    needs = space.goal.known.union(*(step.needs for step in steps)) - space.facts.known
    met = 1 - len(_unmet(some, space)) / len(needs) if needs else 1.0
    links = sum(bool(a.gives & b.needs) for a in steps for b in steps if a is not b)
    mean = sum(depth.values()) / len(depth)
    return (
        settings.closeness * sum(1 / (1 + d) for d in depth.values()) / len(depth)
        + settings.parameters * met
        - settings.depth * (mean + len(steps)) / 2
        + settings.weights * sum(space.scores.get(step.name, 0.0) for step in steps)
        - settings.complexity * links
    )


def _depths(steps: list[NavigationTool], space: _Space) -> dict[str, int]:
    """Return each tool's number of calls before the goal, at most the number of tools."""
    depth = {
        step.name: 0 for step in steps
        if step.name in space.goal.done or step.gives & space.goal.known
    }  # fmt: skip
    for distance in range(1, len(steps)):
        needed = frozenset().union(*(s.needs for s in steps if s.name in depth))
        for step in steps:
            if step.name not in depth and step.gives & needed:
                depth[step.name] = distance
    return {step.name: depth.get(step.name, len(steps)) for step in steps}
