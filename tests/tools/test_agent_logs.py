"""Agents' logs in their frameworks' formats: the same two calls in every format."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import DataFileError
from hvr.tools.logs.messages import CallEvent, calls_in_text
from hvr.tools.logs.reading import events, read_log
from hvr.tools.tool_plans import LoggedCall

LOGS = Path(__file__).with_name("agent_logs")
REQUEST = "Tell me the weather in Prague and save the room deluxe"
CALLS = [("get_weather", {"city": "Prague"}), ("save_room", {"room": "deluxe"})]
RESULTS = [{"sky": "clear", "degrees": 21}, {"saved": True}]

ANSWERS_ALONE = {
    "anthropic_response.json", "bfcl_function_calls.json", "bfcl_multi_turn.json",
    "bfcl_possible_answer.jsonl", "bfcl_result.json", "bfcl_text.json", "gemini_response.json",
    "openai_batch.jsonl", "openai_completion.json",
}  # fmt: skip
"""Files with a model's answer but without the request."""

FILES = sorted(path.name for path in LOGS.iterdir())


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_calls(name: str) -> None:
    (read,) = read_log(LOGS / name)
    plan = read.plan
    assert [(call.tool, call.arguments) for call in plan.calls] == CALLS
    assert plan.tools == tuple(tool for tool, _ in CALLS)
    assert plan.request == ("" if name in ANSWERS_ALONE else REQUEST)
    assert read.format and not read.fault
    for call, result in zip(plan.calls, RESULTS, strict=True):
        assert not call.failed
        if call.returned and name != "smolagents_code.json":
            assert call.result == result


def test_files_with_results_give_them_all() -> None:
    with_results = {name for name in FILES if all(c.returned for c in _calls(name))}
    assert len(with_results) >= 24
    assert not any(c.returned for name in set(FILES) - with_results for c in _calls(name)[1:])


def _calls(name: str) -> tuple[LoggedCall, ...]:
    return read_log(LOGS / name)[0].plan.calls


def test_thirty_files_and_more() -> None:
    assert len(FILES) >= 30


def _written(folder: Path, value: Any, name: str = "log.jsonl") -> Path:
    path = folder / name
    lines = value if name.endswith("l") else [value]
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def test_one_plan_a_record_whatever_its_neighbours(tmp_path: Path) -> None:
    good = {"id": "a", "user_request": "x", "task_nodes": ["t"]}
    path = _written(tmp_path, [good, '{"id": ', {"id": "b", "task_nodes": []}, {"colour": "red"},
                               {"messages": 3}, {"task_nodes": ["u"]}])  # fmt: skip
    found = read_log(path)
    assert [read.plan.tools for read in found] == [("t",), (), (), (), (), ("u",)]
    assert [bool(read.fault) for read in found] == [False, True, False, True, True, False]
    assert "log.jsonl:2: not valid JSON" in found[1].fault
    assert "its keys are 'colour'" in found[3].fault
    assert (found[5].plan.id, found[5].numbered) == ("6", True)


@pytest.mark.parametrize(
    "text", ['{"colour": "red"}', "[1, 2]", '[{"name": "x", "description": "a tool"}]', "(plan)"]
)
def test_what_is_in_no_format_is_refused_with_the_formats(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataFileError) as caught:
        read_log(_written(tmp_path, [text]))
    for name in ("OpenAI", "LangChain", "Gemini", "Anthropic", "smolagents", "BFCL", "TaskBench"):
        assert name in str(caught.value)


def test_what_was_skipped_is_counted(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "s"}, {"role": "user", "content": "u"},
        {"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "9", "content": "r"},
    ]  # fmt: skip
    (read,) = read_log(_written(tmp_path, {"messages": messages}, "log.json"))
    assert read.skipped == (
        "system message", "assistant message (2)", "call without a name", "result without a call",
    )  # fmt: skip
    assert read.to_json()["calls"] == 0


def test_failures_and_unreadable_arguments(tmp_path: Path) -> None:
    def call(key: str, arguments: str) -> dict[str, Any]:
        return {"id": key, "function": {"name": "f", "arguments": arguments}}

    messages = [
        {"role": "assistant", "tool_calls": [call("1", "{}"), call("2", "{a"), call("3", "")]},
        {"role": "tool", "tool_call_id": "1", "content": "Error: no such room"},
        {"role": "tool", "tool_call_id": "2", "content": '{"error": "bad"}'},
        {"role": "tool", "tool_call_id": "3", "content": "ok", "status": "error"},
    ]
    (read,) = read_log(_written(tmp_path, messages, "log.json"))
    assert [c.failed for c in read.plan.calls] == [True, True, True]
    assert [c.arguments for c in read.plan.calls] == [{}, None, {}]
    assert read.plan.calls[1].unnamed == ("{a",)


def test_each_answer_of_a_model_is_a_plan_of_its_own(tmp_path: Path) -> None:
    answer = json.loads((LOGS / "anthropic_response.json").read_text())
    found = read_log(_written(tmp_path, [answer, answer]))
    assert [len(read.plan.tools) for read in found] == [2, 2]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["role", "content", "type", "tool_calls", "function", "name", "arguments", "parts",
             "functionCall", "kwargs", "id", "messages", "result", "input", "output", "steps",
             "lc", "run_type", "child_runs", "step_number", "task", "tool", "tool_input", "message",
             "intermediate_steps", "data", "error", "toolInvocation", "function_call"]
        ) | st.text(max_size=4),
        inner | st.sampled_from(["user", "ai", "assistant", "tool", "function_call", "tool_use",
                                 "tool-call", "tool_result", "constructor", "HumanMessage"]),
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(_JSON)
def test_no_shape_of_json_breaks_the_reader(value: Any) -> None:
    list(events(value))


_VALUES = st.recursive(
    st.booleans() | st.integers() | st.text() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), _VALUES))
def test_a_call_written_as_python_is_read_back(arguments: dict[str, Any]) -> None:
    text = f"[f.g({', '.join(f'{k}={v!r}' for k, v in arguments.items())})]"
    found = calls_in_text(text)
    assert found is not None
    assert [(call.tool, call.arguments) for call in found] == [("f.g", arguments)]


@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [("<tool_call>", "\t", "</think>"), ("", "<tool_call>", ""), ("Action: f", " ", "x"),
     ("", "Action: f\n", ""), ("Action: f\nAction Input:", "\n", "x"), ("", "</tool_call>", "")],
)  # fmt: skip
def test_hostile_messages_take_linear_time(head: str, unit: str, tail: str) -> None:
    text = head + unit * (100_000 // len(unit)) + tail
    start = time.thread_time()
    list(events([{"role": "assistant", "content": text}]))
    assert time.thread_time() - start < 0.5


def test_calls_in_tags_and_in_react_are_read_in_their_order() -> None:
    hermes = '<tool_call> {"name": "f", "arguments": {"a": 1}}\n</tool_call> and <tool_call>{'
    react = 'Action: g \nAction Input: {"b": 2}\nObservation: 3\nAction: h\nAction Input: {}'
    for text, names in ((hermes, ["f"]), (react, ["g", "h"])):
        found = events([{"role": "assistant", "content": text}])
        assert [one.tool for one in found if isinstance(one, CallEvent)] == names
