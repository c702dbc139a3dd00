"""How well a score tells two kinds apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def roc_auc(
    scores: Sequence[float] | NDArray[np.float32], labels: Sequence[int] | NDArray[np.int64]
) -> float:
    """Return the chance that a positive has a higher score than a negative; ties count half.

    Returns:
        0 to 1; nan where there are none of one kind.
    """
    values = np.asarray(scores, dtype=np.float64)
    positive = np.asarray(labels) > 0
    ups, downs = int(positive.sum()), int((~positive).sum())
    if not ups or not downs:
        return math.nan
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2
    return float((rank[place][positive].sum() - ups * (ups + 1) / 2) / (ups * downs))


def best_threshold(
    scores: Sequence[float] | NDArray[np.float32],
    labels: Sequence[int] | NDArray[np.int64],
    default: float = 0.5,
) -> float:
    """Return the threshold, of .05, .10 … .95, with the highest F1 of "score at least the
    threshold".

    The lowest of several that are as good; `default` where nothing is positive (appendix B.2).
    """
    values, positive = np.asarray(scores), np.asarray(labels) > 0
    best, found = 0.0, default
    for threshold in [round(0.05 * i, 2) for i in range(1, 20)]:
        flagged = values >= threshold
        hits = int((flagged & positive).sum())
        f1 = 2 * hits / max(int(flagged.sum()) + int(positive.sum()), 1)
        if f1 > best:
            best, found = f1, threshold
    return found
