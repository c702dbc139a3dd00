"""OpenAI's responses protocol through the openai SDK, with reasoning effort."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from hvr.models.config import ModelOptions, priced
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
    complaint_in,
    complaint_of,
    cut_at,
    is_strict,
    json_at,
    strict_schema,
    with_instruction,
)
from hvr.models.sdk_calls import Fallbacks, SdkModel


@dataclass(frozen=True)
class _Settings:
    """Settings that not every server accepts; see `Dialect` of `openai_model`."""

    schema: bool = True
    temperature: bool = True
    effort: bool = True


class ResponsesModel(SdkModel[_Settings]):
    """A model behind OpenAI's responses protocol, such as a reasoning model; see `SdkModel`."""

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
