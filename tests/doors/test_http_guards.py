"""Slow and endless clients of the HTTP service, at the guard itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hvr.doors.http import guards
from hvr.doors.http.guards import Guard

_HEADERS = [(b"host", b"127.0.0.1:8000"), (b"content-type", b"application/json")]


def answered(parts: list[tuple[float, bytes]], **scope: Any) -> tuple[int, bytes]:
    """Return the status and body of the answer from the application, or from the guard before it.

    Args:
        parts: The body, in parts with the seconds before each part.
    """
    sent: list[dict[str, Any]] = []
    rest = list(parts)

    async def receive() -> dict[str, Any]:
        seconds, body = rest.pop(0)
        await asyncio.sleep(seconds)
        return {"type": "http.request", "body": body, "more_body": bool(rest)}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def application(_: Any, read: Any, reply: Any) -> None:
        message = await read()
        await reply({"type": "http.response.start", "status": 200, "headers": []})
        await reply({"type": "http.response.body", "body": message["body"]})

    asked = {"type": "http", "method": "POST", "path": "/", "headers": _HEADERS, **scope}
    guard = Guard(application, ["127.0.0.1"], ["http://allowed.example"], "")
    asyncio.run(guard(asked, receive, send))
    return sent[0]["status"], sent[1]["body"]


def test_a_body_in_parts_arrives_whole() -> None:
    assert answered([(0, b"{"), (0, b"}")]) == (200, b"{}")


def test_a_client_that_is_too_slow_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "_BODY_SECONDS", 0.05)
    status, body = answered([(0, b"{"), (5, b"}")])
    assert status == 408
    assert b"did not arrive" in body


def test_a_body_without_an_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "MOST_BYTES", 100)
    assert answered([(0, b"x" * 60)] * 1000)[0] == 413


@pytest.mark.parametrize(
    ("host", "status"),
    [(b"127.0.0.1", 200), (b"127.0.0.1:1", 200), (b"localhost.evil.example", 421), (b"", 421)],
)
def test_only_own_names_are_served(host: bytes, status: int) -> None:
    headers = [(b"host", host), (b"content-type", b"application/json")]
    assert answered([(0, b"{}")], headers=headers)[0] == status


def test_an_allowed_origin_may_ask_first() -> None:
    headers = [*_HEADERS, (b"origin", b"http://allowed.example")]
    assert answered([(0, b"")], method="OPTIONS", headers=headers)[0] == 204
