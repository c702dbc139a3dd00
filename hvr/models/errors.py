"""Errors of models, in a form that a program can act on, and cancellation."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, get_args

from hvr.errors import LLMError
from hvr.models.model import Usage

# Errors -------------------------------------------------------------------------------------------
# Errors of models, in a form that a program can act on.
#
# ModelError        the model or the way to it failed; `kind` says how
# └── CancelledError    the caller no longer wants the answer
#
# The message is for people. Whoever has to decide (retry, count, stop) looks at `kind`.

Kind = Literal[
    "timeout",  # no answer in time
    "connection",  # the server cannot be reached, or hung up
    "rate",  # too many requests (429)
    "server",  # the server failed (5xx)
    "garbled",  # what came is not what the protocol says
    "auth",  # the key is missing or refused (401)
    "forbidden",  # the key may not do this (403)
    "missing",  # no such model or address (404)
    "request",  # the request is refused (400 and others)
    "overflow",  # the prompt does not fit the model's context
    "empty",  # an answer without text
    "schema",  # an answer that is not the JSON that was asked for
    "refused",  # the model will not answer, or a filter withholds what it says
    "cancelled",  # the caller no longer wants it
    "other",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

NO_USAGE = Usage(input=0, output=0, cached=0, reasoning=0, cost=0.0)
"""The usage when nothing was sent, or what was sent was refused."""


_MAYBE_BILLED = ("timeout", "garbled")
_UNUSABLE: frozenset[Kind] = frozenset({"auth", "forbidden", "missing", "request", "overflow"})
"""The question or its set-up is at fault: asking again would change nothing."""

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
    """There is no usable answer.

    Its exit code is 2 where the question or its set-up is at fault (a wrong key, no such model),
    and 4 where asking again may help.

    Args:
        message: what happened and what to do.
        kind: what happened, in one of a few words.
        status: of HTTP, if there was one.
        retry_after: seconds after which the server wants to be asked again.
        usage: what was used all the same, if it is known.
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


class CancelledError(ModelError):
    """The caller cancelled before the answer was there."""

    def __init__(self, message: str = "cancelled before the model was asked") -> None:
        super().__init__(message, kind="cancelled")


def kind_of(status: int) -> Kind:
    """Return the kind of error that a status of HTTP stands for."""
    if status < 400:
        return "garbled"
    return _BY_STATUS.get(status, "server" if status >= 500 else "request")


def used(error: LLMError) -> Usage:
    """Return the usage before an error; unknown (None) if the provider may have billed it."""
    if isinstance(error, ModelError):
        if error.usage is not None:
            return error.usage
        if error.kind in _MAYBE_BILLED:
            return Usage()
    return NO_USAGE


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or a date).

    Source: RFC 9110, section 10.2.3.

    Returns:
        seconds from 0 on; None when the header is missing, not readable, or asks for months.
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
        passing = (date - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return seconds_of(str(max(0.0, passing)))


def seconds_of(text: str, unit: float = 1.0) -> float | None:
    """Return a number of seconds to wait; None if it is none, negative, or more than a month.

    Args:
        text: the number.
        unit: what it counts, in seconds.
    """
    try:
        seconds = float(text) * unit
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _LONGEST_WAIT else None


# Cancellation -------------------------------------------------------------------------------------
# Cancelling what has been asked of a model.


class Cancellation:
    """A flag that one thread raises and others look at.

    It is looked at before each call and while waiting for the next try. A request that is on
    its way is not torn down: its time-out bounds it.
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Cancel everything, for good."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether everything is cancelled."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise if cancelled.

        Raises:
            CancelledError: it is cancelled.
        """
        if self.cancelled:
            raise CancelledError

    def wait(self, seconds: float) -> None:
        """Sleep, and wake up early to raise.

        Raises:
            CancelledError: it was cancelled before or while waiting.
        """
        if self._event.wait(seconds):
            raise CancelledError("cancelled while waiting to ask the model again")
