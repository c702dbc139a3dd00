"""The real SDKs against local servers: every outcome is reported clearly."""

from __future__ import annotations

import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hvr.errors import MissingExtraError, UsageError
from hvr.models.config import ModelOptions, Price
from hvr.models.connect import make_model, stack
from hvr.models.errors import ModelError
from hvr.models.model import Message, Request, Usage
from tests.extras import needs
from tests.models.servers import GeminiServer, OpenAIServer, Reply

needs("openai", "google.genai", "jsonschema")

KEY = "sk-proj-abcdefghijklmnop1234567890"
SCHEMA = {
    "type": "object",
    "properties": {"objects": {"type": "array", "items": {"type": "string"}}},
    "required": ["objects"],
}
Servers = type[OpenAIServer] | type[GeminiServer]


def request(**settings: Any) -> Request:
    messages = (
        Message("system", "You are a robot."),
        Message("user", "Which objects?"),
        Message("assistant", "A mug."),
        Message("user", "Anything else?"),
    )
    return Request(messages=messages, **settings)


def options(url: str | None, **settings: Any) -> ModelOptions:
    given = {"base_url": url, "api_key": KEY, "timeout": 5.0, **settings}
    return ModelOptions(**given)


@pytest.fixture(params=["openai", "gemini"])
def provider(request: pytest.FixtureRequest) -> tuple[str, Servers]:
    servers: dict[str, Servers] = {"openai": OpenAIServer, "gemini": GeminiServer}
    return f"{request.param}:model-x", servers[request.param]


def failure(spec: str, opts: ModelOptions, asked: Request | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        make_model(spec, opts).answer(asked or request())
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown + repr(caught.value.__dict__)
    return caught.value


@pytest.mark.slow
def test_a_normal_answer_has_text_finish_model_and_counts(provider: tuple[str, Servers]) -> None:
    spec, server_of = provider
    prices = {"model-x": Price(1.0, 2.0, 0.5)}
    with server_of([Reply("Ein Becher, 一个杯子, كوب\n2. more")]) as server:
        answer = make_model(spec, options(server.url, prices=prices)).answer(request())
    assert answer.text == "Ein Becher, 一个杯子, كوب\n2. more"
    assert answer.finish == "stop" and answer.source == "model" and answer.data is None
    assert answer.model.startswith("model-x-")
    # 8 input tokens at 1 $, 3 cached at 0.5 $, 9 output and thought at 2 $ per million.
    cost = (8 * 1.0 + 3 * 0.5 + 9 * 2.0) / 1e6
    assert answer.usage.cost == pytest.approx(cost)
    counted = replace(answer.usage, cost=None)
    assert counted == Usage(input=11, output=7, cached=3, reasoning=2)


@pytest.mark.slow
def test_counts_that_are_not_given_are_unknown(provider: tuple[str, Servers]) -> None:
    spec, server_of = provider
    with server_of([Reply(usage=None)]) as server:
        answer = make_model(spec, options(server.url)).answer(request())
    assert answer.usage == Usage()


def test_openai_sends_messages_settings_and_key_and_does_not_stream() -> None:
    with OpenAIServer() as server:
        asked = request(temperature=0.5, max_tokens=99, seed=4, stop=("END",))
        make_model("openai:model-x", options(server.url)).answer(asked)
    (came,) = server.received
    assert came.path == "/v1/chat/completions"
    assert came.headers["authorization"] == f"Bearer {KEY}"
    assert not came.body.get("stream")
    assert [m["role"] for m in came.body["messages"]] == ["system", "user", "assistant", "user"]
    assert came.body["model"] == "model-x"
    wanted = {"temperature": 0.5, "max_tokens": 99, "seed": 4, "stop": ["END"]}
    assert wanted.items() <= came.body.items()


def test_gemini_sends_messages_settings_and_key_and_does_not_stream() -> None:
    with GeminiServer() as server:
        asked = request(temperature=0.5, max_tokens=99, seed=4, stop=("END",), schema=SCHEMA)
        reply = Reply('{"objects": ["Mug"]}')
        server._behaviour = [reply]
        answer = make_model("gemini:model-x", options(server.url)).answer(asked)
    (came,) = server.received
    assert came.path.endswith("/models/model-x:generateContent")
    assert came.headers["x-goog-api-key"] == KEY
    assert [c["role"] for c in came.body["contents"]] == ["user", "model", "user"]
    assert came.body["systemInstruction"]["parts"][0]["text"] == "You are a robot."
    config = came.body["generationConfig"]
    assert config["temperature"] == 0.5 and config["maxOutputTokens"] == 99
    assert config["seed"] == 4 and config["stopSequences"] == ["END"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["required"] == ["objects"]
    assert answer.data == {"objects": ["Mug"]}


def test_a_local_server_needs_no_key() -> None:
    with OpenAIServer() as server:
        answer = make_model("openai:m", ModelOptions(base_url=server.url)).answer(request())
    assert answer.text == "ready"


@pytest.mark.parametrize("spec", ["openai:m", "gemini:m"])
def test_the_providers_own_servers_need_a_key(spec: str) -> None:
    with pytest.raises(UsageError, match="needs a key: set"):
        make_model(spec, ModelOptions())


@pytest.mark.slow
def test_a_long_answer_comes_whole(provider: tuple[str, Servers]) -> None:
    spec, server_of = provider
    text = "\n".join(f"{n}. (navigate_to_obj, mug-{n})" for n in range(6500))
    assert len(text) > 200_000
    with server_of([Reply(text)]) as server:
        assert make_model(spec, options(server.url)).answer(request()).text == text


def test_a_cut_off_answer_says_so(provider: tuple[str, Servers]) -> None:
    spec, server_of = provider
    finish = "length" if spec.startswith("openai") else "MAX_TOKENS"
    with server_of([Reply("1. Slice", finish=finish)]) as server:
        assert make_model(spec, options(server.url)).answer(request()).finish == "length"


@pytest.mark.parametrize(
    ("spec", "server_of", "finish"),
    [
        ("openai:m", OpenAIServer, "content_filter"),
        ("gemini:m", GeminiServer, "SAFETY"),
        ("gemini:m", GeminiServer, "BLOCKED"),
    ],
)
def test_a_withheld_answer_says_so(spec: str, server_of: Servers, finish: str) -> None:
    with server_of([Reply("", finish=finish)]) as server:
        error = failure(spec, options(server.url))
    assert error.kind == "refused" and "filter withheld the answer" in str(error)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
def test_a_refusal_says_what_and_why_and_hides_the_key(
    provider: tuple[str, Servers], status: int
) -> None:
    spec, server_of = provider
    kinds = {400: "request", 401: "auth", 403: "forbidden", 404: "missing", 429: "rate"}
    message = f"Incorrect API key provided: {KEY}. Bearer {KEY}"
    replies = [Reply(status=status, message=message, headers={"Retry-After": "7"})]
    with server_of(replies) as server:
        error = failure(spec, options(server.url))
    assert (error.status, error.retry_after) == (status, 7.0)
    assert error.kind == kinds.get(status, "server")
    assert str(error).startswith(f"{spec}: ") and "Incorrect API key provided: [key]" in str(error)
    assert len(server.received) == 1


def test_a_wrong_key_of_gemini_is_told_from_a_bad_request() -> None:
    with GeminiServer([Reply(status=400, param="API_KEY_INVALID")]) as server:
        error = failure("gemini:m", options(server.url))
    assert error.kind == "auth" and "key is missing or wrong" in str(error)


@pytest.mark.slow
def test_a_hang_ends_at_the_time_out(provider: tuple[str, Servers]) -> None:
    spec, server_of = provider
    with server_of([Reply(hang=30.0)]) as server:
        error = failure(spec, options(server.url, timeout=0.3))
    assert error.kind == "timeout" and "no answer within 0.3 s" in str(error)


def test_a_server_that_is_not_there_is_named(provider: tuple[str, Servers]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        error = failure(provider[0], options(url))
    assert error.kind == "connection" and url in str(error) and "refused" in str(error)


def test_a_connection_that_breaks_off_is_told(provider: tuple[str, Servers]) -> None:
    spec, server_of = provider
    with server_of([Reply(hang_up=True)]) as server:
        assert failure(spec, options(server.url)).kind == "connection"


@pytest.mark.slow
@pytest.mark.parametrize(
    "raw", [b'{"choices": [{"mess', b"<html>welcome</html>", b"[]", b"{}", b"[" * 100_000]
)
def test_a_reply_that_is_not_of_the_protocol_is_told(
    provider: tuple[str, Servers], raw: bytes
) -> None:
    spec, server_of = provider
    with server_of([Reply(raw=raw)]) as server:
        error = failure(spec, options(server.url))
    assert error.kind == "garbled" and "cannot be read" in str(error)


@pytest.mark.slow
def test_an_empty_answer_is_no_answer(provider: tuple[str, Servers]) -> None:
    spec, server_of = provider
    with server_of([Reply("  \n")]) as server:
        error = failure(spec, options(server.url))
    assert error.kind == "empty" and error.usage is not None and error.usage.input == 11


def test_truncated_json_is_no_answer(provider: tuple[str, Servers]) -> None:
    spec, server_of = provider
    with server_of([Reply('{"objects": ["Mug", "Kni')]) as server:
        error = failure(spec, options(server.url), request(schema=SCHEMA))
    assert error.kind == "schema" and "no complete JSON value" in str(error)


@pytest.mark.slow
def test_layers_recover_from_what_passes(provider: tuple[str, Servers]) -> None:
    spec, server_of = provider
    replies = [
        Reply(status=429, headers={"Retry-After": "0"}),
        Reply(status=500),
        Reply(""),
        Reply('{"objects": ["Mu'),
        Reply('{"objects": ["Mug"]}'),
    ]
    with server_of([*replies[:3], replies[4]]) as server:
        opts = options(server.url, attempts=6)
        answer = stack(make_model(spec, opts), opts).answer(request(schema=SCHEMA))
        assert answer.data == {"objects": ["Mug"]} and len(server.received) == 4
        # The empty answer was also paid for.
        assert answer.usage.input == 22
    with server_of(replies) as server:
        with pytest.raises(ModelError, match=r"not the requested JSON.*tried 4 times"):
            stack(make_model(spec, opts := options(server.url)), opts).answer(
                request(schema=SCHEMA)
            )
        assert len(server.received) == 4


def refuse(word: str, text: str = "ok") -> Callable[[Any], Reply]:
    def behave(came: Any) -> Reply:
        if word in str(sorted(came.body.items())):
            return Reply(status=400, message=f"Unsupported parameter: '{word}'", param=word)
        return Reply(text)

    return behave


@pytest.mark.parametrize(
    ("word", "setting"),
    [("max_tokens", {}), ("temperature", {}), ("seed", {"seed": 3}), ("stop", {"stop": ("END",)})],
)
def test_a_setting_that_a_server_refuses_is_spelled_differently(
    word: str, setting: dict[str, Any]
) -> None:
    with OpenAIServer(refuse(word, "one END two")) as server:
        model = make_model("openai:m", options(server.url))
        text = model.answer(request(**setting)).text
        model.answer(request(**setting))
    # The second request learns from the first.
    assert len(server.received) == 3
    assert text == ("one " if word == "stop" else "one END two")
    if word == "max_tokens":
        assert server.received[-1].body["max_completion_tokens"] == 1024


STRICT = {**SCHEMA, "additionalProperties": False}
LLAMA, OLD_VLLM = ("json_schema",), ("json_schema", "object_schema")
NO_SCHEMA, NO_JSON = (*OLD_VLLM, "guided_json"), ("json", "object_schema", "guided_json")


@pytest.mark.parametrize(
    ("schema", "refused", "requests", "words"),
    [
        (SCHEMA, (), 1, False),
        (STRICT, ("strict",), 2, False),
        (SCHEMA, LLAMA, 2, False),
        (STRICT, LLAMA, 3, False),
        (SCHEMA, OLD_VLLM, 3, False),
        (SCHEMA, NO_SCHEMA, 4, True),
        (SCHEMA, NO_JSON, 5, True),
    ],
)
def test_json_is_asked_for_as_the_server_can(
    schema: dict[str, Any], refused: tuple[str, ...], requests: int, words: bool
) -> None:
    def behave(came: Any) -> Reply:
        asked = came.body.get("response_format", {})
        kind = asked.get("type", "words")
        if "guided_json" in came.body:
            kind = "guided_json"
        elif "schema" in asked:
            kind = "object_schema"
        elif asked.get("json_schema", {}).get("strict") and "strict" in refused:
            kind = "strict"
        if any(kind.startswith(r) for r in refused):
            return Reply(status=400, message=f"response_format {kind} is not supported")
        return Reply('Sure!\n```json\n{"objects": ["Mug"]}\n```\nAnything else?')

    with OpenAIServer(behave) as server:
        model = make_model("openai:m", options(server.url))
        answer = model.answer(request(schema=schema))
        assert answer.data == {"objects": ["Mug"]} and len(server.received) == requests
        model.answer(request(schema=schema))  # the form is remembered
    assert len(server.received) == requests + 1
    in_words = '"required":["objects"]' in server.received[-1].text
    assert in_words == words


def test_a_server_that_ignores_schemas_is_noticed_by_its_answers() -> None:
    kinds: list[str] = []

    def behave(came: Any) -> Reply:
        kinds.append(came.body.get("response_format", {}).get("type", "none"))
        return Reply('{"objects": [1]}' if len(kinds) < 3 else '{"objects": ["Mug"]}')

    with OpenAIServer(behave) as server:
        model = make_model("openai:m", options(server.url))
        for _ in range(2):
            with pytest.raises(ModelError, match="not the requested JSON"):
                model.answer(request(schema=STRICT))
        assert model.answer(request(schema=STRICT)).data == {"objects": ["Mug"]}
    assert kinds == ["json_schema", "json_schema", "json_object"]


def test_a_refusal_that_no_spelling_helps_is_final() -> None:
    with OpenAIServer(
        [Reply(status=400, message="'temperature', 'max_tokens', 'seed': all bad")]
    ) as server:
        assert failure("openai:m", options(server.url)).kind == "request"
    assert len(server.received) == 3


def test_a_prompt_that_is_too_long_for_the_server_is_told() -> None:
    message = "This model's maximum context length is 4096 tokens, 'max_tokens' is too large"
    with OpenAIServer([Reply(status=400, message=message)]) as server:
        error = failure("openai:m", options(server.url))
    assert error.kind == "overflow" and "4096" in str(error) and len(server.received) == 1


@pytest.mark.parametrize(
    ("spec", "module", "extra"),
    [
        ("openai:m", "openai", "llm"),
        ("gemini:m", "google.genai", "llm"),
        ("hf:m", "transformers", "local"),
    ],
)
def test_a_missing_package_is_named(
    spec: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "torch", sys.modules.get("torch") or sys)
    with pytest.raises(MissingExtraError, match=rf"pip install '\.\[{extra}\]'"):
        make_model(spec, options("http://127.0.0.1:1"))


@pytest.mark.slow
def test_printing_a_model_or_its_options_does_not_show_the_key() -> None:
    opts = options("http://me:secret@localhost:1/v1")
    for spec in ("openai:m", "gemini:m"):
        shown = repr(make_model(spec, opts)) + repr(opts) + str(opts)
        assert KEY not in shown and "secret" not in shown and "localhost" in shown
