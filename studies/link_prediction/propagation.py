"""Link prediction by SGC: vectors averaged along links, then logistic regression.

The features of two tools are the products and differences of their averaged vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from studies.link_prediction.predictor import Progress
from studies.link_prediction.sequences import Pairs, Run, SequenceCounts, sequence_counts
from studies.link_prediction.supervision import hidden_parts
from studies.link_prediction.vectors import Matrix, NodeVectors


@dataclass(frozen=True)
class Propagation:
    """Link prediction by simple graph convolution (SGC)."""

    hops: int = 2
    epochs: int = 150
    rate: float = 1e-2
    decay: float = 1e-1

    def __call__(
        self, vectors: NodeVectors, runs: Sequence[Run], seed: int = 0,
        progress: Progress | None = None,
    ) -> Matrix:  # fmt: skip
        size = len(vectors.tools)
        parts = hidden_parts(vectors, runs, seed)
        if not parts:
            return np.zeros((size, size), np.float32)
        inputs, labels = [], []
        for part in parts:
            moved = self._moved(vectors.of_tools, part.counts)
            inputs += [_pairs(moved, part.links), _pairs(moved, part.others)]
            labels += [torch.ones(len(part.links)), torch.zeros(len(part.others))]
        values, truth = torch.cat(inputs), torch.cat(labels)
        torch.manual_seed(seed)
        regression = nn.Sequential(nn.Linear(values.shape[1], 1), nn.Flatten(0))
        optimiser = torch.optim.AdamW(
            regression.parameters(), lr=self.rate, weight_decay=self.decay
        )
        for epoch in range(self.epochs):
            loss = nn.functional.binary_cross_entropy_with_logits(regression(values), truth)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            if progress is not None:
                progress(epoch + 1, self.epochs, float(loss.detach()))
        moved = self._moved(vectors.of_tools, sequence_counts(vectors, runs))
        rows = np.arange(size)
        with torch.no_grad():
            scores = [
                torch.sigmoid(regression(_pairs(moved, np.stack([np.full(size, i), rows], 1))))
                for i in rows
            ]
        return np.asarray(torch.stack(scores).numpy(), dtype=np.float32)

    def _moved(self, vectors: Matrix, counts: SequenceCounts) -> NDArray[np.float32]:
        """Return S^hops X, where S are the normalised undirected links including self-loops."""
        both = np.maximum(counts.links, counts.links.T).astype(np.float32)
        np.fill_diagonal(both, 1)
        root = 1 / np.sqrt(both.sum(1))
        step = both * root[:, None] * root[None, :]
        for _ in range(self.hops):
            vectors = step @ vectors
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-6), dtype=np.float32)


def _pairs(vectors: NDArray[np.float32], pairs: Pairs) -> torch.Tensor:
    one, other = vectors[pairs[:, 0]], vectors[pairs[:, 1]]
    scale = np.float32(np.sqrt(vectors.shape[1]))
    return torch.from_numpy(np.concatenate([one * other, one - other], axis=1) * scale)
