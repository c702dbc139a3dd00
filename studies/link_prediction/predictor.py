"""The interface of link predictors, and three simple ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from studies.link_prediction.features import adamic_adar
from studies.link_prediction.sequences import Run, sequence_counts
from studies.link_prediction.vectors import Matrix, NodeVectors

Progress = Callable[[int, int, float], None]
"""Callback after each training step with its number, the total, and the loss."""


class LinkPredictor(Protocol):
    def __call__(
        self, vectors: NodeVectors, runs: Sequence[Run], seed: int, progress: Progress | None
    ) -> Matrix:
        """Fit to runs, and return the score of each link (row to column), shape (tools, tools)."""
        ...


def counted(
    vectors: NodeVectors, runs: Sequence[Run], seed: int = 0, progress: Progress | None = None
) -> Matrix:
    """Return the observed probability that the second tool follows the first.

    The counts are smoothed by the second tool's share of all calls, the only evidence about a pair
    that was never observed.
    """
    del seed, progress
    counts = sequence_counts(vectors, runs)
    share = counts.calls / max(float(counts.calls.sum()), 1.0)
    after = counts.next.sum(1, keepdims=True)
    return np.asarray((counts.next + share[None, :]) / (after + 1), dtype=np.float32)


def common_neighbours(
    vectors: NodeVectors, runs: Sequence[Run], seed: int = 0, progress: Progress | None = None
) -> Matrix:
    del seed, progress
    return adamic_adar(sequence_counts(vectors, runs).links.astype(np.float32))


def alike(
    vectors: NodeVectors, runs: Sequence[Run], seed: int = 0, progress: Progress | None = None
) -> Matrix:
    """Return the cosine between the texts of two tools, which needs no training."""
    del runs, seed, progress
    return np.asarray(vectors.of_tools @ vectors.of_tools.T, dtype=np.float32)
