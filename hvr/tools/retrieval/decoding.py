"""Decoding: turns scores of tools for each step into a sequence of tools, and tunes the decoder."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hvr.errors import UsageError
from hvr.tools.tool_plans import Agreement, Link, ToolGraph, ToolPlan, agreement
from hvr.values import cached_property

# Decoding -----------------------------------------------------------------------------------------
# nearest    argmax over tools at each step, without the graph
# greedy     argmax over the out-neighbours of the previous tool (GNN4Plan, section 4.2)
# viterbi    the sequence with the highest total score, by dynamic programming (hvr's own)
#
# All decoders take scores (steps, tools) and return tool indexes.

Scores = NDArray[np.floating]
Matrix = NDArray[np.floating]


def adjacency(graph: ToolGraph) -> NDArray[np.bool_]:
    """Return the adjacency matrix of a graph, shape (tools, tools); true for each link u -> v."""
    linked = np.zeros((len(graph), len(graph)), dtype=np.bool_)
    for source, target in graph.links:
        linked[graph.index(source), graph.index(target)] = True
    return linked


def nearest(scores: Scores) -> list[int]:
    """Return each step's best tool; among equally good tools, the first one."""
    return [int(t) for t in scores.argmax(axis=1)] if scores.size else []


def greedy(scores: Scores, linked: NDArray[np.bool_]) -> list[int]:
    """Decode greedily along the links (GNN4Plan, section 4.2).

    t_1 = argmax_t S[1, t] over all tools, then t_i = argmax_t S[i, t] over the successors of
    t_(i-1). A tool never follows itself directly. A step is skipped if the previous tool has no
    other successor.
    """
    sequence: list[int] = []
    for row in scores:
        if not sequence:
            sequence.append(int(row.argmax()))
            continue
        last = sequence[-1]
        choices = [t for t in np.flatnonzero(linked[last]) if t != last]
        if choices:
            sequence.append(int(max(choices, key=lambda t: row[t])))
    return sequence


def viterbi(
    scores: Scores,
    follow: Matrix,
    start: NDArray[np.floating] | None = None,
    *,
    stay: float = 0.0,
    skip: float = -np.inf,
) -> list[int]:
    """Return the sequence of tools with the highest total score, by exact dynamic programming.

    Step i calls a new tool t after s, which scores S[i, t] + follow[s, t]; continues the previous
    call of s, which scores S[i, s] + stay; or is skipped, which scores `skip`. A sequence may
    therefore have fewer tools than steps.

        V_i(t) = max(S[i, t] + max_(s != t) (V_(i-1)(s) + follow[s, t]),   a new call
                     S[i, t] + V_(i-1)(t) + stay,                          the same call
                     V_(i-1)(t) + skip,                                    no call
                     S[i, t] + (i - 1) skip + start[t])                    the first call

    Args:
        scores: S, shape (steps, tools), ideally log-probabilities.
        follow: Score of the column's tool directly after the row's tool, shape (tools, tools); -inf
            forbids it. The diagonal is ignored in favour of `stay`.
        start: Score of starting with each tool, shape (tools,); None means 0.
        stay: Score of continuing the same call; -inf forbids it.
        skip: Score of skipping a step; -inf forbids it.

    Returns:
        Tool indexes; the lower index wins ties. If every sequence is forbidden, the result is the
        best tool of the first step. If there are no steps or no tools, the result is empty.
    """
    steps, tools = scores.shape
    if not steps or not tools:
        return []
    first = np.zeros(tools) if start is None else np.asarray(start, dtype=np.float64)
    rows = scores.astype(np.float64)
    value, back = _forward(rows, np.asarray(follow, dtype=np.float64), first, stay, skip)
    if not np.isfinite(value).any():
        return [int(rows[0].argmax())]
    return _trace_back(int(value.argmax()), back)


_CONTINUE, _FIRST = -1, -2
"""Back pointers other than tools: no new call at this step, and the first call of the sequence."""


def _forward(
    rows: Matrix, follow: Matrix, start: Matrix, stay: float, skip: float
) -> tuple[Matrix, list[NDArray[np.int64]]]:
    """Return V after the last step and each step's back pointers, each of shape (tools,)."""
    tools = rows.shape[1]
    # With targets as rows, the maximum over sources reads contiguous memory.
    into = follow.T
    # Before the first call there is a single state, worth the steps skipped so far.
    idle = 0.0
    value = np.full(tools, -np.inf)
    back: list[NDArray[np.int64]] = []
    for row in rows:
        arrive = into + value
        np.fill_diagonal(arrive, -np.inf)
        source = arrive.argmax(axis=1)
        options = np.stack(
            [
                arrive[np.arange(tools), source] + row,
                value + row + stay,
                value + skip,
                idle + start + row,
            ]
        )
        which = options.argmax(axis=0)
        pointer = np.where(which == 0, source, np.where(which == 3, _FIRST, _CONTINUE))
        back.append(pointer.astype(np.int64))
        value = options[which, np.arange(tools)]
        idle += skip
    return value, back


def _trace_back(last: int, back: Sequence[NDArray[np.int64]]) -> list[int]:
    tool, sequence = last, [last]
    for pointers in reversed(back):
        pointer = int(pointers[tool])
        if pointer == _FIRST:
            break
        if pointer != _CONTINUE:
            sequence.append(pointer)
            tool = pointer
    return sequence[::-1]


def distinct(sequence: Sequence[int]) -> list[int]:
    return list(dict.fromkeys(sequence))


def as_plan(plan: ToolPlan, graph: ToolGraph, sequence: Sequence[int]) -> ToolPlan:
    tools = tuple(graph.tools[i].id for i in sequence)
    return ToolPlan(plan.id, plan.request, plan.steps, tools, tuple(pairwise(tools)))


# Transitions --------------------------------------------------------------------------------------

LINK_PSEUDO_COUNT = 0.5
"""Pseudo-count of each link of the graph, and of each tool as the first one."""
ANY_PSEUDO_COUNT = 0.01
"""Pseudo-count of every pair, so that unseen pairs without a link remain possible."""
STAY_PSEUDO_COUNT = 0.02
"""Pseudo-count of steps that continue the previous call."""


@dataclass(frozen=True)
class Transitions:
    """Transition counts from plans, and the smoothed probabilities estimated from them.

    p(v | u) is proportional to count(u, v) + 0.5 [u -> v is a link] + 0.01. If there are no counts,
    the links alone decide; an unseen pair without a link remains possible. Counts of tools that are
    not in the graph are ignored.

    Args:
        links: Number of times that the second tool of a pair directly followed the first.
        starts: Number of plans that begin with each tool.
        steps: Number of steps in the plans.
        stays: Number of steps that continue the previous call.
    """

    graph: ToolGraph
    links: Mapping[Link, int] = field(default_factory=dict)
    starts: Mapping[str, int] = field(default_factory=dict)
    steps: int = 0
    stays: int = 0

    @cached_property
    def follow(self) -> NDArray[np.float64]:
        """log p(column's tool | row's tool), shape (tools, tools)."""
        size = len(self.graph)
        counts = np.full((size, size), ANY_PSEUDO_COUNT)
        for source, target in self.graph.links:
            counts[self.graph.index(source), self.graph.index(target)] += LINK_PSEUDO_COUNT
        for (source, target), count in self.links.items():
            if source in self.graph and target in self.graph:
                counts[self.graph.index(source), self.graph.index(target)] += count
        return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)))

    @cached_property
    def start(self) -> NDArray[np.float64]:
        """log p(a plan begins with the tool), shape (tools,)."""
        counts = np.full(len(self.graph), LINK_PSEUDO_COUNT)
        for tool, count in self.starts.items():
            if tool in self.graph:
                counts[self.graph.index(tool)] += count
        return np.asarray(np.log(counts / counts.sum()))

    @property
    def stay(self) -> float:
        """log p(a step continues the previous call)."""
        return math.log((self.stays + STAY_PSEUDO_COUNT) / (self.steps + 1))


def count_transitions(graph: ToolGraph, plans: Iterable[ToolPlan]) -> Transitions:
    """Count the transitions between consecutive tools of plans.

    If a plan has more steps than tools, the surplus counts as steps that continue a call.
    """
    links: Counter[Link] = Counter()
    starts: Counter[str] = Counter()
    steps = stays = 0
    for plan in plans:
        links.update(plan.chain)
        starts.update(plan.tools[:1])
        steps += len(plan.steps)
        stays += max(0, len(plan.steps) - len(plan.tools))
    return Transitions(graph, dict(links), dict(starts), steps, stays)


# Decoders -----------------------------------------------------------------------------------------

Rule = Literal["nearest", "greedy", "viterbi"]
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
"""Values of `Decoder.weight` that `choose_decoder` tries."""
SKIPS = (-math.inf, -7.0, -5.0)
"""Values of `Decoder.skip` that `choose_decoder` tries."""


@dataclass(frozen=True)
class Decoder:
    """A decoding rule, from the scores of a plan's steps to a sequence of tools.

    `viterbi` runs on log softmax(S / temperature), with transitions weight * log p(v | u).

    Args:
        rule: Name of the algorithm; only `viterbi` uses `weight`, `temperature` and `skip`.
        weight: Weight of the log transition probabilities.
        temperature: Temperature of the softmax over tools.
        skip: Log-probability that a step calls nothing.
        once: Whether to keep only the first call of each tool. This suits plans that name each tool
            once, such as UltraTool's, but loses repeated calls ("at 7 and at 9").

    Raises:
        UsageError: The rule is unknown.
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
    shifted = scores.astype(np.float64) - scores.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def decode(
    decoder: Callable[[Scores], Sequence[int]],
    scores: Sequence[Scores],
    plans: Sequence[ToolPlan],
    transitions: Transitions,
) -> dict[str, ToolPlan]:
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
    """Return the settings of `viterbi` that have the highest `overall` on true plans.

    The plans must not have been used to fit the scores or the transitions. Temperature and weight
    are chosen together, then whether steps may be skipped, then whether repeats are removed. Among
    equally good settings, the first is taken.
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
    """Return the score for choosing a decoder: the mean of both F1 scores and both accuracies."""
    return (scores.node_f1 + scores.link_f1 + scores.node_accuracy + scores.plan_accuracy) / 4
