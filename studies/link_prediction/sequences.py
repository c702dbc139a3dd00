"""Runs of calls as counts of what came after what, and links that some of them hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hvr.tools.navigation.graph import ObservedCall
from studies.link_prediction.vectors import NodeVectors

Run = Sequence[ObservedCall]
Pairs = NDArray[np.int64]
"""Rows of sources and targets, (pairs, 2)."""


@dataclass(frozen=True, eq=False)
class SequenceCounts:
    """How often tools were called, and in which order.

    Args:
        next: float32 (tools, tools): how often the second was called right after the first.
        later: the same, in how many runs it was called later on.
        calls: float32 (tools,): in how many runs a tool was called.
    """

    next: NDArray[np.float32]
    later: NDArray[np.float32]
    calls: NDArray[np.float32]

    @property
    def links(self) -> NDArray[np.bool_]:
        """Which links there are, (tools, tools)."""
        return np.asarray(self.next > 0)


def sequence_counts(vectors: NodeVectors, runs: Sequence[Run]) -> SequenceCounts:
    """Count runs; calls of tools that have no row, and failed ones, are passed over."""
    size = len(vectors.tools)
    counts = SequenceCounts(
        np.zeros((size, size), np.float32),
        np.zeros((size, size), np.float32),
        np.zeros(size, np.float32),
    )
    for run in runs:
        row = vectors.row
        called = [row[seen.tool] for seen in run if seen.ok and seen.tool in row]
        for one, other in pairwise(called):
            counts.next[one, other] += 1
        for one in set(called):
            counts.calls[one] += 1
        for one, other in {(a, b) for i, a in enumerate(called) for b in called[i + 2 :]}:
            counts.later[one, other] += 1
    return counts


def folds(runs: Sequence[Run], number: int, seed: int) -> list[list[Run]]:
    """Return runs without a part of them, for each of `number` parts drawn at random."""
    order = np.random.default_rng(seed).permutation(len(runs))
    return [[runs[run] for i, run in enumerate(order) if i % number != part]
            for part in range(number)]  # fmt: skip


def random_negatives(allowed: NDArray[np.bool_], count: int, random: np.random.Generator) -> Pairs:
    """Draw pairs of tools, all that are allowed equally likely.

    Args:
        allowed: (tools, tools): pairs that may be drawn.
        count: how many are drawn, with repeats.
        random: the source of chance.

    Returns:
        Fewer than `count`, namely none, if none is allowed.
    """
    free = np.argwhere(allowed)
    drawn = free[random.integers(0, len(free), count)] if len(free) else free
    return np.asarray(drawn, dtype=np.int64)


def hard_negatives(
    vectors: NodeVectors,
    linked: NDArray[np.bool_],
    positives: Pairs,
    called: NDArray[np.bool_],
    random: np.random.Generator,
) -> Pairs:
    """Draw for each link one from the same source to another tool that is called somewhere.

    So neither how often the source is called nor that the target is called at all tells the two
    apart. Links whose source is linked to all such tools are passed over.

    Args:
        vectors: the tools.
        linked: (tools, tools): pairs that must not be drawn.
        positives: links.
        called: (tools,): which tools are called somewhere.
        random: the source of chance.
    """
    allowed = vectors.together & ~linked & called[None, :]
    targets_of = {int(s): np.flatnonzero(allowed[s]) for s in np.unique(positives[:, 0])}
    drawn = []
    for source in positives[:, 0].tolist():
        targets = targets_of[source]
        if len(targets):
            drawn.append((source, int(targets[random.integers(len(targets))])))
    return np.array(drawn, dtype=np.int64).reshape(-1, 2)
