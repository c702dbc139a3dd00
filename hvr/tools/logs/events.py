"""What happens in a log, whatever its format, and the calls that follow from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hvr.tools.tool_plan import LoggedCall


@dataclass(frozen=True)
class Said:
    """A message of the user."""

    text: str


@dataclass(frozen=True)
class Called:
    """A call of a tool.

    Args:
        tool: Name of the tool.
        arguments: JSON values by parameter; None if the log does not give them.
        unnamed: Arguments given by position.
        key: Identifier that the result repeats; empty if the format has none.
    """

    tool: str
    arguments: Mapping[str, Any] | None = None
    unnamed: tuple[Any, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class Returned:
    """The result of a call.

    Args:
        value: JSON value.
        key: Identifier of the call; empty if the format has none.
        tool: Name of the tool, for formats without identifiers; empty for the earliest open call.
        failed: Whether the log marks it as an error.
    """

    value: Any
    key: str = ""
    tool: str = ""
    failed: bool = False


@dataclass(frozen=True)
class Skipped:
    """A part of the log that is not a message of the user, a call or a result."""

    what: str


@dataclass(frozen=True)
class Format:
    """The format that the events after it were written in."""

    name: str


Event = Said | Called | Returned | Skipped | Format


@dataclass(frozen=True)
class Trace:
    """The events of one log, put together.

    Args:
        said: Messages of the user.
        calls: Calls in order, with their results.
        formats: Names of the formats in order of appearance.
        skipped: What was skipped, with counts.
    """

    said: tuple[str, ...]
    calls: tuple[LoggedCall, ...]
    formats: tuple[str, ...]
    skipped: tuple[str, ...]


def trace(events: Iterable[Event]) -> Trace:
    """Match results with their calls and count what was skipped."""
    said: list[str] = []
    calls: list[LoggedCall] = []
    keys: list[str] = []
    formats: dict[str, None] = {}
    skipped: Counter[str] = Counter()
    for event in events:
        match event:
            case Said(text):
                # Frameworks repeat the request at the head of the messages.
                if text and (not said or text != said[-1]):
                    said.append(text)
            case Called(tool, arguments, unnamed, key):
                calls.append(LoggedCall(tool, arguments, unnamed, turn=len(said)))
                keys.append(key)
            case Returned():
                place = _answered(event, calls, keys)
                if place is None:
                    skipped["result without a call"] += 1
                else:
                    failed = event.failed or reports_error(event.value)
                    calls[place] = replace(
                        calls[place], result=event.value, returned=True, failed=failed
                    )
            case Skipped(what):
                skipped[what] += 1
            case Format(name):
                formats[name] = None
    counted = tuple(f"{what} ({count})" if count > 1 else what for what, count in skipped.items())
    return Trace(tuple(said), tuple(calls), tuple(formats), counted)


def reports_error(value: Any) -> bool:
    """Return whether a result says by its form that the call failed.

    That is an object whose only content is its error, or a text that begins with "error".
    """
    if isinstance(value, dict):
        return any(value.get(k) for k in ("error", "Error")) and len(value) <= _ERROR_KEYS
    return isinstance(value, str) and value.lstrip().lower().startswith(("error:", "error "))


_ERROR_KEYS = 2
"""An object with an error and at most a code beside it holds no result."""


def _answered(event: Returned, calls: list[LoggedCall], keys: list[str]) -> int | None:
    """Return the call that a result belongs to: by identifier, else by tool, else by order."""
    waiting = [at for at, call in enumerate(calls) if not call.returned]
    same_key = [at for at in waiting if event.key and keys[at] == event.key]
    same_tool = [at for at in waiting if not event.tool or event.tool == calls[at].tool]
    return next(iter(same_key or same_tool), None)
