"""What the plan for a request is like: kernel ridge regression on past plans.

    q(y | r) = k(r)ᵀ (K + λI)⁻¹ Y,   K_ij = exp(β (likeness(r_i, r_j) - 1))

with a column of Y for each move (tool, next tool), 1 where a past plan makes it, one for each tool,
1 where a plan calls it, and one for the number of steps. Unlike a mean over similar requests it
weighs what tells requests apart. The prediction for a past request by all others is exact, without
another fit: y_i - α_i / (K + λI)⁻¹_ii, with α = (K + λI)⁻¹ Y.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hvr.judging.verifier.tool_embeddings import Floats

INVERSE_TEMPERATURE = 2.0
"""β; chosen on training plans left out."""
RIDGE = 0.1
"""λ; chosen on training plans left out."""
LEAST = 2e-3
"""Bound of predictions from 0 and 1, and the prediction for a move that was never made."""
_LEAST_ODDS = math.log(LEAST / (1 - LEAST))

Move = tuple[int, int]


@dataclass(frozen=True)
class Prediction:
    """What is predicted of the plan for one request.

    Args:
        moves: log-odds of each move (tools + 1, tools + 1).
        tools: log-odds that a tool is called (tools,).
        steps: their number.
    """

    moves: Floats
    tools: Floats
    steps: float

    def of_moves(self, made: Iterable[Move]) -> float:
        """Return the sum of the log-odds of moves."""
        return float(sum(self.moves[move] for move in set(made)))

    def of_tools(self, called: Iterable[int]) -> float:
        """Return the sum of the log-odds of tools."""
        return float(self.tools[list(set(called))].sum())


class PlanRegression:
    """Predicts moves, tools and length of plans.

    Args:
        likeness: of past requests (requests, requests); 1 of a request and itself.
        plans: their tools.
        moves: those that each plan makes.
        tools: number of the tools that there are.
    """

    def __init__(
        self,
        likeness: Floats,
        plans: Sequence[Sequence[int]],
        moves: Sequence[Iterable[Move]],
        tools: int,
    ) -> None:
        made = [set(some) for some in moves]
        places = {m: i for i, m in enumerate(sorted(set().union(*made)))}
        self._places = np.array(list(places), np.int64).reshape(-1, 2).T
        self._tools, size = tools, len(places)
        self._targets = np.zeros((len(plans), size + tools + 1), dtype=np.float32)
        for row, some, plan in zip(self._targets, made, plans, strict=True):
            row[[places[m] for m in some]] = 1
            row[[size + t for t in plan]] = 1
            row[-1] = len(plan)
        # What is drawn to 0 where a request is unlike all others is the difference from the usual.
        self._usual = float(self._targets[:, -1].mean()) if plans else 0.0
        self._targets[:, -1] -= self._usual
        kernel = np.exp(INVERSE_TEMPERATURE * (likeness - 1)).astype(np.float32)
        kernel[np.diag_indices(len(plans))] = 1 + RIDGE
        self._inverse = np.linalg.inv(kernel)
        self._alpha = self._inverse @ self._targets

    def predict(self, likeness: Floats, left_out: int | None = None) -> Prediction:
        """Return what is predicted for a request.

        Args:
            likeness: of it to the past ones (requests,).
            left_out: number of the past request that it is, to be predicted by all others.
        """
        if left_out is not None:
            own = self._alpha[left_out] / self._inverse[left_out, left_out]
            predicted = self._targets[left_out] - own
        else:
            predicted = np.exp(INVERSE_TEMPERATURE * (likeness - 1)) @ self._alpha
        q = np.clip(predicted[:-1], LEAST, 1 - LEAST)
        odds = np.log(q / (1 - q)).astype(np.float32)
        every = np.full((self._tools + 1, self._tools + 1), _LEAST_ODDS, np.float32)
        size = self._places.shape[1]
        every[tuple(self._places)] = odds[:size]
        return Prediction(every, odds[size:], self._usual + float(predicted[-1]))
