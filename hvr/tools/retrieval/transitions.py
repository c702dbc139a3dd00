"""Which tool follows which, counted in plans: what `viterbi` knows of sequences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import Link, ToolPlan

_LINK = 0.5
_ANY = 0.01
_SPARE = 0.02


@dataclass(frozen=True)
class Transitions:
    """Counts of plans, over the tools of a graph.

    With log f(u, v) as logarithm of a smoothed share: p(v | u) is proportional to count(u, v) +
    0.5 where the graph links u to v + 0.01 for any tool. So without counts the links alone
    decide, and an unlinked pair that never occurred stays possible.

    Args:
        graph: the tools and links.
        links: how often a tool came straight after another.
        starts: how often a plan began with a tool.
        steps: how many steps the plans have.
        stays: how many of these called no tool anew.
    """

    graph: ToolGraph
    links: Mapping[Link, int] = field(default_factory=dict)
    starts: Mapping[str, int] = field(default_factory=dict)
    steps: int = 0
    stays: int = 0

    @cached_property
    def follow(self) -> NDArray[np.float64]:
        """(tools, tools): log p(column's tool | row's tool)."""
        size = len(self.graph)
        counts = np.full((size, size), _ANY)
        for source, target in self.graph.links:
            counts[self.graph.index(source), self.graph.index(target)] += _LINK
        for (source, target), count in self.links.items():
            if source in self.graph and target in self.graph:
                counts[self.graph.index(source), self.graph.index(target)] += count
        return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)))

    @cached_property
    def start(self) -> NDArray[np.float64]:
        """(tools,): log of the share of plans that begin with a tool."""
        counts = np.full(len(self.graph), _LINK)
        for tool, count in self.starts.items():
            if tool in self.graph:
                counts[self.graph.index(tool)] += count
        return np.asarray(np.log(counts / counts.sum()))

    @property
    def stay(self) -> float:
        """Log of the share of steps that go on with the tool of the step before."""
        return math.log((self.stays + _SPARE) / (self.steps + 1))


def count_transitions(graph: ToolGraph, plans: Iterable[ToolPlan]) -> Transitions:
    """Count what follows what in plans.

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
