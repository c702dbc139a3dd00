"""Complete linkage gives the same clusters as repeatedly merging the most similar pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.catalogue import schema_matching
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema
from hvr.tools.catalogue.schema_matching import complete_linkage, meanings


def thresholds(asked: NDArray[np.float32]) -> schema_matching.LeastCosine:
    return lambda rows, columns: asked[rows, columns].copy()


def greedy(similar: NDArray[np.float32], asked: NDArray[np.float32]) -> set[frozenset[int]]:
    """Merge the two most similar clusters while all their members are compatible."""
    groups = [frozenset([row]) for row in range(len(similar))]
    while True:
        best, pair = 0.0, None
        for one, other in combinations(groups, 2):
            across = [(a, b) for a in one for b in other]
            least = min(float(similar[a, b]) for a, b in across)
            if all(similar[a, b] >= asked[a, b] for a, b in across) and least > best:
                best, pair = least, (one, other)
        if pair is None:
            return set(groups)
        groups = [g for g in groups if g not in pair] + [pair[0] | pair[1]]


@given(st.integers(0, 10**6), st.integers(1, 14), st.sampled_from([0.05, 0.3, 0.6]))
def test_the_clusters_are_those_of_merging_the_most_similar_pair(
    seed: int, rows: int, asked: float
) -> None:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(rows, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    least = np.full((rows, rows), asked, dtype=np.float32)
    apart = random.random((rows, rows)) < 0.1
    least[apart | apart.T] = 2.0
    similar = vectors @ vectors.T
    # Equally similar pairs may merge in any order; four decimals count.
    rounded = [round(float(similar[a, b]), 4) for a, b in combinations(range(rows), 2)]
    assume(len(set(rounded)) == len(rounded))
    found = complete_linkage(vectors, thresholds(least))
    assert {frozenset(group) for group, _ in found} == greedy(similar, least)
    for group, lowest in found:
        pairs = [float(vectors[a] @ vectors[b]) for a, b in combinations(group, 2)]
        assert abs(lowest - min(pairs, default=1.0)) < 1e-3


def test_rows_beyond_those_clustered_at_once_are_clustered_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schema_matching, "MAX_ROWS", 3)
    vectors = np.ones((7, 1), dtype=np.float32)
    found = complete_linkage(vectors, thresholds(np.zeros((7, 7), dtype=np.float32)))
    assert [group for group, _ in found] == [[0, 1, 2], [3, 4, 5], [6]]


def test_thousands_of_tools_that_share_a_name_are_merged() -> None:
    query = (ToolParameter("query", "string", "text"),)
    tools = tuple(ToolSchema(f"search_{n}", f"Searches shelf {n}", query) for n in range(3_000))
    found = meanings(Catalogue(tools), TextVectors("lexical-hash"))
    assert sum(len(m.slots) for m in found) == 3_000
    assert len({m.name for m in found}) == len(found) < 1_000
