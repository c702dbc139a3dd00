"""Gemini through the google-genai SDK."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from hvr.errors import UsageError
from hvr.extras import load
from hvr.llm import failures, schema
from hvr.llm.errors import Kind, ModelError
from hvr.llm.model import Answer, Message, Request, Usage
from hvr.llm.options import ModelOptions
from hvr.llm.prices import priced
from hvr.llm.transport import bounded_client, http_of

_KEYLESS = "none"
"""The SDK wants a key; a server of one's own ignores it."""

_FINISH: Mapping[str, Literal["stop", "length", "filter"]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "filter",
    "RECITATION": "filter",
    "BLOCKLIST": "filter",
    "PROHIBITED_CONTENT": "filter",
    "SPII": "filter",
    "MODEL_ARMOR": "filter",
    "ESCALATION": "filter",
}


class GeminiModel:
    """A Gemini model.

    Args:
        model: such as `gemini-2.0-flash`.
        options: how to reach it.

    Raises:
        UsageError: Google itself is to be asked, and there is no key.
        MissingExtraError: the package google-genai is not installed.
    """

    simulated = False

    def __init__(self, model: str, options: ModelOptions) -> None:
        if options.base_url is None and options.api_key is None:
            raise UsageError(
                f"gemini:{model} needs a key: set GEMINI_API_KEY (or GOOGLE_API_KEY) in the "
                "environment"
            )
        self._sdk = load("google.genai", "google-genai", "llm")
        self._types = load("google.genai.types", "google-genai", "llm")
        self._errors = load("google.genai.errors", "google-genai", "llm")
        http = http_of(load("google.genai._api_client", "google-genai", "llm"))
        self._options = options
        self._model = model
        self._price = options.price(model)
        # Without retry options the SDK asks once; hvr tries again by itself.
        self._client = self._sdk.Client(
            vertexai=False,
            api_key=options.api_key or _KEYLESS,
            http_options=self._types.HttpOptions(
                base_url=options.base_url,
                timeout=_milliseconds(options.timeout),
                httpx_client=bounded_client(http, self.name, options),
            ),
        )

    @property
    def name(self) -> str:
        """See `Model`."""
        return f"gemini:{self._model}"

    def __repr__(self) -> str:
        return f"GeminiModel({self._model!r}, {self._options!r})"

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            ModelError: no usable answer; `kind` and `status` say why.
        """
        reply = self._asked(
            lambda: self._client.models.generate_content(
                model=self._model,
                contents=[self._content(m) for m in request.messages if m.role != "system"],
                config=self._config(request),
            )
        )
        return schema.checked(self._read(reply), request)

    def embed(self, texts: Sequence[str], seconds: float | None = None) -> list[Sequence[float]]:
        """Return the embeddings of some texts, if the model is one for these.

        Args:
            texts: the texts.
            seconds: how long it may take at most; None for the time-out.

        Raises:
            ModelError: no usable answer; `kind` and `status` say why.
        """
        reply = self._asked(
            lambda: self._client.models.embed_content(
                model=self._model,
                contents=list(texts),
                config=self._types.EmbedContentConfig(http_options=self._http(seconds)),
            )
        )
        return [e.values or () for e in reply.embeddings or ()]

    def _asked(self, call: Callable[[], Any]) -> Any:
        """Return the reply to a call of the SDK."""
        try:
            return call()
        except ModelError:  # of hvr's own client
            raise
        except self._errors.APIError as error:
            raise self._refused(error) from None
        except Exception as error:  # see `_failed`
            raise self._failed(error) from None

    def _http(self, seconds: float | None) -> Any:
        """Return the options of a request that may take some seconds."""
        return self._types.HttpOptions(timeout=_milliseconds(self._options.within(seconds)))

    def _content(self, message: Message) -> Any:
        role = "model" if message.role == "assistant" else "user"
        return self._types.Content(role=role, parts=[self._types.Part(text=message.text)])

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
        if request.schema is not None:
            given["response_mime_type"] = "application/json"
            given["response_json_schema"] = dict(request.schema)
        known = self._types.GenerateContentConfig.model_fields
        if "automatic_continuation" in known:
            # Else one call may become several requests that no budget has seen.
            given["automatic_continuation"] = False
        return self._types.GenerateContentConfig(**given)

    def _refused(self, error: Any) -> ModelError:
        status = error.code if isinstance(error.code, int) else 500
        headers = getattr(error.response, "headers", None) or {}
        kind: Kind | None = None
        details = error.details if isinstance(error.details, Mapping) else {}
        parts = _details(details)
        # Google answers a wrong key with 400; the reason in the details tells it apart.
        if any(p.get("reason") in ("API_KEY_INVALID", "API_KEY_EXPIRED") for p in parts):
            kind = "auth"
        refused = failures.refused(
            self.name, self._options, status, str(error.message or error), headers, kind
        )
        if refused.retry_after is None:
            refused.retry_after = next((s for p in parts if (s := _delay(p)) is not None), None)
        return refused

    def _failed(self, error: Exception) -> ModelError:
        # The SDK lets errors of its HTTP client through, whose package depends on its version.
        kinds = {c.__name__ for c in type(error).__mro__}
        if "TimeoutException" in kinds or "Timeout" in kinds:
            return failures.late(self.name, self._options)
        if kinds & {"TransportError", "RequestException", "ConnectionError", "OSError"}:
            return failures.unreachable(self.name, self._options, failures.root(error))
        return failures.garbled(self.name, self._options, f"{type(error).__name__}: {error}")

    def _read(self, reply: Any) -> Answer:
        usage = self._usage(reply.usage_metadata)
        model = str(reply.model_version or self._model)
        if not reply.candidates:
            blocked = getattr(reply.prompt_feedback, "block_reason", None)
            if blocked is None:
                raise failures.garbled(self.name, self._options, "no candidate in the reply")
            return Answer(
                text=f"[prompt blocked: {_name(blocked)}]",
                model=model,
                finish="filter",
                usage=usage,
            )
        candidate = reply.candidates[0]
        parts = (candidate.content.parts if candidate.content else None) or []
        # Thoughts are parts of the reply, and no part of the answer.
        text = "".join(p.text for p in parts if p.text and not p.thought)
        finish = _FINISH.get(_name(candidate.finish_reason), "stop")
        return Answer(text=text, model=model, finish=finish, usage=usage)

    def _usage(self, counts: Any) -> Usage:
        if counts is None:
            return Usage()
        usage = Usage(
            input=counts.prompt_token_count,
            # An answer without text has no count.
            output=counts.candidates_token_count
            if counts.candidates_token_count is not None or counts.prompt_token_count is None
            else 0,
            cached=counts.cached_content_token_count,
            reasoning=counts.thoughts_token_count,
        )
        return priced(usage, self._price)


def _milliseconds(seconds: float) -> int:
    # The SDK takes 0 for no time-out.
    return max(1, round(seconds * 1000))


def _name(value: Any) -> str:
    return str(getattr(value, "value", value) or "")


def _details(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    error = body.get("error", body)
    details = error.get("details") if isinstance(error, Mapping) else None
    return [d for d in details if isinstance(d, Mapping)] if isinstance(details, list) else []


def _delay(detail: Mapping[str, Any]) -> float | None:
    """Return the seconds of a google.rpc.RetryInfo, such as `"34.5s"`."""
    text = str(detail.get("retryDelay", ""))
    try:
        return max(0.0, float(text.removesuffix("s"))) if text.endswith("s") else None
    except ValueError:
        return None
