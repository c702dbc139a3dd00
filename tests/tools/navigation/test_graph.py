"""The graph is the sum of its events, in any order, and is rebuilt from its log byte for byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("immutables")

from hvr.errors import DataFileError
from hvr.tools.navigation.graph import (
    CallEvidence,
    GraphTool,
    Links,
    NavigationGraph,
    ObservedCall,
    Pruning,
    evolved,
    prune_score,
    success_rate,
)
from hvr.tools.navigation.graph_log import (
    GraphEvent,
    GraphReview,
    ToolAdded,
    ToolRemoved,
    applied,
    graph_text,
    read_events,
    rebuilt,
    write_event,
)

TOOLS = st.sampled_from(["find", "list", "cancel", 'pay "it"\n', "Find"])
MEANINGS = st.sampled_from(["user", "order", "email", "weird\nname"])
SETS = st.frozensets(MEANINGS, max_size=3)
SOME = st.lists(MEANINGS, max_size=3, unique=True).map(tuple)
TIMES = st.integers(1, 10_000).map(float)
GRAPH_TOOLS = st.builds(
    lambda name, needs, more, gives: GraphTool(name, needs, needs | more, gives),
    TOOLS, SETS, SETS, SETS,
)  # fmt: skip
CALLS = st.builds(
    ObservedCall, TOOLS, st.booleans(), TIMES, st.one_of(st.just(""), TOOLS), SOME, SOME, SOME,
    st.lists(st.tuples(MEANINGS, MEANINGS), max_size=2).map(tuple),
)  # fmt: skip
EVENTS = st.one_of(
    CALLS, CALLS, GRAPH_TOOLS.map(ToolAdded), st.builds(ToolRemoved, TOOLS, TIMES),
    st.builds(GraphReview, TIMES),
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(EVENTS, max_size=25))
def test_a_graph_is_rebuilt_from_its_log_byte_for_byte(events: list[GraphEvent]) -> None:
    graph = NavigationGraph()
    with TemporaryDirectory() as folder:
        path = Path(folder, "graph.jsonl")
        path.touch()
        for event in events:
            graph = applied(graph, event)
            write_event(path, event)
        again = rebuilt(read_events(path))
    assert again == graph
    assert graph_text(again).encode() == graph_text(graph).encode()


@pytest.mark.slow
@given(st.lists(CALLS, max_size=12), st.randoms())
def test_the_order_of_calls_does_not_matter(calls: list[ObservedCall], random: object) -> None:
    other = list(calls)
    random.shuffle(other)  # type: ignore[attr-defined]
    assert graph_text(rebuilt(calls)) == graph_text(rebuilt(other))


@pytest.mark.slow
@given(st.lists(GRAPH_TOOLS, max_size=6, unique_by=lambda tool: tool.name), st.randoms())
def test_tools_may_come_in_any_order_or_at_once(tools: list[GraphTool], random: object) -> None:
    other = list(tools)
    random.shuffle(other)  # type: ignore[attr-defined]
    one_by_one = rebuilt(map(ToolAdded, other))
    assert graph_text(NavigationGraph.of(tools)) == graph_text(one_by_one)


@pytest.mark.slow
@given(st.lists(EVENTS, max_size=25))
def test_links_go_both_ways_and_end_where_something_is(events: list[GraphEvent]) -> None:
    graph = rebuilt(events)
    for links in (graph.inputs, graph.outputs, graph.calls, graph.passes):
        there = {(s, t) for s, t, _ in links}
        assert there == {(s, t) for t, sources in links.before.items() for s in sources}
        assert all(list(sources) == sorted(set(sources)) for sources in links.before.values())
        assert len(links) == len(there)
    for name, tool in graph.tools.items():
        assert tool.needs <= tool.takes
        assert {p for p, t, _ in graph.inputs if t == name} == tool.takes
        assert set(graph.outputs.targets(name)) == tool.gives


@pytest.mark.slow
@given(st.lists(CALLS, max_size=15), CALLS)
def test_a_call_touches_only_what_it_names(calls: list[ObservedCall], call: ObservedCall) -> None:
    before = rebuilt(calls)
    text = graph_text(before)
    after = before.observe(call)
    assert graph_text(before) == text  # a value
    for name, tool in before.tools.items():
        if name != call.tool:
            assert after.tools[name] is tool
    for source, target, evidence in before.calls:
        if (source, target) != (call.before, call.tool):
            assert after.calls.get(source, target) == evidence


@pytest.mark.slow
@given(st.lists(CALLS, max_size=15), TIMES)
def test_a_look_changes_no_weight(calls: list[ObservedCall], time: float) -> None:
    before = rebuilt(calls)
    after = evolved(before, time)
    for name, tool in before.tools.items():
        assert after.tools[name].evidence.weight == tool.evidence.weight
    for (_, _, old), (_, _, new) in zip(before.calls, after.calls, strict=True):
        assert old.weight == new.weight


@given(st.floats(0, 1), st.integers(0, 50), st.integers(0, 50), st.booleans())
def test_weights_are_chances_and_follow_what_happens(
    aged: float, successes: int, failures: int, old: bool
) -> None:
    evidence = CallEvidence(successes, failures, new_successes=successes, new_failures=failures,
                        aged=aged if old else None)  # fmt: skip
    assert 0 <= evidence.weight <= 1
    if evidence.new_successes + evidence.new_failures:
        assert evidence.after(True, 1.0).weight >= evidence.weight
        assert evidence.after(False, 1.0).weight <= evidence.weight


def test_a_tool_that_fails_goes_is_tried_again_and_comes_back() -> None:
    graph = NavigationGraph.of([GraphTool("good"), GraphTool("bad"), GraphTool("unused")])
    for time in range(1, 7):
        graph = graph.observe(ObservedCall("good", True, time))
        graph = graph.observe(ObservedCall("bad", False, time))
    graph = evolved(graph, 10.0)
    assert [tool.name for tool in graph.usable_tools()] == ["good", "unused"]
    graph = evolved(graph, 20.0)
    assert graph.usable("bad") and graph.absent["bad"].trial
    failed = evolved(graph.observe(ObservedCall("bad", False, 21.0)), 30.0)
    assert failed.absent["bad"].since == 10.0
    back = graph.observe(ObservedCall("bad", True, 21.0))
    assert "bad" not in back.absent
    # The link that worked last stays, however often it failed before.
    assert evolved(back, 30.0).usable("bad")


def test_a_tenth_of_the_removed_is_tried_again_and_each_has_its_turn() -> None:
    names = [f"t{i:02}" for i in range(30)]
    graph = NavigationGraph.of(map(GraphTool, names))
    for name in names:
        for time in (1.0, 2.0, 3.0):
            graph = graph.observe(ObservedCall(name, False, time))
    graph = evolved(graph, 4.0, Pruning(balance=1.0))
    assert len(graph.absent) == 30 and not list(graph.usable_tools())
    turns: list[str] = []
    for time in range(5, 15):
        graph = evolved(graph, float(time), Pruning(balance=1.0))
        usable = [tool.name for tool in graph.usable_tools()]
        assert len(usable) == 3
        turns += usable
    assert sorted(turns) == names


def test_eq_13_weighs_failures_and_seldom_use() -> None:
    tool = GraphTool("t", evidence=CallEvidence(1, 3))
    score = prune_score(tool, 8, Pruning(balance=0.5))
    assert score == pytest.approx(0.5 * (1 - success_rate(1, 3)) + 0.5 * (1 - 4 / 8))


def test_a_tool_that_is_gone_keeps_its_past_for_its_return() -> None:
    tool = GraphTool("t", frozenset("a"), frozenset("ab"), frozenset("c"))
    graph = NavigationGraph.of([tool]).observe(
        ObservedCall("t", True, 1.0, given=("a",), returned=("c", "d"))
    )
    gone = graph.without_tool("t", 2.0)
    assert not gone.usable("t") and not evolved(gone, 3.0).usable("t")
    back = gone.with_tool(replace(tool, takes=frozenset("a"), gives=frozenset("e")))
    assert back.usable("t") and back.tools["t"].evidence.successes == 1
    assert back.tools["t"].gives == frozenset("cde")
    assert back.inputs.get("b", "t") is None


def test_links_are_dropped_on_both_sides() -> None:
    links = Links.of([("a", "t"), ("b", "t")])
    assert links.drop("a", "t") == Links.of([("b", "t")])
    assert links.drop("a", "t").sources("t") == ("b",)
    assert links.drop("a", "t").drop("b", "t") == Links()
    assert links.drop("x", "t") is links


@pytest.mark.parametrize(
    "line", ['{"event": "call", "tool": "t"}', '{"event": "moved"}', "[1]", '{"event": "gone"}']
)
def test_a_line_that_is_no_event_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DataFileError, match=r"line 1: (malformed|unknown) tool-graph event"):
        list(read_events(path))
