"""ROC-AUC, and thresholds by F1."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def roc_auc(
    scores: Sequence[float] | NDArray[np.float32], labels: Sequence[int] | NDArray[np.int64]
) -> float:
    """Return the area under the ROC curve.

    It is the probability that a random positive scores higher than a random negative, ties
    counting half; computed from the rank sum of the positives (Mann-Whitney U).

    Returns:
        0 to 1; nan if one class is empty.
    """
    values = np.asarray(scores, dtype=np.float64)
    positive = np.asarray(labels) > 0
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if not positives or not negatives:
        return math.nan
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2  # equal scores share their mean rank
    u = rank[place][positive].sum() - positives * (positives + 1) / 2
    return float(u / (positives * negatives))


def best_threshold(
    scores: Sequence[float] | NDArray[np.float32],
    labels: Sequence[int] | NDArray[np.int64],
    default: float = 0.5,
) -> float:
    """Return the threshold, of .05, .10 … .95, with the highest F1 (appendix B.2).

    Scores at or above the threshold count as positive. Of equals the lowest; `default` if there
    are no positives.
    """
    values, positive = np.asarray(scores), np.asarray(labels) > 0
    best_f1, best = 0.0, default
    for threshold in [round(0.05 * i, 2) for i in range(1, 20)]:
        flagged = values >= threshold
        hits = int((flagged & positive).sum())
        f1 = 2 * hits / max(int(flagged.sum()) + int(positive.sum()), 1)
        if f1 > best_f1:
            best_f1, best = f1, threshold
    return best
