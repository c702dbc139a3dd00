"""Calls determine the cheapest chain, and narrowing never loses it."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("immutables")

from hvr.tools.navigation.chains import (
    CallCounts,
    CallFacts,
    NavigationTool,
    affordable_tools,
    callable_tools,
    cheapest_chain,
    reachable,
    useful_tools,
)
from hvr.tools.navigation.experience import learnt_counts
from hvr.tools.navigation.graph import NavigationGraph, ObservedCall, evolved
from tests.tools.chain_graphs import CANCELLED, MEANINGS, SHOP, known


def tools_of(graph: NavigationGraph) -> list[NavigationTool]:
    return [NavigationTool(t.name, t.needs, t.gives) for t in graph.usable_tools()]


def test_costs_come_from_links_and_calls() -> None:
    graph = SHOP
    for time in range(1, 6):
        graph = graph.observe(ObservedCall("list_orders", True, time, "find_user"))
        graph = graph.observe(ObservedCall("list_orders", False, time, "find_by_name"))
    counts = learnt_counts(graph)
    best = graph.calls.targets("find_user")["list_orders"].weight
    assert counts["list_orders"] == CallCounts(5, 5, best)
    assert counts["weather"] == CallCounts()
    chain = cheapest_chain(known("email reason"), CANCELLED, tools_of(graph), counts)
    assert chain is not None and chain.cost == sum(counts[name].cost for name in chain.calls)


def test_tools_that_were_removed_are_not_planned_with() -> None:
    graph = SHOP
    for time in range(1, 9):
        graph = graph.observe(ObservedCall("find_user", False, time))
        graph = graph.observe(ObservedCall("list_orders", True, time))
    graph = evolved(graph, 10.0)
    assert "find_user" not in learnt_counts(graph)
    assert "find_user" not in {t.name for t in tools_of(graph)}


STEPS = st.lists(st.tuples(MEANINGS, MEANINGS), max_size=8).map(
    lambda some: [NavigationTool(f"t{i}", needs, gives) for i, (needs, gives) in enumerate(some)]
)


@given(STEPS, MEANINGS, MEANINGS, st.frozensets(st.sampled_from("abcdef"), max_size=2))
def test_useful_tools_suffice_where_all_do(
    tools: list[NavigationTool], start: frozenset[str], goal: frozenset[str], ask: frozenset[str]
) -> None:
    facts, wanted = CallFacts(start), CallFacts(goal)
    useful = useful_tools(facts, wanted, tools, ask)
    for begin in (facts, CallFacts(start | ask)):
        ready = callable_tools(begin, tools)
        assert all(t.needs <= reachable(begin, ready[:i]).known for i, t in enumerate(ready))
        all_do = reachable(begin, tools).covers(wanted)
        assert reachable(begin, useful).covers(wanted) == all_do


PRICES = st.lists(st.integers(1, 9), min_size=8, max_size=8)


def cheapest_cost(
    tools: list[NavigationTool], costs: dict[str, int], start: CallFacts, goal: CallFacts
) -> int | None:
    """Return the least cost of a set of tools that reaches a goal, by brute force."""
    ways = [
        sum(costs[t.name] for t in some)
        for size in range(len(tools) + 1)
        for some in combinations(tools, size)
        if reachable(start, some).covers(goal)
        and len(callable_tools(start, some)) == size
    ]  # fmt: skip
    return min(ways, default=None)


@pytest.mark.slow
@given(STEPS, PRICES, MEANINGS, MEANINGS, st.frozensets(st.sampled_from("abcdef"), max_size=2))
def test_no_cheapest_chain_is_lost_by_leaving_out_what_is_too_dear(
    tools: list[NavigationTool],
    prices: list[int],
    start: frozenset[str],
    goal: frozenset[str],
    ask: frozenset[str],
) -> None:
    costs = {t.name: price for t, price in zip(tools, prices, strict=False)}
    facts = CallFacts(start)
    wanted = CallFacts(goal, frozenset({"t0"} & costs.keys()))
    asking = [NavigationTool(f"ask {m}", frozenset(), frozenset({m})) for m in sorted(ask)]
    kept = affordable_tools(facts, wanted, tools, costs, dict.fromkeys(ask, 10))
    priced = costs | {question.name: 10 for question in asking}
    best = cheapest_cost([*tools, *asking], priced, facts, wanted)
    assert cheapest_cost([*kept, *asking], priced, facts, wanted) == best


def test_tools_far_from_a_cheapest_chain_are_left_out() -> None:
    line = [
        NavigationTool(f"step{i}", frozenset({f"p{i}"}), frozenset({f"p{i + 1}"})) for i in range(3)
    ]
    around = [
        NavigationTool(f"far{i}", frozenset({f"q{i}"}), frozenset({f"q{i + 1}"})) for i in range(9)
    ]
    back = NavigationTool("back", frozenset({"q9"}), frozenset({"p3"}))
    away = NavigationTool("away", frozenset({"p0"}), frozenset({"q0"}))
    tools = [*line, away, *around, back]
    costs = {tool.name: 1 for tool in tools}
    start, goal = CallFacts(frozenset({"p0"})), CallFacts(frozenset({"p3"}))
    assert affordable_tools(start, goal, tools, costs, {}) == tuple(line)
