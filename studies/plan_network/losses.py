"""Training losses (GNNVerifier, appendix A.3).

Stage I trains the whole network on  L_1 = L_rank + λ_graph L_graph   (equation 22). Stage II trains
its last layer and the local heads on  L_2 = L_node + λ_edge L_edge   (equation 24).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits


def ranking_loss(logits: Tensor, costs: Tensor, group: Tensor, margin: float = 0.2) -> Tensor:
    """Return the margin ranking loss of contrast groups, equation 21.

        L_rank = 1/G sum over groups, over pairs (i, j) of a group with c_i < c_j, of
                 max(0, m_ij - z_i + z_j),   m_ij = margin (c_j - c_i)

    The plan with fewer errors must score higher, by a margin that grows with the cost gap. The
    paper sums over the plans of one request; hvr takes the mean over the G groups of a batch.

    Args:
        logits: z, shape (graphs,).
        costs: c, shape (graphs,).
        group: Group number of each graph, shape (graphs,); the graphs of a group are consecutive.
        margin: Margin per unit of cost.
    """
    number = torch.unique_consecutive(group, return_inverse=True)[1]
    groups = int(number[-1]) + 1 if len(number) else 0
    if not groups:
        return logits.sum() * 0  # keeps the gradient's path
    sizes = torch.bincount(number, minlength=groups)
    width = int(sizes.max())
    first = torch.cumsum(sizes, 0) - sizes
    at = torch.arange(len(group), device=group.device) - first[number]
    z = logits.new_zeros(groups, width)
    z[number, at] = logits
    c = costs.new_full((groups, width), float("nan"))
    c[number, at] = costs
    gap = c[:, None, :] - c[:, :, None]  # c_j - c_i (groups, i, j); nan pads the smaller groups
    loss = torch.relu(margin * gap - z[:, :, None] + z[:, None, :])
    return torch.where(gap > 0, loss, torch.zeros_like(loss)).sum() / groups


def graph_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the cross-entropy with soft targets, equation 20, as the mean over graphs.

        L_graph = -mean over graphs of y log σ(z) + (1 - y) log(1 - σ(z)),   y = exp(-c / τ)

    Args:
        logits: z, shape (graphs,).
        targets: y of equation 9, from 0 to 1, shape (graphs,).
    """
    return binary_cross_entropy_with_logits(logits, targets)


def local_loss(logits: Tensor, labels: Tensor, weight: float, graphs: int) -> Tensor:
    """Return the weighted cross-entropy of nodes or edges, one line of equation 23.

        L = -1/graphs sum over nodes (edges) of ω l log σ(z) + (1 - l) log(1 - σ(z))

    Args:
        logits: z, shape (n,).
        labels: l, 0 or 1, shape (n,).
        weight: ω of the positives, from `balance`.
    """
    pos = logits.new_tensor(weight)
    total = binary_cross_entropy_with_logits(logits, labels, pos_weight=pos, reduction="sum")
    return total / max(graphs, 1)


def balance(labels: Tensor) -> float:
    """Return the class weight ω of equation 23: negatives / positives, at least 1.

    It is 1 without positives.
    """
    positive = float(labels.sum())
    return max(1.0, (len(labels) - positive) / positive) if positive else 1.0
