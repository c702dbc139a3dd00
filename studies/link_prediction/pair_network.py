"""Predict links from pair features with an ensemble of small networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor, nn

from studies.link_prediction.features import PairFeatures, chosen
from studies.link_prediction.predictor import Progress
from studies.link_prediction.sequences import Run, sequence_counts
from studies.link_prediction.supervision import hidden_parts
from studies.link_prediction.vectors import Matrix, NodeVectors


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
