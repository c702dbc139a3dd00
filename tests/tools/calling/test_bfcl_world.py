"""BFCL's classes as an environment; they need the package bfcl-eval."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hvr.errors import UsageError
from hvr.tools.calling.calls import CallFailure, Json, ToolCall
from hvr.tools.calling.python_world import CLASSES, BfclTools
from hvr.tools.catalogue.schema import Effect

SHARED = os.environ.get("HVR_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data")
DIALOGUES = Path(SHARED) / "toolworlds" / "bfcl"


@pytest.fixture(autouse=True)
def _package() -> None:
    pytest.importorskip("bfcl_eval", reason="bfcl-eval is not installed")


def dialogues(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the development dialogues of a kind."""
    path = DIALOGUES / f"multi_turn_{kind}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"BFCL's dialogues are not at {path} (set HVR_SHARED_DATA)")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def arguments(call: dict[str, Any]) -> dict[str, Json]:
    """Return the arguments of a recorded call.

    The class keeps a tweet's list of mentions, which grew after the recording.
    """
    kwargs: dict[str, Json] = dict(call["kwargs"])
    if call["api"] == "post_tweet" and "mentions" in kwargs:
        kwargs["mentions"] = call["result"]["mentions"]
    return kwargs


def digest(state: Json) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["base", "miss_func", "miss_param"])
def test_recorded_dialogues_end_in_the_recorded_state(kind: str) -> None:
    for dialogue in dialogues(kind):
        tools = BfclTools(dialogue["classes"], dialogue["initial_config"])
        for recorded in (call for turn in dialogue["turns"] for call in turn["calls"]):
            effect = {tool.name: tool.effect for tool in tools.catalogue.tools}[recorded["api"]]
            before = tools.state()
            outcome = tools.call(ToolCall(recorded["api"], arguments(recorded)))
            assert outcome.ok, (dialogue["id"], outcome)
            if recorded["api"] != "logarithm":  # recorded as an empty object instead of a number
                assert outcome.result == recorded["result"]
            if effect is Effect.READS:
                assert tools.state() == before
        assert digest(tools.state()) == dialogue["state_end_sha256"], dialogue["id"]


@pytest.mark.slow
def test_what_is_said_to_be_idempotent_changes_nothing_when_it_is_called_again() -> None:
    seen = set()
    for dialogue in dialogues("base"):
        tools = BfclTools(dialogue["classes"], dialogue["initial_config"])
        again = {tool.name for tool in tools.catalogue.tools if tool.idempotent}
        for recorded in (call for turn in dialogue["turns"] for call in turn["calls"]):
            call = ToolCall(recorded["api"], arguments(recorded))
            tools.call(call)
            if call.tool in again:
                before = tools.state()
                tools.call(call)
                assert tools.state() == before, call
                seen.add(call.tool)
    assert len(seen) > 20


def test_a_refusal_is_a_failure_and_a_reset_begins_anew() -> None:
    tools = BfclTools(["TicketAPI"])
    first = tools.state()
    assert tools.call(ToolCall("get_ticket", {"ticket_id": 77})).failure is CallFailure.REFUSED
    assert tools.call(ToolCall("ticket_login", {"username": "a", "password": "b"})).ok
    assert tools.state() != first
    tools.reset()
    assert tools.state() == first


def test_every_class_has_tools_and_no_two_have_one_name() -> None:
    assert len(BfclTools().catalogue.tools) == 128
    assert all(BfclTools([name]).catalogue.tools for name in CLASSES)


def test_what_the_package_does_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match="TravelAPI"):
        BfclTools(["Kitchen"])
    with pytest.raises(UsageError, match="configuration of TravelAPI"):
        BfclTools(["TravelAPI"], {"TravelAPI": 3})  # type: ignore[dict-item]


def test_arguments_that_a_function_does_not_have_never_reach_it() -> None:
    tools = BfclTools(["GorillaFileSystem"])
    assert tools.call(ToolCall("rm_all", {})).failure is CallFailure.UNKNOWN_TOOL
    assert tools.call(ToolCall("_load_scenario", {})).failure is CallFailure.UNKNOWN_TOOL
    for arguments in ({}, {"file_name": "a", "force": True}):
        outcome = tools.call(ToolCall("rm", arguments))
        assert outcome.failure is CallFailure.BAD_ARGUMENTS
