"""Plans as graphs: links, roots, cycles, size."""

from __future__ import annotations

import itertools

import pytest

from hvr.errors import UsageError
from hvr.judging.verifier.features import count_paths, paths_of
from hvr.judging.verifier.graph import START, PlanGraph, PlanNode, plan_graph
from hvr.tools.tool_plans import ToolPlan, without_number, without_tool
from tests.work import lines_run


def plan(tools: str, links: tuple[tuple[str, str], ...] = ()) -> ToolPlan:
    names = tuple(tools)
    return ToolPlan("p", "r", tuple(f"do {t}" for t in names), names, links)


def test_a_plan_without_links_is_a_chain_from_start() -> None:
    graph = plan_graph(plan("abc"))
    assert graph.edges == ((0, 1), (1, 2))
    assert graph.all_edges == ((START, 0), (0, 1), (1, 2))


def test_links_by_name_are_the_nearest_steps_forward() -> None:
    graph = plan_graph(plan("abab", (("a", "b"), ("b", "a"), ("a", "b"))))
    assert sorted(graph.edges) == [(0, 1), (1, 2), (2, 3)]


def test_start_is_linked_to_every_root() -> None:
    graph = plan_graph(plan("abc", (("a", "c"), ("b", "c"))))
    assert graph.roots == (0, 1)
    assert graph.all_edges[:2] == ((START, 0), (START, 1))


def test_links_with_unknown_ends_are_left_out() -> None:
    assert plan_graph(plan("ab", (("a", "b"), ("a", "zz")))).edges == ((0, 1),)


def test_a_backward_link_turns_the_order() -> None:
    graph = plan_graph(plan("ab", (("b", "a"),)))
    assert graph.tools == ("b", "a")
    assert graph.plan().steps == ("do b", "do a")


def test_a_circle_is_an_error_that_names_its_tools() -> None:
    with pytest.raises(UsageError, match=r"cycle.*a, b"):
        plan_graph(plan("ab", (("a", "b"), ("b", "a"))))


def test_an_empty_plan_is_an_error() -> None:
    with pytest.raises(UsageError, match="empty"):
        plan_graph(plan(""))


def test_an_edge_to_nowhere_is_an_error() -> None:
    with pytest.raises(UsageError, match="a missing step"):
        PlanGraph("p", "r", (PlanNode("a", "x"),), ((0, 3),))


def test_descriptions_stand_for_steps_that_do_not_match(tools) -> None:
    given = ToolPlan("p", "r", ("only one",), ("search_train", "book_train"))
    assert [n.text for n in plan_graph(given, tools).nodes] == ["search a train", "book a train"]


@pytest.mark.slow
def test_ten_thousand_steps_are_put_in_order() -> None:
    names = tuple(f"t{i}" for i in range(10_000))
    links = tuple(itertools.pairwise(names))
    graph = plan_graph(ToolPlan("p", "r", names, names, tuple(reversed(links))))
    assert graph.order == tuple(range(10_000))
    links = (("a", "a"),) * 9_999
    same = plan_graph(ToolPlan("p", "r", ("x",) * 10_000, ("a",) * 10_000, (*links, ("a", "b"))))
    assert same.edges == tuple((i, i + 1) for i in range(9_999))


def test_the_work_grows_with_the_steps_and_not_with_their_square() -> None:
    def work(steps: int) -> int:
        names = tuple(f"t{i}" for i in range(steps))
        links = tuple(reversed(tuple(itertools.pairwise(names))))
        return lines_run(lambda: plan_graph(ToolPlan("p", "r", names, names, links)))

    assert work(800) < 6 * work(200)


def test_paths_are_counted_and_ones_own_can_be_left_out() -> None:
    counts = count_paths(["abc", "abc", "ac"])
    assert counts.of("ab") == 2
    assert counts.of("abc") == 2
    assert counts.pairwise("a", "c") == pytest.approx(0.6931472)  # log 2
    assert counts.multi_step("a", "c") == pytest.approx(1.0986123)  # log 3
    own = paths_of("abc")
    assert counts.of("ab", own) == 1
    assert counts.multi_step("a", "c", own) == pytest.approx(0.6931472)
    assert counts.usual_between("a", "c") == ("b",)


@pytest.mark.parametrize(
    ("step", "left"),
    [
        ("Step 2 Call file_write to keep it", "keep it"),
        ("Step 3: Use file_write for the notes", "the notes"),
        ("write with file_write now", "write with now"),
        ("file_write", "file_write"),
    ],
)
def test_a_step_without_its_tool(step: str, left: str) -> None:
    assert without_tool(step, ["file_write"]) == left


def test_a_step_without_its_number() -> None:
    assert without_number("Step 12: go") == "go"
    assert without_number("3. go") == "go"
    assert without_number("go 3 steps") == "go 3 steps"
