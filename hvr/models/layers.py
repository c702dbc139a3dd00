"""Layers around a model: guard, cache, retries, and a meter of calls and usage."""

from __future__ import annotations

import json
import logging
import random
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from hvr.base.files import unwritable
from hvr.base.texts import parse_json
from hvr.errors import BudgetError, DataFileError, LLMError
from hvr.models import recording, replies
from hvr.models.config import ModelOptions
from hvr.models.errors import NO_USAGE, Kind, ModelError, kind_of, used
from hvr.models.limits import transaction
from hvr.models.model import (
    Answer,
    Layer,
    Model,
    ModelToolCall,
    Request,
    Totals,
    Usage,
    add_usages,
    answer_all,
    outcome_of,
)
from hvr.models.transport import Failures
from hvr.values import JsonObject

# Guard --------------------------------------------------------------------------------------------


class Guarded(Layer):
    """A layer that redacts secrets and rejects unusable answers.

    It wraps the model directly, so a key echoed by a server never reaches a cache, transcript or
    plan.
    """

    def __init__(self, model: Model, options: ModelOptions) -> None:
        super().__init__(model)
        self._options = options

    def __repr__(self) -> str:
        return repr(self._model)

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            LLMError: The model's own error, with secrets redacted, or an error of kind `refused`
                (the answer is withheld), `empty` or `schema` (it is unusable).
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
            calls=tuple(ModelToolCall(**scrubber.value(asdict(call))) for call in answer.calls),
            model=scrubber.text(answer.model),
        )
        if clean.finish == "filter":
            failures = Failures(self.name, self._options)
            raise failures.filtered("no reason is given", clean.usage, clean.text)
        return clean if clean.data is not None else replies.checked(clean, request)


# Cache --------------------------------------------------------------------------------------------

_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    model TEXT NOT NULL, digest TEXT NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (model, digest)
) WITHOUT ROWID
"""
_PATIENCE_S = 30.0
"""Seconds to wait for another process that writes to the file."""


class Cache(Layer):
    """A layer that stores complete answers in an SQLite file, so no prompt is paid for twice.

    Several processes may share the file. If two send the same prompt at once, both pay, and the
    first answer is kept. The file contains only digests of the prompts.

    Args:
        path: SQLite file; created if missing.
        scope: Text that distinguishes models of the same name, such as the server's base URL.
    """

    def __init__(self, model: Model, path: Path, scope: str = "") -> None:
        super().__init__(model)
        self._path = path
        self._key = f"{model.name} {scope}".strip()
        # not in WAL mode, which does not work across machines
        with transaction(path, "a cache of answers") as base:
            base.execute(_TABLE)

    def answer(self, request: Request) -> Answer:
        """See `Model`. A cached answer costs nothing and reports no usage."""
        key = recording.digest(recording.request_json(request))
        with self._open() as base:
            row = base.execute(
                "SELECT answer FROM answers WHERE model = ? AND digest = ?", (self._key, key)
            ).fetchone()
        if row is not None:
            return Answer(**self._read(row[0]), usage=NO_USAGE, source="cache")
        answer = self._model.answer(request)
        if answer.finish == "stop":
            kept = {"text": answer.text, "data": answer.data, "model": answer.model}
            if answer.calls:
                kept["calls"] = [asdict(call) for call in answer.calls]
            with self._open() as base:
                base.execute(
                    "INSERT OR IGNORE INTO answers VALUES (?, ?, ?)",
                    (self._key, key, json.dumps(kept)),
                )
        return answer

    def _read(self, text: str) -> dict[str, Any]:
        try:
            value = parse_json(text, strict=False)
            calls = tuple(ModelToolCall(**call) for call in value.get("calls", ()))
            known = {name: value[name] for name in ("text", "data", "model")}
            return {**known, "calls": calls}
        except (ValueError, TypeError, KeyError):
            raise DataFileError(
                f"{self._path}: the cache of answers is corrupt; delete the file"
            ) from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # SQLite connections are bound to a thread, and opening one is cheap compared with an
        # answer.
        try:
            with closing(sqlite3.connect(self._path, timeout=_PATIENCE_S)) as base, base:
                yield base
        except sqlite3.Error as error:
            raise unwritable(self._path, error, "cannot be used as a cache of answers") from None


# Retry --------------------------------------------------------------------------------------------

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

_TRANSIENT: frozenset[Kind] = frozenset({"timeout", "connection", "rate", "server", "garbled"})
"""Kinds of errors that may be transient."""

_UNUSABLE: frozenset[Kind] = frozenset({"empty", "schema"})
"""Kinds of errors in the answer itself: waiting does not help, and each answer is billed."""

_TRANSIENT_STATUS = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses of final server errors, such as 501 (not implemented)."""


@dataclass(frozen=True, kw_only=True)
class RetryLimits:
    """Limits on the retries of a request.

    Args:
        attempts: Maximum number of requests, including the first.
        seconds: Maximum total wall time of all requests and waits, in seconds; both are shortened
            to fit.
        first: First wait in seconds; each later wait is twice as long.
        longest: Maximum wait in seconds, unless the server asks for more.
        again: Number of retries after an empty answer or broken JSON.
    """

    attempts: int = 5
    seconds: float = 300.0
    first: float = 0.5
    longest: float = 30.0
    again: int = 1


class RetryPolicy:
    """Retries requests after errors that may be transient.

    These are timeouts, lost connections, garbled replies and the statuses 408, 429, 500, 502, 503
    and 504. Waits double each time and are shortened by up to half at random, so that many clients
    do not return at once; the server's Retry-After is honoured. An empty answer and broken JSON are
    retried once. Everything else, such as a wrong key or an unknown model, is final. Each retry is
    logged.
    """

    def __init__(
        self,
        limits: RetryLimits | None = None,
        *,
        seed: int = 0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits or RetryLimits()
        self._random = random.Random(seed)
        self._sleep = sleep
        self._clock = clock

    def ask(self, question: Callable[[float], _T], discarded: list[Usage] | None = None) -> _T:
        """Return the result of a question, retrying after transient errors.

        Args:
            question: Function that sends the request, given the remaining seconds.
            discarded: List that collects the usage of discarded answers.

        Raises:
            ModelError: The last error, with the number of attempts.
            BudgetError: The budget does not allow another attempt.
        """
        start = self._clock()
        discarded = [] if discarded is None else discarded
        unusable = 0
        for attempt in range(1, self._limits.attempts + 1):
            try:
                return question(self._limits.seconds - (self._clock() - start))
            except ModelError as error:
                # Only an answer that arrived has known tokens; a timeout leaves the usage unknown.
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
                    self._limits.attempts,
                )
            self._sleep(wait)
        raise AssertionError("no wait follows the last attempt")

    def _wait(self, error: ModelError, attempt: int, unusable: int, elapsed: float) -> float | None:
        limits = self._limits
        if attempt >= limits.attempts:
            return None
        if error.kind in _UNUSABLE:
            return 0.0 if unusable <= limits.again and elapsed < limits.seconds else None
        if not _is_transient(error):
            return None
        backoff = min(limits.first * 2 ** (attempt - 1), limits.longest)
        # The server's Retry-After is neither shortened at random nor capped at `longest`.
        wait = max(backoff * self._random.uniform(0.5, 1.0), error.retry_after or 0.0)
        return wait if elapsed + wait < limits.seconds else None

    def _final(self, error: ModelError, attempts: int, discarded: list[Usage]) -> ModelError:
        usage = add_usages(discarded) if discarded else error.usage
        tried = f" (tried {attempts} times)" if attempts > 1 else ""
        limits = self._limits
        if attempts < limits.attempts and _is_transient(error):
            hint = f", the server asks to wait {error.retry_after:g} s" if error.retry_after else ""
            tried = (
                f" (tried {attempts} time{'s' if attempts > 1 else ''}{hint}; the next attempt "
                f"would exceed {limits.seconds:g} s in total)"
            )
        # Keep the kind and status, so that callers handle the error like the original.
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
    """A layer that retries after transient errors and counts the usage of discarded answers."""

    def __init__(self, model: Model, policy: RetryPolicy | None = None) -> None:
        super().__init__(model)
        self._policy = policy or RetryPolicy()

    def answer(self, request: Request) -> Answer:
        discarded: list[Usage] = []
        answer = self._policy.ask(
            lambda seconds: self._model.answer(replace(request, seconds=seconds)), discarded
        )
        usage = add_usages([*discarded, answer.usage]) if discarded else answer.usage
        return replace(answer, usage=usage)


def _is_transient(error: ModelError) -> bool:
    if error.status is not None and error.kind == kind_of(error.status):
        return error.status in _TRANSIENT_STATUS
    return error.kind in _TRANSIENT


# Meter --------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MeteredUse(JsonObject):
    """Number of calls of a model and their total usage; unknown values are None, never 0.

    Args:
        calls: Number of calls of the model, including failed ones.
        cached_calls: Number of answers from hvr's own cache.
        input: Number of prompt tokens, including those that the provider had cached.
        output: Number of answer tokens, without reasoning.
        cached: Number of prompt tokens found in the provider's cache.
        reasoning: Number of reasoning tokens.
        cost: Cost in US dollars.
        seconds: Wall time in seconds, if measured.
    """

    calls: int = 0
    cached_calls: int = 0
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    cost: float | None = None
    seconds: float | None = None

    json_shape = "*"


class Meter(Layer):
    """A layer that counts calls and usage; answers from hvr's cache are counted separately.

    Args:
        aside: Function that returns the usage of earlier attempts that is not in the run's
            transcript.
    """

    def __init__(self, model: Model, aside: Callable[[], Totals] = Totals) -> None:
        super().__init__(model)
        self._aside = aside
        self.totals = Totals()
        self.cached_calls = 0

    def answer(self, request: Request) -> Answer:
        outcome = outcome_of(self._model, request)
        self._count(outcome)
        if isinstance(outcome, LLMError):
            raise outcome
        return outcome

    def answer_all(self, requests: Sequence[Request]) -> list[Answer | LLMError]:
        outcomes = answer_all(self._model, requests)
        for outcome in outcomes:
            self._count(outcome)
        return outcomes

    def _count(self, outcome: Answer | LLMError) -> None:
        if isinstance(outcome, BudgetError):
            return  # nothing was sent
        if isinstance(outcome, LLMError):
            self.totals = self.totals.plus(used(outcome), failed=True)
        elif outcome.source == "cache":
            self.cached_calls += 1
        else:
            self.totals = self.totals.plus(outcome.usage)

    def spent(self, seconds: float | None = None) -> MeteredUse:
        """Return the usage and the wall time so far; a total is None if a part of it is unknown."""
        totals = self.totals + self._aside()
        return MeteredUse(
            calls=totals.calls,
            cached_calls=self.cached_calls,
            input=totals.input.whole,
            output=totals.output.whole,
            cached=totals.cached.whole,
            reasoning=totals.reasoning.whole,
            cost=totals.cost.value,
            seconds=seconds,
        )


# Progress notices ---------------------------------------------------------------------------------
# The loggers of `hvr.models` report retries (as warnings), and waits and long silences (as info).
# Recorded runs omit these reports, because every replay must be identical.

_LOG = "hvr.models"


@contextmanager
def notices(*, quiet: bool = False) -> Iterator[None]:
    """Show notices on standard error, one per line, in this context; hide them if `quiet`."""
    log = logging.getLogger(_LOG)
    level, propagate = log.level, log.propagate
    handler = _add(logging.NullHandler() if quiet else _Lines())
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagate


def show_notices_of_worker() -> None:
    """Print a worker's notices on standard error, over the line of the parent's progress bar."""
    _add(_Lines(before="\r\x1b[2K"))


def _add(handler: logging.Handler) -> logging.Handler:
    log = logging.getLogger(_LOG)
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    return handler


class _Lines(logging.Handler):
    def __init__(self, before: str = "") -> None:
        super().__init__()
        self._before = before

    def emit(self, record: logging.LogRecord) -> None:
        # Text from a server may contain terminal control characters.
        text = "".join(c if c.isprintable() else "\ufffd" for c in self.format(record))
        with suppress(OSError, ValueError):  # no one reads it
            before = self._before if sys.stderr.isatty() else ""
            print(f"{before}{text}", file=sys.stderr, flush=True)
