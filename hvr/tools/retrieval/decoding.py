"""Decoding: from scores of tools for steps to a sequence of tools.

nearest    argmax over tools at each step, without the graph
greedy     argmax over the out-neighbours of the previous tool (GNN4Plan, section 4.2)
viterbi    the sequence with the highest total score, by dynamic programming (hvr's own)

All take scores (steps, tools) and return numbers of tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hvr.tools.tool_graph import ToolGraph
from hvr.tools.tool_plan import ToolPlan

Scores = NDArray[np.floating]
Matrix = NDArray[np.floating]


def adjacency(graph: ToolGraph) -> NDArray[np.bool_]:
    """Return the adjacency matrix A (tools, tools): A[u, v] is true for each link u -> v."""
    linked = np.zeros((len(graph), len(graph)), dtype=np.bool_)
    for source, target in graph.links:
        linked[graph.index(source), graph.index(target)] = True
    return linked


def nearest(scores: Scores) -> list[int]:
    """Return the best tool of each step; of equals the first."""
    return [int(t) for t in scores.argmax(axis=1)] if scores.size else []


def greedy(scores: Scores, linked: NDArray[np.bool_]) -> list[int]:
    """Decode greedily along the links (GNN4Plan, section 4.2).

    t_1 = argmax_t S[1, t] over all tools, then t_i = argmax_t S[i, t] over the out-neighbours of
    t_(i-1). A tool does not follow itself but may return later. A step is skipped if the previous
    tool has no other out-neighbour.

    Args:
        scores: (steps, tools), higher is better.
        linked: A of `adjacency` (tools, tools).
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
    """Return the sequence of tools with the highest total score: exact dynamic programming.

    Each step i does one of three things: it calls a new tool t after s, worth
    S[i, t] + follow[s, t]; it continues the previous call of s, worth S[i, s] + stay; or it is
    skipped, worth `skip`. Hence a sequence may have fewer tools than there are steps.

        V_i(t) = max(S[i, t] + max_(s != t) (V_(i-1)(s) + follow[s, t]),   a new call
                     S[i, t] + V_(i-1)(t) + stay,                          the same call
                     V_(i-1)(t) + skip,                                    no call
                     S[i, t] + (i - 1) skip + start[t])                    the first call

    Args:
        scores: S (steps, tools), best as log-probabilities.
        follow: value of the column's tool directly after the row's (tools, tools); -inf forbids
            it. The diagonal is ignored: see `stay`.
        start: value of beginning with a tool (tools,); 0 if None.
        stay: value of continuing the same call; -inf forbids it.
        skip: value of skipping a step; -inf forbids it.

    Returns:
        Numbers of tools. If every sequence is forbidden, the best tool of the first step alone.
        Ties go to the lower number.
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
"""Back pointers other than a tool: no new call at this step; the first call of the sequence."""


def _forward(
    rows: Matrix, follow: Matrix, start: Matrix, stay: float, skip: float
) -> tuple[Matrix, list[NDArray[np.int64]]]:
    """Return V after the last step (tools,) and the back pointers of each step (tools,)."""
    tools = rows.shape[1]
    # Targets as rows: the maximum over sources then runs along contiguous memory.
    into = follow.T
    # Before the first call there is a single state, whose value is that of the skipped steps.
    idle = 0.0
    value = np.full(tools, -np.inf)
    back: list[NDArray[np.int64]] = []
    for row in rows:
        arrive = into + value
        np.fill_diagonal(arrive, -np.inf)
        source = arrive.argmax(axis=1)
        options = np.stack([
            arrive[np.arange(tools), source] + row, value + row + stay, value + skip,
            idle + start + row,
        ])  # fmt: skip
        which = options.argmax(axis=0)
        pointer = np.where(which == 0, source, np.where(which == 3, _FIRST, _CONTINUE))
        back.append(pointer.astype(np.int64))
        value = options[which, np.arange(tools)]
        idle += skip
    return value, back


def _trace_back(last: int, back: Sequence[NDArray[np.int64]]) -> list[int]:
    """Return the sequence that ends with a tool, along the back pointers."""
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
    """Return a sequence without repetitions; the first occurrence of each tool stays."""
    return list(dict.fromkeys(sequence))


def as_plan(plan: ToolPlan, graph: ToolGraph, sequence: Sequence[int]) -> ToolPlan:
    """Return a plan as a chain of the tools of a sequence."""
    tools = tuple(graph.tools[i].id for i in sequence)
    return ToolPlan(plan.id, plan.request, plan.steps, tools, tuple(pairwise(tools)))
