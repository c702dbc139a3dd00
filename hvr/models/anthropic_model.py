"""Anthropic's messages protocol through the anthropic SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hvr.models.config import ModelOptions, priced
from hvr.models.model import Answer, Message, ModelToolCall, Request, Usage, reported_usage
from hvr.models.replies import (
    arguments_of,
    complaint_in,
    complaint_of,
    json_at,
    strict_schema,
    with_instruction,
)
from hvr.models.sdk_calls import Fallbacks, SdkModel

_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_ANSWER = "answer"
"""Name of the tool whose arguments serve as the answer, for models without schema support."""

_FORMS = ("schema", "tool", "words")


@dataclass(frozen=True)
class _Settings:
    """Settings that some servers reject; `form` says how to request JSON."""

    form: str = "schema"
    temperature: bool = True
    effort: bool = True


class AnthropicModel(SdkModel[_Settings]):
    """A model behind Anthropic's messages protocol.

    The system message is marked for the provider's prompt cache.
    """

    provider, package, client = "anthropic", "anthropic", "Anthropic"

    def __init__(self, model: str, options: ModelOptions) -> None:
        super().__init__(model, options, _Settings())

    def answer(self, request: Request) -> Answer:
        def create(accepted: _Settings, seconds: float) -> Any:
            return self._client.messages.with_raw_response.create(
                model=self._model, timeout=seconds, **self._arguments(request, accepted)
            )

        def fallbacks(accepted: _Settings) -> Fallbacks[_Settings]:
            return _fallbacks(accepted, request, effort=self._options.effort is not None)

        reply, _ = self._send(create, fallbacks, request.seconds)
        return self._read(reply, request)

    def _arguments(self, request: Request, accepted: _Settings) -> dict[str, Any]:
        in_words = accepted.form == "words"
        messages = with_instruction(request) if in_words else request.messages
        system = [
            {"type": "text", "text": m.text, "cache_control": {"type": "ephemeral"}}
            for m in messages
            if m.role == "system"
        ]
        given: dict[str, Any] = {"messages": _turns(messages), "max_tokens": request.max_tokens}
        if system:
            given["system"] = system
        if request.stop:
            given["stop_sequences"] = list(request.stop)
        tools = [_tool(t.name, t.description, t.parameters) for t in request.tools]
        config: dict[str, Any] = {}
        if tools:
            given["tool_choice"] = {"type": "any"}
        elif request.schema is not None and accepted.form == "schema":
            schema = strict_schema(dict(request.schema))
            config["format"] = {"type": "json_schema", "schema": schema}
        elif request.schema is not None and accepted.form == "tool":
            tools = [_tool(_ANSWER, "Give the answer.", request.schema)]
            given["tool_choice"] = {"type": "tool", "name": _ANSWER}
        if tools:
            given["tools"] = tools
        if self._options.effort and accepted.effort:
            config["effort"] = self._options.effort
        # Not every SDK release has parameters for these settings.
        more: dict[str, Any] = {"output_config": config} if config else {}
        if accepted.temperature:
            more["temperature"] = min(request.temperature, 1.0)
        return {**given, "extra_body": more}

    def _read(self, reply: Any, request: Request) -> Answer:
        body = self._body(reply)
        content = json_at(body, "content")
        if not isinstance(content, list):
            complaint = complaint_in(body)
            if complaint is not None:
                wrong = json_at(body, "error")
                raise self._failures.reported(
                    complaint_of(wrong) if wrong else complaint, headers=reply.headers
                )
            raise self._failures.malformed(f"expected a message, found {reply.text}")
        texts = [t for part in content if isinstance(t := json_at(part, "text"), str)]
        calls = tuple(
            ModelToolCall(
                str(json_at(part, "id")),
                str(json_at(part, "name")),
                arguments_of(json_at(part, "input")),
            )
            for part in content
            if json_at(part, "type") == "tool_use"
        )
        stop = str(json_at(body, "stop_reason") or "")
        usage = self._usage(json_at(body, "usage"), bool(texts or calls))
        if stop == "refusal":
            raise self._failures.refused("".join(texts), usage)
        answer = Answer(
            text="".join(texts),
            model=self._named(body),
            finish="length" if stop in _CUT else "stop",
            usage=usage,
        )
        if request.tools:
            return replace(answer, calls=calls)
        if calls and request.schema is not None and calls[0].name == _ANSWER:
            return replace(answer, text=json.dumps(calls[0].arguments, ensure_ascii=False))
        if not answer.text.strip() and (calls or any(_is_thought(part) for part in content)):
            names = [call.name for call in calls]
            raise self._failures.without_text(usage, calls=names, cut=stop in _CUT)
        return answer

    def _usage(self, counts: Any, answered: bool) -> Usage:
        parts = [
            json_at(counts, name)
            for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        ]
        known = isinstance(parts[0], int) and all(p is None or isinstance(p, int) for p in parts)
        usage = reported_usage(
            # The protocol excludes cached tokens from the input tokens; hvr includes them.
            input=sum(part or 0 for part in parts) if known else None,
            output=json_at(counts, "output_tokens"),
            cached=parts[2] if parts[2] is not None else 0,
            # The protocol does not report reasoning separately from the rest of the output.
            reasoning=0,
            answered=answered,
        )
        return priced(usage, self._price)


def _fallbacks(accepted: _Settings, request: Request, *, effort: bool) -> Fallbacks[_Settings]:
    without_effort = replace(accepted, effort=False)
    effort = effort and accepted.effort
    # This comes first, since the schema and the effort are both in `output_config`.
    if effort:
        yield ("effort",), without_effort
    if request.schema is not None and accepted.form != "words":
        words = ("output_config", "output_format", "format", "schema", "tool_choice", "tool")
        following = _FORMS[_FORMS.index(accepted.form) + 1]
        yield words, replace(accepted, form=following)
    if effort:
        yield ("output_config",), without_effort
    if accepted.temperature:
        yield ("temperature",), replace(accepted, temperature=False)


def _tool(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": description, "input_schema": dict(parameters)}


def _turns(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    # The results of several tools form one turn.
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        parts: list[dict[str, Any]] = []
        if message.role == "tool":
            parts.append(
                {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
            )
        elif message.text.strip():
            parts.append({"type": "text", "text": message.text})
        parts += [
            {"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)}
            for c in message.calls
        ]
        role = "assistant" if message.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += parts
        else:
            turns.append({"role": role, "content": parts})
    return turns


def _is_thought(part: Any) -> bool:
    return json_at(part, "type") in ("thinking", "redacted_thinking")
