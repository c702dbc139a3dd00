"""Past plans: what was done for requests alike.

Every estimate is a mean over past plans, weighted by how like their requests are. Leaving a plan
out is leaving out its weight, so that training plans can be judged by all others.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from hvr.judging.verifier.judgement.regression import PlanRegression, Prediction
from hvr.judging.verifier.judgement.words import BagOfWords
from hvr.judging.verifier.tool_embeddings import Floats, ToolEmbeddings
from hvr.values import cached_property

Tools = tuple[int, ...]
"""A plan as numbers of its tools."""

INVERSE_TEMPERATURE = 20.0
"""β of the softmax over likenesses; on training plans left out, 10 to 30 do alike."""
WORD_WEIGHT = 0.5
"""Weight of the words that two requests share; the rest is the cosine of their embeddings."""
UNSEEN_PROBABILITY = 0.01
"""Added to the probability of every plan, so that the logarithm of an unseen one is finite."""


class PastPlans:
    """True plans with their requests.

    Args:
        embeddings: of texts and tools.
        requests: their texts.
        plans: of each, the numbers of its tools.

    Attributes:
        vectors: embeddings of the requests (requests, size).
    """

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
        """Number of steps of the shortest plan."""
        return min(map(len, self.plans), default=0)

    def moves(self, plan: Tools) -> list[tuple[int, int]]:
        """Return the pairs of successive tools, with `end` before the first and after the last."""
        return list(itertools.pairwise((self.end, *plan, self.end)))

    @cached_property
    def regression(self) -> PlanRegression:
        """Predicts what the plan for a request is like."""
        alike = (1 - WORD_WEIGHT) * (self.vectors @ self.vectors.T)
        alike += WORD_WEIGHT * (self._words @ self._words.T)
        return PlanRegression(alike, self.plans, [self.moves(p) for p in self.plans], self.end)

    def likeness(self, request: str) -> tuple[Floats, Floats]:
        """Return how like the requests are to another (requests,), and its embedding (size,)."""
        row = self.embeddings.texts.rows([request])[0]
        vector = self.embeddings.texts.matrix[row]
        if not len(self):
            return np.zeros(0, np.float32), vector
        shared = self._words @ self.words.encode([request])[0]
        alike = (1 - WORD_WEIGHT) * (self.vectors @ vector) + WORD_WEIGHT * shared
        return np.asarray(alike, np.float32), vector

    def expect(self, request: str, left_out: int | None = None) -> Expectation:
        """Return what is to be expected of a plan for a request.

        Args:
            request: its text.
            left_out: number of a past plan that is not to count.
        """
        return Expectation(self, request, left_out)


class Expectation:
    """What past plans let expect for one request.

    Args:
        past: the plans.
        request: the text.
        left_out: number of a past plan that does not count.

    Attributes:
        likeness: of each past request (requests,); that of the plan left out is -1.
        nearness: the highest.
        plans: P(π | r) = sum of w_i over past plans π_i = π, w = softmax(β likeness).
        relevance: cosine of the request and each tool (tools,).
        embedding: of the request (size,).
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
        weights = np.exp(INVERSE_TEMPERATURE * (self.likeness - self.nearness))
        if left_out is not None:
            weights[left_out] = 0.0
        self._weights = weights / max(float(weights.sum()), 1e-9)
        self.relevance = np.asarray(past.embeddings.vectors @ self.embedding, np.float32)

    @cached_property
    def plans(self) -> Mapping[Tools, float]:
        """P(π | r) of past plans."""
        found: dict[Tools, float] = defaultdict(float)
        for i in np.flatnonzero(self._weights > 1e-6).tolist():
            found[self.past.plans[i]] += float(self._weights[i])
        return found

    @cached_property
    def predicted(self) -> Prediction:
        """Moves, tools and length of the plan, by regression on the request."""
        return self.past.regression.predict(self.likeness, self._left_out)

    def seen(self, plan: Tools) -> float:
        """Return the smoothed log P(plan | r) of past plans."""
        return math.log(self.plans.get(plan, 0.0) + UNSEEN_PROBABILITY)

    def times(self, plan: Tools) -> int:
        """Return how often a plan occurs among the past ones."""
        return self.past.counts[plan] - (plan == self._own)

    def moved(self, source: int, target: int) -> int:
        """Return how often one tool follows another in past plans."""
        return self.past.pairs[source, target] - self._own_moves[source, target]
