"""Transition statistics of tools in plans, the sequence model of `viterbi`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import Link, ToolPlan
from hvr.values import cached_property

LINK_PSEUDO_COUNT = 0.5
"""Added to the count of each link of the graph, and of each tool as the first one."""
ANY_PSEUDO_COUNT = 0.01
"""Added to the count of every pair, so that unseen pairs without a link stay possible."""
STAY_PSEUDO_COUNT = 0.02
"""Added to the count of steps that continue the previous call."""


@dataclass(frozen=True)
class Transitions:
    """Transition counts of plans, and the smoothed probabilities estimated from them.

    p(v | u) is proportional to count(u, v) + 0.5 [u -> v is a link] + 0.01: without counts the
    links alone decide, and an unseen pair without a link stays possible.

    Args:
        graph: the tools and links.
        links: number of times that a tool came directly after another.
        starts: number of plans that begin with a tool.
        steps: number of steps of the plans.
        stays: number of these that continue the previous call.
    """

    graph: ToolGraph
    links: Mapping[Link, int] = field(default_factory=dict)
    starts: Mapping[str, int] = field(default_factory=dict)
    steps: int = 0
    stays: int = 0

    @cached_property
    def follow(self) -> NDArray[np.float64]:
        """log p(column's tool | row's tool) (tools, tools)."""
        size = len(self.graph)
        counts = np.full((size, size), ANY_PSEUDO_COUNT)
        for source, target in self.graph.links:
            counts[self.graph.index(source), self.graph.index(target)] += LINK_PSEUDO_COUNT
        for (source, target), count in self.links.items():
            if source in self.graph and target in self.graph:
                counts[self.graph.index(source), self.graph.index(target)] += count
        return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)))

    @cached_property
    def start(self) -> NDArray[np.float64]:
        """log p(a plan begins with the tool) (tools,)."""
        counts = np.full(len(self.graph), LINK_PSEUDO_COUNT)
        for tool, count in self.starts.items():
            if tool in self.graph:
                counts[self.graph.index(tool)] += count
        return np.asarray(np.log(counts / counts.sum()))

    @property
    def stay(self) -> float:
        """log p(a step continues the previous call)."""
        return math.log((self.stays + STAY_PSEUDO_COUNT) / (self.steps + 1))


def count_transitions(graph: ToolGraph, plans: Iterable[ToolPlan]) -> Transitions:
    """Count the transitions between tools in plans.

    Args:
        graph: the tools and links; other tools in plans are not counted.
        plans: true plans, such as those of the training split.
    """
    links: Counter[Link] = Counter()
    starts: Counter[str] = Counter()
    steps = stays = 0
    for plan in plans:
        links.update(plan.chain)
        starts.update(plan.tools[:1])
        steps += len(plan.steps)
        stays += max(0, len(plan.steps) - len(plan.tools))
    return Transitions(graph, dict(links), dict(starts), steps, stays)
