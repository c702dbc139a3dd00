"""Calls and errors of the SDKs of OpenAI and Anthropic, which have the same error classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Generic, TypeAlias, TypeVar

from hvr.models.errors import ModelError
from hvr.models.replies import Complaint, complaint_of, json_at
from hvr.models.transport import Failures, kind_of_complaint, root_message

_Settings = TypeVar("_Settings")
Fallbacks: TypeAlias = Iterable[tuple[tuple[str, ...], _Settings]]
"""Fewer settings, each with words of a refusal after which they are tried."""


class Accepted(Generic[_Settings]):
    """The settings that a server accepts, learnt from its refusals.

    Args:
        sdk: The module of the SDK.
        base: Base class of the SDK's errors.
        settings: The settings to begin with.
    """

    def __init__(self, sdk: Any, base: type[Exception], failures: Failures, settings: _Settings):
        self._sdk = sdk
        self._base = base
        self._failures = failures
        self._settings = settings

    def send(
        self,
        call: Callable[[_Settings], Any],
        fallbacks: Callable[[_Settings], Fallbacks[_Settings]],
    ) -> Any:
        """Return the reply to a call, with fewer settings after each refusal.

        Args:
            call: Sends the request with the given settings.
            fallbacks: Returns the settings to try after a refusal; must end after finitely many.

        Raises:
            ModelError: The server fails or refuses the request for another reason.
        """
        while True:
            settings = self._settings
            try:
                return call(settings)
            except self._base as error:
                said = refused_setting(error)
                fewer = [one for words, one in fallbacks(settings) if any(w in said for w in words)]
                if not fewer:
                    raise error_of(self._sdk, self._failures, error) from None
                self._settings = fewer[0]
            except (ValueError, TypeError, RecursionError) as error:
                raise self._failures.malformed(str(error)) from None


def error_of(sdk: Any, failures: Failures, error: Any) -> ModelError:
    """Return the error of an SDK as a model's error."""
    if isinstance(error.__cause__, ModelError):  # from hvr's own HTTP client
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
    """Return the message and codes of an SDK's error."""
    complaint = complaint_of(getattr(error, "body", None))
    # If the body is a web page, the SDK's own message is the most useful one.
    page = complaint.message.lstrip().startswith("<")
    return replace(complaint, message=str(error)) if page or not complaint.message else complaint


def refused_setting(error: Any) -> str:
    """Return the message about a setting that a server refuses; empty for any other error."""
    status = getattr(error, "status_code", None)
    complaint = complaint_of_error(error)
    # llama.cpp's Python server reports a setting that it does not know as its own failure.
    invalid = status == 500 and "validation error" in complaint.message
    # Prompts that are too long or filtered are refused with the same status as bad settings.
    refused = status in (400, 422) and kind_of_complaint(complaint, status) == "request"
    if not (invalid or refused):
        return ""
    return f"{json_at(error.body, 'param') or ''} {complaint.message}".lower()
