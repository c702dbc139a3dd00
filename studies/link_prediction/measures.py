"""Measures of how well scores separate links from other pairs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32] | NDArray[np.float64]


def area_under_curve(positives: Scores, negatives: Scores) -> float:
    """Return the ROC-AUC of links against other pairs, where a tie counts as one half.

    Returns:
        A value from 0 to 1; nan if one side is empty.
    """
    if not len(positives) or not len(negatives):
        return math.nan
    both = np.concatenate([positives, negatives]).astype(np.float64)
    _, place, count = np.unique(both, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2  # equal scores share their mean rank
    wins = rank[place][: len(positives)].sum() - len(positives) * (len(positives) + 1) / 2
    return float(wins / (len(positives) * len(negatives)))


def f1(positives: Scores, negatives: Scores, threshold: float) -> float:
    """Return F1 if scores at or above the threshold are classified as links."""
    hits = int((positives >= threshold).sum())
    flagged = hits + int((negatives >= threshold).sum())
    return 2 * hits / max(flagged + len(positives), 1)


def best_cut(positives: Scores, negatives: Scores) -> float:
    """Return the threshold with the highest F1, halfway between two scores; 0.5 without data."""
    values = np.unique(np.concatenate([positives, negatives]))
    if not len(values) or not len(positives):
        return 0.5
    cuts = np.concatenate([values[:1], (values[1:] + values[:-1]) / 2])
    return float(max(cuts, key=lambda cut: f1(positives, negatives, cut)))


def hits_at(ranks: NDArray[np.int64], most: int = 10) -> float:
    """Return the share of 1-based ranks that are at most `most`; nan without ranks."""
    return float((ranks <= most).mean()) if len(ranks) else math.nan
