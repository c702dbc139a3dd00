"""Plan graphs as arrays, many at once: the attributes of section 3.3, ready for the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hvr.verifier.graph import PlanGraph, PlanNode
from hvr.verifier.network.alignment import Margins
from hvr.verifier.network.path_counts import Path, PathCounts
from hvr.verifier.tool_embeddings import Floats, ToolSpace

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PlanArrays:
    """Plan graphs one after the other. Each has its Start as its first node.

    Args:
        request: rows of the text table (graphs,).
        node_ptr: where the nodes of each graph begin, and their number (graphs + 1,).
        edge_ptr: the same for edges (graphs + 1,).
        tool: rows of the text table (nodes,); 0 for Start.
        step: rows of the text table (nodes,); 0 for Start.
        types: multi-hot inputs, then outputs (nodes, 2 x types).
        margin: Δ of equation 3 (nodes,).
        edges: source and target within the graph, Start being 0 (2, edges).
        edge_values: compatibility, log(1 + f_2), m (edges, 3); 0 from Start.
    """

    request: Ints
    node_ptr: Ints
    edge_ptr: Ints
    tool: Ints
    step: Ints
    types: Floats
    margin: Floats
    edges: Ints
    edge_values: Floats

    def __len__(self) -> int:
        return len(self.request)

    def rows(self, graphs: Ints) -> tuple[Ints, Ints]:
        """Return places of the labels of some graphs: of their nodes without Start, of
        their edges.
        """
        nodes, _, at = row_ranges(self.node_ptr, graphs)
        graph_of = np.searchsorted(self.node_ptr, nodes, side="right")
        return (nodes - graph_of)[at > 0], row_ranges(self.edge_ptr, graphs)[0]


def plan_arrays(
    graphs: Sequence[PlanGraph],
    space: ToolSpace,
    counts: PathCounts,
    alignment: Margins,
    own: Sequence[Mapping[Path, int] | None] | None = None,
) -> PlanArrays:
    """Return the attributes of plan graphs (section 3.3).

    Args:
        graphs: the plans.
        space: of the tools.
        counts: of paths in the training plans.
        alignment: the scorer g.
        own: for each graph, paths that do not count, as they come from the plan itself.
    """
    space.prepare(graphs)
    nodes = [n for g in graphs for n in g.nodes]
    step_rows = space.texts.rows([space.step_text(n.text) for n in nodes])
    numbers = np.fromiter(
        (space.tools.index(n.tool) if space.known(n.tool) else -1 for n in nodes),
        np.int64,
        len(nodes),
    )
    tool_rows = space.rows[numbers]
    for i in np.flatnonzero(numbers < 0).tolist():
        tool_rows[i] = space.texts.rows([space.tool_text(nodes[i].tool)], "passage")[0]
    sizes = np.fromiter((len(g.nodes) for g in graphs), np.int64, len(graphs))
    node_ptr = np.concatenate([[0], np.cumsum(sizes + 1)]).astype(np.int64)
    real = np.ones(int(node_ptr[-1]), dtype=np.bool_)
    real[node_ptr[:-1]] = False

    def with_start(values: NDArray[np.generic]) -> NDArray[np.generic]:
        found = np.zeros((len(real), *values.shape[1:]), dtype=values.dtype)
        found[real] = values
        return found

    edges: list[tuple[int, int]] = []
    values: list[tuple[float, float, float]] = []
    edge_sizes = np.zeros(len(graphs), dtype=np.int64)
    for i, graph in enumerate(graphs):
        mine = own[i] if own is not None else None
        roots = graph.roots
        edges += [(0, r + 1) for r in roots]
        values += [(0.0, 0.0, 0.0)] * len(roots)
        for a, b in graph.edges:
            u, v = graph.nodes[a], graph.nodes[b]
            edges.append((a + 1, b + 1))
            values.append(
                (
                    space.compat(u, v),
                    counts.pairwise(u.tool, v.tool, mine),
                    counts.multi_step(u.tool, v.tool, mine),
                )
            )
        edge_sizes[i] = len(roots) + len(graph.edges)
    return PlanArrays(
        request=space.texts.rows([g.request for g in graphs]),
        node_ptr=node_ptr,
        edge_ptr=np.concatenate([[0], np.cumsum(edge_sizes)]).astype(np.int64),
        tool=np.asarray(with_start(tool_rows), np.int64),
        step=np.asarray(with_start(step_rows), np.int64),
        types=np.asarray(with_start(_types(nodes, space)), np.float32),
        margin=np.asarray(with_start(alignment.margins(space, step_rows, numbers)), np.float32),
        edges=np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        edge_values=np.array(values, dtype=np.float32).reshape(-1, 3),
    )


def _types(nodes: Sequence[PlanNode], space: ToolSpace) -> Floats:
    """Multi-hot inputs and outputs; types that no tool has are left out."""
    place = {t: i for i, t in enumerate(space.types)}
    multi_hot = np.zeros((len(nodes), 2 * len(place)), dtype=np.float32)
    if not place:
        return multi_hot
    for i, node in enumerate(nodes):
        for kind in node.inputs:
            if kind in place:
                multi_hot[i, place[kind]] = 1
        for kind in node.outputs:
            if kind in place:
                multi_hot[i, len(place) + place[kind]] = 1
    return multi_hot


def row_ranges(ptr: Ints, graphs: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the rows of some graphs, one graph after the other.

    Args:
        ptr: where the rows of each graph begin, and their number (all graphs + 1,).
        graphs: which graphs.

    Returns:
        For each row: its place, which graph of the selection it is of, its place in the graph.
    """
    sizes = ptr[graphs + 1] - ptr[graphs]
    which = np.repeat(np.arange(len(graphs)), sizes)
    ends = np.cumsum(sizes)
    at = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return ptr[graphs][which] + at, which, at
