"""Plan graphs as arrays: node and edge features (GNNVerifier, section 3.3).

Features of the node of step s_i with tool t_i (section 3.3.2):

e(t_i), e(s_i)           text embeddings, as rows of a table
x_in(t_i), x_out(t_i)    multi-hot input and output types
Δ_i                      alignment margin, equation 3

Features of the edge from u to v (section 3.3.3):

compat(u, v)             |out(t_u) ∩ in(t_v)| / max(|in(t_v)|, 1), equation 4
log(1 + f_2(t_u, t_v))   pairwise co-occurrence
m(u, v)                  max over paths π of 3 or 4 tools from t_u to t_v of log(1 + f_n(π)),
                         equation 5

with f_n the counts of paths of n tools in the training plans. Start and its edges have none: the
network learns embeddings for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hvr.judging.verifier.graph import PlanGraph, PlanNode
from hvr.judging.verifier.network.alignment import Margins
from hvr.judging.verifier.network.path_counts import Path, PathCounts
from hvr.judging.verifier.tool_embeddings import Floats, ToolEmbeddings

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PlanArrays:
    """Plan graphs one after the other, each with Start as its first node.

    Args:
        request: e(r), rows of the text table (graphs,).
        node_ptr: first node of each graph, and the number of nodes (graphs + 1,).
        edge_ptr: the same for edges (graphs + 1,).
        tool: e(t_i), rows of the text table (nodes,); 0 for Start.
        step: e(s_i), rows of the text table (nodes,); 0 for Start.
        types: x_in, then x_out (nodes, 2 x types).
        margin: Δ_i (nodes,).
        edges: source and target within the graph, Start being 0 (2, edges).
        edge_values: compat, log(1 + f_2), m (edges, 3); 0 for edges from Start.
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
        """Return the places of some graphs' labels: of nodes without Start, and of edges."""
        nodes, _, at = row_ranges(self.node_ptr, graphs)
        graph_of = np.searchsorted(self.node_ptr, nodes, side="right")
        return (nodes - graph_of)[at > 0], row_ranges(self.edge_ptr, graphs)[0]


def plan_arrays(
    graphs: Sequence[PlanGraph],
    embeddings: ToolEmbeddings,
    counts: PathCounts,
    alignment: Margins,
    own: Sequence[Mapping[Path, int] | None] | None = None,
) -> PlanArrays:
    """Compute the features of plan graphs (section 3.3).

    Args:
        graphs: the plans.
        embeddings: of the tools.
        counts: of paths in the training plans.
        alignment: the scorer g.
        own: for each graph, paths to leave out of the counts, as they come from the plan itself.
    """
    embeddings.prepare(graphs)
    nodes = [n for g in graphs for n in g.nodes]
    step_rows = embeddings.texts.rows([embeddings.step_text(n.text) for n in nodes])
    numbers, tool_rows = _tool_rows(nodes, embeddings)
    sizes = np.fromiter((len(g.nodes) for g in graphs), np.int64, len(graphs))
    node_ptr = np.concatenate([[0], np.cumsum(sizes + 1)]).astype(np.int64)
    real = np.ones(int(node_ptr[-1]), dtype=np.bool_)
    real[node_ptr[:-1]] = False

    def with_start(values: NDArray[np.generic]) -> NDArray[np.generic]:
        padded = np.zeros((len(real), *values.shape[1:]), dtype=values.dtype)
        padded[real] = values
        return padded

    edge_ptr, edges, edge_values = _edge_arrays(
        graphs, embeddings, counts, own or [None] * len(graphs)
    )
    margins = alignment.margins(embeddings, step_rows, numbers)
    return PlanArrays(
        request=embeddings.texts.rows([g.request for g in graphs]),
        node_ptr=node_ptr,
        edge_ptr=edge_ptr,
        tool=np.asarray(with_start(tool_rows), np.int64),
        step=np.asarray(with_start(step_rows), np.int64),
        types=np.asarray(with_start(_types(nodes, embeddings)), np.float32),
        margin=np.asarray(with_start(margins), np.float32),
        edges=edges,
        edge_values=edge_values,
    )


def _tool_rows(nodes: Sequence[PlanNode], embeddings: ToolEmbeddings) -> tuple[Ints, Ints]:
    """Return the number of each node's tool, -1 for an unknown one, and its row of the texts."""
    numbers = np.fromiter(
        (embeddings.tools.index(n.tool) if embeddings.known(n.tool) else -1 for n in nodes),
        np.int64,
        len(nodes),
    )
    rows = embeddings.rows[numbers]
    for i in np.flatnonzero(numbers < 0).tolist():
        rows[i] = embeddings.texts.rows([embeddings.tool_text(nodes[i].tool)], "passage")[0]
    return numbers, rows


def _edge_arrays(
    graphs: Sequence[PlanGraph],
    embeddings: ToolEmbeddings,
    counts: PathCounts,
    own: Sequence[Mapping[Path, int] | None],
) -> tuple[Ints, Ints, Floats]:
    """Return the `edge_ptr`, `edges` and `edge_values` of `PlanArrays`."""
    ptr = [0]
    edges: list[tuple[int, int]] = []
    values: list[tuple[float, float, float]] = []
    for graph, own_paths in zip(graphs, own, strict=True):
        roots = graph.roots
        edges += [(0, root + 1) for root in roots]
        values += [(0.0, 0.0, 0.0)] * len(roots)
        for a, b in graph.edges:
            u, v = graph.nodes[a], graph.nodes[b]
            edges.append((a + 1, b + 1))
            values.append(
                (
                    embeddings.compat(u, v),
                    counts.pairwise(u.tool, v.tool, own_paths),
                    counts.multi_step(u.tool, v.tool, own_paths),
                )
            )
        ptr.append(len(edges))
    return (
        np.array(ptr, dtype=np.int64),
        np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        np.array(values, dtype=np.float32).reshape(-1, 3),
    )


def _types(nodes: Sequence[PlanNode], embeddings: ToolEmbeddings) -> Floats:
    """Return x_in and x_out (nodes, 2 x types); types that no tool has are left out."""
    place = {t: i for i, t in enumerate(embeddings.types)}
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
        ptr: first row of each graph, and the number of rows (all graphs + 1,).
        graphs: numbers of the selected graphs.

    Returns:
        For each row: its place, the place of its graph in the selection, its place in the graph.
    """
    sizes = ptr[graphs + 1] - ptr[graphs]
    which = np.repeat(np.arange(len(graphs)), sizes)
    ends = np.cumsum(sizes)
    at = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return ptr[graphs][which] + at, which, at
