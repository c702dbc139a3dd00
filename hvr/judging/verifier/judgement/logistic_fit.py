"""Logistic regression."""

from __future__ import annotations

import numpy as np

_DRAWN = 5.0
"""Strength with which weights are drawn towards where they start."""


def fit_logistic(x: np.ndarray, y: np.ndarray, start: np.ndarray, steps: int = 50) -> np.ndarray:
    """Return the weights w with which σ(w·x) predicts y best, by Newton's method.

    They are drawn towards where they start by a few cases' weight.

    Args:
        x: features (cases, features).
        y: 0 or 1 of each (cases,).
        start: weights to start from (features,).
        steps: at most.
    """
    w = start.astype(float)
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        gradient = x.T @ (p - y) + _DRAWN * (w - start)
        curvature = (x * (p * (1 - p))[:, None]).T @ x + _DRAWN * np.eye(len(w))
        step = np.linalg.solve(curvature, gradient)
        w = w - step
        if np.abs(step).max() < 1e-6:
            break
    return w
