"""Systematic errors of one planner, estimated from its drafts alone.

hvr's own, beyond the paper. A planner repeats its errors: of two similar tools it always takes
the same one, or it never looks up before it books. A single draft does not show this; the
systematic differences between many drafts and their likeliest corrections do. They are estimated
by one step of expectation maximisation, without any true plan:

E step    the posterior of each candidate correction of each draft gives expected counts of
          confusions, omissions and insertions per tool
M step    error rates per tool from these counts, with a Beta prior around the average rates

and each candidate's score is raised by the log-likelihood ratio of its edits under the planner's
rates and the average ones. A draft's own counts are left out of the rates it is judged by
(leave-one-out), as it would otherwise confirm itself.
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
from hvr.verifier.tool_embeddings import Floats, ToolEmbeddings

PRIOR_STRENGTH = 20.0
"""Pseudo-count of the Beta prior on a tool's error rate: its uses at the average rate."""
BIAS_WEIGHT = 0.5
"""Weight of the log-likelihood ratio, 0 to 1; chosen on held-out training plans, among them drafts
of a language model for 253 of their requests (docs/benchmarks.md)."""
INVERSE_TEMPERATURE = 12.0
"""β of the distribution of confusions over similar tools, as in `PlannerErrors`."""
MIN_RATE = 0.005
"""Lower bound of the average error rates, so that a planner without an error has finite logs."""
MIN_CONFUSION = 1e-9
"""Lower bound of the average rate of a single confusion."""
MIN_POSTERIOR = 1e-3
"""Candidates below this posterior are left out of the expected counts, for speed."""


@dataclass(frozen=True)
class ScoredCandidates:
    """A draft with its candidate corrections.

    Args:
        draft: numbers of its tools.
        plans: numbers of theirs; the draft is the first.
        scores: of each (plans,); differences are log-odds.
    """

    draft: Tools
    plans: Sequence[Tools]
    scores: Floats


@dataclass(frozen=True)
class _Edits:
    """The errors that turn a true plan into the draft.

    Args:
        pairs: (true tool, drafted tool), the same where there is no error.
        missing: true tools that were omitted.
        extra: drafted tools that are superfluous.
    """

    pairs: tuple[tuple[int, int], ...]
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
    """Expected counts: of edits by tool, and of uses by true (meant) and by drafted tool."""

    def __init__(self) -> None:
        self.pairs: defaultdict[tuple[int, int], float] = defaultdict(float)
        self.missing: defaultdict[int, float] = defaultdict(float)
        self.extra: defaultdict[int, float] = defaultdict(float)
        self.meant: defaultdict[int, float] = defaultdict(float)
        self.drafted: defaultdict[int, float] = defaultdict(float)

    def add(self, edits: _Edits, probability: float) -> None:
        """Add edits, weighted by their probability."""
        for pair in edits.pairs:
            self.pairs[pair] += probability
            self.meant[pair[0]] += probability
        for tool in edits.missing:
            self.missing[tool] += probability
            self.meant[tool] += probability
        for tool in edits.extra:
            self.extra[tool] += probability

    def add_all(self, other: _Counts) -> None:
        """Add the counts of another."""
        for mine, more in zip(self._all(), other._all(), strict=True):
            for key, value in more.items():
                mine[key] += value

    def _all(self) -> Sequence[defaultdict[Any, float]]:
        return self.pairs, self.missing, self.extra, self.meant, self.drafted


def adjust_for_planner(
    embeddings: ToolEmbeddings, drafts: Sequence[ScoredCandidates]
) -> list[Floats]:
    """Return the scores of each draft's candidates, adjusted for the errors of their planner.

        score'(π) = score(π) + BIAS_WEIGHT * sum over edits e of log(rate_planner(e) / rate(e))

    A single draft keeps its scores.

    Args:
        embeddings: of the tools.
        drafts: of one planner, at least two for anything to change.

    Returns:
        For each draft (plans,).
    """
    edits = [[_Edits.of(d.draft, p) for p in d.plans] for d in drafts]
    counts = [_expected_counts(d, e) for d, e in zip(drafts, edits, strict=True)]
    total = _Counts()
    for own in counts:
        total.add_all(own)
    average = _AverageRates(embeddings, total)
    adjusted = []
    for draft, candidates, own in zip(drafts, edits, counts, strict=True):
        bias = [BIAS_WEIGHT * _log_ratio(e, total, own, average) for e in candidates]
        adjusted.append(np.asarray(draft.scores + np.array(bias), dtype=np.float32))
    return adjusted


def _expected_counts(draft: ScoredCandidates, edits: Sequence[_Edits]) -> _Counts:
    """Return the E step of one draft; the posterior is the softmax of the scores."""
    counts = _Counts()
    posterior = np.exp(draft.scores - draft.scores.max())
    for edit, probability in zip(edits, (posterior / posterior.sum()).tolist(), strict=True):
        if probability > MIN_POSTERIOR:
            counts.add(edit, probability)
    for tool in draft.draft:
        counts.drafted[tool] += 1
    return counts


class _AverageRates:
    """Error rates averaged over all tools, the mean of the Beta priors."""

    def __init__(self, embeddings: ToolEmbeddings, counts: _Counts) -> None:
        meant = max(sum(counts.meant.values()), 1.0)
        wrong = sum(n for (a, b), n in counts.pairs.items() if a != b)
        self.wrong = max(wrong / meant, MIN_RATE)
        self.missing = max(sum(counts.missing.values()) / meant, MIN_RATE)
        drafted = max(sum(counts.drafted.values()), 1.0)
        self.extra = max(sum(counts.extra.values()) / drafted, MIN_RATE)
        self._embeddings = embeddings
        self._rows: dict[int, Floats] = {}

    def pair(self, true: int, drafted: int) -> float:
        """Return the rate at which a tool is drafted for a true one, other or the same.

        Confusions are distributed over the other tools by softmax(β cos(true, drafted)).
        """
        if true == drafted:
            return max(1 - self.wrong - self.missing, MIN_RATE)
        if true not in self._rows:
            row = np.exp(INVERSE_TEMPERATURE * (self._embeddings.similarity[true] - 1))
            row[true] = 0
            self._rows[true] = row / row.sum()
        return max(self.wrong * float(self._rows[true][drafted]), MIN_CONFUSION)


def _log_ratio(edits: _Edits, total: _Counts, own: _Counts, average: _AverageRates) -> float:
    """Return the log-likelihood ratio of edits, this planner's rates over the average ones."""

    def log(count: float, uses: float, mean: float) -> float:
        # The posterior mean of a rate with the prior Beta(n m, n (1 - m)), n = PRIOR_STRENGTH.
        rate = (max(count, 0.0) + PRIOR_STRENGTH * mean) / (max(uses, 0.0) + PRIOR_STRENGTH)
        return math.log(rate / mean)

    ratio = 0.0
    for pair in edits.pairs:
        count = total.pairs.get(pair, 0.0) - own.pairs.get(pair, 0.0)
        uses = total.meant.get(pair[0], 0.0) - own.meant.get(pair[0], 0.0)
        ratio += log(count, uses, average.pair(*pair))
    for tool in edits.missing:
        count = total.missing.get(tool, 0.0) - own.missing.get(tool, 0.0)
        uses = total.meant.get(tool, 0.0) - own.meant.get(tool, 0.0)
        ratio += log(count, uses, average.missing)
    for tool in edits.extra:
        count = total.extra.get(tool, 0.0) - own.extra.get(tool, 0.0)
        uses = total.drafted.get(tool, 0.0) - own.drafted.get(tool, 0.0)
        ratio += log(count, uses, average.extra)
    return ratio
