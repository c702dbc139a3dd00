"""The logistic function, which makes chances of logits."""

from __future__ import annotations

import numpy as np

from hvr.verifier.tool_embeddings import Floats


def logistic(logits: Floats) -> Floats:
    """Return chances for logits (equation 8)."""
    return np.asarray(np.exp(-np.logaddexp(0, -logits)), dtype=np.float32)
