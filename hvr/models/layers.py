"""Layers around a model: the guard of its answers, the cache on disk, retries."""

from __future__ import annotations

import json
import logging
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from hvr.base.files import unwritable
from hvr.base.texts import parse_json
from hvr.errors import DataFileError, LLMError
from hvr.models import replies, transcript, transport
from hvr.models.config import ModelOptions
from hvr.models.errors import NO_USAGE, Cancellation, Kind, ModelError, kind_of, used
from hvr.models.limits import transaction
from hvr.models.model import Answer, Layer, Model, Request, Usage, add_usages

# Reply filter -------------------------------------------------------------------------------------
# A guard around a model of whatever provider: what gets in is clean and can be used.


class Guarded(Layer):
    """A model without keys in its answers and errors, and without answers that are none.

    It stands next to the model, so that nothing else ever sees a key that a server repeats: no
    cache, no transcript, no plan.

    Args:
        model: whom to ask.
        options: how it is reached; they know the keys.
    """

    def __init__(self, model: Model, options: ModelOptions) -> None:
        super().__init__(model)
        self._options = options

    def __repr__(self) -> str:
        return repr(self._model)

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            LLMError: what the model raises, without keys; of kind `refused` when the answer is
                withheld; of kind `empty` or `replies` when it cannot be used.
        """
        scrubber = self._options.scrubber
        try:
            answer = self._model.answer(request)
        except LLMError as error:
            error.args = (scrubber.text(str(error)),)
            raise
        clean = replace(
            answer,
            text=scrubber.text(answer.text),
            data=scrubber.value(answer.data),
            model=scrubber.text(answer.model),
        )
        if clean.finish == "filter":
            raise transport.filtered_answer(
                self.name, self._options, "no reason is given", clean.usage, clean.text
            )
        return clean if clean.data is not None else replies.checked(clean, request)


# Cache --------------------------------------------------------------------------------------------
# A cache on disk: no identical prompt is paid for twice.

_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    model TEXT NOT NULL, digest TEXT NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (model, digest)
) WITHOUT ROWID
"""
_PATIENCE_S = 30.0
"""Seconds to wait for another process that writes to the file."""


class Cache(Layer):
    """A model that remembers complete answers in an SQLite file, none cut off or withheld.

    Several processes may share the file. Of two that ask the same at the same time both pay;
    the first answer is kept. The prompts are not in the file, only their digests.

    Args:
        model: whom to ask for what is not there.
        path: the file; it is made when it is missing.
        scope: what else tells models apart, such as the address of the server.

    Raises:
        DataFileError: the file cannot be used.
    """

    def __init__(self, model: Model, path: Path, scope: str = "") -> None:
        super().__init__(model)
        self._path = path
        self._key = f"{model.name} {scope}".strip()
        # Not in the mode WAL, which processes of several machines cannot share.
        with transaction(path, "a cache of answers") as base:
            base.execute(_TABLE)

    def answer(self, request: Request) -> Answer:
        """See `Model`; a remembered answer used nothing and costs nothing.

        Raises:
            LLMError: what the model raises.
            DataFileError: the file cannot be used.
        """
        key = transcript.digest(transcript.request_json(request))
        with self._open() as base:
            row = base.execute(
                "SELECT answer FROM answers WHERE model = ? AND digest = ?", (self._key, key)
            ).fetchone()
        if row is not None:
            return Answer(**self._read(row[0]), usage=NO_USAGE, source="cache")
        answer = self._model.answer(request)
        if answer.finish == "stop":
            kept = {"text": answer.text, "data": answer.data, "model": answer.model}
            with self._open() as base:
                base.execute(
                    "INSERT OR IGNORE INTO answers VALUES (?, ?, ?)",
                    (self._key, key, json.dumps(kept)),
                )
        return answer

    def _read(self, text: str) -> dict[str, Any]:
        try:
            value = parse_json(text, strict=False)
            return {"text": value["text"], "data": value["data"], "model": value["model"]}
        except (ValueError, TypeError, KeyError):
            raise DataFileError(
                f"{self._path}: the cache of answers is corrupt; delete the file"
            ) from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # A connection belongs to a thread; opening one costs next to nothing beside an answer.
        try:
            with closing(sqlite3.connect(self._path, timeout=_PATIENCE_S)) as base, base:
                yield base
        except sqlite3.Error as error:
            raise unwritable(self._path, error, "cannot be used as a cache of answers") from None


# Retry --------------------------------------------------------------------------------------------
# Retries: asking again when it makes sense, and saying clearly when it does not.

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

_PASSING: frozenset[Kind] = frozenset({"timeout", "connection", "rate", "server", "garbled"})
"""Errors that may pass with time."""

_UNUSABLE: frozenset[Kind] = frozenset({"empty", "schema"})
"""Errors of the answer: waiting changes nothing, and each was paid for."""

_PASSING_STATUS = frozenset({408, 429, 500, 502, 503, 504})
"""Of the server's errors not all: 501 (not implemented) stays."""


@dataclass(frozen=True, kw_only=True)
class RetryLimits:
    """The limits of retrying.

    Args:
        attempts: requests at most, the first one included.
        seconds: wall time for all of them and the waits between; nothing goes past it, neither a
            wait nor a request that is under way.
        first: seconds of the first wait; each next one is twice as long.
        longest: seconds of a wait at most, unless the server asks for more.
        again: how often an empty answer or broken JSON is asked for again.
    """

    attempts: int = 5
    seconds: float = 300.0
    first: float = 0.5
    longest: float = 30.0
    again: int = 1


class RetryPolicy:
    """Asks again after errors that may pass.

    Asked again: time-outs, lost connections, garbled replies, status 408, 429, 500, 502, 503
    and 504, with waits that double, each shortened by up to half at random (so that many
    clients do not come back at once); the server's Retry-After is obeyed. An empty answer and
    broken JSON are asked for again once. Everything else, such as a wrong key or an unknown
    model, is final. Each further attempt is announced in the log.

    Args:
        patience: how often and how long.
        cancel: looked at before each call and while waiting.
        seed: of the random part of the waits.
        sleep: waits for some seconds; by default it can be cancelled.
        clock: seconds that pass.
    """

    def __init__(
        self,
        patience: RetryLimits | None = None,
        *,
        cancel: Cancellation | None = None,
        seed: int = 0,
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._patience = patience or RetryLimits()
        self._cancel = cancel or Cancellation()
        self._random = random.Random(seed)
        self._sleep = sleep or self._cancel.wait
        self._clock = clock

    def ask(self, question: Callable[[float], _T], discarded: list[Usage] | None = None) -> _T:
        """Return what a question brings; it is told how many seconds are left.

        Args:
            question: asks once.
            discarded: takes what answers used that came and were discarded.

        Raises:
            ModelError: the last error, with how often and how long was tried.
            CancelledError: cancelled before a call or while waiting.
            BudgetError: the budget does not allow another attempt.
        """
        start = self._clock()
        discarded = [] if discarded is None else discarded
        unusable = 0
        for attempt in range(1, self._patience.attempts + 1):
            self._cancel.check()
            try:
                return question(self._patience.seconds - (self._clock() - start))
            except ModelError as error:
                # Only answers that came have tokens to add; what a time-out used nobody knows.
                if error.kind in _UNUSABLE:
                    unusable += 1
                    discarded.append(used(error))
                wait = self._wait(error, attempt, unusable, self._clock() - start)
                if wait is None:
                    raise self._final(error, attempt, discarded) from None
                _log.warning(
                    "%s; asking again%s, attempt %d of %d",
                    error,
                    f" in {wait:.3g} s" if wait else "",
                    attempt + 1,
                    self._patience.attempts,
                )
            self._sleep(wait)
        raise AssertionError("the last attempt has no wait")

    def _wait(self, error: ModelError, attempt: int, unusable: int, elapsed: float) -> float | None:
        """Return seconds to wait before the next attempt; None when there is to be none."""
        patience = self._patience
        if attempt >= patience.attempts:
            return None
        if error.kind in _UNUSABLE:
            return 0.0 if unusable <= patience.again and elapsed < patience.seconds else None
        if not _passing(error):
            return None
        backoff = min(patience.first * 2 ** (attempt - 1), patience.longest)
        # The server's wish is not shortened by chance, nor cut at `longest`.
        wait = max(backoff * self._random.uniform(0.5, 1.0), error.retry_after or 0.0)
        return wait if elapsed + wait < patience.seconds else None

    def _final(self, error: ModelError, attempts: int, discarded: list[Usage]) -> ModelError:
        """Return the last error with the number of attempts, and why there is no further one."""
        usage = add_usages(discarded) if discarded else error.usage
        tried = f" (tried {attempts} times)" if attempts > 1 else ""
        patience = self._patience
        if attempts < patience.attempts and _passing(error):
            wanted = (
                f", the server asks to wait {error.retry_after:g} s" if error.retry_after else ""
            )
            tried = (
                f" (tried {attempts} time{'s' if attempts > 1 else ''}{wanted}; the next try "
                f"would go past {patience.seconds:g} s in all)"
            )
        # Another kind of the same error would be another error: only the text grows.
        if not tried:
            error.usage = usage
            return error
        return ModelError(
            f"{error}{tried}",
            kind=error.kind,
            status=error.status,
            retry_after=error.retry_after,
            usage=usage,
        )


class Retry(Layer):
    """A model that is asked again after errors that may pass: see `RetryPolicy`.

    The tokens of discarded answers are added to the usage of the last one.
    """

    def __init__(self, model: Model, persistence: RetryPolicy | None = None) -> None:
        super().__init__(model)
        self._persistence = persistence or RetryPolicy()

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            ModelError: the last error, with how often and how long was tried.
            CancelledError: cancelled before a call or while waiting.
            BudgetError: the budget does not allow another attempt.
        """
        discarded: list[Usage] = []
        answer = self._persistence.ask(
            lambda seconds: self._model.answer(replace(request, seconds=seconds)), discarded
        )
        usage = add_usages([*discarded, answer.usage]) if discarded else answer.usage
        return replace(answer, usage=usage)


def _passing(error: ModelError) -> bool:
    if error.status is not None and error.kind == kind_of(error.status):
        return error.status in _PASSING_STATUS
    return error.kind in _PASSING
