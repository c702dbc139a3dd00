"""What the searches find are chains; what is learnt from calls decides which."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("immutables")

from hvr.navigation.annealing import annealed_chain
from hvr.navigation.backward import BackwardBounds, backward_chain, backward_tools
from hvr.navigation.chains import (
    CallCounts,
    CallFacts,
    NavigationTool,
    ToolChain,
    callable_tools,
    cheapest_chain,
    reachable,
    useful_tools,
)
from hvr.navigation.evolution import evolved
from hvr.navigation.graph import GraphTool, NavigationGraph, ObservedCall
from hvr.navigation.learnt import learnt_counts, learnt_tools
from hvr.navigation.narrowing import affordable_tools


def tool(name: str, needs: str = "", gives: str = "") -> GraphTool:
    return GraphTool(name, frozenset(needs.split()), frozenset(needs.split()),
                     frozenset(gives.split()))  # fmt: skip


def known(text: str) -> CallFacts:
    return CallFacts(frozenset(text.split()))


SHOP = NavigationGraph.of([
    tool("find_user", "email", "user"),
    tool("find_by_name", "email", "user"),
    tool("list_orders", "user", "order"),
    tool("cancel", "order reason"),
    tool("weather", "city", "rain"),
])  # fmt: skip
CANCELLED = CallFacts(done=frozenset({"cancel"}))

MEANINGS = st.frozensets(st.sampled_from("abcdef"), max_size=2)
GRAPHS = st.lists(st.tuples(MEANINGS, MEANINGS), min_size=1, max_size=8).map(
    lambda some: NavigationGraph.of(
        GraphTool(f"t{i}", needs, needs, gives) for i, (needs, gives) in enumerate(some)
    )
)


def check(graph: NavigationGraph, chain: ToolChain, facts: CallFacts, goal: CallFacts) -> None:
    """The calls can be made in this order, none twice, and lead to the goal."""
    assert len(set(chain.calls)) == len(chain.calls)
    for name in chain.calls:
        step = graph.tools[name].as_step()
        assert step.needs <= facts.known
        facts = facts.after(step)
    assert facts.covers(goal)


@given(GRAPHS, MEANINGS, st.sampled_from("abcdef"))
def test_what_is_found_is_a_chain_and_nothing_is_found_where_nothing_is(
    graph: NavigationGraph, start: frozenset[str], wanted: str
) -> None:
    facts, goal = CallFacts(start), known(wanted)
    can = reachable(facts, [t.as_step() for t in graph.usable_tools()]).covers(goal)
    for chain in (backward_chain(graph, facts, goal), annealed_chain(graph, facts, goal)):
        if chain is not None:
            check(graph, chain, facts, goal)
            assert can
    # Of untried tools nothing is cut at the first depths.
    assert (backward_chain(graph, facts, goal) is not None) == can


def test_both_searches_find_the_way_over_two_tools() -> None:
    for search in (backward_chain, annealed_chain):
        chain = search(SHOP, known("email reason"), CANCELLED)
        assert chain is not None
        assert chain.calls[0] in ("find_user", "find_by_name")
        assert chain.calls[1:] == ("list_orders", "cancel")


def test_the_backward_search_leaves_alone_what_leads_nowhere() -> None:
    kept = backward_tools(SHOP, known("email reason city"), CANCELLED)
    assert "weather" not in kept
    assert set(kept) == {"cancel", "list_orders", "find_user", "find_by_name"}


def test_a_tool_that_keeps_failing_is_cut_where_another_gives_the_same() -> None:
    graph = SHOP
    for time in range(1, 12):
        graph = graph.observe(ObservedCall("find_user", False, time, given=("email",),
                                          missing=("user",)))  # fmt: skip
        graph = graph.observe(ObservedCall("find_by_name", True, time, given=("email",),
                                          returned=("user",)))  # fmt: skip
    kept = backward_tools(graph, known("email reason"), CANCELLED, BackwardBounds(beta=0.4))
    assert "find_user" not in kept and "find_by_name" in kept
    chain = backward_chain(graph, known("email reason"), CANCELLED)
    assert chain is not None and chain.calls[0] == "find_by_name"


def test_removed_tools_are_in_no_chain() -> None:
    graph = SHOP.without_tool("list_orders", 1.0)
    assert backward_chain(graph, known("email reason"), CANCELLED) is None
    assert annealed_chain(graph, known("email reason"), CANCELLED) is None
    assert annealed_chain(SHOP.without_tool("cancel", 1.0), known("x"), CANCELLED) is None


def test_a_value_that_was_passed_on_makes_a_way() -> None:
    graph = NavigationGraph.of([tool("get", "id", "owner"), tool("mail", "address")])
    goal = CallFacts(done=frozenset({"mail"}))
    assert backward_chain(graph, known("id"), goal) is None
    graph = graph.observe(ObservedCall("mail", True, 1.0, "get", ("address",),
                                      passed=(("owner", "address"),)))  # fmt: skip
    chain = backward_chain(graph, known("id"), goal)
    assert chain is not None and chain.calls == ("get", "mail")
    assert cheapest_chain(known("id"), goal, learnt_tools(graph)) == chain


def test_costs_come_from_links_and_calls() -> None:
    graph = SHOP
    for time in range(1, 6):
        graph = graph.observe(ObservedCall("list_orders", True, time, "find_user"))
        graph = graph.observe(ObservedCall("list_orders", False, time, "find_by_name"))
    counts = learnt_counts(graph)
    best = graph.calls.targets("find_user")["list_orders"].weight
    assert counts["list_orders"] == CallCounts(5, 5, best)
    after = learnt_counts(graph, "find_by_name")
    assert after["list_orders"].cost > learnt_counts(graph, "find_user")["list_orders"].cost
    assert counts["weather"] == CallCounts()
    likely = {"cancel": 0.9}
    predicted = learnt_counts(graph, "list_orders", lambda _, name: likely.get(name, 0.1))
    assert predicted["cancel"].cost < predicted["weather"].cost
    chain = cheapest_chain(known("email reason"), CANCELLED, learnt_tools(graph), counts)
    assert chain is not None and chain.cost == sum(counts[name].cost for name in chain.calls)


def test_tools_that_were_removed_are_not_planned_with() -> None:
    graph = SHOP
    for time in range(1, 9):
        graph = graph.observe(ObservedCall("find_user", False, time))
        graph = graph.observe(ObservedCall("list_orders", True, time))
    graph = evolved(graph, 10.0)
    assert "find_user" not in learnt_counts(graph)
    assert "find_user" not in {t.name for t in learnt_tools(graph)}


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
    """Return the least cost of the sets of tools that reach a goal: all are tried."""
    ways = [
        sum(costs[t.name] for t in some)
        for size in range(len(tools) + 1)
        for some in combinations(tools, size)
        if reachable(start, some).covers(goal)
        and len(callable_tools(start, some)) == size
    ]  # fmt: skip
    return min(ways, default=None)


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
