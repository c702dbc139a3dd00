"""OpenAI's responses protocol through the openai SDK, with reasoning effort."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import Any

from hvr.base.extras import load
from hvr.base.texts import parse_json
from hvr.errors import UsageError
from hvr.models.config import ModelOptions, priced
from hvr.models.model import Answer, Message, ModelToolCall, Request, Usage, reported_usage
from hvr.models.replies import (
    arguments_of,
    complaint_in,
    complaint_of,
    is_strict,
    json_at,
    strict_schema,
    with_instruction,
)
from hvr.models.sdk_calls import Accepted, Fallbacks
from hvr.models.transport import Failures, bounded_client, http_of


@dataclass(frozen=True)
class _Settings:
    """Settings that not every server accepts; see `Dialect` of `openai_model`."""

    schema: bool = True
    temperature: bool = True
    effort: bool = True


class ResponsesModel:
    """A model behind OpenAI's responses protocol, such as a reasoning model.

    Raises:
        UsageError: No base URL and no key is given.
        MissingExtraError: The package openai is not installed.
    """

    simulated = False

    def __init__(self, model: str, options: ModelOptions) -> None:
        if options.base_url is None and options.api_key is None:
            raise UsageError(
                f"responses:{model} needs a key: set OPENAI_API_KEY in the environment"
            )
        self._sdk = load("openai", "openai", "llm")
        http = http_of(load("openai._base_client", "openai", "llm"))
        self._options = options
        self._model = model
        self._price = options.price(model)
        self._failures = Failures(self.name, options)
        self._accepted = Accepted(self._sdk, self._sdk.OpenAIError, self._failures, _Settings())
        # hvr retries by itself and counts each attempt.
        self._client = self._sdk.OpenAI(
            base_url=options.base_url or "https://api.openai.com/v1",
            api_key=options.api_key or "none",
            timeout=options.timeout,
            max_retries=0,
            http_client=bounded_client(http, self.name, options),
        )

    @property
    def name(self) -> str:
        return f"responses:{self._model}"

    def __repr__(self) -> str:
        return f"ResponsesModel({self._model!r}, {self._options!r})"

    def answer(self, request: Request) -> Answer:
        end = time.monotonic() + self._options.within(request.seconds)

        def create(accepted: _Settings) -> Any:
            return self._client.responses.with_raw_response.create(
                model=self._model,
                store=False,
                timeout=max(end - time.monotonic(), 1e-3),
                **self._arguments(request, accepted),
            )

        reply = self._accepted.send(create, lambda accepted: _fallbacks(accepted, request))
        return self._read(reply.http_response, request)

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
        try:
            body = parse_json(reply.content, strict=False)
        except ValueError as error:
            raise self._failures.not_json(reply.content, str(error)) from None
        output = json_at(body, "output")
        usage = self._usage(json_at(body, "usage"), bool(output))
        if wrong := json_at(body, "error"):
            raise self._failures.reported(complaint_of(wrong), headers=reply.headers, usage=usage)
        if not isinstance(output, list):
            complaint = complaint_in(body)
            if complaint is not None:
                raise self._failures.reported(complaint, headers=reply.headers, usage=usage)
            raise self._failures.malformed(f"not a response: {reply.text}")
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
        text = _cut_at("".join(texts), request.stop)
        if reason == "content_filter":
            raise self._failures.filtered(reason, usage, text)
        if not text.strip() and not (calls and request.tools) and (calls or usage.reasoning):
            names = [call.name for call in calls]
            raise self._failures.without_text(usage, calls=names, cut=bool(reason))
        model = json_at(body, "model")
        return Answer(
            text=text,
            calls=calls if request.tools else (),
            model=model if isinstance(model, str) and model else self._model,
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
        # The protocol counts reasoning tokens as output tokens; hvr counts them separately.
        if usage.output is not None and usage.reasoning and usage.reasoning <= usage.output:
            usage = replace(usage, output=usage.output - usage.reasoning)
        return priced(usage, self._price)


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


def _cut_at(text: str, stop: tuple[str, ...]) -> str:
    """Return the text up to the first stop string: the protocol has none."""
    ends = [at for s in stop if s and (at := text.find(s)) >= 0]
    return text[: min(ends)] if ends else text
