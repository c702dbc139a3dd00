"""A client for SPARQL 1.1 servers: queries, updates and whole graphs over HTTP.

It uses the SPARQL 1.1 Protocol and the Graph Store HTTP Protocol. Paths differ between servers, so
an address may start with the name of a product: `fuseki+http://host:3030/robots`.
"""

from __future__ import annotations

import hashlib
import http.client
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import (
    AbstractDigestAuthHandler,
    HTTPPasswordMgrWithDefaultRealm,
    Request,
    parse_http_list,
    parse_keqv_list,
)

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    RdfFormat,
    parse,
    parse_query_results,
    serialize,
)

from hvr.base.printable import short
from hvr.errors import StoreError, UnknownObjectError, UsageError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.query import TRIPLE, QueryResult, refuse_service
from hvr.knowledge.terms import EVENT, LABEL, PREFIXES, RDF_TYPE, Node, date_time, k, obj, value

# Authentication -----------------------------------------------------------------------------------
# A token, or a user name and password for Basic or Digest authentication (RFC 7616).

USER, PASSWORD, TOKEN = "HVR_STORE_USER", "HVR_STORE_PASSWORD", "HVR_STORE_TOKEN"
"""Environment variables with the credentials for a server."""

_ALGORITHMS = ("MD5", "SHA", "SHA-256")


@dataclass(frozen=True)
class Login:
    """The credentials for a server, empty for a server without authentication."""

    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        token = environment.get(TOKEN, "")
        if token:
            return cls(token=token)
        return cls(environment.get(USER, ""), environment.get(PASSWORD, ""))

    @property
    def plain(self) -> str:
        """The Authorization header to send before any challenge; "" if there are no credentials."""
        if self.token:
            return f"Bearer {self.token}"
        if self.user:
            return f"Basic {b64encode(f'{self.user}:{self.password}'.encode()).decode()}"
        return ""


class Authenticator:
    """Answers the authentication challenges of one server, and reuses the last challenge.

    If `preemptive`, the first request contains the credentials in clear text, which is unsafe if
    the server uses Digest to avoid seeing the password.
    """

    def __init__(self, login: Login, *, preemptive: bool = True) -> None:
        self._login = login
        self._preemptive = preemptive
        self._challenge: dict[str, str] = {}
        self._passwords = HTTPPasswordMgrWithDefaultRealm()
        self._digest = AbstractDigestAuthHandler(self._passwords)

    def header(self, method: str, url: str) -> dict[str, str]:
        if not self._challenge:
            value = self._login.plain if self._preemptive or self._login.token else ""
        else:
            self._passwords.add_password(None, url, self._login.user, self._login.password)
            request = Request(url, method=method)
            credentials = self._digest.get_authorization(request, self._challenge)
            value = f"Digest {credentials}" if credentials else ""
        return {"Authorization": value} if value else {}

    def accept_challenge(self, challenges: Iterable[str]) -> bool:
        """Process a server's WWW-Authenticate headers; return whether hvr can answer one.

        It cannot if it has no user, or if the server only repeats a request for Basic credentials.
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
"""Paths below the server address: for queries, updates and graphs."""
_AUTHENTICATED = {"virtuoso": ("sparql-auth", "sparql-auth", "sparql-graph-crud-auth")}
"""Paths for authenticated requests, where they differ; these paths require Digest."""
_ANSWERS = "application/sparql-results+json, application/n-triples;q=0.9"
_TRIPLES = "application/n-triples"
_BOOLEAN = Literal(True).datatype
_UNAUTHORISED = (401, 403)
_ASK_COLUMNS = ("__ASK_RETVAL",)
"""The column of Virtuoso's ASK results, which have a row with 1 or no row."""


@dataclass(frozen=True)
class ServerAddress:
    """A server's address, such as `http://localhost:7878`, with its paths and credentials."""

    text: str
    layout: str = "oxigraph"
    login: Login = field(default_factory=Login, repr=False)

    @classmethod
    def read(cls, text: str, environment: Mapping[str, str]) -> Self:
        """Parse an address such as `http://localhost:7878` or `fuseki+http://…`.

        The environment may provide a user and password, or a token.

        Raises:
            UsageError: The text is not a server address, or contains a user, password or query.
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
                f"after {', '.join(f'{name}+' for name in LAYOUTS if name != 'oxigraph')} if the "
                "server is not Oxigraph",
                field="store",
            )
        if parts.username or parts.password or parts.query or parts.fragment:
            raise UsageError(
                f"the address of the store must contain only host and path; set the user in {USER} "
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
    """A server, reached over one connection that is opened on demand; `timeout` is in seconds.

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
            graphs: IRIs of the graphs to query together, by default the server's default graph.
            allow_service: Whether SERVICE may open network connections from the server. Otherwise,
                a query with SERVICE raises a StoreError.
        """
        if not allow_service:
            refuse_service(sparql)
        variables, answers = self.solutions(sparql, graphs)
        kept = [tuple(map(value, row)) for row in islice(answers, rows)]
        return QueryResult(variables, tuple(kept), complete=next(answers, None) is None)

    def solutions(
        self, sparql: str, graphs: Sequence[str] = ()
    ) -> tuple[tuple[str, ...], Iterator[tuple[Node | None, ...]]]:
        """Return the columns of a query's result, and its rows as RDF terms (None if unbound)."""
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
                f"{self.address.text}: expected a SPARQL query result: {error}", exit_code=4
            ) from error

    def update(self, sparql: str) -> None:
        """Change the store, atomically if the server supports it.

        An update is resent if the connection was closed, so it must be idempotent (INSERT DATA,
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
        """Return the triples of a named graph as N-Triples; empty if the graph does not exist."""
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
                # A server may have closed an idle connection before processing the request, so
                # retry once.
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
                f"the store at {self.address.text} rejected the credentials "
                f"(HTTP {status}): set {USER} and {PASSWORD}, or {TOKEN}"
            )
        return StoreError(
            f"the store at {self.address.text} rejected the request "
            f"(HTTP {status}): {short(detail, 300)}",
            exit_code=4 if status >= 500 else 2,
        )


def _plain(node: Node | None) -> Node | None:
    if isinstance(node, Literal) and node.datatype == _BOOLEAN:
        return Literal(node.value in ("true", "1"))
    return node


# Shared graph -------------------------------------------------------------------------------------
# The graphs of many runs on one server: a named graph per run, and one that lists the runs.
#
#     <https://w3id.org/hvr/runs>                   the list of runs: time, place, request
#     <https://w3id.org/hvr/run/NAME>               a run: its objects, their state, its events
#     <https://w3id.org/hvr/run/NAME/event/3-added> the changes of its step 3
#     <https://w3id.org/hvr/ontology/DIGEST>        an ontology with its entailments, for its runs
#
# Event IRIs are scoped to their run, since every run numbers its events from 1. Object IRIs are
# shared: `o:mug-1` is the same mug in two runs of one scene. Triples with blank nodes are not sent:
# they are axioms of the ontology (such as disjoint classes), and a server would rename their nodes.
#
# Functions raise `StoreError` if the server rejects a request or does not answer, and
# `UnknownObjectError` for a run that it does not list.

RUNS = "https://w3id.org/hvr/runs"
"""The graph that lists the runs."""
RUN = "https://w3id.org/hvr/run/"
"""Prefix of a run's IRI, which is also the IRI of its graph."""
ONTOLOGY = "https://w3id.org/hvr/ontology/"
"""Prefix of the IRI of an ontology's graph, before its digest."""

_T = TypeVar("_T")
_DEFAULT = DefaultGraph()
_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")


@dataclass(frozen=True)
class SharedRun:
    """A run in the server's list; `name` is unique, and `began` is the start time in ISO 8601."""

    name: str
    request: str = ""
    scene: str = ""
    world: str = ""
    robot: str = ""
    began: str = ""

    def __post_init__(self) -> None:
        if not self.name or not _NAMES.issuperset(self.name):
            raise StoreError(
                "a run name must consist of letters, digits, '-', '.', '_' and '~', "
                f"got {self.name!r}"
            )

    @property
    def iri(self) -> str:
        """The IRI of the run and of its graph."""
        return RUN + self.name

    @property
    def events(self) -> str:
        """Prefix of the IRIs of the run's events."""
        return f"{self.iri}/event/"


class SharedGraph:
    """The graph of one run on a server, written change by change.

    Triples of the ontology are stored once for all runs.
    """

    def __init__(self, server: SparqlServer, run: SharedRun, ontology: Ontology) -> None:
        self._server = server
        self._run = run
        self._ontology = ontology

    @classmethod
    def begin(cls, server: SparqlServer, run: SharedRun, ontology: Ontology) -> Self:
        """Add a run to the server's list, and empty its graph."""
        closure = _ntriples(q for q in ontology.quads if not _is_blank(q))
        graph = ONTOLOGY + hashlib.sha256(closure).hexdigest()[:16]
        listed = server.query(f"ASK {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}").rows[0][0]
        if not listed:
            server.put(graph, closure)
        _forget(server, run)
        began = run.began or datetime.now(UTC).isoformat(timespec="seconds")
        node = NamedNode(run.iri)
        about: list[tuple[NamedNode, NamedNode, NamedNode | Literal]] = [
            (node, RDF_TYPE, k("Run")),
            (node, LABEL, Literal(run.name)),
            (node, k("request"), Literal(run.request)),
            (node, k("world"), Literal(run.world)),
            (node, k("robot"), Literal(run.robot)),
            (node, k("began"), date_time(began)),
            (node, k("ontology"), NamedNode(graph)),
        ]
        if run.scene:
            about.append((node, k("scene"), obj(run.scene)))
        quads = [Quad(*fact, NamedNode(RUNS)) for fact in about]
        server.update(f"INSERT DATA {{ {_grouped(quads)} }}")
        return cls(server, run, ontology)

    def append(self, added: Iterable[Quad], removed: Iterable[Quad] = ()) -> None:
        """Send one transaction: first the removed quads, then the added quads."""
        new, old = (list(map(self._scoped, self._own(quads))) for quads in (added, removed))
        parts = [
            f"{verb} DATA {{ {_grouped(quads)} }}"
            for verb, quads in (("DELETE", old), ("INSERT", new))
            if quads
        ]
        if parts:
            self._server.update(" ;\n".join(parts))

    def replace(self, quads: bytes) -> None:
        publish(self._server, self._run, self._ontology, quads)

    def close(self) -> None:
        self._server.close()

    def _own(self, quads: Iterable[Quad]) -> Iterator[Quad]:
        closure = self._ontology.closure
        for quad in quads:
            triple = (quad.subject, quad.predicate, quad.object)
            if not _is_blank(quad) and (quad.graph_name != _DEFAULT or triple not in closure):
                yield quad

    def _scoped(self, quad: Quad) -> Quad:
        if quad.graph_name == _DEFAULT:
            graph = NamedNode(self._run.iri)
            quad = Quad(quad.subject, quad.predicate, quad.object, graph)
        return _renamed(quad, EVENT, self._run.events)


def list_runs(server: SparqlServer) -> tuple[SharedRun, ...]:
    """Return the runs that a server lists, newest first."""
    answer = server.query(
        f"""SELECT ?name ?request ?scene ?world ?robot ?began {{
            GRAPH <{RUNS}> {{
            ?run a k:Run ; rdfs:label ?name ; k:request ?request ; k:world ?world ;
                 k:robot ?robot ; k:began ?began
            OPTIONAL {{ ?run k:scene ?scene }} }} }} ORDER BY DESC(?began) ?name"""
    )
    return tuple(SharedRun(*("" if v is None else str(v) for v in row)) for row in answer)


def run_quads(server: SparqlServer, name: str) -> bytes:
    """Return the graph of a run as a run folder stores it: N-Quads including the ontology.

    Raises:
        UnknownObjectError: The server does not list the run.
    """
    run = SharedRun(name)
    quads = list(parse(server.get(_ontology_of(server, run)), format=RdfFormat.N_TRIPLES))
    found = parse(server.get(run.iri), format=RdfFormat.N_TRIPLES)
    quads += [_local(quad, run) for quad in found]
    _, changes = server.solutions(
        f"""SELECT ?s ?p ?o ?g {{ GRAPH <{run.iri}> {{ ?e k:added|k:removed ?g }}
            GRAPH ?g {{ ?s ?p ?o }} }}"""
    )
    quads += [_local(Quad(*row), run) for row in changes]  # type: ignore[arg-type]
    data = serialize(quads, format=RdfFormat.N_QUADS)
    assert data is not None
    return data


def publish(server: SparqlServer, run: SharedRun, ontology: Ontology, quads: bytes) -> None:
    """Replace the graph of a run on a server with the N-Quads of a run folder.

    Raises:
        StoreError: The quads are corrupt, or the server fails.
    """
    try:
        parsed = list(parse(quads, format=RdfFormat.N_QUADS))
    except (SyntaxError, ValueError) as error:
        raise StoreError(f"the graph of {run.name} is corrupt: {error}") from error
    SharedGraph.begin(server, run, ontology).append(parsed)


def query_run(
    server: SparqlServer, name: str, sparql: str, *, rows: int | None = None
) -> QueryResult:
    """Query the graph of one run and its ontology on the server, for at most `rows` rows.

    Raises:
        UnknownObjectError: The server does not list the run.
    """
    run = SharedRun(name)
    return server.query(sparql, rows=rows, graphs=(run.iri, _ontology_of(server, run)))


def _ontology_of(server: SparqlServer, run: SharedRun) -> str:
    found = server.query(f"SELECT ?o {{ GRAPH <{RUNS}> {{ <{run.iri}> k:ontology ?o }} }}")
    if not found.rows:
        raise UnknownObjectError(f"the store at {server.address.text} lists no run {run.name!r}")
    return str(found.rows[0][0])


def _forget(server: SparqlServer, run: SharedRun) -> None:
    server.update(
        f"""DELETE {{ GRAPH ?g {{ ?s ?p ?o }} }} WHERE {{
            GRAPH <{run.iri}> {{ ?e {k("added")}|{k("removed")} ?g }} GRAPH ?g {{ ?s ?p ?o }} }} ;
        DROP SILENT GRAPH <{run.iri}> ;
        DELETE WHERE {{ GRAPH <{RUNS}> {{ <{run.iri}> ?p ?o }} }}"""
    )


def _renamed(quad: Quad, start: str, new: str) -> Quad:
    def name(node: _T) -> _T | NamedNode:
        if isinstance(node, NamedNode) and node.value.startswith(start):
            return NamedNode(new + node.value[len(start) :])
        return node

    return Quad(name(quad.subject), quad.predicate, name(quad.object), name(quad.graph_name))


def _local(quad: Quad, run: SharedRun) -> Quad:
    return _renamed(quad, run.events, EVENT)


def _is_blank(quad: Quad) -> bool:
    return isinstance(quad.subject, BlankNode) or isinstance(quad.object, BlankNode)


def _ntriples(quads: Iterable[Quad]) -> bytes:
    data = serialize([q.triple for q in quads], format=RdfFormat.N_TRIPLES)
    assert data is not None
    return b"".join(sorted(data.splitlines(keepends=True)))


def _grouped(quads: Iterable[Quad]) -> str:
    by_graph: dict[str, list[str]] = {}
    for quad in quads:
        line = f"{quad.subject} {quad.predicate} {quad.object} ."
        by_graph.setdefault(str(quad.graph_name), []).append(line)
    return "\n".join(
        f"GRAPH {graph} {{\n{text} }}"
        for graph, lines in by_graph.items()
        for text in ("\n".join(lines),)
    )
