"""Nearest-plan index: past true plans, looked up by the similarity of their requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hvr.verifier.tool_embeddings import Floats

Tools = tuple[int, ...]
"""A plan as numbers of its tools."""

INVERSE_TEMPERATURE = 20.0
"""β of the softmax over cosines; chosen on held-out training plans, where 10 to 30 do alike."""
UNSEEN_PROBABILITY = 0.01
"""Added to the probability of every plan, so that the logarithm of an unseen one is finite."""


class NearestPlanIndex:
    """Past requests with their true plans: a kernel estimate of P(plan | request).

    With e(r) the embedding of a request and (r_i, π_i) the past pairs,

        P(π | r) = sum over i with π_i = π of w_i,   w_i = softmax_i(β <e(r), e(r_i)>)

    Args:
        vectors: e(r_i), of length 1 (requests, size).
        plans: π_i, numbers of the tools of each.
    """

    def __init__(self, vectors: Floats, plans: Sequence[Tools]) -> None:
        self.vectors = vectors
        self.plans = tuple(plans)

    def probabilities(self, request: Floats) -> dict[Tools, float]:
        """Return P(π | r) of all past plans; they sum to 1.

        Args:
            request: e(r) (size,).
        """
        if not self.plans:
            return {}
        cosines = self.vectors @ request
        weights = np.exp(INVERSE_TEMPERATURE * (cosines - cosines.max()))
        weights /= weights.sum()
        probabilities: dict[Tools, float] = {}
        for plan, weight in zip(self.plans, weights.tolist(), strict=True):
            probabilities[plan] = probabilities.get(plan, 0.0) + weight
        return probabilities


def log_probabilities(probabilities: Mapping[Tools, float], plans: Sequence[Tools]) -> Floats:
    """Return the smoothed log P(π | r) of plans (plans,), finite for unseen plans too."""
    smoothed = [probabilities.get(p, 0.0) + UNSEEN_PROBABILITY for p in plans]
    return np.log(np.array(smoothed, dtype=np.float32))


def most_probable(probabilities: Mapping[Tools, float], count: int) -> list[Tools]:
    """Return the plans with the highest probabilities, best first."""
    return sorted(probabilities, key=lambda p: (-probabilities[p], p))[:count]
