"""Events that are put together: what is said of an action, and how the room is seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hvr.envs.base import Event
from hvr.envs.faults.perception import mistaken

Lens = Callable[[Mapping[str, Any]], dict[str, Any]]
"""What an error of perception makes of metadata."""

_SAID = ("lastAction", "lastActionSuccess", "errorMessage", "errorCode", "actionReturn")


def said(name: str, success: bool, message: str) -> Event:
    """Return an answer that the environment did not give; it says nothing of the room."""
    values = (name, success, message, None, None)
    return Event(dict(zip(_SAID, values, strict=True)), success)


def merged(now: Event, answer: Event) -> Event:
    """Return what the answer says, and the room as it is now."""
    return Event(
        lambda: {**now.metadata, **{key: answer.metadata.get(key) for key in _SAID}}, answer.success
    )


def mistaken_as(wrong: tuple[str, str, Any]) -> Lens:
    """See one object otherwise than it is; see `perception.mistaken`."""
    return lambda metadata: mistaken(metadata, *wrong)


def seen_through(event: Event, lens: Lens) -> Event:
    """Return an event as it looks through a lens; nothing is looked at before it is read."""
    return Event(lambda: lens(event.metadata), event.success)
