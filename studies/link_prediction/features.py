"""Features of a pair of tools for predicting whether the second is called after the first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from studies.link_prediction.sequences import Pairs, SequenceCounts
from studies.link_prediction.vectors import Matrix, NodeVectors

NEAR = 10
"""Number of similar tools whose links are considered."""

NAMES = (
    "likeness of the texts",
    "best likeness of what the first gives and the second takes",
    "likeness of what both take",
    "likeness of what the second gives and the first takes",
    "Adamic-Adar",
    "ways over one tool",
    "links from tools like the first",
    "links to tools like the second",
    "links between tools like both",
    "the link back",
    "called later on",
    "called earlier on",
    "links from the first",
    "links to the second",
    "runs with the first",
    "runs with the second",
    "same tool",
    "common sources",
    "common targets",
)


class PairFeatures:
    """Features of all pairs of tools, as about 20 float32 matrices of shape (tools, tools)."""

    def __init__(self, vectors: NodeVectors) -> None:
        self.vectors = vectors
        likeness = vectors.of_tools @ vectors.of_tools.T
        pairs = vectors.of_parameters @ vectors.of_parameters.T
        fed = best_likeness(pairs, vectors.gives, vectors.takes)
        self._texts = [likeness, fed, mean_likeness(pairs, vectors.takes), fed.T]
        self._near = near(np.clip(likeness, 0, 1) * vectors.together)

    def of(self, counts: SequenceCounts) -> NDArray[np.float32]:
        """Return the features, shape (tools, tools, features), given the counts of calls."""
        links = counts.links.astype(np.float32)
        size, log = len(links), np.log1p
        like = self._near @ links
        out, into = links.sum(1), links.sum(0)
        parts = [
            *self._texts,
            adamic_adar(links),
            log(links @ links),
            like,
            links @ self._near.T,
            like @ self._near.T,
            links.T,
            log(counts.later),
            log(counts.later.T),
            np.broadcast_to(log(out)[:, None], (size, size)),
            np.broadcast_to(log(into)[None, :], (size, size)),
            np.broadcast_to(log(counts.calls)[:, None], (size, size)),
            np.broadcast_to(log(counts.calls)[None, :], (size, size)),
            np.eye(size),
            log(links.T @ links),
            log(links @ links.T),
        ]
        return np.stack([np.asarray(part, dtype=np.float32) for part in parts], axis=-1)


def adamic_adar(links: Matrix) -> Matrix:
    """Return the sum over common neighbours of 1 / ln(degree), for undirected links."""
    both = np.maximum(links, links.T)
    np.fill_diagonal(both, 0)
    degree = both.sum(1)
    weight = np.where(degree > 1, 1 / np.log(np.maximum(degree, 2)), 0)
    return np.asarray((both * weight[None, :]) @ both, dtype=np.float32)


def near(likeness: Matrix, most: int = NEAR) -> Matrix:
    """Return weights of each tool's nearest other tools: cubed similarities, normalised by row."""
    weights = likeness.copy()
    np.fill_diagonal(weights, 0)
    if len(weights) > most:
        least = np.partition(weights, -most, axis=1)[:, -most]
        weights[weights < least[:, None]] = 0
    # Cubing concentrates the weight on the most similar tools.
    weights **= 3
    return np.asarray(weights / np.maximum(weights.sum(1, keepdims=True), 1e-6), np.float32)


def best_likeness(
    likeness: Matrix, ours: tuple[tuple[int, ...], ...], theirs: tuple[tuple[int, ...], ...]
) -> Matrix:
    """Return the best similarity of two tools' parameters for each pair; 0 without parameters."""
    table = np.zeros((len(ours), len(theirs)), np.float32)
    some = [j for j, rows in enumerate(theirs) if rows]
    if not some:
        return table
    # Flatten all parameter lists, so that one reduceat call takes the maximum per tool.
    columns = np.concatenate([theirs[j] for j in some])
    starts = np.cumsum([0, *(len(theirs[j]) for j in some[:-1])])
    for i, rows in enumerate(ours):
        if rows:
            best = likeness[list(rows)].max(0)
            table[i, some] = np.maximum.reduceat(best[columns], starts)
    return table


def mean_likeness(likeness: Matrix, takes: tuple[tuple[int, ...], ...]) -> Matrix:
    """Return how well each tool's inputs match another tool on average; 0 without inputs."""
    table = np.zeros((len(takes), len(takes)), np.float32)
    matched = best_likeness(likeness, tuple((row,) for row in range(len(likeness))), takes)
    for i, rows in enumerate(takes):
        if rows:
            table[i] = matched[list(rows)].mean(0)
    return table


def chosen(values: NDArray[np.float32], pairs: Pairs) -> NDArray[np.float32]:
    return values[pairs[:, 0], pairs[:, 1]]
