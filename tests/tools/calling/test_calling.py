"""Tool calls: validated, traced, guarded, logged, and made to fail on purpose."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.tool_faults import FaultyTools, ToolFault, draw_faults
from hvr.tools.calling.calls import (
    CallFailure,
    CallOutcome,
    Json,
    Provenance,
    Source,
    ToolCall,
    check_result,
    has_type,
    type_name,
)
from hvr.tools.calling.guard import MAX_EQUAL_FAILURES, CallPolicy, GuardedTools
from hvr.tools.calling.log import ValueOrigin, ValueSource, places, redacted, trace
from hvr.tools.calling.python_world import PythonTools, open_module
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema
from tests.tools.calling import shop

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)

ANN = ToolCall("find_user", {"email": "ann@example.org"})
ORDERS = ToolCall("list_orders", {"user": "u1"})
CANCEL = ToolCall("cancel_order", {"order": "o1"})
SAID = {("order",): Source(Provenance.SAID, "the request says it")}


@pytest.fixture
def tools() -> PythonTools:
    """The shop in its initial state."""
    opened = open_module(shop)
    marked = tuple(
        replace(t, effect=Effect.WRITES if t.name == "cancel_order" else Effect.READS)
        for t in opened.catalogue.tools
    )
    shop.state["orders"]["o1"]["status"] = "pending"
    functions = {t.name: getattr(shop, t.name) for t in marked}
    return PythonTools(Catalogue(marked), functions, shop.state)


def test_a_chain_of_calls_changes_the_state_and_begins_anew(tools: PythonTools) -> None:
    first = tools.state()
    assert tools.call(ANN).result == "u1"
    assert tools.call(ORDERS).result == ["o1"]
    assert tools.call(CANCEL).ok
    assert tools.state() != first
    tools.reset()
    assert tools.state() == first


def test_a_refusal_changes_nothing(tools: PythonTools) -> None:
    tools.call(CANCEL)
    before = tools.state()
    outcome = tools.call(CANCEL)
    assert (outcome.failure, outcome.error) == (CallFailure.REFUSED, "order o1 is cancelled")
    assert tools.state() == before


@st.composite
def _odd(draw: st.DrawFn) -> object:
    """Draw a result with a non-JSON value somewhere within lists."""
    loop: list[object] = []
    loop.append(loop)
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    odd = draw(st.sampled_from([b"\xff", object(), float("nan"), float("-inf"), loop, deep, print]))
    return [odd] * draw(st.integers(1, 3))


@pytest.mark.slow
@given(_odd())
def test_a_result_that_is_no_json_is_of_another_type_and_no_refusal(result: object) -> None:
    write = ToolSchema("write", effect=Effect.WRITES)
    tools = PythonTools(Catalogue((write,)), {"write": lambda: result})
    outcome = tools.call(ToolCall("write", {}))
    # A refused call may be repeated, but this one may have written.
    assert outcome.failure is CallFailure.WRONG_TYPE and outcome.result is None


@pytest.mark.parametrize(
    ("call", "failure"),
    [
        (ToolCall("find_users", {}), CallFailure.UNKNOWN_TOOL),
        (ToolCall("find_user", {}), CallFailure.BAD_ARGUMENTS),
        (ToolCall("find_user", {"email": 3}), CallFailure.BAD_ARGUMENTS),
        (ToolCall("find_user", {"email": "a", "Email": "a"}), CallFailure.BAD_ARGUMENTS),
        (ToolCall("find_user", {"email": "nobody"}), CallFailure.REFUSED),
    ],
)
def test_failures_are_classified(tools: PythonTools, call: ToolCall, failure: CallFailure) -> None:
    assert tools.call(call).failure is failure


@pytest.mark.parametrize(
    ("result", "failure"),
    [
        ({"items": [{"id": "a"}]}, None),
        ({"items": []}, None),
        ({"items": [{"id": 3}]}, CallFailure.WRONG_TYPE),
        ({"items": "a"}, CallFailure.WRONG_TYPE),
        ("not JSON", CallFailure.WRONG_TYPE),
        ({}, CallFailure.EMPTY),
        (None, CallFailure.EMPTY),
    ],
)
def test_results_are_compared_with_the_schema(result: Json, failure: CallFailure | None) -> None:
    tool = ToolSchema("t", gives=(ToolParameter("items[].id", "string", required=True),))
    assert check_result(tool, CallOutcome(ToolCall("t", {}), result)).failure is failure


@given(JSON)
def test_a_value_has_its_own_type(value: Json) -> None:
    assert has_type(value, type_name(value))


@given(JSON)
def test_every_value_of_a_result_is_traced_to_a_place_that_holds_it(value: Json) -> None:
    outcome = CallOutcome(ToolCall("t", {}), value)
    for _, inner in places(value):
        origin = trace({"a": inner}, [outcome])["a"]
        found = value
        for step in origin.path:
            found = found[step]  # type: ignore[index]
        assert origin.source is ValueSource.RESULT
        assert found == inner


def test_requests_go_before_results() -> None:
    outcome = CallOutcome(ToolCall("t", {}), ["x", 1])
    traced = trace({"a": "x", "b": 1, "c": True}, [outcome], request=["x"])
    assert traced["a"] == ValueOrigin(ValueSource.REQUEST)
    assert traced["b"] == ValueOrigin(ValueSource.RESULT, 0, (1,))
    assert traced["c"] == ValueOrigin(ValueSource.UNKNOWN)


def test_a_writing_call_is_made_once_unless_asked(tools: PythonTools) -> None:
    lost = FaultyTools(tools, {"cancel_order": ToolFault(CallFailure.TIMED_OUT, 1)})
    guarded = GuardedTools(lost, "shop")
    assert guarded.call_with(CANCEL, SAID).failure is CallFailure.TIMED_OUT
    assert guarded.call_with(CANCEL, SAID).failure is CallFailure.NOT_ALLOWED
    assert guarded.call_with(CANCEL, SAID, again=True).ok
    assert guarded.call(ANN).ok
    assert guarded.call(ANN).ok


def test_a_dry_run_reads_only(tools: PythonTools) -> None:
    guarded = GuardedTools(tools, "shop", CallPolicy(dry=True))
    before = guarded.state()
    assert guarded.call(ORDERS).ok
    assert guarded.call(CANCEL).failure is CallFailure.NOT_ALLOWED
    assert guarded.state() == before


def test_budget_and_equal_failures_end_a_loop(tools: PythonTools) -> None:
    broken = FaultyTools(tools, {"find_user": ToolFault(CallFailure.REFUSED)})
    guarded = GuardedTools(broken, "shop", CallPolicy(budget=MAX_EQUAL_FAILURES + 2))
    found = [guarded.call(ANN).failure for _ in range(MAX_EQUAL_FAILURES + 1)]
    assert found == [CallFailure.REFUSED] * MAX_EQUAL_FAILURES + [CallFailure.NOT_ALLOWED]
    assert [guarded.call(ORDERS).ok for _ in range(3)] == [True, True, False]


def test_the_log_says_where_arguments_came_from(tools: PythonTools, tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    guarded = GuardedTools(tools, "shop", CallPolicy(log=log))
    guarded.call_with(ANN, {("email",): Source(Provenance.SAID)}, request=["ann@example.org"])
    guarded.call(ORDERS)
    first, second = (json.loads(line) for line in log.read_text().splitlines())
    assert first["sources"] == [{"place": ["email"], "source": "said", "why": ""}]
    assert second["sources"][0]["source"] == "unknown"
    assert first["origins"] == {"email": {"source": "request"}}
    assert second["origins"] == {"user": {"source": "result", "call": 0, "path": []}}
    assert (second["shape"], second["failure"], second["world"]) == (["string"], None, "shop")


def test_secrets_do_not_reach_the_log() -> None:
    key = "sk-proj-" + "aB3dE5gH7jK9" * 4
    said = json.dumps(redacted({"api_key": "hunter2", "text": f"use {key}", "n": [key]}))
    assert "hunter2" not in said
    assert key not in said


@given(st.floats(0, 1), st.integers(0, 9))
def test_faults_are_the_same_for_one_seed(share: float, seed: int) -> None:
    catalogue = Catalogue(tuple(ToolSchema(f"t{i}") for i in range(10)))
    drawn = draw_faults(catalogue, share, seed)
    assert drawn == draw_faults(catalogue, share, seed)
    assert abs(len(drawn) - 10 * share) <= 1


def test_a_tool_comes_back_after_some_calls(tools: PythonTools) -> None:
    faulty = FaultyTools(tools, {"find_user": ToolFault(CallFailure.EMPTY, 2)})
    assert [faulty.call(ANN).ok for _ in range(3)] == [False, False, True]
