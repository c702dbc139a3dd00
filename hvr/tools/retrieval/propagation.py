"""SGC: tool vectors smoothed over the graph, without training (GNN4Plan, section 4.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hvr.tools.retrieval.decoding import adjacency
from hvr.tools.tool_graph import ToolGraph


def normalised(graph: ToolGraph) -> NDArray[np.float32]:
    """Return the normalised adjacency matrix  Â = D^-1/2 A D^-1/2.

    D = diag(sum_v A[u, v]) holds the out-degrees, on both sides; no self-loops are added. A tool
    without out-links has D[u, u] = 0, for which D^-1/2 is taken to be 0: its row and column are 0.

    Returns:
        Â (tools, tools), float32; the row's tool aggregates its successors.
    """
    linked = adjacency(graph).astype(np.float32)
    degree = linked.sum(axis=1)
    root = np.zeros_like(degree)
    np.divide(1, np.sqrt(degree), out=root, where=degree > 0)
    return np.asarray(root[:, None] * linked * root[None, :], dtype=np.float32)


def propagate(vectors: NDArray[np.float32], graph: ToolGraph, alpha: float) -> NDArray[np.float32]:
    """Return tool vectors mixed with those of their successors.

    X' = alpha X + (1 - alpha) Â X  (GNN4Plan, section 4.2), with Â of `normalised`.

    Args:
        vectors: X (tools, d).
        graph: with as many tools.
        alpha: weight of a tool's own vector.

    Returns:
        X' (tools, d), float32.
    """
    return np.asarray(alpha * vectors + (1 - alpha) * (normalised(graph) @ vectors), np.float32)
