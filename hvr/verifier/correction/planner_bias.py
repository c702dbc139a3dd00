"""How one planner errs, from its drafts alone.

hvr's own, beyond the paper. A planner errs the same way again and again: of two tools that read
alike it always takes the same one, or it never looks up before it books. One draft does not show
this; many do: what their likeliest true plans have in common that the drafts have not. One step of
expectation maximisation over drafts of the same planner, without any truth.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hvr.verifier.correction.nearest_plans import Tools
from hvr.verifier.correction.proposals import difference
from hvr.verifier.tool_embeddings import Floats, ToolSpace

_SEEN_BEFORE = 20.0
"""Errors are as usual for so many imagined uses of each tool."""
_TRUST = 0.5
"""How much a planner's own ways count, from 0 to 1."""
_TASTE = 12.0
_LEAST = 0.005
_UNLIKELY = 1e-3


@dataclass(frozen=True)
class Weighed:
    """A draft with the plans that it may have meant.

    Args:
        draft: numbers of its tools.
        plans: numbers of theirs; the draft is the first.
        sums: what speaks for each (plans,); differences are logarithms of odds.
    """

    draft: Tools
    plans: Sequence[Tools]
    sums: Floats


@dataclass(frozen=True)
class _Edits:
    """What was done to a true plan to get the draft."""

    pairs: tuple[tuple[int, int], ...]  # (true tool, tool of the draft)
    missing: tuple[int, ...]
    extra: tuple[int, ...]

    @classmethod
    def of(cls, draft: Tools, plan: Tools) -> _Edits:
        change = difference(draft, plan)
        old, new = {i for i, _ in change.pairs}, {j for _, j in change.pairs}
        return cls(
            tuple((plan[j], draft[i]) for i, j in change.pairs),
            tuple(t for j, t in enumerate(plan) if j not in new),
            tuple(t for i, t in enumerate(draft) if i not in old),
        )


class _Counts:
    """How often what is expected to have happened."""

    def __init__(self) -> None:
        self.pairs: defaultdict[tuple[int, int], float] = defaultdict(float)
        self.missing: defaultdict[int, float] = defaultdict(float)
        self.extra: defaultdict[int, float] = defaultdict(float)
        self.meant: defaultdict[int, float] = defaultdict(float)
        self.drafted: defaultdict[int, float] = defaultdict(float)

    def add(self, edits: _Edits, chance: float) -> None:
        """What is so with a chance."""
        for pair in edits.pairs:
            self.pairs[pair] += chance
            self.meant[pair[0]] += chance
        for tool in edits.missing:
            self.missing[tool] += chance
            self.meant[tool] += chance
        for tool in edits.extra:
            self.extra[tool] += chance

    def add_all(self, other: _Counts) -> None:
        """What another has counted."""
        for mine, more in zip(self._all(), other._all(), strict=True):
            for key, value in more.items():
                mine[key] += value

    def _all(self) -> Sequence[defaultdict[Any, float]]:
        return self.pairs, self.missing, self.extra, self.meant, self.drafted


def allowed_for(space: ToolSpace, drafts: Sequence[Weighed]) -> list[Floats]:
    """Return the sums of each draft's plans, the ways of its planner allowed for.

    How often a tool is drafted for another one, forgotten or drafted needlessly is estimated from
    the other drafts, and compared with how often this happens to all tools on average. A single
    draft keeps its sums.

    Args:
        space: of the tools.
        drafts: of one planner, at least two for anything to change.

    Returns:
        For each draft (plans,).
    """
    edits = [[_Edits.of(d.draft, p) for p in d.plans] for d in drafts]
    counts = [_expected(d, e) for d, e in zip(drafts, edits, strict=True)]
    total = _Counts()
    for own in counts:
        total.add_all(own)
    usual = _Usual(space, total)
    found = []
    for draft, each, own in zip(drafts, edits, counts, strict=True):
        more = [_TRUST * _surprise(e, total, own, usual) for e in each]
        found.append(np.asarray(draft.sums + np.array(more), dtype=np.float32))
    return found


def _expected(draft: Weighed, edits: Sequence[_Edits]) -> _Counts:
    found = _Counts()
    chances = np.exp(draft.sums - draft.sums.max())
    for edit, chance in zip(edits, (chances / chances.sum()).tolist(), strict=True):
        if chance > _UNLIKELY:
            found.add(edit, chance)
    for tool in draft.draft:
        found.drafted[tool] += 1
    return found


class _Usual:
    """How often errors happen to any tool."""

    def __init__(self, space: ToolSpace, counts: _Counts) -> None:
        meant = max(sum(counts.meant.values()), 1.0)
        wrong = sum(n for (a, b), n in counts.pairs.items() if a != b)
        self.wrong = max(wrong / meant, _LEAST)
        self.missing = max(sum(counts.missing.values()) / meant, _LEAST)
        drafted = max(sum(counts.drafted.values()), 1.0)
        self.extra = max(sum(counts.extra.values()) / drafted, _LEAST)
        self._space = space
        self._rows: dict[int, Floats] = {}

    def pair(self, true: int, drafted: int) -> float:
        """Chance that a tool is drafted for another, or for itself."""
        if true == drafted:
            return max(1 - self.wrong - self.missing, _LEAST)
        if true not in self._rows:
            row = np.exp(_TASTE * (self._space.similarity[true] - 1))
            row[true] = 0
            self._rows[true] = row / row.sum()
        return max(self.wrong * float(self._rows[true][drafted]), 1e-9)


def _surprise(edits: _Edits, total: _Counts, own: _Counts, usual: _Usual) -> float:
    """Logarithm: how much likelier the edits are with this planner than with any."""

    def log(seen: float, of: float, base: float) -> float:
        rate = (max(seen, 0.0) + _SEEN_BEFORE * base) / (max(of, 0.0) + _SEEN_BEFORE)
        return math.log(rate / base)

    found = 0.0
    for pair in edits.pairs:
        seen = total.pairs.get(pair, 0.0) - own.pairs.get(pair, 0.0)
        of = total.meant.get(pair[0], 0.0) - own.meant.get(pair[0], 0.0)
        found += log(seen, of, usual.pair(*pair))
    for tool in edits.missing:
        of = total.meant.get(tool, 0.0) - own.meant.get(tool, 0.0)
        found += log(total.missing.get(tool, 0.0) - own.missing.get(tool, 0.0), of, usual.missing)
    for tool in edits.extra:
        of = total.drafted.get(tool, 0.0) - own.drafted.get(tool, 0.0)
        found += log(total.extra.get(tool, 0.0) - own.extra.get(tool, 0.0), of, usual.extra)
    return found
