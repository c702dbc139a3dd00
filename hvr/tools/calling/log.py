"""The append-only log of calls, and the origins of their arguments."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

from hvr.base.files import append_json_line, exclusive_writer
from hvr.base.printable import named_like_a_key, one_line, short
from hvr.base.secrets import without_keys
from hvr.errors import DataFileError
from hvr.tools.calling.calls import (
    NO_SOURCE,
    CallFailure,
    CallOutcome,
    Json,
    Place,
    Provenance,
    Source,
    ToolCall,
    leaf_values,
    sources_json,
    type_name,
)
from hvr.values import JsonObject

# Origins ------------------------------------------------------------------------------------------
# The log records the origin of each argument, from which the navigation graph learns.

MAX_RESULT_PLACES = 100_000
"""Maximum number of values examined in one result."""


class ValueSource(StrEnum):
    REQUEST = "request"
    RESULT = "result"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ValueOrigin:
    """Where a value comes from.

    Args:
        call: 0-based index of the call whose result contains the value, if any.
        path: Path of the value in that result: object keys and list indexes. The path is never
            joined to a string, because keys may contain any text.
    """

    source: ValueSource
    call: int | None = None
    path: tuple[str | int, ...] = ()


def trace(
    arguments: Mapping[str, Json], outcomes: Sequence[CallOutcome], request: Sequence[Json] = ()
) -> dict[str, ValueOrigin]:
    """Return the origin of each argument: the request, a successful call's result, or unknown.

    The request takes precedence over results, and later results over earlier ones. `request` has
    the values in the user's request.
    """
    return {name: _origin(value, outcomes, request) for name, value in arguments.items()}


def _origin(value: Json, outcomes: Sequence[CallOutcome], request: Sequence[Json]) -> ValueOrigin:
    if any(same_value(value, given) for given in request):
        return ValueOrigin(ValueSource.REQUEST)
    for number in range(len(outcomes) - 1, -1, -1):
        if outcomes[number].ok:
            for path, found in places(outcomes[number].result):
                if same_value(value, found):
                    return ValueOrigin(ValueSource.RESULT, number, path)
    return ValueOrigin(ValueSource.UNKNOWN)


def same_value(one: Json, other: Json) -> bool:
    """Return whether values are equal: 1.0 equals 1, but `true` equals 1 only in containers."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def places(
    result: Json, most: int = MAX_RESULT_PLACES
) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    todo: list[tuple[tuple[str | int, ...], Json]] = [((), result)]
    for path, value in todo:
        yield path, value
        left = most - len(todo)
        if isinstance(value, dict):
            todo += [((*path, key), inner) for key, inner in islice(value.items(), left)]
        elif isinstance(value, list):
            todo += [((*path, index), inner) for index, inner in enumerate(islice(value, left))]


# Log ----------------------------------------------------------------------------------------------

MASK = "***"
MAX_SHOWN_DEPTH = 4
"""Maximum depth of a shape or excerpt; deeper values are replaced by their type."""
MAX_KEPT_DEPTH = 64
"""Maximum depth of a redacted value; deeper values are replaced by their type."""
MAX_LOGGED_ERROR = 2_000
"""Maximum number of characters of an error message."""
MAX_SHAPE_KEYS = 50
"""Maximum number of keys or items per object or list of a shape or excerpt."""


def log_line(
    world: str,
    outcome: CallOutcome,
    origins: Mapping[str, ValueOrigin],
    time: datetime,
    *,
    secrets: bool = False,
) -> dict[str, Json]:
    """Return a call's log entry, which describes the result by its shape, without its values.

    Secrets in the other values are redacted unless `secrets` is true.
    """
    arguments: Json = dict(outcome.call.arguments)
    return {
        "time": time.astimezone(UTC).isoformat(),
        "world": world,
        "tool": outcome.call.tool,
        "arguments": _shown(arguments, secrets=secrets),
        "failure": None if outcome.failure is None else outcome.failure.value,
        "error": error_text(outcome, secrets=secrets),
        "seconds": round(outcome.seconds, 6),
        "shape": shape(outcome.result),
        "sources": _shown(sources_json(outcome.call, outcome.sources), secrets=secrets),
        "origins": {name: _origin_as_json(origin) for name, origin in origins.items()},
    }


def error_text(outcome: CallOutcome, *, secrets: bool = False) -> str:
    """Return a failure's error on one line, shortened; secrets are redacted unless `secrets`."""
    # Redact before shortening: a secret cut off at the limit might no longer be recognised.
    text = outcome.error[: 2 * MAX_LOGGED_ERROR]
    return short(one_line(text if secrets else without_keys(text)), MAX_LOGGED_ERROR)


def redacted(value: Json, depth: int = 0) -> Json:
    """Return a value with its secrets redacted; below `MAX_KEPT_DEPTH`, only types are kept."""
    if isinstance(value, str):
        return without_keys(value)
    if isinstance(value, (list, dict)) and depth >= MAX_KEPT_DEPTH:
        return type_name(value)
    if isinstance(value, list):
        return [redacted(inner, depth + 1) for inner in value]
    if isinstance(value, dict):
        return {
            without_keys(key): MASK
            if inner and named_like_a_key(key)
            else redacted(inner, depth + 1)
            for key, inner in value.items()
        }
    return value


def excerpt(value: Json, characters: int, depth: int = 0) -> Json:
    """Return a shortened value: the start of each string, the first items of each container.

    Containers nested deeper than `MAX_SHOWN_DEPTH` are replaced by their type.
    """
    if isinstance(value, str):
        return value[:characters]
    if isinstance(value, (list, dict)) and depth >= MAX_SHOWN_DEPTH:
        return type_name(value)
    if isinstance(value, list):
        return [excerpt(inner, characters, depth + 1) for inner in value[:MAX_SHAPE_KEYS]]
    if isinstance(value, dict):
        return {
            key[:characters]: excerpt(value[key], characters, depth + 1)
            for key in list(value)[:MAX_SHAPE_KEYS]
        }
    return value


def shape(value: Json, depth: int = 0) -> Json:
    """Return the JSON types of a value: per key for an object, of the first item for a list.

    At most `MAX_SHAPE_KEYS` keys of an object are kept. Containers nested deeper than
    `MAX_SHOWN_DEPTH` are replaced by their type.
    """
    if depth >= MAX_SHOWN_DEPTH:
        return type_name(value)
    if isinstance(value, dict):
        return {
            without_keys(key): shape(value[key], depth + 1) for key in list(value)[:MAX_SHAPE_KEYS]
        }
    if isinstance(value, list):
        return [shape(inner, depth + 1) for inner in value[:1]]
    return type_name(value)


def _shown(value: Json, *, secrets: bool) -> Json:
    return value if secrets else redacted(value)


def _origin_as_json(origin: ValueOrigin) -> Json:
    if origin.call is None:
        return {"source": origin.source.value}
    path: list[Json] = list(origin.path)
    return {"source": origin.source.value, "call": origin.call, "path": path}


# Session values -----------------------------------------------------------------------------------
# hvr does not see the request, only the values that the client declares as said by the user. A
# declared value counts as stated. It is identified if it is the only id returned by a query with
# stated values, and a default if the schema says so. Any other value was found in a result or is
# unknown.

_IDS = frozenset({"id", "ids", "uuid", "guid", "identifier"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)")


class SessionValues:
    """The values in a session's requests and results, and the defaults in the tools' schemas."""

    def __init__(self, schemas: Mapping[str, Mapping[str, Any]]) -> None:
        self._schemas = schemas
        self._statements: list[Json] = []
        self._ids: list[tuple[frozenset[str], Json, str]] = []
        self._found: dict[tuple[str, str], str] = {}

    def say(self, values: Iterable[Json]) -> None:
        """Record statements of the user: values, or strings that contain values."""
        self._statements += [value for value in values if value not in self._statements]

    def observe(self, outcome: CallOutcome) -> None:
        """Record the values in a successful call's result as found; failed calls are ignored.

        An id also counts as identified if the result has no other id under the same keys, and if
        every argument has sufficient provenance, with at least one argument stated by the user or
        identified.
        """
        if not outcome.ok:
            return
        tool = outcome.call.tool
        ids: dict[tuple[str, ...], list[Json]] = {}
        for place, value in places(outcome.result):
            if value is None or isinstance(value, (list, dict, bool)):
                continue
            self._found.setdefault(_key(value), f"it occurs in the result of {tool}")
            keys = tuple(step for step in place if isinstance(step, str))
            if keys and set(_words(keys[-1])[-1:]) & _IDS:
                ids.setdefault(keys, []).append(value)
        if not self._grounded(outcome):
            return
        for keys, values in ids.items():
            if all(same_value(value, values[0]) for value in values):
                # The entity is named by the id's key, the enclosing object, or the tool.
                names = frozenset(_nouns(*keys[-2:]) or _nouns(tool))
                self._ids.append((names, values[0], f"the only {keys[-1]} that {tool} returned"))

    def sources(self, call: ToolCall) -> dict[Place, Source]:
        return {place: self._source(call, place, value) for place, value in leaf_values(call)}

    def _source(self, call: ToolCall, place: Place, value: Json) -> Source:
        if any(_is_stated(statement, value) for statement in self._statements):
            return Source(Provenance.SAID, "the client declares that the user said it")
        if self._is_default(call, place):
            return Source(Provenance.DEFAULT, "the default in the tool's schema")
        for names, known, why in self._ids:
            if same_value(known, value) and _takes_id(call, place, names):
                return Source(Provenance.IDENTIFIED, why)
        if value is not None and not isinstance(value, (list, dict)):
            found = self._found.get(_key(value))
            if found is not None:
                return Source(Provenance.FOUND, found)
        return NO_SOURCE

    def _is_default(self, call: ToolCall, place: Place) -> bool:
        properties = self._schemas.get(call.tool, {}).get("properties")
        name = place[0]
        one = properties.get(name) if isinstance(properties, dict) else None
        if not isinstance(one, dict) or "default" not in one:
            return False
        whole = call.arguments[str(name)]
        return same_value(whole, one["default"])

    def _grounded(self, outcome: CallOutcome) -> bool:
        kinds = {source.kind for source in outcome.sources.values()}
        selected = kinds & {Provenance.SAID, Provenance.IDENTIFIED, Provenance.CONFIRMED}
        return bool(selected) and all(kind.may_be_written for kind in kinds)


def _is_stated(statement: Json, value: Json) -> bool:
    if same_value(statement, value):
        return True
    if not isinstance(statement, str) or value is None or isinstance(value, (bool, list, dict)):
        return False
    if isinstance(value, str):
        text = value.strip()
        whole = rf"(?<!\w){re.escape(text)}(?!\w)"
        return bool(text) and re.search(whole, statement, re.IGNORECASE) is not None
    return any(float(number) == value for number in _NUMBER.findall(statement))


def _takes_id(call: ToolCall, place: Place, names: frozenset[str]) -> bool:
    keys = [step for step in place if isinstance(step, str)]
    if not keys or not set(_words(keys[-1])[-1:]) & _IDS:
        return False
    nouns = _nouns(keys[-1]) or _nouns(*keys[-2:-1], call.tool)
    return bool(names & set(nouns))


def _nouns(*names: str) -> list[str]:
    return [word for name in names for word in _words(name) if word not in _IDS]


def _words(name: str) -> list[str]:
    return [_singular(word) for word in map(str.lower, _WORD.findall(name))]


def _singular(word: str) -> str:
    if word in _IDS or word.endswith("ss"):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")


def _key(value: Json) -> tuple[str, str]:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return type(value).__name__, str(value)


# Ledger -------------------------------------------------------------------------------------------
# The ledger of calls that may write.
#
# Each call is recorded before it is made and closed after it, so a killed process leaves an open
# entry that shows what may have been done. The file is append-only: one JSON object per line,
# flushed to disk.

_NOT_DONE = frozenset({CallFailure.REFUSED, CallFailure.BAD_ARGUMENTS, CallFailure.UNKNOWN_TOOL})
"""Failures after which the call certainly had no effect; after any other it may have had one."""


class CallState(StrEnum):
    OPEN = "open"
    """The start is recorded but not the end: the process was killed or is still running."""
    DONE = "done"
    NOT_DONE = "not done"
    UNCERTAIN = "uncertain"
    """The call failed, but may have taken effect."""


@dataclass(frozen=True)
class LedgerEntry(JsonObject):
    """A writing call in the ledger.

    Args:
        key: Idempotency key, derived from the tool and the arguments.
        arguments: Arguments; secrets are redacted unless the ledger keeps them.
        request: Id of the request for which the call was made.
        time: Start time of the call, in ISO 8601.
        error: Error message of a failed call, or the evidence that settled an uncertain one.
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
        """Whether it is unknown if the call took effect."""
        return self.state in (CallState.OPEN, CallState.UNCERTAIN)


class CallLedger:
    """The record of calls that may write, in a file or in memory.

    Args:
        path: Path of the ledger file, created with the first entry; None to keep the entries in
            memory.
        request: Id of the current request. A successful call may be repeated without asking only
            for a different request.
        secrets: Whether to keep values in the arguments that look like secrets.
    """

    def __init__(self, path: Path | None = None, request: str = "", *, secrets: bool = False):
        self._path = path
        self._request = without_keys(request)
        self._secrets = secrets
        # The file only grows, so read each line once.
        self._entries: dict[str, LedgerEntry] = {}
        self._read = self._lines = 0
        self._own: set[str] = set()

    @property
    def path(self) -> Path | None:
        return self._path

    def for_request(self, request: str) -> CallLedger:
        """Return a ledger that shares the entries but belongs to a different request."""
        other = CallLedger(self._path, request, secrets=self._secrets)
        if self._path is None:
            other._entries = self._entries
        return other

    def reset(self) -> None:
        if self._path is None:
            self._entries.clear()
            self._own.clear()

    def entries(self) -> tuple[LedgerEntry, ...]:
        """Return all entries, ordered by the start of the calls.

        Raises:
            DataFileError: The file cannot be read or is not a ledger.
        """
        lines, rest, end = self._new_lines()
        for number, line in enumerate(lines, self._lines + 1):
            self._take(line, number, self._entries)
        # Advance only after success, so that a ledger with an invalid line fails again.
        self._read, self._lines = end, self._lines + len(lines)
        # A killed process leaves at most the last line incomplete; its call was not made yet.
        found = dict(self._entries)
        if rest and _parsed(rest) is not None:
            self._take(rest, self._lines + 1, found)
        return tuple(found.values())

    def unclear(self) -> tuple[LedgerEntry, ...]:
        """Return the calls of this process that may have taken effect."""
        return tuple(one for one in self.entries() if one.unclear and one.id in self._own)

    def before(self, call: ToolCall, *, own: bool = True) -> LedgerEntry | None:
        """Return the last equal call that must not be repeated without asking, if any.

        That is a call of any request that may have taken effect, or a call that succeeded for this
        request. Calls of this process count only if `own` is true.
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
        """Hold the lock on the ledger file that prevents other processes from starting a call.

        Hold it from checking for an equal call until the new entry is written.
        """
        if self._path is None:
            yield
            return
        with exclusive_writer(self._path):
            yield

    def begin(self, call: ToolCall, sources: Mapping[Place, Source]) -> str:
        """Record that a call is about to be made, and return the id of its entry.

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
        """Record in an uncertain call's entries whether the call took effect, as `by` shows."""
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
        """Return the complete new lines, the incomplete last line, and the last line's offset."""
        if self._path is None:
            return [], b"", 0
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
        except FileNotFoundError:
            return [], b"", 0
        except OSError as error:
            raise DataFileError(f"the ledger {self._path} cannot be read: {error}") from None
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
                f"{self._path}:{number}: not an entry of a ledger; keep the file, which records "
                "calls that may have been made, and use another for new calls"
            ) from None


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def key_of(call: ToolCall) -> str:
    """Return a call's idempotency key: a null argument counts as missing, and 5.0 equals 5."""
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
