"""MCP servers over stdio, or over streamable HTTP on this machine."""

from __future__ import annotations

import hmac
import os
import sys
from typing import Any

from hvr.doors.http.listening import listen

HOST = "127.0.0.1"
_MOST_BYTES = 20_000_000
"""Maximum size of an HTTP request: ten million characters, some of them escaped."""


async def serve_stdio(server: Any) -> None:
    """Serve one client until it disconnects."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


async def serve_http(server: Any, port: int, token: str = "", *, show_token: bool = False) -> None:
    """Serve at http://127.0.0.1:PORT/mcp until the process is interrupted.

    The SDK checks Host and Origin, so that no web page can reach the server.

    Args:
        port: 0 for any free port.
        token: Bearer token that each request must carry; none is needed if empty.
        show_token: Whether to print the token.

    Raises:
        UsageError: The port cannot be used.
    """
    app: Any = server.streamable_http_app(host=HOST, max_request_body_size=_MOST_BYTES)
    if token:
        app = _WithToken(app, token)

    def announce(bound: int) -> None:
        if show_token:
            # The stream for messages redacts whatever looks like a key.
            os.write(2, f"bearer token: {token}\n".encode())
        print(f"serving MCP at http://{HOST}:{bound}/mcp", file=sys.stderr, flush=True)

    await listen(app, HOST, port, announce)


class _WithToken:
    """An ASGI application that refuses requests without the token."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                body = b"a bearer token is needed: the server prints it when it starts\n"
                await send({"type": "http.response.body", "body": body})
                return
        await self._app(scope, receive, send)
