"""A hard budget, and the ledger of charges that several processes share."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from hvr.base.files import unwritable
from hvr.base.numbers import check_integer, check_real
from hvr.errors import BudgetError, DataFileError, LLMError, UsageError
from hvr.models.config import Price
from hvr.models.errors import used
from hvr.models.model import Answer, Layer, Model, Request, Totals, Usage, count_tokens

# Ledger -------------------------------------------------------------------------------------------
# What models were charged, in a file that several processes write.


@dataclass(frozen=True)
class Load:
    """Amounts that count against the limits."""

    calls: int = 0
    input: int = 0
    output: int = 0
    dollars: float = 0.0

    @property
    def tokens(self) -> int:
        """Those of prompts and answers together."""
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
    """What was charged, in a file that several processes write.

    Args:
        path: the file; it is made when it is not there.

    Raises:
        DataFileError: it cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        columns = ", ".join(f"{f.name} REAL NOT NULL" for f in fields(Load))
        with transaction(self._path) as database:
            database.execute(f"CREATE TABLE IF NOT EXISTS charged ({columns})")
            if database.execute("SELECT COUNT(*) FROM charged").fetchone()[0] == 0:
                database.execute("INSERT INTO charged VALUES (0, 0, 0, 0)")

    def change(self, update: Callable[[Load], Load]) -> None:
        """Replace what is charged; nobody else does so meanwhile.

        Raises:
            DataFileError: the file cannot be used.
        """
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
    """Change an SQLite file that others may change, too; all of it or nothing.

    Args:
        path: the file.
        use: what it is, for messages.
        durable: wait for the disk, so that it outlasts not only a killed process but a machine
            that loses its power.

    Raises:
        DataFileError: the file cannot be used.
    """
    try:
        # Writers wait for each other: a charge takes no time, so nobody waits long.
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
            if database.in_transaction:  # a full disk has ended it already
                database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
    except sqlite3.Error as error:
        raise unwritable(path, error, f"cannot be used as {use}") from error
    finally:
        database.close()


# Budget -------------------------------------------------------------------------------------------
# A hard budget: a request that could go past it is not sent.


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that may be used; None for no limit."""

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
    """An account of what was used against limits.

    Models, threads and, with a ledger, processes may share it.

    A request reserves what it could use at most. When the provider then says what it used,
    that is charged; when nobody knows (a time-out, a provider without counts), the reservation
    stays charged, so the limits hold in any case.

    Args:
        limits: what may be used at most.
        ledger: file of what was charged, which other processes may share and a later one may go
            on with; None for this object alone.

    Raises:
        DataFileError: the ledger cannot be used.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        ledger: Path | None = None,
        *,
        charged: Load | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._lock = threading.Lock()
        self._ledger = Ledger(ledger) if ledger is not None else None
        self._charged = charged or Load()
        self._totals = Totals()

    @property
    def totals(self) -> Totals:
        """The usage as far as it is known: tokens in, out, cached and reasoning apart."""
        with self._lock:
            return self._totals

    def to_json(self) -> dict[str, Any]:
        """Return limits and totals as plain JSON values."""
        limits = {f.name: getattr(self.limits, f.name) for f in fields(Limits)}
        return {"limits": limits, "used": self.totals.to_json()}

    def _reserve(self, load: Load) -> None:
        def reserved(charged: Load) -> Load:
            after = charged + load
            for field in fields(Limits):
                limit = getattr(self.limits, field.name)
                if limit is not None and getattr(after, field.name) > limit:
                    spent = getattr(charged, field.name)
                    raise BudgetError(
                        _refusal(field.name, limit, spent, load), field=f"max_{field.name}"
                    )
            return after

        # Checked and charged in one transaction: two requests may each fit where both do not.
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
    """A model that is asked only as long as the budget allows.

    Args:
        model: whom to ask.
        budget: the limits, with what is used of them.
        price: of the model; None when it is not known.
        count: tokens of messages; an estimate from above by default.

    Raises:
        UsageError: the budget is in dollars and the price is not known.
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
                f"a budget in dollars needs the price of {model.name}, which is not known: give "
                "it in [tool.hvr.llm.prices] of pyproject.toml, or limit tokens or calls instead"
            )
        super().__init__(model)
        self._budget = budget
        self._price = price
        self._count = count or (lambda request: count_tokens(request.messages))

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            BudgetError: the request could go past the budget; it was not sent.
            LLMError: what the model raises.
        """
        prompt = self._count(request)
        reserved = self._load(prompt, request.max_tokens)
        self._budget._reserve(reserved)
        try:
            answer = self._model.answer(request)
        except LLMError as error:
            usage = used(error)
            self._budget._settle(reserved, self._charge(usage, reserved), usage, failed=True)
            raise
        # An interrupt passes here: what was reserved stays charged, the provider may bill it.
        charged = self._charge(answer.usage, reserved)
        # The answer is paid for and must not be lost: if the ledger cannot be written, what was
        # reserved stays charged, which errs on the safe side.
        with suppress(DataFileError):
            self._budget._settle(reserved, charged, answer.usage, failed=False)
        return answer

    def _load(self, prompt: int, answer: int) -> Load:
        dollars = self._price.at_most(prompt, answer) if self._price else 0.0
        return Load(1, prompt, answer, dollars)

    def _charge(self, usage: Usage, reserved: Load) -> Load:
        """Return the load to charge: what was used where it is known, else what was reserved."""
        # Reasoning is billed as output.
        prompt = reserved.input if usage.input is None else usage.input
        answer = reserved.output if usage.output is None else usage.output + (usage.reasoning or 0)
        known = self._load(prompt, answer)
        if usage.cost is None or self._price is None:
            return known
        return Load(1, prompt, answer, usage.cost)


def _refusal(name: str, limit: float, spent: float, load: Load) -> str:
    wanted = getattr(load, name)
    unit = {"calls": "calls", "dollars": "US dollars"}.get(name, f"{name} tokens")
    unit = "tokens" if name == "tokens" else unit
    raised = f"max_{name}" + (", or the setting calls-per-plan," if name == "calls" else "")
    return (
        f"the budget of {limit:g} {unit} does not allow another request: {spent:.6g} are used, "
        f"the request may take {wanted:.6g}; nothing was sent ({raised} allows more)"
    )
