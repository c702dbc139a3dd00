"""Which tool follows which in the plan for a request: kernel ridge regression on past plans.

    q(m | r) = k(r)ᵀ (K + λI)⁻¹ Y_m,   K_ij = exp(β (likeness(r_i, r_j) - 1))

with Y_m 1 for the past plans that make the move m = (tool, next tool), else 0. Unlike a mean over
similar requests it weighs what tells requests apart. The prediction for a past request by all
others is exact, without another fit: y_i - α_i / (K + λI)⁻¹_ii, with α = (K + λI)⁻¹ Y.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from hvr.verifier.tool_embeddings import Floats

INVERSE_TEMPERATURE = 2.0
"""β; chosen on training plans left out."""
RIDGE = 0.1
"""λ; chosen on training plans left out."""
LEAST = 2e-3
"""Bound of predictions from 0 and 1, and the prediction for a move that was never made."""

Move = tuple[int, int]


class MoveRegression:
    """Predicts the moves of a plan.

    Args:
        likeness: of past requests (requests, requests); 1 of a request and itself.
        moves: those that each past plan makes.
    """

    def __init__(self, likeness: Floats, moves: Sequence[Iterable[Move]]) -> None:
        made = [set(some) for some in moves]
        self.places: Mapping[Move, int] = {m: i for i, m in enumerate(sorted(set().union(*made)))}
        self._made = np.zeros((len(made), len(self.places)), dtype=np.float32)
        for row, some in zip(self._made, made, strict=True):
            row[[self.places[m] for m in some]] = 1
        kernel = np.exp(INVERSE_TEMPERATURE * (likeness - 1)).astype(np.float32)
        kernel[np.diag_indices(len(made))] = 1 + RIDGE
        self._inverse = np.linalg.inv(kernel)
        self._alpha = self._inverse @ self._made

    def log_odds(self, likeness: Floats, left_out: int | None = None) -> Floats:
        """Return log q / (1 - q) of each move (moves,).

        Args:
            likeness: of a request to the past ones (requests,).
            left_out: number of the past request that it is, to be predicted by all others.
        """
        if left_out is not None:
            own = self._alpha[left_out] / self._inverse[left_out, left_out]
            predicted = self._made[left_out] - own
        else:
            predicted = np.exp(INVERSE_TEMPERATURE * (likeness - 1)) @ self._alpha
        q = np.clip(predicted, LEAST, 1 - LEAST)
        return np.asarray(np.log(q / (1 - q)), dtype=np.float32)
