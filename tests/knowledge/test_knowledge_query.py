"""Users' queries end, crash nothing and open no connections."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import QueryLimitError, StoreError, UsageError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.query import QueryLimits, QueryResult, calls_service, is_update, run_query
from tests import warm
from tests.command_line import Hvr

ROOT = Path(__file__).parents[2]
PATIENT = QueryLimits(timeout=120)
"""Seconds, more than a busy machine needs."""
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


# --- the same answers ---


@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT ?o ?place { ?o a k:Mug ; k:locatedIn ?place }",
        "SELECT ?o ?d ?x { ?o a k:Mug ; k:isDirty ?d . OPTIONAL { ?o k:near ?x } }",
        "SELECT (1.5 AS ?a) (2 AS ?b) (xsd:double('NaN') AS ?c) ('x\\n\"\u2028é' AS ?d) {}",
        "ASK { ?o a k:Mug }",
        "CONSTRUCT { ?o k:on ?p } WHERE { ?o k:on ?p }",
        "SELECT ?o { ?o a k:Nothing }",
    ],
)
def test_another_process_answers_the_same(graph: KnowledgeGraph, sparql: str) -> None:
    here, there = graph.query(sparql), graph.query(sparql, PATIENT)
    assert here.variables == there.variables
    assert sorted(here.rows, key=repr) == sorted(there.rows, key=repr)
    json.dumps(there.dicts(), allow_nan=False)


@pytest.mark.parametrize(
    ("sparql", "says"),
    [
        ("SELECT ?o\nWHERE ?o a k:Mug }", "line 2, column 7"),
        ("", "malformed"),
        ("SELECT * {", "found the end of the query"),
        ("SELECT * { ?a x:b ?c }", "prefix x: is not declared"),
        ("INSERT DATA { k:a k:b k:c }", "update"),
        ("PREFIX x: <y:> # SELECT\nload <file:///etc/passwd>", "update"),
        ("SELECT * { ?a ?b ?c FILTER(<x:f>(?a)) }", "not supported"),
        ("SELECT * { ?a ?b '\ud800' }", "query"),
    ],
)
def test_what_is_no_query_is_told_on_one_line(
    graph: KnowledgeGraph, sparql: str, says: str
) -> None:
    for limits in (None, PATIENT):
        with pytest.raises(StoreError, match=says) as caught:
            graph.query(sparql, limits)
        assert "\n" not in str(caught.value) and caught.value.exit_code == 2


# --- time, memory, depth, size ---


@pytest.mark.slow
@pytest.mark.parametrize(
    "sparql",
    [
        pytest.param(ENDLESS, id="cross product"),
        pytest.param(
            "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?i LIMIT 1", id="sorted"
        ),
        pytest.param(
            "ASK { ?a (!k:x/!k:y)+ ?b . ?c (!k:x/!k:y)+ ?d . ?e (!k:z)* ?f . ?g (!k:z)+ ?h "
            "FILTER(CONCAT(STR(?b),STR(?d),STR(?f),STR(?h)) = 'no') }",
            id="path",
        ),
        pytest.param("SELECT * {" + "OPTIONAL { ?s ?p ?o } " * 3000 + "}", id="planned"),
        pytest.param(
            "ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(CONCAT(STR(?a),STR(?d),STR(?g)) = '') }",
            id="no row",
        ),
    ],
)
def test_what_takes_for_ever_ends(graph: KnowledgeGraph, sparql: str) -> None:
    with pytest.raises(QueryLimitError, match=r"exceeded (1 s|\d+ GiB)") as caught:
        graph.query(sparql, QueryLimits(timeout=1))
    assert caught.value.exit_code == 4


_DEEP = 60_000
NESTED = {
    "braces": "SELECT * " + "{" * _DEEP + "?s ?p ?o" + "}" * _DEEP,
    "open braces": "SELECT * " + "{" * _DEEP,
    "parentheses": "SELECT * { ?s ?p ?o FILTER(" + "(" * _DEEP + "true" + ")" * _DEEP + ") }",
    "negations": "SELECT * { ?s ?p ?o FILTER(" + "!" * _DEEP + "true) }",
    "sums": "SELECT * { ?s ?p ?o FILTER(1" + "+1" * _DEEP + " > 0) }",
    "alternatives": "SELECT * { {?s ?p ?o}" + " UNION {?s ?p ?o}" * _DEEP + " }",
    "filters": "SELECT * { ?s ?p ?o " + "FILTER EXISTS { ?s ?p ?o " * _DEEP + "}" * _DEEP + "}",
    "selects": "SELECT * " + "{ SELECT * " * _DEEP + "{ ?s ?p ?o }" + "}" * _DEEP,
    "path": "SELECT * { ?s " + "(" * _DEEP + "k:on" + ")*" * _DEEP + " ?o }",
    "inverse path": "SELECT * { ?s " + "^" * _DEEP + "k:on ?o }",
    "list": "SELECT * { ?s ?p " + "(" * _DEEP + "1" + ")" * _DEEP + " }",
    "nodes": "SELECT * { ?s ?p " + "[ ?p " * _DEEP + "1" + "]" * _DEEP + " }",
    "triples": "SELECT * { " + "<<( ?s ?p " * _DEEP + "1" + ")>>" * _DEEP + " ?p ?o }",
    "functions": "SELECT * { BIND(" + "STR(" * _DEEP + "1" + ")" * _DEEP + " AS ?x) }",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NESTED)
def test_depth_ends_no_process_but_that_of_the_query(graph: KnowledgeGraph, name: str) -> None:
    with suppress(StoreError):  # either an answer or a timeout
        graph.query(NESTED[name], QueryLimits(timeout=10))
    assert graph.query("ASK { ?o a k:Mug }").rows == ((True,),)


@pytest.mark.slow
def test_depth_is_named(graph: KnowledgeGraph) -> None:
    with pytest.raises(StoreError, match="deeply nested") as caught:
        graph.query(NESTED["parentheses"], PATIENT)
    assert caught.value.exit_code == 2


@pytest.mark.slow
def test_rows_beyond_the_limit_are_left_out_and_that_is_said(graph: KnowledgeGraph) -> None:
    everything = "SELECT * { ?s ?p ?o }"
    size = len(graph.query(everything))
    for rows in (1, size - 1, size, size + 1):
        answer = graph.query(everything, QueryLimits(timeout=120, rows=rows))
        assert (len(answer), answer.complete) == (min(rows, size), rows >= size)
    endless = graph.query("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }", PATIENT)
    assert (len(endless), endless.complete) == (PATIENT.rows, False)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits memory")
@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT ?a ?d ?g { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?g",
        "SELECT (GROUP_CONCAT(?x) AS ?all) { ?a ?b ?c . ?d ?e ?f "
        "BIND(CONCAT(STR(?a), STR(?f)) AS ?x) }",
        "SELECT ?x14 { BIND('0123456789abcdef' AS ?x0) "
        + " ".join(f"BIND(CONCAT({','.join([f'?x{i}'] * 8)}) AS ?x{i + 1})" for i in range(14))
        + "}",
    ],
)
def test_memory_has_an_end(graph: KnowledgeGraph, sparql: str) -> None:
    with pytest.raises(QueryLimitError, match="memory") as caught:
        graph.query(sparql, QueryLimits(timeout=200, memory=200 << 20))
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("field", "value"),
    [("timeout", v) for v in (0, -1, float("nan"), float("inf"))] + [("rows", 0)],
)
def test_limits_out_of_range(field: str, value: float) -> None:
    with pytest.raises(UsageError, match=field):
        QueryLimits(**{field: value})  # type: ignore[arg-type]


# --- no connections ---

_BETWEEN = st.sampled_from(["", " ", "\n", "\t # a comment\n ", "#\r\n"])
_CASE = st.sampled_from(["SERVICE", "service", "SeRvIcE", "sERVICE"])
_SILENT = st.sampled_from(["", " SILENT ", "silent", "#\nSilent\n"])
_BEFORE = st.sampled_from(
    ["", "?a ?b ?c .", "?a ?b true", "?a ?b 1", "?a ?b 'x'", "?a ?b <x:y>", "?a ?b 'SERVICE'@en .",
     "FILTER(1=1)", "OPTIONAL {?a ?b ?c}", "BIND(1 AS ?x)", "# it's\n", "?a ?b \"\\\"\" .",
     "?a ?b '''it's \"\" ''' .", "VALUES ?v { 1 }"]
)  # fmt: skip
_AROUND = st.sampled_from(
    ["%s", "{ %s }", "OPTIONAL { %s }", "MINUS{%s}", "FILTER EXISTS { %s }", "GRAPH ?g{%s}",
     "{ SELECT * { %s } }", "{} UNION { %s }", "?s ?p ?o FILTER(NOT EXISTS{%s})"]
)  # fmt: skip
_FORM = st.sampled_from(
    ["SELECT * { %s }", "ASK{%s}", "CONSTRUCT { ?s ?p ?o } WHERE { %s }", "DESCRIBE ?s { %s }",
     "PREFIX service: <x:> SELECT (1 AS ?service) {%s}"]
)  # fmt: skip
_SERVER = st.sampled_from(["<%s>", ":", "e:x", "?c"])


@st.composite
def _served(draw: st.DrawFn) -> str:
    """Draw a query that calls a server, in one of the forms that Oxigraph accepts."""
    between = draw(_BETWEEN)
    server = draw(_SERVER)
    word = draw(_CASE) + draw(_SILENT)
    call = f"{draw(_BEFORE)}{between}{word}{draw(_BETWEEN) or ' '}{server}{draw(_BETWEEN)}"
    pattern = draw(_AROUND).replace("%s", call + "{ ?s ?p ?o }")
    return "PREFIX : <%s> PREFIX e: <%s> " + draw(_FORM).replace("%s", pattern)


@given(_served())
def test_service_is_found_wherever_it_stands(sparql: str) -> None:
    assert calls_service(sparql.replace("%s", "http://127.0.0.1:9/"))


@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT ?service { ?service a k:Mug }",
        "SELECT $SERVICE { $SERVICE a k:Mug }",
        "SELECT * { ?o a k:Mug # SERVICE <http://a.b/> { ?s ?p ?o }\n }",
        "SELECT * { ?o a k:Mug ; ?p ?v FILTER(?v != 'SERVICE <http://a.b/> {}') }",
        'SELECT * { ?o a k:Mug ; ?p ?v FILTER(?v != """a "SERVICE" """) }',
        "SELECT * { ?o a k:Mug FILTER(?o != <http://a.b/service>) }",
        "PREFIX service: <http://a.b/> SELECT * { ?o a k:Mug OPTIONAL { ?o service:x ?y } }",
        "PREFIX s: <http://a.b/> SELECT * { ?o a k:Mug OPTIONAL { ?o s:service s:SERVICE } }",
        "SELECT * { ?o a k:Mug OPTIONAL { _:service a k:Cup } }",
        "SELECT * { ?o a k:Mug OPTIONAL { ?o ?p 'x'@service } }",
        "PREFIX SERVICE: <x:> SELECT * { ?o a k:Mug OPTIONAL { GRAPH SERVICE:x { ?a ?b ?c } } }",
    ],
)
def test_the_word_may_stand_elsewhere(graph: KnowledgeGraph, sparql: str) -> None:
    assert graph.query(sparql).rows and not calls_service(sparql)


@given(st.text(alphabet="'\"\\<>{}#:?@ \nSERVICEservice_-%.a1", max_size=60))
def test_any_text_is_read_to_its_end(text: str) -> None:
    calls_service(text)
    is_update(text)


@pytest.fixture
def server() -> Iterator[tuple[str, Callable[[], int]]]:
    """Yield the address of a server, and a counter of its calls."""
    calls = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    calls.append(1)
                    connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/", lambda: len(calls)
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_no_connection_unless_allowed(
    graph: KnowledgeGraph, server: tuple[str, Callable[[], int]]
) -> None:
    address, calls = server
    plain = f"SELECT * {{ SERVICE SILENT <{address}> {{ ?s ?p ?o }} }}"
    for limits in (None, PATIENT):
        with pytest.raises(StoreError, match="not allowed"):
            graph.query(plain, limits)
    assert calls() == 0
    for limits in (None, PATIENT):
        graph.query(plain, limits, allow_service=True)
    assert calls() == 2


def test_what_deceives_the_reader_of_texts_cannot_connect_either(
    graph: KnowledgeGraph, server: tuple[str, Callable[[], int]]
) -> None:
    address, calls = server
    # Text between < and > can be mistaken for an IRI.
    sparql = f"PREFIX : <{address}> SELECT * {{ FILTER(0<1)SERVICE:#>\n{{ ?s ?p ?o }} }}"
    assert not calls_service(sparql)
    with suppress(StoreError):
        graph.query(sparql, PATIENT)
    assert calls() == 0
    with suppress(StoreError):
        run_query(graph.store, sparql, allow_service=True)
    assert calls() == 1  # confirms that the query calls the server


# --- the command ---


def test_the_command_tells_of_what_it_leaves_out(hvr_: Hvr) -> None:
    ended = hvr_(
        "kg", "query", "SELECT ?s { ?s ?p ?o }", "--scene", "FloorPlan16", "--limit", 3,
        "--timeout", 120,
    )  # fmt: skip
    assert ended.code == 0 and len(ended.out.splitlines()) == 2 + 3
    assert "only the first 3 rows" in ended.err and "--limit" in ended.err


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["SELECT"], 2, "malformed"),
        (["SELECT * { ?s ?p ?o }", "--timeout", "0"], 2, "--timeout"),
        (["SELECT * { ?s ?p ?o }", "--timeout", "nan"], 2, "--timeout"),
        (["SELECT * { ?s ?p ?o }", "--limit", "0"], 2, "--limit"),
        (["SELECT * { SERVICE <x:y> {} }"], 2, "--allow-service"),
        (["DELETE WHERE { ?s ?p ?o }"], 2, "update"),
        ([ENDLESS, "--timeout", "3"], 4, "exceeded 3 s"),
    ],
)
def test_the_command_refuses_on_one_line(hvr_: Hvr, args: list[str], code: int, says: str) -> None:
    ended = hvr_("kg", "query", *args, "--scene", "FloorPlan16")
    assert ended.code == code and says in ended.err
    assert len(ended.err.splitlines()) == 1 and not ended.out


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)


def children(process: int) -> list[int]:
    return [
        int(stat.parent.name)
        for stat in Path("/proc").glob("[0-9]*/stat")
        if (fields := _stat(stat)) and fields[1] == str(process)
    ]


def _stat(path: Path) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def runs(process: int) -> bool:
    state = _stat(Path(f"/proc/{process}/stat"))
    return bool(state) and state[0] not in "ZX"


@linux
@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "codes", "whole_group"),
    [
        pytest.param(signal.SIGINT, {130}, True, id="Ctrl-C"),
        pytest.param(
            signal.SIGTERM, {143, -15}, False, id="SIGTERM"
        ),  # a shell reports 143 for both
        pytest.param(signal.SIGKILL, {-9}, False, id="SIGKILL"),
    ],
)
def test_a_query_ends_with_the_command(
    tmp_path: Path, number: int, codes: set[int], whole_group: bool
) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    with warm.Popen(
        [sys.executable, "-m", "hvr", "kg", "query", ENDLESS, "--scene", "FloorPlan16",
         "--timeout", "500"],
        cwd=tmp_path, env=environment, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            until(lambda: children(process.pid))
            child = children(process.pid)[0]
            until(lambda: _busy(child))
            os.kill(-process.pid if whole_group else process.pid, number)
            out, err = process.communicate(timeout=120)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode in codes and not out
    assert "Traceback" not in err and len(err.splitlines()) <= 1
    until(lambda: not runs(child))


def _busy(process: int) -> bool:
    """Return whether a process has used enough CPU to be executing the query."""
    fields = _stat(Path(f"/proc/{process}/stat"))
    return bool(fields) and int(fields[11]) > 1.5 * os.sysconf("SC_CLK_TCK")


def test_answers_are_plain_values() -> None:
    answer = QueryResult(("a", "b"), ((1, None), ("x", True)))
    assert answer.dicts() == [{"a": 1, "b": None}, {"a": "x", "b": True}]
    assert len(answer) == 2 and list(answer) == [(1, None), ("x", True)] and answer.complete
    assert re.search("rows", repr(answer))
