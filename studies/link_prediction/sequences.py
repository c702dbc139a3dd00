"""Counts of which calls follow which in runs, draws of negatives, and training tasks.

A predictor must find links that were not observed, and is trained to do so: the runs are split into
parts; the features come from all parts but one, and the targets are the links that only that part
shows.
"""

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
    """Numbers of calls and successions.

    Args:
        next: Number of times that the column's tool was called right after the row's tool, float32,
            shape (tools, tools).
        later: Number of runs in which the column's tool was called after the row's tool, float32,
            shape (tools, tools).
        calls: Number of runs in which each tool was called, float32, shape (tools,).
    """

    next: NDArray[np.float32]
    later: NDArray[np.float32]
    calls: NDArray[np.float32]

    @property
    def links(self) -> NDArray[np.bool_]:
        """Whether each link was observed, shape (tools, tools)."""
        return np.asarray(self.next > 0)


def sequence_counts(vectors: NodeVectors, runs: Sequence[Run]) -> SequenceCounts:
    """Count successions in runs, ignoring failed calls and tools without a row."""
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
    """Split the runs into `number` random parts; for each part, return the runs outside it."""
    order = np.random.default_rng(seed).permutation(len(runs))
    return [[runs[run] for i, run in enumerate(order) if i % number != part]
            for part in range(number)]  # fmt: skip


def random_negatives(allowed: NDArray[np.bool_], count: int, random: np.random.Generator) -> Pairs:
    """Draw pairs of tools uniformly from the allowed ones.

    Args:
        allowed: Whether each pair may be drawn, shape (tools, tools).
        count: Number of pairs, which may repeat.

    Returns:
        `count` pairs; none if no pair is allowed.
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
    """For each link, draw a pair with the same source and another target that some run calls.

    How often source and target are called therefore cannot separate links from negatives. A link
    whose source is linked to all such targets is skipped.

    Args:
        linked: Whether each pair must not be drawn, shape (tools, tools).
        called: Whether each tool is called, shape (tools,).
    """
    allowed = vectors.together & ~linked & called[None, :]
    targets_of = {int(s): np.flatnonzero(allowed[s]) for s in np.unique(positives[:, 0])}
    drawn = []
    for source in positives[:, 0].tolist():
        targets = targets_of[source]
        if len(targets):
            drawn.append((source, int(targets[random.integers(len(targets))])))
    return np.array(drawn, dtype=np.int64).reshape(-1, 2)


# Training tasks -----------------------------------------------------------------------------------

FOLDS = 5
NEGATIVES = 5
"""Number of negatives of each kind, random and hard, per link."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """A training task.

    Args:
        links: Links that `seen` does not show.
        others: Pairs that no run shows.
        worked: Number of observations of each link in the hidden part, float32.
    """

    seen: Sequence[Run]
    counts: SequenceCounts
    links: Pairs
    others: Pairs
    worked: NDArray[np.float32]


def hidden_parts(vectors: NodeVectors, runs: Sequence[Run], seed: int) -> list[Hidden]:
    """Return the training tasks, except parts that hide nothing."""
    random = np.random.default_rng(seed)
    whole = sequence_counts(vectors, runs)
    parts = []
    for seen in folds(runs, FOLDS, seed):
        counts = sequence_counts(vectors, seen)
        links = np.argwhere((whole.next > 0) & (counts.next == 0)).astype(np.int64)
        if not len(links):
            continue
        often = np.repeat(links, NEGATIVES, axis=0)
        others = np.concatenate([
            random_negatives(vectors.together & ~whole.links, len(often), random),
            hard_negatives(vectors, whole.links, often, whole.calls > 0, random),
        ])  # fmt: skip
        parts.append(Hidden(seen, counts, links, others, whole.next[links[:, 0], links[:, 1]]))
    return parts
