"""OpenAI's protocols through the openai SDK: chat completions and their dialects, and responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from hvr.base.texts import parse_json
from hvr.models.config import ModelOptions, priced
from hvr.models.errors import ModelError
from hvr.models.model import (
    Answer,
    Message,
    ModelToolCall,
    Request,
    Usage,
    reported_usage,
    without_reasoning,
)
from hvr.models.replies import (
    arguments_of,
    checked,
    complaint_in,
    complaint_of,
    cut_at,
    is_strict,
    json_at,
    satisfies,
    strict_schema,
    with_calls,
    with_instruction,
    without_tools,
)
from hvr.models.sdk_calls import Fallbacks, SdkModel, error_of

# Openai model -------------------------------------------------------------------------------------
# OpenAI's chat completions protocol through the openai SDK, and its dialects.

# Dialects -----------------------------------------------------------------------------------------


Form = Literal["strict", "json_schema", "object_schema", "guided", "json_object", "words"]
_FORMS: tuple[Form, ...] = get_args(Form)
BY_SCHEMA = _FORMS[:4]
"""The forms in which a server itself enforces the schema."""


@dataclass(frozen=True)
class Dialect:
    """The settings that a server is known or assumed to accept.

    Args:
        limit: Name of the parameter that limits the length of the answer.
        form: How to request JSON: by a schema in OpenAI's form (`strict` only if the schema permits
            it) or in that of llama.cpp's Python server or vLLM; as any JSON object, with the schema
            in the prompt; or by the prompt alone.
        tools: Whether the server supports tool calls; otherwise hvr asks for the call as JSON.
        effort: Whether the server accepts a reasoning effort.
        temperature: Whether the server accepts a temperature.
        seed: Whether the server accepts a seed.
        stop: Whether the server accepts stop strings; otherwise hvr truncates the answer.
    """

    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    form: Form = "strict"
    tools: bool = True
    effort: bool = True
    temperature: bool = True
    seed: bool = True
    stop: bool = True

    @property
    def weaker(self) -> Dialect:
        """This dialect with the next, less demanding form of requesting JSON, if there is one."""
        return replace(self, form=_FORMS[min(_FORMS.index(self.form) + 1, len(_FORMS) - 1)])


def request_arguments(request: Request, dialect: Dialect) -> dict[str, Any]:
    messages = request.messages if dialect.form in BY_SCHEMA else with_instruction(request)
    given: dict[str, Any] = {
        "messages": [_message(m) for m in messages],
        dialect.limit: request.max_tokens,
    }
    if request.tools:
        given["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
        given["tool_choice"] = "required"
    if dialect.temperature:
        given["temperature"] = request.temperature
    if dialect.seed and request.seed is not None:
        given["seed"] = request.seed
    if dialect.stop and request.stop:
        given["stop"] = list(request.stop)
    if request.schema is not None:
        given |= _form_arguments(dict(request.schema), dialect.form)
    return given


def _message(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "tool":
        value["tool_call_id"] = message.call_id
    if message.calls:
        value["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.calls
        ]
    return value


def _form_arguments(schema: dict[str, Any], form: Form) -> dict[str, Any]:
    match form:
        case "strict" | "json_schema":
            wanted: dict[str, Any] = {"name": "answer", "schema": schema}
            if form == "strict" and is_strict(schema):
                wanted = {"name": "answer", "strict": True, "schema": strict_schema(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": wanted}}
        case "object_schema":
            return {"response_format": {"type": "json_object", "schema": schema}}
        case "guided":
            return {"extra_body": {"guided_json": schema}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
    return {}


def _steps(dialect: Dialect, request: Request) -> Iterator[tuple[tuple[str, ...], Dialect]]:
    """Yield (words, dialect): words by which a server refuses a setting, and the dialect to try."""
    # Each step removes or replaces a setting permanently, so repeated steps terminate.
    if request.tools:
        yield ("tool", "function"), replace(dialect, tools=False)
    if request.schema is not None and dialect.form != "words":
        if dialect.form == "strict" and not is_strict(request.schema):
            dialect = dialect.weaker  # the same request
        words = ("response_format", "json_schema", "json_object", "guided", "schema", "strict")
        yield words, dialect.weaker
    if dialect.effort:
        yield ("reasoning_effort", "reasoning effort"), replace(dialect, effort=False)
    if dialect.limit == "max_tokens":
        yield _REFUSED_LIMIT, replace(dialect, limit="max_completion_tokens")
    if dialect.temperature:
        yield ("temperature",), replace(dialect, temperature=False)
    if dialect.seed and request.seed is not None:
        yield ("seed",), replace(dialect, seed=False)
    if dialect.stop and request.stop:
        yield ("'stop'", "`stop`", '"stop"', "stop "), replace(dialect, stop=False)


_REFUSED_LIMIT = ("max_completion_tokens", "'max_tokens'", "`max_tokens`", '"max_tokens"')


# Model --------------------------------------------------------------------------------------------

_LENGTHS = (
    ("max_model_len",),
    ("context_length",),
    ("meta", "n_ctx"),
    ("meta", "n_ctx_train"),
    ("max_context_length",),
)
"""Fields in which servers (vLLM, OpenRouter, llama.cpp and others) report a model's context."""

_CUT = frozenset({"length", "max_tokens", "model_length"})
_WITHHELD = frozenset(
    {"content_filter", "safety", "sensitive", "refusal", "recitation", "prohibited_content"}
)
_FAILED = frozenset({"error", "network_error", "insufficient_system_resource"})
"""Finish reasons of failed answers, in the spellings of various servers."""


class OpenAIModel(SdkModel[Dialect]):
    """A model behind OpenAI's chat protocol: hosted, vLLM, llama.cpp, Ollama and others.

    If a server ignores a schema or tools, hvr repeats the request in another dialect.
    """

    provider, package, client = "openai", "openai", "OpenAI"

    def __init__(self, model: str, options: ModelOptions) -> None:
        super().__init__(model, options, Dialect())

    def answer(self, request: Request) -> Answer:
        def sent(dialect: Dialect) -> Request:
            return request if dialect.tools else without_tools(request)

        def create(dialect: Dialect, seconds: float) -> Any:
            effort = self._options.effort if dialect.effort else None
            return self._client.chat.completions.with_raw_response.create(
                model=self._model,
                stream=False,
                timeout=seconds,
                **request_arguments(sent(dialect), dialect),
                **({"reasoning_effort": effort} if effort else {}),
            )

        reply, dialect = self._send(create, lambda d: _steps(d, sent(d)), request.seconds)
        answer = self._read(reply, sent(dialect), dialect)
        schema = sent(dialect).schema
        enforced = schema is None or satisfies(answer.text, strict_schema(schema))
        if not enforced and answer.finish == "stop":
            self._learn(dialect, dialect.weaker)
        if request.tools and not dialect.tools:
            read = checked(answer, sent(dialect))
            return with_calls(read, read.data)
        return answer

    def context_length(self) -> int | None:
        try:
            reply = self._client.models.with_raw_response.list()
            body = parse_json(reply.http_response.content, strict=False)
        except (self._sdk.OpenAIError, ModelError, ValueError):
            return None
        data = json_at(body, "data")
        models = data if isinstance(data, list) else []
        # A server with a single model, such as llama.cpp's, accepts any name for it.
        named = [m for m in models if json_at(m, "id") == self._model or len(models) == 1]
        lengths = (json_at(model, *path) for model in named for path in _LENGTHS)
        return next((n for n in lengths if isinstance(n, int)), None)

    def embed(self, texts: Sequence[str], seconds: float | None = None) -> list[Sequence[float]]:
        try:
            reply = self._client.embeddings.create(
                model=self._model,
                input=list(texts),
                encoding_format="float",  # not every server supports the SDK's default, base64
                timeout=self._options.within(seconds),
            )
            return [e.embedding for e in sorted(reply.data, key=lambda e: e.index)]
        except self._sdk.OpenAIError as error:
            raise error_of(self._sdk, self._failures, error) from None
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise self._failures.malformed(str(error)) from None

    def _read(self, reply: Any, request: Request, dialect: Dialect) -> Answer:
        body = self._body(reply)
        choice = json_at(body, "choices", 0)
        text, refusal = _text_and_refusal(json_at(choice, "message"))
        usage = self._usage(json_at(body, "usage"), bool(text))
        finish = str(json_at(choice, "finish_reason") or "").lower()
        wrong = json_at(body, "error") or json_at(choice, "error")
        if wrong or finish in _FAILED:
            complaint = complaint_of(wrong or finish)
            raise self._failures.reported(complaint, headers=reply.headers, usage=usage)
        if text is None:
            raise self._without_answer(body, reply)
        if refusal:
            raise self._failures.refused(refusal, usage)
        if finish in _WITHHELD:
            raise self._failures.filtered(finish, usage, text)
        message = json_at(choice, "message")
        model = self._named(body)
        if request.tools:
            called = _tool_calls(message)
            if called:
                return Answer(text=text, calls=called, model=model, usage=usage)
            # Prose instead of a call shows that the server ignores tools, even if it was cut off.
            if finish not in _CUT or text.strip():
                self._learn(dialect, replace(dialect, tools=False))
                raise self._failures.no_call(usage)
        calls, reasoned = _calls(message), bool(usage.reasoning or _reasoning(message))
        if not text.strip() and (calls or reasoned):
            raise self._failures.without_text(usage, calls=calls, cut=finish in _CUT)
        return Answer(
            text=text if dialect.stop else cut_at(text, request.stop),
            model=model,
            finish="length" if finish in _CUT else "stop",
            usage=usage,
        )

    def _without_answer(self, body: Any, reply: Any) -> ModelError:
        usage = self._usage(json_at(body, "usage"), answered=False)
        if reason := _filtered(
            json_at(body, "prompt_filter_results") or json_at(body, "prompt_annotations")
        ):
            return self._failures.filtered(f"prompt blocked: {reason}", usage)
        complaint = complaint_in(body)
        if complaint is not None:
            return self._failures.reported(complaint, headers=reply.headers, usage=usage)
        return self._failures.malformed(f"expected a chat completion, found {reply.text}")

    def _usage(self, counts: Any, answered: bool) -> Usage:
        usage = reported_usage(
            input=json_at(counts, "prompt_tokens"),
            output=json_at(counts, "completion_tokens"),
            cached=json_at(counts, "prompt_tokens_details", "cached_tokens"),
            reasoning=json_at(counts, "completion_tokens_details", "reasoning_tokens"),
            answered=answered,
        )
        return priced(without_reasoning(usage), self._price)


def _text_and_refusal(message: Any) -> tuple[str | None, str]:
    content, refusal = json_at(message, "content"), json_at(message, "refusal")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [t for part in parts if isinstance(t := json_at(part, "text"), str)]
    refusals = [str(r) for r in (refusal, *(json_at(part, "refusal") for part in parts)) if r]
    if not isinstance(message, Mapping) or not (texts or refusals or content is None):
        return None, ""
    return "".join(texts), " ".join(refusals)


def _calls(message: Any) -> list[str]:
    calls = json_at(message, "tool_calls")
    calls = calls if isinstance(calls, list) else []
    named = [
        json_at(message, "function_call"),
        *(json_at(call, "function") or call for call in calls),
    ]
    return [str(json_at(call, "name") or "no name") for call in named if call]


def _tool_calls(message: Any) -> tuple[ModelToolCall, ...]:
    calls = json_at(message, "tool_calls")
    read = []
    for number, call in enumerate(calls if isinstance(calls, list) else (), start=1):
        name, arguments = json_at(call, "function", "name"), json_at(call, "function", "arguments")
        if isinstance(name, str):
            identity = json_at(call, "id")
            read.append(
                ModelToolCall(str(identity or f"call{number}"), name, arguments_of(arguments))
            )
    return tuple(read)


def _reasoning(message: Any) -> str:
    texts = (json_at(message, name) for name in ("reasoning_content", "reasoning", "thinking"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _filtered(results: Any) -> str:
    hits = []
    for result in results if isinstance(results, list) else [results]:
        verdicts = json_at(result, "content_filter_results")
        for name, verdict in verdicts.items() if isinstance(verdicts, Mapping) else ():
            if json_at(verdict, "filtered") is True:
                hits.append(str(name))
    return ", ".join(hits)


# Responses model ----------------------------------------------------------------------------------
# OpenAI's responses protocol through the openai SDK, with reasoning effort.


@dataclass(frozen=True)
class _Settings:
    """Settings that some servers reject; true if the server accepts the setting."""

    schema: bool = True
    temperature: bool = True
    effort: bool = True


class ResponsesModel(SdkModel[_Settings]):
    """A model behind OpenAI's responses protocol, such as a reasoning model."""

    provider, package, client = "responses", "openai", "OpenAI"

    def __init__(self, model: str, options: ModelOptions) -> None:
        super().__init__(model, options, _Settings())

    def answer(self, request: Request) -> Answer:
        def create(accepted: _Settings, seconds: float) -> Any:
            return self._client.responses.with_raw_response.create(
                model=self._model,
                store=False,
                timeout=seconds,
                **self._arguments(request, accepted),
            )

        reply, _ = self._send(
            create, lambda accepted: _fallbacks(accepted, request), request.seconds
        )
        return self._read(reply, request)

    def _arguments(self, request: Request, accepted: _Settings) -> dict[str, Any]:
        messages = request.messages if accepted.schema else with_instruction(request)
        given: dict[str, Any] = {
            "input": [item for message in messages for item in _items(message)],
            "max_output_tokens": request.max_tokens,
        }
        if accepted.temperature:
            given["temperature"] = request.temperature
        if self._options.effort and accepted.effort:
            given["reasoning"] = {"effort": self._options.effort}
        if request.tools:
            given["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                    "strict": False,
                }
                for tool in request.tools
            ]
            given["tool_choice"] = "required"
        if request.schema is not None and accepted.schema:
            strict = is_strict(request.schema)
            schema = dict(request.schema)
            given["text"] = {
                "format": {
                    "type": "json_schema",
                    "name": "answer",
                    "strict": strict,
                    "schema": strict_schema(schema) if strict else schema,
                }
            }
        return given

    def _read(self, reply: Any, request: Request) -> Answer:
        body = self._body(reply)
        output = json_at(body, "output")
        usage = self._usage(json_at(body, "usage"), bool(output))
        if wrong := json_at(body, "error"):
            raise self._failures.reported(complaint_of(wrong), headers=reply.headers, usage=usage)
        if not isinstance(output, list):
            complaint = complaint_in(body)
            if complaint is not None:
                raise self._failures.reported(complaint, headers=reply.headers, usage=usage)
            raise self._failures.malformed(f"expected a response, found {reply.text}")
        parts = [part for item in output for part in json_at(item, "content") or ()]
        refusals = [str(r) for part in parts if (r := json_at(part, "refusal"))]
        if refusals:
            raise self._failures.refused(" ".join(refusals), usage)
        texts = [t for part in parts if isinstance(t := json_at(part, "text"), str)]
        calls = tuple(
            ModelToolCall(
                str(json_at(item, "call_id")),
                str(json_at(item, "name")),
                arguments_of(json_at(item, "arguments")),
            )
            for item in output
            if json_at(item, "type") == "function_call"
        )
        reason = str(json_at(body, "incomplete_details", "reason") or "")
        text = cut_at("".join(texts), request.stop)  # the protocol has no stop strings
        if reason == "content_filter":
            raise self._failures.filtered(reason, usage, text)
        if not text.strip() and not (calls and request.tools) and (calls or usage.reasoning):
            names = [call.name for call in calls]
            raise self._failures.without_text(usage, calls=names, cut=bool(reason))
        return Answer(
            text=text,
            calls=calls if request.tools else (),
            model=self._named(body),
            finish="length" if reason else "stop",
            usage=usage,
        )

    def _usage(self, counts: Any, answered: bool) -> Usage:
        usage = reported_usage(
            input=json_at(counts, "input_tokens"),
            output=json_at(counts, "output_tokens"),
            cached=json_at(counts, "input_tokens_details", "cached_tokens"),
            reasoning=json_at(counts, "output_tokens_details", "reasoning_tokens"),
            answered=answered,
        )
        return priced(without_reasoning(usage), self._price)


def _fallbacks(accepted: _Settings, request: Request) -> Fallbacks[_Settings]:
    if request.schema is not None and accepted.schema:
        yield ("text.format", "json_schema", "schema"), replace(accepted, schema=False)
    if accepted.temperature:
        yield ("temperature",), replace(accepted, temperature=False)
    if accepted.effort:
        yield ("reasoning", "effort"), replace(accepted, effort=False)


def _items(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [
            {"type": "function_call_output", "call_id": message.call_id, "output": message.text}
        ]
    items: list[dict[str, Any]] = []
    if message.text.strip() or not message.calls:
        items.append({"role": message.role, "content": message.text})
    for call in message.calls:
        arguments = json.dumps(call.arguments)
        items.append(
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}
        )
    return items
