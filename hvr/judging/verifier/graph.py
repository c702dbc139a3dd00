"""A plan as a directed graph without cycles (GNNVerifier, section 3.1)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from hvr.errors import UsageError
from hvr.tools.step_text import without_number
from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan
from hvr.values import cached_property

START = -1
"""The virtual node before every first step, the source of the edges to the roots."""

Edge = tuple[int, int]
_NEAR = 8
"""Occurrences of a tool on either side of a step that a link is matched with."""


@dataclass(frozen=True)
class PlanNode:
    """A step: one call of a tool, or of an atomic action.

    Args:
        tool: id of the tool.
        text: what the step does, in words.
        inputs: types (or facts) that the step needs.
        outputs: types (or facts) that it provides.
    """

    tool: str
    text: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanGraph:
    """A plan as a directed acyclic graph of steps.

    Args:
        id: of the request.
        request: its text.
        nodes: the steps.
        edges: numbers of nodes (source, target): order and dependence.

    Raises:
        UsageError: there are no nodes, an edge names a node that does not exist, or the edges
            have a cycle.
    """

    id: str
    request: str
    nodes: tuple[PlanNode, ...]
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        if not self.nodes:
            raise UsageError(f"plan {self.id!r} is empty: a plan needs at least one step")
        object.__setattr__(self, "edges", tuple(dict.fromkeys(self.edges)))
        size = len(self.nodes)
        for edge in self.edges:
            if not all(0 <= end < size for end in edge):
                raise UsageError(f"plan {self.id!r}: edge {edge} names a step that is not there")
        _ = self.order

    @cached_property
    def _neighbours(self) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
        into: list[list[int]] = [[] for _ in self.nodes]
        out: list[list[int]] = [[] for _ in self.nodes]
        for source, target in self.edges:
            out[source].append(target)
            into[target].append(source)
        return tuple(map(tuple, into)), tuple(map(tuple, out))

    def before(self, node: int) -> tuple[int, ...]:
        """Return the predecessors of a node, without Start."""
        return self._neighbours[0][node]

    def after(self, node: int) -> tuple[int, ...]:
        """Return the successors of a node."""
        return self._neighbours[1][node]

    @property
    def roots(self) -> tuple[int, ...]:
        """The nodes without predecessors, which Start is linked to."""
        return tuple(i for i in range(len(self.nodes)) if not self.before(i))

    @property
    def all_edges(self) -> tuple[Edge, ...]:
        """The edges from Start to the roots, then the others."""
        return tuple((START, root) for root in self.roots) + self.edges

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The nodes in topological order, ties by number (Kahn's algorithm with a heap).

        Raises:
            UsageError: the edges have a cycle.
        """
        waiting = [len(self.before(i)) for i in range(len(self.nodes))]
        ready = [i for i, n in enumerate(waiting) if not n]
        order: list[int] = []
        if self.edges == tuple((i, i + 1) for i in range(len(self.nodes) - 1)):
            return tuple(range(len(self.nodes)))
        heapify(ready)
        while ready:
            node = heappop(ready)
            order.append(node)
            for after in self.after(node):
                waiting[after] -= 1
                if not waiting[after]:
                    heappush(ready, after)
        if len(order) < len(self.nodes):
            stuck = sorted({self.nodes[i].tool for i, n in enumerate(waiting) if n})
            raise UsageError(
                f"plan {self.id!r}: its links go round in a circle, through {', '.join(stuck[:5])}"
            )
        return tuple(order)

    @property
    def tools(self) -> tuple[str, ...]:
        """Ids of the tools in the order of the plan."""
        return tuple(self.nodes[i].tool for i in self.order)

    def plan(self) -> ToolPlan:
        """Return the plan as loaders give it."""
        nodes = [self.nodes[i] for i in self.order]
        place = {node: i for i, node in enumerate(self.order)}
        edges = sorted((place[a], place[b]) for a, b in self.edges)
        return ToolPlan(
            self.id,
            self.request,
            tuple(n.text for n in nodes),
            tuple(n.tool for n in nodes),
            tuple((nodes[a].tool, nodes[b].tool) for a, b in edges),
        )


def chain(nodes: int) -> tuple[Edge, ...]:
    """Return the edges between consecutive nodes."""
    return tuple((i, i + 1) for i in range(nodes - 1))


def plan_graph(plan: ToolPlan, tools: ToolGraph | None = None) -> PlanGraph:
    """Return the graph of a plan.

    A link names tools, not steps: it becomes an edge between the nearest pair of steps with these
    tools, forward if there is one. A link with a tool that is not in the plan is left out; a plan
    without links is a chain. If there are not as many steps as tools, descriptions of tools take
    the place of the steps. An unknown tool has no types, and its id is its description.

    Args:
        plan: a planner's plan.
        tools: give descriptions and types.

    Raises:
        UsageError: the plan is empty, or its links have a cycle.
    """
    one_step_each = len(plan.steps) == len(plan.tools)
    nodes = []
    for i, name in enumerate(plan.tools):
        known = tools.tool(name) if tools is not None and name in tools else None
        text = without_number(plan.steps[i]) if one_step_each else ""
        if not text:
            text = (known.description if known else "") or name
        nodes.append(
            PlanNode(name, text, known.inputs if known else (), known.outputs if known else ())
        )
    places: dict[str, list[int]] = {}
    for i, name in enumerate(plan.tools):
        places.setdefault(name, []).append(i)
    if not plan.links or plan.links == plan.chain:
        edges = chain(len(nodes))
    else:
        edges = _matched(plan.links, places)
    return PlanGraph(plan.id, plan.request, tuple(nodes), edges)


def _matched(links: Sequence[tuple[str, str]], places: Mapping[str, list[int]]) -> tuple[Edge, ...]:
    """Return each link as the nearest pair of steps; a repeated link as the next nearest."""
    waiting: dict[tuple[str, str], Iterator[Edge]] = {}
    edges: list[Edge] = []
    for link in links:
        if link not in waiting:
            waiting[link] = iter(_pairs(places.get(link[0], ()), places.get(link[1], ())))
        pair = next(waiting[link], None)
        if pair is not None:
            edges.append(pair)
    return tuple(edges)


def _pairs(sources: Sequence[int], targets: Sequence[int]) -> list[Edge]:
    """Return pairs of steps, forward before backward, nearest first; a few for each step."""
    pairs: list[Edge] = []
    for a in sources:
        at = bisect_left(targets, a)
        pairs += [(a, b) for b in targets[max(at - _NEAR, 0) : at + _NEAR + 1] if b != a]
    return sorted(pairs, key=lambda e: (e[1] < e[0], abs(e[1] - e[0]), e))
