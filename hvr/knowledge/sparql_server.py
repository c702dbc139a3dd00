"""A client of SPARQL 1.1 servers: queries, updates and whole graphs over HTTP.

It uses the SPARQL 1.1 Protocol and the Graph Store HTTP Protocol. Paths differ between servers, so
an address may start with the name of a product: `fuseki+http://host:3030/robots`.
"""

from __future__ import annotations

import http.client
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Self
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import (
    AbstractDigestAuthHandler,
    HTTPPasswordMgrWithDefaultRealm,
    Request,
    parse_http_list,
    parse_keqv_list,
)

from pyoxigraph import (
    Literal,
    QueryBoolean,
    QueryResultsFormat,
    RdfFormat,
    parse,
    parse_query_results,
)

from hvr.base.printable import short
from hvr.errors import StoreError, UsageError
from hvr.knowledge.query import TRIPLE, QueryResult, refuse_service
from hvr.knowledge.terms import PREFIXES, Node, value

# Authentication -----------------------------------------------------------------------------------
# A token, or a user name and password with Basic or Digest (RFC 7616).

USER, PASSWORD, TOKEN = "HVR_STORE_USER", "HVR_STORE_PASSWORD", "HVR_STORE_TOKEN"
"""Environment variables with the credentials for a server."""

_ALGORITHMS = ("MD5", "SHA", "SHA-256")


@dataclass(frozen=True)
class Login:
    """The credentials for a server; empty for a server without authentication."""

    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        """Read the credentials from environment variables."""
        token = environment.get(TOKEN, "")
        if token:
            return cls(token=token)
        return cls(environment.get(USER, ""), environment.get(PASSWORD, ""))

    @property
    def plain(self) -> str:
        """The value of the Authorization header without a challenge; empty for none."""
        if self.token:
            return f"Bearer {self.token}"
        if self.user:
            return f"Basic {b64encode(f'{self.user}:{self.password}'.encode()).decode()}"
        return ""


class Authenticator:
    """Answer the challenges of one server, and reuse the last one.

    If `preemptive`, the first request has the credentials in plain; a server that uses Digest
    should never see the password.
    """

    def __init__(self, login: Login, *, preemptive: bool = True) -> None:
        self._login = login
        self._preemptive = preemptive
        self._challenge: dict[str, str] = {}
        self._passwords = HTTPPasswordMgrWithDefaultRealm()
        self._digest = AbstractDigestAuthHandler(self._passwords)

    def header(self, method: str, url: str) -> dict[str, str]:
        """Return the Authorization header for a request, if any."""
        if not self._challenge:
            value = self._login.plain if self._preemptive or self._login.token else ""
        else:
            self._passwords.add_password(None, url, self._login.user, self._login.password)
            request = Request(url, method=method)
            credentials = self._digest.get_authorization(request, self._challenge)
            value = f"Digest {credentials}" if credentials else ""
        return {"Authorization": value} if value else {}

    def accept_challenge(self, challenges: Iterable[str]) -> bool:
        """Process the WWW-Authenticate headers of a server.

        Returns:
            Whether a challenge can be answered.
        """
        if not self._login.user:
            return False
        for text in challenges:
            scheme, _, rest = text.partition(" ")
            if scheme.lower() == "digest":
                challenge = parse_keqv_list(parse_http_list(rest))
                ways = challenge.get("qop", "auth").replace(" ", "").split(",")
                if challenge.get("algorithm", "MD5") in _ALGORITHMS and "auth" in ways:
                    self._challenge = (
                        {**challenge, "qop": "auth"} if "qop" in challenge else challenge
                    )
                    return True
            elif scheme.lower() == "basic" and not self._preemptive:
                self._preemptive = True
                return True
        return False


# Server -------------------------------------------------------------------------------------------

LAYOUTS = {
    "oxigraph": ("query", "update", "store"),
    "fuseki": ("query", "update", "data"),
    "graphdb": ("", "statements", "rdf-graphs/service"),
    "virtuoso": ("sparql", "sparql", "sparql-graph-crud"),
}
"""Paths below the server address: for queries, for updates, for graphs."""
_AUTHENTICATED = {"virtuoso": ("sparql-auth", "sparql-auth", "sparql-graph-crud-auth")}
"""Paths for authenticated requests, where they differ; these require Digest."""
_ANSWERS = "application/sparql-results+json, application/n-triples;q=0.9"
_TRIPLES = "application/n-triples"
_BOOLEAN = Literal(True).datatype
_UNAUTHORISED = (401, 403)
_ASK_COLUMNS = ("__ASK_RETVAL",)
"""The column of Virtuoso's ASK results: a row with 1, or no row."""


@dataclass(frozen=True)
class ServerAddress:
    """The address of a server, and how to access it.

    Args:
        text: Address without the name of a layout, such as `http://localhost:7878`.
        layout: One of `LAYOUTS`.
    """

    text: str
    layout: str = "oxigraph"
    login: Login = field(default_factory=Login, repr=False)

    @classmethod
    def read(cls, text: str, environment: Mapping[str, str]) -> Self:
        """Parse an address such as `http://localhost:7878` or `fuseki+http://…`.

        Args:
            environment: Environment variables, which may contain a user and a password, or a token.

        Raises:
            UsageError: The text is not a server address, or contains a password.
        """
        head, plus, rest = text.partition("+")
        layout, address = (head, rest) if plus and head in LAYOUTS else ("oxigraph", text)
        try:
            parts = urlsplit(address)
            known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            known = False
        if not known:
            raise UsageError(
                f"{short(text)!r} is not the address of a SPARQL server: "
                f"expected http://HOST:PORT/PATH, "
                f"with {', '.join(f'{name}+' for name in LAYOUTS)} before it for paths other than "
                "Oxigraph's",
                field="store",
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            raise UsageError(
                f"the address of the store must have only host and path; set the user in {USER} "
                f"and the password in {PASSWORD}, or a token in {TOKEN}",
                field="store",
            )
        return cls(address.rstrip("/"), layout, Login.read(environment))

    def path(self, use: int) -> str:
        """Return the path for queries (0), updates (1) or graphs (2)."""
        asked = self.login.user and _AUTHENTICATED.get(self.layout)
        base, below = urlsplit(self.text).path, (asked or LAYOUTS[self.layout])[use]
        return f"{base}/{below}" if below else base or "/"


class SparqlServer:
    """A server, over one connection that is opened on demand; `timeout` is in seconds.

    Methods raise `StoreError` if the server rejects a request, or does not answer (exit code 4).
    """

    def __init__(self, address: ServerAddress, timeout: float = 30.0) -> None:
        self.address = address
        self._timeout = timeout
        self._connection: http.client.HTTPConnection | None = None
        self._authenticator = Authenticator(
            address.login, preemptive=address.layout not in _AUTHENTICATED
        )

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def query(
        self,
        sparql: str,
        *,
        rows: int | None = None,
        graphs: Sequence[str] = (),
        allow_service: bool = False,
    ) -> QueryResult:
        """Run a query with the prefixes of `terms.PREFIXES`.

        Args:
            rows: Maximum number of rows; None for all.
            graphs: IRIs of graphs to query as one; none for the server's default.
            allow_service: Whether SERVICE may open connections from the server.
        """
        if not allow_service:
            refuse_service(sparql)
        variables, answers = self.solutions(sparql, graphs)
        kept = [tuple(map(value, row)) for row in islice(answers, rows)]
        return QueryResult(variables, tuple(kept), complete=next(answers, None) is None)

    def solutions(
        self, sparql: str, graphs: Sequence[str] = ()
    ) -> tuple[tuple[str, ...], Iterator[tuple[Node | None, ...]]]:
        """Return the column names of a result, and its rows as terms."""
        # On one line, so that line numbers in the server's errors match the query.
        prologue = " ".join(f"PREFIX {name}: <{iri}>" for name, iri in PREFIXES.items())
        fields = [("query", f"{prologue} {sparql}"), *(("default-graph-uri", g) for g in graphs)]
        body = urlencode(fields).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": _ANSWERS}
        kind, data = self._send("POST", self.address.path(0), body, headers)
        try:
            if kind == _TRIPLES:
                triples = [
                    (t.subject, t.predicate, t.object)
                    for t in parse(data, format=RdfFormat.N_TRIPLES)
                ]
                return TRIPLE, iter(triples)
            answer = parse_query_results(data, QueryResultsFormat.JSON)
            if isinstance(answer, QueryBoolean):
                return ("answer",), iter([(Literal(bool(answer)),)])
            names = tuple(v.value for v in answer.variables)
            if names == _ASK_COLUMNS:
                found = any(row[0].value == "1" for row in answer)
                return ("answer",), iter([(Literal(found),)])
            return names, iter([tuple(map(_plain, row)) for row in answer])
        except (SyntaxError, ValueError) as error:
            raise StoreError(
                f"{self.address.text}: expected a query result: {error}", exit_code=4
            ) from error

    def update(self, sparql: str) -> None:
        """Change the store, atomically if the server supports it.

        An update is sent again if the connection was closed, so it must be idempotent (INSERT DATA,
        DELETE DATA).
        """
        body = sparql.encode()
        headers = {"Content-Type": "application/sparql-update"}
        if self.address.layout == "virtuoso":
            body = urlencode({"query": sparql}).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
        self._send("POST", self.address.path(1), body, headers)

    def put(self, graph: str, triples: bytes) -> None:
        """Replace the contents of a named graph."""
        self._send("PUT", self._graph(graph), triples, {"Content-Type": _TRIPLES})

    def get(self, graph: str) -> bytes:
        """Return the triples of a named graph as N-Triples; empty if it does not exist."""
        accept = {"Accept": _TRIPLES}
        return self._send("GET", self._graph(graph), b"", accept, missing=True)[1]

    def _graph(self, graph: str) -> str:
        return f"{self.address.path(2)}?graph={quote(graph, safe='')}"

    def _send(
        self, method: str, path: str, body: bytes, headers: dict[str, str], missing: bool = False
    ) -> tuple[str, bytes]:
        response, data = self._exchange(method, path, body, headers)
        if response.status == 401 and self._authenticator.accept_challenge(
            response.headers.get_all("WWW-Authenticate", [])
        ):
            response, data = self._exchange(method, path, body, headers)
        if response.status == 404 and missing:
            return "", b""
        if response.status >= 300:
            raise self._refused(response.status, data)
        return (response.headers.get_content_type(), data)

    def _exchange(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        parts = urlsplit(self.address.text)
        url = f"{parts.scheme}://{parts.netloc}{path}"
        again = self._connection is not None
        while True:
            shown = {**headers, **self._authenticator.header(method, url)}
            try:
                connection = self._connected()
                connection.request(method, path, body or None, shown)
                response = connection.getresponse()
                return response, response.read()
            except (OSError, http.client.HTTPException) as error:
                self.close()
                # A server closes idle connections before it processes the request, so retry once.
                if again and not isinstance(error, TimeoutError):
                    again = False
                    continue
                raise self._unreachable(error) from error

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            parts = urlsplit(self.address.text)
            secure = parts.scheme == "https"
            kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
            self._connection = kind(parts.hostname or "", parts.port, timeout=self._timeout)
        return self._connection

    def _unreachable(self, error: Exception) -> StoreError:
        if isinstance(error, TimeoutError):
            what = f"did not answer within {self._timeout:g} s"
        else:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            what = f"does not answer: {reason}"
        return StoreError(f"the store at {self.address.text} {what}", exit_code=4)

    def _refused(self, status: int, data: bytes) -> StoreError:
        detail = " ".join(data.decode("utf-8", "replace").split())
        if status in _UNAUTHORISED:
            return StoreError(
                f"the store at {self.address.text} refused the credentials "
                f"(HTTP {status}): set {USER} and {PASSWORD}, or {TOKEN}"
            )
        return StoreError(
            f"the store at {self.address.text} refused the request "
            f"(HTTP {status}): {short(detail, 300)}",
            exit_code=4 if status >= 500 else 2,
        )


def _plain(node: Node | None) -> Node | None:
    if isinstance(node, Literal) and node.datatype == _BOOLEAN:
        return Literal(node.value in ("true", "1"))
    return node
