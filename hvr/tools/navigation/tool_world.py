"""Tool worlds in Python: `hvr.open_tools(world)` plans requests and makes the calls.

```python
with hvr.open_tools("./library") as library:
    print(library.plan("lend_book", title="Emma", reader="Ann").chain.calls)
    run = library.run("lend_book", title="Emma", reader="Ann", approve=lambda call: True)
    print(run.reached, run.answers)
```
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from hvr.errors import UsageError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.knowledge.world_file import WorldFile, load_world
from hvr.tools.calling.calls import CallOutcome, Json, ListedTools, ToolEnvironment
from hvr.tools.calling.guard import (
    AgentGuard,
    Approve,
    CallPolicy,
    GuardedTools,
    ProposedCall,
    mcp_tools,
)
from hvr.tools.calling.log import CallLedger, LedgerEntry
from hvr.tools.calling.worlds import meanings_file, open_tools
from hvr.tools.catalogue.schema import Catalogue, meaning_of
from hvr.tools.catalogue.schema_matching import NO_OVERRIDES, meanings, read_overrides
from hvr.tools.navigation.chains import Decision, NextMove
from hvr.tools.navigation.execution import ToolRun, carry_out, decision_of
from hvr.tools.navigation.known_values import ParameterMatcher
from hvr.tools.navigation.request import ToolRequest
from hvr.tools.navigation.task_chain import TaskChain
from hvr.tools.navigation.tasks import Learnt, TaskSteps, ToolGoals, tool_request, with_answers
from hvr.tools.navigation.words.reading import ReadRequest
from hvr.tools.navigation.words.request_reader import RequestReader

if TYPE_CHECKING:
    from hvr.execution.events import Event
    from hvr.knowledge.world_file import ToolTask


@dataclass(frozen=True)
class ToolResult:
    """The result of a request to tools.

    Args:
        waiting: Calls that wait for the user's approval.
        uncertain: Calls that may or may not have taken effect.
    """

    run: ToolRun
    waiting: tuple[ProposedCall, ...]
    uncertain: tuple[LedgerEntry, ...]

    @property
    def reached(self) -> bool:
        """Whether every goal is done, every requested value is known, and no call is uncertain."""
        return self.run.exit_code == 0 and not self.uncertain

    @property
    def answers(self) -> Mapping[str, Json]:
        """The values that the request asked for."""
        return self.run.steps.answers

    @property
    def outcomes(self) -> tuple[CallOutcome, ...]:
        """Outcomes of the calls in order, with the sources of their arguments."""
        return self.run.outcomes

    @property
    def ask(self) -> tuple[str, ...]:
        """The names of the values that only the user can supply."""
        return self.run.decision.ask

    @property
    def why(self) -> str:
        """The reason for the decision, as a sentence."""
        return self.run.decision.why


class ToolPlanner:
    """Plans requests to tools without calling any tool.

    Args:
        tasks: Tasks that the world defines, by name.
        file: File that lists parameters with the same meaning, if any.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        tasks: Mapping[str, ToolTask] | None = None,
        file: Path | None = None,
    ) -> None:
        self.catalogue = catalogue
        self._tasks = tasks or {}
        overrides = NO_OVERRIDES if file is None else read_overrides(file)
        encoder = TextVectors("lexical-hash")
        self._meanings = meanings(catalogue, encoder, overrides=overrides)

    def plan(
        self,
        goals: tuple[str, ...],
        values: Mapping[str, Json],
        tools: ToolEnvironment | None = None,
        name: str = "",
    ) -> Decision:
        """Return the next move and the cheapest proven chain; see `ToolWorld.plan`.

        Args:
            tools: Environment of the tools; None if only their descriptions are known.
        """
        if (read := self._read(goals)) is not None and read.request is None:
            ask = tuple(question.name for question in read.questions)
            return Decision(read.move or NextMove.ASK, read.why, ask=ask)
        guarded = GuardedTools(tools or ListedTools(self.catalogue), name)
        request, learnt, _ = self.request(goals, values)
        return decision_of(TaskChain(TaskSteps(guarded, request, learnt), self.catalogue.tools))

    def _read(self, goals: tuple[str, ...]) -> ReadRequest | None:
        if len(goals) != 1 or " " not in goals[0].strip() or goals[0] in self._tasks:
            return None
        reader = RequestReader(self.catalogue, self._meanings, TextVectors("lexical-hash").encode)
        return reader.read(goals[0])

    def request(
        self, goals: tuple[str, ...], values: Mapping[str, Json]
    ) -> tuple[ToolRequest, Learnt, str]:
        """Return the request for goals and values, the knowledge to use, and the request's id.

        Raises:
            UsageError: A tool or value does not exist, or a request in words leads to no call.
        """
        found, text = self._meanings, ", ".join(goals)
        learnt = Learnt(meanings=found)
        matcher = ParameterMatcher(learnt.experience.flow, found)
        if (read := self._read(goals)) is not None:
            if read.request is None:
                raise UsageError(read.why, field="goals")
            given = {meaning_of(name, found): value for name, value in values.items()}
            request = with_answers(read.request, given, matcher)
            return request, learnt, f"{text} {sorted(given.items())}"
        said: dict[str, Json] = {}
        if len(goals) == 1 and goals[0] in self._tasks:
            task = self._tasks[goals[0]]
            goals, said, text = (*task.done, *task.known), dict(task.values), task.request
        if not goals:
            raise UsageError("name a goal: a tool, a value, or a task of the world", field="goals")
        given = {meaning_of(n, found, goals): v for n, v in {**said, **values}.items()}
        tools = {tool.name for tool in self.catalogue.tools}
        done = tuple(goal for goal in goals if goal in tools)
        known = tuple(meaning_of(goal, found) for goal in goals if goal not in tools)
        asked = ToolGoals(done, known, given, text)
        return (
            tool_request(asked, self.catalogue, matcher),
            learnt,
            f"{text} {sorted(given.items())}",
        )


class ToolWorld:
    """An open tool world; see `open_world`."""

    def __init__(self, world: WorldFile, ledger: Path | None = None) -> None:
        self._world = world
        self._tools = open_tools(world)
        try:
            # An observable state means that the world restarts in each process, so an old ledger
            # would be wrong.
            lasting = self._tools.state() is None
            path = world.folder / "ledger.jsonl" if ledger is None and lasting else ledger
            self._ledger = CallLedger(path)
            file = meanings_file(world)
            self._planner = ToolPlanner(self._tools.catalogue, world.tool_tasks, file)
        except BaseException:
            self._tools.close()
            raise

    @property
    def catalogue(self) -> Catalogue:
        return self._tools.catalogue

    @property
    def environment(self) -> ToolEnvironment:
        return self._tools

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The tools with JSON Schemas of their arguments, in MCP's format."""
        return mcp_tools(self.catalogue)

    def guard(self, policy: CallPolicy | None = None, session: str = "") -> AgentGuard:
        """Return a guard for an agent that calls the tools itself.

        Args:
            policy: Call budget, dry-run mode and log.
            session: Id of the session, within which the user must confirm repeated writing calls.
        """
        schemas = {one["name"]: one["inputSchema"] for one in self.listed}
        ledger = self._ledger.for_request(session)
        return AgentGuard(self._tools, self._world.name, schemas, policy or CallPolicy(), ledger)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the processes and connections of the tools."""
        self._tools.close()

    def plan(self, *goals: str, **values: Json) -> Decision:
        """Return the next move and the cheapest proven chain, without calling a tool.

        Args:
            goals: Tools to call and values to find; or the name of a task of the world; or a
                request in words.
            values: Values that the user gives, by parameter or meaning.

        Raises:
            UsageError: A tool or value does not exist.
            PlannerError: The planner failed or ran out of time.
        """
        return self._planner.plan(goals, values, self._tools, self._world.name)

    def run(
        self,
        *goals: str,
        approve: Approve | None = None,
        policy: CallPolicy | None = None,
        listen: Callable[[Event], None] | None = None,
        **values: Json,
    ) -> ToolResult:
        """Carry out a request; see `plan` for `goals` and `values`.

        Args:
            approve: Callback that approves each writing call; None to leave these calls waiting.
            policy: Call budget, dry-run mode and log.
            listen: Callback that receives each event as it happens.

        Raises:
            UsageError: A tool or value does not exist, or the request in words leads to no call.
            DataFileError: The ledger cannot be read or written.
            PlannerError: The planner failed or ran out of time.
        """
        request, learnt, text = self._planner.request(goals, values)
        guarded = GuardedTools(
            self._tools,
            self._world.name,
            policy,
            self._ledger.for_request(text),
            approve or _no_one,
        )
        done = carry_out(guarded, request, learnt, listen=listen)
        return ToolResult(done, guarded.waiting, guarded.uncertain)

    async def arun(
        self,
        *goals: str,
        approve: Approve | None = None,
        policy: CallPolicy | None = None,
        **values: Json,
    ) -> ToolResult:
        """Carry out a request without blocking the event loop; see `run`.

        If the task is cancelled, the run stops at its next event or before its next writing call.
        """
        events = self.events(*goals, approve=approve, policy=policy, **values)
        try:
            return await asyncio.to_thread(events.result)
        except asyncio.CancelledError:
            await asyncio.to_thread(events.close)
            raise

    def events(
        self,
        *goals: str,
        approve: Approve | None = None,
        policy: CallPolicy | None = None,
        **values: Json,
    ) -> RunEvents:
        """Carry out a request in a background thread, and return its events; see `run`."""

        def carry(listen: Callable[[Event], None], go_on: Callable[[], None]) -> ToolResult:
            def asked(proposed: ProposedCall) -> bool | None:
                answer = None if approve is None else approve(proposed)
                go_on()
                return answer

            return self.run(*goals, approve=asked, policy=policy, listen=listen, **values)

        return RunEvents(carry)


class RunEvents:
    """The events of a run in a background thread, followed by its result.

    Args:
        carry: Function that carries out the request. It must call its first argument with each
            event, and its second before each writing call; both raise an exception once the run is
            closed.
    """

    def __init__(
        self, carry: Callable[[Callable[[Event], None], Callable[[], None]], ToolResult]
    ) -> None:
        self._carry = carry
        self._events: SimpleQueue[Event | None] = SimpleQueue()
        self._closed = threading.Event()
        self._result: ToolResult | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Event]:
        """Yield the events as they happen.

        Raises:
            HvrError: The run failed; raised after the last event.
        """
        while (event := self._events.get()) is not None:
            yield event
        self._events.put(None)  # lets other iterators end, too
        if self._error is not None:
            raise self._error

    def result(self) -> ToolResult:
        """Wait for the run to end and return its result.

        Raises:
            HvrError: The run failed.
            asyncio.CancelledError: The run was closed.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def close(self) -> None:
        """Stop the run at its next event or before its next writing call, and wait for the end."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._result = self._carry(self._hear, self._go_on)
        except BaseException as error:  # re-raised where the result is read
            self._error = error
        finally:
            self._events.put(None)

    def _hear(self, event: Event) -> None:
        self._go_on()
        self._events.put(event)

    def _go_on(self) -> None:
        if self._closed.is_set():
            raise asyncio.CancelledError("the run was closed")


def open_world(world: str | Path, *, ledger: Path | None = None, trust: bool = False) -> ToolWorld:
    """Open a tool world.

    Args:
        world: Folder whose `world.toml` has a `[tools]` table, or the name of a world in hvr.
        ledger: Path of the ledger; by default `ledger.jsonl` beside the world file, or in memory if
            the tools start anew in each process.
        trust: Whether to run the code that the world file names.

    Raises:
        HvrError: The world cannot be opened.
    """
    file = load_world(str(world), trust=trust)
    return ToolWorld(file, ledger)


def _no_one(proposed: ProposedCall) -> None:
    del proposed
