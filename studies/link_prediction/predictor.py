"""What predicts links: fitted on runs of calls, it scores every pair of tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from studies.link_prediction.features import adamic_adar
from studies.link_prediction.sequences import Run, sequence_counts
from studies.link_prediction.vectors import Matrix, NodeVectors

Progress = Callable[[int, int, float], None]
"""Called after each step of training with its number, the number of all, and the loss."""


class LinkPredictor(Protocol):
    """A way to predict links."""

    def __call__(
        self, vectors: NodeVectors, runs: Sequence[Run], seed: int, progress: Progress | None
    ) -> Matrix:
        """Return scores (tools, tools) of links from rows to columns; more is likelier.

        Args:
            vectors: the tools.
            runs: calls to learn from.
            seed: of all that is random.
            progress: called after each step of training.
        """
        ...


def counted(
    vectors: NodeVectors, runs: Sequence[Run], seed: int = 0, progress: Progress | None = None
) -> Matrix:
    """Return the chance of the second tool after the first as counted.

    Counts are smoothed by the share of the second in all calls: of a pair that was never seen
    nothing else is known.
    """
    del seed, progress
    counts = sequence_counts(vectors, runs)
    share = counts.calls / max(float(counts.calls.sum()), 1.0)
    after = counts.next.sum(1, keepdims=True)
    return np.asarray((counts.next + share[None, :]) / (after + 1), dtype=np.float32)


def common_neighbours(
    vectors: NodeVectors, runs: Sequence[Run], seed: int = 0, progress: Progress | None = None
) -> Matrix:
    """Return Adamic-Adar's index."""
    del seed, progress
    return adamic_adar(sequence_counts(vectors, runs).links.astype(np.float32))


def alike(
    vectors: NodeVectors, runs: Sequence[Run], seed: int = 0, progress: Progress | None = None
) -> Matrix:
    """Return the cosine of the texts of two tools; nothing is learnt."""
    del runs, seed, progress
    return np.asarray(vectors.of_tools @ vectors.of_tools.T, dtype=np.float32)
