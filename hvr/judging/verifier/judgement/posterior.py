"""P(plan | request, draft): a log-linear model of the plan that is meant by a draft.

    P(π | r, draft) = softmax over candidates π of (w · f(π, r, draft))

f are the `FEATURES`, w the weights of `fit_weights`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from hvr.judging.verifier.judgement.edits import difference
from hvr.judging.verifier.judgement.past_plans import Expectation, Tools
from hvr.judging.verifier.tool_embeddings import Floats

T = TypeVar("T")

FEATURES = (
    "moves", "tools", "length", "seen", "replaced", "deleted", "inserted", "reordered",
    "another", "unlinked", "unseen_link", "cover", "repeated",
)  # fmt: skip
"""Names of the features of a candidate plan, in order; saved judges use them as keys.

moves            log-odds of each tool following the one before, by regression on the request
tools            log-odds of each tool being called, by the same
length           (number of steps - the one predicted by the same)²
seen             log P(plan | request) by the plans of similar requests
replaced, deleted, inserted, reordered   the edits, see `PlanChange`
another          nothing of the draft is kept; then the edits do not count
unlinked         consecutive tools without a link
unseen_link      consecutive tools that follow each other in no past plan
cover            cosine of the request and the mean of the tools
repeated         calls of a tool that was called before
"""


def plan_features(expected: Expectation, draft: Tools, plans: Sequence[Tools]) -> Floats:
    """Return the features of candidate plans (plans, len(FEATURES)).

    Args:
        expected: for the request.
        draft: the planner's.
        plans: the candidates.
    """
    rows = [_features(expected, draft, plan) for plan in plans]
    return np.array(rows, dtype=np.float32).reshape(-1, len(FEATURES))


def _features(expected: Expectation, draft: Tools, plan: Tools) -> tuple[float, ...]:
    embeddings = expected.past.embeddings
    change = difference(draft, plan)
    another = not any(draft[i] == plan[j] for i, j in change.pairs)
    edits = (change.replaced, change.deleted, change.inserted, change.reordered)
    links = list(itertools.pairwise(plan))
    mean = embeddings.vectors[list(plan)].mean(0)
    predicted = expected.predicted
    return (
        predicted.of_moves(expected.past.moves(plan)),
        predicted.of_tools(plan),
        (len(plan) - predicted.steps) ** 2,
        expected.seen(plan),
        *((0.0,) * len(edits) if another else edits),
        another,
        sum(not embeddings.fits[a, b] for a, b in links),
        sum(expected.moved(a, b) <= 0 for a, b in links),
        float(mean @ expected.embedding) / max(float(np.linalg.norm(mean)), 1e-6),
        len(plan) - len(set(plan)),
    )


@dataclass(frozen=True)
class Case:
    """A draft with its candidates, of which one is true.

    Args:
        features: of each candidate (plans, len(FEATURES)); the draft is the first.
        true: place of the true plan.
    """

    features: Floats
    true: int


def fit_weights(cases: Sequence[Case], decay: float = 3e-3, steps: int = 40) -> Floats:
    """Return the weights w that maximise the likelihood of the true plans (len(FEATURES),).

        L(w) = mean over cases of -log softmax_π(w · f(π))[true] + decay |w * s|²

    with s the standard deviations of the features. It is convex; found by Newton's method.

    Args:
        cases: at least one.
        decay: of the weights.
        steps: at most.
    """
    values = np.concatenate([c.features for c in cases]).astype(np.float64)
    scale = values.std(0) + 1e-6
    values /= scale
    ends = np.cumsum([0, *(len(c.features) for c in cases)])
    starts, sizes = ends[:-1], np.diff(ends)
    true = starts + np.array([c.true for c in cases])
    size = values.shape[1]
    weights = np.zeros(size)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        scores = values @ w
        shifted = scores - np.repeat(np.maximum.reduceat(scores, starts), sizes)
        total = np.add.reduceat(np.exp(shifted), starts)
        logs = shifted - np.repeat(np.log(total), sizes)
        return float(-logs[true].mean() + decay * w @ w), np.exp(logs)

    now, shares = loss(weights)
    for _ in range(steps):
        means = np.add.reduceat(values * shares[:, None], starts)
        gradient = (means - values[true]).mean(0) + 2 * decay * weights
        curvature = (values * shares[:, None]).T @ values - means.T @ means
        curvature = curvature / len(cases) + 2 * decay * np.eye(size)
        step = np.linalg.solve(curvature, gradient)
        length = 1.0
        while length > 1e-4:
            then, changed = loss(weights - length * step)
            if then < now:
                break
            length /= 2
        else:
            break
        done = now - then < 1e-7
        weights, now, shares = weights - length * step, then, changed
        if done:
            break
    return np.asarray(weights / scale, dtype=np.float32)


def probabilities(scores: Floats) -> Floats:
    """Return the softmax of scores (plans,)."""
    values = np.exp(scores - scores.max())
    return np.asarray(values / values.sum(), dtype=np.float32)


def expected_agreements(plans: Sequence[Tools], shares: Floats, considered: int = 20) -> Floats:
    """Return the expected agreement of plans with the true one (plans,).

    sum over π' of P(π') agreement(π, π'), with agreement the mean of node F1, link F1 and exact
    match. The plan with the highest is the choice of least risk (minimum Bayes risk decoding): the
    most probable plan is most often right; one that shares much with all probable plans is less
    wrong when it is wrong.

    Args:
        plans: the candidates; the draft is the first.
        shares: their probabilities (plans,).
        considered: number of the most probable plans considered, besides the draft; others get 0.
    """
    order = np.argsort(-shares, kind="stable")[:considered].tolist()
    chosen = dict.fromkeys([0, *order])
    values = np.zeros(len(plans), dtype=np.float32)
    for place in chosen:
        values[place] = sum(
            float(shares[other]) * agreement(plans[place], plans[other]) for other in order
        )
    return values


def agreement(plan: Tools, true: Tools) -> float:
    """Return the mean of node F1, link F1 and exact match of two plans."""
    if plan == true:
        return 1.0
    links = set(itertools.pairwise(plan)), set(itertools.pairwise(true))
    nodes = set(plan), set(true)
    return (_f1(*nodes) + _f1(*links)) / 3


def _f1(predicted: set[T], true: set[T]) -> float:
    size = len(predicted) + len(true)
    return 2 * len(predicted & true) / size if size else 0.0
