"""Scores of plans against hand-computed values, and the laws of F1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.tools.tool_plans import (
    Tool,
    ToolGraph,
    ToolPlan,
    agreement,
    f1,
    hallucination,
    link_f1,
    node_f1,
)

_LISTS = st.lists(st.sampled_from("abcde"), max_size=6)


def _plan(tools: str, id: str = "1") -> ToolPlan:
    plan = ToolPlan(id, "", (), tuple(tools))
    return ToolPlan(id, "", (), tuple(tools), plan.chain)


@pytest.mark.parametrize(
    ("predicted", "true", "expected"),
    [
        ("ab", "ab", 1.0),
        ("ba", "ab", 1.0),
        ("abc", "ab", 0.8),
        ("a", "ab", 2 / 3),
        ("aba", "aba", 2 / 3),
        ("x", "ab", 0.0),
        ("", "ab", 0.0),
        ("ab", "", 0.0),
        ("", "", 0.0),
    ],
)
def test_f1_counts_repeats_in_lengths_only(predicted: str, true: str, expected: float) -> None:
    assert f1(predicted, true) == pytest.approx(expected)


@pytest.mark.slow
@given(_LISTS, _LISTS)
def test_f1_is_symmetric_and_within_bounds(one: list[str], other: list[str]) -> None:
    assert 0 <= f1(one, other) <= 1
    assert f1(one, other) == pytest.approx(f1(other, one))
    assert (f1(one, other) == 0) == (not set(one) & set(other))


@given(_LISTS)
def test_only_lists_with_repeats_disagree_with_themselves(one: list[str]) -> None:
    if one:
        repeats = len(set(one)) < len(one)
        assert (f1(one, one) < 0.99) == repeats


def test_order_matters_for_links_only() -> None:
    assert node_f1(_plan("cab"), _plan("abc")) == pytest.approx(1)
    assert link_f1(_plan("cab"), _plan("abc")) == pytest.approx(0.5)


def test_two_accuracies() -> None:
    truth = [_plan("abc", "1"), _plan("ab", "2"), _plan("a", "3")]
    predicted = {p.id: p for p in (_plan("cab", "1"), _plan("ab", "2"), _plan("a", "3"))}
    found = agreement(predicted, truth)
    assert found.node_accuracy == 1
    assert found.plan_accuracy == pytest.approx(1 / 3)  # a plan of one tool has no links
    assert found.link_f1 == pytest.approx((0.5 + 1 + 0) / 3)


def test_missing_predictions_count_zero() -> None:
    truth = [_plan("ab", "1"), _plan("ab", "2")]
    predicted = {"1": _plan("ab", "1"), "other": _plan("xy", "other")}
    found = agreement(predicted, truth)
    assert (found.requests, found.missing) == (2, 1)
    assert found.node_f1 == pytest.approx(0.5)


def test_nothing_to_score() -> None:
    assert agreement({}, []).node_f1 == 0


def test_hallucination_by_share_and_by_plan() -> None:
    graph = ToolGraph(tuple(Tool(t) for t in "abc"), (("a", "b"),))
    found = hallucination([_plan("ab"), _plan("abx"), _plan("bc"), _plan("")], graph)
    assert found.requests == 4
    assert found.node_micro == pytest.approx((1 / 3) / 4)
    assert found.node_macro == pytest.approx(1 / 4)
    assert found.link_micro == pytest.approx((0.5 + 1) / 4)
    assert found.link_macro == pytest.approx(2 / 4)
