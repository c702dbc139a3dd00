"""The operations of an OpenAPI document as a tool environment, called over HTTP."""

from __future__ import annotations

import base64
import http.client
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from hvr.base.numbers import check_real
from hvr.base.printable import one_line, short
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
from hvr.tools.calling.openapi_requests import (
    HttpAnswer,
    HttpRequest,
    NotSentError,
    exchange,
    request_of,
    sendable,
)
from hvr.tools.catalogue.openapi import (
    ApiOperation,
    is_openapi,
    read_openapi,
    read_security,
    read_servers,
)
from hvr.tools.catalogue.reading import read_document
from hvr.tools.catalogue.schema import Catalogue, quoted

MAX_REDIRECTS = 5
"""Maximum number of redirects per call."""

_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")


@dataclass(frozen=True)
class OpenApiServer:
    """An OpenAPI document and how to reach its server.

    Args:
        server: Base URL; if empty, the first server of the document.
        seconds: Time limit for one call, including redirects.
        auth: Name of the environment variable with the secret, by security scheme.
    """

    file: Path
    server: str = ""
    seconds: float = 30.0
    auth: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_real("seconds", self.seconds, 0.001, 86_400)


def read_server(value: Any, folder: Path, place: str) -> OpenApiServer:
    """Decode an `openapi` entry of a `world.toml`: a file name or a table.

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
    """Return the operations of a document as tools, without contacting the server.

    Raises:
        DataFileError: The document cannot be read.
    """
    return _described(server)[2]


def _described(server: OpenApiServer) -> tuple[Any, tuple[ApiOperation, ...], Catalogue]:
    """Return a document, its supported operations, and their catalogue."""
    document = read_document(server.file)
    if not is_openapi(document):
        raise DataFileError(f"{server.file}: this is not an OpenAPI document")
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
    """The operations of a document as tools.

    Nothing is sent until a tool is called. Secrets go only to the server of the document or world,
    never to another one that an operation or redirect names.

    Raises:
        DataFileError: The document cannot be read, or names no server.
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
        """Call an operation; a status other than success is a failed outcome."""
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

    def close(self) -> None:
        """Do nothing, since no connection is kept."""

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
    """A redirect that hvr does not follow."""


class _Secrets:
    """The secrets of a world's environment variables, by security scheme."""

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
        """Add the secrets of the first alternative for which all are known."""
        for names in self._alternatives(operation):
            if names and all(name in self._values for name in names):
                for name in names:
                    request = _signed(request, self._schemes[name], self._values[name])
                return request
        return request

    def advice(self, operation: ApiOperation) -> str:
        """Return advice for a call that the server did not authenticate."""
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
        raise _RefusedError(f"the server redirects to {_shown(place)}, which is not followed")
    # Only a safe request without secrets or a body may go to another server.
    plain = {name: request.headers[name] for name in ("Accept", "User-Agent")}
    if status == 303 and request.method not in _SAFE:
        return HttpRequest("GET", place, dict(request.headers) if same else plain)
    if request.method in _SAFE:
        return replace(request, url=place, headers=request.headers if same else plain)
    if same and status in (307, 308):
        return replace(request, url=place)
    raise _RefusedError(
        f"the server redirects {request.method} to {_shown(place)}, which is not followed; "
        "name the right server in the world's file"
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
    """Return the value of JSON, the text of text, or the type and size of any other body."""
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
