"""`hvr mcp` through the official client: in memory, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import warm

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import httpx2
import jsonschema
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.mcp_server import DOMAIN, building, fuzzed, mended, served, stepped, tower
from hvr.doors.mcp.server import HOST, PROMPTS, mcp_server
from hvr.doors.schema import OPERATIONS, UnansweredError
from hvr.doors.service import IDLE_SECONDS, MOST_SESSIONS, Service
from tests.survivors import wait_for, working_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

FILES = {"domain_file": "domain.pddl", "problem_file": "problem.pddl"}
BROKEN = "(pick-up b)\n(stack a b)"


@asynccontextmanager
async def connected(root: Path) -> AsyncIterator[Client]:
    async with Service(root) as service, Client(mcp_server(service)) as client:
        yield client


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def test_every_tool_resource_and_prompt(tmp_path: Path) -> None:
    root = served(tmp_path)

    async def work() -> None:
        async with connected(root) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == set(OPERATIONS)
            broken = {**FILES, "plan": BROKEN}
            requests: dict[str, dict[str, Any]] = {
                "explain_step": {**broken, "step": 1},
                "lint_model": FILES,
                "find_plan": {**FILES, "planner": "forward"},
                "plan_request": {"request": "open the fridge"},
                "plan_tools": {"tools": json.dumps([{"name": "ping"}]), "goals": ["ping"]},
                "open_session": FILES,
            }
            for name in OPERATIONS:
                if name == "validate_decomposition" or "session" in name or "action" in name:
                    continue
                result = await client.call_tool(name, requests.get(name, broken))
                assert not result.is_error, result.content
                jsonschema.validate(result.structured_content, tools[name].output_schema)
                assert 0 < len(result.content[0].text) <= 2000
            uris = [one.uri for one in (await client.list_resources()).resources]
            assert len(uris) == 4, "the run was saved"
            more = ["hvr://rules/HVR101", "hvr://scenes/FloorPlan1", f"{uris[-1]}/plan.pddl"]
            for uri in [*map(str, uris), *more]:
                assert (await client.read_resource(uri)).contents[0].text
            rule = (await client.read_resource(more[0])).contents[0].text
            assert rule.startswith("### HVR101 precondition") and "HVR102" not in rule
            assert len((await client.list_resource_templates()).resource_templates) == 3
            for prompt in (await client.list_prompts()).prompts:
                given = {argument.name: "\u202ex" for argument in prompt.arguments}
                text = (await client.get_prompt(prompt.name, given)).messages[0].content.text
                assert PROMPTS[prompt.name].text in text and "\u202e" not in text

    run(work)


def test_an_invalid_plan_is_an_answer_and_unusable_input_an_error(tmp_path: Path) -> None:
    root = served(tmp_path)

    async def work() -> None:
        async with connected(root) as client:
            result = await client.call_tool("validate_plan", {**FILES, "plan": BROKEN})
            assert result.structured_content["outcome"] == "invalid" and not result.is_error
            assert result.content[0].text.splitlines()[1].startswith("Step 2 (stack a b) cannot")
            for data, said in (
                ({**FILES, "plan": "(pick-up a"}, r"PddlSyntaxError \[HVR001\]: <plan>:1:"),
                ({**FILES, "domain_file": "domian.pddl"}, r"did you mean 'domain.pddl'"),
                ({"domian": DOMAIN}, r"unknown key 'domian'; did you mean 'domain'"),
                ({**FILES, "plan": 3}, r"plan must be a string, got a number"),
                ({**FILES, "plan": "", "seconds": 301}, r"seconds must be at least 0.1 and at"),
                ({**FILES, "domain": DOMAIN}, "either domain or domain_file"),
                ({**FILES, "plan": "x" * 10_000_001}, "at most 1e\\+07"),
                ({**FILES, "plan": "x" * 9_999_999}, "at most 10000000 characters"),
                *(
                    ({**FILES, "plan_file": name}, "outside the served folder")
                    for name in ("link.pddl", "out/secret.pddl", "../secret.pddl", "/dev/zero")
                ),
            ):
                result = await client.call_tool("validate_plan", data)
                assert result.is_error and re.search(said, result.content[0].text), result.content
            for call in (
                client.call_tool("validate_pln", {}),
                client.read_resource("hvr://rules/HVR999"),
                client.read_resource("hvr://runs/../x"),
                client.get_prompt("critique", {"domain": "x"}),
            ):
                with pytest.raises(MCPError):
                    await call

    run(work)


def test_names_that_control_terminals_are_escaped(tmp_path: Path) -> None:
    async def work() -> None:
        async with connected(tmp_path) as client:
            problem = tower(["a", "b"]).replace("tower", "x\u202ey")
            plan = "(pick-up \u202ea)"
            data = {"domain": DOMAIN, "problem": problem, "plan": plan}
            result = await client.call_tool("validate_plan", data)
            assert "\u202e" not in str(result.content[0].text)
            assert "\u202e" not in json.dumps(result.structured_content, ensure_ascii=False)

    run(work)


def test_agents_mend_plans_and_solve_problems() -> None:
    assert asyncio.run(mended(3, 1)) == {"mended": 3}
    assert asyncio.run(stepped(1, 1)) == {"solved": 1}


def test_fuzzed_calls_keep_to_their_schemas_and_to_the_folder() -> None:
    assert sum(asyncio.run(fuzzed(200, 1)).values()) == 200


def test_a_cancelled_call_ends_its_processes(tmp_path: Path) -> None:
    hard = tower([f"b{i}" for i in range(40)]).replace("(on b0 b1)", "(on b0 b1) (on b39 b0)")

    async def work() -> None:
        async with Service(tmp_path) as service:
            data = {"domain": DOMAIN, "problem": hard, "seconds": 60, "planner": "forward"}
            call = asyncio.create_task(service.call("find_plan", data))
            await asyncio.sleep(0.5)
            wait_for(lambda: len(working_in(tmp_path)) > 1)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            deadline = time.monotonic() + 1
            while working_in(tmp_path) and time.monotonic() < deadline:
                await asyncio.sleep(0.05)
            assert not working_in(tmp_path)
            with pytest.raises(UnansweredError, match=r"no answer within 0\.5 s"):
                await service.call("find_plan", {**data, "seconds": 0.5})

    run(work)


def test_a_client_sees_progress_and_may_cancel(tmp_path: Path) -> None:
    hard = tower([f"b{i}" for i in range(40)]).replace("(on b0 b1)", "(on b0 b1) (on b39 b0)")
    data = {"domain": DOMAIN, "problem": hard, "seconds": 60, "planner": "forward"}
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del message
        heard.append((progress, total))

    async def work() -> None:
        async with connected(tmp_path) as client:
            call = client.call_tool("find_plan", data, progress_callback=hear)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(call, 2.5)
            deadline = time.monotonic() + 1
            while working_in(tmp_path) and time.monotonic() < deadline:
                await asyncio.sleep(0.05)
            assert not working_in(tmp_path)
        assert (1.0, 60.0) in heard

    run(work)


def test_a_request_may_not_use_more_memory(tmp_path: Path) -> None:
    async def work() -> None:
        async with Service(tmp_path, memory=1_000_000) as service:
            with pytest.raises(UnansweredError, match="of memory"):
                data = {"domain": DOMAIN, "problem": tower(["a", "b"]), "plan": ""}
                for _ in range(20):
                    await service.call("validate_plan", data)
                    await asyncio.sleep(0.2)

    run(work)


def test_sessions_are_bounded_and_end_when_idle(tmp_path: Path) -> None:
    now = [0.0]

    async def work() -> None:
        async with Service(tmp_path, clock=lambda: now[0]) as service:
            data = {"domain": DOMAIN, "problem": tower(["a", "b"])}
            opened = [await service.call("open_session", data) for _ in range(MOST_SESSIONS)]
            session = {"session": opened[0]["session"]}
            with pytest.raises(UnansweredError, match="32 sessions are open"):
                await service.call("fork_session", session)
            for step in building(["a", "b"]):
                state = await service.call("apply_action", {**session, "action": step})
            assert state["goal_reached"]
            now[0] += IDLE_SECONDS + 1
            with pytest.raises(UnansweredError, match="15 minutes"):
                await service.call("apply_action", {**session, "action": "(pick-up a)"})

    run(work)


def test_over_stdio_and_nothing_remains_when_the_client_leaves(tmp_path: Path) -> None:
    root = served(tmp_path)
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "hvr", "mcp", "--root", str(root)]
    )

    async def work() -> None:
        async with Client(stdio_client(command)) as client:
            result = await client.call_tool("validate_plan", {**FILES, "plan_file": "plan.txt"})
            assert result.structured_content["outcome"] == "valid"
        wait_for(lambda: not working_in(root))

    run(work)


def test_a_line_that_is_no_message_is_answered(tmp_path: Path) -> None:
    lines = ["hello", '{"a": 1}', "[]"]
    done = warm.run(
        [sys.executable, "-m", "hvr", "mcp"], cwd=tmp_path, input="\n".join(lines).encode(),
        capture_output=True, timeout=60,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["error"]["code"] for answer in answers] == [-32700, -32600, -32600]
    assert done.returncode == 0


def test_a_killed_server_leaves_no_process(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "x", "version": "1"}
    hard = tower([f"b{i}" for i in range(40)]).replace("(on b0 b1)", "(on b0 b1) (on b39 b0)")
    arguments = {"domain": DOMAIN, "problem": hard, "seconds": 60, "planner": "forward"}
    messages = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "find_plan", "arguments": arguments}},
    ]
    process = warm.Popen(
        [sys.executable, "-m", "hvr", "mcp"], cwd=tmp_path, stdin=-1, stdout=-1, stderr=-3
    )
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()
    wait_for(lambda: len(working_in(tmp_path)) > 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    wait_for(lambda: not working_in(tmp_path))


def test_over_http_with_a_token_on_this_machine_only(tmp_path: Path) -> None:
    process = warm.Popen(
        [sys.executable, "-m", "hvr", "mcp", "--http", "0", "--root", str(served(tmp_path))],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        secret = process.stderr.readline().split()[-1]
        url = process.stderr.readline().split()[-1]
        assert url.startswith(f"http://{HOST}:")

        async def work() -> None:
            token = {"Authorization": f"Bearer {secret}"}
            async with httpx2.AsyncClient(headers=token, trust_env=False) as http:
                async with Client(streamable_http_client(url, http_client=http)) as client:
                    data = {**FILES, "plan_file": "plan.txt"}
                    result = await client.call_tool("validate_plan", data)
                    assert result.structured_content["outcome"] == "valid"
                for headers, code in (
                    ({"Authorization": "Bearer wrong"}, 401),
                    ({"Host": "evil.example"}, 421),
                    ({"Origin": "http://evil.example"}, 403),
                ):
                    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
                    assert (await http.post(url, json=body, headers=headers)).status_code == code
                big = await http.post(url, content=b"x" * 20_000_001)
                assert big.status_code == 413

        run(work)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


def test_a_used_port_is_a_usage_error() -> None:
    with socket.create_server((HOST, 0)) as used:
        port = used.getsockname()[1]
        command = [sys.executable, "-m", "hvr", "mcp", "--http", str(port)]
        done = warm.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"cannot listen on {HOST}:{port}: " in done.stderr
    assert "token" not in done.stderr


def test_the_skill_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    from hvr.doors.cli.main import main

    assert main(["mcp", "--skill"]) == 0
    assert capsys.readouterr().out.startswith("---\nname: hvr")
