"""Run graphs on a real SPARQL server, and runs whose server disappears."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from pyoxigraph import BlankNode, Quad, RdfFormat, parse

from hvr.errors import StoreError, UnknownObjectError, UsageError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.scene_graph import SceneGraph
from hvr.knowledge.sparql_server import (
    PASSWORD,
    TOKEN,
    USER,
    ServerAddress,
    SharedGraph,
    SharedRun,
    SparqlServer,
    list_runs,
    publish,
    query_run,
    run_quads,
)
from hvr.knowledge.triples import ActionEvent, Change
from tests.command_line import Hvr
from tests.knowledge.knowledge_kitchen import PIECES
from tests.knowledge.sparql_servers import VIRTUOSO_LOGIN, free_port, oxigraph, virtuoso


@pytest.fixture(scope="module", params=["oxigraph", "virtuoso"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "virtuoso":
        with virtuoso() as address, pytest.MonkeyPatch.context() as patch:
            for name, value in VIRTUOSO_LOGIN.items():
                patch.setenv(name, value)
            yield address
    else:
        with oxigraph() as (address, _):
            yield address


@pytest.fixture
def server(address: str) -> Iterator[SparqlServer]:
    with SparqlServer(ServerAddress.read(address, os.environ)) as server:
        for (graph,) in server.query("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"):
            if str(graph).startswith("https://w3id.org/hvr/"):
                server.update(f"DROP SILENT GRAPH <{graph}>")
        yield server


def _acted(graph: KnowledgeGraph, step: int) -> None:
    """Record a step that washed the mug."""
    change = Change(added=(("mug-1", "isDirty", False),), removed=(("mug-1", "isDirty", True),))
    graph.record(ActionEvent(step, "toggle_on", ("faucet-1",), change=change))
    graph.set_marks({("mug-1", "washed")})


def _shared(server: SparqlServer, name: str, ontology: Ontology) -> SharedGraph:
    return SharedGraph.begin(server, SharedRun(name, "wash", "FloorPlan1", "kitchen"), ontology)


def _quads(data: bytes) -> set[Quad]:
    """Return quads without blank nodes, whose names depend on the store."""
    return {
        q
        for q in parse(data, format=RdfFormat.N_QUADS)
        if not isinstance(q.subject, BlankNode) and not isinstance(q.object, BlankNode)
    }


@pytest.mark.slow
def test_a_run_on_the_server_is_the_run_in_its_folder(
    server: SparqlServer, scene: SceneGraph, ontology: Ontology
) -> None:
    with KnowledgeGraph.create(shared=_shared(server, "one", ontology)) as graph:
        graph.add_scene(scene, PIECES)
        _acted(graph, 1)
        assert _quads(run_quads(server, "one")) == _quads(graph.quads())
        question = "SELECT ?o ?c { ?o a k:Drinkware ; k:locatedIn ?c } ORDER BY ?o ?c"
        assert query_run(server, "one", question).rows == graph.query(question).rows
        publish(server, SharedRun("two"), ontology, graph.quads())
        assert _quads(run_quads(server, "two")) == _quads(graph.quads())


@pytest.mark.slow
def test_runs_of_several_robots_keep_apart(
    server: SparqlServer, scene: SceneGraph, ontology: Ontology
) -> None:
    for name, steps in (("one", 1), ("two", 2)):
        with KnowledgeGraph.create(shared=_shared(server, name, ontology)) as graph:
            graph.add_scene(scene, PIECES)
            for step in range(1, steps + 1):
                _acted(graph, step)
    assert {run.name for run in list_runs(server)} == {"one", "two"}
    counted = server.query(
        """SELECT ?run (COUNT(?e) AS ?n) { GRAPH ?run { ?e k:step ?step } }
        GROUP BY ?run ORDER BY ?run"""
    )
    assert [row[1] for row in counted] == [1, 2]
    washed = server.query(
        """SELECT ?run ?step { GRAPH ?run { ?e k:step ?step ; k:added ?g }
        GRAPH ?g { o:mug-1 k:isDirty false } } ORDER BY ?run ?step"""
    )
    assert [row[1] for row in washed] == [1, 1, 2]
    ontologies = server.query("SELECT DISTINCT ?g { GRAPH ?g { k:Mug ?p ?o } }")
    assert len(ontologies) == 1, "the ontology is kept once for all runs"


@pytest.mark.slow
def test_a_run_that_begins_again_leaves_nothing_of_the_first_try(
    server: SparqlServer, scene: SceneGraph, ontology: Ontology
) -> None:
    for steps in (3, 1):
        with KnowledgeGraph.create(shared=_shared(server, "one", ontology)) as graph:
            graph.add_scene(scene, PIECES)
            for step in range(1, steps + 1):
                _acted(graph, step)
            kept = graph.quads()
    assert len(list_runs(server)) == 1
    assert _quads(run_quads(server, "one")) == _quads(kept)
    left = server.query(
        "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } FILTER CONTAINS(STR(?g), '/3-') }"
    )
    assert not left.rows


@pytest.mark.parametrize(
    "address",
    ["", "localhost:7878", "ftp://host", "http://", "http://h:x", "bolt+http://h", "http://h/?q=1"],
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(UsageError, match="address"):
        ServerAddress.read(address, {})


def test_a_password_does_not_belong_into_an_address() -> None:
    with pytest.raises(UsageError) as raised:
        ServerAddress.read("http://ann:secret@host", {})
    assert "secret" not in str(raised.value) and PASSWORD in str(raised.value)


def test_products_have_their_own_paths() -> None:
    fuseki = ServerAddress.read("fuseki+http://host:3030/robots/", {})
    assert [fuseki.path(use) for use in range(3)] == [
        "/robots/query", "/robots/update", "/robots/data",
    ]  # fmt: skip
    assert (
        ServerAddress.read("graphdb+https://host/repositories/r", {}).path(0) == "/repositories/r"
    )


@pytest.mark.parametrize(
    ("environment", "header"),
    [
        ({USER: "ann", PASSWORD: "pass"}, "Basic " + base64.b64encode(b"ann:pass").decode()),
        ({TOKEN: "t0ken"}, "Bearer t0ken"),
        ({}, None),
    ],
)
def test_a_server_is_shown_what_the_environment_has(
    environment: dict[str, str], header: str | None
) -> None:
    shown: list[str | None] = []

    class Guarded(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            shown.append(self.headers.get("Authorization"))
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    guard = HTTPServer(("127.0.0.1", 0), Guarded)
    Thread(target=guard.serve_forever, daemon=True).start()
    try:
        address = ServerAddress.read(f"http://127.0.0.1:{guard.server_port}", environment)
        with SparqlServer(address) as server, pytest.raises(StoreError, match=USER) as raised:
            server.query("ASK {}")
    finally:
        guard.shutdown()
        guard.server_close()
    assert shown == [header]
    assert "pass" not in str(raised.value).replace(PASSWORD, "") and "t0ken" not in repr(address)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize("password", ["right", "wrong"])
def test_a_server_that_wants_digest_never_gets_the_password(password: str) -> None:
    shown: list[str] = []
    nonces = ["n1", "n2", "n3"]

    class Guarded(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said = self.headers.get("Authorization", "")
            shown.append(said)
            self.rfile.read(int(self.headers["Content-Length"]))
            fields = dict(re.findall(r'(\w+)="?([^",]*)"?', said))
            a1, a2 = _md5("ann:here:right"), _md5(f"POST:{self.path}")
            middle = ":".join(fields.get(k, "") for k in ("nonce", "nc", "cnonce", "qop"))
            wanted = _md5(f"{a1}:{middle}:{a2}")
            good = fields.get("nonce") in nonces and fields.get("response") == wanted
            body = b'{"head": {}, "boolean": true}' if good else b""
            self.send_response(200 if good else 401)
            if not good:
                self.send_header(
                    "WWW-Authenticate",
                    f'Digest realm="here", nonce="{nonces[0]}", qop="auth,auth-int", algorithm=MD5',
                )
            self.send_header("Content-Type", "application/sparql-results+json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    guard = HTTPServer(("127.0.0.1", 0), Guarded)
    Thread(target=guard.serve_forever, daemon=True).start()
    try:
        text = f"virtuoso+http://127.0.0.1:{guard.server_port}"
        login = {USER: "ann", PASSWORD: password}
        with SparqlServer(ServerAddress.read(text, login)) as server:
            if password == "wrong":
                with pytest.raises(StoreError, match="credentials"):
                    server.query("ASK {}")
            else:
                for _ in range(2):
                    assert server.query("ASK {}").rows == ((True,),)
                nonces.pop(0)  # an expired nonce
                assert server.query("ASK {}").rows == ((True,),)
    finally:
        guard.shutdown()
        guard.server_close()
    assert not any("Basic" in said or password in said for said in shown)
    assert len(shown) == (2 if password == "wrong" else 5)


@pytest.mark.slow
def test_what_a_server_refuses(server: SparqlServer) -> None:
    with pytest.raises(StoreError, match="rejected") as raised:
        server.query("SELECT { ?s")
    assert raised.value.exit_code == 2
    with pytest.raises(StoreError, match="SERVICE"):
        server.query("SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }")
    with pytest.raises(UnknownObjectError, match="nowhere"):
        run_quads(server, "nowhere")
    with pytest.raises(StoreError, match="run name must consist"):
        SharedRun("a/../b> } DROP ALL")


@pytest.mark.slow
def test_a_server_that_went_away_and_came_back_is_asked_again(tmp_path: Path) -> None:
    port = free_port()
    with SparqlServer(ServerAddress.read(f"http://127.0.0.1:{port}", {})) as server:
        for _ in range(2):
            with oxigraph(port, tmp_path / "store"):
                server.update("INSERT DATA { GRAPH <a:g> { <a:s> <a:p> 1 } }")
        with pytest.raises(StoreError, match="does not answer") as raised:
            server.query("ASK {}")
    assert raised.value.exit_code == 4


@pytest.mark.slow
@pytest.mark.parametrize("returns", [False, True])
def test_a_run_whose_server_stops_goes_on_and_is_counted_once(
    tmp_path: Path, hvr_: Hvr, monkeypatch: pytest.MonkeyPatch, returns: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    port, place = free_port(), tmp_path / "store"
    with oxigraph(port, place) as (address, process), ExitStack() as stack:
        recorded = KnowledgeGraph.record

        def record(graph: KnowledgeGraph, event: ActionEvent) -> str:
            if event.step == 4:
                process.kill()
                process.wait()
            if event.step == 7 and returns:
                stack.enter_context(oxigraph(port, place))
            return recorded(graph, event)

        with monkeypatch.context() as patch:
            patch.setattr(KnowledgeGraph, "record", record)
            ended = hvr_("plan", "make coffee", "--save", "run", "--store", address)
    assert ended.code == 0
    account = json.loads(Path("run/task.json").read_text(encoding="utf-8"))
    assert account["state"] == "finished" and account["reached"]
    assert ended.out.count("hvr kg publish") == (not returns)
    assert ("does not answer" in json.dumps(account)) == (not returns)
    name = json.loads(Path("run/shared.json").read_text(encoding="utf-8"))["run"]
    with oxigraph(port, place):
        for _ in range(0 if returns else 2):
            assert hvr_("kg", "publish", "run", "--store", address).code == 0
        listed = json.loads(hvr_("kg", "runs", "--store", address, "--json").out)
        assert [run["name"] for run in listed] == [name] and listed[0]["robot"]
        steps = "SELECT (COUNT(?e) AS ?n) { ?e a k:Action }"
        shared = hvr_("kg", "query", steps, "--store", address, "--run", name, "--json")
        own = hvr_("kg", "query", steps, "--run", "run", "--json")
        assert json.loads(shared.out) == json.loads(own.out) == [{"n": 9}]


@pytest.mark.slow
def test_a_run_that_was_made_without_a_store_is_published(
    address: str, tmp_path: Path, hvr_: Hvr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert hvr_("plan", "open the fridge", "--save", "run", "-q", "--no-verify").code == 0
    told = hvr_("kg", "publish", "run", "--store", address, "--name", "published")
    assert told.code == 0 and "published" in told.out
    listed = hvr_("kg", "runs", "--store", address)
    assert "published" in listed.out and "open the fridge" in listed.out
    shown = hvr_("kg", "show", "fridge-1", "--store", address, "--run", "published")
    assert shown.out == hvr_("kg", "show", "fridge-1", "--run", "run").out
    unnamed = hvr_("kg", "show", "fridge-1", "--store", address)
    assert unnamed.code == 2 and "hvr kg runs" in unnamed.err
