"""What the posterior says of one draft: its probability, and what is likely wrong where."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hvr.judging.verifier.judgement.candidates import candidates
from hvr.judging.verifier.judgement.edits import PlanChange, difference
from hvr.judging.verifier.judgement.past_plans import Expectation, Tools
from hvr.judging.verifier.judgement.posterior import (
    expected_agreements,
    plan_features,
    probabilities,
)
from hvr.judging.verifier.tool_embeddings import Floats
from hvr.values import cached_property

_LEAST = 1e-4
"""Bound of the probability that steps are missing, so that its logarithm is finite."""
NOTHING = -1
"""Stands for a step that is not needed, where a tool would stand."""


@dataclass(frozen=True)
class PlanOpinion:
    """The posterior of the plans that may be meant by a draft.

    Args:
        expected: for the request.
        plans: the candidates; the draft is the first.
        features: of each (plans, len(FEATURES)).
        shares: their probabilities (plans,).
    """

    expected: Expectation
    plans: Sequence[Tools]
    features: Floats
    shares: Floats

    @property
    def draft(self) -> Tools:
        """The draft."""
        return self.plans[0]

    @cached_property
    def _changes(self) -> list[PlanChange]:
        return [difference(self.draft, p) for p in self.plans]

    @cached_property
    def agreements(self) -> Floats:
        """Expected agreement of each plan with the true one (plans,)."""
        return expected_agreements(self.plans, self.shares)

    @property
    def best(self) -> int:
        """The place of the plan of least risk."""
        return int(np.argmax(self.agreements))

    @property
    def gain(self) -> float:
        """How much more the best plan is expected to agree with the true one than the draft."""
        return float(self.agreements[self.best] - self.agreements[0])

    @cached_property
    def instead(self) -> list[dict[int, float]]:
        """For each step, P(it is another tool's, or nobody's: `NOTHING`)."""
        found: list[dict[int, float]] = [defaultdict(float) for _ in self.draft]
        for plan, share, change in zip(
            self.plans, self.shares.tolist(), self._changes, strict=True
        ):
            meant = {i: plan[j] for i, j in change.pairs}
            for i, tool in enumerate(self.draft):
                if meant.get(i, NOTHING) != tool:
                    found[i][meant.get(i, NOTHING)] += share
        return found

    @cached_property
    def step_risks(self) -> list[float]:
        """For each step, the probability that its tool is wrong or not needed."""
        return [sum(some.values()) for some in self.instead]

    @cached_property
    def incomplete(self) -> float:
        """Log probability that the plan meant is the draft with more steps."""
        called = Counter(self.draft)
        longer = [len(p) > len(self.draft) and called <= Counter(p) for p in self.plans]
        return math.log(max(float(self.shares[longer].sum()), _LEAST))

    def link_risk(self, source: int | None, target: int) -> float:
        """Return the probability that a step does not follow another directly.

        Args:
            source: number of the step before; None for the start.
            target: number of the step.
        """
        before = None if source is None else self.draft[source]
        after = self.draft[target]
        risk = 0.0
        for plan, share in zip(self.plans, self.shares.tolist(), strict=True):
            risk += 0.0 if _follows(plan, before, after) else share
        return risk

    def missing(self, source: int | None, target: int | None) -> dict[int, float]:
        """Return the tools that are likely missing between two steps, with their probabilities.

        Args:
            source: number of the step before; None for the start.
            target: number of the step after; None for the end.
        """
        found: dict[int, float] = defaultdict(float)
        for plan, share, change in zip(
            self.plans, self.shares.tolist(), self._changes, strict=True
        ):
            place = dict(change.pairs)
            first = -1 if source is None else place.get(source)
            last = len(plan) if target is None else place.get(target)
            if first is not None and last is not None:
                for tool in plan[first + 1 : last][:1]:
                    found[tool] += share
        return found

    def among(self, allowed: Callable[[Tools], bool]) -> PlanOpinion:
        """Return the posterior of those plans that are allowed, the draft among them."""
        chosen = [i for i, p in enumerate(self.plans) if not i or allowed(p)]
        if len(chosen) == len(self.plans):
            return self
        shares = self.shares[chosen]
        plans = [self.plans[i] for i in chosen]
        return PlanOpinion(self.expected, plans, self.features[chosen], shares / shares.sum())


def _follows(plan: Tools, before: int | None, after: int) -> bool:
    if before is None:
        return plan[:1] == (after,)
    return (before, after) in itertools.pairwise(plan)


def form_opinion(expected: Expectation, draft: Tools, weights: Floats) -> PlanOpinion:
    """Return the posterior of the plans that may be meant by a draft.

    Args:
        expected: for the request.
        draft: numbers of its tools.
        weights: of the features.
    """
    plans = candidates(expected, draft)
    features = plan_features(expected, draft, plans)
    return PlanOpinion(expected, plans, features, probabilities(features @ weights))
