"""Calls made until a goal is reached: after each result the rest is planned anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from hvr.calling.environment import ToolEnvironment
from hvr.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.navigation.chains import CallCounts, CallFacts, navigation_tools
from hvr.navigation.decision import Decision, NextMove, decide
from hvr.tools.catalogue.merging import ParameterMeaning
from hvr.tools.catalogue.schema import Effect, ToolSchema

_UNSURE = (CallFailure.TIMED_OUT, CallFailure.UNAVAILABLE, CallFailure.WRONG_TYPE,
           CallFailure.EMPTY)  # fmt: skip
"""Failures after which a tool may have changed the world all the same."""


@dataclass(frozen=True)
class Pursuit:
    """How a goal was pursued.

    Args:
        outcomes: of the calls, in order.
        last: the decision at which it ended: an answer, a question, or why it does not go on.
        values: what is known, by meaning.
        counts: how calls went, by tool.
    """

    outcomes: tuple[CallOutcome, ...]
    last: Decision
    values: Mapping[str, Json]
    counts: Mapping[str, CallCounts]


def pursue(
    environment: ToolEnvironment,
    meanings: Iterable[ParameterMeaning],
    values: Mapping[str, Json],
    goal: CallFacts,
    *,
    counts: Mapping[str, CallCounts] | None = None,
    budget: int = 30,
    rest: int = 3,
) -> Pursuit:
    """Call tools until the goal holds, the user must be asked, or nothing leads on.

    A tool that failed is dearer and rests; it is tried again when it has rested, or at once where
    nothing else leads to the goal, but at most three times running. A writing tool that may have
    worked though it failed is not called again, unless it is known to be idempotent.

    Args:
        environment: where the tools are.
        meanings: of its catalogue's parameters.
        values: what the request says, by meaning.
        goal: what is to be so.
        counts: how calls went before.
        budget: the most calls.
        rest: for how many calls a tool that failed is left alone.
    """
    catalogue, meanings = environment.catalogue, tuple(meanings)
    schemas = {tool.name: tool for tool in catalogue.tools}
    names = {slot: m.name for m in meanings for slot in m.slots}
    tools = {tool.name: tool for tool in navigation_tools(catalogue, meanings)}
    known, past, done = dict(values), dict(counts or {}), frozenset[str]()
    resting: dict[str, int] = {}
    running: dict[str, int] = {}
    barred: set[str] = set()
    outcomes: list[CallOutcome] = []
    while True:
        facts = CallFacts(frozenset(known), done)
        idle = {name for name, until in resting.items() if until > len(outcomes)}
        decision = decide(facts, goal, tools.values(), tools, counts=past, banned=barred | idle)
        if idle and decision.move in (NextMove.ASK, NextMove.STOP):
            decision = decide(facts, goal, tools.values(), tools, counts=past, banned=barred)
        if decision.move is not NextMove.CALL:
            return Pursuit(tuple(outcomes), decision, known, past)
        if len(outcomes) >= budget:
            stop = Decision(NextMove.STOP, f"All {budget} calls that were allowed are made.")
            return Pursuit(tuple(outcomes), stop, known, past)
        schema = schemas[decision.call]
        takes = {slot.name: name for slot, name in names.items()
                 if slot.tool == schema.name and not slot.gives and name in known}  # fmt: skip
        call = ToolCall(schema.name, {name: known[meaning] for name, meaning in takes.items()})
        outcome = environment.call(call)
        outcomes.append(outcome)
        count = past.get(schema.name, CallCounts())
        if outcome.ok:
            past[schema.name] = replace(count, successes=count.successes + 1)
            running.pop(schema.name, None)
            done |= {schema.name}
            found = {name: value for slot, name in names.items()
                     if slot.tool == schema.name and slot.gives
                     and (value := _at(outcome.result, slot.name)) is not None}  # fmt: skip
            known.update(found)
            # What did not come is not expected of this tool again.
            tools[schema.name] = replace(tools[schema.name], gives=frozenset(found))
        else:
            past[schema.name] = replace(count, failures=count.failures + 1)
            resting[schema.name] = len(outcomes) + rest
            running[schema.name] = running.get(schema.name, 0) + 1
            if running[schema.name] == 3 or _may_have_written(schema, outcome):
                barred.add(schema.name)


def _may_have_written(schema: ToolSchema, outcome: CallOutcome) -> bool:
    harmless = schema.effect is Effect.READS or schema.idempotent is True
    return not harmless and outcome.failure in _UNSURE


def _at(value: Json, path: str) -> Json:
    """Return what is at a result's path, of lists their first; None where nothing is."""
    for part in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part.replace("[]", ""))
        for _ in range(part.count("[]")):
            value = value[0] if isinstance(value, list) and value else None
    return value
