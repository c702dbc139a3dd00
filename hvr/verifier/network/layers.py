"""Messages along and against the edges of a plan (GNNVerifier, equations 6 and 7)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch_geometric.nn import MessagePassing


def two_layers(size_in: int, hidden: int, size_out: int, dropout: float = 0.0) -> nn.Sequential:
    """Linear, ReLU, dropout, linear."""
    return nn.Sequential(
        nn.Linear(size_in, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, size_out)
    )


class Messages(MessagePassing):  # type: ignore[misc]
    """The sum over neighbours of φ([h_u; x_uv; e(r)]): one line of equation 6.

    φ's first layer is computed for nodes, edges and requests apart and added, which is the same
    as for the joined vectors and much cheaper, as a node has many edges and a request many more.

    Args:
        hidden: size of h and x.
        text: size of e(r).
    """

    def __init__(self, hidden: int, text: int) -> None:
        super().__init__(aggr="add")
        self.sizes = [hidden, hidden, text]
        self.phi = two_layers(2 * hidden + text, hidden, hidden)

    def forward(self, h: Tensor, edges: Tensor, x: Tensor, request: Tensor, of: Tensor) -> Tensor:
        """Return what each node hears.

        Args:
            h: of the nodes (nodes, hidden).
            edges: from whom to whom (2, edges).
            x: of the edges (edges, hidden).
            request: of the plans (plans, text).
            of: plans of the edges (edges,).

        Returns:
            (nodes, hidden).
        """
        first = self.phi[0]
        assert isinstance(first, nn.Linear)
        node, edge, asked = torch.split(first.weight, self.sizes, dim=1)
        told = linear(x, edge) + linear(request, asked, first.bias)[of]
        found: Tensor = self.propagate(edges, h=linear(h, node), told=told, size=(len(h), len(h)))
        return found

    def message(self, h_j: Tensor, told: Tensor) -> Tensor:
        """φ of one message."""
        found: Tensor = self.phi[1:](h_j + told)
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
        self,
        h: Tensor,
        edges: Tensor,
        x: Tensor,
        request: Tensor,
        node_graph: Tensor,
        edge_graph: Tensor,
    ) -> Tensor:
        """Return one round.

        Args:
            h: of the nodes (nodes, hidden).
            edges: from whom to whom (2, edges).
            x: of the edges (edges, hidden).
            request: of the plans (plans, text).
            node_graph, edge_graph: plans of the nodes and of the edges.

        Returns:
            The nodes after it (nodes, hidden).
        """
        if self.messages:
            heard = self.into(h, edges, x, request, edge_graph)
            heard = heard + self.out(h, edges.flip(0), x, request, edge_graph)
        else:
            heard = self.alone(torch.cat([h, request[node_graph]], dim=-1))
        found: Tensor = self.update((1 + self.epsilon) * h + heard)
        return found
