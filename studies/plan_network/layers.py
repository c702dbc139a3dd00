"""Message passing along and against the edges of a plan (GNNVerifier, equations 6 and 7)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch_geometric.nn import MessagePassing


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
