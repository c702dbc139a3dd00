"""Minibatches of plan graphs as tensors.

All graphs of a training run are converted to arrays once, and a batch selects rows of these arrays.
It is the disjoint union of graphs, as in `torch_geometric.data.Batch`, without per-graph objects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hvr.judging.verifier.features import Ints, PlanArrays, row_ranges


@dataclass(frozen=True)
class PlanBatch:
    """The network's input, with shapes as in `PlanArrays`; nodes are numbered across the batch.

    Args:
        request: Rows of the text table, shape (graphs,).
        start: Whether each node is a Start, shape (nodes,).
        node_graph: Graph of each node, shape (nodes,).
        edge_graph: Graph of each edge, shape (edges,).
    """

    graphs: int
    request: Tensor
    start: Tensor
    tool: Tensor
    step: Tensor
    types: Tensor
    margin: Tensor
    node_graph: Tensor
    edges: Tensor
    edge_values: Tensor
    edge_graph: Tensor


def select(arrays: PlanArrays, graphs: Ints, device: str = "cpu") -> PlanBatch:
    """Return the graphs with the given indexes as one batch, in this order."""
    nodes, node_graph, node_at = row_ranges(arrays.node_ptr, graphs)
    edges, edge_graph, _ = row_ranges(arrays.edge_ptr, graphs)
    first = np.concatenate([[0], np.cumsum(np.diff(arrays.node_ptr)[graphs])])[:-1]
    index = arrays.edges[:, edges] + first[edge_graph]

    def tensor(values: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    return PlanBatch(
        graphs=len(graphs),
        request=tensor(arrays.request[graphs]),
        start=tensor(node_at == 0),
        tool=tensor(arrays.tool[nodes]),
        step=tensor(arrays.step[nodes]),
        types=tensor(arrays.types[nodes]),
        margin=tensor(arrays.margin[nodes]),
        node_graph=tensor(node_graph),
        edges=tensor(index),
        edge_values=tensor(arrays.edge_values[edges]),
        edge_graph=tensor(edge_graph),
    )
