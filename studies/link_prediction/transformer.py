"""Link prediction by the paper's heterogeneous graph transformer (NaviAgent, section 3.2).

h0_v   = LayerNorm(ReLU(W_type x_v + b_type))                                            (18)
alpha  = softmax over u in N_r(v) of (Q_r h_v . K_r h_u) / sqrt(d) + b_r + w_uv          (5, 19)
h'_v   = W_O concat_heads sum_r sum_u alpha V_r h_u, + h_v                               (6, 20)
p_ij   = sigmoid(a . [h_i ; h_j] + c)                                                    (21)
CE     = -(w log p + (1 - w) log(1 - p)), mean over links and others, whose w is 0       (7)
margin = max(0, m_ij - s(i,j) + s(i,j')), mean, m_ij = m0 (1 + sigmoid(w_ij)), s cosine  (8-10)
L      = lambda_t CE + (1 - lambda_t) margin, lambda_t = lambda_0 gamma^t                (11, 12)

The paper's text leaves the formulas blank, so they are reconstructed from its prose; m0, lambda_0
and gamma are hvr's. Target links are excluded from the graph along which messages pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.utils import scatter, softmax

from hvr.tools.navigation.graph import success_rate
from studies.link_prediction.graph_arrays import GraphArrays, graph_arrays, graph_of
from studies.link_prediction.predictor import Progress
from studies.link_prediction.sequences import Hidden, Run, hidden_parts
from studies.link_prediction.vectors import Matrix, NodeVectors

WeightUse = Literal["added", "multiplied", "none"]
Head = Literal["paper", "product"]


@dataclass(frozen=True)
class GraphTransformer:
    """Link prediction by the graph transformer.

    Args:
        weights: How link weights enter the attention: added (as in the paper's prose), multiplied,
            or not at all.
        head: `paper` uses eq. 21, in which the two ends do not interact; `product` adds a . (h_i *
            h_j).
        margin: m0.
        first: lambda_0.
        fading: gamma.
    """

    width: int = 64
    heads: int = 8
    layers: int = 2
    epochs: int = 40
    rate: float = 2e-3
    weights: WeightUse = "added"
    head: Head = "paper"
    margin: float = 0.3
    first: float = 0.9
    fading: float = 0.98

    def __call__(
        self, vectors: NodeVectors, runs: Sequence[Run], seed: int = 0,
        progress: Progress | None = None,
    ) -> Matrix:  # fmt: skip
        size = len(vectors.tools)
        parts = hidden_parts(vectors, runs, seed)
        if not parts:
            return np.zeros((size, size), np.float32)
        torch.manual_seed(seed)
        graphs = [graph_arrays(vectors, graph_of(vectors, part.seen)) for part in parts]
        network = _Network(self, graphs[0])
        optimiser = torch.optim.AdamW(network.parameters(), lr=self.rate, weight_decay=1e-2)
        random = np.random.default_rng(seed)
        for epoch in range(self.epochs):
            total = 0.0
            balance = self.first * self.fading**epoch
            for i in random.permutation(len(parts)):
                loss = self._loss(network, graphs[i], parts[i], balance)
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                optimiser.step()
                total += float(loss.detach()) / len(parts)
            if progress is not None:
                progress(epoch + 1, self.epochs, total)
        network.eval()
        with torch.no_grad():
            tools = network(graph_arrays(vectors, graph_of(vectors, runs)))
            rows = torch.arange(size)
            scores = [network.logits(tools, rows.new_full((size,), i), rows) for i in rows]
        return np.asarray(torch.sigmoid(torch.stack(scores)).numpy(), dtype=np.float32)

    def _loss(self, network: _Network, graph: GraphArrays, part: Hidden, balance: float) -> Tensor:
        tools = network(graph)
        links, others = (torch.from_numpy(pairs) for pairs in (part.links, part.others))
        soft = torch.tensor([success_rate(float(n), 0.0) for n in part.worked])
        logits = torch.cat([
            network.logits(tools, links[:, 0], links[:, 1]),
            network.logits(tools, others[:, 0], others[:, 1]),
        ])  # fmt: skip
        labels = torch.cat([soft, torch.zeros(len(others))])
        entropy = nn.functional.binary_cross_entropy_with_logits(logits, labels)
        return balance * entropy + (1 - balance) * self._margin(tools, links, others, soft)

    def _margin(self, tools: Tensor, links: Tensor, others: Tensor, soft: Tensor) -> Tensor:
        """Return the mean margin loss over links and negatives with the same source."""
        unit = nn.functional.normalize(tools, dim=-1)
        good = (unit[links[:, 0]] * unit[links[:, 1]]).sum(-1)
        # Pair each link's source with the targets of sampled negatives.
        pick = torch.randint(0, len(others), (len(links), 5))
        wrong = (unit[links[:, 0]].unsqueeze(1) * unit[others[pick][..., 1]]).sum(-1)
        wanted = self.margin * (1 + torch.sigmoid(soft))
        return torch.relu(wanted.unsqueeze(1) - good.unsqueeze(1) + wrong).mean()


class _Network(nn.Module):
    def __init__(self, config: GraphTransformer, graph: GraphArrays) -> None:
        super().__init__()
        width = config.width
        self.enter = nn.ModuleDict({
            side: nn.Sequential(nn.Linear(x.shape[1], width), nn.ReLU(), nn.LayerNorm(width))
            for side, x in graph.nodes.items()
        })  # fmt: skip
        names = sorted(graph.relations)
        self.layers = nn.ModuleList(_Attention(config, names) for _ in range(config.layers))
        self.ends = nn.Linear(2 * width, 1)
        self.product = nn.Linear(width, 1, bias=False) if config.head == "product" else None

    def forward(self, graph: GraphArrays) -> Tensor:
        """Return the vectors of the tools, shape (tools, width)."""
        nodes = {side: self.enter[side](x) for side, x in graph.nodes.items()}
        for layer in self.layers:
            nodes = layer(nodes, graph)
        tools: Tensor = nodes["tool"]
        return tools

    def logits(self, tools: Tensor, one: Tensor, other: Tensor) -> Tensor:
        score: Tensor = self.ends(torch.cat([tools[one], tools[other]], -1)).squeeze(-1)
        if self.product is not None:
            score = score + self.product(tools[one] * tools[other]).squeeze(-1)
        return score


class _Attention(nn.Module):
    """One attention layer (eq. 5, 6, 19 and 20)."""

    def __init__(self, config: GraphTransformer, names: Sequence[str]) -> None:
        super().__init__()
        self.heads, self.use = config.heads, config.weights
        width = config.width
        self.query, self.key, self.value = (
            nn.ModuleDict({name: nn.Linear(width, width, bias=False) for name in names})
            for _ in range(3)
        )
        self.bias = nn.ParameterDict(
            {name: nn.Parameter(torch.zeros(self.heads)) for name in names}
        )
        self.leave = nn.Linear(width, width)

    def forward(self, nodes: dict[str, Tensor], graph: GraphArrays) -> dict[str, Tensor]:
        total = {side: torch.zeros_like(x) for side, x in nodes.items()}
        for name, relation in graph.relations.items():
            source, target = relation.ends
            if not len(source):
                continue
            size = len(nodes[relation.target])
            shape = (len(source), self.heads, -1)
            query = self.query[name](nodes[relation.target])[target].view(shape)
            key = self.key[name](nodes[relation.source])[source].view(shape)
            value = self.value[name](nodes[relation.source])[source].view(shape)
            logits = (query * key).sum(-1) / math.sqrt(query.shape[-1]) + self.bias[name]
            if self.use == "added":
                logits = logits + relation.weights.unsqueeze(-1)
            elif self.use == "multiplied":
                logits = logits * relation.weights.unsqueeze(-1)
            alpha = softmax(logits, target, num_nodes=size)
            message = (alpha.unsqueeze(-1) * value).flatten(1)
            total[relation.target] = total[relation.target] + scatter(
                message, target, dim=0, dim_size=size, reduce="sum"
            )
        return {side: x + self.leave(total[side]) for side, x in nodes.items()}
