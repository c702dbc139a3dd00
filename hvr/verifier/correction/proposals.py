"""Candidate plans near a draft, and their edit distance from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hvr.verifier.correction.nearest_plans import Tools
from hvr.verifier.correction.sequence_prior import SequencePrior
from hvr.verifier.tool_embeddings import Floats

INDEL_COST = 0.9
"""Cost of a deletion or an insertion; a replacement costs 1, less than one of each."""
EDIT_PENALTY = 1.5
"""Nats by which a candidate is ranked lower for each edit, while candidates are searched for."""


@dataclass(frozen=True)
class Draft:
    """A planner's draft, as the search for corrections sees it.

    Args:
        request: its text.
        tools: numbers of the drafted tools.
        step_log_probs: log P(tool | step, request) of the drafted steps (steps, tools).
    """

    request: str
    tools: Tools
    step_log_probs: Floats


@dataclass(frozen=True)
class SearchLimits:
    """Limits of the search for candidates.

    Args:
        rounds: rounds of single edits.
        width: plans edited in a round (the beam).
        keep: candidates returned at most, the draft included.
        neighbours: plans of similar requests considered.
        likely: likeliest next tools tried at a place.
        meant: likeliest tools of a step tried in its place.
        similar: most similar tools tried in place of a tool.
    """

    rounds: int = 3
    width: int = 6
    keep: int = 60
    neighbours: int = 12
    likely: int = 8
    meant: int = 5
    similar: int = 5


@dataclass(frozen=True)
class PlanChange:
    """The alignment of a plan with a draft.

    Args:
        pairs: (place in the draft, place in the plan) of steps that are kept or replaced; the
            other steps of the draft are deleted, the other steps of the plan inserted.
        replaced: number of replaced tools.
        deleted: number of deleted steps.
        inserted: number of inserted steps.
        reordered: same tools, another order.
    """

    pairs: tuple[tuple[int, int], ...]
    replaced: int
    deleted: int
    inserted: int
    reordered: bool


@lru_cache(maxsize=4096)
def difference(draft: Tools, plan: Tools) -> PlanChange:
    """Return the alignment of least edit distance (Wagner-Fischer).

    A replacement costs 1, a deletion or insertion `INDEL_COST`. A permutation of the draft counts
    as reordered and nothing else.
    """
    if draft != plan and sorted(draft) == sorted(plan):
        return PlanChange(_permutation(draft, plan), 0, 0, 0, True)
    n, m = len(draft), len(plan)
    cost = [[INDEL_COST * (i + j) for j in range(m + 1)] for i in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost[i][j] = min(
                cost[i - 1][j - 1] + (draft[i - 1] != plan[j - 1]),
                cost[i - 1][j] + INDEL_COST,
                cost[i][j - 1] + INDEL_COST,
            )
    aligned: list[tuple[int, int]] = []
    i, j, replaced = n, m, 0
    while i and j:
        other = draft[i - 1] != plan[j - 1]
        # Costs are sums of 0.9s in different orders, so they are compared with a tolerance.
        if abs(cost[i][j] - cost[i - 1][j - 1] - other) < 1e-9:
            aligned.append((i - 1, j - 1))
            replaced += other
            i, j = i - 1, j - 1
        elif abs(cost[i][j] - cost[i - 1][j] - INDEL_COST) < 1e-9:
            i -= 1
        else:
            j -= 1
    pairs = tuple(reversed(aligned))
    return PlanChange(pairs, replaced, n - len(pairs), m - len(pairs), False)


def _permutation(draft: Tools, plan: Tools) -> tuple[tuple[int, int], ...]:
    """Return the pairs of equal tools of two plans with the same tools, in order of the draft."""
    free = dict(enumerate(draft))
    pairs = []
    for j, tool in enumerate(plan):
        i = next(i for i, t in free.items() if t == tool)
        del free[i]
        pairs.append((i, j))
    return tuple(sorted(pairs))


def proposals(
    prior: SequencePrior,
    draft: Draft,
    similar: Sequence[Sequence[int]],
    limits: SearchLimits | None = None,
) -> list[Tools]:
    """Return candidate corrections of a draft, the draft first.

    A beam search over single edits (another tool, a step less, a step more, two neighbours
    swapped), ranked by log P(plan | request) - `EDIT_PENALTY` * edits. To these come the likeliest
    plans for the request regardless of the draft: those of the prior by beam search, and those of
    similar requests.

    Args:
        prior: of plans for a request.
        draft: the draft.
        similar: for each tool, the tools like it, nearest first.
        limits: of the search.
    """
    limits = limits or SearchLimits()
    ranking = _ranking(prior, draft, [draft.tools])
    beam = [draft.tools]
    for _ in range(limits.rounds):
        edited = dict.fromkeys(
            made
            for plan in beam
            for made in _edits(prior, draft, plan, similar, limits)
            if made and made not in ranking
        )
        if not edited:
            break
        ranking |= _ranking(prior, draft, list(edited))
        beam = sorted(edited, key=lambda p: (-ranking[p], p))[: limits.width]
    whole = [
        *prior.beam_search(draft.request),
        *prior.neighbour_plans(draft.request, limits.neighbours),
    ]
    ranking |= _ranking(prior, draft, [p for p in dict.fromkeys(whole) if p not in ranking])
    others = sorted((p for p in ranking if p != draft.tools), key=lambda p: (-ranking[p], p))
    return [draft.tools, *others[: limits.keep - 1]]


def _ranking(prior: SequencePrior, draft: Draft, plans: Sequence[Tools]) -> dict[Tools, float]:
    """Return the ranking scores of plans in the search for candidates."""
    if not plans:
        return {}
    logs = prior.log_prob(draft.request, plans).tolist()
    return {
        plan: log - EDIT_PENALTY * _edit_count(draft.tools, plan)
        for plan, log in zip(plans, logs, strict=True)
    }


def _edit_count(draft: Tools, plan: Tools) -> int:
    """Return roughly how many edits apart two plans are.

    An approximation of `difference` that is fast enough for every plan of the search.
    """
    shared = 0
    left = list(draft)
    for tool in plan:
        if tool in left:
            left.remove(tool)
            shared += 1
    reordered = shared == len(draft) == len(plan) and draft != plan
    return max(len(draft), len(plan)) - shared + reordered


def _edits(
    prior: SequencePrior,
    draft: Draft,
    plan: Tools,
    similar: Sequence[Sequence[int]],
    limits: SearchLimits,
) -> list[Tools]:
    """Return all plans one edit away: deletions, swaps, replacements, insertions."""
    tools = len(similar)
    logs = prior.next_log_probs(draft.request, [plan[:i] for i in range(len(plan) + 1)])
    likely = [_best(logs[i, :tools], limits.likely) for i in range(len(plan) + 1)]
    made: list[Tools] = []
    for i, tool in enumerate(plan):
        made.append(plan[:i] + plan[i + 1 :])
        if i:
            made.append((*plan[: i - 1], tool, plan[i - 1], *plan[i + 1 :]))
        at = next((k for k, t in enumerate(draft.tools) if t == tool), len(draft.step_log_probs))
        has_step = at < len(draft.step_log_probs)
        meant = _best(draft.step_log_probs[at], limits.meant) if has_step else []
        for other in dict.fromkeys([*likely[i], *meant, *similar[tool][: limits.similar]]):
            if other != tool:
                made.append((*plan[:i], other, *plan[i + 1 :]))
    for i in range(len(plan) + 1):
        for other in likely[i]:
            if other not in plan[max(i - 1, 0) : i + 1]:
                made.append((*plan[:i], other, *plan[i:]))
    return made


def _best(values: Floats, count: int) -> list[int]:
    places: list[int] = np.argsort(-values, kind="stable")[:count].tolist()
    return places
