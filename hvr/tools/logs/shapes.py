"""The events in one record of a log, by the shapes of its JSON objects.

Frameworks nest a few shapes in their own wrappers: messages with roles, items with types, contents
with parts, steps of an agent, plain calls. A shape is known by its keys, wherever it stands, so
responses, states, dumps and conversations of one framework need no reader each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hvr.tools.logs import messages, steps
from hvr.tools.logs.call_text import calls_in_text
from hvr.tools.logs.events import Called, Event, Format, Said, Skipped

Record = Mapping[str, Any]

CALL_TEXT = "BFCL calls"

_REQUESTS = ("task", "user_request", "instruction", "query", "question", "prompt", "user", "goal",
             "input")  # fmt: skip
"""Keys whose text is what the user asked."""

_HOLDERS = (
    "request", "body", "kwargs", "data", "values", "channel_values", "state", "inputs",
    "system_prompt", *_REQUESTS,
    "contents", "automatic_function_calling_history", "chat_history", "history", "messages",
    "conversation", "conversations", "traj", "trajectory", "turns", "dialog", "message",
    "raw_item", "steps", "items", "new_items", "intermediate_steps", "events", "calls",
    "gold_calls", "tool_calls", "function_calls", "answers", "actions", "action", "response",
    "choices", "candidates", "generations", "content", "output", "outputs", "result",
    "results", "ground_truth",
)  # fmt: skip
"""Keys that may hold a part of a log, in the order in which the parts happened."""

_CALLS_AS_TEXT = ("result", "ground_truth", "answers", "tool_calls")
_DEEPEST = 24


def events(value: Any, depth: int = 0) -> Iterator[Event]:
    """Yield what happens in a record, or in a part of one."""
    if depth > _DEEPEST:
        yield Skipped("part nested too deeply")
    elif isinstance(value, list):
        yield from _listed(value, depth)
    elif isinstance(value, dict):
        yield from _object(value, depth)


def is_event(value: Any) -> bool:
    """Return whether a value is a part of one log, rather than a log of its own."""
    if isinstance(value, str):
        return calls_in_text(value) is not None
    if not isinstance(value, dict):
        return False
    return (
        messages.role_of(value) is not None
        or messages.is_block(value)
        or isinstance(value.get("parts"), list)
        or steps.is_item(value)
        or steps.is_agent_step(value)
        or steps.action_of(value) is not None
        or steps.plain_call(value) is not None
        or value.get("lc") == 1
        or _is_update(value)
        or (isinstance(value.get("message"), dict) and is_event(value["message"]))
    )


def _listed(values: list[Any], depth: int) -> Iterator[Event]:
    action = steps.action_of(values[0]) if len(values) == _PAIR else None
    if action is not None and steps.action_of(values[1]) is None:
        # LangChain's intermediate steps are pairs: an action and what was observed.
        yield Format(steps.INTERMEDIATE)
        yield from steps.observed(action, values[1])
        return
    if (named := _bfcl(values)) is not None:
        yield Format(CALL_TEXT)
        yield from named
        return
    for value in values:
        if isinstance(value, str):
            found = calls_in_text(value)
            if found is not None:
                yield Format(CALL_TEXT)
                yield from found
        else:
            yield from events(value, depth + 1)


_PAIR = 2


def _object(value: Record, depth: int) -> Iterator[Event]:
    if value.get("lc") == 1:
        yield from _constructed(value, depth)
    elif "run_type" in value:
        yield from _run(value, depth)
    elif steps.is_item(value):
        yield from steps.item(value)
    elif steps.is_agent_step(value):
        yield from steps.agent_step(value)
    elif messages.is_block(value):
        yield from messages.block(value)
    elif messages.role_of(value) is not None or isinstance(value.get("parts"), list):
        yield from messages.message(value)
    elif (action := steps.action_of(value)) is not None:
        yield Format(steps.INTERMEDIATE)
        yield from steps.observed(action, value.get("observation"))
    elif (call := steps.plain_call(value)) is not None:
        yield Format(steps.PLAIN)
        yield call
        yield from steps.plain_result(value)
    else:
        yield from _wrapped(value, depth)


def _wrapped(value: Record, depth: int) -> Iterator[Event]:
    """Yield the events of a wrapper: those of what it holds, in order."""
    if _is_update(value):
        yield Format(messages.LANGCHAIN)
        for update in value.values():
            yield from events(update, depth + 1)
        return
    if isinstance(value.get("system"), str | list) or isinstance(value.get("system_prompt"), str):
        yield Skipped("system message")
    for key in _HOLDERS:
        held = value.get(key)
        if key in _CALLS_AS_TEXT and isinstance(held, str):
            found = calls_in_text(held)
            if found is None:
                yield from events(messages.decoded(held), depth + 1)
            else:
                yield Format(CALL_TEXT)
                yield from found
        elif isinstance(held, str) and key in _REQUESTS:
            yield Said(held)
        elif key in _REQUESTS and isinstance(held, list) and all(isinstance(v, str) for v in held):
            yield Said(" ".join(held))
        elif isinstance(held, list | dict):
            yield from events(held, depth + 1)


def _bfcl(values: list[Any]) -> list[Called] | None:
    """Return the calls of a BFCL result or possible answer, each an object with one key.

    None if the values are anything else.
    """
    calls = []
    for value in values:
        if not isinstance(value, dict) or len(value) != 1 or _is_update(value):
            return None
        ((name, given),) = value.items()
        arguments = messages.decoded(given)
        if not isinstance(arguments, dict) or name in _HOLDERS or is_event(value):
            return None
        calls.append(Called(name, _first_choices(arguments)))
    return calls or None


def _first_choices(arguments: Record) -> Record:
    """Return the first of the accepted values of each argument, where these are listed."""
    if arguments and all(isinstance(v, list) and v for v in arguments.values()):
        return {name: values[0] for name, values in arguments.items() if values[0] != ""}
    return arguments


def _is_update(value: Record) -> bool:
    """Return whether a value is what a node of a LangGraph sent to the stream."""
    return len(value) == 1 and all(
        isinstance(v, dict) and isinstance(v.get("messages"), list) for v in value.values()
    )


def _constructed(value: Record, depth: int) -> Iterator[Event]:
    """Yield the events of an object that LangChain's `dumpd` wrote."""
    name = str((value.get("id") or [""])[-1])
    inner = value.get("kwargs")
    if not isinstance(inner, dict):
        yield Skipped(f"{name or 'object'} that LangChain did not serialise")
        return
    yield Format(messages.LANGCHAIN)
    if messages.role_of({"role": name, "content": ""}) is not None:
        yield from messages.message({**inner, "role": name})
    elif (action := steps.action_of(inner)) is not None:
        yield from steps.observed(action, None)
    else:
        yield from events(inner, depth + 1)


def _run(value: Record, depth: int) -> Iterator[Event]:
    """Yield the events of a LangSmith run: its request, then the calls of the runs within."""
    yield Format("LangSmith runs")
    inner = value.get("child_runs") or []
    if value["run_type"] == "tool":
        yield from steps.tool_run(value)
    elif inner:
        asked = events(value.get("inputs"), depth + 1)
        yield from (event for event in asked if isinstance(event, Said))
        runs = [run for run in inner if isinstance(run, dict)]
        for run in sorted(runs, key=lambda r: str(r.get("dotted_order") or r.get("start_time"))):
            within = events(run, depth + 1) if "run_type" in run else iter(())
            if run.get("run_type") == "tool" or run.get("child_runs"):
                yield from (e for e in within if not isinstance(e, Said))
    else:
        yield from events(value.get("inputs"), depth + 1)
        yield from events(value.get("outputs"), depth + 1)
