"""Models behind the SDKs of OpenAI and Anthropic, which share their error classes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Generic, TypeAlias, TypeVar

from hvr.base.registry import load
from hvr.base.texts import parse_json
from hvr.models.config import KEYLESS, ModelOptions, require_access
from hvr.models.errors import ModelError
from hvr.models.replies import Complaint, complaint_of, json_at
from hvr.models.transport import (
    HOSTED,
    Failures,
    bounded_client,
    http_of,
    kind_of_complaint,
    root_message,
)

_Settings = TypeVar("_Settings")
Fallbacks: TypeAlias = Iterable[tuple[tuple[str, ...], _Settings]]
"""Reduced settings to try, each with the words of a refusal that suggest it."""


class SdkModel(Generic[_Settings]):
    """A model behind the SDK of OpenAI or Anthropic.

    Servers differ in the settings they accept. If a server rejects a setting, hvr tries the next
    variant and keeps the accepted settings. Threads may share a model.

    Raises:
        UsageError: Neither a base URL nor a key is given.
    """

    simulated = False
    provider: str
    package: str
    client: str
    """Name of the SDK's client class; its errors have the base class `{client}Error`."""

    def __init__(self, model: str, options: ModelOptions, settings: _Settings) -> None:
        require_access(self.provider, model, options)
        self._sdk = load(self.package, self.package, "llm")
        http = http_of(load(f"{self.package}._base_client", self.package, "llm"))
        self._options = options
        self._model = model
        self._price = options.price(model)
        self._failures = Failures(self.name, options)
        self.settings = settings
        # hvr retries by itself and counts each attempt
        self._client = getattr(self._sdk, self.client)(
            base_url=options.base_url or HOSTED[self.provider],
            api_key=options.api_key or KEYLESS,
            timeout=options.timeout,
            max_retries=0,
            http_client=bounded_client(http, self.name, options),
        )

    @property
    def name(self) -> str:
        return f"{self.provider}:{self._model}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, {self._options!r})"

    def _send(
        self,
        call: Callable[[_Settings, float], Any],
        fallbacks: Callable[[_Settings], Fallbacks[_Settings]],
        seconds: float | None,
    ) -> tuple[Any, _Settings]:
        """Return the HTTP response to a call, and the settings that the server accepted.

        `call` gets the settings and a time limit in seconds. `fallbacks` gives the settings to try
        after a refusal, and must eventually give none.
        """
        end = time.monotonic() + self._options.within(seconds)
        settings = self.settings
        while True:
            try:
                reply = call(settings, max(end - time.monotonic(), 1e-3))
                return reply.http_response, settings
            except getattr(self._sdk, f"{self.client}Error") as error:
                said = refused_setting(error)
                fewer = [one for words, one in fallbacks(settings) if any(w in said for w in words)]
                if not fewer:
                    raise error_of(self._sdk, self._failures, error) from None
                self._learn(settings, fewer[0])
                settings = fewer[0]
            except (ValueError, TypeError, RecursionError) as error:
                # The body of the error response cannot be decoded.
                raise self._failures.malformed(str(error)) from None

    def _learn(self, tried: _Settings, better: _Settings) -> None:
        """Remember the settings to try next, unless another thread has changed them in between."""
        if self.settings == tried:
            self.settings = better

    def _body(self, reply: Any) -> Any:
        try:
            return parse_json(reply.content, strict=False)
        except ValueError as error:
            raise self._failures.not_json(reply.content, str(error)) from None

    def _named(self, body: Any) -> str:
        model = json_at(body, "model")
        return model if isinstance(model, str) and model else self._model


def error_of(sdk: Any, failures: Failures, error: Any) -> ModelError:
    if isinstance(error.__cause__, ModelError):  # raised by hvr's own HTTP client
        return error.__cause__
    if isinstance(error, sdk.APITimeoutError):
        return failures.timed_out()
    if isinstance(error, sdk.APIConnectionError):
        return failures.not_connected(root_message(error))
    if isinstance(error, sdk.APIStatusError):
        headers = error.response.headers
        return failures.reported(
            complaint_of_error(error), status=error.status_code, headers=headers
        )
    return failures.malformed(str(error))


def complaint_of_error(error: Any) -> Complaint:
    complaint = complaint_of(getattr(error, "body", None))
    # If the body is a web page, the SDK's own message is more useful.
    page = complaint.message.lstrip().startswith("<")
    return replace(complaint, message=str(error)) if page or not complaint.message else complaint


def refused_setting(error: Any) -> str:
    """Return the server's message, in lower case, if it rejected a setting.

    The name of the parameter comes first, if known. Any other error gives an empty string.
    """
    status = getattr(error, "status_code", None)
    complaint = complaint_of_error(error)
    # llama.cpp's Python server reports an unknown setting as an internal error.
    invalid = status == 500 and "validation error" in complaint.message
    # Prompts that are too long or filtered are rejected with the same status as bad settings.
    refused = status in (400, 422) and kind_of_complaint(complaint, status) == "request"
    if not (invalid or refused):
        return ""
    return f"{json_at(error.body, 'param') or ''} {complaint.message}".lower()
