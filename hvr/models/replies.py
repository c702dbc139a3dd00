"""Replies of providers as plain JSON, and the complaints in them.

Providers, and what stands in front of them, report errors in many shapes, and not always with a
status of HTTP that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_MESSAGES = ("message", "msg", "detail", "error_description", "error_message", "description")
_CODES = ("code", "type", "status", "reason", "error_code", "err_code", "errorType", "status_code")
_INNER = ("error", "errors", "innererror", "inner_error", "details", "metadata")
_FAILED = ("error", "failed", "failure")
# What lies deeper tells nothing more; what comes first counts.
_DEPTH = 5
_MOST = 5


@dataclass(frozen=True)
class Complaint:
    """What a server says is wrong.

    Args:
        message: in words; may be empty.
        codes: its codes, types and states, as they come.
    """

    message: str
    codes: tuple[str, ...] = ()


def at(value: Any, *path: str | int) -> Any:
    """Return what is at a place of a JSON value; None when there is no such place."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def complaint_of(error: Any) -> Complaint:
    """Return what an error says, whatever its shape: text, object, list, one in the other."""
    messages: list[str] = []
    codes: list[str] = []
    for part in _parts(error, _DEPTH):
        if isinstance(part, str):
            messages.append(part)
            continue
        messages += [m for n in _MESSAGES if isinstance(m := part.get(n), str) and m.strip()]
        found = (part.get(name) for name in _CODES)
        codes += [str(c) for c in found if isinstance(c, str | int) and c != ""]
    return Complaint(messages[0] if messages else "", tuple(dict.fromkeys(codes)))


def complaint_in(body: Any) -> Complaint | None:
    """Return what a reply without an answer complains of; None when it does not complain."""
    for part in body[:_MOST] if isinstance(body, list) else [body]:
        if isinstance(part, Mapping):
            failed = part.get("success") is False or any(
                part.get(name) in _FAILED for name in ("object", "type", "status")
            )
            spoken = any(isinstance(part.get(name), str) for name in _MESSAGES)
            if part.get("error") or part.get("errors") or failed or spoken:
                return complaint_of(part)
    return None


def _parts(error: Any, depth: int) -> Iterator[Mapping[str, Any] | str]:
    """Yield the texts and objects of an error, the outer ones first."""
    if isinstance(error, str) and error.strip():
        yield error
    elif isinstance(error, list) and depth:
        for item in error[:_MOST]:
            yield from _parts(item, depth - 1)
    elif isinstance(error, Mapping):
        yield error
        if depth:
            for name in _INNER:
                yield from _parts(error.get(name), depth - 1)
