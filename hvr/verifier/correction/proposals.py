"""Plans near a draft, and how each differs from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hvr.verifier.correction.nearest_plans import Tools
from hvr.verifier.correction.sequence_prior import Habits
from hvr.verifier.tool_embeddings import Floats


@dataclass(frozen=True)
class PlanChange:
    """How a plan differs from the draft.

    Args:
        pairs: (place in the draft, place in the plan) of steps that are kept or get another
            tool; the others of the draft are deleted, the others of the plan inserted.
        replaced: how many get another tool.
        deleted: how many go.
        inserted: how many come.
        reordered: same tools, another order.
    """

    pairs: tuple[tuple[int, int], ...]
    replaced: int
    deleted: int
    inserted: int
    reordered: bool


@lru_cache(maxsize=4096)
def difference(draft: Tools, plan: Tools) -> PlanChange:
    """Return the cheapest way from a draft to a plan: keep 0, replace 1, delete or insert 0.9."""
    if draft != plan and sorted(draft) == sorted(plan):
        free = dict(enumerate(draft))
        pairs = []
        for j, tool in enumerate(plan):
            i = next(i for i, t in free.items() if t == tool)
            del free[i]
            pairs.append((i, j))
        return PlanChange(tuple(sorted(pairs)), 0, 0, 0, True)
    n, m = len(draft), len(plan)
    cost = [[0.9 * (i + j) for j in range(m + 1)] for i in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost[i][j] = min(
                cost[i - 1][j - 1] + (draft[i - 1] != plan[j - 1]),
                cost[i - 1][j] + 0.9,
                cost[i][j - 1] + 0.9,
            )
    aligned: list[tuple[int, int]] = []
    i, j, replaced = n, m, 0
    while i and j:
        other = draft[i - 1] != plan[j - 1]
        if abs(cost[i][j] - cost[i - 1][j - 1] - other) < 1e-9:
            aligned.append((i - 1, j - 1))
            replaced += other
            i, j = i - 1, j - 1
        elif abs(cost[i][j] - cost[i - 1][j] - 0.9) < 1e-9:
            i -= 1
        else:
            j -= 1
    kept = tuple(reversed(aligned))
    return PlanChange(kept, replaced, n - len(kept), m - len(kept), False)


def proposals(
    habits: Habits,
    request: str,
    draft: Tools,
    fit: Floats,
    near: Sequence[Sequence[int]],
    *,
    rounds: int = 3,
    width: int = 6,
    keep: int = 60,
    alike: int = 12,
) -> list[Tools]:
    """Return plans that may be what a draft should have been, the draft first.

    Single edits (another tool, a step less, a step more, two neighbours swapped) of the draft,
    then of the most promising plans found so far, and the plans that are likeliest for the
    request whatever the draft: as habits have it, and of requests alike.

    Args:
        habits: what is usual.
        request: what was asked.
        draft: numbers of its tools.
        fit: log P(tool | step) of the draft's steps (steps, tools).
        near: for each tool, the tools like it.
        rounds: of edits.
        width: how many plans are edited in a round.
        keep: how many are returned at most.
        alike: how many plans of requests alike are looked at.
    """
    tools = len(near)
    found: dict[Tools, float] = {}
    scores = habits.plans(request, [draft])
    found[draft] = float(scores[0])
    edge = [draft]
    for _ in range(rounds):
        new: dict[Tools, None] = {}
        for plan in edge:
            for made in _edits(habits, request, plan, draft, fit, near, tools):
                if made and made not in found:
                    new[made] = None
        if not new:
            break
        plans = list(new)
        values = habits.plans(request, plans)
        for plan, value in zip(plans, values.tolist(), strict=True):
            found[plan] = value - 1.5 * _distance(draft, plan)
        edge = sorted(new, key=lambda p: (-found[p], p))[:width]
    whole = dict.fromkeys([*habits.decode(request), *habits.alike(request, alike)])
    new_plans = [p for p in whole if p not in found]
    if new_plans:
        values = habits.plans(request, new_plans)
        for plan, value in zip(new_plans, values.tolist(), strict=True):
            found[plan] = value - 1.5 * _distance(draft, plan)
    best = sorted((p for p in found if p != draft), key=lambda p: (-found[p], p))
    return [draft, *best[: keep - 1]]


def _distance(draft: Tools, plan: Tools) -> int:
    """About how many edits apart; fast, as it is asked of every plan that is looked at."""
    both = 0
    left = list(draft)
    for tool in plan:
        if tool in left:
            left.remove(tool)
            both += 1
    return max(len(draft), len(plan)) - both + (both == len(draft) == len(plan) and draft != plan)


def _edits(
    habits: Habits,
    request: str,
    plan: Tools,
    draft: Tools,
    fit: Floats,
    near: Sequence[Sequence[int]],
    tools: int,
) -> list[Tools]:
    made: list[Tools] = []
    logs = habits.likely(request, [plan[:i] for i in range(len(plan) + 1)])
    for i, tool in enumerate(plan):
        made.append(plan[:i] + plan[i + 1 :])
        if i:
            made.append((*plan[: i - 1], tool, plan[i - 1], *plan[i + 1 :]))
        likely = np.argsort(-logs[i, :tools], kind="stable")[:8].tolist()
        at = next((k for k, t in enumerate(draft) if t == tool), None)
        means = (
            [] if at is None or at >= len(fit) else np.argsort(-fit[at], kind="stable")[:5].tolist()
        )
        for other in dict.fromkeys([*likely, *means, *list(near[tool])[:5]]):
            if other != tool:
                made.append((*plan[:i], other, *plan[i + 1 :]))
    for i in range(len(plan) + 1):
        for other in np.argsort(-logs[i, :tools], kind="stable")[:8].tolist():
            if other not in plan[max(i - 1, 0) : i + 1]:
                made.append((*plan[:i], other, *plan[i:]))
    return made
