"""Chains of calls are cheapest, and determine the next call."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("immutables")

from hvr.errors import UsageError
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema
from hvr.tools.catalogue.schema_matching import ParameterMeaning, Slot
from hvr.tools.navigation.chains import (
    CallCounts,
    CallFacts,
    NavigationTool,
    NextMove,
    ToolChain,
    affordable_tools,
    callable_tools,
    cheapest_chain,
    decide,
    navigation_tools,
    reachable,
    useful_tools,
)
from hvr.tools.navigation.experience import learnt_counts
from hvr.tools.navigation.graph import GraphTool, NavigationGraph, ObservedCall, evolved


def tool(name: str, needs: str = "", gives: str = "") -> NavigationTool:
    return NavigationTool(name, frozenset(needs.split()), frozenset(gives.split()))


FIND_USER = tool("find_user", "email", "user")
ORDERS = tool("list_orders", "user", "order")
CANCEL = tool("cancel", "order reason")
SHOP = (FIND_USER, ORDERS, CANCEL)
NAMES = frozenset(t.name for t in SHOP)
CANCELLED = CallFacts(done=frozenset({"cancel"}))


def known(text: str) -> CallFacts:
    return CallFacts(frozenset(text.split()))


def test_the_way_to_a_call_leads_over_what_it_needs() -> None:
    chain = cheapest_chain(known("email reason"), CANCELLED, SHOP)
    assert chain == ToolChain((), ("find_user", "list_orders", "cancel"))


@pytest.mark.slow
def test_a_tool_that_failed_gives_way_to_another() -> None:
    other = tool("find_user_by_name", "email", "user")
    tools, goal = (FIND_USER, other), known("user")
    for bad, good in (("find_user", other.name), (other.name, "find_user")):
        chain = cheapest_chain(known("email"), goal, tools, {bad: CallCounts(0, 3)})
        assert chain is not None
        assert chain.calls == (good,)


def test_what_may_be_left_out_is_no_need() -> None:
    schema = ToolSchema(
        "get", takes=(ToolParameter("id", required=True), ToolParameter("page")),
        gives=(ToolParameter("name"),),
    )  # fmt: skip
    slots = Slot("get", "id"), Slot("get", "page"), Slot("get", "name", gives=True)
    found = [ParameterMeaning(slot.name, (slot,)) for slot in slots]
    assert navigation_tools(Catalogue((schema,)), found) == (tool("get", "id", "name"),)


def test_names_from_elsewhere_do_not_become_pddl() -> None:
    odd = (
        NavigationTool('a") (:action', frozenset({"x"}), frozenset({"y\n;"})),
        NavigationTool("A' ", frozenset({"y\n;"}), frozenset({"z"})),
        NavigationTool("ö", frozenset(), frozenset({"Y\n;"})),
    )
    chain = cheapest_chain(known("x"), known("z"), odd)
    assert chain is not None
    assert chain.calls == ('a") (:action', "A' ")


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="duplicate"):
        cheapest_chain(known("x"), known("user"), (FIND_USER, FIND_USER))


@pytest.mark.parametrize(
    ("facts", "candidates", "move", "what"),
    [
        (CallFacts(done=frozenset({"cancel"})), NAMES, NextMove.ANSWER, ()),
        (known("email reason"), NAMES, NextMove.CALL, ("find_user",)),
        (known("email reason"), NAMES - {"list_orders"}, NextMove.FIND, ("list_orders",)),
        (known("email"), NAMES, NextMove.ASK, ("reason",)),
        (known("reason"), NAMES, NextMove.ASK, ("email",)),
    ],
)
def test_what_is_decided(
    facts: CallFacts, candidates: frozenset[str], move: NextMove, what: tuple[str, ...]
) -> None:
    decision = decide(facts, CANCELLED, SHOP, candidates)
    found = (decision.call,) if decision.call else decision.ask or decision.find
    assert decision.move is move
    assert found == what


def test_what_no_tool_does_is_not_tried() -> None:
    goal = CallFacts(done=frozenset({"fly"}))
    assert decide(known("email"), goal, SHOP, NAMES).move is NextMove.STOP


def test_a_banned_tool_is_not_called() -> None:
    facts, goal = known("email"), known("user")
    decision = decide(facts, goal, SHOP, NAMES, banned={"find_user"})
    assert (decision.move, decision.ask) == (NextMove.ASK, ("user",))


MEANINGS = st.frozensets(st.sampled_from("abcde"), max_size=2)
COUNTS = st.builds(CallCounts, st.integers(0, 9), st.integers(0, 9))


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(MEANINGS, MEANINGS, COUNTS), min_size=1, max_size=5), MEANINGS)
def test_no_set_of_tools_is_cheaper(
    some: list[tuple[frozenset[str], frozenset[str], CallCounts]], start: frozenset[str]
) -> None:
    tools = [NavigationTool(f"t{i}", needs, gives) for i, (needs, gives, _) in enumerate(some)]
    counts = {f"t{i}": count for i, (_, _, count) in enumerate(some)}
    facts, goal = CallFacts(start), known("e")
    costs = [
        sum(counts[t.name].cost for t in chosen)
        for size in range(len(tools) + 1)
        for chosen in combinations(tools, size)
        if reachable(facts, chosen).covers(goal)
    ]
    chain = cheapest_chain(facts, goal, tools, counts)
    assert (chain.cost if chain else None) == (min(costs) if costs else None)


# Graphs and narrowing -----------------------------------------------------------------------------

GRAPH = NavigationGraph.of(
    GraphTool(t.name, t.needs, t.needs, t.gives)
    for t in (*SHOP, tool("find_by_name", "email", "user"), tool("weather", "city", "rain"))
)
SOME = st.frozensets(st.sampled_from("abcdef"), max_size=2)


def tools_of(graph: NavigationGraph) -> list[NavigationTool]:
    return [NavigationTool(t.name, t.needs, t.gives) for t in graph.usable_tools()]


def test_costs_come_from_links_and_calls() -> None:
    graph = GRAPH
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
    graph = GRAPH
    for time in range(1, 9):
        graph = graph.observe(ObservedCall("find_user", False, time))
        graph = graph.observe(ObservedCall("list_orders", True, time))
    graph = evolved(graph, 10.0)
    assert "find_user" not in learnt_counts(graph)
    assert "find_user" not in {t.name for t in tools_of(graph)}


STEPS = st.lists(st.tuples(SOME, SOME), max_size=8).map(
    lambda some: [NavigationTool(f"t{i}", needs, gives) for i, (needs, gives) in enumerate(some)]
)


@given(STEPS, SOME, SOME, SOME)
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
@given(STEPS, PRICES, SOME, SOME, SOME)
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
