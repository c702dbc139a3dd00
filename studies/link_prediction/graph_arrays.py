"""Navigation graphs as arrays for graph networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from hvr.tools.navigation.graph import CallEvidence, GraphTool, Links, NavigationGraph
from studies.link_prediction.sequences import Run
from studies.link_prediction.vectors import Matrix, NodeVectors

KINDS = ("inputs", "outputs", "calls", "passes")
"""Kinds of links; the names with `back` are the reverse directions."""


@dataclass(frozen=True, eq=False)
class LinkArrays:
    """Links of one kind; messages pass from sources to targets.

    Args:
        source: `tool` or `parameter`.
        target: `tool` or `parameter`.
        ends: Indexes of sources and targets, int64, shape (2, links).
        weights: Link weights, float32, shape (links,).
    """

    source: str
    target: str
    ends: Tensor
    weights: Tensor


@dataclass(frozen=True, eq=False)
class GraphArrays:
    """A graph as arrays.

    Args:
        nodes: Features of the nodes (eq. 17), by `tool` and `parameter`.
        relations: Links by the name of their kind.
    """

    nodes: dict[str, Tensor]
    relations: dict[str, LinkArrays]


def graph_of(vectors: NodeVectors, runs: Sequence[Run]) -> NavigationGraph:
    names = vectors.parameters
    graph = NavigationGraph.of(
        GraphTool(
            tool,
            takes=frozenset(names[p] for p in vectors.takes[i]),
            gives=frozenset(names[p] for p in vectors.gives[i]),
        )
        for i, tool in enumerate(vectors.tools)
    )
    for run in runs:
        for seen in run:
            graph = graph.observe(seen)
    return graph


def graph_arrays(vectors: NodeVectors, graph: NavigationGraph) -> GraphArrays:
    """Return a graph as arrays, without tools and parameters that have no row in `vectors`."""
    parameter = {name: i for i, name in enumerate(vectors.parameters)}
    rows = {"tool": vectors.row, "parameter": parameter}
    relations: dict[str, LinkArrays] = {}
    for kind, links, source, target in (
        ("inputs", graph.inputs, "parameter", "tool"),
        ("outputs", graph.outputs, "tool", "parameter"),
        ("calls", graph.calls, "tool", "tool"),
        ("passes", graph.passes, "parameter", "parameter"),
    ):
        made = _relation(links, source, target, rows)
        relations[kind] = made
        relations[f"{kind} back"] = LinkArrays(target, source, made.ends.flip(0), made.weights)
    evidence = {
        "tool": [graph.tools[name].evidence for name in vectors.tools],
        "parameter": [_sum(graph, name) for name in vectors.parameters],
    }
    texts = {"tool": vectors.of_tools, "parameter": vectors.of_parameters}
    nodes = {
        side: _features(texts[side], evidence[side], tuple(relations.values()), side)
        for side in texts
    }
    return GraphArrays(nodes, relations)


def _relation(
    links: Links, source: str, target: str, rows: Mapping[str, Mapping[str, int]]
) -> LinkArrays:
    one, other = rows[source], rows[target]
    kept = [(one[s], other[t], evidence.weight) for s, t, evidence in links
            if s in one and t in other]  # fmt: skip
    ends = torch.tensor([[s for s, _, _ in kept], [t for _, t, _ in kept]], dtype=torch.int64)
    weights = torch.tensor([w for _, _, w in kept], dtype=torch.float32)
    return LinkArrays(source, target, ends, weights)


def _sum(graph: NavigationGraph, parameter: str) -> CallEvidence:
    """Return the evidence of a parameter, summed over all tools that take it."""
    some = [graph.inputs.targets(parameter)[tool] for tool in graph.inputs.targets(parameter)]
    return CallEvidence(sum(e.successes for e in some), sum(e.failures for e in some))


def _features(
    texts: Matrix, evidence: Sequence[CallEvidence], relations: Sequence[LinkArrays], side: str
) -> Tensor:
    """Return eq. 17: text vector, successes, failures, success share, in-degree and out-degree."""
    degree_in, degree_out = np.zeros(len(evidence)), np.zeros(len(evidence))
    for relation in relations[::2]:
        for degree, end, there in (
            (degree_out, relation.ends[0], relation.source),
            (degree_in, relation.ends[1], relation.target),
        ):
            if there == side:
                np.add.at(degree, end.numpy(), 1)
    numbers = np.stack([
        np.log1p([e.successes for e in evidence]),
        np.log1p([e.failures for e in evidence]),
        [e.successes / e.count if e.count else 0.0 for e in evidence],
        np.log1p(degree_in),
        np.log1p(degree_out),
    ], axis=1).astype(np.float32).reshape(len(evidence), 5)  # fmt: skip
    return torch.from_numpy(np.concatenate([texts, numbers], axis=1).astype(np.float32))
