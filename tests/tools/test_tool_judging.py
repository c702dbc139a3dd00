"""Tool plans: results that nothing reads, look-ups that are missing."""

from __future__ import annotations

import pytest

from hvr.judging.verdict import CritiqueKind
from hvr.tools.judging import judge_tool_plan
from hvr.tools.tool_graph import Tool, ToolGraph
from hvr.tools.tool_plan import ToolPlan


def plan(tools: str, *links: tuple[str, str]) -> ToolPlan:
    return ToolPlan("p", "", (), tuple(tools.split()), links)


def test_a_call_whose_result_nothing_reads_goes_with_what_only_it_reads() -> None:
    verdict = judge_tool_plan(plan("a b c d", ("a", "b"), ("c", "d")))
    assert verdict.removed == {1, 2}
    assert [str(a) for a in verdict.repaired or ()] == ["(c)", "(d)"]


def test_a_look_up_that_is_read_and_not_called_is_missing() -> None:
    (critique,) = judge_tool_plan(plan("b c", ("a", "b"), ("b", "c"))).critiques
    assert (critique.kind, critique.index) == (CritiqueKind.MISSING, 1)
    assert [str(a) for a in critique.actions] == ["(a)"]


def test_a_look_up_that_comes_too_late_is_missing_before() -> None:
    verdict = judge_tool_plan(plan("a c b", ("a", "c"), ("b", "c")))
    assert [(c.kind, c.index) for c in verdict.critiques] == [
        (CritiqueKind.MISSING, 2), (CritiqueKind.REMOVE, 3),
    ]  # fmt: skip
    assert [str(a) for a in verdict.repaired or ()] == ["(a)", "(b)", "(c)"]


def test_other_calls_of_what_the_request_is_for_are_needed() -> None:
    compared = plan("find read find read", ("find", "read"), ("find", "read"))
    assert judge_tool_plan(compared).outcome == "clean"
    assert judge_tool_plan(plan("a b a", ("a", "b"), ("b", "a"))).outcome == "clean"


@pytest.mark.parametrize(
    ("tools", "outcome"), [("", "undecided"), ("a", "clean"), ("a b", "undecided")]
)
def test_plans_without_links(tools: str, outcome: str) -> None:
    assert judge_tool_plan(plan(tools)).outcome == outcome


def test_types_tell_where_there_are_no_links() -> None:
    graph = ToolGraph((Tool("draw", outputs=("image",)), Tool("speak", outputs=("audio",)),
                       Tool("print", inputs=("image",))))  # fmt: skip
    assert judge_tool_plan(plan("draw speak print"), graph).removed == {2}
    assert judge_tool_plan(plan("draw print"), graph).outcome == "clean"


def test_without_links_and_types_nothing_is_decided() -> None:
    assert judge_tool_plan(plan("a b")).exit_code == 2
    graph = ToolGraph((Tool("a"),))
    assert "is not among the tools" in judge_tool_plan(plan("a b", ("a", "b")), graph).unknown
