"""What is learnt from: links that a part of the runs shows and the others do not.

A predictor is to find links that it has not seen. So it is trained to: runs are parted, features
come from all parts but one, and the links of that one which the others do not show are to be found.
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
"""Pairs of each kind, drawn at random and hard ones, for each link."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """A task of training.

    Args:
        seen: runs from which features come.
        counts: of these.
        links: that they do not show.
        others: pairs that no run shows.
        worked: of each link, how often it was seen in the hidden part, float32.
    """

    seen: Sequence[Run]
    counts: SequenceCounts
    links: Pairs
    others: Pairs
    worked: NDArray[np.float32]


def hidden_parts(vectors: NodeVectors, runs: Sequence[Run], seed: int) -> list[Hidden]:
    """Return the tasks of training; parts that hide nothing are left out."""
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
