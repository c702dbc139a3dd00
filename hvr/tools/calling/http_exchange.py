"""One HTTP request and its answer, within a time and a size."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies

from hvr.base.proxies import proxy_of

MOST_BYTES = 20_000_000
"""Bytes of an answer that are read; a longer one is an error."""


@dataclass(frozen=True)
class HttpRequest:
    """A request.

    Args:
        method: HTTP method, in capitals.
        url: Absolute address.
        headers: Header fields.
        body: Bytes of the body; None for a request without one.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


@dataclass(frozen=True)
class HttpAnswer:
    """An answer.

    Args:
        status: Status code.
        reason: Reason phrase of the status line.
        headers: Header fields, by name in lower case.
        body: Bytes of the body.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


class NotSentError(OSError):
    """No connection was made, so the server has heard nothing of the request."""


def exchange(request: HttpRequest, seconds: float) -> HttpAnswer:
    """Send a request and return the answer; redirects are answers like any other.

    Args:
        request: The request; a proxy of the environment is used unless it goes to this machine.
        seconds: Time for all of it, from connecting to the last byte.

    Raises:
        NotSentError: No connection could be made.
        TimeoutError: The time is up.
        OSError: The connection broke, or the answer is too long.
        http.client.HTTPException: The answer is not HTTP.
    """
    end = time.monotonic() + seconds
    connection, target, headers = _route(request, seconds)
    try:
        connection.connect()
    except TimeoutError:
        connection.close()
        raise NotSentError(f"no connection within {seconds:g} s") from None
    except OSError as error:
        connection.close()
        raise NotSentError(str(error) or type(error).__name__) from None
    opened = connection.sock
    late = threading.Timer(max(0.0, end - time.monotonic()), _shut, [opened])
    late.daemon = True
    late.start()
    try:
        connection.request(request.method, target, request.body, headers)
        response = connection.getresponse()
        body = response.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise OSError(f"the answer is longer than {MOST_BYTES} bytes")
        if time.monotonic() >= end:  # what looks like the end was the end of the time
            raise TimeoutError
        if response.length:  # the connection ended before the announced length
            raise OSError("the connection ended in the middle of the answer")
        named = {name.lower(): value for name, value in response.getheaders()}
        return HttpAnswer(response.status, response.reason, named, body)
    except (OSError, http.client.HTTPException):
        if time.monotonic() >= end:
            raise TimeoutError(f"no answer within {seconds:g} s") from None
        raise
    finally:
        late.cancel()
        connection.close()


def _route(
    request: HttpRequest, seconds: float
) -> tuple[http.client.HTTPConnection, str, dict[str, str]]:
    """Return a connection that is not open yet, the target to ask it for, and the headers."""
    parts = urlsplit(request.url)
    host, port, secure = parts.hostname or "", parts.port, parts.scheme == "https"
    target = parts.path or "/"
    target += f"?{parts.query}" if parts.query else ""
    headers = {"Host": parts.netloc.rpartition("@")[2], "Connection": "close", **request.headers}
    proxy = proxy_of(request.url)
    if proxy is None:
        return _connection(host, port, seconds, secure=secure), target, headers
    through = urlsplit(proxy.address)
    connection = _connection(
        through.hostname or "", through.port, seconds, secure=secure, by_tls=through.scheme
    )
    login = _login(proxy.variable)
    if secure:
        connection.set_tunnel(host, port, login)
        return connection, target, headers
    return connection, request.url, headers | login


def _connection(
    host: str, port: int | None, seconds: float, *, secure: bool, by_tls: str = ""
) -> http.client.HTTPConnection:
    if by_tls not in ("", "http"):
        raise NotSentError(f"a proxy must be http://HOST:PORT, found {by_tls}://")
    if secure:
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=seconds, context=context)
    return http.client.HTTPConnection(host, port, timeout=seconds)


def _login(variable: str) -> dict[str, str]:
    """Return the header with user and password that the address of a proxy has."""
    address = getproxies().get(variable.removesuffix("_PROXY").lower(), "")
    login = urlsplit(address if "://" in address else f"http://{address}").netloc.rpartition("@")[0]
    code = b64encode(unquote(login).encode()).decode()
    return {"Proxy-Authorization": f"Basic {code}"} if login else {}


def _shut(opened: socket.socket | None) -> None:
    if opened is not None:
        with suppress(OSError):  # it may have been closed already
            opened.shutdown(socket.SHUT_RDWR)
