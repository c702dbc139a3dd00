"""Schemas, tools and errors in each provider's protocol: the real SDKs against local servers."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hvr.errors import BudgetError, UsageError
from hvr.models.config import ModelOptions
from hvr.models.connect import SharedLimits, make_model, stack
from hvr.models.errors import ModelError
from hvr.models.limits import Budget, Limits
from hvr.models.model import Answer, Message, Model, ModelTool, ModelToolCall, Request
from tests.extras import needs
from tests.models.servers import (
    AnthropicServer,
    GeminiServer,
    OpenAIServer,
    Received,
    Reply,
    ResponsesServer,
)

needs("openai", "anthropic", "google.genai", "jsonschema")

SERVERS: Mapping[str, Any] = {
    "openai": OpenAIServer,
    "responses": ResponsesServer,
    "anthropic": AnthropicServer,
    "gemini": GeminiServer,
}
SCHEMA = {
    "type": "object",
    "properties": {"kinds": {"type": "array", "items": {"type": "string", "enum": ["Mug", "Cup"]}}},
    "required": ["kinds"],
    "additionalProperties": False,
}
TOOL = ModelTool(
    "look",
    "Describe objects.",
    {
        "type": "object",
        "properties": {"names": {"type": "array", "items": {"type": "string"}}},
        "required": ["names"],
    },
)
CALL = ("look", {"names": ["mug-1"]})
each_provider = pytest.mark.parametrize("provider", list(SERVERS))


def model_at(provider: str, url: str, **more: Any) -> Model:
    return make_model(f"{provider}:m", ModelOptions(base_url=url, api_key="k", timeout=10, **more))


def ask(*turns: Message, **more: Any) -> Request:
    messages = (Message("system", "You plan."), Message("user", "make coffee"), *turns)
    return Request(messages=messages, **more)


def sent_schema(body: Mapping[str, Any]) -> Any:
    """Return the schema in a request of any protocol."""
    places = (
        ("response_format", "json_schema", "schema"),
        ("text", "format", "schema"),
        ("output_config", "format", "schema"),
        ("generationConfig", "responseJsonSchema"),
    )
    for path in places:
        value: Any = body
        for key in path:
            value = value.get(key, {}) if isinstance(value, Mapping) else {}
        if value:
            return value
    return None


@each_provider
def test_a_schema_is_sent_and_kept(provider: str) -> None:
    with SERVERS[provider]([Reply(json.dumps({"kinds": ["Mug"]}))]) as server:
        answer = model_at(provider, server.url).answer(ask(schema=SCHEMA))
    assert answer.data == {"kinds": ["Mug"]}
    assert sent_schema(server.received[0].body) == SCHEMA


@each_provider
def test_an_answer_outside_the_schema_is_named(provider: str) -> None:
    pan = [Reply(json.dumps({"kinds": ["Pan"]}))]
    what = "not the requested JSON: at kinds/0"
    with SERVERS[provider](pan) as server, pytest.raises(ModelError, match=what) as error:
        model_at(provider, server.url).answer(ask(schema=SCHEMA))
    assert error.value.kind == "schema" and error.value.usage is not None
    assert error.value.usage.input == 11


@each_provider
def test_a_tool_is_offered_called_and_answered(provider: str) -> None:
    with SERVERS[provider]([Reply("", calls=[CALL])]) as server:
        model = model_at(provider, server.url)
        answer = model.answer(ask(tools=(TOOL,)))
        (call,) = answer.calls
        assert (call.name, call.arguments) == CALL
        turns = (Message("assistant", "", answer.calls), Message("tool", "on", call_id=call.id))
        model.answer(ask(*turns, tools=(TOOL,)))
    first, second = (json.dumps(r.body) for r in server.received)
    assert "Describe objects." in first
    assert "mug-1" in second and "mug-1" not in first


@each_provider
@pytest.mark.parametrize(
    ("status", "kind"), [(400, "request"), (401, "auth"), (404, "missing"), (429, "rate")]
)
def test_an_error_is_named(provider: str, status: int, kind: str) -> None:
    says = "nothing here works"
    broken = [Reply(status=status, message=says)]
    with SERVERS[provider](broken) as server, pytest.raises(ModelError, match=says) as error:
        model_at(provider, server.url).answer(ask())
    assert (error.value.kind, error.value.status) == (kind, status)


@each_provider
def test_tokens_are_counted_alike(provider: str) -> None:
    with SERVERS[provider]([Reply("ready")]) as server:
        usage = model_at(provider, server.url).answer(ask()).usage
    assert (usage.input, usage.output, usage.cached) == (11, 7, 3)
    assert usage.reasoning == (0 if provider == "anthropic" else 2)


@pytest.mark.parametrize("provider", ["responses", "anthropic"])
def test_a_refused_setting_is_left_out(provider: str) -> None:
    def behave(asked: Received) -> Reply:
        if "temperature" in asked.body:
            return Reply(status=400, message="temperature is not supported with this model")
        return Reply("ready")

    with SERVERS[provider](behave) as server:
        model = model_at(provider, server.url)
        assert [model.answer(ask()).text for _ in range(2)] == ["ready", "ready"]
    assert len(server.received) == 3


def test_anthropic_without_schemas_answers_by_a_tool() -> None:
    def behave(asked: Received) -> Reply:
        if "output_config" in asked.body:
            return Reply(status=400, message="output_config: Extra inputs are not permitted")
        return Reply("", calls=[("answer", {"kinds": ["Cup"]})])

    with AnthropicServer(behave) as server:
        answer = model_at("anthropic", server.url).answer(ask(schema=SCHEMA))
    assert answer.data == {"kinds": ["Cup"]}
    assert server.received[-1].body["tool_choice"] == {"type": "tool", "name": "answer"}


def test_the_system_message_is_cached_by_anthropic() -> None:
    with AnthropicServer([Reply("ready")]) as server:
        model_at("anthropic", server.url).answer(ask())
    (system,) = server.received[0].body["system"]
    assert system["cache_control"] == {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("provider", "place"),
    [("openai", ("reasoning_effort",)), ("responses", ("reasoning", "effort")),
     ("anthropic", ("output_config", "effort"))],
)  # fmt: skip
def test_the_effort_is_sent(provider: str, place: tuple[str, ...]) -> None:
    with SERVERS[provider]([Reply("ready")]) as server:
        model_at(provider, server.url, effort="low").answer(ask())
    value: Any = server.received[0].body
    for key in place:
        value = value[key]
    assert value == "low"


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_server_without_tools_is_asked_for_the_call_as_json(finish: str) -> None:
    def behave(asked: Received) -> Reply:
        if "tools" in asked.body:
            return Reply("I would look at the mug.", finish=finish)
        return Reply(json.dumps({"tool": "look", "names": ["mug-1"]}))

    with OpenAIServer(behave) as server:
        made = make_model("openai:m", ModelOptions(base_url=server.url, api_key="k"))
        budget = Budget(Limits(calls=9))
        model = stack(made, shared=SharedLimits((budget,)))
        answer = model.answer(ask(tools=(TOOL,)))
        assert model.answer(ask(tools=(TOOL,))).calls
    assert [(c.name, c.arguments) for c in answer.calls] == [CALL]
    assert len(server.received) == 3 == budget.totals.calls
    # The answer without a tool call is also paid for.
    assert answer.usage.input == 22


def test_a_model_that_calls_tools_for_ever_ends_by_its_budget() -> None:
    with OpenAIServer([Reply("", calls=[CALL])]) as server:
        made = make_model("openai:m", ModelOptions(base_url=server.url, api_key="k"))
        model = stack(made, shared=SharedLimits((Budget(Limits(calls=3)),)))
        with pytest.raises(BudgetError, match="budget of 3 calls"):
            for _ in range(9):
                model.answer(ask(tools=(TOOL,)))
    assert len(server.received) == 3


@pytest.mark.parametrize("provider", ["responses", "anthropic"])
def test_without_a_key_the_variable_is_named(provider: str) -> None:
    variable = "OPENAI_API_KEY" if provider == "responses" else "ANTHROPIC_API_KEY"
    with pytest.raises(UsageError, match=variable):
        make_model(f"{provider}:m", ModelOptions())


def test_calls_survive_a_transcript() -> None:
    from hvr.models import recording

    call = ModelToolCall("c1", "look", {"names": ["mug-1"]})
    turns = (Message("assistant", "", (call,)), Message("tool", "on", call_id="c1"))
    request = ask(*turns, tools=(TOOL,))
    sent = recording.request_json(request)
    line = {"purpose": "agent", **json.loads(json.dumps(sent))}
    again = recording.Exchange(line).request
    assert recording.request_json(again) == sent
    plain = recording.request_json(ask())
    assert plain["messages"][0] == {"role": "system", "text": "You plan."}
    assert "tools" not in plain["settings"]
    assert Answer(text="").calls == ()


def test_anthropic_keeps_the_schema_when_only_the_effort_is_refused() -> None:
    def behave(asked: Received) -> Reply:
        if "effort" in asked.body.get("output_config", {}):
            return Reply(status=400, message="output_config.effort: not supported by this model")
        return Reply('{"kinds": ["Cup"]}')

    with AnthropicServer(behave) as server:
        model = model_at("anthropic", server.url, effort="low")
        assert model.answer(ask(schema=SCHEMA)).data == {"kinds": ["Cup"]}
    assert len(server.received) == 2
    assert "format" in server.received[-1].body["output_config"]


# Concurrency --------------------------------------------------------------------------------------


def test_refusals_of_concurrent_requests_skip_no_form() -> None:
    """Two requests are refused at once: each tries the next form, neither the one after it."""
    together = threading.Barrier(2)

    def behave(asked: Received) -> Reply:
        wanted = asked.body.get("response_format", {}).get("json_schema", {})
        if "strict" in wanted:
            together.wait(10)
            return Reply(status=400, message="json_schema.strict is not supported")
        return Reply(json.dumps({"kinds": ["Mug"]}))

    with OpenAIServer(behave) as server, ThreadPoolExecutor(2) as pool:
        model = model_at("openai", server.url)
        list(pool.map(model.answer, [ask(schema=SCHEMA)] * 2))
    formats = [r.body["response_format"] for r in server.received]
    assert sorted(f["type"] for f in formats) == ["json_schema"] * 4
    assert sum("strict" in f["json_schema"] for f in formats) == 2


@each_provider
def test_a_key_that_a_server_puts_into_a_call_is_redacted(provider: str) -> None:
    key = "sk-" + "a1B2c3D4" * 6
    with SERVERS[provider]([Reply("", calls=[(f"look-{key}", {key: key})])]) as server:
        answer = make_model(
            f"{provider}:m", ModelOptions(base_url=server.url, api_key=key, timeout=10)
        ).answer(ask(tools=(TOOL,)))
    assert answer.calls and key not in repr(answer)


def test_a_number_out_of_bounds_does_not_change_the_form() -> None:
    """Grammars enforce a schema without the bounds of its numbers."""
    count = {"type": "integer", "minimum": 1, "maximum": 9}
    schema = {**SCHEMA, "properties": {"count": count}, "required": ["count"]}
    with OpenAIServer([Reply('{"count": 0}')]) as server:
        model = model_at("openai", server.url)
        for _ in range(2):
            assert model.answer(ask(schema=schema, accept={"type": "object"})).data == {"count": 0}
    first, second = (r.body["response_format"] for r in server.received)
    assert first == second and "minimum" not in json.dumps(first)
