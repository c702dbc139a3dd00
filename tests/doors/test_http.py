"""`hvr serve` through HTTP clients: answers, jobs, editors, and rejected requests."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import ProxyHandler, build_opener

import pytest

from tests import warm

pytest.importorskip("sse_starlette")
pytest.importorskip("uvicorn")

from jsonschema import Draft202012Validator

from hvr.doors.http.application import PATHS, description
from hvr.doors.http.jobs import Jobs
from hvr.doors.schema import OPERATIONS
from hvr.doors.service import Service
from tests.survivors import wait_for, working_in

pytestmark = pytest.mark.slow
BLOCKS = Path(__file__).parents[2] / "examples" / "blocks"
FILES = {"domain_file": "domain.pddl", "problem_file": "problem.pddl"}
ENDLESS = """(define (domain count) (:requirements :strips) (:predicates %s (never))
%s)"""


class Reply(NamedTuple):
    """Status, headers and body of an answer."""

    status: int
    headers: dict[str, str]
    body: Any


class Server:
    """A running `hvr serve`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.process = warm.Popen(
            [sys.executable, "-m", "hvr", "serve", "--root", str(root), "--port", "0"],
            env={**os.environ, "HVR_SERVE_TOKEN": "secret"},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        self.port = int(line.rpartition(":")[2])

    def ask(self, method: str, path: str, document: Any = None, **headers: str) -> Reply:
        """Send a request; headers have underscores for hyphens, and None leaves a header out."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        named = {"authorization": "Bearer secret", "content-type": "application/json"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(
                method,
                path,
                body if method == "POST" else None,
                {k: v for k, v in named.items() if v},
            )
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        kind = answer.headers.get_content_type()
        parsed = json.loads(text) if kind == "application/json" and text else text.decode()
        return Reply(answer.status, {k.lower(): v for k, v in answer.headers.items()}, parsed)

    def wait_for(self, job: str, *states: str) -> dict[str, Any]:
        """Return a job once it is in one of the given states."""
        for _ in range(600):
            found = self.ask("GET", f"/v1/jobs/{job}").body
            if found["state"] in states:
                return found
            time.sleep(0.05)
        raise AssertionError(found)

    def end(self, number: int = signal.SIGTERM) -> None:
        """End the server."""
        self.process.send_signal(number)
        self.process.wait(20)
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("served")
    for path in BLOCKS.iterdir():
        if path.is_file():
            (root / path.name).write_bytes(path.read_bytes())
    (root.parent / "outside.pddl").write_text("(define (domain secret))")
    (root / "link.pddl").symlink_to(root.parent / "outside.pddl")
    running = Server(root)
    yield running
    running.end()


def endless() -> dict[str, Any]:
    """Return a request that takes as long as its time limit: a counter with 60 bits."""
    bits = range(60)
    facts = " ".join(f"(on{n}) (off{n})" for n in bits)
    actions = []
    for n in bits:
        low = " ".join(f"(on{k})" for k in range(n))
        down = " ".join(f"(not (on{k})) (off{k})" for k in range(n))
        actions.append(
            f"(:action a{n} :parameters () :precondition (and (off{n}) {low}) "
            f":effect (and (on{n}) (not (off{n})) {down}))"
        )
    problem = "(define (problem p) (:domain count) (:init {}) (:goal (and {})))".format(
        " ".join(f"(off{n})" for n in bits), " ".join(f"(on{n})" for n in bits)
    )
    domain = ENDLESS % (facts, "\n".join(actions))
    return {"domain": domain, "problem": problem, "seconds": 60.0}


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["mcp", "--http", "0"]])
def test_an_empty_token_is_replaced_by_a_printed_one(command: list[str], tmp_path: Path) -> None:
    if command[0] == "mcp":
        pytest.importorskip("mcp")
    empty = {"HVR_SERVE_TOKEN": "", "HVR_MCP_TOKEN": ""}
    with warm.Popen(
        [sys.executable, "-m", "hvr", *command, "--root", str(tmp_path)],
        env={**os.environ, **empty},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        assert server.stderr.readline().startswith("bearer token: ")
        server.terminate()


def test_an_ipv6_address_is_served_as_it_is_printed(tmp_path: Path) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with warm.Popen(
        [sys.executable, "-m", "hvr", "serve", "--listen", "0::1", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "HVR_SERVE_TOKEN": "secret"},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        printed = server.stderr.readline().strip()
        try:
            assert printed.startswith("serving at http://[0::1]:")
            url = printed.removeprefix("serving at ") + "/healthz"
            with build_opener(ProxyHandler({})).open(url, timeout=10) as answer:
                assert answer.status == 200
        finally:
            server.terminate()


# Answers ------------------------------------------------------------------------------------------


def test_an_answer_has_the_declared_shape(server: Server) -> None:
    reply = server.ask("POST", "/v1/validate", FILES | {"plan_file": "plan.txt"})
    assert reply.status == 200
    assert reply.body["outcome"] == "invalid"
    assert reply.body["failure"]["step"] == 3
    Draft202012Validator(OPERATIONS["validate_plan"].answer_schema()).validate(reply.body)
    for path, text in {"/v1/lint": "findings", "/v1/plan": "steps", "/v1/repair": "plan"}.items():
        asked = FILES | ({"plan_file": "plan.txt"} if path == "/v1/repair" else {})
        reply = server.ask("POST", path, asked)
        assert reply.status == 200
        assert text in reply.body
        Draft202012Validator(OPERATIONS[PATHS[path]].answer_schema()).validate(reply.body)


def test_the_description_names_every_operation(server: Server) -> None:
    document = server.ask("GET", "/openapi.json").body
    assert document == json.loads(json.dumps(description()))
    assert set(PATHS.values()) == set(OPERATIONS)
    assert all(path in server.ask("GET", "/").body for path in PATHS)


def test_a_session_steps_through_a_problem(server: Server) -> None:
    session = server.ask("POST", "/v1/sessions/open", FILES).body["session"]
    action = {"session": session, "action": "(pick-up a)"}
    assert server.ask("POST", "/v1/sessions/apply", action).body["steps"] == ["(pick-up a)"]
    assert server.ask("POST", "/v1/sessions/close", {"session": session}).status == 200
    assert server.ask("POST", "/v1/sessions/apply", action).status == 400


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "status"),
    [("../outside.pddl", 400), ("/etc/passwd", 400), ("link.pddl", 400), ("no.pddl", 400)],
)
def test_no_path_leads_out_of_the_folder(server: Server, name: str, status: int) -> None:
    reply = server.ask("POST", "/v1/lint", {"domain_file": name})
    assert reply.status == status
    assert reply.body["error"] == "DataFileError"
    assert "secret" not in str(reply.body)


@pytest.mark.parametrize(
    ("headers", "status", "error"),
    [
        ({"authorization": ""}, 401, "NoToken"),
        ({"authorization": "Bearer other"}, 401, "NoToken"),
        ({"host": "evil.example"}, 421, "WrongHost"),
        ({"origin": "http://evil.example"}, 403, "WrongOrigin"),
        ({"content_type": "text/plain"}, 415, "NoJson"),
    ],
)
def test_foreign_pages_and_clients_without_a_token_are_refused(
    server: Server, headers: dict[str, str], status: int, error: str
) -> None:
    reply = server.ask("POST", "/v1/lint", {"domain_file": "domain.pddl"}, **headers)
    assert (reply.status, reply.body["error"]) == (status, error)


@pytest.mark.parametrize(
    ("path", "document", "status", "text"),
    [
        ("/v1/lint", b"{", 400, "not JSON"),
        ("/v1/lint", b"[]", 400, "expected an object"),
        ("/v1/lint", {"domain_fil": "x"}, 400, "did you mean 'domain_file'"),
        ("/v1/lint", {"domain": 3}, 400, "domain"),
        ("/v1/lint", {"domain": "(define (domain"}, 400, "domain"),
        ("/v1/jobs", {"operation": "vaidate_plan", "request": {}}, 400, "validate_plan"),
        ("/v1/jobs", {"operation": 1}, 400, "operation"),
        ("/v1/nothing", {}, 404, "/openapi.json"),
        ("/package/lama-first/solve", {"domain": "", "problem": ""}, 400, "domain"),
        ("/package/hvr/solve", b"[]", 400, "expected an object"),
        ("/package/hvr/solve", {"domain": [], "problem": 3}, 400, "domain"),
        ("/v1/lint", b"[" * 100_000, 400, "nests too deeply"),
        ("/v1/jobs", b"[" * 100_000, 400, "nests too deeply"),
    ],
)
def test_an_unusable_request_is_one_clear_error(
    server: Server, path: str, document: Any, status: int, text: str
) -> None:
    reply = server.ask("POST", path, document)
    assert reply.status == status
    assert text in reply.body["message"]
    assert "Traceback" not in str(reply.body)


def test_a_request_that_is_too_large_is_refused_before_it_is_read(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as raw:
        raw.sendall(
            b"POST /v1/lint HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\n"
            b"Content-Type: application/json\r\nContent-Length: 900000000\r\n\r\n"
        )
        assert raw.recv(100).startswith(b"HTTP/1.1 413")


def test_many_requests_at_once_are_answered_or_told_to_wait(server: Server) -> None:
    def ask(_: int) -> int:
        return server.ask("POST", "/v1/validate", FILES | {"plan_file": "plan.txt"}).status

    with ThreadPoolExecutor(100) as pool:
        found = list(pool.map(ask, range(100)))
    assert set(found) <= {200, 429}
    assert 200 in found
    assert server.ask("GET", "/healthz", authorization="").body == {"status": "ok"}
    assert (
        'hvr_answers_total{path="/v1/validate",status="200"}' in server.ask("GET", "/metrics").body
    )


def test_the_work_ends_when_the_client_hangs_up(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        body = json.dumps(endless()).encode()
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as raw:
            raw.sendall(
                b"POST /v1/plan HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\n"
                b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            )
            wait_for(lambda: working_in(tmp_path) != [])
        assert processes_in(tmp_path) == []
        assert server.ask("GET", "/healthz").status == 200


# Jobs ---------------------------------------------------------------------------------------------


def test_a_job_is_answered_and_its_events_can_be_resumed(server: Server) -> None:
    reply = server.ask("POST", "/v1/jobs", {"operation": "plan", "request": FILES})
    assert reply.status == 202
    job = reply.body["id"]
    assert reply.headers["location"] == f"/v1/jobs/{job}"
    done = server.wait_for(job, "done")
    assert done["answer"]["solved"]
    events = server.ask("GET", f"/v1/jobs/{job}/events").body
    assert events.count("data:") == 3
    rest = server.ask("GET", f"/v1/jobs/{job}/events", last_event_id="2").body
    assert rest.count("data:") == 1
    assert '"done"' in rest
    assert server.ask("DELETE", f"/v1/jobs/{job}").status == 204
    assert server.ask("GET", f"/v1/jobs/{job}").status == 404


def test_a_cancelled_job_ends_at_once(server: Server) -> None:
    job = server.ask("POST", "/v1/jobs", {"operation": "plan", "request": endless()}).body["id"]
    server.wait_for(job, "running")
    begun = time.monotonic()
    assert server.ask("DELETE", f"/v1/jobs/{job}").status == 204
    assert server.wait_for(job, "cancelled")["state"] == "cancelled"
    assert time.monotonic() - begun < 5


@pytest.mark.skipif(sys.platform == "win32", reason="folders are locked on POSIX systems")
@pytest.mark.parametrize("number", [0, signal.SIGTERM, signal.SIGKILL])
def test_an_ended_worker_leaves_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    served = tmp_path / "served"
    served.mkdir()
    running = Server(served)
    job = running.ask("POST", "/v1/jobs", {"operation": "plan", "request": endless()}).body["id"]
    wait_for(lambda: any(temporary.rglob("race")))
    if number:
        running.end(number)
    else:
        running.ask("DELETE", f"/v1/jobs/{job}")
    wait_for(lambda: not any(temporary.iterdir()))
    if not number:
        running.end()


@pytest.mark.skipif(
    signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, reason="hangups are ignored, as under nohup"
)
def test_a_closed_terminal_ends_the_server_in_order(tmp_path: Path) -> None:
    running = Server(tmp_path)
    running.process.send_signal(signal.SIGHUP)
    said = running.process.communicate(timeout=30)[1].splitlines()
    assert (running.process.returncode, said[-1]) == (143, "terminated")


def test_a_killed_server_loses_no_job_and_leaves_no_process(tmp_path: Path) -> None:
    for name in ("domain.pddl", "problem.pddl"):
        (tmp_path / name).write_bytes((BLOCKS / name).read_bytes())
    first = Server(tmp_path)
    request = {"operation": "plan", "request": endless() | {"seconds": 0.5}}
    slow = first.ask("POST", "/v1/jobs", request).body["id"]
    quick = first.ask("POST", "/v1/jobs", {"operation": "plan", "request": FILES}).body["id"]
    first.wait_for(slow, "running", "failed")
    first.end(signal.SIGKILL)
    second = Server(tmp_path)
    try:
        assert second.wait_for(quick, "done")["answer"]["solved"]
        assert second.wait_for(slow, "failed")["error"]["error"] in ("TimeLimit", "PlannerError")
    finally:
        second.end()
    assert processes_in(tmp_path) == []


def a_job(folder: Path, name: str, end: str = "", age_s: float = 0) -> Path:
    """Write a job into jobs/, as an earlier server would leave it."""
    job = folder / "jobs" / name
    job.mkdir(parents=True)
    request = {"operation": "lint_model", "request": {"domain_file": "domain.pddl"}, "created": 1}
    (job / "request.json").write_text(json.dumps(request))
    if end:
        (job / f"{end}.json").write_text("{}")
    then = time.time() - age_s
    os.utime(job, (then, then))
    return job


@contextmanager
def serving(root: Path) -> Iterator[Server]:
    """Serve a folder that has the domain and the problem of examples/blocks."""
    for name in ("domain.pddl", "problem.pddl"):
        (root / name).write_bytes((BLOCKS / name).read_bytes())
    running = Server(root)
    try:
        yield running
    finally:
        running.end()


LINT = {"operation": "lint", "request": {"domain_file": "domain.pddl"}}


def test_only_old_jobs_are_removed(tmp_path: Path) -> None:
    week_s = 7 * 24 * 3600.0
    old = a_job(tmp_path, "old-finished-job", "answer", week_s)
    fresh = a_job(tmp_path, "new-finished-job", "answer")
    target = a_job(tmp_path / "elsewhere", "linked-to-job", "answer", week_s)
    (tmp_path / "jobs/linked-job").symlink_to(target)
    notes = tmp_path / "jobs" / "my-own-notes"
    notes.mkdir()
    (notes / "answer.json").write_text("{}")
    os.utime(notes, (0, 0))
    strange = a_job(tmp_path, "my own.notes", "answer", week_s)
    with serving(tmp_path) as server:
        assert server.ask("POST", "/v1/jobs", LINT).status == 202
        listed = {one["id"] for one in server.ask("GET", "/v1/jobs").body["jobs"]}
    assert not old.exists()
    assert fresh.exists() and notes.exists() and strange.exists()
    assert (target / "answer.json").exists()
    assert not listed & {"my-own-notes", "my own.notes", "linked-job"}


def test_jobs_behind_a_link_are_neither_started_nor_accepted(tmp_path: Path) -> None:
    root, outside = tmp_path / "served", tmp_path / "outside"
    root.mkdir()
    job = a_job(outside, "waiting-job")
    old = a_job(outside, "old-finished-job", "answer", 7 * 24 * 3600.0)
    (root / "jobs").symlink_to(outside / "jobs")
    with serving(root) as server:
        reply = server.ask("POST", "/v1/jobs", LINT)
        assert reply.status == 400 and "jobs" in reply.body["message"]
        assert server.ask("GET", "/v1/jobs").body["jobs"] == []
        assert server.ask("GET", "/v1/jobs/old-finished-job").status == 404
        assert server.ask("POST", "/v1/lint", {"domain_file": "domain.pddl"}).status == 200
    assert [path.name for path in job.iterdir()] == ["request.json"]
    assert old.exists() and len(list((outside / "jobs").iterdir())) == 2


def test_a_second_server_leaves_the_jobs_of_the_first_alone(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        request = {"operation": "plan", "request": endless()}
        job = first.ask("POST", "/v1/jobs", request).body["id"]
        first.wait_for(job, "running")
        with serving(tmp_path) as second:
            for reply in (
                second.ask("POST", "/v1/jobs", LINT),
                second.ask("DELETE", f"/v1/jobs/{job}"),
            ):
                assert (reply.status, reply.body["error"]) == (409, "OtherServer")
            assert second.ask("POST", "/v1/lint", {"domain_file": "domain.pddl"}).status == 200
            events = (tmp_path / "jobs" / job / "events.jsonl").read_text()
            assert events.count("started") == 1
            assert first.ask("DELETE", f"/v1/jobs/{job}").status == 204
            first.end()
            reply = second.ask("POST", "/v1/jobs", LINT)
            assert reply.status == 202, "the second takes over"
            second.wait_for(reply.body["id"], "done")


def test_a_damaged_job_fails(tmp_path: Path) -> None:
    for number, text in enumerate(("{", "[]", '{"operation": "lint_model"}', "[" * 100_000)):
        job = a_job(tmp_path, f"damaged-{number}")
        (job / "request.json").write_text(text)
    with serving(tmp_path) as server:
        for number in range(4):
            found = server.wait_for(f"damaged-{number}", "failed")
            assert "damaged" in found["error"]["message"]


def test_an_unforeseen_error_ends_a_job(tmp_path: Path) -> None:
    async def work() -> dict[str, Any]:
        async with Service(tmp_path) as service:
            jobs = Jobs(service)
            service.call = None  # type: ignore[method-assign, assignment]
            job = jobs.submit("lint_model", {"domain": "(define)"})
            await asyncio.sleep(0.1)
            found = jobs.state(job)
            await jobs.stop()
            return found

    found = asyncio.run(work())
    assert (found["state"], found["error"]["error"]) == ("failed", "ServerError")


def processes_in(folder: Path) -> list[int]:
    """Return the processes in a folder, after those of a killed server have had time to end."""
    for _ in range(100):
        found = []
        for process in Path("/proc").glob("[0-9]*/cwd"):
            with suppress(OSError):
                if process.readlink() == folder:
                    found.append(int(process.parent.name))
        if not found:
            return []
        time.sleep(0.05)
    return found


# Editors ------------------------------------------------------------------------------------------


def test_clients_of_planning_as_a_service_find_plans(server: Server) -> None:
    texts = {n: (server.root / f"{n}.pddl").read_text() for n in ("domain", "problem")}
    path = server.ask("POST", "/package/dual-bfws-ffparser/solve", texts).body["result"]
    for _ in range(200):
        reply = server.ask("POST", path, {"adaptor": "planning_editor_adaptor"}).body
        if reply["status"] != "PENDING":
            break
        time.sleep(0.05)
    steps = [one["name"] for one in reply["plans"][0]["result"]["plan"]]
    assert steps[0] == "(pick-up a)"
    assert server.ask("GET", path).body["result"]["output"]["sas_plan"].splitlines() == steps
    assert any(one["package_name"] == "hvr" for one in server.ask("GET", "/package").body)
    reply = server.ask("POST", path, b"[1]")
    assert (reply.status, reply.body["error"]) == (400, "NoJson")
