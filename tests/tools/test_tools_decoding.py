"""Sequences of tools: the paper's rule by hand, Viterbi against brute force."""

from __future__ import annotations

import itertools
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.tools.retrieval.decoding import (
    Decoder,
    Transitions,
    adjacency,
    as_plan,
    choose_decoder,
    count_transitions,
    distinct,
    greedy,
    log_softmax,
    nearest,
    viterbi,
)
from hvr.tools.tool_plans import Tool, ToolGraph, ToolPlan
from studies.text_retrieval import normalised, propagate
from tests.tools.travel import GRAPH

_ABC = ToolGraph(tuple(Tool(t) for t in "abc"), (("a", "b"), ("b", "c"), ("b", "b")))


def test_nearest_takes_each_step_alone() -> None:
    assert nearest(np.array([[1.0, 3, 2], [5, 4, 0], [1, 1, 0]])) == [1, 0, 0]
    assert nearest(np.zeros((0, 3))) == []


def test_greedy_moves_along_links_and_never_stays() -> None:
    linked = adjacency(_ABC)
    scores = np.array([[9.0, 0, 0], [9, 1, 8], [0, 9, 1]])
    # From a only b; from b only c, because a tool does not follow itself.
    assert greedy(scores, linked) == [0, 1, 2]


def test_greedy_passes_over_steps_without_a_neighbour() -> None:
    assert greedy(np.array([[0.0, 0, 9], [9, 0, 0], [9, 0, 0]]), adjacency(_ABC)) == [2]


_NUMBERS = st.integers(-40, 40).map(lambda n: n / 8)


def _value(
    ops: tuple[str | int, ...], scores: np.ndarray, follow: np.ndarray, start: np.ndarray,
    stay: float, skip: float,
) -> float:  # fmt: skip
    total, last = 0.0, -1
    for row, op in zip(scores, ops, strict=True):
        if op == "skip":
            total += skip
        elif op == "stay":
            total += row[last] + stay if last >= 0 else -math.inf
        elif op == last:
            return -math.inf
        else:
            assert isinstance(op, int)
            total += row[op] + (follow[last, op] if last >= 0 else start[op])
            last = op
    return total if last >= 0 else -math.inf


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data())
def test_viterbi_finds_the_best_of_all_sequences(data: st.DataObject) -> None:
    steps, tools = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))

    def draw(*shape: int) -> np.ndarray:
        count = math.prod(shape)
        return np.array(
            data.draw(st.lists(_NUMBERS, min_size=count, max_size=count))
        ).reshape(shape)  # fmt: skip

    scores, follow, start = draw(steps, tools), draw(tools, tools), draw(tools)
    stay, skip = data.draw(_NUMBERS), data.draw(_NUMBERS | st.just(-math.inf))
    every = itertools.product(["skip", "stay", *range(tools)], repeat=steps)
    values = {ops: _value(ops, scores, follow, start, stay, skip) for ops in every}
    best = max(values.values())
    found = viterbi(scores, follow, start, stay=stay, skip=skip)
    good = [
        [op for op in ops if isinstance(op, int)]
        for ops, value in values.items()
        if math.isclose(value, best, abs_tol=1e-9)
    ]
    assert found in good


def test_viterbi_trades_a_step_for_the_whole() -> None:
    scores = np.array([[1.0, 0.9, 0.0], [0.0, 0.0, 1.0]])
    follow = np.full((3, 3), -5.0)
    follow[1, 2] = 0
    assert greedy(scores, follow > -1) == [0]
    assert viterbi(scores, follow) == [1, 2]


def test_viterbi_answers_even_if_everything_is_forbidden() -> None:
    nothing = np.full((2, 2), -math.inf)
    found = viterbi(np.array([[0.0, 1], [1, 0]]), nothing, np.full(2, -math.inf), stay=-math.inf)
    assert found == [1]
    assert viterbi(np.zeros((0, 2)), nothing) == []


def test_distinct_keeps_the_first() -> None:
    assert distinct([2, 1, 2, 3, 1]) == [2, 1, 3]


def test_plans_are_chains() -> None:
    plan = as_plan(ToolPlan("7", "r", ("s",), ("x",)), _ABC, [0, 1, 2])
    assert (plan.id, plan.request, plan.steps) == ("7", "r", ("s",))
    assert plan.tools == ("a", "b", "c")
    assert plan.links == (("a", "b"), ("b", "c"))


def test_sgc_by_hand() -> None:
    # a -> b, a -> c, b -> c: out-degrees 2, 1, 0, so c has a row and a column of zeros.
    graph = ToolGraph(_ABC.tools, (("a", "b"), ("a", "c"), ("b", "c")))
    expected = np.array([[0, 1 / math.sqrt(2), 0], [0, 0, 0], [0, 0, 0]])
    assert np.allclose(normalised(graph), expected)
    vectors = np.eye(3, dtype=np.float32)
    mixed = propagate(vectors, graph, 0.75)
    assert np.allclose(mixed[0], [0.75, 0.25 / math.sqrt(2), 0])
    assert np.allclose(mixed[2], [0, 0, 0.75])
    assert np.allclose(propagate(vectors, graph, 1.0), vectors)


def test_transitions_by_hand() -> None:
    plans = [
        ToolPlan("1", "", ("x", "y"), ("a", "b")),
        ToolPlan("2", "", ("x", "y", "z"), ("a", "c")),
    ]
    moves = count_transitions(_ABC, plans)
    row = np.array([0.01, 1.51, 1.01])
    assert np.allclose(np.exp(moves.follow[0]), row / row.sum())
    assert np.allclose(np.exp(moves.start), np.array([2.5, 0.5, 0.5]) / 3.5)
    assert (moves.steps, moves.stays) == (5, 1)
    assert np.exp(moves.follow).sum(axis=1) == pytest.approx(np.ones(3))


def test_links_alone_say_what_follows() -> None:
    moves = Transitions(_ABC)
    assert moves.follow[0, 1] > moves.follow[0, 2]
    assert np.isfinite(moves.follow).all()
    assert moves.stay < -3


def test_log_softmax_does_not_overflow() -> None:
    found = log_softmax(np.array([[1000.0, 1000.0], [0.0, math.log(3)]]))
    assert np.allclose(np.exp(found), [[0.5, 0.5], [0.25, 0.75]])


def test_chosen_weights_fit_the_plans() -> None:
    # Two tools have equal scores; only their links distinguish them.
    plans = [ToolPlan(str(i), "", ("x", "y"), ("train_search", "train_book"),
                      (("train_search", "train_book"),)) for i in range(3)]  # fmt: skip
    scores = [np.array([[2.0, 0, 0, 0, 0], [0, 1.0, 0, 1.1, 0]]) for _ in plans]
    moves = count_transitions(GRAPH, plans)
    decoder = choose_decoder(scores, plans, moves)
    assert decoder.weight > 0
    assert decoder(scores[0]) == [0, 1]
    assert Decoder(moves, weight=0)(scores[0]) == [0, 3]
    assert Decoder(moves)(np.zeros((0, 5))) == []


def test_repeats_are_removed_only_where_plans_have_none() -> None:
    scores = [np.array([[9.0, 0, 0, 0, 0], [0, 9.0, 0, 0, 0], [9.0, 0, 0, 0, 0]])] * 3
    steps = ("x", "y", "z")

    def chosen(*tools: str) -> Decoder:
        plans = [ToolPlan(str(i), "", steps, tools, tuple(pairwise(tools))) for i in range(3)]
        return choose_decoder(scores, plans, count_transitions(GRAPH, plans))

    assert chosen("train_search", "train_book").once
    assert not chosen("train_search", "train_book", "train_search").once
