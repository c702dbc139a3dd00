"""Reranking of candidate corrections: a log-linear model with fitted weights.

    P(π | draft) = softmax over candidates π of (w · f(π, draft))

f are the `FEATURES`, w the weights of `fit_weights`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import nn

from hvr.verifier.correction.nearest_plans import Tools
from hvr.verifier.correction.proposals import Draft, difference
from hvr.verifier.correction.sequence_prior import SequencePrior
from hvr.verifier.tool_embeddings import Floats, ToolEmbeddings

T = TypeVar("T")

FEATURES = (
    "usual", "means", "replaced", "deleted", "inserted", "reordered", "unlike", "unlinked",
    "near_insert", "unasked_delete", "plausible", "seen",
)  # fmt: skip
"""Names of the features of a candidate plan, in order; saved correctors use them as keys.

usual            log P(plan | request) of the sequence prior
means            sum of log P(tool | step) over the steps of the draft
replaced, deleted, inserted, reordered   the edits, see `PlanChange`
unlike           sum of 1 - cos(old tool, new tool) over replacements
unlinked         consecutive tools without a link
near_insert      sum of cos(request, tool) over inserted tools
unasked_delete   the same over deleted tools
plausible        logit of the verifier's score
seen             log P(plan | request) of the nearest-plan index
"""
_COLUMN = {name: i for i, name in enumerate(FEATURES)}

MIN_STEP_LOG_PROB = -8.0
"""Lower bound of log P(tool | step): a step may differ from every training step."""
DELETED_STEP_LOG_PROB = -3.0
"""Counted in "means" for a deleted step, to which no tool corresponds."""


def plan_features(
    embeddings: ToolEmbeddings,
    prior: SequencePrior,
    draft: Draft,
    plans: Sequence[Tools],
    verifier_logits: Floats,
) -> Floats:
    """Return the features of candidate plans (plans, len(FEATURES)).

    Args:
        embeddings: of the tools.
        prior: of plans for a request.
        draft: the planner's.
        plans: the candidates.
        verifier_logits: z of the verifier's score (plans,).
    """
    features = np.zeros((len(plans), len(FEATURES)), dtype=np.float32)
    features[:, _COLUMN["usual"]] = prior.log_prob(draft.request, plans)
    relevance = embeddings.relevance(draft.request)
    for row, plan in zip(features, plans, strict=True):
        _fill_edit_features(row, embeddings, draft, plan, relevance)
    features[:, _COLUMN["plausible"]] = verifier_logits
    features[:, _COLUMN["seen"]] = prior.neighbour_log_probs(draft.request, plans)
    return features


def _fill_edit_features(
    row: Floats, embeddings: ToolEmbeddings, draft: Draft, plan: Tools, relevance: Floats
) -> None:
    """Fill in the features of one plan that depend on its edits and its tools."""
    change = difference(draft.tools, plan)
    kept_new = {j for _, j in change.pairs}
    kept_old = {i for i, _ in change.pairs}
    row[_COLUMN["means"]] = sum(
        max(float(draft.step_log_probs[i, plan[j]]), MIN_STEP_LOG_PROB) for i, j in change.pairs
    )
    row[_COLUMN["means"]] += sum(
        DELETED_STEP_LOG_PROB for i in range(len(draft.tools)) if i not in kept_old
    )
    row[_COLUMN["replaced"]] = change.replaced
    row[_COLUMN["deleted"]] = change.deleted
    row[_COLUMN["inserted"]] = change.inserted
    row[_COLUMN["reordered"]] = change.reordered
    row[_COLUMN["unlike"]] = sum(
        1 - float(embeddings.similarity[draft.tools[i], plan[j]])
        for i, j in change.pairs
        if draft.tools[i] != plan[j]
    )
    row[_COLUMN["unlinked"]] = sum(not embeddings.fits[a, b] for a, b in itertools.pairwise(plan))
    row[_COLUMN["near_insert"]] = sum(
        float(relevance[t]) for j, t in enumerate(plan) if j not in kept_new
    )
    row[_COLUMN["unasked_delete"]] = sum(
        float(relevance[t]) for i, t in enumerate(draft.tools) if i not in kept_old
    )


@dataclass(frozen=True)
class Case:
    """A draft with its candidate corrections, for fitting.

    Args:
        features: of each candidate (plans, len(FEATURES)); the draft is the first.
        true: place of the true plan.
    """

    features: Floats
    true: int


def fit_weights(cases: Sequence[Case], decay: float = 0.02, steps: int = 300) -> Floats:
    """Return the weights w that maximise the likelihood of the true plans (len(FEATURES),).

        L(w) = mean over cases of -log softmax_π(w · f(π))[true] + decay * mean(w²)

    Args:
        cases: drafts with candidates.
        decay: of the weights.
        steps: of Adam.
    """
    most = max(len(c.features) for c in cases)
    values = torch.zeros(len(cases), most, len(FEATURES))
    present = torch.zeros(len(cases), most, dtype=torch.bool)
    for i, case in enumerate(cases):
        values[i, : len(case.features)] = torch.from_numpy(case.features)
        present[i, : len(case.features)] = True
    true = torch.tensor([c.true for c in cases])
    weights = nn.Parameter(torch.zeros(len(FEATURES)))
    optimiser = torch.optim.Adam([weights], lr=0.05)
    for _ in range(steps):
        scores = (values @ weights).masked_fill(~present, -1e9)
        loss = nn.functional.cross_entropy(scores, true) + decay * weights.square().mean()
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
    return np.asarray(weights.detach().numpy(), dtype=np.float32)


def minimum_risk(plans: Sequence[Tools], scores: Floats, considered: int = 20) -> int:
    """Return the place of the plan with the highest expected agreement with the true one.

    Minimum Bayes risk decoding: argmax_π sum over π' of P(π') agreement(π, π'), with P the softmax
    of the scores and agreement the mean of node F1, link F1 and exact match. The most probable plan
    is most often exactly right; one that shares much with all probable plans is less wrong when
    it is wrong.

    Args:
        plans: to choose from.
        scores: of each (plans,).
        considered: number of best plans considered.
    """
    order = np.argsort(-scores, kind="stable")[: max(considered, 1)].tolist()
    probabilities = np.exp(scores[order] - scores[order].max())
    probabilities = probabilities / probabilities.sum()
    best_value, best = -1.0, order[0]
    for place in order:
        value = sum(
            probability * _agreement(plans[place], plans[other])
            for probability, other in zip(probabilities.tolist(), order, strict=True)
        )
        # Ties, up to rounding, go to the more probable plan.
        if value > best_value + 1e-9:
            best_value, best = value, place
    return int(best)


def _agreement(plan: Tools, true: Tools) -> float:
    if plan == true:
        return 1.0
    links = set(itertools.pairwise(plan)), set(itertools.pairwise(true))
    return (_f1(set(plan), set(true)) + _f1(*links)) / 3


def _f1(predicted: set[T], true: set[T]) -> float:
    size = len(predicted) + len(true)
    return 2 * len(predicted & true) / size if size else 0.0
