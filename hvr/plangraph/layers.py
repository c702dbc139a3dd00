"""Messages along and against the edges of a plan (GNNVerifier, equations 6 and 7)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing


def two_layers(size_in: int, hidden: int, size_out: int, dropout: float = 0.0) -> nn.Sequential:
    """Linear, ReLU, dropout, linear."""
    return nn.Sequential(
        nn.Linear(size_in, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, size_out)
    )


class Messages(MessagePassing):  # type: ignore[misc]
    """The sum over neighbours of φ([h_u; x_uv; e(r)]): one line of equation 6.

    Args:
        hidden: size of h and x.
        text: size of e(r).
    """

    def __init__(self, hidden: int, text: int) -> None:
        super().__init__(aggr="add")
        self.phi = two_layers(2 * hidden + text, hidden, hidden)

    def forward(self, h: Tensor, edges: Tensor, x: Tensor, request: Tensor) -> Tensor:
        """What each node hears.

        Args:
            h: of the nodes (nodes, hidden).
            edges: from whom to whom (2, edges).
            x: of the edges (edges, hidden).
            request: of the edges (edges, text).

        Returns:
            (nodes, hidden).
        """
        found: Tensor = self.propagate(edges, h=h, x=x, request=request, size=(len(h), len(h)))
        return found

    def message(self, h_j: Tensor, x: Tensor, request: Tensor) -> Tensor:
        """φ of one message."""
        found: Tensor = self.phi(torch.cat([h_j, x, request], dim=-1))
        return found


class PlanLayer(nn.Module):
    """One round: MLP((1 + ε) h_v + m_v,in + m_v,out), equations 6 and 7.

    Args:
        hidden: size of h and x.
        text: size of e(r).
        dropout: share left out in the MLP.
        messages: False for the ablation without messages: each node hears the request only.
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
        self, h: Tensor, edges: Tensor, x: Tensor, edge_request: Tensor, node_request: Tensor
    ) -> Tensor:
        """The nodes after the round (nodes, hidden)."""
        if self.messages:
            heard = self.into(h, edges, x, edge_request)
            heard = heard + self.out(h, edges.flip(0), x, edge_request)
        else:
            heard = self.alone(torch.cat([h, node_request], dim=-1))
        found: Tensor = self.update((1 + self.epsilon) * h + heard)
        return found
