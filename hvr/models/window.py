"""What was sent within the last minute: counted by one process, or by all who share a file."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hvr.models.ledger import transaction

MINUTE = 60.0

_USE = "a count of what is sent"


@dataclass(frozen=True)
class PerMinute:
    """The most that may be sent within 60 seconds; None for no limit.

    Args:
        requests: their number.
        tokens: of prompts and answers.
    """

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
        return max(sent[0][0] + MINUTE - now, 1e-3) if full else 0.0

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
            while self._sent and self._sent[0][0] <= now - MINUTE:
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
                "DELETE FROM sent WHERE at <= ? OR at > ?", (now - MINUTE, now + MINUTE)
            )
            sent = database.execute(
                "SELECT at, tokens FROM sent WHERE model = ? ORDER BY at", (self._model,)
            ).fetchall()
            wait = rate.wait(sent, tokens, now)
            if not wait:
                database.execute("INSERT INTO sent VALUES (?, ?, ?)", (self._model, now, tokens))
            return wait
