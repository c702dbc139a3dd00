"""Which of several plans a draft should have been: a weighed sum, its weights fitted."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import nn

from hvr.verifier.correction.nearest_plans import Tools
from hvr.verifier.correction.proposals import difference
from hvr.verifier.correction.sequence_prior import Habits
from hvr.verifier.tool_embeddings import Floats, ToolSpace

T = TypeVar("T")

CLUES = (
    "usual", "means", "replaced", "deleted", "inserted", "reordered", "unlike", "unlinked",
    "near_insert", "unasked_delete", "plausible", "seen",
)  # fmt: skip
"""What speaks for or against a plan, in the order of `clues`."""


def clues(
    space: ToolSpace,
    habits: Habits,
    request: str,
    draft: Tools,
    fit: Floats,
    plans: Sequence[Tools],
    plausible: Floats,
) -> Floats:
    """Return what speaks for and against plans (plans, len(CLUES)).

    Args:
        space: of the tools.
        habits: what is usual.
        request: what was asked.
        draft: the planner's.
        fit: log P(tool | step) of the draft's steps (steps, tools).
        plans: to be weighed.
        plausible: logits of the verifier's S (plans,).
    """
    found = np.zeros((len(plans), len(CLUES)), dtype=np.float32)
    found[:, 0] = habits.plans(request, plans)
    relevance = space.relevance(request)
    for row, plan in zip(found, plans, strict=True):
        change = difference(draft, plan)
        kept_new = {j for _, j in change.pairs}
        kept_old = {i for i, _ in change.pairs}
        # Clipped: a step may say something that no training step said.
        row[1] = sum(max(float(fit[i, plan[j]]), -8.0) for i, j in change.pairs)
        row[1] += sum(-3.0 for i in range(len(draft)) if i not in kept_old)
        row[2:6] = change.replaced, change.deleted, change.inserted, change.reordered
        row[6] = sum(
            1 - float(space.similarity[draft[i], plan[j]])
            for i, j in change.pairs
            if draft[i] != plan[j]
        )
        row[7] = sum(not space.fits[a, b] for a, b in itertools.pairwise(plan))
        row[8] = sum(float(relevance[t]) for j, t in enumerate(plan) if j not in kept_new)
        row[9] = sum(float(relevance[t]) for i, t in enumerate(draft) if i not in kept_old)
    found[:, 10] = plausible
    found[:, 11] = habits.seen(request, plans)
    return found


@dataclass(frozen=True)
class Case:
    """A draft with the plans it may have meant.

    Args:
        clues: of each plan (plans, len(CLUES)); the draft is the first.
        true: which one is true.
    """

    clues: Floats
    true: int


def fit_weights(cases: Sequence[Case], decay: float = 0.02, steps: int = 300) -> Floats:
    """Return weights that make the true plan of each case the likeliest (len(CLUES),).

    The chance of a plan is the exponential of its weighed sum, over that of all plans.
    """
    widest = max(len(c.clues) for c in cases)
    values = torch.zeros(len(cases), widest, len(CLUES))
    there = torch.zeros(len(cases), widest, dtype=torch.bool)
    for i, case in enumerate(cases):
        values[i, : len(case.clues)] = torch.from_numpy(case.clues)
        there[i, : len(case.clues)] = True
    true = torch.tensor([c.true for c in cases])
    weights = nn.Parameter(torch.zeros(len(CLUES)))
    optimiser = torch.optim.Adam([weights], lr=0.05)
    for _ in range(steps):
        sums = (values @ weights).masked_fill(~there, -1e9)
        loss = nn.functional.cross_entropy(sums, true) + decay * weights.square().mean()
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
    return np.asarray(weights.detach().numpy(), dtype=np.float32)


def expected_best(plans: Sequence[Tools], weighed: Floats, shown: int = 20) -> int:
    """Return the plan that is expected to agree best with the true one.

    Each plan may be the true one, with the chance that `fit_weights` speaks of. The likeliest
    plan is most often all right; one that shares most with all likely plans is less wrong where
    it is wrong. Agreement is the mean of node F1, link F1 and being all right.

    Args:
        plans: to choose from.
        weighed: their sums (plans,).
        shown: how many of the heaviest can be chosen.

    Returns:
        The place of the plan.
    """
    order = np.argsort(-weighed, kind="stable")[: max(shown, 1)].tolist()
    chances = np.exp(weighed[order] - weighed[order].max())
    chances = chances / chances.sum()
    best, found = -1.0, order[0]
    for place in order:
        value = sum(
            chance * _agreement(plans[place], plans[other])
            for chance, other in zip(chances.tolist(), order, strict=True)
        )
        if value > best + 1e-9:
            best, found = value, place
    return int(found)


def _agreement(plan: Tools, true: Tools) -> float:
    if plan == true:
        return 1.0
    links = set(itertools.pairwise(plan)), set(itertools.pairwise(true))
    return (_f1(set(plan), set(true)) + _f1(*links)) / 3


def _f1(predicted: set[T], true: set[T]) -> float:
    both = len(predicted) + len(true)
    return 2 * len(predicted & true) / both if both else 0.0
