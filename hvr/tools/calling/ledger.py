"""The ledger of calls that may write.

Each call is recorded before it is made and closed after it, so a killed process leaves an open
entry that shows what may have been done. The file is append-only: one JSON object per line, flushed
to disk.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from hvr.base.files import append_json_line
from hvr.base.locks import exclusive_writer
from hvr.base.secrets import without_keys
from hvr.errors import DataFileError
from hvr.tools.calling.calls import (
    CallFailure,
    CallOutcome,
    Json,
    Place,
    Source,
    ToolCall,
    sources_json,
)
from hvr.tools.calling.log import error_text, redacted
from hvr.values import JsonObject

_NOT_DONE = frozenset({CallFailure.REFUSED, CallFailure.BAD_ARGUMENTS, CallFailure.UNKNOWN_TOOL})
"""Failures that guarantee that nothing was done; after any other, the call may have been done."""


class CallState(StrEnum):
    """The known state of a call that may write."""

    OPEN = "open"
    """The call began but its end is not recorded: its process was killed or is still running."""
    DONE = "done"
    NOT_DONE = "not done"
    UNCERTAIN = "uncertain"
    """The call failed in a way that leaves open whether it was done."""


@dataclass(frozen=True)
class LedgerEntry(JsonObject):
    """A call in the ledger.

    Args:
        key: Idempotency key, derived from tool and arguments.
        arguments: Arguments with secrets redacted.
        time: Start of the call, in ISO 8601.
        error: Error message of the tool, if it failed.
    """

    id: str
    key: str
    tool: str
    arguments: Mapping[str, Json]
    request: str
    time: str
    state: CallState = CallState.OPEN
    error: str = ""

    json_shape = "tool arguments request time state error"

    @property
    def unclear(self) -> bool:
        """Whether the call may have been done but is not known to be."""
        return self.state in (CallState.OPEN, CallState.UNCERTAIN)


class CallLedger:
    """The calls that may write, in a file or only in memory.

    Args:
        path: The file, created with the first entry; None to keep the entries in memory.
        request: The current request. A call that was done for another request may be made again,
            but not one that was done for this request.
        secrets: Whether arguments keep values that look like keys.
    """

    def __init__(self, path: Path | None = None, request: str = "", *, secrets: bool = False):
        self._path = path
        self._request = without_keys(request)
        self._secrets = secrets
        # The file only grows, so each line is read once.
        self._entries: dict[str, LedgerEntry] = {}
        self._read = self._lines = 0
        self._own: set[str] = set()

    @property
    def path(self) -> Path | None:
        """The file; None if the entries are in memory."""
        return self._path

    def for_request(self, request: str) -> CallLedger:
        """Return a ledger with the same entries for another request."""
        other = CallLedger(self._path, request, secrets=self._secrets)
        if self._path is None:
            other._entries = self._entries
        return other

    def reset(self) -> None:
        """Forget entries that are only in memory."""
        if self._path is None:
            self._entries.clear()
            self._own.clear()

    def entries(self) -> tuple[LedgerEntry, ...]:
        """Return all entries in the order in which they began."""
        lines, rest, end = self._new_lines()
        for number, line in enumerate(lines, self._lines + 1):
            self._take(line, number, self._entries)
        # Advance only after success, so that a ledger with an invalid line keeps failing.
        self._read, self._lines = end, self._lines + len(lines)
        # A killed process leaves at most the last line incomplete, and its call was not made yet.
        found = dict(self._entries)
        if rest and _parsed(rest) is not None:
            self._take(rest, self._lines + 1, found)
        return tuple(found.values())

    def unclear(self) -> tuple[LedgerEntry, ...]:
        """Return this process's calls that may have been done."""
        return tuple(one for one in self.entries() if one.unclear and one.id in self._own)

    def before(self, call: ToolCall, *, own: bool = True) -> LedgerEntry | None:
        """Return the last equal call that must not be repeated silently, if any.

        Such a call may have been done in any request, or was done in this request.

        Args:
            own: Whether to include calls of this process.
        """
        key = key_of(call)
        for one in reversed(self.entries()):
            if one.key != key or (not own and one.id in self._own):
                continue
            if one.unclear or (one.state is CallState.DONE and one.request == self._request):
                return one
        return None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from beginning a call between a check and an entry."""
        if self._path is None:
            yield
            return
        with exclusive_writer(self._path):
            yield

    def begin(self, call: ToolCall, sources: Mapping[Place, Source]) -> str:
        """Record that a call is about to be made, and return the id of the entry.

        Raises:
            DataFileError: The entry cannot be written; the call must not be made.
        """
        number = uuid.uuid4().hex
        details: dict[str, Json] = {
            "arguments": dict(call.arguments),
            "sources": sources_json(call, sources),
        }
        details = (
            details if self._secrets else {name: redacted(value) for name, value in details.items()}
        )
        self._append(
            {
                "event": "open",
                "id": number,
                "key": key_of(call),
                "time": _now(),
                "request": self._request,
                "tool": call.tool,
                **details,
            }
        )
        self._own.add(number)
        return number

    def close(self, number: str, outcome: CallOutcome) -> None:
        """Record the outcome of a call.

        Raises:
            DataFileError: The outcome cannot be written; the entry stays open.
        """
        state = CallState.DONE if outcome.ok else CallState.UNCERTAIN
        state = CallState.NOT_DONE if outcome.failure in _NOT_DONE else state
        error = error_text(outcome, secrets=self._secrets)
        self._append(
            {"event": "close", "id": number, "time": _now(), "state": state.value, "error": error}
        )

    def settle(self, call: ToolCall, by: str, *, done: bool) -> None:
        """Record whether an uncertain call was done.

        Args:
            call: The call; all its uncertain entries are settled.
            by: Evidence, such as "get_order shows it".
            done: Whether the call was done.
        """
        state = CallState.DONE if done else CallState.NOT_DONE
        for one in self.entries():
            if one.key == key_of(call) and one.unclear:
                self._append(
                    {
                        "event": "settle",
                        "id": one.id,
                        "time": _now(),
                        "state": state.value,
                        "error": without_keys(by),
                    }
                )

    def _append(self, record: dict[str, Any]) -> None:
        if self._path is None:
            self._take(json.dumps(record).encode(), 0, self._entries)
        else:
            append_json_line(self._path, record, durable=True)

    def _new_lines(self) -> tuple[list[bytes], bytes, int]:
        """Return the complete lines since the last read, the incomplete rest, and its offset."""
        if self._path is None:
            return [], b"", 0
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
        except FileNotFoundError:
            return [], b"", 0
        except OSError as error:
            raise DataFileError(f"{self._path}: the ledger cannot be read: {error}") from None
        whole, newline, rest = new.rpartition(b"\n")
        end = self._read + len(whole) + len(newline)
        return (whole.split(b"\n") if newline else []), rest, end

    def _take(self, line: bytes, number: int, entries: dict[str, LedgerEntry]) -> None:
        record = _parsed(line)
        try:
            if record is None:
                raise ValueError
            if record["event"] == "open":
                names = ("id", "key", "tool", "arguments", "request", "time")
                entries[record["id"]] = LedgerEntry(*(record[name] for name in names))
            else:
                state, error = CallState(record["state"]), str(record.get("error", ""))
                entries[record["id"]] = replace(entries[record["id"]], state=state, error=error)
        except (KeyError, TypeError, ValueError):
            raise DataFileError(
                f"{self._path}:{number}: not an entry of a ledger; keep the file, which says "
                "what may have been done, and name another with --ledger"
            ) from None


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def key_of(call: ToolCall) -> str:
    """Return the idempotency key of a call, equal for equal tools and arguments.

    Null arguments count as missing, and 5.0 equals 5.
    """
    given = {name: _plain(value) for name, value in call.arguments.items() if value is not None}
    text = json.dumps([call.tool, given], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _plain(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    return value


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
