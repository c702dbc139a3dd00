"""What training makes small (GNNVerifier, appendix A.3)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits


def ranking_loss(logits: Tensor, costs: Tensor, family: Tensor, margin: float = 0.2) -> Tensor:
    """Equation 21, divided by the number of families.

    Over the pairs of one family with c_i < c_j: max(0, margin (c_j - c_i) - z_i + z_j).

    Args:
        logits: z (graphs,).
        costs: c (graphs,).
        family: which request a graph belongs to (graphs,); graphs of a family stand together.
        margin: per unit of cost.
    """
    number = torch.unique_consecutive(family, return_inverse=True)[1]
    families = int(number[-1]) + 1 if len(number) else 0
    if not families:
        return logits.sum() * 0
    sizes = torch.bincount(number, minlength=families)
    width = int(sizes.max())
    first = torch.cumsum(sizes, 0) - sizes
    at = torch.arange(len(family), device=family.device) - first[number]
    z = logits.new_zeros(families, width)
    z[number, at] = logits
    c = costs.new_full((families, width), float("nan"))
    c[number, at] = costs
    gap = c[:, None, :] - c[:, :, None]  # (families, i, j): c_j - c_i; nan where there is none
    loss = torch.relu(margin * gap - z[:, :, None] + z[:, None, :])
    return torch.where(gap > 0, loss, torch.zeros_like(loss)).sum() / families


def graph_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Equation 20: cross-entropy with the soft targets, mean over graphs."""
    return binary_cross_entropy_with_logits(logits, targets)


def local_loss(logits: Tensor, labels: Tensor, weight: float, graphs: int) -> Tensor:
    """Return one line of equation 23: weighted cross-entropy, summed, divided by the number of
    graphs.

    Args:
        logits: (n,).
        labels: 0 or 1 (n,).
        weight: of the positive ones.
        graphs: in the batch.
    """
    pos = logits.new_tensor(weight)
    total = binary_cross_entropy_with_logits(logits, labels, pos_weight=pos, reduction="sum")
    return total / max(graphs, 1)


def balance(labels: Tensor) -> float:
    """ω: negatives for each positive, at least 1 (A.3); 1 where nothing is positive."""
    positive = float(labels.sum())
    return max(1.0, (len(labels) - positive) / positive) if positive else 1.0
