"""Bootstrap confidence intervals of means over tasks and seeds.

Efron & Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13: percentile intervals. Tasks
are drawn with replacement, then the seeds of each task: both would be others in another bench.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import fmean

LEVEL = 0.95
RESAMPLES = 1000


def interval(groups: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Return the bounds of a 95 % interval for the mean of the means of groups.

    The same values give the same bounds.

    Args:
        groups: For each task, its values over seeds.

    Returns:
        None with fewer than two values: nothing is known of how they vary.
    """
    filled = [group for group in groups if group]
    if sum(map(len, filled)) < 2:
        return None
    rng = Random(0)
    means = sorted(
        fmean(
            fmean(rng.choices(group, k=len(group))) if len(group) > 1 else group[0]
            for group in rng.choices(filled, k=len(filled))
        )
        for _ in range(RESAMPLES)
    )
    outside = round(RESAMPLES * (1 - LEVEL) / 2)
    return means[outside], means[-1 - outside]
