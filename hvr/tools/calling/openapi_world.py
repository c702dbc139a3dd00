"""The operations of an OpenAPI document as a tool environment, called over HTTP."""

from __future__ import annotations

import base64
import http.client
import json
import os
import secrets
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit
from urllib.request import getproxies

from hvr.base.printable import one_line, short
from hvr.base.proxies import proxy_of
from hvr.base.texts import check_real
from hvr.errors import DataFileError, UsageError
from hvr.tools.calling.calls import (
    CallFailure,
    CallOutcome,
    Json,
    ToolCall,
    check_result,
    checked_tool,
    with_nulls,
)
from hvr.tools.catalogue.openapi import (
    ApiOperation,
    RequestField,
    RequestPart,
    is_openapi,
    read_openapi,
    read_security,
    read_servers,
)
from hvr.tools.catalogue.reading import read_document
from hvr.tools.catalogue.schema import Catalogue, quoted

# HTTP exchange ------------------------------------------------------------------------------------
# Build HTTP requests for OpenAPI operations, and exchange them with the server.

MAX_BYTES = 20_000_000
"""Maximum size of a reply in bytes."""


@dataclass(frozen=True)
class HttpRequest:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


@dataclass(frozen=True)
class HttpAnswer:
    """An HTTP response; header names are in lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


class NotSentError(OSError):
    """No connection was made, so the server did not receive the request."""


def exchange(request: HttpRequest, seconds: float) -> HttpAnswer:
    """Send a request and return the response, without following redirects.

    The request goes through the environment's proxies, except to local servers. The time limit is
    from connecting to the last byte of the response.

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
        if time.monotonic() >= end:  # the timeout closed the connection, which looks like its end
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
    """Return whether hvr can encode a request body of a media type: empty, JSON, a form or text."""
    kind = _kind(media)
    return not media or kind in (FORM, MULTIPART) or _is_json(kind) or kind.startswith("text/")


def request_of(operation: ApiOperation, server: str, arguments: Mapping[str, Json]) -> HttpRequest:
    """Return the HTTP request for a call of an operation.

    Args:
        server: Base URL of the server.
        arguments: Values by parameter; nulls are sent only in the body.

    Raises:
        ValueError: A value cannot be encoded in its part of the request.
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
        raise ValueError(f"{quoted(value)} cannot be used in the URL path for {quoted(field.name)}")
    return text


def _in_header(field: RequestField, value: Json) -> str:
    plain = json.dumps(value) if field.as_json else _joined(field, value, ",", bool(field.explode))
    text = plain if field.as_json or not isinstance(value, str) else value
    if any(ord(sign) < 32 or ord(sign) > 255 or ord(sign) == 127 for sign in text):
        raise ValueError(
            f"{quoted(field.name)} cannot be {quoted(value)}: headers must be Latin-1 text"
        )
    return text


def _pairs(field: RequestField, value: Json) -> list[str]:
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


# --------------------------------------------------------------------------------------------------

MAX_REDIRECTS = 5
"""Maximum number of redirects per call."""

_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")


@dataclass(frozen=True)
class OpenApiServer:
    """An OpenAPI document and how to reach its server.

    Args:
        server: Base URL; empty for the first server in the document.
        seconds: Time limit of a call in seconds, including redirects.
        auth: For each security scheme, the environment variable that contains the secret.
    """

    file: Path
    server: str = ""
    seconds: float = 30.0
    auth: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_real("seconds", self.seconds, 0.001, 86_400)


def read_server(value: Any, folder: Path, place: str) -> OpenApiServer:
    """Decode an `openapi` entry of a folder's `world.toml`: a file name or a table.

    Raises:
        DataFileError: The entry is invalid.
    """
    table: Any = {"file": value} if isinstance(value, str) else value
    kinds = {"file": str, "server": str, "seconds": (int, float), "auth": dict}
    good = isinstance(table, dict) and "file" in table and set(table) <= set(kinds)
    good = good and all(isinstance(table[key], kinds[key]) for key in table)  # type: ignore[arg-type]
    if not good or not all(isinstance(one, str) for one in table.get("auth", {}).values()):
        raise DataFileError(
            f'{place}: openapi must be "FILE" or {{ file = "FILE" }}, which may have server = '
            f'"URL", seconds, and auth = {{ SCHEME = "VARIABLE" }}, found {quoted(value)}'
        )
    return OpenApiServer(**{**table, "file": folder / table["file"]})


def listed_operations(server: OpenApiServer) -> Catalogue:
    """Return a document's operations as tools, without those whose body hvr cannot encode."""
    return _described(server)[2]


def _described(server: OpenApiServer) -> tuple[Any, tuple[ApiOperation, ...], Catalogue]:
    document = read_document(server.file)
    if not is_openapi(document):
        raise DataFileError(
            f"{server.file}: expected an OpenAPI document, found no 'openapi' entry"
        )
    described = read_openapi(document, str(server.file))
    operations = tuple(one for one in described.operations if sendable(one.media))
    unsendable = tuple(
        f"{server.file}: {one.method} {quoted(one.path)} left out: its body has "
        f"the unsupported type {quoted(one.media)} (supported: JSON, forms and text)"
        for one in described.operations
        if not sendable(one.media)
    )
    tools = tuple(one.tool for one in operations)
    return document, operations, Catalogue(tools, (*described.left_out, *unsendable))


class OpenApiTools:
    """The operations of an OpenAPI document as tools.

    Nothing is sent until a tool is called. Secrets are sent only to the server that the document or
    the world names, never to one named by a single operation or a redirect.

    Raises:
        DataFileError: The file is not an OpenAPI 3 document.
        UsageError: An environment variable with a secret is not set.
    """

    def __init__(self, server: OpenApiServer) -> None:
        document, operations, self._catalogue = _described(server)
        self._operations = {one.tool.name: one for one in operations}
        self._seconds = server.seconds
        self._base = _address(server, read_servers(document.get("servers")))
        self._secrets = _Secrets(document, server)

    @property
    def catalogue(self) -> Catalogue:
        return self._catalogue

    def reset(self) -> None:
        """Do nothing, since a remote server cannot be reset."""

    def call(self, call: ToolCall) -> CallOutcome:
        """Call an operation; the outcome is a failure unless the HTTP status is 2xx."""
        tool = checked_tool(self._catalogue, call)
        if isinstance(tool, CallOutcome):
            return tool
        operation = self._operations[call.tool]
        start = time.monotonic()
        try:
            server = urljoin(self._base, operation.servers[0]) if operation.servers else self._base
            request = request_of(operation, server, with_nulls(tool, call.arguments))
            if _origin(server) == _origin(self._base):
                request = self._secrets.added(request, operation)
            answer = self._followed(request, start + self._seconds)
        except ValueError as wrong:
            return CallOutcome(call, None, CallFailure.BAD_ARGUMENTS, str(wrong))
        except _RefusedError as refusal:
            failure, error = CallFailure.WRONG_TYPE, str(refusal)
        except NotSentError as error_:
            failure, error = CallFailure.UNAVAILABLE, f"{_shown(self._base)}: {error_}"
        except TimeoutError as error_:
            failure, error = CallFailure.TIMED_OUT, str(error_)
        except (OSError, http.client.HTTPException) as error_:
            failure, error = CallFailure.UNAVAILABLE, str(error_) or type(error_).__name__
        else:
            outcome = self._outcome(call, answer, operation, time.monotonic() - start)
            return check_result(tool, outcome)
        return CallOutcome(call, None, failure, error, time.monotonic() - start)

    def state(self) -> Json:
        """Return None, since servers do not expose their state."""
        return None

    def close(self) -> None: ...

    def _followed(self, request: HttpRequest, end: float) -> HttpAnswer:
        for _ in range(MAX_REDIRECTS + 1):
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer within {self._seconds:g} s")
            answer = exchange(request, left)
            place = answer.headers.get("location", "")
            if answer.status not in (301, 302, 303, 307, 308) or not place:
                return answer
            request = _redirected(request, answer.status, urljoin(request.url, place))
        raise _RefusedError(f"the server redirects more than {MAX_REDIRECTS} times")

    def _outcome(
        self, call: ToolCall, answer: HttpAnswer, operation: ApiOperation, seconds: float
    ) -> CallOutcome:
        failure = _failure(answer.status)
        try:
            result = _content(answer)
        except ValueError as invalid:
            if failure is None:
                error = f"the response is not valid JSON, despite its content type: {invalid}"
                return CallOutcome(call, None, CallFailure.WRONG_TYPE, error, seconds)
            result = answer.body.decode("utf-8", "replace")
        if failure is None:
            return CallOutcome(call, result, seconds=seconds)
        detail = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        error = f"HTTP {answer.status} {answer.reason}".strip()
        error += f": {detail}" if detail and result is not None else ""
        if answer.status == 401:
            error += self._secrets.advice(operation)
        return CallOutcome(call, None, failure, error, seconds)


class _RefusedError(Exception):
    """A redirect that hvr refuses to follow."""


class _Secrets:
    def __init__(self, document: Mapping[str, Any], server: OpenApiServer) -> None:
        components = document.get("components")
        schemes = components.get("securitySchemes") if isinstance(components, dict) else None
        self._schemes = schemes if isinstance(schemes, dict) else {}
        self._default = read_security(document.get("security")) or ()
        self._values: dict[str, str] = {}
        for name, variable in server.auth.items():
            if not isinstance(self._schemes.get(name), dict):
                known = ", ".join(map(quoted, self._schemes)) or "none"
                raise DataFileError(
                    f"{server.file}: no security scheme named {quoted(name)} (schemes: {known})"
                )
            value = os.environ.get(variable, "").strip()
            if not value:
                raise UsageError(f"{name}: the environment variable {variable} is not set")
            self._values[name] = value

    def added(self, request: HttpRequest, operation: ApiOperation) -> HttpRequest:
        for names in self._alternatives(operation):
            if names and all(name in self._values for name in names):
                for name in names:
                    request = _signed(request, self._schemes[name], self._values[name])
                return request
        return request

    def advice(self, operation: ApiOperation) -> str:
        names = sorted({name for some in self._alternatives(operation) for name in some})
        schemes = " or ".join(names) or "a scheme"
        return f" (the world's auth must name a variable with the secret of {schemes})"

    def _alternatives(self, operation: ApiOperation) -> tuple[tuple[str, ...], ...]:
        return self._default if operation.security is None else operation.security


def _signed(request: HttpRequest, scheme: Mapping[str, Any], secret: str) -> HttpRequest:
    headers = dict(request.headers)
    name, where = str(scheme.get("name", "")), scheme.get("in")
    if scheme.get("type") == "apiKey" and where == "query":
        mark = "&" if "?" in request.url else "?"
        return replace(request, url=f"{request.url}{mark}{quote(name)}={quote(secret, safe='')}")
    if scheme.get("type") == "apiKey" and where == "cookie":
        before = f"{headers['Cookie']}; " if "Cookie" in headers else ""
        headers["Cookie"] = f"{before}{name}={secret}"
    elif scheme.get("type") == "apiKey":
        headers[name] = secret
    elif scheme.get("type") == "http" and str(scheme.get("scheme")).lower() == "basic":
        headers["Authorization"] = f"Basic {base64.b64encode(secret.encode()).decode()}"
    else:
        headers["Authorization"] = f"Bearer {secret}"
    return replace(request, headers=headers)


def _address(server: OpenApiServer, named: tuple[str, ...]) -> str:
    address = server.server or (named[0] if named else "")
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).netloc:
        found = f"its server is {quoted(address)}" if address else "it names no server"
        raise DataFileError(
            f'{server.file}: {found}; write server = "http://HOST/PATH" in the world\'s file'
        )
    return address


def _redirected(request: HttpRequest, status: int, place: str) -> HttpRequest:
    same = _origin(place) == _origin(request.url)
    if urlsplit(place).scheme not in ("http", "https") or (
        urlsplit(request.url).scheme == "https" and urlsplit(place).scheme != "https"
    ):
        raise _RefusedError(f"the server redirects to {_shown(place)}, which hvr does not follow")
    # Only safe requests without secrets and body may go to another server.
    plain = {name: request.headers[name] for name in ("Accept", "User-Agent")}
    if status == 303 and request.method not in _SAFE:
        return HttpRequest("GET", place, dict(request.headers) if same else plain)
    if request.method in _SAFE:
        return replace(request, url=place, headers=request.headers if same else plain)
    if same and status in (307, 308):
        return replace(request, url=place)
    raise _RefusedError(
        f"the server redirects {request.method} to {_shown(place)}; hvr does not "
        "follow this redirect: name the right server in the world's file"
    )


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", port


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _failure(status: int) -> CallFailure | None:
    if 200 <= status < 300:
        return None
    if status in (400, 422):
        return CallFailure.BAD_ARGUMENTS
    if status in (408, 504):
        return CallFailure.TIMED_OUT
    if status == 429 or status >= 500:
        return CallFailure.UNAVAILABLE
    return CallFailure.REFUSED if status >= 400 else CallFailure.WRONG_TYPE


def _content(answer: HttpAnswer) -> Json:
    if not answer.body:
        return None
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.endswith(("/json", "+json")):
        try:
            value: Json = json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise ValueError(short(one_line(str(error)), 200)) from None
        return value
    if kind and not kind.startswith("text/") and not kind.endswith(("/xml", "+xml")):
        return {"type": kind, "bytes": len(answer.body)}
    return answer.body.decode("utf-8", "replace")
