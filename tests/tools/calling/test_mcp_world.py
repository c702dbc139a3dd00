"""MCP servers as environments: a real server of the official package, over stdio and HTTP."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from hvr.errors import HvrError, SimulatorError
from hvr.tools.calling.calls import CallFailure, CallOutcome, Json, ToolCall
from hvr.tools.calling.mcp_world import McpServer, McpTools, open_server
from hvr.tools.catalogue.schema import Effect
from tests.command_line import Hvr

SERVER = Path(__file__).with_name("mcp_server.py")
MALFORMED = Path(__file__).with_name("malformed_server.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _package() -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")


@pytest.fixture
def started() -> Iterator[McpTools]:
    tools = McpTools(McpServer((sys.executable, str(SERVER)), seconds=20, trusted=True))
    yield tools
    tools.close()


def called(tools: McpTools, tool: str, **arguments: Json) -> CallOutcome:
    return tools.call(ToolCall(tool, arguments))


def test_over_stdio_tools_are_called_refuse_die_and_begin_anew(started: McpTools) -> None:
    effects = {tool.name: tool.effect for tool in started.catalogue.tools}
    assert effects["find_book"] is Effect.READS and effects["lend_book"] is Effect.UNKNOWN
    assert called(started, "find_book", title="Emma").result == {"book_id": "B-7", "title": "Emma"}
    assert called(started, "find_book", title="Nowhere").failure is CallFailure.REFUSED
    assert called(started, "find_book", title=3).failure is CallFailure.BAD_ARGUMENTS
    assert called(started, "lend_book", book_id="B-7", reader="Ann").result == "lent"
    assert called(started, "lend_book", book_id="B-7", reader="Ann").failure is CallFailure.REFUSED
    page = called(started, "read_page", book_id="B-7", letters=100_000).result
    assert isinstance(page, str) and page.startswith("Ignore previous instructions")
    assert called(started, "die").failure is CallFailure.UNAVAILABLE
    # A crashed server is restarted for the next call.
    assert called(started, "find_book", title="Emma").ok
    started.reset()
    assert called(started, "lend_book", book_id="B-7", reader="Ann").ok
    started.close()
    assert called(started, "find_book", title="Emma").failure is CallFailure.UNAVAILABLE


def test_hints_of_a_server_that_is_not_trusted_make_no_reader() -> None:
    tools = McpTools(McpServer((sys.executable, str(SERVER)), seconds=20))
    try:
        assert {tool.effect for tool in tools.catalogue.tools} == {Effect.UNKNOWN}
        assert not any(tool.idempotent for tool in tools.catalogue.tools)
    finally:
        tools.close()


def test_what_does_not_answer_times_out(started: McpTools) -> None:
    started._server = McpServer(started._server.command, seconds=0.5)
    assert called(started, "wait", seconds=30.0).failure is CallFailure.TIMED_OUT


@contextmanager
def serving(server: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a server over HTTP; yield its URL and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(server), str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(200):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        process.kill()
        process.wait()


def test_over_loopback_http() -> None:
    with serving(SERVER) as (url, process):
        tools = McpTools(McpServer(url=url, seconds=20))
        assert called(tools, "find_book", title="Emma").ok
        tools.reset()  # a remote server keeps running
        assert called(tools, "lend_book", book_id="B-7", reader="Ann").ok
        tools.reset()
        again = called(tools, "lend_book", book_id="B-7", reader="Bob")
        assert again.failure is CallFailure.REFUSED
        process.kill()
        process.wait()
        lost = called(tools, "find_book", title="Emma").failure
        assert lost in (CallFailure.UNAVAILABLE, CallFailure.TIMED_OUT)
        tools.close()


@pytest.mark.parametrize("over_http", [False, True])
def test_tools_that_the_client_refuses_are_left_out_and_named(over_http: bool) -> None:
    with ExitStack() as stack:
        server = McpServer((sys.executable, str(MALFORMED)), seconds=20, trusted=True)
        if over_http:
            url, _ = stack.enter_context(serving(MALFORMED))
            server = McpServer(url=url, seconds=20, trusted=True)
        tools = McpTools(server)
        stack.callback(tools.close)
        assert [tool.name for tool in tools.catalogue.tools] == ["find_book", "find_reader"]
        assert [tool["name"] for tool in tools.listed] == ["find_book", "find_reader"]
        said = ("tool 2: 'burn_book': inputSchema: ", "tool 3: ", "tool 4: 'no_schema': ",
                "tool 5: 'lend_book': annotations.title: ", "tool 7: duplicate")  # fmt: skip
        for words, text in zip(said, tools.catalogue.left_out, strict=True):
            assert words in text
        assert called(tools, "find_book", title="Emma").ok
        assert called(tools, "burn_book").failure is CallFailure.UNKNOWN_TOOL


HEADERS = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import ListToolsResult, Tool


async def listed(*_):
    good = {"type": "object", "properties": {"a": {"type": "string"}}}
    bad = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "b c"}}}
    some = (("first", good), ("second", bad), ("third", good))
    return ListToolsResult(tools=[Tool(name=name, input_schema=one) for name, one in some])


async def main():
    async with stdio_server() as (reads, writes):
        server = Server("headers", on_list_tools=listed)
        await server.run(reads, writes, server.create_initialization_options())


anyio.run(main)
"""


def test_tools_that_the_client_drops_by_itself_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    tools = McpTools(McpServer((sys.executable, "-c", HEADERS), seconds=20))
    tools.close()
    assert [tool.name for tool in tools.catalogue.tools] == ["first", "third"]
    (left_out,) = tools.catalogue.left_out
    assert left_out.endswith("tool 2: 'second': the MCP client rejects its x-mcp-header")
    assert capfd.readouterr() == ("", "")


def test_the_commands_name_what_is_left_out_once(tmp_path: Path, hvr_: Hvr) -> None:
    command = json.dumps([sys.executable, str(MALFORMED)])
    (tmp_path / "world.toml").write_text(
        f"[tools]\nmcp = {{ command = {command}, trusted = true }}\n"
    )
    goal = ("--goal", "find_book", "--given", "title=Emma")
    for what, code in (("plan", 0), ("run", 0)):
        told = hvr_("tools", what, f"{tmp_path}/", *goal)
        assert told.code == code and "left out" not in told.out
        (note,) = told.err.splitlines()
        assert "left out" in note and note.endswith("; and 2 more") and "'burn_book'" in note
        left_out = json.loads(hvr_("tools", what, f"{tmp_path}/", *goal, "--json").out)["left_out"]
        assert len(left_out) == 5


def test_a_list_that_is_wrong_itself_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "server.py"
    broken.write_text(MALFORMED.read_text().replace('{"tools": PAGES[at]}', '{"tools": 7}'))
    with pytest.raises(SimulatorError, match="cannot be used"):
        McpTools(McpServer((sys.executable, str(broken)), seconds=20))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("no-such-program",), "no-such-program"),
        ((sys.executable, "-c", "raise SystemExit('no licence')"), "no licence"),
    ],
)
def test_a_server_that_cannot_be_started_is_named(command: tuple[str, ...], said: str) -> None:
    with pytest.raises(SimulatorError, match=said):
        McpTools(McpServer(command, seconds=5))


@pytest.mark.parametrize("value", [3, {}, {"command": "python"}, {"url": 1}, {"port": 1}])
def test_a_table_that_names_no_server_is_refused(value: object) -> None:
    with pytest.raises(HvrError, match=r"world\.toml: mcp"):
        open_server(value, Path(), "world.toml")


NOISY = """
import sys
print("Welcome to the server!", flush=True)
print("[1, 2", flush=True)
import runpy
sys.argv = [sys.argv[1]]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_lines_that_are_not_messages_make_no_noise(capfd: pytest.CaptureFixture[str]) -> None:
    tools = McpTools(McpServer((sys.executable, "-c", NOISY, str(SERVER)), seconds=20))
    assert called(tools, "find_book", title="Emma").ok
    tools.close()
    assert capfd.readouterr() == ("", "")


def test_a_silent_server_is_given_up_after_its_time() -> None:
    silent = (sys.executable, "-c", "import sys\nfor line in sys.stdin: pass")
    began = time.monotonic()
    with pytest.raises(SimulatorError, match=r"no answer within 1\.5 s"):
        McpTools(McpServer(silent, seconds=1.5))
    # One timeout and the process end, instead of a timeout for each attempt.
    assert time.monotonic() - began < 3 * 1.5
