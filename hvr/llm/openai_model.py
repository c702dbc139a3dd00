"""Any server that speaks OpenAI's chat completions, through the openai SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from hvr.errors import UsageError
from hvr.extras import load
from hvr.llm import failures, schema
from hvr.llm.errors import Kind, ModelError
from hvr.llm.model import Answer, Request, Usage
from hvr.llm.openai_dialect import Dialect, arguments, other
from hvr.llm.options import ModelOptions
from hvr.llm.prices import priced

_KEYLESS = "none"
"""The SDK wants a key; servers that need none ignore it."""

_FINISH: Mapping[str, Literal["stop", "length", "filter"]] = {
    "length": "length",
    "content_filter": "filter",
}


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
        # Ends: each dialect leaves out or replaces something that the one before had.
        while True:
            try:
                reply = self._client.chat.completions.create(
                    model=self._model, stream=False, **arguments(request, self.dialect)
                )
                break
            except self._sdk.OpenAIError as error:
                dialect = self._other_dialect(error, request)
                if dialect is None:
                    raise self._error(error) from None
                self.dialect = dialect
            except (ValueError, TypeError, RecursionError) as error:
                # A reply that is announced as JSON and is none.
                raise failures.garbled(self.name, self._options, str(error)) from None
        return schema.checked(self._read(reply, request), request)

    def _other_dialect(self, error: Any, request: Request) -> Dialect | None:
        """Return the dialect to try after a refusal; None if it is about something else."""
        # A prompt that is too long is refused with the same status as a setting.
        if getattr(error, "status_code", None) not in (400, 422) or _too_long(error):
            return None
        complaint = f"{error.param or ''} {error}"
        return other(self.dialect, complaint, request)

    def _error(self, error: Any) -> ModelError:
        if isinstance(error, self._sdk.APITimeoutError):
            return failures.late(self.name, self._options)
        if isinstance(error, self._sdk.APIConnectionError):
            return failures.unreachable(self.name, self._options, failures.root(error))
        if isinstance(error, self._sdk.APIStatusError):
            headers = error.response.headers
            kind: Kind | None = "overflow" if _too_long(error) else None
            return failures.refused(
                self.name, self._options, error.status_code, _message(error), headers, kind
            )
        return failures.garbled(self.name, self._options, str(error))

    def _read(self, reply: Any, request: Request) -> Answer:
        try:
            choice = reply.choices[0]
            message = choice.message
            text, refusal = message.content or "", getattr(message, "refusal", None)
            usage = self._usage(reply.usage)
            finish = _FINISH.get(choice.finish_reason, "stop")
        except (AttributeError, IndexError, TypeError):
            raise failures.garbled(
                self.name, self._options, f"no chat completion: {str(reply)[:200]}"
            ) from None
        if not isinstance(text, str):
            raise failures.garbled(self.name, self._options, "the content is no text")
        if refusal and not text:
            text, finish = str(refusal), "filter"
        return Answer(
            text=self.dialect.cut(text, request.stop),
            model=str(reply.model or self._model),
            finish=finish,
            usage=usage,
        )

    def _usage(self, counts: Any) -> Usage:
        if counts is None:
            return Usage()
        prompt = getattr(counts, "prompt_tokens_details", None)
        details = getattr(counts, "completion_tokens_details", None)
        reasoning = getattr(details, "reasoning_tokens", None)
        output = counts.completion_tokens
        # The protocol counts reasoning as a part of the completion, hvr apart from it.
        if output is not None and reasoning:
            output = max(0, output - reasoning)
        usage = Usage(
            input=counts.prompt_tokens,
            output=output,
            cached=getattr(prompt, "cached_tokens", None),
            reasoning=reasoning,
        )
        return priced(usage, self._price)


def _message(error: Any) -> str:
    if isinstance(error.body, Mapping) and isinstance(error.body.get("message"), str):
        return str(error.body["message"])
    return str(error)


def _too_long(error: Any) -> bool:
    # OpenAI has a code for it; vLLM and llama.cpp say it in words.
    message = _message(error).lower()
    return error.code == "context_length_exceeded" or any(
        words in message for words in ("context length", "context size", "context window")
    )
