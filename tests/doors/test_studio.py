"""`hvr studio`: the files and runs that its server gives only to the page."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import warm

pytest.importorskip("sse_starlette")
pytest.importorskip("pygls")
pytest.importorskip("websockets")

from starlette.testclient import TestClient

from hvr.bench.cells import Cell, CellOptions
from hvr.bench.folder import BenchFolder
from hvr.doors.operations import answer
from hvr.doors.schema import PlanRequest, PlanTextRequest
from hvr.doors.service import Service
from hvr.doors.studio.application import make_studio
from hvr.doors.studio.documents import run_document, shared_run
from hvr.errors import UsageError
from hvr.tools.navigation.graph import GraphTool
from hvr.tools.navigation.graph_log import ToolAdded, event_lines
from tests.bench.bench_cells import result
from tests.survivors import wait_for

BLOCKS = Path(__file__).parents[2] / "examples" / "blocks"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("domain.pddl", "problem.pddl"):
        (tmp_path / name).write_bytes((BLOCKS / name).read_bytes())
    (tmp_path / "problem.plan").write_text("(pick-up a)\n(stack a b)\n")
    run = tmp_path / "runs" / "coffee"
    run.mkdir(parents=True)
    about = {"request": "make coffee", "scene": "FloorPlan1", "state": "started", "reached": None}
    (run / "task.json").write_text(json.dumps(about))
    lines = ['{"event": "step", "step": 1, "action": "(wait)", "success": true}', '{"event": "st']
    (run / "trace.jsonl").write_text("\n".join(lines))
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    application = make_studio(Service(folder), hosts=["127.0.0.1", "testserver"], token="secret")
    with TestClient(application, base_url="http://127.0.0.1") as found:  # ends the workers
        assert found.get("/?token=secret", follow_redirects=False).status_code == 303
        yield found


def test_only_who_knows_the_token_gets_the_page(folder: Path) -> None:
    application = make_studio(Service(folder), hosts=["127.0.0.1", "testserver"], token="secret")
    for query in ("", "?token=wrong"):
        stranger = TestClient(application, base_url="http://127.0.0.1")
        assert stranger.get(f"/{query}").status_code == 401
        assert stranger.get("/studio/index").status_code == 401
        with pytest.raises(Exception), stranger.websocket_connect("/studio/lsp"):  # noqa: B017
            pass


def test_two_studios_do_not_log_each_other_out(folder: Path) -> None:
    hosts = ["127.0.0.1"]
    tokens = ("first", 'a;b "c"&d#é%2F')
    first, second = (make_studio(Service(folder), hosts=hosts, token=token) for token in tokens)
    client = TestClient(first, base_url="http://127.0.0.1")
    other = TestClient(second, base_url="http://127.0.0.1", cookies=client.cookies)
    other.cookies = client.cookies  # a browser keeps one set for all ports
    client.get("/", params={"token": tokens[0]}, follow_redirects=False)
    other.get("/", params={"token": tokens[1]}, follow_redirects=False)
    assert client.get("/studio/index").status_code == 200
    assert other.get("/studio/index").status_code == 200
    assert not any(token in str(client.cookies) for token in tokens)


BROWSER = """#!{python}
import sys
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

opener = build_opener(ProxyHandler({{}}), HTTPCookieProcessor(CookieJar()))
with opener.open(sys.argv[1], timeout=10) as answer:
    Path({seen!r}).write_text(str(answer.status))
"""


@pytest.mark.slow
def test_the_browser_gets_the_page_at_once(folder: Path, tmp_path: Path) -> None:
    """The browser is a program that returns only once it has the page, and the token is unusual."""
    program, seen = tmp_path / "browser", tmp_path / "seen"
    program.write_text(BROWSER.format(python=sys.executable, seen=str(seen)))
    program.chmod(0o755)
    with warm.Popen(
        [sys.executable, "-m", "hvr", "studio", str(folder)],
        env={**os.environ, "HVR_STUDIO_TOKEN": "a&b #;c/é", "BROWSER": f"{program} %s"},
        stderr=subprocess.PIPE,
    ) as server:
        try:
            wait_for(lambda: seen.exists() and seen.read_text() != "")
        finally:
            server.terminate()
    assert seen.read_text() == "200"


def test_the_page_loads_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "http" not in page.text.replace("http-equiv", "")
    for name in ("studio.js", "studio.css"):
        assert client.get(f"/{name}").status_code == 200


def test_models_and_runs_are_listed(client: TestClient) -> None:
    found = client.get("/studio/index").json()
    assert found["models"] == [
        {"domain": "domain.pddl", "problems": [{"file": "problem.pddl", "plans": ["problem.plan"]}]}
    ]
    assert [run["request"] for run in found["runs"]] == ["make coffee"]


def test_a_run_that_is_being_written_is_shown_as_far_as_it_is(client: TestClient) -> None:
    found = client.get("/studio/run?name=coffee").json()
    assert [step["number"] for step in found["story"]["steps"]] == [1]
    assert found["story"]["state"] == "killed"  # the lock of the folder is free
    assert found["story"]["note"].startswith("Not recorded in this run")
    for name in ("", "..", "../runs/coffee", "nothing"):
        assert client.get("/studio/run", params={"name": name}).status_code == 400


def test_a_run_of_tools_has_its_calls_and_its_graph(client: TestClient, folder: Path) -> None:
    run = folder / "runs" / "pick-up"
    run.mkdir()
    (run / "task.json").write_text(json.dumps({"request": "pick it up", "decision": "answer"}))
    (run / "calls.jsonl").write_text('{"tool": "find", "arguments": {}}\n{"tool": "br')
    tool = GraphTool("find", frozenset({"email"}), frozenset({"email"}), frozenset({"user"}))
    (run / "graph.jsonl").write_text(event_lines([ToolAdded(tool)]))
    index = client.get("/studio/index").json()
    assert index["graphs"] == ["runs/pick-up/graph.jsonl"]
    assert {run["name"]: run["decision"] for run in index["runs"]} == {
        "pick-up": "answer",
        "coffee": None,
    }
    found = client.get("/studio/log?name=pick-up").json()
    assert [call["tool"] for call in found["calls"]] == ["find"]
    graph = client.get("/studio/tools?name=runs/pick-up/graph.jsonl").json()
    assert [one["name"] for one in graph["tools"]] == ["find"]
    assert [one["target"] for one in graph["outputs"]] == ["user"]
    (folder / "graph.json").write_text(json.dumps(graph))
    assert client.get("/studio/index").json()["graphs"][0] == "graph.json"
    assert client.get("/studio/tools?name=graph.json").json() == graph


def test_what_is_not_a_tool_graph_is_refused(client: TestClient, folder: Path) -> None:
    texts = {
        "a.jsonl": '{"event": "tool", "tool": "x"}\n',
        "b.jsonl": '{"event": "tool"\n',
        "c.jsonl": "[" * 100_000 + "\n",
        "d.json": '{"tools": [], "calls": 3}',
        "e.json": "{",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        reply = client.get("/studio/tools", params={"name": name})
        assert reply.status_code == 400
        assert name in reply.json()["message"]
    assert client.get("/studio/tools?name=../x.json").status_code == 400
    assert client.get("/studio/index").status_code == 200


def save(client: TestClient, **data: Any) -> int:
    return client.post("/studio/text", json=data).status_code


def test_texts_are_saved_inside_the_folder_only(client: TestClient, folder: Path) -> None:
    assert save(client, file="problem.plan", text="(pick-up a)\n") == 200
    assert (folder / "problem.plan").read_text() == "(pick-up a)\n"
    assert client.get("/studio/text?file=problem.plan").json() == {"text": "(pick-up a)\n"}
    before = sorted(folder.parent.rglob("*"))
    for name in ("../outside.plan", "/tmp/x.plan", "new/x.plan", "x.py", "runs/coffee/task.json"):
        assert save(client, file=name, text="x") == 400
    assert save(client, file="a.plan") == 400
    assert save(client, file="a.plan", text=3) == 400
    assert sorted(folder.parent.rglob("*")) == before


def test_a_link_does_not_lead_to_another_kind_of_file(client: TestClient, folder: Path) -> None:
    (folder / "x.py").write_text("print()")
    (folder / "y.plan").symlink_to("x.py")
    assert save(client, file="y.plan", text="(pick-up a)") == 400
    assert (folder / "x.py").read_text() == "print()"


def test_a_text_that_nests_too_deeply_is_refused(client: TestClient) -> None:
    json_ = {"content-type": "application/json"}
    reply = client.post("/studio/text", content=b"[" * 100_000, headers=json_)
    assert reply.status_code == 400


@pytest.mark.slow
def test_binary_messages_close_the_socket(folder: Path) -> None:
    application = make_studio(Service(folder), hosts=["testserver"], token="secret")
    client = TestClient(application)
    client.get("/?token=secret", follow_redirects=False)
    with client.websocket_connect("/studio/lsp") as socket:
        socket.send_bytes(b"x")
        assert socket.receive() == {
            "type": "websocket.close",
            "code": 1003,
            "reason": "messages must be text, not binary",
        }


@pytest.mark.slow
def test_the_language_server_answers_through_the_socket(folder: Path) -> None:
    application = make_studio(Service(folder), hosts=["127.0.0.1", "testserver"], token="secret")
    client = TestClient(application)
    client.get("/?token=secret", follow_redirects=False)
    start = {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}
    with client.websocket_connect("/studio/lsp") as socket:
        socket.send_text(json.dumps(message))
        answer = json.loads(socket.receive_text())
    assert answer["result"]["capabilities"]["hoverProvider"]


def traced(folder: str, plan: str, *, kind: str = "pddl", root: str = "examples") -> dict[str, Any]:
    place = BLOCKS.parents[1] / root / folder
    request = PlanTextRequest(
        domain=(place / f"domain.{kind}").read_text(),
        problem=(place / f"problem.{kind}").read_text(),
        plan=plan or (place / "plan.txt").read_text(),
    )
    return answer("trace_plan", request)


def test_numbers_and_processes_are_traced_exactly() -> None:
    found = traced("garden", "")
    level = next(curve for curve in found["curves"] if curve["fluent"] == "(level)")
    assert [piece["coefficients"] for piece in level["pieces"]] == [[2, 3], [17], [17, 0, -0.5]]
    assert found["processes"] == [{"name": "(drain)", "start": 6, "end": 10}]
    early = traced("garden", (BLOCKS.parent / "garden" / "early.txt").read_text())
    assert early["report"]["outcome"] == "invalid"


def test_a_plan_over_time_is_traced_with_the_causes_of_its_starts_and_ends(
    client: TestClient,
) -> None:
    domain = """(define (domain d) (:requirements :durative-actions)
      (:predicates (lit) (open) (done))
      (:durative-action light :parameters () :duration (= ?duration 9) :condition (and)
        :effect (and (at start (lit)) (at end (not (lit)))))
      (:durative-action mend :parameters () :duration (= ?duration 2)
        :condition (and (at start (not (done))) (over all (lit)) (at end (open)))
        :effect (at end (done))))"""
    problem = "(define (problem p) (:domain d) (:init (open)) (:goal (done)))"
    plan = "0: (light) [9]\n2: (mend) [2]\n"
    texts = {"domain": domain, "problem": problem, "plan": plan}
    found = client.post("/v1/trace", json=texts).json()
    assert found["report"]["outcome"] == "valid"
    needs = {
        (one["step"], one["time"], need["condition"]): need["made_true_by"]
        for one in found["steps"]
        for need in one["needs"]
    }
    assert needs[2, 4.0, "(lit)"] == 1 and needs[2, 4.0, "(open)"] == 0
    assert (2, 4.0, "(not (done))") not in needs


def test_a_hierarchical_plan_is_traced_with_its_tasks() -> None:
    found = traced("parcels", "", kind="hddl")
    nodes = found["decomposition"]
    assert [nodes[child]["task"] for child in nodes[0]["children"]] == [
        "(deliver book shop)",
        "(deliver lamp corner)",
    ]
    assert nodes[1]["method"] == "carry"
    assert [one["step"] for one in nodes if one["step"]] and found["objects"]["van1"] == ["van"]
    assert sorted(one["step"] for one in nodes if one["step"]) == list(range(1, 8))
    assert "(road shop corner)" in found["constants"]
    bare = traced("parcels", "(load van1 book depot)\n", kind="hddl")
    assert bare["report"]["outcome"] == "invalid"


def test_a_decomposition_with_a_cycle_is_drawn_as_far_as_it_is_a_tree() -> None:
    plan = "==>\n0 load van1 book depot\nroot 10 0\n10 go van1 shop -> drive-on 10 0 99\n<==\n"
    found = traced("parcels", plan, kind="hddl")
    assert found["report"]["outcome"] == "invalid"
    assert [one["task"] for one in found["decomposition"]] == [
        "",
        "(go van1 shop)",
        "(load van1 book depot)",
    ]


def test_benches_are_reports_of_their_own_folder(client: TestClient, folder: Path) -> None:
    for name in ("first", "more/second"):
        bench = BenchFolder(folder / name)
        cells = [Cell("T1", "FloorPlan1", one, "scripted", 0) for one in ("HVR", "LLM")]
        with bench.locked():
            bench.open(cells, CellOptions(), {})
        for cell in cells:
            bench.write(result(cell))
    assert client.get("/studio/index").json()["benches"] == ["first", "more/second"]
    found = client.get("/studio/bench?name=first").json()
    assert found["kind"] == "report"
    changes = client.get("/studio/bench?name=first&earlier=more/second").json()
    assert len(changes["sections"]) == len(found["sections"]) + 1
    for query in ("name=", "name=../first", "name=runs/coffee", "name=first&earlier=none"):
        assert client.get(f"/studio/bench?{query}").status_code == 400
    (folder / "first" / "cells" / "x.json").symlink_to("/etc/hostname")
    assert client.get("/studio/bench?name=first").status_code == 400


def test_a_bench_in_progress_has_a_board(client: TestClient, folder: Path) -> None:
    bench = BenchFolder(folder / "live")
    cells = [Cell("T1", "FloorPlan1", one, "scripted", 0) for one in ("HVR", "HR", "LLM")]

    def board() -> dict[str, Any]:
        found: dict[str, Any] = client.get("/studio/bench?name=live").json()["board"]
        return found

    with bench.locked():
        bench.open(cells, CellOptions(), {})
        assert (board()["running"], board()["done"], board()["total"]) == (True, 0, 3)
        assert board()["seconds_left"] is None
        bench.write(result(cells[0]))
        bench.write(replace(result(cells[1]), scores=None, error="x", error_kind="NoAnswer"))
        found = board()
        assert (found["done"], found["errors"]) == (1, 1)
        assert ["NoAnswer", 1] in found["causes"]
        assert found["seconds_left"] >= 0
    assert board()["running"] is False


def test_the_drawing_rules_beside_a_domain_are_given(client: TestClient, folder: Path) -> None:
    assert client.get("/studio/drawing?name=domain.pddl").json() is None
    rule = '[[draw]]\nfact = "(on ?x ?y)"\nabove = ["?x", "?y"]\n'
    (folder / "drawing.toml").write_text(rule)
    found = client.get("/studio/drawing?name=domain.pddl").json()
    assert found["rules"][0]["verb"] == "above"
    (folder / "drawing.toml").write_text(rule.replace("(on", "(onto"))
    reply = client.get("/studio/drawing?name=domain.pddl")
    assert reply.status_code == 400 and "onto" in reply.json()["message"]
    (folder / "drawing.toml").unlink()
    (folder / "drawing.toml").symlink_to("/etc/hostname")
    assert client.get("/studio/drawing?name=domain.pddl").status_code == 400
    assert client.get("/studio/drawing?name=../domain.pddl").status_code == 400


def test_a_plan_is_traced_with_the_causes_of_each_step(folder: Path) -> None:
    async def ask() -> dict[str, Any]:
        async with Service(folder) as service:
            return await service.call(
                "trace_plan",
                {
                    "domain_file": "domain.pddl",
                    "problem_file": "problem.pddl",
                    "plan": "(pick-up a)\n(stack a b)\n(stack c a)\n(pick-up c)\n",
                },
            )

    found = asyncio.run(ask())
    assert [one["ok"] for one in found["steps"]] == [True, True, False]
    assert found["steps"][1]["added"] == ["(clear a)", "(hand-empty)", "(on a b)"]
    needs = {one["condition"]: one["made_true_by"] for one in found["steps"][1]["needs"]}
    assert needs == {"(holding a)": 1, "(clear b)": 0}
    assert found["report"]["outcome"] == "invalid"


@pytest.mark.slow
def test_a_robot_is_asked_with_a_fault_and_recovers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    request = PlanRequest("make coffee", execute=True, run="hard", faults=("drop",), sight="doors")
    assert answer("plan_request", request)["reached"]
    found = run_document(folder / "runs" / "hard")
    assert found["sight"] == "doors"
    assert [step for step in found["story"]["steps"] if not step["as_expected"]]
    with pytest.raises(UsageError, match=r"no fault named 'fire' \(faults: drop, "):
        answer("plan_request", PlanRequest("make coffee", faults=("fire",)))


def test_a_run_is_saved_as_the_file_that_html_writes(client: TestClient, folder: Path) -> None:
    saved = client.get("/studio/share", params={"run": "coffee"})
    assert saved.headers["content-disposition"] == 'attachment; filename="coffee.html"'
    assert saved.text == shared_run(folder / "runs" / "coffee")
    assert client.get("/studio/share", params={"run": "../.."}).status_code == 400
    assert client.get("/studio/share", params={"run": "tea"}).status_code == 400


def test_what_the_page_shows_is_saved_as_one_file(client: TestClient) -> None:
    half = {"title": "</script>", "verdict": "valid", "good": True, "steps": ["(wait)"]}
    pair = {"kind": "pair", "left": half, "right": half}
    saved = client.post("/studio/share", json={"title": 'a/"b"\n.plan', "document": pair})
    assert saved.headers["content-disposition"] == 'attachment; filename="a-b-.plan.html"'
    assert saved.text.count("</script>") == 2
    for wrong in ({}, [], {"title": "x", "document": {"kind": "plan"}}, {"title": "x"}):
        assert client.post("/studio/share", json=wrong).status_code == 400


def test_a_run_that_the_page_has_seen_is_not_sent_again(client: TestClient, folder: Path) -> None:
    seen = client.get("/studio/run?name=coffee").json()["version"]
    asked = {"name": "coffee", "seen": seen}
    assert client.get("/studio/run", params=asked).status_code == 204
    with (folder / "runs" / "coffee" / "trace.jsonl").open("a") as file:
        file.write('ep", "step": 2, "action": "(wait)", "success": true}\n')
    assert client.get("/studio/run", params=asked).status_code == 200
