"""From scores of tools for steps to a sequence of tools.

nearest    the best tool of each step; the graph plays no part
greedy     the best tool that can come straight after the one before (GNN4Plan, section 4.2)
viterbi    the best sequence as a whole (hvr's own)

All take scores as (steps, tools) and return numbers of tools.
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
    """(tools, tools); true where the row's tool can feed the column's."""
    linked = np.zeros((len(graph), len(graph)), dtype=np.bool_)
    for source, target in graph.links:
        linked[graph.index(source), graph.index(target)] = True
    return linked


def nearest(scores: Scores) -> list[int]:
    """Return the best tool of each step; of equals the first."""
    return [int(t) for t in scores.argmax(axis=1)] if scores.size else []


def greedy(scores: Scores, linked: NDArray[np.bool_]) -> list[int]:
    """Return the rule of GNN4Plan: the first step chooses freely, each other among the
    out-neighbours.

    A tool does not follow itself, and may come again later. A step is passed over when the tool
    before it has no other out-neighbour.

    Args:
        scores: (steps, tools), higher is better.
        linked: (tools, tools), as `adjacency` gives it.
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
    """Return the sequence of tools with the highest sum over all steps, exactly.

    Each step does one of three things. It calls another tool t after tool s: scores[step, t] +
    follow[s, t]. It goes on with the tool of the step before, which is called once for both:
    scores[step, s] + stay. Or it is passed over, at the price `skip`. So there may be fewer
    tools than steps.

    Args:
        scores: (steps, tools), best as logarithms of probabilities.
        follow: (tools, tools), what it is worth that the column's tool follows the row's; -inf
            forbids it. The diagonal is not looked at: see `stay`.
        start: (tools,), what it is worth to begin with a tool; 0 if None.
        stay: what it is worth to go on with the same tool; -inf forbids it.
        skip: what it is worth to pass over a step; -inf forbids it.

    Returns:
        Numbers of tools; a sequence is found even if all is forbidden, as short as the first
        step's best tool. Of equals the one with the lower numbers.
    """
    steps, tools = scores.shape
    if not steps or not tools:
        return []
    # Targets as rows, so that the search for the best source runs along memory.
    into = np.asarray(follow, dtype=np.float64).T
    first = np.zeros(tools) if start is None else np.asarray(start, dtype=np.float64)
    rows = scores.astype(np.float64)
    # Before any tool is called there is only one state, "nothing yet", with its own value.
    nothing = 0.0
    value = np.full(tools, -np.inf)
    back: list[NDArray[np.int64]] = []
    for row in rows:
        arrive = into + value
        np.fill_diagonal(arrive, -np.inf)
        source = arrive.argmax(axis=1)
        options = np.stack([
            arrive[np.arange(tools), source] + row, value + row + stay, value + skip,
            nothing + first + row,
        ])  # fmt: skip
        which = options.argmax(axis=0)
        # A pointer of t >= 0: called after t; -1: same tool, nothing new; -2: the first one.
        back.append(np.where(which == 0, source, np.where(which == 3, -2, -1)).astype(np.int64))
        value = options[which, np.arange(tools)]
        nothing += skip
    if not np.isfinite(value).any():
        return [int(rows[0].argmax())]
    tool = int(value.argmax())
    found = [tool]
    for pointers in reversed(back):
        pointer = int(pointers[tool])
        if pointer == -2:
            break
        if pointer >= 0:
            found.append(pointer)
            tool = pointer
    return found[::-1]


def distinct(sequence: Sequence[int]) -> list[int]:
    """Return a sequence without what was in it before; the first of each stays."""
    return list(dict.fromkeys(sequence))


def as_plan(plan: ToolPlan, graph: ToolGraph, sequence: Sequence[int]) -> ToolPlan:
    """Return a plan with the tools of a sequence, each linked to the next."""
    tools = tuple(graph.tools[i].id for i in sequence)
    return ToolPlan(plan.id, plan.request, plan.steps, tools, tuple(pairwise(tools)))
