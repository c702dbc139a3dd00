"""The public API for tool worlds: `hvr.open_tools`."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hvr
from hvr.errors import UsageError
from hvr.tools.calling.guard import ProposedCall
from hvr.tools.navigation.chains import NextMove

EXAMPLES = Path(__file__).parents[3] / "examples"
DESK = '''
from pathlib import Path

FILE = Path(__file__).with_name("lent")


def find_book(title: str) -> dict:
    """Find a book by its title."""
    if title != "Emma":
        raise ValueError("there is no such book")
    return {"book_id": "B-7", "title": title}


def lend_book(book_id: str, reader: str) -> str:
    """Lend a book to a reader."""
    with FILE.open("a") as file:
        file.write(f"{book_id} {reader}\\n")
    return "lent"
'''
WORLD = """
[tools]
module = "desk"
reads = ["find_book"]

[tasks.emma]
request = "Ann wants to borrow Emma."
done = ["lend_book"]
values = { title = "Emma", reader = "Ann" }
"""
GIVEN = {"title": "Emma", "reader": "Ann"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "desk.py").write_text(DESK)
    (tmp_path / "world.toml").write_text(WORLD)
    return tmp_path


def lent(folder: Path) -> list[str]:
    file = folder / "lent"
    return file.read_text().splitlines() if file.exists() else []


def yes(proposed: ProposedCall) -> bool | None:
    return True if proposed.before is None else None


@pytest.mark.slow
def test_a_request_is_planned_proposed_and_carried_out_once(folder: Path) -> None:
    with hvr.open_tools(folder, trust=True) as world:
        chain = world.plan("emma").chain
        assert chain is not None and chain.calls == ("find_book", "lend_book")
        waits = world.run("lend_book", **GIVEN)
        (waiting,) = waits.waiting
        assert not waits.reached and waiting.call.arguments == {"book_id": "B-7", "reader": "Ann"}
        assert lent(folder) == []
        run = world.run("lend_book", **GIVEN, approve=yes)
        assert run.reached and lent(folder) == ["B-7 Ann"]
    # The ledger lies beside the world, so another process does not repeat the loan.
    with hvr.open_tools(folder, trust=True) as world:
        again = world.run("lend_book", **GIVEN, approve=yes)
        assert not again.reached and again.waiting[0].before is not None
        assert lent(folder) == ["B-7 Ann"]


def test_what_only_the_user_can_say_is_asked(folder: Path) -> None:
    with hvr.open_tools(folder, trust=True) as world:
        assert not world.run("lend_book", title="Emma", approve=yes).reached
        assert lent(folder) == []
        assert world.run("book_id", title="Emma").answers == {"book_id": "B-7"}
        with pytest.raises(UsageError, match="no parameter named 'titel'"):
            world.run("lend_book", titel="Emma")
        with pytest.raises(UsageError, match="name a goal"):
            world.plan()


def test_events_come_one_by_one_and_then_the_result(folder: Path) -> None:
    with hvr.open_tools(folder, trust=True) as world:
        events = world.events("lend_book", **GIVEN, approve=yes)
        kinds = [event.to_json()["event"] for event in events]
        assert kinds[0] == "plan" and kinds[-1] == "finished" and kinds.count("step") == 2
        assert events.result().reached and list(events) == []
        failing = world.events("lend_book", titel="Emma")
        with pytest.raises(UsageError):
            list(failing)


def test_a_closed_run_writes_nothing_more(folder: Path) -> None:
    with hvr.open_tools(folder, trust=True) as world:
        closed: list[Any] = []

        def close(_: ProposedCall) -> bool:
            closed[0]._closed.set()
            return True

        closed.append(world.events("lend_book", **GIVEN, approve=close))
        closed[0].close()
        assert lent(folder) == []


def test_a_run_does_not_block_the_event_loop(folder: Path) -> None:
    async def main() -> bool:
        with hvr.open_tools(folder, trust=True) as world:
            run = asyncio.create_task(world.arun("lend_book", **GIVEN, approve=yes))
            await asyncio.sleep(0)
            assert not run.done()
            return (await run).reached

    assert asyncio.run(main()) and lent(folder) == ["B-7 Ann"]


def test_a_cancelled_run_writes_nothing(folder: Path) -> None:
    async def main() -> None:
        with hvr.open_tools(folder, trust=True) as world:
            loop, asked = asyncio.get_running_loop(), asyncio.Event()

            def wait(_: ProposedCall) -> bool:
                loop.call_soon_threadsafe(asked.set)
                events_closed.result()
                return True

            events_closed: Any = __import__("concurrent.futures").futures.Future()
            run = asyncio.create_task(world.arun("lend_book", **GIVEN, approve=wait))
            await asked.wait()
            run.cancel()
            await asyncio.sleep(0.05)
            events_closed.set_result(None)
            with pytest.raises(asyncio.CancelledError):
                await run

    asyncio.run(main())
    assert lent(folder) == []


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # langgraph looks here for the types of the state
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
def test_a_langgraph_node_asks_and_writes_only_what_is_confirmed(folder: Path) -> None:
    pytest.importorskip("langgraph", reason="langgraph is not installed")
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    app = example("langgraph_node").graph.compile(checkpointer=InMemorySaver())

    def go(thread: str, said: Any) -> dict[str, Any]:
        config = {"configurable": {"thread_id": thread}}
        done: dict[str, Any] = asyncio.run(app.ainvoke(said, config))
        return done

    asks = {"world": f"{folder}/", "goals": ["book_id", "lend_book"], "values": {"title": "Emma"}}
    for thread in ("declined", "confirmed"):
        first = go(thread, asks)["__interrupt__"][0].value
        assert first["ask"] == ["reader"] and lent(folder) == []
        second = go(thread, Command(resume={"values": {"reader": "Ann"}}))["__interrupt__"][0].value
        assert second["confirm"][0]["arguments"] == {"book_id": "B-7", "reader": "Ann"}
        assert lent(folder) == []
    assert "__interrupt__" not in go("declined", Command(resume={"confirmed": False}))
    assert lent(folder) == []
    done = go("confirmed", Command(resume={"confirmed": True}))
    assert done["answers"] == {"book_id": "B-7"} and lent(folder) == ["B-7 Ann"]


@pytest.mark.filterwarnings("ignore")
def test_a_pydantic_ai_toolset_asks_and_writes_only_what_is_approved(folder: Path) -> None:
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    calls = [
        ToolCallPart("find_book", {"title": "Emma"}),
        ToolCallPart("lend_book", {"book_id": "B-7", "reader": "Eve"}),
    ]
    heard: list[Any] = []

    def model(messages: Any, _: Any) -> ModelResponse:
        heard.append(messages[-1].parts[-1])
        turn = len(heard) - 1
        return ModelResponse([calls[turn] if turn < len(calls) else TextPart("Done.")])

    with hvr.open_tools(folder, trust=True) as world:
        agent = Agent(
            FunctionModel(model), toolsets=[example("pydantic_ai_toolset").guarded(world)],
            deps_type=list[str], output_type=[str, DeferredToolRequests],
        )  # fmt: skip
        asked = asyncio.run(agent.run("Lend Emma to Ann", deps=["Lend Emma to Ann"]))
        assert isinstance(asked.output, DeferredToolRequests) and lent(folder) == []
        (call,) = asked.output.approvals
        question = asked.output.metadata[call.tool_call_id]["question"]
        assert "B-7" in str(heard[1].content) and 'Not stated by you: reader = "Eve"' in question

        def answer(approval: ToolApproved | bool) -> Any:
            results = DeferredToolResults(approvals={call.tool_call_id: approval})
            history = asked.all_messages()
            return asyncio.run(
                agent.run(message_history=history, deps=[], deferred_tool_results=results)
            )

        assert answer(False).output == "Done." and lent(folder) == []
        # An approval only covers the call shown last.
        for approval in (ToolApproved(override_args={"book_id": "B-7", "reader": "Bob"}), True):
            assert isinstance(answer(approval).output, DeferredToolRequests) and lent(folder) == []
        assert answer(True).output == "Done." and lent(folder) == ["B-7 Eve"]


@pytest.mark.slow
def test_a_world_that_begins_anew_repeats_no_call_silently(folder: Path) -> None:
    seen = "\nstate: dict = {}\n"  # neither visible values nor the ledger are saved
    (folder / "desk.py").write_text(DESK + seen)
    with hvr.open_tools(folder, trust=True) as world:
        assert world.run("lend_book", **GIVEN, approve=yes).reached
        again = world.run("lend_book", **GIVEN, approve=yes)
    assert not again.reached and again.waiting[0].before is not None
    assert lent(folder) == ["B-7 Ann"] and not (folder / "ledger.jsonl").exists()


def test_a_request_in_words_is_planned_and_carried_out() -> None:
    with hvr.open_tools("parcels") as parcels:
        plan = parcels.plan("Where is P-1001?")
        assert plan.chain is not None and plan.chain.calls[0].startswith("get_parcel")
        assert parcels.plan("Don't cancel P-1002.").move is NextMove.ANSWER
        assert parcels.plan("If P-1001 is late, redirect it to D-1.").ask == ("tool",)
        done = parcels.run("What does it cost to send 800 grams?")
        assert done.reached and done.outcomes[0].result == {"price_cents": 486}
        with pytest.raises(UsageError, match="only forbids something"):
            parcels.run("Don't cancel P-1002.")
