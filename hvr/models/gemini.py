"""Gemini models through the google-genai SDK."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hvr.base.registry import load
from hvr.base.texts import parse_json
from hvr.models.config import KEYLESS, ModelOptions, priced, require_access
from hvr.models.errors import ModelError, seconds_of
from hvr.models.model import Answer, Message, ModelToolCall, Request, Usage, reported_usage
from hvr.models.replies import arguments_of, complaint_in, complaint_of, json_at
from hvr.models.transport import Failures, bounded_client, http_of, root_message

_CUT = frozenset({"MAX_TOKENS", "CONTINUATION"})
_WITHHELD = frozenset(
    (
        "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY MODEL_ARMOR ESCALATION"
    ).split()
)
_CALLED = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
"""Finish reasons of answers that contain tool calls."""


class GeminiModel:
    """A Gemini model, reached through Google's SDK.

    Raises:
        UsageError: Neither a base URL nor a key is given.
    """

    simulated = False

    def __init__(self, model: str, options: ModelOptions) -> None:
        require_access("gemini", model, options)
        self._sdk = load("google.genai", "google-genai", "llm")
        self._types = load("google.genai.types", "google-genai", "llm")
        self._errors = load("google.genai.errors", "google-genai", "llm")
        http = http_of(load("google.genai._api_client", "google-genai", "llm"))
        self._options = options
        self._model = model
        self._price = options.price(model)
        self._failures = Failures(self.name, options)
        # Without retry options the SDK sends one request; hvr retries by itself.
        self._client = self._sdk.Client(
            vertexai=False,
            api_key=options.api_key or KEYLESS,
            http_options=self._types.HttpOptions(
                base_url=options.base_url,
                timeout=_milliseconds(options.timeout),
                httpx_client=bounded_client(http, self.name, options),
            ),
        )

    @property
    def name(self) -> str:
        return f"gemini:{self._model}"

    def __repr__(self) -> str:
        return f"GeminiModel({self._model!r}, {self._options!r})"

    def answer(self, request: Request) -> Answer:
        names = {call.id: call.name for m in request.messages for call in m.calls}
        turns = [m for m in request.messages if m.role != "system"]
        body = self._asked(
            lambda: self._body(
                self._client.models.generate_content(
                    model=self._model,
                    contents=[self._content(m, names) for m in turns],
                    config=self._config(request),
                )
            )
        )
        return self._read(body, request)

    def embed(self, texts: Sequence[str], seconds: float | None = None) -> list[Sequence[float]]:
        reply = self._asked(
            lambda: self._client.models.embed_content(
                model=self._model,
                contents=list(texts),
                config=self._types.EmbedContentConfig(http_options=self._http(seconds)),
            )
        )
        return [e.values or () for e in reply.embeddings or ()]

    def _asked(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except ModelError:  # raised by hvr's own HTTP client
            raise
        except self._errors.APIError as error:
            raise self._refused(error) from None
        except Exception as error:  # see `_failed`
            raise self._failed(error) from None

    def _body(self, reply: Any) -> Any:
        raw = getattr(reply.sdk_http_response, "body", None)
        # Older SDK releases do not expose it.
        if raw is None:
            return reply.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            return parse_json(raw, strict=False)
        except ValueError as error:
            body = raw.encode() if isinstance(raw, str) else raw
            raise self._failures.not_json(body, str(error)) from None

    def _http(self, seconds: float | None) -> Any:
        return self._types.HttpOptions(timeout=_milliseconds(self._options.within(seconds)))

    def _content(self, message: Message, names: Mapping[str, str]) -> Any:
        role = "model" if message.role == "assistant" else "user"
        types = self._types
        if message.role == "tool":
            answered = types.FunctionResponse(
                name=names.get(message.call_id, message.call_id), response={"result": message.text}
            )
            return types.Content(role=role, parts=[types.Part(function_response=answered)])
        parts = [types.Part(text=message.text)] if message.text or not message.calls else []
        for call in message.calls:
            called = types.FunctionCall(name=call.name, args=dict(call.arguments))
            parts.append(types.Part(function_call=called))
        return types.Content(role=role, parts=parts)

    def _tools(self, request: Request) -> dict[str, Any]:
        types = self._types
        declared = [
            types.FunctionDeclaration(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.parameters),
            )
            for tool in request.tools
        ]
        config = types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="ANY"))
        return {"tools": [types.Tool(function_declarations=declared)], "tool_config": config}

    def _config(self, request: Request) -> Any:
        system = "\n\n".join(m.text for m in request.messages if m.role == "system")
        given: dict[str, Any] = {
            "system_instruction": system or None,
            "temperature": request.temperature,
            "max_output_tokens": request.max_tokens,
            "seed": request.seed,
            "stop_sequences": list(request.stop) or None,
            "candidate_count": 1,
            "http_options": self._http(request.seconds),
        }
        if request.tools:
            given |= self._tools(request)
        if request.schema is not None:
            given["response_mime_type"] = "application/json"
            given["response_json_schema"] = dict(request.schema)
        known = self._types.GenerateContentConfig.model_fields
        if "automatic_continuation" in known:
            # Otherwise one call could become several requests that bypass the budget.
            given["automatic_continuation"] = False
        if "should_return_http_response" in known:
            # The SDK decodes only well-formed replies, so hvr reads the raw body.
            given["should_return_http_response"] = True
        return self._types.GenerateContentConfig(**given)

    def _refused(self, error: Any) -> ModelError:
        status = error.code if isinstance(error.code, int) else 500
        headers = getattr(error.response, "headers", None) or {}
        complaint = complaint_of(error.details)
        if isinstance(error.details, dict) and error.details.keys() == {"message", "status"}:
            # The SDK wraps a non-JSON body like this, with the HTTP reason phrase as status.
            complaint = replace(complaint, codes=())
        if not complaint.message:
            complaint = replace(complaint, message=str(error.message or error))
        refused = self._failures.reported(complaint, status=status, headers=headers)
        if refused.retry_after is None:
            refused.retry_after = _delay(error.details)
        return refused

    def _failed(self, error: Exception) -> ModelError:
        # The SDK passes on errors of its HTTP client, whose package depends on the version.
        kinds = {c.__name__ for c in type(error).__mro__}
        if "TimeoutException" in kinds or "Timeout" in kinds:
            return self._failures.timed_out()
        if kinds & {"TransportError", "RequestException", "ConnectionError", "OSError"}:
            return self._failures.not_connected(root_message(error))
        return self._failures.malformed(f"{type(error).__name__}: {error}")

    def _read(self, body: Any, request: Request) -> Answer:
        candidate = json_at(body, "candidates", 0)
        parts = json_at(candidate, "content", "parts")
        texts = [
            text
            for part in _list(parts)
            # Thoughts are parts of the reply but not of the answer.
            if isinstance(text := json_at(part, "text"), str) and not json_at(part, "thought")
        ]
        text = "".join(texts)
        usage = self._usage(json_at(body, "usageMetadata"), bool(text))
        if error := json_at(body, "error"):
            raise self._failures.reported(complaint_of(error), usage=usage)
        if blocked := json_at(body, "promptFeedback", "blockReason"):
            raise self._failures.filtered(f"prompt blocked: {blocked}", usage)
        if not isinstance(candidate, Mapping):
            complaint = complaint_in(body)
            if complaint is not None:
                raise self._failures.reported(complaint, usage=usage)
            raise self._failures.malformed("no candidate in the reply")
        finish = str(json_at(candidate, "finishReason") or "")
        if finish in _WITHHELD:
            reason = f"{finish} {json_at(candidate, 'finishMessage') or ''}"
            raise self._failures.filtered(reason, usage, text)
        called = [c for part in _list(parts) if (c := json_at(part, "functionCall"))]
        calls = [str(json_at(c, "name")) for c in called]
        if finish in _CALLED and not calls:
            calls = [finish]
        reasoned = bool(usage.reasoning or any(json_at(part, "thought") for part in _list(parts)))
        known = _calls(called, len(request.messages)) if request.tools else ()
        if not text.strip() and not known and (calls or reasoned):
            raise self._failures.without_text(usage, calls=calls, cut=finish in _CUT)
        model = json_at(body, "modelVersion")
        return Answer(
            text=text,
            calls=known,
            model=model if isinstance(model, str) and model else self._model,
            finish="length" if finish in _CUT else "stop",
            usage=usage,
        )

    def _usage(self, counts: Any, answered: bool) -> Usage:
        output = json_at(counts, "candidatesTokenCount")
        if output is None and not answered and json_at(counts, "promptTokenCount") is not None:
            output = 0  # the API omits the count for an empty answer
        usage = reported_usage(
            input=json_at(counts, "promptTokenCount"),
            output=output,
            cached=json_at(counts, "cachedContentTokenCount"),
            reasoning=json_at(counts, "thoughtsTokenCount"),
            answered=answered,
        )
        return priced(usage, self._price)


def _calls(called: Sequence[Any], turn: int) -> tuple[ModelToolCall, ...]:
    """Convert Gemini's tool calls, which have no ids: hvr numbers the calls by turn."""
    return tuple(
        ModelToolCall(
            f"call{turn}.{number}", str(json_at(c, "name")), arguments_of(json_at(c, "args"))
        )
        for number, c in enumerate(called, start=1)
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _milliseconds(seconds: float) -> int:
    # the SDK treats 0 as no timeout
    return max(1, round(seconds * 1000))


def _delay(error: Any) -> float | None:
    """Return the seconds to wait in a google.rpc.RetryInfo, such as `"34.5s"`; None if missing."""
    details = json_at(error, "error", "details")
    for detail in details if isinstance(details, list) else ():
        text = json_at(detail, "retryDelay")
        if isinstance(text, str) and text.endswith("s"):
            return seconds_of(text.removesuffix("s"))
    return None
