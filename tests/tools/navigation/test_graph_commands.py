"""`hvr tools graph` and `serve-stats` on a shop's tools and a log of calls."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("immutables")
pytest.importorskip("numpy")

from hvr.runs.report.graphs import draw_tool_graph, loopback_server
from hvr.tools.calling.calls import CallFailure, CallOutcome, ToolCall
from hvr.tools.calling.log import log_line, trace
from hvr.tools.navigation.graph_log import graph_text, read_events, rebuilt
from tests.command_line import Hvr, environment

TOOLS = [
    {"name": "find_user", "parameters": {"type": "object", "required": ["email"],
     "properties": {"email": {"type": "string"}}},
     "returns": {"type": "object", "properties": {"user_id": {"type": "string"}}}},
    {"name": "list_orders", "parameters": {"type": "object", "required": ["user_id"],
     "properties": {"user_id": {"type": "string"}}},
     "returns": {"type": "object", "properties": {"order_id": {"type": "string"}}}},
    {"name": "cancel <b>", "parameters": {"type": "object", "required": ["order_id"],
     "properties": {"order_id": {"type": "string"}}}},
    {"name": "weather", "parameters": {"type": "object", "properties": {"city": {}}}},
]  # fmt: skip
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def write_log(path: Path, runs: int) -> None:
    """Write runs a day apart, in which every third weather call fails."""
    lines = []
    for run in range(runs):
        outcomes: list[CallOutcome] = []
        for name, arguments, result in (
            ("find_user", {"email": "a@b.c"}, {"user_id": f"u{run}"}),
            ("list_orders", {"user_id": f"u{run}"}, {"order_id": f"o{run}"}),
            ("cancel <b>", {"order_id": f"o{run}"}, {}),
            ("weather", {"city": "Ulm"}, None),
        ):
            failure = CallFailure.TIMED_OUT if result is None else None
            outcome = CallOutcome(ToolCall(name, arguments), result, failure)
            time = BEGIN + timedelta(days=run, seconds=len(outcomes))
            lines.append(
                log_line("shop", outcome, trace(arguments, outcomes), time) | {"run": str(run)}
            )
            outcomes.append(outcome)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    write_log(tmp_path / "calls.jsonl", 12)
    return tmp_path


def test_a_graph_is_drawn_with_what_calls_showed(hvr_: Hvr, shop: Path) -> None:
    tools, log, out = shop / "tools.json", shop / "calls.jsonl", shop / "graph.svg"
    ended = hvr_("tools", "graph", tools, "--log", log, "--out", out)
    assert ended.code == 0, ended.err
    assert "4 tools" in ended.out and "48 calls, 12 failed" in ended.out
    picture = ElementTree.parse(out)
    titles = [title.text or "" for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert any(t.startswith("cancel <b>: 12 of 12 succeeded") for t in titles)
    assert any(t.startswith("find_user -> list_orders: 12 of 12") for t in titles)
    page = shop / "graph.html"
    assert hvr_("tools", "graph", tools, "--log", log, "--out", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "cancel &lt;b&gt;" in text and "cancel <b>" not in text


def test_the_log_of_the_graph_gives_the_same_graph(hvr_: Hvr, shop: Path) -> None:
    events = shop / "graph.jsonl"
    made = hvr_("tools", "graph", shop / "tools.json", "--log", shop / "calls.jsonl",
                "--look", 7, "--events", events, "--json")  # fmt: skip
    again = hvr_("tools", "graph", "--log", events, "--json")
    assert made.code == again.code == 0
    assert made.out == again.out == graph_text(rebuilt(read_events(events)))
    record = json.loads(made.out)
    assert [absent["name"] for absent in record["absent"]] == ["weather"]
    assert ("user_id", "user_id") in {(p["source"], p["target"]) for p in record["passes"]}
    never = hvr_("tools", "graph", shop / "tools.json", "--log", shop / "calls.jsonl", "--json")
    assert json.loads(never.out)["absent"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["graph"], "give descriptions of tools, or a log"),
        (["graph", "tools.json", "--out", "graph.png"], ".svg or .html"),
        (["graph", "tools.json", "--log", "tools.json"], "line 1"),
        (["graph", "tools.json", "--log", "no.jsonl"], "no.jsonl"),
        (["graph", "tools.json", "--look", "-1"], "must not be negative"),
        (["learn", "tools.json", "--turns", "no.jsonl"], "no.jsonl"),
        (["serve-stats", "tools.json", "--port", "99999"], "port 99999"),
        (["serve-stats", "--log", "no.jsonl"], "no.jsonl"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    words: list[str], said: str, hvr_: Hvr, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    ended = hvr_("tools", *words)
    assert ended.code == 2
    assert said in ended.err and ended.err.count("\n") == 1


@contextmanager
def serving(*words: object, folder: Path) -> Iterator[str]:
    """Yield the address of a server in a separate process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hvr", "tools", "serve-stats", *map(str, words)],
        stdout=subprocess.PIPE, text=True, cwd=folder, env=environment(),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate()


def fetched(address: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.slow
def test_what_is_written_to_a_log_is_served(shop: Path) -> None:
    with serving("tools.json", "--log", "calls.jsonl", folder=shop) as address:
        status, text = fetched(f"{address}stats.json")
        assert status == 200
        counts = {tool["name"]: tool["successes"] for tool in json.loads(text)["tools"]}
        assert counts["find_user"] == 12
        write_log(shop / "calls.jsonl", 13)
        assert "13 of 13 succeeded" in fetched(address)[1]
        (shop / "calls.jsonl").write_text("[1]\n")
        assert fetched(address)[0] == 503
        assert fetched(f"{address}other")[0] == 404


def test_pages_are_for_this_machine_alone() -> None:
    with loopback_server(lambda path: ("text/plain", path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/x"
        assert fetched(address) == (200, "/x")
        assert fetched(address, Host="evil.example")[0] == 403
        server.shutdown()


def test_of_many_tools_those_called_most_are_drawn() -> None:
    from hvr.tools.navigation.graph import GraphTool, NavigationGraph

    graph = NavigationGraph.of(GraphTool(f"t{i}") for i in range(400))
    assert "100 more are not drawn" in draw_tool_graph(graph)
