"""Rate limits: no more requests and tokens a minute than the provider allows."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from hvr.models.budget import transaction
from hvr.models.errors import Cancellation, ModelError
from hvr.models.model import Answer, Layer, Model, Request, count_tokens

# Rate windows -------------------------------------------------------------------------------------
# What was sent within the last minute: counted by one process, or by all who share a file.

MINUTE_S = 60.0

_USE = "a count of what is sent"


@dataclass(frozen=True)
class PerMinute:
    """The most that may be sent within 60 seconds; None for no limit."""

    requests: int | None = None
    tokens: int | None = None

    def wait(self, sent: Sequence[tuple[float, int]], tokens: int, now: float) -> float:
        """Return the seconds until there may be room for a request; 0 if there is.

        Args:
            sent: when what was sent within the last minute, with how many tokens, oldest first.
            tokens: of the request.
            now: the time.
        """
        full = self.requests is not None and len(sent) >= self.requests
        if self.tokens is not None:
            full = full or sum(t for _, t in sent) + tokens > self.tokens
        # Until the oldest request leaves the window; that may not be enough, so the caller asks
        # again. Never 0, which would mean that there is room.
        return max(sent[0][0] + MINUTE_S - now, 1e-3) if full else 0.0

    def __str__(self) -> str:
        parts = ((self.requests, "requests"), (self.tokens, "tokens"))
        return " and ".join(f"{number} {what}" for number, what in parts if number is not None)


class Window(Protocol):
    """Counts what was sent."""

    def enter(self, rate: PerMinute, tokens: int) -> float:
        """Count a request and return 0, or return the seconds until there may be room for it."""
        ...


class OwnWindow:
    """What this process sent; threads may share it.

    Args:
        clock: seconds that pass.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._sent: deque[tuple[float, int]] = deque()

    def enter(self, rate: PerMinute, tokens: int) -> float:
        """See `Window`."""
        with self._lock:
            now = self._clock()
            while self._sent and self._sent[0][0] <= now - MINUTE_S:
                self._sent.popleft()
            wait = rate.wait(self._sent, tokens, now)
            if not wait:
                self._sent.append((now, tokens))
            return wait


class SharedWindow:
    """What all processes sent that share a file, on one machine or on several.

    Their clocks have to agree, to a second or so: nothing else tells them how old a request is.

    Args:
        path: an SQLite file; it is made when it is not there.
        model: whose requests they are; each model has a minute of its own.
        clock: seconds since the epoch.

    Raises:
        DataFileError: the file cannot be used.
    """

    def __init__(self, path: Path, model: str, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._model = model
        self._clock = clock
        with transaction(path, _USE) as database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS sent"
                " (model TEXT NOT NULL, at REAL NOT NULL, tokens INTEGER NOT NULL)"
            )

    def enter(self, rate: PerMinute, tokens: int) -> float:
        """See `Window`.

        Raises:
            DataFileError: the file cannot be used.
        """
        # What a machine sent before it lost its power is a minute old when it is back.
        with transaction(self._path, _USE, durable=False) as database:
            now = self._clock()
            # What a clock that is far ahead wrote would keep everybody waiting.
            database.execute(
                "DELETE FROM sent WHERE at <= ? OR at > ?", (now - MINUTE_S, now + MINUTE_S)
            )
            sent = database.execute(
                "SELECT at, tokens FROM sent WHERE model = ? ORDER BY at", (self._model,)
            ).fetchall()
            wait = rate.wait(sent, tokens, now)
            if not wait:
                database.execute("INSERT INTO sent VALUES (?, ?, ?)", (self._model, now, tokens))
            return wait


# Limits -------------------------------------------------------------------------------------------
# PerMinute limits: no more requests and tokens a minute than the provider allows.

_TOLD_S = 5.0
"""Seconds of a wait from which it is announced in the log."""

_log = logging.getLogger(__name__)


class RateLimit(Layer):
    """A model that waits until another request fits into the last minute.

    Threads may share it. A request counts with the estimate of its prompt and its `max_tokens`.

    Args:
        model: whom to ask.
        rate: the most within any 60 seconds.
        window: counts what was sent; what this object sends if None.
        cancel: ends a wait.
        sleep: waits for some seconds; by default it can be cancelled.
        clock: seconds that pass.
    """

    def __init__(
        self,
        model: Model,
        rate: PerMinute,
        *,
        window: Window | None = None,
        cancel: Cancellation | None = None,
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(model)
        self._rate = rate
        self._window = window or OwnWindow(clock)
        self._sleep = sleep or (cancel or Cancellation()).wait
        self._clock = clock

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            ModelError: the request alone is more than a minute allows, or there is no room for it
                in the time that it may take.
            LLMError: what the model raises.
            DataFileError: the file cannot be used that counts what was sent.
        """
        tokens = count_tokens(request.messages) + request.max_tokens
        most = self._rate.tokens
        if most is not None and tokens > most:
            raise ModelError(
                f"a prompt with its answer may take {tokens} tokens, more than the limit of "
                f"{most} a minute: raise the limit, or lower max_tokens",
                kind="request",
            )
        start = self._clock()
        # Nobody is kept out while one waits, so others with smaller requests may go first.
        while (wait := self._window.enter(self._rate, tokens)) > 0:
            waited = self._clock() - start
            if request.seconds is not None and waited + wait >= request.seconds:
                raise ModelError(
                    f"the limit of {self._rate} a minute has no room for another request "
                    f"within {request.seconds:.3g} s; raise the limit or the seconds for an answer",
                    kind="request",
                )
            if wait >= _TOLD_S:
                _log.info("waiting %.3g s for the limit of %s a minute", wait, self._rate)
            self._sleep(wait)
        if request.seconds is not None:
            request = replace(request, seconds=request.seconds - (self._clock() - start))
        return self._model.answer(request)
