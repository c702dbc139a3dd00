"""Prediction of the plan for a request from past plans, by similarity and by regression."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hvr.judging.verifier.features import Floats, ToolEmbeddings
from hvr.values import cached_property

# Regression ---------------------------------------------------------------------------------------
# Kernel ridge regression of the plan for a request on past plans:
#
#     q(y | r) = k(r)ᵀ (K + λI)⁻¹ Y,   K_ij = exp(β (likeness(r_i, r_j) - 1))
#
# Y has a 0/1 column for each move (tool, next tool) that a past plan makes, one for each tool that
# it calls, and one for the number of steps. Unlike a mean over similar requests, regression weighs
# what distinguishes requests. Leave-one-out predictions are exact without refitting: y_i - α_i / (K
# + λI)⁻¹_ii, with α = (K + λI)⁻¹ Y.

REGRESSION_INVERSE_TEMPERATURE = 2.0
"""β, chosen on held-out training plans."""
RIDGE = 0.1
"""λ, chosen on held-out training plans."""
MIN_PROBABILITY = 2e-3
"""Distance of predictions from 0 and 1, and the prediction for a move that was never made."""
_LEAST_ODDS = math.log(MIN_PROBABILITY / (1 - MIN_PROBABILITY))

Move = tuple[int, int]


@dataclass(frozen=True)
class Prediction:
    """Predicted moves (pairs of successive tools), tools and length of the plan for a request.

    Args:
        moves: Log-odds of each move, shape (tools + 1, tools + 1); the last row is the start, the
            last column the end.
        tools: Log-odds that each tool is called, shape (tools,).
        steps: Number of steps.
    """

    moves: Floats
    tools: Floats
    steps: float

    def of_moves(self, made: Iterable[Move]) -> float:
        return float(sum(self.moves[move] for move in set(made)))

    def of_tools(self, called: Iterable[int]) -> float:
        return float(self.tools[list(set(called))].sum())


class PlanRegression:
    """Predicts moves, tools and length of plans from similarities, shape (requests, requests)."""

    def __init__(
        self,
        likeness: Floats,
        plans: Sequence[Sequence[int]],
        moves: Sequence[Iterable[Move]],
        tools: int,
    ) -> None:
        made = [set(some) for some in moves]
        places = {m: i for i, m in enumerate(sorted(set().union(*made)))}
        self._places = np.array(list(places), np.int64).reshape(-1, 2).T
        self._tools, size = tools, len(places)
        self._targets = np.zeros((len(plans), size + tools + 1), dtype=np.float32)
        for row, some, plan in zip(self._targets, made, plans, strict=True):
            row[[places[m] for m in some]] = 1
            row[[size + t for t in plan]] = 1
            row[-1] = len(plan)
        # Centre the length: for a request unlike all others, predictions shrink to the mean.
        self._usual = float(self._targets[:, -1].mean()) if plans else 0.0
        self._targets[:, -1] -= self._usual
        kernel = np.exp(REGRESSION_INVERSE_TEMPERATURE * (likeness - 1)).astype(np.float32)
        kernel[np.diag_indices(len(plans))] = 1 + RIDGE
        self._inverse = np.linalg.inv(kernel)
        self._alpha = self._inverse @ self._targets

    def predict(self, likeness: Floats, left_out: int | None = None) -> Prediction:
        """Predict the plan for a request from its similarities to past requests, shape (requests,).

        The past plan with index `left_out` is ignored.
        """
        if left_out is not None:
            own = self._alpha[left_out] / self._inverse[left_out, left_out]
            predicted = self._targets[left_out] - own
        else:
            predicted = np.exp(REGRESSION_INVERSE_TEMPERATURE * (likeness - 1)) @ self._alpha
        q = np.clip(predicted[:-1], MIN_PROBABILITY, 1 - MIN_PROBABILITY)
        odds = np.log(q / (1 - q)).astype(np.float32)
        every = np.full((self._tools + 1, self._tools + 1), _LEAST_ODDS, np.float32)
        size = self._places.shape[1]
        every[tuple(self._places)] = odds[:size]
        return Prediction(every, odds[size:], self._usual + float(predicted[-1]))


# Word vectors -------------------------------------------------------------------------------------

_WORD = re.compile(r"[a-z]+")


class BagOfWords:
    """Binary TF-IDF vectors of texts, normalised to length 1.

    x_w = idf(w) [w in text] / norm,   idf(w) = log(texts / texts with w) + 1
    """

    def __init__(self, idf: Mapping[str, float]) -> None:
        self.idf = dict(idf)
        self._place = {w: i for i, w in enumerate(idf)}
        self._weight = np.fromiter(idf.values(), np.float32, len(idf))

    @classmethod
    def of(cls, texts: Sequence[str]) -> BagOfWords:
        """Build the vocabulary from texts.

        Words in more than half of the texts are excluded and, if there are at least 100 texts,
        words in fewer than three.
        """
        rare = 1 if len(texts) < 100 else 3
        counts = Counter(w for t in texts for w in set(_WORD.findall(t.lower())))
        most = max(len(texts) / 2, rare)
        kept = sorted((w, n) for w, n in counts.items() if rare <= n <= most)
        return cls({w: math.log(len(texts) / n) + 1 for w, n in kept})

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, shape (texts, words); zeros if a text has no known words."""
        vectors = np.zeros((len(texts), len(self.idf)), dtype=np.float32)
        for i, text in enumerate(texts):
            found = set(_WORD.findall(text.lower()))
            places = sorted(self._place[w] for w in found if w in self._place)
            vectors[i, places] = self._weight[places]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-6), dtype=np.float32)


# Past plans ---------------------------------------------------------------------------------------
# Every estimate is a mean over past plans, weighted by the similarity of their requests. Leaving
# out a plan means leaving out its weight, so that all others can judge a training plan.

Tools = tuple[int, ...]
"""A plan as numbers of its tools."""

INVERSE_TEMPERATURE = 20.0
"""β of the softmax over similarities; 10 to 30 perform equally on held-out training plans."""
WORD_WEIGHT = 0.5
"""Weight of shared words in the similarity of requests; the rest is the cosine of embeddings."""
UNSEEN_PROBABILITY = 0.01
"""Added to the probability of every plan, so that the logarithm is finite."""


class PastPlans:
    """True plans with their requests, whose embeddings are `vectors`, shape (requests, size)."""

    def __init__(
        self, embeddings: ToolEmbeddings, requests: Sequence[str], plans: Sequence[Tools]
    ) -> None:
        self.embeddings = embeddings
        self.requests = tuple(requests)
        self.plans = tuple(plans)
        self.words = BagOfWords.of(requests)
        rows = embeddings.texts.rows(requests)
        self.vectors = embeddings.texts.matrix[rows]
        self._words = self.words.encode(requests)
        self.end = len(embeddings.tools)
        self.pairs = Counter(m for p in plans for m in self.moves(p))
        self.counts = Counter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    @cached_property
    def shortest(self) -> int:
        return min(map(len, self.plans), default=0)

    def moves(self, plan: Tools) -> list[tuple[int, int]]:
        """Return the pairs of successive tools, with `end` before the first and after the last."""
        return list(itertools.pairwise((self.end, *plan, self.end)))

    @cached_property
    def regression(self) -> PlanRegression:
        similarity = (1 - WORD_WEIGHT) * (self.vectors @ self.vectors.T)
        similarity += WORD_WEIGHT * (self._words @ self._words.T)
        return PlanRegression(similarity, self.plans, [self.moves(p) for p in self.plans], self.end)

    def likeness(self, request: str) -> tuple[Floats, Floats]:
        """Return a request's similarity to past requests, shape (requests,), and its embedding."""
        row = self.embeddings.texts.rows([request])[0]
        vector = self.embeddings.texts.matrix[row]
        if not len(self):
            return np.zeros(0, np.float32), vector
        shared = self._words @ self.words.encode([request])[0]
        similarity = (1 - WORD_WEIGHT) * (self.vectors @ vector) + WORD_WEIGHT * shared
        return np.asarray(similarity, np.float32), vector

    def expect(self, request: str, left_out: int | None = None) -> Expectation:
        """Return the expectation for a request's plan, ignoring the past plan `left_out`."""
        return Expectation(self, request, left_out)


class Expectation:
    """The plan to expect for a request, according to the past plans of similar requests.

    Attributes:
        likeness: Similarity to each past request, shape (requests,); -1 for the ignored plan.
        plans: P(π | r) = sum of w_i over past plans π_i = π, where w = softmax(β likeness).
        relevance: Cosine between the request and each tool, shape (tools,).
    """

    def __init__(self, past: PastPlans, request: str, left_out: int | None) -> None:
        self.past = past
        self.request = request
        self.likeness, self.embedding = past.likeness(request)
        own: Tools = ()
        if left_out is not None:
            self.likeness[left_out] = -1.0
            own = past.plans[left_out]
        self._own = own
        self._left_out = left_out
        self._own_moves = Counter(past.moves(own)) if own else Counter()
        self.nearness = float(self.likeness.max(initial=-1.0))
        # Subtracting the maximum keeps the exponentials in range.
        weights = np.exp(INVERSE_TEMPERATURE * (self.likeness - self.nearness))
        if left_out is not None:
            weights[left_out] = 0.0
        self._weights = weights / max(float(weights.sum()), 1e-9)
        self.relevance = np.asarray(past.embeddings.vectors @ self.embedding, np.float32)

    @cached_property
    def plans(self) -> Mapping[Tools, float]:
        found: dict[Tools, float] = defaultdict(float)
        for i in np.flatnonzero(self._weights > 1e-6).tolist():
            found[self.past.plans[i]] += float(self._weights[i])
        return found

    @cached_property
    def predicted(self) -> Prediction:
        return self.past.regression.predict(self.likeness, self._left_out)

    def seen(self, plan: Tools) -> float:
        """Return log P(plan | r) according to past plans, smoothed for plans that do not occur."""
        return math.log(self.plans.get(plan, 0.0) + UNSEEN_PROBABILITY)

    def times(self, plan: Tools) -> int:
        return self.past.counts[plan] - (plan == self._own)

    def moved(self, source: int, target: int) -> int:
        """Return how often tool `target` directly follows tool `source` in past plans."""
        return self.past.pairs[source, target] - self._own_moves[source, target]
