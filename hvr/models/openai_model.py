"""Any server that speaks OpenAI's chat completions, through the openai SDK."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hvr.base.extras import load
from hvr.base.texts import parse_json
from hvr.errors import UsageError
from hvr.models import failures
from hvr.models.errors import ModelError
from hvr.models.model import Answer, Request, Usage
from hvr.models.openai_dialect import Dialect, arguments, other
from hvr.models.options import ModelOptions
from hvr.models.prices import priced
from hvr.models.replies import Complaint, at, complaint_in, complaint_of
from hvr.models.transport import bounded_client, http_of
from hvr.models.usage import reported

_KEYLESS = "none"
"""The SDK wants a key; servers that need none ignore it."""

_CUT = frozenset({"length", "max_tokens", "model_length"})
_WITHHELD = frozenset(
    {"content_filter", "safety", "sensitive", "refusal", "recitation", "prohibited_content"}
)
_FAILED = frozenset({"error", "network_error", "insufficient_system_resource"})
"""Reasons why an answer ends, as different servers call them."""


class OpenAIModel:
    """A model behind OpenAI's protocol: hosted, vLLM, llama.cpp, Ollama and others.

    Servers differ in what they accept. When one refuses a setting with status 400 or 422, the
    next spelling is tried, and what was learnt is kept for later requests (see `dialect`).

    Args:
        model: as the server names it.
        options: how to reach it.

    Raises:
        UsageError: OpenAI itself is to be asked, and there is no key.
        MissingExtraError: the package openai is not installed.
    """

    simulated = False

    def __init__(self, model: str, options: ModelOptions) -> None:
        if options.base_url is None and options.api_key is None:
            raise UsageError(
                f"openai:{model} needs a key: set OPENAI_API_KEY in the environment, or name a "
                "server that needs none with a base URL"
            )
        self._sdk = load("openai", "openai", "llm")
        http = http_of(load("openai._base_client", "openai", "llm"))
        self._options = options
        self._model = model
        self._price = options.price(model)
        self.dialect = Dialect()
        # hvr waits and tries again by itself, and counts each attempt.
        self._client = self._sdk.OpenAI(
            base_url=options.base_url or "https://api.openai.com/v1",
            api_key=options.api_key or _KEYLESS,
            timeout=options.timeout,
            max_retries=0,
            http_client=bounded_client(http, self.name, options),
        )

    @property
    def name(self) -> str:
        """See `Model`."""
        return f"openai:{self._model}"

    def __repr__(self) -> str:
        return f"OpenAIModel({self._model!r}, {self._options!r})"

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            ModelError: no usable answer; `kind` and `status` say why.
        """
        create = self._client.chat.completions.with_raw_response.create
        end = time.monotonic() + self._options.within(request.seconds)
        # Ends: each dialect leaves out or replaces something that the one before had.
        while True:
            try:
                reply = create(
                    model=self._model,
                    stream=False,
                    timeout=max(end - time.monotonic(), 1e-3),
                    **arguments(request, self.dialect),
                )
                break
            except self._sdk.OpenAIError as error:
                dialect = self._other_dialect(error, request)
                if dialect is None:
                    raise self._error(error) from None
                self.dialect = dialect
            except (ValueError, TypeError, RecursionError) as error:
                # An error whose body cannot be read.
                raise failures.garbled(self.name, self._options, str(error)) from None
        return self._read(reply.http_response, request)

    def embed(self, texts: Sequence[str], seconds: float | None = None) -> list[Sequence[float]]:
        """Return the embeddings of some texts, if the model is one for these.

        Args:
            texts: the texts.
            seconds: how long it may take at most; None for the time-out.

        Raises:
            ModelError: no usable answer; `kind` and `status` say why.
        """
        try:
            reply = self._client.embeddings.create(
                model=self._model,
                input=list(texts),
                encoding_format="float",  # not every server knows the SDK's default, base64
                timeout=self._options.within(seconds),
            )
            return [e.embedding for e in sorted(reply.data, key=lambda e: e.index)]
        except self._sdk.OpenAIError as error:
            raise self._error(error) from None
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise failures.garbled(self.name, self._options, str(error)) from None

    def _other_dialect(self, error: Any, request: Request) -> Dialect | None:
        """Return the dialect to try after a refusal; None if it is about something else."""
        status = getattr(error, "status_code", None)
        if status not in (400, 422):
            return None
        # A prompt that is too long, or filtered, is refused with the same status as a setting.
        complaint = _complaint(error)
        if failures.kind_of_complaint(complaint, status) != "request":
            return None
        words = f"{at(error.body, 'param') or ''} {complaint.message}"
        return other(self.dialect, words, request)

    def _error(self, error: Any) -> ModelError:
        if isinstance(error.__cause__, ModelError):  # of hvr's own client
            return error.__cause__
        if isinstance(error, self._sdk.APITimeoutError):
            return failures.late(self.name, self._options)
        if isinstance(error, self._sdk.APIConnectionError):
            return failures.unreachable(self.name, self._options, failures.root(error))
        if isinstance(error, self._sdk.APIStatusError):
            return failures.reported(
                self.name,
                self._options,
                _complaint(error),
                status=error.status_code,
                headers=error.response.headers,
            )
        return failures.garbled(self.name, self._options, str(error))

    def _read(self, reply: Any, request: Request) -> Answer:
        """Return the answer in a reply.

        Raises:
            ModelError: there is none in it.
        """
        try:
            body = parse_json(reply.content, strict=False)
        except ValueError as error:
            raise failures.not_json(self.name, self._options, reply.content, str(error)) from None
        choice = at(body, "choices", 0)
        text, refusal = _said(at(choice, "message"))
        usage = self._usage(at(body, "usage"), bool(text))
        finish = str(at(choice, "finish_reason") or "").lower()
        wrong = at(body, "error") or at(choice, "error")
        if wrong or finish in _FAILED:
            complaint = complaint_of(wrong or finish)
            raise failures.reported(
                self.name, self._options, complaint, headers=reply.headers, usage=usage
            )
        if text is None:
            raise self._without_answer(body, reply)
        if refusal:
            raise failures.declined(self.name, self._options, refusal, usage)
        if finish in _WITHHELD:
            raise failures.withheld(self.name, self._options, finish, usage, text)
        message = at(choice, "message")
        calls, reasoned = _calls(message), bool(usage.reasoning or _reasoning(message))
        if not text.strip() and (calls or reasoned):
            raise failures.without_text(self.name, usage, calls=calls, cut=finish in _CUT)
        model = at(body, "model")
        return Answer(
            text=self.dialect.cut(text, request.stop),
            model=model if isinstance(model, str) and model else self._model,
            finish="length" if finish in _CUT else "stop",
            usage=usage,
        )

    def _without_answer(self, body: Any, reply: Any) -> ModelError:
        """Return the error for a reply that has no answer."""
        usage = self._usage(at(body, "usage"), answered=False)
        if reason := _filtered(at(body, "prompt_filter_results") or at(body, "prompt_annotations")):
            return failures.withheld(self.name, self._options, f"prompt: {reason}", usage)
        complaint = complaint_in(body)
        if complaint is not None:
            return failures.reported(
                self.name, self._options, complaint, headers=reply.headers, usage=usage
            )
        return failures.garbled(self.name, self._options, f"no chat completion: {reply.text}")

    def _usage(self, counts: Any, answered: bool) -> Usage:
        usage = reported(
            input=at(counts, "prompt_tokens"),
            output=at(counts, "completion_tokens"),
            cached=at(counts, "prompt_tokens_details", "cached_tokens"),
            reasoning=at(counts, "completion_tokens_details", "reasoning_tokens"),
            answered=answered,
        )
        # The protocol counts reasoning as a part of the completion, hvr apart from it.
        if usage.output is not None and usage.reasoning and usage.reasoning <= usage.output:
            usage = replace(usage, output=usage.output - usage.reasoning)
        return priced(usage, self._price)


def _said(message: Any) -> tuple[str | None, str]:
    """Return the text of a message, None where it has none, and the words of a refusal."""
    content, refusal = at(message, "content"), at(message, "refusal")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [t for part in parts if isinstance(t := at(part, "text"), str)]
    refusals = [str(r) for r in (refusal, *(at(part, "refusal") for part in parts)) if r]
    if not isinstance(message, Mapping) or not (texts or refusals or content is None):
        return None, ""
    return "".join(texts), " ".join(refusals)


def _calls(message: Any) -> list[str]:
    """Return the names of the tools that a message calls."""
    calls = at(message, "tool_calls")
    calls = calls if isinstance(calls, list) else []
    named = [at(message, "function_call"), *(at(call, "function") or call for call in calls)]
    return [str(at(call, "name") or "no name") for call in named if call]


def _reasoning(message: Any) -> str:
    """Return the reasoning of a message, which servers put under several names."""
    texts = (at(message, name) for name in ("reasoning_content", "reasoning", "thinking"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _filtered(results: Any) -> str:
    """Return what a filter of prompts has found, empty for nothing."""
    hits = []
    for result in results if isinstance(results, list) else [results]:
        verdicts = at(result, "content_filter_results")
        for name, verdict in verdicts.items() if isinstance(verdicts, Mapping) else ():
            if at(verdict, "filtered") is True:
                hits.append(str(name))
    return ", ".join(hits)


def _complaint(error: Any) -> Complaint:
    """Return what the server says in an error of the SDK."""
    complaint = complaint_of(error.body)
    # Of a page instead of JSON, the SDK says all there is to say.
    page = complaint.message.lstrip().startswith("<")
    return replace(complaint, message=str(error)) if page or not complaint.message else complaint
