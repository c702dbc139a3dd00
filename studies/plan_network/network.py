"""The verifier network for training (GNNVerifier, sections 3.3 and 3.4)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from hvr.judging.verifier.config import VerifierConfig
from hvr.judging.verifier.verifier import PlanLogits, TrainedNetwork
from studies.plan_network.batch import PlanBatch
from studies.plan_network.layers import PlanLayer, two_layers


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
