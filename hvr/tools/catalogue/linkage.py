"""Complete-linkage clustering of unit vectors, for thousands of rows.

The nearest-neighbour chain merges the same clusters as always merging the most similar pair, where
no two pairs are equally similar to four decimals, in quadratic instead of cubic time. F. Murtagh,
"A Survey of Recent Advances in Hierarchical Clustering Algorithms", The Computer Journal 26(4),
1983.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Similarities = NDArray[np.int16]
Least = Callable[[slice, slice], NDArray[np.float32]]
"""For some rows and some others, the least cosine that lets two of them be in one cluster."""

MOST_ROWS = 6_000
"""Rows that are clustered together; their similarities take 2 bytes a pair, 72 MB."""

_SCALE = 10_000
"""Similarities are kept as whole numbers of this fraction."""

_BLOCK = 512
"""Rows whose similarities to all others are computed at once."""


def complete_linkage(vectors: Vectors, least: Least) -> list[tuple[list[int], float]]:
    """Return clusters of rows in which every two rows are similar enough.

    Rows beyond `MOST_ROWS` are clustered in parts, in their order; so put rows that may belong
    together next to each other.

    Args:
        vectors: (n, dimension), rows of length 1.
        least: The least cosine that lets two rows be in one cluster; more than 1 keeps them apart.

    Returns:
        Each cluster's rows in ascending order, with the least cosine between two of them (1 for
        a single row), ordered by their first row.
    """
    clusters = [
        cluster
        for start in range(0, len(vectors), MOST_ROWS)
        for cluster in _chain(_similarities(vectors, least, start), start)
    ]
    return sorted(clusters)


def _similarities(vectors: Vectors, least: Least, start: int) -> Similarities:
    """Return the pairwise similarities of a part; 0 where two rows must stay apart."""
    part = vectors[start : start + MOST_ROWS]
    found = np.zeros((len(part), len(part)), dtype=np.int16)
    for first in range(0, len(part), _BLOCK):
        end = min(first + _BLOCK, len(part))
        cosines = part[first:end] @ part.T
        asked = least(slice(start + first, start + end), slice(start, start + len(part)))
        cosines[cosines < asked] = 0.0
        found[first:end] = np.rint(np.clip(cosines, 0.0, 1.0) * _SCALE)
    np.fill_diagonal(found, 0)
    return found


def _chain(similar: Similarities, start: int) -> Iterator[tuple[list[int], float]]:
    """Give the clusters; the matrix is used up."""
    members = {row: [row] for row in range(len(similar))}
    lowest = dict.fromkeys(members, _SCALE)
    chain: list[int] = []
    waiting = iter(range(len(similar)))
    while True:
        if not chain:
            tip = next((row for row in waiting if row in members), None)
            if tip is None:
                return
            chain.append(tip)
        tip = chain[-1]
        nearest = int(similar[tip].argmax())
        best = similar[tip, nearest]
        if len(chain) > 1 and similar[tip, chain[-2]] == best:
            nearest = chain[-2]
        if best == 0:  # nothing can join it: merging others never makes them more similar to it
            yield [start + row for row in sorted(members.pop(tip))], lowest[tip] / _SCALE
            chain.pop()
        elif len(chain) > 1 and nearest == chain[-2]:
            del chain[-2:]
            kept, gone = sorted((tip, nearest))
            _merge(similar, kept, gone)
            members[kept] += members.pop(gone)
            lowest[kept] = min(lowest[kept], lowest[gone], int(best))
            if not chain:
                chain.append(kept)
        else:
            chain.append(nearest)


def _merge(similar: Similarities, kept: int, gone: int) -> None:
    joined = np.minimum(similar[kept], similar[gone])
    joined[[kept, gone]] = 0
    similar[kept], similar[:, kept] = joined, joined
    similar[gone], similar[:, gone] = 0, 0
