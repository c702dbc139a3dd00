"""Mutable plan graphs that record which nodes and edges became wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hvr.judging.verifier.graph import START, PlanGraph, PlanNode


@dataclass(frozen=True)
class Span:
    """A chain of steps without branches.

    Args:
        keys: of the steps, in order.
        before: predecessors of the first.
        after: successors of the last.
    """

    keys: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


class PlanGraphDraft:
    """A mutable plan graph.

    Nodes have permanent keys; `finish` renumbers them.

    Args:
        graph: the initial plan.

    Attributes:
        nodes: by key.
        sequence: the keys, in the order of the list of nodes.
        wrong: keys of nodes with a wrong tool.
        skipping: edges (source, target) at which steps are missing; the source may be START.
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
        """Return the predecessors of a node."""
        return tuple(self._into[key])

    def after(self, key: int) -> tuple[int, ...]:
        """Return the successors of a node."""
        return tuple(self._out[key])

    def spans(self, length: int) -> list[Span]:
        """Return all spans of so many nodes that have a successor."""
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
        """Replace the tool of a step, and mark the step wrong."""
        self.nodes[key] = node
        self.wrong.add(key)

    def cut(self, span: Span) -> None:
        """Remove a span and link its ends; mark the new links."""
        self._remove(span.keys)
        for target in span.after:
            for source in span.before:
                if target not in self._out[source]:
                    self._link(source, target)
                self.skipping.add((source, target))
            if not self._into[target]:
                self.skipping.add((START, target))

    def merge(self, span: Span, node: PlanNode) -> None:
        """Replace a span by one node; mark it and its links."""
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
        """Insert a node on a link, or after the last step; mark it wrong.

        If steps were missing at the link, they still are between the new node and the target.
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
        """Return the graph, the labels of its nodes and of its edges (those of `all_edges`)."""
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
