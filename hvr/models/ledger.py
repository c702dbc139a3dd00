"""What models were charged, in a file that several processes write."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from hvr.base.files import unwritable


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
