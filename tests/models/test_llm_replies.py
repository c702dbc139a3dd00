"""Providers' replies other than answers, and their costs, are classified correctly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import BudgetError
from hvr.models.config import ModelOptions
from hvr.models.connect import SharedLimits, make_model, stack
from hvr.models.errors import KINDS, Kind, ModelError, retry_after, used
from hvr.models.limits import Budget, Limits
from hvr.models.model import Answer, Model, Request, Usage
from hvr.models.replies import complaint_in, complaint_of, strict_schema
from hvr.models.transport import kind_of_complaint
from tests.extras import needs
from tests.models.llm_fakes import ask
from tests.models.servers import GeminiServer, OpenAIServer, Reply

needs("openai", "google.genai", "jsonschema")

Servers = type[OpenAIServer] | type[GeminiServer]
SERVERS: Mapping[str, Servers] = {"openai": OpenAIServer, "gemini": GeminiServer}
SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}


def model_at(url: str, provider: str = "openai", **settings: Any) -> Model:
    options = ModelOptions(base_url=url, timeout=20.0, **settings)
    return stack(make_model(f"{provider}:m", options), options)


def raw(body: object, **more: Any) -> Reply:
    return Reply(raw=json.dumps(body).encode(), **more)


def outcome(provider: str, reply: Reply, request: Request | None = None) -> tuple[Any, int]:
    """Return the result for a server with a constant reply, and the number of replies."""
    with SERVERS[provider]([reply]) as server:
        model = model_at(server.url, provider, attempts=2, seconds=30.0)
        try:
            result: Answer | ModelError = model.answer(request or ask())
        except ModelError as error:
            result = error
        return result, len(server.received)


def completion(message: object, finish: object = "stop", **more: object) -> dict[str, object]:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage, **more}


def candidate(**fields: object) -> dict[str, object]:
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 7}
    return {"candidates": [fields], "usageMetadata": usage}


# Refusals and filters ---------------------------------------------------------------------------

SORRY = "I'm sorry, I can't help with that."
PART = "1. Take the knife and"
FILTER_RESULTS = {"hate": {"filtered": False}, "violence": {"filtered": True, "severity": "high"}}
REFUSALS: Mapping[str, tuple[str, Reply, str]] = {
    "refusal": ("openai", raw(completion({"content": None, "refusal": SORRY})), SORRY),
    "refusal beside text": (
        "openai", raw(completion({"content": PART, "refusal": SORRY})), SORRY),
    "refusal among parts": (
        "openai",
        raw(completion({"content": [{"type": "text", "text": PART},
                                    {"type": "refusal", "refusal": SORRY}]})), SORRY),
    "filter": ("openai", raw(completion({"content": ""}, "content_filter")), "content_filter"),
    "filter after a part": ("openai", raw(completion({"content": PART}, "content_filter")), PART),
    "refusal as a reason": ("openai", raw(completion({"content": ""}, "refusal")), "refusal"),
    "filter with status 400": (
        "openai",
        Reply(status=400, raw=json.dumps({"error": {
            "message": "The response was filtered due to the prompt triggering Azure OpenAI's "
            "content management policy. Please modify your prompt and 'temperature', then retry.",
            "code": "content_filter", "type": None, "status": 400,
            "innererror": {"code": "ResponsibleAIPolicyViolation"}}}).encode()),
        "content management policy"),
    "filter of the prompt": (
        "openai", raw({"choices": [], "prompt_filter_results": [
            {"prompt_index": 0, "content_filter_results": FILTER_RESULTS}]}), "blocked: violence"),
    "safety": ("gemini", raw(candidate(finishReason="SAFETY")), "SAFETY"),
    "safety after a part": (
        "gemini", raw(candidate(finishReason="SAFETY", content={"parts": [{"text": PART}]})), PART),
    "recitation": ("gemini", raw(candidate(finishReason="RECITATION", finishMessage="a song")),
                   "a song"),
    "prohibited": ("gemini", raw(candidate(finishReason="PROHIBITED_CONTENT")), "PROHIBITED"),
    "blocked": ("gemini", raw({"promptFeedback": {"blockReason": "OTHER"}}), "blocked: OTHER"),
    "blocked beside a candidate": (
        "gemini",
        raw({**candidate(finishReason="STOP"), "promptFeedback": {"blockReason": "SAFETY"}}),
        "blocked: SAFETY"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_named_as_such_and_not_asked_again(name: str) -> None:
    provider, reply, words = REFUSALS[name]
    error, requests = outcome(provider, reply)
    assert isinstance(error, ModelError) and error.kind == "refused", error
    assert (requests, error.exit_code) == (1, 4)
    said = "the model refused to answer: " if words == SORRY else "filter withheld the answer"
    assert said in str(error) and words in str(error) and "\n" not in str(error)
    if b'"usage' in (reply.raw or b""):
        assert used(error).input == 11  # it was billed


def test_a_model_of_another_package_may_be_filtered_too() -> None:
    from hvr.models.layers import Guarded
    from tests.models.llm_fakes import Fake, said

    guarded = Guarded(Fake([said(PART, finish="filter")]), ModelOptions())
    with pytest.raises(ModelError, match="withheld") as caught:
        guarded.answer(ask())
    assert caught.value.kind == "refused" and used(caught.value).input == 10


@pytest.mark.parametrize("provider", SERVERS)
def test_json_that_was_cut_off_is_named_as_that(provider: str) -> None:
    finish = "length" if provider == "openai" else "MAX_TOKENS"
    error, requests = outcome(provider, Reply('{"a": ', finish=finish), ask(schema=SCHEMA))
    assert error.kind == "schema" and "cut off at max_tokens = 1024" in str(error)
    assert requests == 2


# Errors in replies with status 200 --------------------------------------------------------------

ERRORS: tuple[tuple[object, Kind], ...] = (
    ({"error": "Rate limit reached for requests"}, "rate"),
    ({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, "rate"),
    ({"error": {"message": "slow down", "code": 429}}, "rate"),
    ({"error": {"message": "you have no credits", "type": "insufficient_quota"}}, "rate"),
    ({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x"}}, "rate"),
    ([{"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "x"}}], "auth"),
    ({"error": {"message": "Incorrect API key provided"}}, "auth"),
    ({"error": {"type": "authentication_error", "message": "invalid x-api-key"}}, "auth"),
    ({"error": [{"message": "no", "code": "permission_denied"}]}, "forbidden"),
    ({"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}, "missing"),
    ({"object": "error", "message": "The model `m` does not exist.", "code": 404}, "missing"),
    ({"error": {"message": "This model's maximum context length is 4096 tokens"}}, "overflow"),
    ({"error": {"message": "flagged", "code": "content_policy_violation"}}, "refused"),
    ({"detail": "Request timed out"}, "timeout"),
    ({"error": {"type": "overloaded_error", "message": "Overloaded"}}, "server"),
    ({"error": {"message": "Provider returned error", "code": 502, "metadata": {}}}, "server"),
    ({"error": True, "message": "something broke"}, "server"),
    ({"errors": [{"message": "an internal error"}]}, "server"),
    ({"success": False, "msg": "the workers are busy"}, "server"),
    ({"error": {"message": "bad", "type": "invalid_request_error"}}, "request"),
    ({"error": {"error": {"error": "quota exceeded"}}}, "rate"),
)  # fmt: skip


@pytest.mark.parametrize(("body", "kind"), ERRORS)
def test_an_error_is_read_in_whatever_shape_it_comes(body: object, kind: Kind) -> None:
    complaint = complaint_in(body)
    assert complaint is not None and kind_of_complaint(complaint) == kind


@pytest.mark.slow
@pytest.mark.parametrize("provider", SERVERS)
def test_an_error_with_status_200_is_read(provider: str) -> None:
    last: tuple[object, Kind] = ({"choices": None, "error": {"message": "x", "code": 429}}, "rate")
    for body, kind in (*ERRORS[1::3], last):
        error, requests = outcome(provider, raw(body))
        assert isinstance(error, ModelError) and error.kind == kind, (body, error)
        assert requests == (2 if kind in ("rate", "server", "timeout") else 1)
        unusable = ("auth", "forbidden", "missing", "overflow", "request")
        assert error.exit_code == (2 if kind in unusable else 4)
        assert "status 200" in str(error)


@pytest.mark.slow
def test_an_error_beside_an_answer_counts() -> None:
    for body in (
        completion({"content": PART}, error={"message": "Upstream died", "code": 502}),
        completion({"content": PART}, "error"),
        {"choices": [{"message": {"content": ""}, "error": {"code": 429, "message": "busy"}}]},
    ):
        error, requests = outcome("openai", raw(body))
        assert isinstance(error, ModelError) and error.kind in ("server", "rate") and requests == 2


@pytest.mark.slow
@pytest.mark.parametrize("provider", SERVERS)
@pytest.mark.parametrize(
    "body",
    [
        None, 3, "text", [], {}, {"choices": None}, {"choices": []}, {"choices": [None]},
        {"choices": [{"message": None}]}, {"choices": [{"message": {"content": 3}}]},
        {"choices": {"0": 1}}, {"candidates": None}, {"candidates": [None]},
    ],
    ids=str,
)  # fmt: skip
def test_a_reply_that_says_nothing_is_garbled(provider: str, body: object) -> None:
    error, requests = outcome(provider, raw(body))
    assert isinstance(error, ModelError)
    assert (error.kind, requests, error.exit_code) == ("garbled", 2, 4)


@pytest.mark.slow
@pytest.mark.parametrize("provider", SERVERS)
@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_reply_that_is_nested_deeply_is_an_error(provider: str, status: int) -> None:
    deep = b'{"error": ' * 100_000 + b"1" + b"}" * 100_000
    error, _ = outcome(provider, Reply(status=status, raw=deep))
    assert isinstance(error, ModelError)


@pytest.mark.slow
@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from(["error", "429"]),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["error", "message", "code", "type", "details", "status", "x"]), inner),
))  # fmt: skip
def test_no_error_is_too_strange_to_be_read(error: object) -> None:
    assert kind_of_complaint(complaint_of(error)) in KINDS
    found = complaint_in({"error": error})
    assert found is None or kind_of_complaint(found, 400) in KINDS


# Counts -----------------------------------------------------------------------------------------

WRONG = (
    "7", "many", "", None, True, False, -1, -10**9, 2.5, 1e300, 10**30, 10**400, [], [7], {},
    {"n": 7}, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip


@pytest.mark.parametrize("value", WRONG, ids=str)
def test_a_count_that_is_none_is_unknown(value: Any) -> None:
    usage = Usage(input=value, output=value, cached=value, reasoning=value, cost=None)
    assert usage == Usage()
    if isinstance(value, bool | str | list | dict | type(None)) or not 0 <= value < float("inf"):
        assert Usage(cost=value) == Usage()


def test_a_count_may_be_spelled_as_a_fraction() -> None:
    assert Usage(input=7.0, output=0) == Usage(input=7, output=0)  # type: ignore[arg-type]


def usage_of(provider: str, value: object) -> object:
    if provider == "openai":
        return {
            "usage": {
                "prompt_tokens": value, "completion_tokens": value, "total_tokens": value,
                "prompt_tokens_details": {"cached_tokens": value},
                "completion_tokens_details": {"reasoning_tokens": value},
            }
        }  # fmt: skip
    names = ("prompt", "candidates", "cachedContent", "thoughts", "total")
    return {"usageMetadata": {f"{name}TokenCount": value for name in names}}


def answered(provider: str, usage: Mapping[str, object]) -> Reply:
    good = (
        completion({"content": "hi"})
        if provider == "openai"
        else candidate(content={"parts": [{"text": "hi"}]}, finishReason="STOP")
    )
    return raw({**good, **usage})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "value"),
    [(list(SERVERS)[number % 2], value) for number, value in enumerate([*WRONG, 0])],
    ids=str,
)
def test_limits_hold_whatever_a_server_counts(provider: str, value: object) -> None:
    usage = usage_of(provider, value)
    assert isinstance(usage, dict)
    with SERVERS[provider]([answered(provider, usage)]) as server:
        options = ModelOptions(base_url=server.url, timeout=20.0)
        budget = Budget(Limits(tokens=1000))
        model = stack(make_model(f"{provider}:m", options), options, shared=SharedLimits((budget,)))
        answer = model.answer(ask(max_tokens=400))
        assert answer.text == "hi"
        assert (answer.usage.input, answer.usage.output) == (None, None)
        # Unknown usage is charged as reserved, so the third request would exceed the limit.
        model.answer(ask(max_tokens=400))
        with pytest.raises(BudgetError):
            model.answer(ask(max_tokens=400))
        assert len(server.received) == 2


@pytest.mark.slow
@pytest.mark.parametrize("provider", SERVERS)
def test_a_number_without_end_spoils_no_answer(provider: str) -> None:
    usage = json.dumps(usage_of(provider, 7)).replace("7", "7" * 100_000)
    good = answered(provider, {}).raw or b""
    reply = Reply(raw=good.replace(b"{", usage[:-1].encode() + b", ", 1))
    answer, _ = outcome(provider, reply)
    assert answer.text == "hi"


@pytest.mark.slow
@pytest.mark.parametrize("provider", SERVERS)
@pytest.mark.parametrize("usage", [3, "none", [], [{"prompt_tokens": 1}], None, {}], ids=str)
def test_a_usage_that_is_none_spoils_no_answer(provider: str, usage: object) -> None:
    name = "usage" if provider == "openai" else "usageMetadata"
    answer, _ = outcome(provider, answered(provider, {name: usage}))
    assert answer.text == "hi" and answer.usage == Usage()


@given(st.lists(st.sampled_from([*WRONG, 0, 5]), min_size=4, max_size=4))
def test_reasoning_is_counted_apart_and_never_below_nothing(values: list[Any]) -> None:
    usage = Usage(input=values[0], output=values[1], cached=values[2], reasoning=values[3])
    for part in (usage.input, usage.output, usage.cached, usage.reasoning):
        assert part is None or part in (0, 5)


# Retry-After ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["-1", "nan", "inf", "-inf", "1e308", "1e9", "9" * 5000, "soon", "", "12 apples", "0x10",
     "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 +9999", "Fri, 99 Foo 2024",
     "Thu, 01 Jan 99999 00:00:00 GMT", "٣٣٣٣٣٣٣٣٣"],
)  # fmt: skip
def test_a_wait_that_makes_no_sense_is_ignored(text: str) -> None:
    assert retry_after({"Retry-After": text}) is None
    if text[:1].isdigit() or text.startswith("-"):
        assert retry_after({"retry-after-ms": text + "0" * 9}) is None


def test_a_wait_that_makes_sense_is_read() -> None:
    assert retry_after({"Retry-After": "7"}) == 7
    assert retry_after({"RETRY-AFTER": " 0.5 "}) == 0.5
    assert retry_after({"retry-after-ms": "3600000", "Retry-After": "1"}) == 3600
    assert retry_after({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}) == 0


@pytest.mark.slow
@pytest.mark.parametrize("provider", SERVERS)
def test_a_server_that_asks_for_ages_is_asked_again_soon(provider: str) -> None:
    replies = [Reply(status=429, headers={"Retry-After": "1e308"}), Reply("hi")]
    with SERVERS[provider](replies) as server:
        assert model_at(server.url, provider).answer(ask()).text == "hi"


def test_a_property_may_be_named_like_a_keyword() -> None:
    record = {"type": "object", "properties": {"pattern": {"type": "string", "maxLength": 3}}}
    found = strict_schema(record)
    assert found == {"type": "object", "properties": {"pattern": {"type": "string"}}}
