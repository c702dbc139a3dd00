"""Limits on the use of models: budgets with a shared ledger, and rate limits per minute."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any, Protocol

from hvr.base.files import unwritable
from hvr.base.texts import check_integer, check_real
from hvr.errors import BudgetError, DataFileError, LLMError, UsageError
from hvr.models.config import Price
from hvr.models.errors import ModelError, used
from hvr.models.model import Answer, Layer, Model, Request, Totals, Usage, request_tokens

# Ledger -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """Usage that counts against limits: numbers of requests and tokens, and US dollars."""

    calls: int = 0
    input: int = 0
    output: int = 0
    dollars: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input + self.output

    def __add__(self, other: Load) -> Load:
        return Load(
            self.calls + other.calls,
            self.input + other.input,
            self.output + other.output,
            self.dollars + other.dollars,
        )

    def __sub__(self, other: Load) -> Load:
        return self + Load(-other.calls, -other.input, -other.output, -other.dollars)


class Ledger:
    """An SQLite file of charges that several processes may share."""

    def __init__(self, path: Path) -> None:
        self._path = path
        columns = ", ".join(f"{f.name} REAL NOT NULL" for f in fields(Load))
        with transaction(self._path) as database:
            database.execute(f"CREATE TABLE IF NOT EXISTS charged ({columns})")
            if database.execute("SELECT COUNT(*) FROM charged").fetchone()[0] == 0:
                database.execute("INSERT INTO charged VALUES (0, 0, 0, 0)")

    def change(self, update: Callable[[Load], Load]) -> None:
        """Atomically replace the charges with the result of `update`."""
        with transaction(self._path) as database:
            calls, prompt, answer, dollars = database.execute("SELECT * FROM charged").fetchone()
            after = update(Load(int(calls), int(prompt), int(answer), dollars))
            database.execute(
                "UPDATE charged SET calls = ?, input = ?, output = ?, dollars = ?", astuple(after)
            )


@contextmanager
def transaction(
    path: Path, use: str = "a ledger", *, durable: bool = True
) -> Iterator[sqlite3.Connection]:
    """Open an SQLite file for one atomic change, which survives a power failure if `durable`.

    An exception inside the context undoes the change. `use` names the file's purpose in errors.

    Raises:
        DataFileError: The file cannot be opened or written.
    """
    try:
        # Writers wait for each other, but a charge takes almost no time.
        database = sqlite3.connect(path, timeout=60.0, isolation_level=None)
    except sqlite3.Error as error:
        raise unwritable(path, error, f"cannot be used as {use}") from error
    try:
        if not durable:
            database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
        except BaseException:
            if database.in_transaction:  # a full disk has rolled it back
                database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
    except sqlite3.Error as error:
        raise unwritable(path, error, f"cannot be used as {use}") from error
    finally:
        database.close()


# Budget -------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Maximum usage of a model; None for no limit. `tokens` limits input plus output."""

    calls: int | None = None
    input: int | None = None
    output: int | None = None
    tokens: int | None = None
    dollars: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            if field.name == "dollars":
                check_real(field.name, value)
            else:
                check_integer(field.name, value)


class Budget:
    """A running total of usage that refuses requests that might exceed the limits.

    Models and threads may share a budget, and processes too if it has a ledger. Each request first
    reserves the maximum that it may use; the usage that the provider reports then replaces the
    reservation. If nothing is reported (after a timeout, or by a provider without counts), the
    reservation stays charged, so the limits always hold.

    Args:
        ledger: File of charges that other processes may share and continue; None to count in memory
            only.
        charged: Initial charges, if there is no ledger.
        refusal: Class of the error to raise when a request is refused.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        ledger: Path | None = None,
        *,
        charged: Load | None = None,
        refusal: type[BudgetError] = BudgetError,
    ) -> None:
        self.limits = limits or Limits()
        self._refusal = refusal
        self._lock = threading.Lock()
        self._ledger = Ledger(ledger) if ledger is not None else None
        self._charged = charged or Load()
        self._totals = Totals()

    @property
    def totals(self) -> Totals:
        with self._lock:
            return self._totals

    def to_json(self) -> dict[str, Any]:
        limits = {f.name: getattr(self.limits, f.name) for f in fields(Limits)}
        return {"limits": limits, "used": self.totals.to_json()}

    def _reserve(self, load: Load) -> None:
        def reserved(charged: Load) -> Load:
            after = charged + load
            for field in fields(Limits):
                limit = getattr(self.limits, field.name)
                if limit is not None and getattr(after, field.name) > limit:
                    spent = getattr(charged, field.name)
                    raise self._refusal(
                        _refusal(field.name, limit, spent, load), field=f"max_{field.name}"
                    )
            return after

        # Check and charge in one transaction: two requests that fit separately may not fit
        # together.
        self._change(reserved)

    def _settle(self, reserved: Load, charged: Load, usage: Usage, failed: bool) -> None:
        self._change(lambda before: before - reserved + charged)
        with self._lock:
            self._totals = self._totals.plus(usage, failed=failed)

    def _change(self, update: Callable[[Load], Load]) -> None:
        with self._lock:
            if self._ledger is None:
                self._charged = update(self._charged)
            else:
                self._ledger.change(update)


class Budgeted(Layer):
    """A layer that sends a request only if the budget allows it.

    Args:
        price: Price of the model, if known.
        count: Function that returns the number of prompt tokens of a request; by default an upper
            estimate.

    Raises:
        UsageError: The budget is in dollars, but the model's price is unknown.
    """

    def __init__(
        self,
        model: Model,
        budget: Budget,
        price: Price | None = None,
        *,
        count: Callable[[Request], int] | None = None,
    ) -> None:
        if budget.limits.dollars is not None and price is None:
            raise UsageError(
                f"a budget in dollars needs the price of {model.name}, which is unknown: set "
                "it in [tool.hvr.llm.prices] of pyproject.toml, or limit tokens or calls instead"
            )
        super().__init__(model)
        self._budget = budget
        self._price = price
        self._count = count or request_tokens

    def answer(self, request: Request) -> Answer:
        """See `Model`. Refuse a request that might exceed the budget with a `BudgetError`."""
        prompt = self._count(request)
        reserved = self._load(prompt, request.max_tokens)
        self._budget._reserve(reserved)
        try:
            answer = self._model.answer(request)
        except LLMError as error:
            usage = used(error)
            self._budget._settle(reserved, self._charge(usage, reserved), usage, failed=True)
            raise
        # After an interrupt the reservation stays charged, since the provider may bill the request.
        charged = self._charge(answer.usage, reserved)
        # The answer is paid for and must not be lost. If the ledger cannot be written, the
        # reservation stays charged, which errs on the safe side.
        with suppress(DataFileError):
            self._budget._settle(reserved, charged, answer.usage, failed=False)
        return answer

    def _load(self, prompt: int, answer: int) -> Load:
        dollars = self._price.at_most(prompt, answer) if self._price else 0.0
        return Load(1, prompt, answer, dollars)

    def _charge(self, usage: Usage, reserved: Load) -> Load:
        # Reasoning is billed as output.
        prompt = reserved.input if usage.input is None else usage.input
        answer = reserved.output if usage.output is None else usage.output + (usage.reasoning or 0)
        known = self._load(prompt, answer)
        if usage.cost is None or self._price is None:
            return known
        return Load(1, prompt, answer, usage.cost)


def _refusal(name: str, limit: float, spent: float, load: Load) -> str:
    needed = getattr(load, name)
    units = {"calls": "call", "dollars": "US dollar", "tokens": "token"}
    unit = units.get(name, f"{name} token") + ("" if limit == 1 else "s")
    raised = f"max_{name}" + (" or the setting calls-per-plan" if name == "calls" else "")
    return (
        f"the budget of {limit:g} {unit} does not allow another request: {spent:.6g} used, "
        f"up to {needed:.6g} needed; nothing was sent; to allow more, raise {raised}"
    )


# Rate limits --------------------------------------------------------------------------------------

MINUTE_S = 60.0

_USE = "a record of requests per minute"


@dataclass(frozen=True)
class PerMinute:
    """Maximum number of requests and tokens within any 60 seconds; None for no limit."""

    requests: int | None = None
    tokens: int | None = None

    def wait(self, sent: Sequence[tuple[float, int]], tokens: int, now: float) -> float:
        """Return the seconds to wait before a request of `tokens` tokens can fit; 0 if it fits now.

        Args:
            sent: Time and token count of each request in the last minute, oldest first.
            now: Current time, on the clock of `sent`.
        """
        full = self.requests is not None and len(sent) >= self.requests
        if self.tokens is not None:
            full = full or sum(t for _, t in sent) + tokens > self.tokens
        # The oldest request must leave the window. If that is not enough, the caller asks again. A
        # result of 0 would mean that the request fits.
        return max(sent[0][0] + MINUTE_S - now, 1e-3) if full else 0.0

    def __str__(self) -> str:
        parts = ((self.requests, "requests"), (self.tokens, "tokens"))
        return " and ".join(
            f"{n} {what[: -1 if n == 1 else None]}" for n, what in parts if n is not None
        )


class Window(Protocol):
    """A record of the requests of the last minute."""

    def enter(self, rate: PerMinute, tokens: int) -> float:
        """Record a request that fits the rate and return 0, or return the seconds to wait."""
        ...


class OwnWindow:
    """A window for this process, which its threads may share."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._sent: deque[tuple[float, int]] = deque()

    def enter(self, rate: PerMinute, tokens: int) -> float:
        with self._lock:
            now = self._clock()
            while self._sent and self._sent[0][0] <= now - MINUTE_S:
                self._sent.popleft()
            wait = rate.wait(self._sent, tokens, now)
            if not wait:
                self._sent.append((now, tokens))
            return wait


class SharedWindow:
    """A window in a file, shared by processes, even on several machines; each model has its own.

    The file records wall-clock times, so the machines' clocks must agree to about a second.
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
        # Not durable: after a power failure, the earlier requests are older than a minute anyway.
        with transaction(self._path, _USE, durable=False) as database:
            now = self._clock()
            # Entries from a clock that is far ahead would block everyone.
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


_LOGGED_WAIT_S = 5.0
"""Waits of at least this many seconds are logged."""

_log = logging.getLogger(__name__)


class RateLimit(Layer):
    """A layer that delays requests to stay within a rate; threads may share it.

    A request counts as the estimated tokens of its prompt plus its `max_tokens`.
    """

    def __init__(
        self,
        model: Model,
        rate: PerMinute,
        *,
        window: Window | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(model)
        self._rate = rate
        self._window = window or OwnWindow(clock)
        self._sleep = sleep
        self._clock = clock

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            ModelError: The request alone exceeds the rate limit, or its turn would come after its
                time limit.
        """
        tokens = request_tokens(request) + request.max_tokens
        limit = self._rate.tokens
        if limit is not None and tokens > limit:
            raise ModelError(
                f"a prompt with its answer may take {tokens} tokens, more than the limit of "
                f"{limit} a minute: raise the limit, or lower max_tokens",
                kind="request",
            )
        start = self._clock()
        # Waiting holds no lock, so smaller requests may overtake this one.
        while (wait := self._window.enter(self._rate, tokens)) > 0:
            waited = self._clock() - start
            if request.seconds is not None and waited + wait >= request.seconds:
                raise ModelError(
                    f"the limit of {self._rate} a minute has no room for another request "
                    f"within {request.seconds:.3g} s; raise the limit or the timeout",
                    kind="request",
                )
            if wait >= _LOGGED_WAIT_S:
                _log.info("waiting %.3g s for the limit of %s a minute", wait, self._rate)
            self._sleep(wait)
        if request.seconds is not None:
            request = replace(request, seconds=request.seconds - (self._clock() - start))
        return self._model.answer(request)
