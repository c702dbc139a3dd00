"""Calls of OpenAPI operations as HTTP requests, and the exchange with the server."""

from __future__ import annotations

import http.client
import json
import secrets
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode, urlsplit
from urllib.request import getproxies

from hvr.base.proxies import proxy_of
from hvr.tools.calling.calls import Json
from hvr.tools.catalogue.openapi import ApiOperation, RequestField, RequestPart
from hvr.tools.catalogue.schema import quoted

# HTTP exchange ------------------------------------------------------------------------------------

MAX_BYTES = 20_000_000
"""Maximum size of a reply in bytes."""


@dataclass(frozen=True)
class HttpRequest:
    """An HTTP request."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


@dataclass(frozen=True)
class HttpAnswer:
    """An HTTP response.

    Args:
        headers: Header fields by lower-case name.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


class NotSentError(OSError):
    """No connection was made, so the server did not receive the request."""


def exchange(request: HttpRequest, seconds: float) -> HttpAnswer:
    """Send a request and return the response; redirects are not followed.

    Args:
        request: The request; proxies of the environment apply, except for local servers.
        seconds: Time limit from connecting to the last byte.

    Raises:
        NotSentError: No connection could be made.
        TimeoutError: The time limit was exceeded.
        OSError: The connection broke, or the response is too large.
        http.client.HTTPException: The response is not HTTP.
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
    timer = threading.Timer(max(0.0, end - time.monotonic()), _shut_down, [opened])
    timer.daemon = True
    timer.start()
    try:
        connection.request(request.method, target, request.body, headers)
        response = connection.getresponse()
        body = response.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            raise OSError(f"the answer is longer than {MAX_BYTES} bytes")
        if time.monotonic() >= end:  # the timer shut the connection, which looks like the end
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
        timer.cancel()
        connection.close()


def _route(
    request: HttpRequest, seconds: float
) -> tuple[http.client.HTTPConnection, str, dict[str, str]]:
    """Return an unopened connection, the request target, and the headers."""
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
    address = getproxies().get(variable.removesuffix("_PROXY").lower(), "")
    login = urlsplit(address if "://" in address else f"http://{address}").netloc.rpartition("@")[0]
    code = b64encode(unquote(login).encode()).decode()
    return {"Proxy-Authorization": f"Basic {code}"} if login else {}


def _shut_down(opened: socket.socket | None) -> None:
    if opened is not None:
        with suppress(OSError):  # closed by the server
            opened.shutdown(socket.SHUT_RDWR)


# Request encoding ---------------------------------------------------------------------------------

FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_STYLES = {RequestPart.PATH: "simple", RequestPart.HEADER: "simple"}
_SEPARATORS = {"spaceDelimited": "%20", "pipeDelimited": "|"}


def sendable(media: str) -> bool:
    """Return whether hvr can encode bodies of a media type: JSON, forms and text."""
    kind = _kind(media)
    return not media or kind in (FORM, MULTIPART) or _is_json(kind) or kind.startswith("text/")


def request_of(operation: ApiOperation, server: str, arguments: Mapping[str, Json]) -> HttpRequest:
    """Return the HTTP request for a call of an operation.

    Args:
        arguments: Values by parameter; null values are sent only in the body.

    Raises:
        ValueError: A value cannot be encoded in its place.
    """
    path, query, cookies = operation.path, list[str](), list[str]()
    headers = {"Accept": "application/json, */*;q=0.5", "User-Agent": "hvr"}
    body: dict[str, Json] = {}
    whole: Json = None
    for name, value in arguments.items():
        field = operation.fields[name]
        if field.place is RequestPart.BODY:
            body[field.name] = value
        elif field.place is RequestPart.WHOLE:
            whole = value
        elif value is None:
            continue
        elif field.place is RequestPart.PATH:
            path = path.replace("{" + field.name + "}", _in_path(field, value))
        elif field.place is RequestPart.QUERY:
            query += _pairs(field, value)
        elif field.place is RequestPart.HEADER:
            headers[field.name] = _in_header(field, value)
        else:
            cookies += _pairs(field, value)
    if cookies:
        headers["Cookie"] = "; ".join(cookies)
    content, media = _body(operation, body, whole)
    if content is not None:
        headers["Content-Type"] = media
    address = server.rstrip("/") + path
    if query:
        address += ("&" if "?" in address else "?") + "&".join(query)
    return HttpRequest(operation.method, address, headers, content)


def _in_path(field: RequestField, value: Json) -> str:
    style = field.style or "simple"
    explode = bool(field.explode)
    text = _joined(field, value, ",", explode)
    if style == "label":
        text = "." + _joined(field, value, "." if explode else ",", explode)
    elif style == "matrix":
        pairs = _pairs(RequestField(field.name, field.place, "form", explode), value)
        return ";" + ";".join(pairs)
    # Dots would address another path, and an empty segment the whole collection.
    if text.strip(".") == "" or text in ("%2E", "%2E%2E"):
        raise ValueError(f"{quoted(field.name)} cannot be {quoted(value)}: it is part of a path")
    return text


def _in_header(field: RequestField, value: Json) -> str:
    plain = json.dumps(value) if field.as_json else _joined(field, value, ",", bool(field.explode))
    text = plain if field.as_json or not isinstance(value, str) else value
    if any(ord(sign) < 32 or ord(sign) > 255 or ord(sign) == 127 for sign in text):
        raise ValueError(f"{quoted(field.name)} cannot be {quoted(value)}: it is a header")
    return text


def _pairs(field: RequestField, value: Json) -> list[str]:
    """Return a value as percent-encoded `name=value` pairs."""
    name = quote(field.name, safe="[]$")
    style = field.style or "form"
    explode = field.explode if field.explode is not None else style == "form"
    if field.as_json:
        return [f"{name}={quote(json.dumps(value), safe='')}"]
    if isinstance(value, dict):
        if style == "deepObject":
            return [f"{name}[{quote(key, safe='')}]={_text(one)}" for key, one in value.items()]
        if explode:
            return [f"{quote(key, safe='')}={_text(one)}" for key, one in value.items()]
    if isinstance(value, list) and explode:
        return [f"{name}={_text(one)}" for one in value]
    return [f"{name}={_joined(field, value, _SEPARATORS.get(style, ','), explode=False)}"]


def _joined(field: RequestField, value: Json, separator: str, explode: bool) -> str:
    if field.as_json:
        return quote(json.dumps(value), safe="")
    if isinstance(value, list):
        return separator.join(_text(one) for one in value)
    if isinstance(value, dict):
        pairs = [(quote(key, safe=""), _text(one)) for key, one in value.items()]
        mark = "=" if explode else separator
        return separator.join(f"{key}{mark}{one}" for key, one in pairs)
    return _text(value)


def _text(value: Json) -> str:
    return quote(_plain(value), safe="")


def _plain(value: Json) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value)


def _body(
    operation: ApiOperation, body: Mapping[str, Json], whole: Json
) -> tuple[bytes | None, str]:
    media = operation.media
    kind = _kind(media)
    expects = operation.method in ("POST", "PUT", "PATCH")
    if not media or (not body and whole is None and not expects):
        return None, ""
    if _is_json(kind):
        return json.dumps(body if whole is None else whole).encode(), media
    if kind == FORM:
        some = whole if isinstance(whole, dict) else body
        pairs = [
            (name, _plain(one))
            for name, value in some.items()
            for one in (value if isinstance(value, list) else [value])
        ]
        return urlencode(pairs).encode(), FORM
    if kind == MULTIPART:
        return _multipart(whole if isinstance(whole, dict) else body)
    return _plain(whole).encode(), media


def _multipart(body: Mapping[str, Json]) -> tuple[bytes, str]:
    boundary = secrets.token_hex(16)
    parts = []
    for name, value in body.items():
        for one in value if isinstance(value, list) else [value]:
            label = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{label}"\r\n'
            head += "Content-Type: application/json\r\n" if isinstance(one, dict) else ""
            parts.append(f"{head}\r\n{_plain(one)}\r\n")
    content = "".join(parts) + f"--{boundary}--\r\n"
    return content.encode(), f"{MULTIPART}; boundary={boundary}"


def _kind(media: str) -> str:
    return media.partition(";")[0].strip().lower()


def _is_json(kind: str) -> bool:
    return kind == "*/*" or kind.endswith(("/json", "+json"))
