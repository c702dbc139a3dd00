"""True plans of the past, to be found by requests that are alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hvr.verifier.tool_embeddings import Floats

Tools = tuple[int, ...]
"""A plan as numbers of its tools."""
_TASTE = 20.0
"""Inverse temperature of a cosine; chosen on held-out training plans, where 10 to 30 do alike."""
_NEVER = 0.01


class PlanMemory:
    """Requests with the plans that were right for them.

    Args:
        vectors: of the requests, of length 1 (requests, size).
        plans: numbers of the tools of each.
    """

    def __init__(self, vectors: Floats, plans: Sequence[Tools]) -> None:
        self.vectors = vectors
        self.plans = tuple(plans)

    def shares(self, request: Floats) -> dict[Tools, float]:
        """Return how much of what is like a request had which plan; all shares are 1 together.

        Each past request counts the exponential of its cosine with the new one, over a
        temperature.

        Args:
            request: its vector (size,).
        """
        if not self.plans:
            return {}
        alike = self.vectors @ request
        weights = np.exp(_TASTE * (alike - alike.max()))
        weights /= weights.sum()
        found: dict[Tools, float] = {}
        for plan, weight in zip(self.plans, weights.tolist(), strict=True):
            found[plan] = found.get(plan, 0.0) + weight
        return found


def log_shares(shares: dict[Tools, float], plans: Sequence[Tools]) -> Floats:
    """Return logarithms of the shares of plans (plans,); a plan that was never right has a
    little.
    """
    return np.log(np.array([shares.get(p, 0.0) + _NEVER for p in plans], dtype=np.float32))


def commonest(shares: dict[Tools, float], count: int) -> list[Tools]:
    """Return the plans with the largest shares, the largest first."""
    return sorted(shares, key=lambda p: (-shares[p], p))[:count]
