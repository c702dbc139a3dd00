"""Protection of the service: checks of host, origin and token, and limits on size and time."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from hvr.errors import UsageError

MOST_BYTES = 20_000_000
"""Maximum size of a request in bytes: ten million characters, some of them escaped."""
_BODY_SECONDS = 30.0
_OPEN = frozenset(("/healthz",))


class RefusedError(Exception):
    """A request was rejected with this HTTP status and message."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        self.status, self.kind = status, kind
        super().__init__(message)


class Guard:
    """An ASGI application that passes on only acceptable requests, with their whole bodies.

    Args:
        hosts: Host names by which clients may address the service. Any other name indicates DNS
            rebinding: a web page whose host name resolves to this machine.
        origins: Origins of web pages that may use the service.
        token: Bearer token that each request must carry; empty if none is required.
    """

    def __init__(
        self, application: Any, hosts: Iterable[str], origins: Iterable[str], token: str
    ) -> None:
        self._application = application
        self._hosts = frozenset(hosts)
        self._origins = frozenset(origins)
        self._expected = f"Bearer {token}".encode() if token else b""
        self._cookie = tuple(part.encode() for part in cookie_of(token))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        if scope["type"] == "websocket":
            try:
                self._check({**scope, "method": "GET"}, headers, origin)
            except RefusedError as error:
                await receive()
                await send({"type": "websocket.close", "code": 1008, "reason": error.kind})
                return
            await self._application(scope, receive, send)
            return
        try:
            self._check(scope, headers, origin)
            if scope["method"] == "OPTIONS":
                await _answer(send, 204, None, self._sharing(origin))
                return
            body: bytes | None = await _body(headers, receive)
        except RefusedError as error:
            more = [(b"www-authenticate", b"Bearer")] if error.status == 401 else []
            document = {"error": error.kind, "message": str(error), "again": error.status == 408}
            await _answer(send, error.status, document, more)
            return

        async def read() -> dict[str, Any]:
            nonlocal body
            if body is None:
                message: dict[str, Any] = await receive()
                return message
            whole, body = body, None
            return {"type": "http.request", "body": whole, "more_body": False}

        async def reply(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._sharing(origin)]
            await send(message)

        await self._application(scope, read, reply)

    def _check(self, scope: Any, headers: dict[bytes, bytes], origin: str) -> None:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if name not in self._hosts:
            raise RefusedError(421, "WrongHost", "host name not served; allow it with --host")
        if origin and origin not in self._origins and origin != f"http://{host}":
            raise RefusedError(
                403,
                "WrongOrigin",
                "web pages from this origin are rejected; allow the origin with --allow-origin",
            )
        if scope["method"] == "OPTIONS" or scope["path"] in _OPEN:
            return
        if self._expected and not self._knows_token(headers):
            raise RefusedError(
                401,
                "NoToken",
                "expected the server's bearer token, which it printed or took from its environment",
            )
        if scope["method"] == "POST":
            kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
            length = headers.get(b"content-length", b"")
            if kind != b"application/json" and length != b"0":
                raise RefusedError(415, "NoJson", "Content-Type must be application/json")

    def _knows_token(self, headers: dict[bytes, bytes]) -> bool:
        if given := headers.get(b"authorization"):
            return hmac.compare_digest(given, self._expected)
        name, expected = self._cookie
        cookies = (part.strip().partition(b"=") for part in headers.get(b"cookie", b"").split(b";"))
        return any(key == name and hmac.compare_digest(v, expected) for key, _, v in cookies)

    def _sharing(self, origin: str) -> list[tuple[bytes, bytes]]:
        if origin not in self._origins:
            return []
        return [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-allow-headers", b"authorization, content-type, last-event-id"),
            (b"access-control-allow-methods", b"GET, POST, DELETE"),
            (b"vary", b"origin"),
        ]


def document(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a request's body; an empty body counts as an empty object.

    Raises:
        ValueError: The body is not a JSON object.
        RecursionError: The body is nested too deeply.
    """
    found = json.loads(body or b"{}")
    if not isinstance(found, dict):
        raise ValueError("expected an object")
    return found


def cookie_of(token: str) -> tuple[str, str]:
    """Return the name and value of the cookie with which the studio's page authenticates itself.

    Browsers send the cookies of a host to all its ports. The name depends on the token, so that
    servers on the same machine do not overwrite each other's cookies. The value does not reveal the
    token.
    """
    digest = hashlib.sha256(f"hvr studio {token}".encode()).hexdigest()
    return f"hvr-{digest[:8]}", digest[8:]


async def _body(headers: dict[bytes, bytes], receive: Any) -> bytes:
    length = headers.get(b"content-length", b"0")
    too_large = RefusedError(413, "TooLarge", f"a request may have at most {MOST_BYTES} bytes")
    if length.isdigit() and int(length) > MOST_BYTES:
        raise too_large
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RefusedError(400, "Disconnected", "the client disconnected")
                size += len(message.get("body", b""))
                if size > MOST_BYTES:
                    raise too_large
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError:
        text = f"the request did not arrive within {_BODY_SECONDS:g} s"
        raise RefusedError(408, "TooSlow", text) from None


async def _answer(
    send: Any, status: int, document: Any, headers: list[tuple[bytes, bytes]]
) -> None:
    body = b"" if document is None else json.dumps(document).encode() + b"\n"
    kind = [(b"content-type", b"application/json")] if document is not None else []
    size = [(b"content-length", str(len(body)).encode())]
    start = {"type": "http.response.start", "status": status, "headers": [*kind, *size, *headers]}
    await send(start)
    await send({"type": "http.response.body", "body": body})


# Listening ----------------------------------------------------------------------------------------
# Listen on a port until the process is interrupted.

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Host names of this machine in requests."""
_MOST_CONNECTIONS = 200


def chosen_token(variable: str) -> tuple[str, bool]:
    """Return a server's token, from the environment or newly generated, and whether to print it."""
    given = os.environ.get(variable, "")
    return given or secrets.token_urlsafe(24), not given


def in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


async def listen(
    application: Any, address: str, port: int, announce: Callable[[int], None]
) -> None:
    """Serve an ASGI application.

    Args:
        port: Port number; 0 for any free port.
        announce: Callback that receives the port once connections are accepted.

    Raises:
        UsageError: The address or port cannot be used.
    """
    import uvicorn

    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        bound = socket.create_server((address, port), family=family, backlog=128)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"cannot listen on {in_address(address)}:{port}: {reason}") from error
    with bound:
        announce(bound.getsockname()[1])
        config = uvicorn.Config(
            application,
            log_level="warning",
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=1,
            server_header=False,
        )
        with _hangup_as_termination():
            await uvicorn.Server(config).serve([bound])


@contextmanager
def _hangup_as_termination() -> Iterator[None]:
    hangup = getattr(signal, "SIGHUP", None)  # not on Windows
    main = threading.current_thread() is threading.main_thread()
    if hangup is None or not main or signal.getsignal(hangup) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(hangup, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(hangup, before)
