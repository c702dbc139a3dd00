"""Listening on a port until the process is interrupted."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from typing import Any

from hvr.errors import UsageError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine in requests."""
_MOST_CONNECTIONS = 200


def chosen_token(variable: str) -> tuple[str, bool]:
    """Return the token of a server, and whether it is new and must be printed.

    Args:
        variable: The environment variable that may give the token; an empty one gives none.
    """
    given = os.environ.get(variable, "")
    return given or secrets.token_urlsafe(24), not given


def in_address(host: str) -> str:
    """Return a host as part of a URL, with brackets around an IPv6 address."""
    return f"[{host}]" if ":" in host else host


async def listen(
    application: Any, address: str, port: int, announce: Callable[[int], None]
) -> None:
    """Serve an ASGI application.

    Args:
        port: 0 for any free port.
        announce: Called with the port once connections are accepted.

    Raises:
        UsageError: The address or the port cannot be used.
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
        await uvicorn.Server(config).serve([bound])
