"""Errors of models, classified for retries and reports."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, get_args

from hvr.errors import LLMError
from hvr.models.model import Usage

# Errors -------------------------------------------------------------------------------------------
# Messages are for people; code that retries, counts or stops reads `kind`.

Kind = Literal[
    "timeout",  # no answer in time
    "connection",  # the server cannot be reached, or closed the connection
    "rate",  # too many requests (429)
    "server",  # the server failed (5xx)
    "garbled",  # the reply violates the protocol
    "auth",  # the key is missing or refused (401)
    "forbidden",  # the key may not do this (403)
    "missing",  # no such model or address (404)
    "request",  # the request was rejected (400 and others)
    "overflow",  # the prompt does not fit the model's context
    "empty",  # an answer without text
    "schema",  # the answer is not the requested JSON
    "refused",  # the model refuses, or a filter withholds the answer
    "other",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

NO_USAGE = Usage(input=0, output=0, cached=0, reasoning=0, cost=0.0)
"""The usage if nothing was sent, or if the request was rejected."""


_MAYBE_BILLED = ("timeout", "garbled")
_UNUSABLE: frozenset[Kind] = frozenset({"auth", "forbidden", "missing", "request", "overflow"})
"""Kinds of errors that asking again cannot fix, since the request or configuration is wrong."""

_LONGEST_WAIT = 31 * 24 * 3600.0
_BY_STATUS: Mapping[int, Kind] = {
    401: "auth",
    403: "forbidden",
    404: "missing",
    408: "timeout",
    413: "overflow",
    429: "rate",
    504: "timeout",
}


class ModelError(LLMError):
    """The model gave no usable answer.

    The exit code is 2 if the request or its configuration is wrong (a bad key, an unknown model),
    and 4 if a later attempt may succeed.

    Args:
        kind: Class of the error, on which retries and the exit code depend.
        status: HTTP status of the reply, if it was an error.
        retry_after: Seconds to wait before the next request, as requested by the server.
        usage: Usage billed despite the failure, if known.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: Kind = "other",
        status: int | None = None,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message, exit_code=2 if kind in _UNUSABLE else 4)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.usage = usage


def kind_of(status: int) -> Kind:
    if status < 400:
        return "garbled"
    return _BY_STATUS.get(status, "server" if status >= 500 else "request")


def used(error: LLMError) -> Usage:
    """Return the usage of a failed request.

    Unless the error states it, the usage is unknown after a timeout or a garbled reply, which the
    provider may have billed, and 0 after any other error.
    """
    if isinstance(error, ModelError):
        if error.usage is not None:
            return error.usage
        if error.kind in _MAYBE_BILLED:
            return Usage()
    return NO_USAGE


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds to wait according to `retry-after-ms` or `Retry-After` (RFC 9110, 10.2.3).

    Returns:
        Seconds; None if both headers are missing or malformed, or ask for more than a month.
    """
    named = {name.lower(): value for name, value in headers.items()}
    wait = seconds_of(named.get("retry-after-ms", ""), 0.001)
    if wait is not None:
        return wait
    text = named.get("retry-after", "").strip()
    wait = seconds_of(text)
    if wait is not None or not text:
        return wait
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        remaining = (date - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return seconds_of(str(max(0.0, remaining)))


def seconds_of(text: str, unit: float = 1.0) -> float | None:
    """Convert a duration in units of `unit` seconds to seconds; None if invalid or over a month."""
    try:
        seconds = float(text) * unit
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _LONGEST_WAIT else None
