"""Chains of calls are cheapest, and determine the next call."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import UsageError
from hvr.tools.catalogue.schema import Catalogue, ToolParameter, ToolSchema
from hvr.tools.catalogue.schema_matching import ParameterMeaning, Slot
from hvr.tools.navigation.chains import (
    CallCounts,
    CallFacts,
    NavigationTool,
    NextMove,
    ToolChain,
    cheapest_chain,
    decide,
    navigation_tools,
    reachable,
)


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
