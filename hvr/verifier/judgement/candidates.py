"""Candidates: the plans that may be meant by a draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hvr.verifier.judgement.past_plans import Expectation, Tools
from hvr.verifier.tool_embeddings import Floats

EDIT_PENALTY = 5.0
"""Log-odds by which a candidate is ranked lower for each edit, while candidates are sought."""


@dataclass(frozen=True)
class SearchLimits:
    """Limits of the search for candidates.

    Args:
        rounds: rounds of single edits.
        width: plans edited in a round (the beam).
        keep: candidates returned at most, the draft included.
        past: plans of similar requests considered.
        likely: likeliest next tools tried at a place.
        similar: most similar tools tried in place of a tool.
    """

    rounds: int = 2
    width: int = 6
    keep: int = 60
    past: int = 20
    likely: int = 6
    similar: int = 4


def candidates(
    expected: Expectation, draft: Tools, limits: SearchLimits | None = None
) -> list[Tools]:
    """Return the plans that may be meant by a draft, the draft first.

    A beam search over single edits (a step less, a step moved, another tool, a step more), ranked
    by the log-odds of their moves - `EDIT_PENALTY` * edits, and the plans of similar requests.

    Args:
        expected: for the request.
        draft: the draft, which may be empty.
        limits: of the search.
    """
    limits = limits or SearchLimits()
    ranking = {draft: _rank(expected, draft, draft)}
    beam = [draft]
    for _ in range(limits.rounds):
        edited = [p for b in beam for p in _edits(expected, b, limits) if p and p not in ranking]
        made = {p: _rank(expected, draft, p) for p in dict.fromkeys(edited)}
        ranking |= made
        beam = sorted(made, key=lambda p: (-made[p], p))[: limits.width]
    past = expected.plans
    for plan in sorted(past, key=lambda p: (-past[p], p))[: limits.past]:
        if plan not in ranking:
            ranking[plan] = _rank(expected, draft, plan)
    others = sorted((p for p in ranking if p != draft), key=lambda p: (-ranking[p], p))
    return [draft, *others[: limits.keep - 1]]


def _rank(expected: Expectation, draft: Tools, plan: Tools) -> float:
    """Return the score by which candidates are searched for."""
    shared = 0
    left = list(draft)
    for tool in plan:
        if tool in left:
            left.remove(tool)
            shared += 1
    reordered = shared == len(draft) == len(plan) and draft != plan
    edits = max(len(draft), len(plan)) - shared + reordered
    return expected.predicted.of_moves(expected.past.moves(plan)) - EDIT_PENALTY * edits


def _edits(expected: Expectation, plan: Tools, limits: SearchLimits) -> Iterator[Tools]:
    """Yield the plans one edit away."""
    end = expected.past.end
    neighbours = expected.past.embeddings.neighbours
    predicted = expected.predicted
    usual = _best(predicted.tools, limits.likely)
    likely = [_best(predicted.moves[t, :end], limits.likely) for t in (end, *plan)]
    for i, tool in enumerate(plan):
        rest = plan[:i] + plan[i + 1 :]
        yield rest
        for j in range(i):
            yield (*rest[:j], tool, *rest[j:])
        similar = neighbours[tool, : limits.similar].tolist()
        for other in {*likely[i], *similar, *usual} - {tool}:
            yield (*plan[:i], other, *plan[i + 1 :])
    for i in range(len(plan) + 1):
        for other in {*likely[i], *usual}.difference(plan[max(i - 1, 0) : i + 1]):
            yield (*plan[:i], other, *plan[i:])


def _best(values: Floats, count: int) -> Sequence[int]:
    places: list[int] = np.argsort(-values, kind="stable")[:count].tolist()
    return places
