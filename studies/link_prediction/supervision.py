"""Training tasks: links that one part of the runs shows and the other parts do not.

A predictor must find links that were not observed, and is trained to do so. The runs are split into
parts; the features come from all parts but one, and the targets are the links that only that part
shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.link_prediction.sequences import (
    Pairs,
    Run,
    SequenceCounts,
    folds,
    hard_negatives,
    random_negatives,
    sequence_counts,
)
from studies.link_prediction.vectors import NodeVectors

FOLDS = 5
NEGATIVES = 5
"""Number of negatives of each kind, random and hard, per link."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """A training task.

    Args:
        links: Links that `seen` does not show.
        others: Pairs that no run shows.
        worked: Number of observations of each link in the hidden part, float32.
    """

    seen: Sequence[Run]
    counts: SequenceCounts
    links: Pairs
    others: Pairs
    worked: NDArray[np.float32]


def hidden_parts(vectors: NodeVectors, runs: Sequence[Run], seed: int) -> list[Hidden]:
    """Return the training tasks, except parts that hide nothing."""
    random = np.random.default_rng(seed)
    whole = sequence_counts(vectors, runs)
    parts = []
    for seen in folds(runs, FOLDS, seed):
        counts = sequence_counts(vectors, seen)
        links = np.argwhere((whole.next > 0) & (counts.next == 0)).astype(np.int64)
        if not len(links):
            continue
        often = np.repeat(links, NEGATIVES, axis=0)
        others = np.concatenate([
            random_negatives(vectors.together & ~whole.links, len(often), random),
            hard_negatives(vectors, whole.links, often, whole.calls > 0, random),
        ])  # fmt: skip
        parts.append(Hidden(seen, counts, links, others, whole.next[links[:, 0], links[:, 1]]))
    return parts
