"""Plans as directed acyclic graphs (GNNVerifier, section 3.1), and drafts of graphs to modify."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from hvr.errors import UsageError
from hvr.tools.tool_plans import ToolGraph, ToolPlan, without_number
from hvr.values import cached_property

# Graph --------------------------------------------------------------------------------------------

START = -1
"""Virtual node before every first step, the source of the edges to the roots."""

Edge = tuple[int, int]
_NEAR = 8
"""Occurrences of a tool before and after a step that are considered for a link."""


@dataclass(frozen=True)
class PlanNode:
    """A step of a plan: a tool call or an atomic action.

    Args:
        inputs: Types or facts that the step needs.
        outputs: Types or facts that the step provides.
    """

    tool: str
    text: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanGraph:
    """A plan as a directed acyclic graph of steps.

    An edge (source, target) of node indexes means that the target comes after the source or depends
    on it.

    Raises:
        UsageError: The graph is empty, an edge names a missing node, or the edges form a cycle.
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
                raise UsageError(f"plan {self.id!r}: edge {edge} names a missing step")
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
        """Return the predecessors of a node, except Start."""
        return self._neighbours[0][node]

    def after(self, node: int) -> tuple[int, ...]:
        return self._neighbours[1][node]

    @property
    def roots(self) -> tuple[int, ...]:
        """Nodes without predecessors other than Start."""
        return tuple(i for i in range(len(self.nodes)) if not self.before(i))

    @property
    def all_edges(self) -> tuple[Edge, ...]:
        """The edges from Start to the roots, then the edges between steps."""
        return tuple((START, root) for root in self.roots) + self.edges

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Nodes in topological order; the lower index comes first if several are possible."""
        waiting = [len(self.before(i)) for i in range(len(self.nodes))]
        ready = [i for i, n in enumerate(waiting) if not n]
        order: list[int] = []
        # Most plans are chains, which need no sorting.
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
                f"plan {self.id!r}: its links form a cycle through {', '.join(stuck[:5])}"
            )
        return tuple(order)

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(self.nodes[i].tool for i in self.order)

    def plan(self) -> ToolPlan:
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
    return tuple((i, i + 1) for i in range(nodes - 1))


def plan_graph(plan: ToolPlan, tools: ToolGraph | None = None) -> PlanGraph:
    """Convert a plan to a graph.

    A link names tools, not steps, so it becomes an edge between the nearest steps with these tools,
    forward if possible. A link with a tool that is not in the plan is dropped; a plan without links
    is a chain. Unless the plan has one step text per tool, the tools' descriptions replace the
    texts. An unknown tool has no types, and its id serves as its description.

    Raises:
        UsageError: The plan is empty, or its links have a cycle.
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
    pairs: list[Edge] = []
    for a in sources:
        at = bisect_left(targets, a)
        pairs += [(a, b) for b in targets[max(at - _NEAR, 0) : at + _NEAR + 1] if b != a]
    # Forward links come first, then the nearest.
    return sorted(pairs, key=lambda e: (e[1] < e[0], abs(e[1] - e[0]), e))


# Draft --------------------------------------------------------------------------------------------
# A mutable plan graph that records which nodes and edges have become wrong.


@dataclass(frozen=True)
class Span:
    """A chain of steps without branches: the steps' keys, and the keys before and after them."""

    keys: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


class PlanGraphDraft:
    """A plan graph to modify. Nodes have permanent keys; `finish` replaces them by indexes.

    Attributes:
        sequence: Keys in the order of the node list.
        wrong: Keys of nodes with a wrong tool.
        skipping: Edges (source, target) where steps are missing; the source may be START.
    """

    def __init__(self, graph: PlanGraph) -> None:
        self._id = graph.id
        self.request = graph.request
        self.nodes: dict[int, PlanNode] = dict(enumerate(graph.nodes))
        self.sequence = list(range(len(graph.nodes)))
        self.wrong: set[int] = set()
        self.skipping: set[tuple[int, int]] = set()
        self._into: dict[int, list[int]] = {k: list(graph.before(k)) for k in self.sequence}
        self._out: dict[int, list[int]] = {k: list(graph.after(k)) for k in self.sequence}
        self._next = len(graph.nodes)

    def before(self, key: int) -> tuple[int, ...]:
        return tuple(self._into[key])

    def after(self, key: int) -> tuple[int, ...]:
        return tuple(self._out[key])

    def spans(self, length: int) -> list[Span]:
        """Return all spans of `length` steps that at least one step follows."""
        spans = []
        for first in self.sequence:
            keys = [first]
            while len(keys) < length:
                out = self._out[keys[-1]]
                if len(out) != 1 or len(self._into[out[0]]) != 1:
                    break
                keys.append(out[0])
            after = tuple(self._out[keys[-1]])
            if len(keys) == length and after:
                spans.append(Span(tuple(keys), tuple(self._into[first]), after))
        return spans

    def retool(self, key: int, node: PlanNode) -> None:
        """Replace the tool of a step by a wrong one, and record that it is wrong."""
        self.nodes[key] = node
        self.wrong.add(key)

    def cut(self, span: Span) -> None:
        """Remove a span, link its ends, and record that steps are missing at the new links."""
        self._remove(span.keys)
        for target in span.after:
            for source in span.before:
                if target not in self._out[source]:
                    self._link(source, target)
                self.skipping.add((source, target))
            if not self._into[target]:
                self.skipping.add((START, target))

    def merge(self, span: Span, node: PlanNode) -> None:
        """Replace a span by one node; record the node as wrong, and its links as lacking steps."""
        key = self._add(node, self.sequence.index(span.keys[0]))
        self._remove(span.keys)
        self.wrong.add(key)
        for source in span.before:
            self._link(source, key)
        for target in span.after:
            self._link(key, target)
        self.skipping |= {(source, key) for source in span.before or (START,)}
        self.skipping |= {(key, target) for target in span.after}

    def insert(self, source: int, target: int | None, node: PlanNode) -> None:
        """Insert a wrong node into a link or, if `target` is None, after the last step.

        Steps that were missing at the link stay missing between the new node and the target.
        """
        at = len(self.sequence) if target is None else self.sequence.index(target)
        key = self._add(node, at)
        self.wrong.add(key)
        if source != START:
            if target is not None:
                self._out[source].remove(target)
                self._into[target].remove(source)
            self._link(source, key)
        if target is not None:
            self._link(key, target)
            if (source, target) in self.skipping:
                self.skipping.discard((source, target))
                self.skipping.add((key, target))

    def finish(self) -> tuple[PlanGraph, tuple[int, ...], tuple[int, ...]]:
        place = {key: i for i, key in enumerate(self.sequence)}
        edges = [(place[a], place[b]) for a in self.sequence for b in self._out[a]]
        nodes = tuple(self.nodes[k] for k in self.sequence)
        graph = PlanGraph(self._id, self.request, nodes, tuple(edges))
        marked = {(place.get(a, START), place[b]) for a, b in self.skipping if b in place}
        return (
            graph,
            tuple(int(k in self.wrong) for k in self.sequence),
            tuple(int(e in marked) for e in graph.all_edges),
        )

    def _add(self, node: PlanNode, at: int) -> int:
        key = self._next
        self._next += 1
        self.nodes[key] = node
        self._into[key], self._out[key] = [], []
        self.sequence.insert(at, key)
        return key

    def _link(self, source: int, target: int) -> None:
        self._out[source].append(target)
        self._into[target].append(source)

    def _remove(self, keys: Iterable[int]) -> None:
        gone = set(keys)
        for key in gone:
            for source in self._into[key]:
                if source not in gone:
                    self._out[source].remove(key)
            for target in self._out[key]:
                if target not in gone:
                    self._into[target].remove(key)
            del self.nodes[key], self._into[key], self._out[key]
        self.sequence = [k for k in self.sequence if k not in gone]
        self.skipping = {(a, b) for a, b in self.skipping if not gone.intersection((a, b))}
