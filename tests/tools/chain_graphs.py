"""Graphs of a few tools for the tests of chain searches."""

from __future__ import annotations

from hypothesis import strategies as st

from hvr.tools.navigation.chains import CallFacts
from hvr.tools.navigation.graph import GraphTool, NavigationGraph


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
