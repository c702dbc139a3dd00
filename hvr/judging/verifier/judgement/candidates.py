"""Candidates: the plans that may be meant by a draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hvr.judging.verifier.judgement.past_plans import Expectation, Tools
from hvr.judging.verifier.tool_embeddings import Floats

EDIT_PENALTY = 5.0
"""Log-odds by which a candidate is ranked lower for each edit, while candidates are sought."""


_ROUNDS = 2
"""Rounds of single edits."""
_WIDTH = 6
"""Plans edited in a round (the beam)."""
_KEEP = 60
"""Candidates returned at most, the draft included."""
_PAST = 20
"""Plans of similar requests considered."""
_LIKELY = 6
"""Likeliest next tools tried at a place."""
_SIMILAR = 4
"""Most similar tools tried in place of a tool."""


def candidates(expected: Expectation, draft: Tools) -> list[Tools]:
    """Return the plans that may be meant by a draft, the draft first.

    A beam search over single edits (a step less, a step moved, another tool, a step more), ranked
    by the log-odds of their moves - `EDIT_PENALTY` * edits, and the plans of similar requests.

    Args:
        expected: for the request.
        draft: the draft, which may be empty.
    """
    ranking = {draft: _rank(expected, draft, draft)}
    beam = [draft]
    for _ in range(_ROUNDS):
        edited = [p for b in beam for p in _edits(expected, b) if p and p not in ranking]
        made = {p: _rank(expected, draft, p) for p in dict.fromkeys(edited)}
        ranking |= made
        beam = sorted(made, key=lambda p: (-made[p], p))[:_WIDTH]
    past = expected.plans
    for plan in sorted(past, key=lambda p: (-past[p], p))[:_PAST]:
        if plan not in ranking:
            ranking[plan] = _rank(expected, draft, plan)
    others = sorted((p for p in ranking if p != draft), key=lambda p: (-ranking[p], p))
    return [draft, *others[: _KEEP - 1]]


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


def _edits(expected: Expectation, plan: Tools) -> Iterator[Tools]:
    """Yield the plans one edit away."""
    end = expected.past.end
    neighbours = expected.past.embeddings.neighbours
    predicted = expected.predicted
    usual = _best(predicted.tools, _LIKELY)
    likely = [_best(predicted.moves[t, :end], _LIKELY) for t in (end, *plan)]
    for i, tool in enumerate(plan):
        rest = plan[:i] + plan[i + 1 :]
        yield rest
        for j in range(i):
            yield (*rest[:j], tool, *rest[j:])
        similar = neighbours[tool, :_SIMILAR].tolist()
        for other in {*likely[i], *similar, *usual} - {tool}:
            yield (*plan[:i], other, *plan[i + 1 :])
    for i in range(len(plan) + 1):
        for other in {*likely[i], *usual}.difference(plan[max(i - 1, 0) : i + 1]):
            yield (*plan[:i], other, *plan[i:])


def _best(values: Floats, count: int) -> Sequence[int]:
    places: list[int] = np.argsort(-values, kind="stable")[:count].tolist()
    return places
