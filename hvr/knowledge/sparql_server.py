"""A SPARQL 1.1 server: queries, updates and whole graphs over HTTP.

The SPARQL 1.1 Protocol and the Graph Store HTTP Protocol say how; which paths a server has for them
differs, so that an address may begin with the name of a product: `fuseki+http://host:3030/robots`.
"""

from __future__ import annotations

import http.client
import ssl
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Self
from urllib.parse import quote, urlencode, urlsplit

from pyoxigraph import (
    Literal,
    QueryBoolean,
    QueryResultsFormat,
    RdfFormat,
    parse,
    parse_query_results,
)

from hvr.errors import StoreError, UsageError
from hvr.knowledge.query import TRIPLE
from hvr.knowledge.result import QueryResult
from hvr.knowledge.sparql_text import refuse_service
from hvr.knowledge.terms import PREFIXES, Node, value
from hvr.printable import short

LAYOUTS = {
    "oxigraph": ("query", "update", "store"),
    "fuseki": ("query", "update", "data"),
    "graphdb": ("", "statements", "rdf-graphs/service"),
    "virtuoso": ("sparql", "sparql", "sparql-graph-crud"),
}
"""Paths below the address of a server: for queries, for updates, for graphs."""
USER, PASSWORD, TOKEN = "HVR_STORE_USER", "HVR_STORE_PASSWORD", "HVR_STORE_TOKEN"
"""Variables of the environment with what a server wants to be shown."""

_ANSWERS = "application/sparql-results+json, application/n-triples;q=0.9"
_TRIPLES = "application/n-triples"
_UNAUTHORISED = (401, 403)


@dataclass(frozen=True)
class ServerAddress:
    """Where a server is, and how it is asked.

    Args:
        text: the address without the name of a layout, `http://localhost:7878`.
        layout: one of `LAYOUTS`.
        credentials: value of the header Authorization; empty for none.
    """

    text: str
    layout: str = "oxigraph"
    credentials: str = field(default="", repr=False)

    @classmethod
    def read(cls, text: str, environment: Mapping[str, str]) -> Self:
        """Read an address as people write it: `http://localhost:7878`, `fuseki+http://…`.

        Args:
            text: the address.
            environment: may have a user and a password, or a token.

        Raises:
            UsageError: it is no address of a server, or has a password in it.
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
                f"{short(text)!r} is no address of a SPARQL server: http://HOST:PORT/PATH, "
                f"with {', '.join(f'{name}+' for name in LAYOUTS)} before it for other paths than "
                "Oxigraph's",
                field="store",
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            raise UsageError(
                f"the address of the store has more than host and path; name the user in {USER} "
                f"and the password in {PASSWORD}, or a token in {TOKEN}",
                field="store",
            )
        return cls(address.rstrip("/"), layout, _credentials(environment))

    def path(self, use: int) -> str:
        """Return the path for queries (0), updates (1) or graphs (2)."""
        base, below = urlsplit(self.text).path, LAYOUTS[self.layout][use]
        return f"{base}/{below}" if below else base or "/"


class SparqlServer:
    """A server, over one connection that is opened when it is needed.

    Args:
        address: where it is.
        timeout: most seconds to wait for an answer.
    """

    def __init__(self, address: ServerAddress, timeout: float = 30.0) -> None:
        self.address = address
        self._timeout = timeout
        self._connection: http.client.HTTPConnection | None = None

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
        """Answer a query; the prefixes of `terms.PREFIXES` are known.

        Args:
            sparql: the query.
            rows: most rows; None for all.
            graphs: IRIs of graphs whose triples are asked as one; none for the server's own choice.
            allow_service: whether SERVICE may open connections from the server.

        Raises:
            StoreError: the server refuses the query, or does not answer (exit code 4).
        """
        if not allow_service:
            refuse_service(sparql)
        variables, answers = self.solutions(sparql, graphs)
        kept = [tuple(map(value, row)) for row in islice(answers, rows)]
        return QueryResult(variables, tuple(kept), complete=next(answers, None) is None)

    def solutions(
        self, sparql: str, graphs: Sequence[str] = ()
    ) -> tuple[tuple[str, ...], Iterator[tuple[Node | None, ...]]]:
        """Return the names of the columns of an answer, and its rows as terms.

        Raises:
            StoreError: see `query`.
        """
        # On one line, so that the server's complaints name the lines of the query.
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
            return tuple(v.value for v in answer.variables), iter([tuple(row) for row in answer])
        except (SyntaxError, ValueError) as error:
            raise StoreError(
                f"{self.address.text}: the answer is no result of a query: {error}", exit_code=4
            ) from error

    def update(self, sparql: str) -> None:
        """Change the store; all of an update or, where the server keeps to it, nothing.

        An update is sent again if the connection was closed meanwhile, so it should say what is
        to be so (INSERT DATA, DELETE DATA), not count.

        Raises:
            StoreError: the server refuses the update, or does not answer (exit code 4).
        """
        body = sparql.encode()
        headers = {"Content-Type": "application/sparql-update"}
        if self.address.layout == "virtuoso":
            body = urlencode({"query": sparql}).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
        self._send("POST", self.address.path(1), body, headers)

    def put(self, graph: str, triples: bytes) -> None:
        """Let a named graph have these triples and no others.

        Args:
            graph: its IRI.
            triples: as N-Triples.

        Raises:
            StoreError: the server refuses, or does not answer (exit code 4).
        """
        self._send("PUT", self._graph(graph), triples, {"Content-Type": _TRIPLES})

    def get(self, graph: str) -> bytes:
        """Return the triples of a named graph as N-Triples; nothing if there is none.

        Raises:
            StoreError: the server refuses, or does not answer (exit code 4).
        """
        accept = {"Accept": _TRIPLES}
        return self._send("GET", self._graph(graph), b"", accept, missing=True)[1]

    def _graph(self, graph: str) -> str:
        return f"{self.address.path(2)}?graph={quote(graph, safe='')}"

    def _send(
        self, method: str, path: str, body: bytes, headers: dict[str, str], missing: bool = False
    ) -> tuple[str, bytes]:
        """Return type and body of the answer."""
        if self.address.credentials:
            headers = {**headers, "Authorization": self.address.credentials}
        again = self._connection is not None
        while True:
            try:
                connection = self._connected()
                connection.request(method, path, body or None, headers)
                response = connection.getresponse()
                data = response.read()
                break
            except (OSError, http.client.HTTPException) as error:
                self.close()
                # A server closes connections that rest; nothing of the request was done then.
                if again and not isinstance(error, TimeoutError):
                    again = False
                    continue
                raise self._unreachable(error) from error
        if response.status == 404 and missing:
            return "", b""
        if response.status >= 300:
            raise self._refused(response.status, data)
        return (response.headers.get_content_type(), data)

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            parts = urlsplit(self.address.text)
            host = parts.hostname or ""
            if parts.scheme == "https":
                context = ssl.create_default_context()
                self._connection = http.client.HTTPSConnection(
                    host, parts.port, timeout=self._timeout, context=context
                )
            else:
                self._connection = http.client.HTTPConnection(
                    host, parts.port, timeout=self._timeout
                )
        return self._connection

    def _unreachable(self, error: Exception) -> StoreError:
        if isinstance(error, TimeoutError):
            what = f"did not answer within {self._timeout:g} s"
        else:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            what = f"does not answer: {reason}"
        return StoreError(f"the store at {self.address.text} {what}", exit_code=4)

    def _refused(self, status: int, data: bytes) -> StoreError:
        said = " ".join(data.decode("utf-8", "replace").split())
        if status in _UNAUTHORISED:
            return StoreError(
                f"the store at {self.address.text} wants another user: set {USER} and {PASSWORD}, "
                f"or {TOKEN} (HTTP {status})"
            )
        return StoreError(
            f"the store at {self.address.text} refused (HTTP {status}): {short(said, 300)}",
            exit_code=4 if status >= 500 else 2,
        )


def _credentials(environment: Mapping[str, str]) -> str:
    token, user = environment.get(TOKEN), environment.get(USER)
    if token:
        return f"Bearer {token}"
    if user:
        pair = f"{user}:{environment.get(PASSWORD, '')}"
        return f"Basic {b64encode(pair.encode()).decode()}"
    return ""
