"""Predicted links learnt from runs of calls, checked on runs held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hvr.errors import UsageError
from hvr.navigation.prediction.measures import area_under_curve, best_cut, f1
from hvr.navigation.prediction.predicted import LEAST, PredictedLinks, known_method
from hvr.navigation.prediction.predictor import (
    LinkPredictor,
    Progress,
    alike,
    common_neighbours,
    counted,
)
from hvr.navigation.prediction.sequences import Run, folds, random_negatives, sequence_counts
from hvr.navigation.prediction.vectors import Matrix, NodeVectors

METHODS = ("pairs", "logistic", "sgc", "hgt", "counted", "adamic-adar", "cosine")
"""What predicts, the default first; docs/results/toolworlds.md compares them."""

WITHOUT_TRAINING = frozenset(("counted", "adamic-adar", "cosine"))
"""Those that need no network, and so no extra."""

FEWEST = 5
"""Hidden links without which nothing is said of how good a method is."""


def predictor(name: str) -> LinkPredictor:
    """Return what predicts, by name.

    Raises:
        UsageError: there is none of this name.
        MissingExtraError: it needs the extra `gnn`, which is not installed.
    """
    plain: Mapping[str, LinkPredictor] = {
        "counted": counted, "adamic-adar": common_neighbours, "cosine": alike,
    }  # fmt: skip
    if known_method(name, METHODS) in plain:
        return plain[name]
    from hvr.extras import need_gnn

    need_gnn()
    if name == "sgc":
        from hvr.navigation.prediction.propagation import Propagation

        return Propagation()
    if name == "hgt":
        from hvr.navigation.prediction.transformer import GraphTransformer

        return GraphTransformer(weights="multiplied", head="product")
    from hvr.navigation.prediction.pair_network import PairNetwork

    return PairNetwork(hidden=0) if name == "logistic" else PairNetwork()


def learnt_links(
    vectors: NodeVectors,
    runs: Sequence[Run],
    method: str = METHODS[0],
    seed: int = 0,
    progress: Progress | None = None,
) -> PredictedLinks:
    """Return the links that runs of calls let expect.

    A fifth of the runs is held out first: how well the links are found that only it shows gives
    figures and threshold. What is returned is then learnt from all runs.

    Raises:
        UsageError: there is no such method, or no run has two calls.
        MissingExtraError: it needs the extra `gnn`, which is not installed.
    """
    predict = predictor(method)
    if not sequence_counts(vectors, runs).links.any():
        raise UsageError("no run has two calls one after the other: there is nothing to learn from")
    threshold, figures = _checked(predict, vectors, runs, seed)
    scores = np.clip(predict(vectors, runs, seed, progress), 0, None)
    # Adamic-Adar's index is no chance; the others are at most 1 anyway.
    scores = scores / max(float(scores.max()), 1.0)
    return PredictedLinks(method, _kept(vectors, scores), threshold, figures)


def _checked(
    predict: LinkPredictor, vectors: NodeVectors, runs: Sequence[Run], seed: int
) -> tuple[float, dict[str, float]]:
    whole = sequence_counts(vectors, runs)
    seen = folds(runs, 5, seed)[0]
    counts = sequence_counts(vectors, seen)
    hidden = np.argwhere(whole.links & ~counts.links)
    free = vectors.together & ~whole.links
    if len(hidden) < FEWEST or not free.any():
        return 0.5, {}
    scores = predict(vectors, seen, seed, None)
    scores = scores / max(float(scores.max()), 1.0)
    others = random_negatives(free, len(hidden), np.random.default_rng(seed))
    good, bad = (scores[some[:, 0], some[:, 1]] for some in (hidden, others))
    cut = best_cut(good, bad)
    area = area_under_curve(good, bad)
    return cut, {"hidden links": float(len(hidden)), "AUC": area, "best F1": f1(good, bad, cut)}


def _kept(vectors: NodeVectors, scores: Matrix) -> dict[str, dict[str, float]]:
    kept: dict[str, dict[str, float]] = {}
    for i, source in enumerate(vectors.tools):
        targets = np.flatnonzero((scores[i] >= LEAST) & vectors.together[i])
        if len(targets):
            kept[source] = {vectors.tools[j]: float(scores[i, j]) for j in targets}
    return kept
