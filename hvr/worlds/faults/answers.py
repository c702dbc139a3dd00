"""Composed events: the answer to an action, and the room as a faulty sensor reports it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hvr.worlds.base import Event
from hvr.worlds.faults.perception import mistaken

Lens = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Turns metadata into what a faulty sensor reports."""

_ANSWER = ("lastAction", "lastActionSuccess", "errorMessage", "errorCode", "actionReturn")


def forged(name: str, success: bool, message: str) -> Event:
    """Return an answer that the environment did not give; it has no metadata of the room."""
    values = (name, success, message, None, None)
    return Event(dict(zip(_ANSWER, values, strict=True)), success)


def merged(now: Event, answer: Event) -> Event:
    """Return an event with the answer of one event and the room of another."""

    def metadata() -> dict[str, Any]:
        return {**now.metadata, **{key: answer.metadata.get(key) for key in _ANSWER}}

    return Event(metadata, answer.success)


def mistaken_as(wrong: tuple[str, str, Any]) -> Lens:
    """Return a lens that misreports one object; see `perception.mistaken`."""
    return lambda metadata: mistaken(metadata, *wrong)


def seen_through(event: Event, lens: Lens) -> Event:
    """Return an event as it looks through a lens, which is applied when metadata are read."""
    return Event(lambda: lens(event.metadata), event.success)
