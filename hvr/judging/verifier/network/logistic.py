"""The logistic function."""

from __future__ import annotations

import numpy as np

from hvr.judging.verifier.tool_embeddings import Floats


def logistic(logits: Floats) -> Floats:
    """Return the probabilities σ(z) = 1 / (1 + exp(-z)) of logits (equation 8).

    Computed as exp(-log(1 + exp(-z))), which overflows nowhere.
    """
    return np.asarray(np.exp(-np.logaddexp(0, -logits)), dtype=np.float32)
