"""A decoding rule with its settings, and the choice of these on held-out plans."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hvr.errors import UsageError
from hvr.tools.agreement import Agreement, agreement
from hvr.tools.retrieval.decoding import (
    Scores,
    adjacency,
    as_plan,
    distinct,
    greedy,
    nearest,
    viterbi,
)
from hvr.tools.retrieval.transitions import Transitions
from hvr.tools.tool_plan import ToolPlan
from hvr.values import cached_property

Rule = Literal["nearest", "greedy", "viterbi"]
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
"""Values of `Decoder.weight` that `choose_decoder` tries."""
SKIPS = (-math.inf, -7.0, -5.0)
"""Values of `Decoder.skip` that it tries."""


@dataclass(frozen=True)
class Decoder:
    """A decoding rule: scores of the steps of a plan in, a sequence of tools out.

    `viterbi` is run on log softmax(S / temperature), with transitions weight * log p(v | u).

    Args:
        transitions: the graph, and statistics of plans.
        rule: see `hvr.tools.retrieval.decoding`.
        weight: of the log transition probabilities, with `viterbi`.
        temperature: of the softmax over tools, with `viterbi`.
        skip: log-probability that a step calls nothing, with `viterbi`.
        once: keep only the first call of a tool, whatever the rule. It suits data whose plans name
            each tool once, such as UltraTool's; "at 7 and at 9" does not survive it.
    """

    transitions: Transitions
    rule: Rule = "viterbi"
    weight: float = 0.3
    temperature: float = 1.0
    skip: float = -math.inf
    once: bool = False

    def __post_init__(self) -> None:
        if self.rule not in ("nearest", "greedy", "viterbi"):
            raise UsageError(f"unknown rule {self.rule!r} (rules: nearest, greedy, viterbi)")

    def __call__(self, scores: Scores) -> list[int]:
        """Return numbers of tools from scores (steps, tools)."""
        if not scores.size:
            return []
        sequence = self._sequence(scores)
        return distinct(sequence) if self.once else sequence

    def _sequence(self, scores: Scores) -> list[int]:
        if self.rule == "nearest":
            return nearest(scores)
        if self.rule == "greedy":
            return greedy(scores, self._linked)
        transitions = self.transitions
        return viterbi(
            log_softmax(scores / self.temperature),
            self._follow,
            self.weight * transitions.start,
            stay=self.weight * transitions.stay,
            skip=self.skip,
        )

    @cached_property
    def _follow(self) -> NDArray[np.float64]:
        return np.asfortranarray(self.weight * self.transitions.follow)

    @cached_property
    def _linked(self) -> NDArray[np.bool_]:
        return adjacency(self.transitions.graph)


def log_softmax(scores: Scores) -> NDArray[np.float64]:
    """Return the log-softmax over the tools of each step (steps, tools)."""
    shifted = scores.astype(np.float64) - scores.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def decode(
    decoder: Callable[[Scores], Sequence[int]],
    scores: Sequence[Scores],
    plans: Sequence[ToolPlan],
    transitions: Transitions,
) -> dict[str, ToolPlan]:
    """Decode the scores of many plans; return plans by the id of their request."""
    return {
        plan.id: as_plan(plan, transitions.graph, decoder(rows))
        for plan, rows in zip(plans, scores, strict=True)
    }


def choose_decoder(
    scores: Sequence[Scores],
    plans: Sequence[ToolPlan],
    transitions: Transitions,
    temperatures: Sequence[float] = (1.0,),
) -> Decoder:
    """Return the settings of `viterbi` that agree best with some true plans.

    Args:
        scores: (steps, tools) for each plan.
        plans: true ones, on which neither scores nor transitions were fitted.
        transitions: counted in other plans.
        temperatures: to try.

    Returns:
        The decoder with the highest `overall`, of equals the first: temperature and weight are
        chosen together, then whether steps may be skipped, then whether repeats are removed.
    """

    def quality(decoder: Decoder) -> float:
        return overall(agreement(decode(decoder, scores, plans, transitions), plans))

    best = max(
        (Decoder(transitions, weight=w, temperature=t) for t in temperatures for w in WEIGHTS),
        key=quality,
    )
    best = max((replace(best, skip=skip) for skip in SKIPS), key=quality)
    return max((replace(best, once=once) for once in (False, True)), key=quality)


def overall(scores: Agreement) -> float:
    """Return the selection criterion: the mean of both F1 and both accuracies."""
    return (scores.node_f1 + scores.link_f1 + scores.node_accuracy + scores.plan_accuracy) / 4
