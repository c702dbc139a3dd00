"""The graphs of many runs on one server: a named graph for each run, and one that lists the runs.

    <https://w3id.org/hvr/runs>                   the list of runs: time, place, request
    <https://w3id.org/hvr/run/NAME>               a run: its objects, their state, its events
    <https://w3id.org/hvr/run/NAME/event/3-added> the changes of its step 3
    <https://w3id.org/hvr/ontology/DIGEST>        an ontology with its entailments, for its runs

Event IRIs are scoped to their run, since every run numbers its events from 1. Object IRIs are
shared: `o:mug-1` is the same mug in two runs of one scene. Triples with blank nodes are not sent:
they are axioms of the ontology (such as disjoint classes), and a server would rename their nodes.

Functions raise `StoreError` if the server rejects a request or does not answer, and
`UnknownObjectError` for a run that it does not list.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self, TypeVar

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    parse,
    serialize,
)

from hvr.errors import StoreError, UnknownObjectError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.query import QueryResult
from hvr.knowledge.sparql_server import SparqlServer
from hvr.knowledge.terms import EVENT, LABEL, RDF_TYPE, date_time, k, obj

RUNS = "https://w3id.org/hvr/runs"
"""The graph that lists the runs."""
RUN = "https://w3id.org/hvr/run/"
"""Prefix of the IRI of a run, which is also its graph."""
ONTOLOGY = "https://w3id.org/hvr/ontology/"
"""Prefix of the graph of an ontology, before its digest."""

_T = TypeVar("_T")
_DEFAULT = DefaultGraph()
_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")


@dataclass(frozen=True)
class SharedRun:
    """A run as listed by the server, with a unique name and its start time in ISO 8601."""

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
        """The IRI of the run and its graph."""
        return RUN + self.name

    @property
    def events(self) -> str:
        """Prefix of the IRIs of its events."""
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
        """List a run, and clear its graph."""
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
        """Send one transaction: first the removed quads, then the added ones."""
        new, old = (list(map(self._scoped, self._own(quads))) for quads in (added, removed))
        parts = [
            f"{verb} DATA {{ {_grouped(quads)} }}"
            for verb, quads in (("DELETE", old), ("INSERT", new))
            if quads
        ]
        if parts:
            self._server.update(" ;\n".join(parts))

    def replace(self, quads: bytes) -> None:
        """Replace the graph on the server."""
        publish(self._server, self._run, self._ontology, quads)

    def close(self) -> None:
        """Close the connection to the server."""
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
    """Return the graph of a run in the format of a run folder: N-Quads including the ontology."""
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
    """Replace the graph of a run on a server by the graph of a folder."""
    try:
        parsed = list(parse(quads, format=RdfFormat.N_QUADS))
    except (SyntaxError, ValueError) as error:
        raise StoreError(f"the graph of {run.name} is corrupt: {error}") from error
    SharedGraph.begin(server, run, ontology).append(parsed)


def query_run(
    server: SparqlServer, name: str, sparql: str, *, rows: int | None = None
) -> QueryResult:
    """Run a query on the server over one run and its ontology."""
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
