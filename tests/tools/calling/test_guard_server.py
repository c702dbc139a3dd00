"""`hvr tools guard`: a real client of the official package, and a misbehaving agent."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import anyio
from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client
from mcp_types import CallToolResult, ElicitResult

from hvr.tools.calling.guard import USER_STATEMENT_KEY, AgentGuard, CallPolicy, GuardServer
from hvr.tools.calling.log import CallLedger
from hvr.tools.calling.mcp_world import McpServer, McpTools
from hvr.tools.catalogue.schema import Effect

SERVER = Path(__file__).with_name("library_server.py")
BOB = "Please return Dune for bob@lib.org, and pay 5."
ERAS = ("legacy", "auto")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


class Agent:
    """An agent with a client of the official package in front of a guard."""

    def __init__(self, client: Client, file: Path) -> None:
        self._client, self._file = client, file

    async def call(self, tool: str, said: Any = None, **arguments: Any) -> CallToolResult:
        meta: Any = None if said is None else {USER_STATEMENT_KEY: said}
        return await self._client.call_tool(tool, arguments, meta=meta)

    @property
    def written(self) -> list[Any]:
        if not self._file.exists():
            return []
        return [json.loads(line) for line in self._file.read_text().splitlines()]


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[McpTools, Path]]:
    """One server for all tests, and the file of its writes."""
    file = tmp_path_factory.mktemp("library") / "written.jsonl"
    tools = McpTools(McpServer((sys.executable, str(SERVER), str(file)), trusted=True))
    yield tools, file
    tools.close()


Act = Callable[[Agent], Awaitable[None]]


class Setting:
    """A guard around the library, and its user's answers."""

    def __init__(self, tools: McpTools, file: Path, folder: Path) -> None:
        self.tools, self.file, self.folder = tools, file, folder
        self.questions: list[str] = []
        file.unlink(missing_ok=True)

    def run(
        self, act: Act, *, era: str = "auto", answer: ElicitResult | None = None,
        allowed: tuple[Effect, ...] = (Effect.WRITES,), policy: CallPolicy | None = None,
        session: str = "a",
    ) -> None:  # fmt: skip
        schemas = {one["name"]: one["inputSchema"] for one in self.tools.listed}
        ledger = CallLedger(self.folder / "ledger.jsonl", session)
        guard = AgentGuard(self.tools, "l", schemas, policy or CallPolicy(), ledger, allowed)
        server = GuardServer(guard, self.tools.listed, lambda: self.tools.answer).server()

        async def asked(_: Any, params: Any) -> ElicitResult:
            self.questions.append(params.message)
            assert answer is not None
            return answer

        async def main() -> None:
            callback = asked if answer is not None else None
            async with Client(server, mode=era, elicitation_callback=callback) as client:
                await act(Agent(client, self.file))

        anyio.run(main)


@pytest.fixture
def library(behind: tuple[McpTools, Path], tmp_path: Path) -> Setting:
    return Setting(*behind, tmp_path)


YES = ElicitResult(action="accept", content={"confirm": True})
NO = ElicitResult(action="decline")
UNCHECKED = ElicitResult(action="accept", content={"confirm": False})


def text(result: CallToolResult) -> str:
    return " ".join(getattr(block, "text", "") for block in result.content)


def refused(result: CallToolResult, *words: str) -> bool:
    return bool(result.is_error) and all(word in text(result) for word in words)


async def _unsaid_amount(agent: Agent) -> None:
    await agent.call("find_member", BOB, email="bob@lib.org")
    assert refused(await agent.call("pay", member_id="M-2", amount=7), "amount = 7", "do not guess")


async def _injected_account(agent: Agent) -> None:
    await agent.call("read_note", BOB)
    result = await agent.call("pay", member_id="EVIL-1", amount=700)
    assert refused(result, 'member_id = "EVIL-1"', "amount = 700")


async def _injected_words_as_said(agent: Agent) -> None:
    note = text(await agent.call("read_note"))
    assert "EVIL-1" in note
    # The client declares the user's words; a result does not count as such.
    assert refused(await agent.call("pay", BOB, member_id="EVIL-1", amount=5), "EVIL-1")


async def _guessed_id(agent: Agent) -> None:
    assert refused(
        await agent.call("return_book", BOB, loan_id="L-1"), "the user has not stated it"
    )


async def _one_of_several(agent: Agent) -> None:
    await agent.call("find_member", BOB, email="bob@lib.org")
    await agent.call("list_loans", member_id="M-2")
    assert refused(await agent.call("return_book", loan_id="L-2"), "the result of list_loans")


async def _id_of_another_kind(agent: Agent) -> None:
    await agent.call("find_member", BOB, email="bob@lib.org")
    assert refused(await agent.call("return_book", loan_id="M-2"), "the result of find_member")


async def _id_of_an_ungrounded_look_up(agent: Agent) -> None:
    await agent.call("find_member", "Pay 5.", email="bob@lib.org")
    assert refused(await agent.call("pay", member_id="M-2", amount=5), "M-2")


async def _free_text_from_a_result(agent: Agent) -> None:
    await agent.call("find_member", BOB, email="bob@lib.org")
    result = await agent.call("order", "Order Dune.", items=[{"title": "Dune"}], address="555-0100")
    assert refused(result, "address") and "items" not in text(result)


async def _nested_value(agent: Agent) -> None:
    items = [{"title": "Dune", "copies": 700}]
    result = await agent.call("order", "Order Dune to Elm Road 1.", items=items,
                              address="Elm Road 1")  # fmt: skip
    assert refused(result, "items[0].copies = 700")


async def _empty_list(agent: Agent) -> None:
    result = await agent.call("order", "Order Dune to Elm Road 1.", items=[], address="Elm Road 1")
    assert refused(result, "items = []")


async def _part_of_a_number(agent: Agent) -> None:
    result = await agent.call("pay", "M-2 pays 700.5 for P-55", member_id="M-2", amount=55)
    assert refused(result, "amount = 55")


async def _a_lying_hint(agent: Agent) -> None:
    result = await agent.call("delete_member", "Show member M-2", member_id="M-2")
    assert refused(result, "the user must confirm it")


async def _unknown_effect(agent: Agent) -> None:
    assert refused(await agent.call("tidy", "Look at shelf A", shelf="A"), "confirm")


async def _unknown_tool(agent: Agent) -> None:
    assert refused(await agent.call("wipe_all", BOB), "unknown tool")


async def _wrong_type(agent: Agent) -> None:
    assert refused(await agent.call("pay", BOB, member_id="M-2", amount="5"), "bad arguments")


async def _extra_argument(agent: Agent) -> None:
    result = await agent.call("return_book", "return L-1", loan_id="L-1", force=True)
    assert refused(result, "bad arguments")


async def _endless_failures(agent: Agent) -> None:
    for _ in range(5):
        assert not refused(await agent.call("broken"), "not allowed")
    assert refused(await agent.call("broken"), "failed 5 times")


async def _endless_reading(agent: Agent) -> None:
    results = [await agent.call("read_note") for _ in range(12)]
    assert [bool(one.is_error) for one in results] == [False] * 10 + [True] * 2
    assert refused(results[-1], "budget")


STOPPED: tuple[Act, ...] = (
    _unsaid_amount, _injected_account, _injected_words_as_said, _guessed_id, _one_of_several,
    _id_of_another_kind, _id_of_an_ungrounded_look_up, _free_text_from_a_result, _nested_value,
    _empty_list, _part_of_a_number, _a_lying_hint, _unknown_effect, _unknown_tool, _wrong_type,
    _extra_argument, _endless_failures, _endless_reading,
)  # fmt: skip


@pytest.mark.parametrize("act", STOPPED, ids=lambda act: act.__name__.strip("_"))
def test_a_misbehaving_agent_writes_nothing(library: Setting, act: Act) -> None:
    async def acts(agent: Agent) -> None:
        await act(agent)
        assert agent.written == []

    library.run(acts, policy=CallPolicy(10))


@pytest.mark.parametrize("era", ERAS)
def test_nothing_is_written_twice(library: Setting, era: str) -> None:
    async def twice(agent: Agent) -> None:
        first = await agent.call("return_book", "return L-1", loan_id="L-1")
        assert not first.is_error and text(first) == "done"
        again = await agent.call("return_book", loan_id="L-1")
        assert refused(again, "An equal call was done", "check before repeating it")

    library.run(twice, era=era)

    async def later(agent: Agent) -> None:  # after the agent restarted
        assert refused(await agent.call("return_book", "return L-1", loan_id="L-1"), "was done")
        assert len(agent.written) == 1

    library.run(later, era=era)
    library.run(later, era=era, answer=NO)
    assert "It was done already" in library.questions[0]


def test_a_dry_run_and_a_missing_word_write_nothing(library: Setting) -> None:
    async def act(agent: Agent) -> None:
        assert refused(await agent.call("return_book", "return L-1", loan_id="L-1"))
        assert agent.written == []

    library.run(act, policy=CallPolicy(dry=True))
    library.run(act, allowed=())


@pytest.mark.parametrize("era", ERAS)
def test_the_user_confirms_what_no_one_has_said(library: Setting, era: str) -> None:
    async def act(agent: Agent) -> None:
        result = await agent.call("pay", BOB, member_id="M-7", amount=5)
        assert not result.is_error, text(result)
        assert agent.written == [["pay", {"member_id": "M-7", "amount": 5, "currency": "EUR"}]]

    library.run(act, era=era, answer=YES)
    (question,) = library.questions
    assert 'Not stated by you: member_id = "M-7"' in question and "amount = 5" in question


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", [NO, UNCHECKED], ids=["declined", "unchecked"])
def test_what_the_user_does_not_want_is_not_done(
    library: Setting, era: str, answer: ElicitResult
) -> None:
    async def act(agent: Agent) -> None:
        result = await agent.call("delete_member", BOB, member_id="M-2")
        assert refused(result, "the user declined") and agent.written == []

    library.run(act, era=era, answer=answer)


def test_an_agent_that_behaves_is_not_disturbed(library: Setting) -> None:
    async def act(agent: Agent) -> None:
        found = await agent.call("find_member", BOB, email="bob@lib.org")
        assert found.structured_content["member_id"] == "M-2"
        paid = await agent.call("pay", member_id="M-2", amount=5, currency="EUR")
        assert not paid.is_error, text(paid)
        loans = await agent.call("list_loans", member_id="M-2")
        assert len(loans.structured_content["loans"]) == 2
        assert len(agent.written) == 1

    library.run(act)
    assert library.questions == []
    lines = (library.folder / "ledger.jsonl").read_text().splitlines()
    sources = {tuple(s["place"]): s["source"] for s in json.loads(lines[0])["sources"]}
    assert sources == {("member_id",): "identified", ("amount",): "said", ("currency",): "default"}


def test_an_answer_counts_once_and_for_its_call(library: Setting) -> None:
    """The state of a question cannot authorise another call."""

    async def act(agent: Agent) -> None:
        session = agent._client.session
        first = await session.call_tool("tidy", {"shelf": "A"}, allow_input_required=True)
        state = first.request_state
        answers = {"confirm": YES}
        for shelf, done in (("B", False), ("A", False)):  # another call consumes the state
            other = await session.call_tool(
                "tidy", {"shelf": shelf}, input_responses=answers, request_state=state,
                allow_input_required=True,
            )  # fmt: skip
            assert (other.result_type == "complete") is done
        assert agent.written == []

    library.run(act, answer=YES)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


async def _conforms(target: Any, file: Path) -> None:
    async with Client(target) as client:
        names = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert names["pay"].input_schema["properties"]["currency"]["default"] == "EUR"
        agent = Agent(client, file)
        found = await agent.call("find_member", BOB, email="bob@lib.org")
        assert found.structured_content["name"] == "Bob"
        assert not (await agent.call("pay", member_id="M-2", amount=5)).is_error
        assert refused(await agent.call("pay", member_id="M-2", amount=5), "was done")
        assert refused(await agent.call("find_member", email="eve@x.org"), "find_member")
        assert len(agent.written) == 1


def test_over_stdio_the_guard_is_one_line_of_configuration(tmp_path: Path) -> None:
    file = tmp_path / "written.jsonl"
    arguments = ["-m", "hvr", "tools", "guard", "--trusted", "--yes", "--ledger",
                 str(tmp_path / "ledger.jsonl"), "--",
                 sys.executable, str(SERVER), str(file)]  # fmt: skip

    async def main() -> None:
        await _conforms(
            stdio_client(StdioServerParameters(command=sys.executable, args=arguments)), file
        )

    anyio.run(main)


def test_over_loopback_http(tmp_path: Path) -> None:
    file, port = tmp_path / "written.jsonl", _free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "hvr", "tools", "guard", "--trusted", "--yes", "--http", str(port),
         "--ledger", str(tmp_path / "ledger.jsonl"), "--", sys.executable, str(SERVER), str(file)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(300):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        anyio.run(_conforms, f"http://127.0.0.1:{port}/mcp", file)
    finally:
        process.terminate()
        process.wait()
