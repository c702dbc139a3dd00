"""The verifier network for training (GNNVerifier, sections 3.3 and 3.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear
from torch_geometric.nn import MessagePassing

from hvr.judging.verifier.config import VerifierConfig
from hvr.judging.verifier.features import Ints, PlanArrays, row_ranges
from hvr.judging.verifier.verifier import PlanLogits, TrainedNetwork

# Minibatches --------------------------------------------------------------------------------------
# All graphs of a training run are converted to arrays once, and a batch selects rows of these
# arrays. It is the disjoint union of graphs, as in `torch_geometric.data.Batch`, without per-graph
# objects.


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


# Layers -------------------------------------------------------------------------------------------
# Message passing along and against the edges of a plan (GNNVerifier, equations 6 and 7).


def two_layers(size_in: int, hidden: int, size_out: int, dropout: float = 0.0) -> nn.Sequential:
    """Return an MLP with one hidden layer: linear, ReLU, dropout, linear."""
    return nn.Sequential(
        nn.Linear(size_in, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, size_out)
    )


class Messages(MessagePassing):  # type: ignore[misc]
    """Messages in one direction: one line of equation 6.

        m_v = sum over neighbours u of v of φ([h_u; x_uv; e(r)]),   φ an MLP with one hidden layer

    φ's first layer is applied to nodes, edges and requests separately, and the results are added.
    This equals the layer on concatenated vectors, but costs less, because edges share nodes and
    requests.

    Args:
        hidden: Width of h, shape (nodes, hidden), and x, shape (edges, hidden).
        text: Width of e(r), shape (plans, text).
    """

    def __init__(self, hidden: int, text: int) -> None:
        super().__init__(aggr="add")
        self.sizes = [hidden, hidden, text]
        self.phi = two_layers(2 * hidden + text, hidden, hidden)

    def forward(self, h: Tensor, edges: Tensor, x: Tensor, request: Tensor, of: Tensor) -> Tensor:
        """Return the aggregated messages m, shape (nodes, hidden).

        Args:
            h: Node states, shape (nodes, hidden).
            edges: Senders and receivers, shape (2, edges).
            x: Edge states, shape (edges, hidden).
            request: e(r) of the plans, shape (plans, text).
            of: Plan of each edge, shape (edges,).
        """
        first = self.phi[0]
        assert isinstance(first, nn.Linear)
        node, edge, context = torch.split(first.weight, self.sizes, dim=1)
        edge_part = linear(x, edge) + linear(request, context, first.bias)[of]
        aggregated: Tensor = self.propagate(
            edges, h=linear(h, node), edge_part=edge_part, size=(len(h), len(h))
        )
        return aggregated

    def message(self, h_j: Tensor, edge_part: Tensor) -> Tensor:
        """Return φ of each message, shape (edges, hidden), given the sums from its first layer."""
        messages: Tensor = self.phi[1:](h_j + edge_part)
        return messages


class PlanLayer(nn.Module):
    """One round of message passing, equations 6 and 7.

        h_v' = MLP((1 + ε) h_v + m_v,in + m_v,out)

    m_v,in are the messages along the edges into v and m_v,out those against the edges out of v,
    each with its own φ; ε is learnt and initially 0. Without messages, m is φ([h_v; e(r)]).

    Args:
        hidden: Width of h, shape (nodes, hidden), and x, shape (edges, hidden).
        text: Width of e(r), shape (plans, text).
        messages: False for the ablation without message passing.
    """

    def __init__(self, hidden: int, text: int, dropout: float, messages: bool = True) -> None:
        super().__init__()
        self.epsilon = nn.Parameter(torch.zeros(()))
        self.update = two_layers(hidden, hidden, hidden, dropout)
        self.messages = messages
        if messages:
            self.into = Messages(hidden, text)
            self.out = Messages(hidden, text)
        else:
            self.alone = two_layers(hidden + text, hidden, hidden)

    def forward(
        self,
        h: Tensor,
        edges: Tensor,
        x: Tensor,
        request: Tensor,
        node_graph: Tensor,
        edge_graph: Tensor,
    ) -> Tensor:
        """Return h' after the round, shape (nodes, hidden).

        Args:
            h: Node states, shape (nodes, hidden).
            x: Edge states, shape (edges, hidden).
            request: e(r) of the plans, shape (plans, text).
            node_graph, edge_graph: Plan of each node and of each edge.
        """
        if self.messages:
            received = self.into(h, edges, x, request, edge_graph)
            received = received + self.out(h, edges.flip(0), x, request, edge_graph)
        else:
            received = self.alone(torch.cat([h, request[node_graph]], dim=-1))
        updated: Tensor = self.update((1 + self.epsilon) * h + received)
        return updated


# Network ------------------------------------------------------------------------------------------


class PlanNetwork(nn.Module):
    """The verifier network in PyTorch; `TrainedNetwork` has its equations in NumPy.

    `types` is the number of input and output types together.
    """

    def __init__(self, config: VerifierConfig, text: int, types: int) -> None:
        super().__init__()
        self.config = config
        hidden = config.hidden
        node_size = text + types + (text + 1 if config.node_features else 0)
        self.node_in = nn.Sequential(
            nn.Linear(node_size, hidden), nn.ReLU(), nn.Dropout(config.dropout)
        )
        self.edge_in = nn.Sequential(
            nn.Linear(3 if config.edge_features else 1, hidden),
            nn.ReLU(),
            nn.Dropout(config.dropout),
        )
        self.start_node = nn.Parameter(torch.randn(hidden) * 0.1)
        self.start_edge = nn.Parameter(torch.randn(hidden) * 0.1)
        self.layers = nn.ModuleList(
            PlanLayer(hidden, text, config.dropout, config.use_messages)
            for _ in range(config.layers)
        )
        read = 2 * hidden if config.readout == "mean_max" else hidden
        self.graph_head = two_layers(read, hidden, 1, config.dropout)
        self.node_head = two_layers(hidden, hidden, 1, config.dropout)
        self.edge_head = two_layers(3 * hidden, hidden, 1, config.dropout)

    def trained(self) -> TrainedNetwork:
        tensors = {k: v.detach().cpu().numpy() for k, v in self.state_dict().items()}
        return TrainedNetwork(self.config, tensors)

    def local_parameters(self) -> Iterator[nn.Parameter]:
        """Yield the parameters of stage II: the last layer and the two local heads (A.3)."""
        yield from self.layers[-1].parameters()
        yield from self.node_head.parameters()
        yield from self.edge_head.parameters()

    def forward(self, batch: PlanBatch, texts: Tensor) -> PlanLogits[Tensor]:
        h, x = self.encode(batch, texts)
        return PlanLogits(self.graph_logits(batch, h), *self.local_logits(batch, h, x))

    def graph_logits(self, batch: PlanBatch, h: Tensor) -> Tensor:
        real = ~batch.start
        read = self._readout(h[real], batch.node_graph[real], batch.graphs)
        logits: Tensor = self.graph_head(read)
        return logits.squeeze(-1)

    def local_logits(self, batch: PlanBatch, h: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return z^V and z^E, shapes (nodes without Start,) and (edges,), for `encode`'s result."""
        source, target = batch.edges
        node: Tensor = self.node_head(h[~batch.start])
        edge: Tensor = self.edge_head(torch.cat([h[source], h[target], x], dim=-1))
        return node.squeeze(-1), edge.squeeze(-1)

    def encode(self, batch: PlanBatch, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Return h after the last layer, shape (nodes, hidden), and x, shape (edges, hidden)."""
        features = [texts[batch.tool], batch.types]
        if self.config.node_features:
            features += [texts[batch.step], batch.margin[:, None]]
        h = self.node_in(torch.cat(features, dim=-1))
        h = torch.where(batch.start[:, None], self.start_node.to(h.dtype), h)
        values = batch.edge_values if self.config.edge_features else batch.edge_values[:, :1]
        x = self.edge_in(values)
        x = torch.where(batch.start[batch.edges[0]][:, None], self.start_edge.to(x.dtype), x)
        request = texts[batch.request]
        for layer in self.layers:
            h = layer(h, batch.edges, x, request, batch.node_graph, batch.edge_graph)
        return h, x

    def _readout(self, h: Tensor, graph: Tensor, graphs: int) -> Tensor:
        """Return the mean over each plan's steps, or mean and maximum, shape (graphs, …)."""
        size = h.shape[1]
        total = h.new_zeros(graphs, size).index_add_(0, graph, h)
        count = h.new_zeros(graphs).index_add_(0, graph, h.new_ones(len(graph)))
        mean = total / count[:, None].clamp(min=1)
        if self.config.readout == "mean":
            return mean
        where = graph[:, None].expand(-1, size)
        largest = h.new_zeros(graphs, size).scatter_reduce(0, where, h, "amax", include_self=False)
        return torch.cat([mean, largest], dim=-1)
