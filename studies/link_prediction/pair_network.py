"""Two link predictors from features of pairs of tools: simple graph convolution, and networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from studies.link_prediction.features import PairFeatures, chosen
from studies.link_prediction.predictor import Progress
from studies.link_prediction.sequences import (
    Pairs,
    Run,
    SequenceCounts,
    hidden_parts,
    sequence_counts,
)
from studies.link_prediction.vectors import Matrix, NodeVectors

# Simple graph convolution -------------------------------------------------------------------------
# Link prediction by SGC: vectors averaged along links, then logistic regression.
#
# The features of two tools are the products and differences of their averaged vectors.


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


# Pair network -------------------------------------------------------------------------------------
# Predict links from pair features with an ensemble of small networks.


@dataclass(frozen=True)
class PairNetwork:
    """Link prediction by networks over features of pairs.

    Args:
        hidden: Width of the hidden layer; 0 for logistic regression.
        members: Number of networks whose scores are averaged.
        steps: Number of training steps per network, with at most 256 pairs each; training time is
            therefore independent of the number of calls.
    """

    hidden: int = 32
    members: int = 5
    steps: int = 1200
    rate: float = 3e-3
    decay: float = 1e-2
    dropout: float = 0.2

    def __call__(
        self, vectors: NodeVectors, runs: Sequence[Run], seed: int = 0,
        progress: Progress | None = None,
    ) -> Matrix:  # fmt: skip
        features = PairFeatures(vectors)
        final = features.of(sequence_counts(vectors, runs))
        size = len(vectors.tools)
        total = np.zeros((size, size), np.float32)
        for member in range(self.members):
            at = self.members * seed + member
            parts = hidden_parts(vectors, runs, at)
            if not parts:
                return total
            made = [(chosen(values, part.links), chosen(values, part.others))
                    for part in parts for values in [features.of(part.counts)]]  # fmt: skip
            links = np.concatenate([one for one, _ in made])
            others = np.concatenate([other for _, other in made])
            network, mean, spread = self._fit(links, others, at)
            flat = (final.reshape(-1, final.shape[-1]) - mean) / spread
            with torch.no_grad():
                parts_of = [network(torch.from_numpy(part)) for part in np.array_split(flat, 16)]
                scores = torch.sigmoid(torch.cat(parts_of)).numpy()
            total += scores.reshape(size, size) / self.members
            if progress is not None:
                progress(member + 1, self.members, 0.0)
        return total

    def _fit(self, links: Matrix, others: Matrix, seed: int) -> tuple[nn.Module, Matrix, Matrix]:
        # Standardise with training statistics, which also apply to the final features.
        values = np.concatenate([links, others])
        mean, spread = values.mean(0), np.maximum(values.std(0), 1e-6)
        inputs = torch.from_numpy((values - mean) / spread)
        labels = torch.cat([torch.ones(len(links)), torch.zeros(len(others))])
        torch.manual_seed(seed)
        width = values.shape[1]
        network = (
            nn.Sequential(
                nn.Linear(width, self.hidden), nn.ReLU(), nn.Dropout(self.dropout),
                nn.Linear(self.hidden, self.hidden), nn.ReLU(), nn.Dropout(self.dropout),
                nn.Linear(self.hidden, 1), nn.Flatten(0),
            ) if self.hidden else nn.Sequential(nn.Linear(width, 1), nn.Flatten(0))
        )  # fmt: skip
        optimiser = torch.optim.AdamW(network.parameters(), lr=self.rate, weight_decay=self.decay)
        network.train()
        for batch in islice(_batches(len(labels)), self.steps):
            loss = nn.functional.binary_cross_entropy_with_logits(
                network(inputs[batch]), labels[batch]
            )
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
        return network.eval(), mean, spread


def _batches(size: int) -> Iterator[Tensor]:
    """Yield an endless sequence of batches of row numbers; each pass covers all rows."""
    while True:
        yield from torch.split(torch.randperm(size), 256)
