"""SGC: vectors of tools smoothed over the graph, without anything learnt (GNN4Plan, 4.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hvr.tools.retrieval.decoding import adjacency
from hvr.tools.tool_graph import ToolGraph


def normalised(graph: ToolGraph) -> NDArray[np.float32]:
    """D^-1/2 A D^-1/2 with the out-degrees as D on both sides, no self-loops added.

    1/sqrt(0) counts as 0, so a tool without out-links has a row and a column of zeros.

    Returns:
        float32 (tools, tools); the row's tool takes up its successors.
    """
    linked = adjacency(graph).astype(np.float32)
    degree = linked.sum(axis=1)
    root = np.zeros_like(degree)
    np.divide(1, np.sqrt(degree), out=root, where=degree > 0)
    return np.asarray(root[:, None] * linked * root[None, :], dtype=np.float32)


def propagate(
    vectors: NDArray[np.float32], graph: ToolGraph, alpha: float, hops: int = 1
) -> NDArray[np.float32]:
    """Return vectors of tools mixed with those of their successors.

    Each hop gives alpha * X + (1 - alpha) * D^-1/2 A D^-1/2 X.

    Args:
        vectors: (tools, d).
        graph: with as many tools.
        alpha: share of the tool's own vector.
        hops: how often.
    """
    step = normalised(graph)
    for _ in range(hops):
        vectors = alpha * vectors + (1 - alpha) * (step @ vectors)
    return np.asarray(vectors, dtype=np.float32)
