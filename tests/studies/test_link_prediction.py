"""Predictors find links that no call has shown, and never see hidden data."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

pytest.importorskip("immutables")
pytest.importorskip("torch_geometric")

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.tools.navigation.graph import ObservedCall
from studies.link_prediction.features import adamic_adar, best_likeness, mean_likeness, near
from studies.link_prediction.graph_arrays import graph_arrays, graph_of
from studies.link_prediction.measures import area_under_curve, best_cut, f1, hits_at
from studies.link_prediction.pair_network import PairNetwork, Propagation
from studies.link_prediction.predictor import LinkPredictor, alike, common_neighbours, counted
from studies.link_prediction.sequences import (
    folds,
    hard_negatives,
    hidden_parts,
    random_negatives,
    sequence_counts,
)
from studies.link_prediction.transformer import GraphTransformer
from studies.link_prediction.vectors import NodeVectors

KINDS, SIZE = 6, 36
"""Tools have six kinds; a tool of one kind follows one of the kind before."""


def world(seed: int = 0) -> NodeVectors:
    random = np.random.default_rng(seed)
    kinds = np.eye(KINDS, 24)[np.arange(SIZE) % KINDS]
    vectors = (kinds + 0.2 * random.normal(size=(SIZE, 24))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    parameters = np.eye(KINDS, 24).astype(np.float32)
    return NodeVectors(
        tuple(f"t{i}" for i in range(SIZE)),
        tuple(f"p{i}" for i in range(KINDS)),
        vectors,
        parameters,
        tuple((i % KINDS,) for i in range(SIZE)),
        tuple(((i + 1) % KINDS,) for i in range(SIZE)),
        np.zeros(SIZE, dtype=np.int64),
    )


def runs_of(count: int, seed: int = 0) -> list[list[ObservedCall]]:
    random = np.random.default_rng(seed)
    runs = []
    for _ in range(count):
        kind, run = int(random.integers(KINDS)), []
        for step in range(3):
            tool = (kind + step) % KINDS + KINDS * int(random.integers(SIZE // KINDS))
            before = run[-1].tool if run else ""
            run.append(ObservedCall(f"t{tool}", True, 1.0, before))
        runs.append(run)
    return runs


def right(
    vectors: NodeVectors, scores: np.ndarray, seen: Sequence[Sequence[ObservedCall]]
) -> float:
    """Return the AUC of unobserved links between the right kinds."""
    kind = np.arange(SIZE) % KINDS
    true = (kind[:, None] + 1) % KINDS == kind[None, :]
    known = sequence_counts(vectors, seen).links
    return area_under_curve(scores[true & ~known], scores[~true & ~known])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "least"),
    [
        (PairNetwork(members=2, steps=150), 0.9),
        (PairNetwork(hidden=0, members=2, steps=150), 0.8),
        (Propagation(), 0.55),
        (GraphTransformer(width=32, epochs=12, rate=5e-3, head="product"), 0.8),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_was_not_called_yet_is_found(method: LinkPredictor, least: float) -> None:
    vectors, runs = world(), runs_of(60)
    told: list[tuple[int, int]] = []
    scores = method(vectors, runs, 0, lambda done, of, _: told.append((done, of)))
    assert scores.shape == (SIZE, SIZE)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert right(vectors, scores, runs) > least
    assert told[-1][0] == told[-1][1]
    again = method(vectors, runs, 0, None)
    assert np.allclose(scores, again, atol=1e-5)


def test_methods_that_learn_nothing() -> None:
    vectors, runs = world(), runs_of(60)
    likely = counted(vectors, runs, 0, None)
    one = runs[0]
    assert likely[vectors.row[one[0].tool], vectors.row[one[1].tool]] > np.median(likely)
    assert right(vectors, common_neighbours(vectors, runs, 0, None), runs) > 0
    cosine = alike(vectors, runs, 0, None)
    assert np.allclose(np.diag(cosine), 1, atol=1e-5)


@pytest.mark.slow
@settings(max_examples=6)
@given(st.integers(0, 50))
def test_a_task_of_training_does_not_show_what_it_hides(seed: int) -> None:
    vectors, runs = world(), runs_of(20, seed)
    whole = sequence_counts(vectors, runs)
    for part in hidden_parts(vectors, runs, seed):
        assert not part.counts.links[part.links[:, 0], part.links[:, 1]].any()
        assert whole.links[part.links[:, 0], part.links[:, 1]].all()
        assert not whole.links[part.others[:, 0], part.others[:, 1]].any()
        shown = graph_of(vectors, part.seen)
        for source, target in part.links:
            assert shown.calls.get(vectors.tools[source], vectors.tools[target]) is None


@given(st.integers(0, 30), st.integers(2, 6))
def test_folds_leave_out_each_run_once(count: int, number: int) -> None:
    runs = [[ObservedCall(f"t{i}", True, 1.0)] for i in range(count)]
    left = [[run for run in runs if run not in seen] for seen in folds(runs, number, 0)]
    assert sorted(run[0].tool for some in left for run in some) == sorted(r[0].tool for r in runs)


def test_negatives_are_no_links_and_of_one_catalogue() -> None:
    vectors, runs = world(), runs_of(30)
    counts = sequence_counts(vectors, runs)
    random = np.random.default_rng(0)
    positives = np.argwhere(counts.links)
    hard = hard_negatives(vectors, counts.links, positives, counts.calls > 0, random)
    assert (hard[:, 0] == positives[:, 0]).all()
    assert not counts.links[hard[:, 0], hard[:, 1]].any()
    assert (counts.calls[hard[:, 1]] > 0).all()
    assert len(random_negatives(np.zeros((3, 3), bool), 5, random)) == 0


SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=8).map(np.array)


@settings(max_examples=30)
@given(SCORES, SCORES)
def test_measures_are_what_they_say(good: np.ndarray, bad: np.ndarray) -> None:
    wins = [1.0 if g > b else 0.5 if g == b else 0.0 for g in good for b in bad]
    assert area_under_curve(good, bad) == pytest.approx(np.mean(wins))
    assert area_under_curve(good, bad) == pytest.approx(1 - area_under_curve(bad, good))
    cut = best_cut(good, bad)
    assert f1(good, bad, cut) == max(f1(good, bad, c) for c in (*good, *bad, -1.0))


def test_hits_and_empty_sides() -> None:
    assert hits_at(np.array([1, 10, 11, 40])) == 0.5
    assert np.isnan(area_under_curve(np.array([]), np.array([1.0])))
    assert best_cut(np.array([]), np.array([])) == 0.5


def test_features_are_what_they_say() -> None:
    links = np.zeros((4, 4), np.float32)
    links[0, 1] = links[1, 2] = links[3, 1] = 1
    # 0 and 2 share the neighbour 1, which has three.
    assert adamic_adar(links)[0, 2] == pytest.approx(1 / np.log(3))
    likeness = np.array([[1, 0.2, 0.5], [0.2, 1, 0.9], [0.5, 0.9, 1]], np.float32)
    table = best_likeness(likeness, ((0, 1), ()), ((2,), (), (0, 2)))
    assert np.allclose(table, [[0.9, 0, 1], [0, 0, 0]])
    mean = mean_likeness(likeness, ((0, 1), (2,)))
    assert mean[0, 1] == pytest.approx((0.5 + 0.9) / 2) and mean[1, 0] == pytest.approx(0.9)
    weights = near(np.array([[1, 0.5, 0.1], [0.5, 1, 0], [0.1, 0, 1]], np.float32), 1)
    assert weights.tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0]]


def test_arrays_have_every_link_both_ways() -> None:
    vectors = world()
    arrays = graph_arrays(vectors, graph_of(vectors, runs_of(10)))
    assert set(arrays.relations) == {
        f"{kind}{way}" for kind in ("inputs", "outputs", "calls", "passes") for way in ("", " back")
    }
    calls, back = arrays.relations["calls"], arrays.relations["calls back"]
    assert calls.ends.flip(0).equal(back.ends) and (calls.weights > 0.5).all()
    assert arrays.nodes["tool"].shape == (SIZE, 24 + 5)
