"""Search on the graph with given scores, and prompts for a language model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from hvr.errors import UsageError
from hvr.models.model import Answer, Request
from hvr.tools.tool_plans import Tool, ToolGraph, ToolPlan
from studies.tool_planning.arguments import Call, argument_agreement, read_calls
from studies.tool_planning.prompted import ToolModel
from studies.tool_planning.search import SearchConfig, graph_search
from tests.tools.travel import GRAPH, travel_plans

_GRAPH = ToolGraph(
    tuple(Tool(t) for t in "abcd"), (("a", "b"), ("b", "a"), ("a", "c"), ("b", "d"), ("b", "b"))
)
_PLAN = ToolPlan("1", "the request", ("one", "two"), ("z",))


class _Judge:
    """Returns given scores by step and tool, and chooses a given path."""

    def __init__(self, scores: Mapping[str, Mapping[str, float]], choice: int = 0) -> None:
        self._scores, self._choice = scores, choice
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.paths: Sequence[tuple[str, ...]] = ()

    def scores(self, step: str, candidates: Sequence[str]) -> Mapping[str, float]:
        self.asked.append((step, tuple(candidates)))
        return self._scores[step]

    def choose(
        self, request: str, steps: Sequence[str], paths: Sequence[tuple[str, ...]]
    ) -> int:  # fmt: skip
        assert (request, tuple(steps)) == ("the request", ("one", "two"))
        self.paths = paths
        return self._choice


def test_greedy_follows_the_best_neighbour() -> None:
    judge = _Judge({"one": {"a": 4, "b": 5}, "two": {"a": 2, "b": 5, "d": 3}})
    found = graph_search(_PLAN, _GRAPH, judge, SearchConfig("greedy"))
    assert found.plan.tools == ("b", "d")
    assert found.plan.links == (("b", "d"),)
    assert judge.asked == [("one", ("a", "b", "c", "d")), ("two", ("a", "d"))]


def test_beam_keeps_the_best_sums() -> None:
    judge = _Judge({"one": {"a": 4, "b": 5}, "two": {"a": 1, "c": 5, "d": 2}}, choice=1)
    found = graph_search(_PLAN, _GRAPH, judge, SearchConfig("beam", width=2))
    assert found.paths == (("a", "c"), ("b", "d"))
    assert found.plan.tools == ("b", "d")
    assert found.calls == 3


def test_adaptive_keeps_what_reaches_the_threshold() -> None:
    judge = _Judge({"one": {"a": 3, "b": 2, "c": 4}, "two": {"b": 3, "c": 3}})
    found = graph_search(_PLAN, _GRAPH, judge, SearchConfig("adaptive", threshold=3))
    # c has no successor, so its path ends there
    assert found.paths == (("a", "b"), ("a", "c"), ("c",))


def test_searches_end() -> None:
    judge = _Judge({"one": {"a": 5, "b": 5, "c": 5, "d": 5}, "two": {}})
    found = graph_search(_PLAN, _GRAPH, judge, SearchConfig("adaptive", calls=1))
    assert found.calls == 1
    assert found.paths == (("a",), ("b",), ("c",), ("d",))
    nothing = ToolPlan("1", "", (), ())
    assert graph_search(nothing, _GRAPH, judge).plan.tools == ()
    with pytest.raises(UsageError, match="no search named"):
        SearchConfig("deep")  # type: ignore[arg-type]


class _Model:
    """Answers by the purpose of the question."""

    name, simulated = "fake:tools", False

    def __init__(self, **data: object) -> None:
        self.data = data
        self.asked: list[Request] = []

    def answer(self, request: Request) -> Answer:
        self.asked.append(request)
        data = self.data[request.purpose.removeprefix("tools-")]
        return Answer(text=json.dumps(data), data=data)


def test_direct_shows_tools_and_example_and_keeps_what_is_said() -> None:
    said = {
        "task_steps": ["s"], "task_nodes": [{"task": "train_search"}, {"task": "unknown"}],
        "task_links": [{"source": "train_search", "target": "unknown"}],
    }  # fmt: skip
    model = _Model(direct=said)
    example = travel_plans(1)[0]
    plan = ToolModel(model, GRAPH).direct("7", "Go to Rome for $$20", example)
    assert (plan.id, plan.request) == ("7", "Go to Rome for $$20")
    assert plan.tools == ("train_search", "unknown")
    text = model.asked[0].messages[0].text
    assert all(t.id in text for t in GRAPH.tools)
    assert text.endswith("Go to Rome for $$20")
    assert example.request in text


def test_scores_are_clipped_and_strangers_left_out() -> None:
    said = {"scores": [{"tool": "train_search", "score": 9}, {"tool": "other", "score": 5}]}
    judge = ToolModel(_Model(score=said), GRAPH)
    assert judge.scores("find a train", ["train_search", "train_book"]) == {"train_search": 5.0}


@pytest.mark.parametrize(("number", "place"), [(2, 1), (0, 0), (9, 0)])
def test_choices_that_do_not_exist_are_the_first(number: int, place: int) -> None:
    judge = ToolModel(_Model(choose={"number": number}), GRAPH)
    assert judge.choose("r", ["s"], [("a",), ("b",)]) == place


def test_arguments_are_filled_for_each_call() -> None:
    model = _Model(arguments={"calls": [{"arguments": ["Rome"]}]})
    plan = ToolPlan("1", "Go to Rome", (), ("train_search", "train_book"))
    assert ToolModel(model, GRAPH).arguments(plan) == (("Rome",), ())


def test_argument_agreement_by_hand() -> None:
    graph = ToolGraph((Tool("draw", outputs=("image",)), Tool("tell")), ())
    true = {"1": [Call("draw", (("", "a Dog"),)), Call("tell", (("", "<node-0>"),))], "2": []}
    said = {"1": [Call("draw", (("", "'a dog'"),)), Call("tell", (("", "x.png"),))]}
    found = argument_agreement(said, true, graph)
    assert found.requests == 1
    assert found.type_f1 == pytest.approx(1)
    assert found.value_f1 == pytest.approx(0.5)
    assert argument_agreement({}, true, graph).value_f1 == 0


def test_calls_of_odd_shapes() -> None:
    nodes = [
        {"task": "a", "arguments": ["x", {"name": "n", "value": 3}, {"other": 1}, None]},
        {"task": "b"}, {"task": ["c"]}, "d",
    ]  # fmt: skip
    assert read_calls(nodes) == (Call("a", (("", "x"), ("n", "3"))), Call("b"))
    assert read_calls(None) == ()
