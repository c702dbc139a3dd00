"""The heuristic searches find valid chains, and no chain where none exists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("immutables")

from hvr.tools.navigation.chains import CallFacts, NavigationTool, ToolChain, reachable
from hvr.tools.navigation.graph import GraphTool, NavigationGraph, ObservedCall
from studies.chain_search.annealing import annealed_chain
from studies.chain_search.backward import BackwardBounds, backward_chain, backward_tools
from tests.tools.chain_graphs import CANCELLED, MEANINGS, SHOP, known, tool

GRAPHS = st.lists(st.tuples(MEANINGS, MEANINGS), min_size=1, max_size=8).map(
    lambda some: NavigationGraph.of(
        GraphTool(f"t{i}", needs, needs, gives) for i, (needs, gives) in enumerate(some)
    )
)


def as_step(tool: GraphTool) -> NavigationTool:
    return NavigationTool(tool.name, tool.needs, tool.gives)


def check(graph: NavigationGraph, chain: ToolChain, facts: CallFacts, goal: CallFacts) -> None:
    """Check that the calls are executable in order, without repeats, and reach the goal."""
    assert len(set(chain.calls)) == len(chain.calls)
    for name in chain.calls:
        step = as_step(graph.tools[name])
        assert step.needs <= facts.known
        facts = facts.after(step)
    assert facts.covers(goal)


@pytest.mark.slow
@given(GRAPHS, MEANINGS, st.sampled_from("abcdef"))
def test_what_is_found_is_a_chain_and_nothing_is_found_where_nothing_is(
    graph: NavigationGraph, start: frozenset[str], wanted: str
) -> None:
    facts, goal = CallFacts(start), known(wanted)
    can = reachable(facts, [as_step(t) for t in graph.usable_tools()]).covers(goal)
    for chain in (backward_chain(graph, facts, goal), annealed_chain(graph, facts, goal)):
        if chain is not None:
            check(graph, chain, facts, goal)
            assert can
    # Untried tools are not pruned at the first depths.
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
