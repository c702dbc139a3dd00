"""A request in a world of tools, carried out by the executor of all worlds."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hvr.calling.guard import GuardedTools
from hvr.calling.log import error_text, redacted
from hvr.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.errors import ImpossibleGoalError
from hvr.execution.events import Event, Finished
from hvr.navigation.chains import (
    CallCounts,
    CallFacts,
    NavigationTool,
    cheapest_chain,
    navigation_tools,
)
from hvr.navigation.decision import Decision, NextMove, decide
from hvr.navigation.tool_domain import ToolDomain, tool_domain
from hvr.pddl import GroundAction, Task
from hvr.plans import AABlock, MacroAction, Plan, Planned, Rungs
from hvr.printable import one_line, short
from hvr.retrieval.relevance import Relevant
from hvr.tools.catalogue.merging import ParameterMeaning
from hvr.tools.catalogue.schema import Effect, ToolSchema, quoted
from hvr.worlds.acting import FactPolicy
from hvr.worlds.environment import Observation
from hvr.worlds.running import WorldRun, run_world
from hvr.worlds.words import words_for

MOST_VALUES = 1_000
"""Values of one meaning that are kept of a result."""

SAID = 300
"""Characters of what a tool says of a failure that are told on."""

FOR_GOOD = 3
"""Failures of one tool in a row after which it is not called any more."""

UNSURE = frozenset(
    (CallFailure.TIMED_OUT, CallFailure.UNAVAILABLE, CallFailure.WRONG_TYPE, CallFailure.EMPTY)
)
"""Failures after which a tool may have changed the world all the same."""

Chooser = Callable[[Decision, Sequence[NavigationTool]], str]
"""Chooses the tool to call among admissible ones."""

Filler = Callable[[ToolSchema, Mapping[str, Json], Sequence[CallOutcome], str], Mapping[str, Json]]
"""Fills the arguments of a call: of the tool, what is known, the calls so far, and what was wrong
with the last try."""


@dataclass(frozen=True)
class ToolErrand:
    """What is wanted of a world of tools.

    Args:
        goal: what is to be so.
        values: what the request says, by meaning.
        request: in words, for people.
    """

    goal: CallFacts
    values: Mapping[str, Json]
    request: str = ""


@dataclass(frozen=True)
class ToolRun:
    """How a request went.

    Args:
        decision: the last one: an answer, a question, or why it does not go on.
        values: what is known in the end, by meaning.
        outcomes: of the calls, in order.
        world: the run of the executor; None if nothing was called.
        domain: what was planned in; None if nothing was called.
        ambiguous: values between which the user is to choose, by meaning.
    """

    decision: Decision
    values: Mapping[str, Json]
    outcomes: tuple[CallOutcome, ...] = ()
    world: WorldRun | None = None
    domain: ToolDomain | None = None
    ambiguous: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0: reached; 1: nothing leads to it; 2: the user is asked; 4: a call was not allowed."""
        move = self.decision.move
        if move is NextMove.STOP and any(
            outcome.failure is CallFailure.NOT_ALLOWED for outcome in self.outcomes
        ):
            return 4
        return {NextMove.ANSWER: 0, NextMove.STOP: 1, NextMove.ASK: 2}.get(move, 4)


class ToolFacts:
    """Guarded tools as an environment of facts (`hvr.worlds.environment.FactEnvironment`).

    Args:
        tools: they are called.
        meanings: of the parameters.
        errand: what is wanted.
        fill: fills arguments that the meanings do not settle; None if nothing does.
    """

    def __init__(
        self,
        tools: GuardedTools,
        meanings: Iterable[ParameterMeaning],
        errand: ToolErrand,
        fill: Filler | None = None,
    ) -> None:
        self._tools, self._errand, self._fill = tools, errand, fill
        self._meanings = tuple(meanings)
        self.steps = navigation_tools(tools.catalogue, self._meanings)
        self._names = {slot: m.name for m in self._meanings for slot in m.slots}
        self._schemas = {tool.name: tool for tool in tools.catalogue.tools}
        start = CallFacts(frozenset(errand.values))
        self.domain = tool_domain(self.steps, start, errand.goal)
        self._by_action = {self.domain.action(name): name for name in self._schemas}
        self.counts: dict[str, CallCounts] = {}
        self.barred: dict[str, str] = {}
        self.values: dict[str, Json] = {}
        self.ambiguous: dict[str, tuple[Json, ...]] = {}
        self.forbidden = False
        self._sent: dict[str, Any] = {}
        self._begin()

    def _begin(self) -> None:
        self.values = dict(self._errand.values)
        self._choices: dict[str, tuple[Json, ...]] = {}
        self._done: set[str] = set()
        self._running: dict[str, int] = {}

    @property
    def facts(self) -> CallFacts:
        """What is so now."""
        return CallFacts(frozenset(self.values), frozenset(self._done))

    def reset(self) -> None:
        """Begin anew."""
        self._tools.reset()
        self._begin()

    def step(self, name: str, args: tuple[str, ...]) -> str:
        """Call the tool of an action."""
        del args
        tool = self._schemas[self._by_action[name]]
        doubt = self._doubt(tool)
        if doubt:
            self.barred[tool.name] = doubt
            self._sent = {"action": tool.name, "success": False, "error": doubt}
            return doubt
        outcome = self._call(tool)
        arguments: Any = redacted(dict(outcome.call.arguments))
        self._sent = {**arguments, "action": tool.name, "success": outcome.ok}
        if outcome.ok:
            self._take(tool, outcome)
            return ""
        error = short(error_text(outcome), SAID)
        said = f"{outcome.failure}: {error}" if error else f"{outcome.failure}"
        self._sent["error"] = said
        self._fail(tool, outcome, said)
        return said

    def sent(self) -> dict[str, Any]:
        """Return the last call, for the events of a run."""
        return self._sent

    def observe(self) -> Observation:
        """Return what is known and done."""
        names, domain = self.domain.tools, self.domain
        known = [("known", domain.meanings[m]) for m in self.values if m in domain.meanings]
        done = [("done", names[name]) for name in self._done]
        return Observation([*known, *done])

    def _call(self, tool: ToolSchema) -> CallOutcome:
        given = list(self._errand.values.values())
        arguments = self._arguments(tool)
        call = ToolCall(tool.name, arguments)
        if self._fill is not None:
            filled = self._fill(tool, arguments, self._tools.outcomes, "")
            call = ToolCall(tool.name, filled)
        return self._tools.call_with(call, request=given)

    def _arguments(self, tool: ToolSchema) -> dict[str, Json]:
        """Return values for what a tool needs, and for what it may take and the request says."""
        found = {}
        for parameter in tool.takes:
            meaning = next((n for s, n in self._names.items() if s.tool == tool.name
                            and s.name == parameter.name and not s.gives), "")  # fmt: skip
            known = self.values if parameter.required else self._errand.values
            if meaning in known:
                found[parameter.name] = known[meaning]
        return found

    def _doubt(self, tool: ToolSchema) -> str:
        """Return why it is not clear of what a writing tool would write; empty if it is."""
        if tool.effect is Effect.READS:
            return ""
        step = next(step for step in self.steps if step.name == tool.name)
        for meaning in sorted(step.needs):
            choices = self._choices.get(meaning, ())
            if len(choices) > 1 and meaning not in self._errand.values:
                self.ambiguous[meaning] = choices
                return (
                    f"{quoted(meaning)} has {len(choices)} values: which one is to be written "
                    "is not guessed"
                )
        return ""

    def _take(self, tool: ToolSchema, outcome: CallOutcome) -> None:
        self.counts[tool.name] = _counted(self.counts.get(tool.name), ok=True)
        self._running.pop(tool.name, None)
        self._done.add(tool.name)
        for slot, meaning in self._names.items():
            if slot.tool != tool.name or not slot.gives or meaning in self._errand.values:
                continue
            found = values_at(outcome.result, slot.name)
            if found:
                self.values[meaning] = found[0]
                self._choices[meaning] = found

    def _fail(self, tool: ToolSchema, outcome: CallOutcome, said: str) -> None:
        self.counts[tool.name] = _counted(self.counts.get(tool.name), ok=False)
        self._running[tool.name] = self._running.get(tool.name, 0) + 1
        unsure = outcome.failure in UNSURE and tool.effect is not Effect.READS
        if (
            self._running[tool.name] >= FOR_GOOD
            or outcome.failure is CallFailure.NOT_ALLOWED
            or (unsure and tool.idempotent is not True)
            # A tool that refuses refuses the same arguments again.
            or outcome.failure in (CallFailure.REFUSED, CallFailure.BAD_ARGUMENTS)
        ):
            self.barred[tool.name] = said
            self.forbidden = self.forbidden or outcome.failure is CallFailure.NOT_ALLOWED


@dataclass
class _ChainPlanner:
    """Makes plans for the executor: the cheapest chain, with tools that failed dearer."""

    env: ToolFacts
    goal: CallFacts
    before: Mapping[str, CallCounts]
    choose: Chooser | None

    def plan(self, task: Task) -> Planned:
        env, counts = self.env, dict(self.before)
        for name, seen in env.counts.items():
            past = counts.get(name, CallCounts())
            counts[name] = CallCounts(
                past.successes + seen.successes, past.failures + seen.failures
            )
        usable = [tool for tool in env.steps if tool.name not in env.barred]
        chain = cheapest_chain(env.facts, self.goal, usable, counts)
        if chain is None:
            raise ImpossibleGoalError("no chain of calls leads to what is wanted")
        calls = self._chosen(chain.calls, usable, counts)
        actions = tuple(GroundAction(env.domain.action(name), ()) for name in calls)
        blocks = tuple(
            AABlock(MacroAction(f"call {short(one_line(name), 80)}"), (action,))
            for name, action in zip(calls, actions, strict=True)
        )
        reasons = dict.fromkeys(task.objects, "the request or a tool names it")
        plan = Plan(blocks, True, "cheapest chain of calls", 0.0)
        return Planned(task.problem, task, Relevant(reasons), plan, 1)

    def _chosen(
        self,
        calls: tuple[str, ...],
        usable: Sequence[NavigationTool],
        counts: Mapping[str, CallCounts],
    ) -> tuple[str, ...]:
        """Let the model choose which admissible call comes first; the rest is planned from it."""
        if self.choose is None:
            return calls
        env = self.env
        admissible = openings(env.facts, self.goal, usable)
        decision = decide(env.facts, self.goal, usable, [t.name for t in usable], counts=counts)
        name = self.choose(decision, admissible)
        if name == calls[0]:
            return calls
        first = next(tool for tool in admissible if tool.name == name)
        rest = cheapest_chain(env.facts.after(first), self.goal, usable, counts)
        return calls if rest is None else (name, *rest.calls)


def openings(
    facts: CallFacts, goal: CallFacts, tools: Collection[NavigationTool]
) -> tuple[NavigationTool, ...]:
    """Return the calls that may come first: possible now, and of use for the goal.

    A call is of use if it is wanted, or gives something that is not known and that the goal or
    a tool on a way to it needs.
    """
    wanted, serves = set(goal.known - facts.known), set(goal.done - facts.done)
    grown = True
    while grown:
        grown = False
        for tool in tools:
            if tool.name in serves or tool.gives & wanted:
                more = (tool.needs - facts.known) - wanted
                grown = grown or bool(more) or tool.name not in serves
                wanted |= more
                serves.add(tool.name)
    return tuple(
        tool for tool in tools
        if tool.name in serves and tool.needs <= facts.known and tool.name not in facts.done
    )  # fmt: skip


def carry_out_goal(
    tools: GuardedTools,
    meanings: Sequence[ParameterMeaning],
    errand: ToolErrand,
    *,
    counts: Mapping[str, CallCounts] | None = None,
    choose: Chooser | None = None,
    fill: Filler | None = None,
    listen: Callable[[Event], None] | None = None,
) -> ToolRun:
    """Reach a goal with calls: plan, call, compare, recover; or say what keeps it from being so.

    A tool that fails is dearer for the next plan; one that refuses, that failed `FOR_GOOD` times
    running, or that writes and may have worked, is not called again. A writing call whose argument
    was found in a list of several is not made: the user is asked.

    Args:
        tools: they are reset.
        meanings: of their parameters.
        errand: what is wanted.
        counts: how calls went before, by tool.
        choose: chooses among admissible first calls of a plan; the cheapest if None.
        fill: fills arguments; those of the meanings if None.
        listen: called with each event as it happens.
    """
    env = ToolFacts(tools, meanings, errand, fill)
    first = _decide(env, errand.goal, counts or {})
    if first.move is not NextMove.CALL:
        return ToolRun(first, env.values)
    domain = env.domain.domain
    planner = _ChainPlanner(env, errand.goal, counts or {}, choose)
    # To try again is a plan like others, in which the tool is dearer.
    policy = FactPolicy(domain, planner, Rungs((), ("satisfy",)))
    world = run_world(
        env, domain, env.domain.problem, words_for(domain).wording, planner=policy, listen=listen
    )
    return ToolRun(
        _ended(env, errand.goal, world.finished, counts or {}), dict(env.values), tools.outcomes,
        world, env.domain, dict(env.ambiguous),
    )  # fmt: skip


def _ended(
    env: ToolFacts, goal: CallFacts, finished: Finished, counts: Mapping[str, CallCounts]
) -> Decision:
    """Return the decision at which a run ended, with what the tools said."""
    if env.ambiguous and not finished.reached:
        names = tuple(sorted(env.ambiguous))
        why = (
            f"{', '.join(map(quoted, names))}: there are several, and only the user can say which."
        )
        return Decision(NextMove.ASK, why, ask=names)
    last = _decide(env, goal, counts)
    if last.move in (NextMove.STOP, NextMove.ASK) and env.barred:
        failed = "; ".join(f"{quoted(name)} {said}" for name, said in env.barred.items())
        # What a tool refused is no question to the user: other values are another request.
        known = set(last.ask) <= set(env.values)
        if known or env.forbidden:
            return Decision(NextMove.STOP, f"Nothing else leads to what is asked for: {failed}")
        return replace(last, why=f"{last.why} {failed}")
    return last


def _decide(env: ToolFacts, goal: CallFacts, counts: Mapping[str, CallCounts]) -> Decision:
    names = [tool.name for tool in env.steps]
    return decide(env.facts, goal, env.steps, names, counts=counts, banned=tuple(env.barred))


def _counted(count: CallCounts | None, *, ok: bool) -> CallCounts:
    count = count or CallCounts()
    return CallCounts(count.successes + ok, count.failures + (not ok))


def values_at(result: Json, path: str) -> tuple[Json, ...]:
    """Return the values at a result's path, each once, in their order; none where nothing is.

    Args:
        result: of a call.
        path: as `ToolParameter.name` has it: `flights[].id`, `[].id`, `result`.
    """
    whole = path.partition("[")[0] == "result"
    if whole and not (isinstance(result, dict) and "result" in result):
        path = path.removeprefix("result")
    parts: list[Json] = [result]
    for step in path.replace("[]", ".[]").split("."):
        if step == "[]":
            parts = [inner for part in parts if isinstance(part, list) for inner in part]
        elif step:
            parts = [part[step] for part in parts if isinstance(part, dict) and step in part]
    found: dict[str, Json] = {}
    for part in parts[:MOST_VALUES]:
        if part is not None:
            found.setdefault(json.dumps(part, sort_keys=True), part)
    return tuple(found.values())
