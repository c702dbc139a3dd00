"""Edits that turn a draft into another plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from hvr.judging.verifier.judgement.past_plans import Tools

INDEL_COST = 0.9
"""Cost of a deletion or an insertion; a replacement costs 1, less than one of each."""


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

    @property
    def cost(self) -> float:
        """The edit distance; another order counts 1."""
        return self.replaced + INDEL_COST * (self.deleted + self.inserted) + self.reordered


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
