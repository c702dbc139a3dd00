"""P(plan | request, draft): a log-linear model of the plan intended by a draft.

    P(π | r, draft) = softmax over candidates π of (w · f(π, r, draft))

f are the `FEATURES`, and w the weights of `fit_weights`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np

from hvr.judging.verifier.features import Floats
from hvr.judging.verifier.judgement.past_plans import Expectation, Tools
from hvr.values import cached_property

# Edits --------------------------------------------------------------------------------------------

INDEL_COST = 0.9
"""Cost of a deletion or an insertion; a replacement costs 1, less than both together."""


@dataclass(frozen=True)
class PlanChange:
    """An alignment of a plan with a draft.

    Args:
        pairs: Pairs (index in the draft, index in the plan) of kept or replaced steps. The other
            steps of the draft are deleted; the other steps of the plan are inserted.
        reordered: Whether the plan has the draft's tools in a different order.
    """

    pairs: tuple[tuple[int, int], ...]
    replaced: int
    deleted: int
    inserted: int
    reordered: bool

    @property
    def cost(self) -> float:
        return self.replaced + INDEL_COST * (self.deleted + self.inserted) + self.reordered


@lru_cache(maxsize=4096)
def difference(draft: Tools, plan: Tools) -> PlanChange:
    """Return the alignment with the smallest edit distance (Wagner-Fischer).

    A replacement costs 1, a deletion or insertion `INDEL_COST`. A permutation of the draft counts
    only as a different order.
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
        # Compare with a tolerance, since the costs are sums of 0.9 in different orders.
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
    free = dict(enumerate(draft))
    pairs = []
    for j, tool in enumerate(plan):
        i = next(i for i, t in free.items() if t == tool)
        del free[i]
        pairs.append((i, j))
    return tuple(sorted(pairs))


# Features and weights -----------------------------------------------------------------------------

T = TypeVar("T")

FEATURES = (
    "moves",
    "tools",
    "length",
    "seen",
    "replaced",
    "deleted",
    "inserted",
    "reordered",
    "another",
    "unlinked",
    "unseen_link",
    "cover",
    "repeated",
)
"""Names of the features of a candidate plan in order; keys in saved judges.

moves            log-odds of each tool following the one before, by regression on the request
tools            log-odds of each tool being called, by regression
length           squared difference between the number of steps and the predicted one
seen             log P(plan | request) from the plans of similar requests
replaced, deleted, inserted, reordered   edits, see `PlanChange`
another          no step of the draft is kept; edits are then not counted
unlinked         consecutive tools without a link
unseen_link      consecutive tools that follow each other in no past plan
cover            cosine of the request and the mean of the tools
repeated         calls of a tool that was called before
"""


def plan_features(expected: Expectation, draft: Tools, plans: Sequence[Tools]) -> Floats:
    rows = [_features(expected, draft, plan) for plan in plans]
    return np.array(rows, dtype=np.float32).reshape(-1, len(FEATURES))


def _features(expected: Expectation, draft: Tools, plan: Tools) -> tuple[float, ...]:
    embeddings = expected.past.embeddings
    change = difference(draft, plan)
    another = not any(draft[i] == plan[j] for i, j in change.pairs)
    edits = (change.replaced, change.deleted, change.inserted, change.reordered)
    links = list(itertools.pairwise(plan))
    mean = embeddings.vectors[list(plan)].mean(0)
    predicted = expected.predicted
    return (
        predicted.of_moves(expected.past.moves(plan)),
        predicted.of_tools(plan),
        (len(plan) - predicted.steps) ** 2,
        expected.seen(plan),
        *((0.0,) * len(edits) if another else edits),
        another,
        sum(not embeddings.fits[a, b] for a, b in links),
        sum(expected.moved(a, b) <= 0 for a, b in links),
        float(mean @ expected.embedding) / max(float(np.linalg.norm(mean)), 1e-6),
        len(plan) - len(set(plan)),
    )


@dataclass(frozen=True)
class Case:
    """The features of a draft's candidates, the draft first, and the index of the true plan."""

    features: Floats
    true: int


def fit_weights(cases: Sequence[Case], decay: float = 3e-3, steps: int = 40) -> Floats:
    """Return the weights w under which the true plans are most probable, shape (len(FEATURES),).

        L(w) = mean over cases of -log softmax_π(w · f(π))[true] + decay |w * s|²

    where s are the standard deviations of the features. L is convex and minimised by Newton's
    method.
    """
    values = np.concatenate([c.features for c in cases]).astype(np.float64)
    scale = values.std(0) + 1e-6
    values /= scale
    ends = np.cumsum([0, *(len(c.features) for c in cases)])
    starts, sizes = ends[:-1], np.diff(ends)
    true = starts + np.array([c.true for c in cases])
    size = values.shape[1]
    weights = np.zeros(size)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        scores = values @ w
        shifted = scores - np.repeat(np.maximum.reduceat(scores, starts), sizes)
        total = np.add.reduceat(np.exp(shifted), starts)
        logs = shifted - np.repeat(np.log(total), sizes)
        return float(-logs[true].mean() + decay * w @ w), np.exp(logs)

    now, shares = loss(weights)
    for _ in range(steps):
        means = np.add.reduceat(values * shares[:, None], starts)
        gradient = (means - values[true]).mean(0) + 2 * decay * weights
        curvature = (values * shares[:, None]).T @ values - means.T @ means
        curvature = curvature / len(cases) + 2 * decay * np.eye(size)
        step = np.linalg.solve(curvature, gradient)
        # A full Newton step may overshoot: halve it until the loss falls.
        length = 1.0
        while length > 1e-4:
            then, changed = loss(weights - length * step)
            if then < now:
                break
            length /= 2
        else:
            break
        done = now - then < 1e-7
        weights, now, shares = weights - length * step, then, changed
        if done:
            break
    return np.asarray(weights / scale, dtype=np.float32)


def probabilities(scores: Floats) -> Floats:
    values = np.exp(scores - scores.max())
    return np.asarray(values / values.sum(), dtype=np.float32)


def expected_agreements(plans: Sequence[Tools], shares: Floats, considered: int = 20) -> Floats:
    """Return the expected agreement of each plan with the true one, shape (plans,).

    It is the sum over π' of P(π') agreement(π, π'). Choosing the plan with the highest value is
    minimum Bayes risk decoding: the most probable plan is most often correct, but a plan that
    shares much with all probable plans has smaller errors.

    Args:
        plans: Candidates, with the draft first.
        shares: Probabilities of the candidates, shape (plans,).
        considered: Number of most probable plans to evaluate besides the draft; the others get 0.
    """
    order = np.argsort(-shares, kind="stable")[:considered].tolist()
    chosen = dict.fromkeys([0, *order])
    values = np.zeros(len(plans), dtype=np.float32)
    for place in chosen:
        values[place] = sum(
            float(shares[other]) * agreement(plans[place], plans[other]) for other in order
        )
    return values


def agreement(plan: Tools, true: Tools) -> float:
    """Return the mean of node F1, link F1 and exact match of a plan and the true plan."""
    if plan == true:
        return 1.0
    links = set(itertools.pairwise(plan)), set(itertools.pairwise(true))
    nodes = set(plan), set(true)
    return (_f1(*nodes) + _f1(*links)) / 3


def _f1(predicted: set[T], true: set[T]) -> float:
    size = len(predicted) + len(true)
    return 2 * len(predicted & true) / size if size else 0.0


# Candidates ---------------------------------------------------------------------------------------

EDIT_PENALTY = 5.0
"""Reduction of a candidate's log-odds per edit, during the search for candidates."""


_ROUNDS = 2
"""Rounds of single edits."""
_WIDTH = 6
"""Beam width: plans edited per round."""
_KEEP = 60
"""Maximum number of candidates, including the draft."""
_PAST = 20
"""Maximum number of plans of similar requests to consider."""
_LIKELY = 6
"""Maximum number of likely next tools to try at a place."""
_SIMILAR = 4
"""Maximum number of similar tools to try as a replacement."""


def candidates(expected: Expectation, draft: Tools) -> list[Tools]:
    """Return the plans that a draft may stand for, the draft first.

    They are the plans of similar requests, and the results of a beam search over single edits
    (delete, move, replace or insert a step), ranked by the log-odds of their moves less
    `EDIT_PENALTY` per edit.
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


# Opinion ------------------------------------------------------------------------------------------

_LEAST = 1e-4
"""Lower bound of the probability of missing steps, so that its logarithm is finite."""
NO_TOOL = -1
"""Stands for the tool of a step that is not needed."""


@dataclass(frozen=True)
class PlanOpinion:
    """The posterior over the plans that a draft may stand for; `shares` are their probabilities."""

    expected: Expectation
    plans: Sequence[Tools]
    features: Floats
    shares: Floats

    @property
    def draft(self) -> Tools:
        return self.plans[0]

    @cached_property
    def _changes(self) -> list[PlanChange]:
        return [difference(self.draft, p) for p in self.plans]

    @cached_property
    def agreements(self) -> Floats:
        """Expected agreement of each plan with the true plan, shape (plans,)."""
        return expected_agreements(self.plans, self.shares)

    @property
    def best(self) -> int:
        """Index of the plan with the highest expected agreement."""
        return int(np.argmax(self.agreements))

    @property
    def gain(self) -> float:
        """Expected gain in agreement from replacing the draft by the best plan."""
        return float(self.agreements[self.best] - self.agreements[0])

    @cached_property
    def instead(self) -> list[dict[int, float]]:
        """For each step, the probabilities of other tools in its place, or of none (`NO_TOOL`)."""
        found: list[dict[int, float]] = [defaultdict(float) for _ in self.draft]
        for plan, share, change in zip(
            self.plans, self.shares.tolist(), self._changes, strict=True
        ):
            intended = {i: plan[j] for i, j in change.pairs}
            for i, tool in enumerate(self.draft):
                if intended.get(i, NO_TOOL) != tool:
                    found[i][intended.get(i, NO_TOOL)] += share
        return found

    @cached_property
    def step_risks(self) -> list[float]:
        """For each step, the probability that its tool is wrong or not needed."""
        return [sum(some.values()) for some in self.instead]

    @cached_property
    def incomplete(self) -> float:
        """Log probability that the true plan is the draft with additional steps."""
        called = Counter(self.draft)
        longer = [len(p) > len(self.draft) and called <= Counter(p) for p in self.plans]
        return math.log(max(float(self.shares[longer].sum()), _LEAST))

    def link_risk(self, source: int | None, target: int) -> float:
        """Return the probability that `target` does not directly follow `source` (None: start)."""
        before = None if source is None else self.draft[source]
        after = self.draft[target]
        risk = 0.0
        for plan, share in zip(self.plans, self.shares.tolist(), strict=True):
            risk += 0.0 if _follows(plan, before, after) else share
        return risk

    def missing(self, source: int | None, target: int | None) -> dict[int, float]:
        """Return each tool's probability of being the first tool missing between two steps.

        None as `source` is the start of the plan, as `target` its end.
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
        """Restrict the posterior to the plans that `allowed` accepts, and the draft."""
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
    plans = candidates(expected, draft)
    features = plan_features(expected, draft, plans)
    return PlanOpinion(expected, plans, features, probabilities(features @ weights))
