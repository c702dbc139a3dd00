"""The engine for tool tasks: temporary refusals, the log of learnt facts, and plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.tool_faults import FAULT_KINDS, FaultyTools, ToolFault, draw_faults
from hvr.tools.calling.calls import CallFailure
from hvr.tools.calling.guard import CallPolicy, GuardedTools
from hvr.tools.calling.python_world import PythonTools
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema
from hvr.tools.catalogue.schema_matching import ParameterMeaning, Slot
from hvr.tools.navigation.execution import carry_out
from hvr.tools.navigation.experience import GraphExperience, opened_experience
from hvr.tools.navigation.graph_log import graph_text, read_events, rebuilt
from hvr.tools.navigation.known_values import ParameterMatcher
from hvr.tools.navigation.queries import MAX_REPEATED_FAILURES
from hvr.tools.navigation.request import EntityQuery, GoalCall, NamedValue, ToolRequest
from hvr.tools.navigation.tasks import FailureHandling, Learnt


def door() -> tuple[PythonTools, dict[str, bool]]:
    """Return a door that opens once unlocked, and a query of its state."""
    state = {"locked": True, "open": False}

    def open_door(door: str) -> str:
        if state["locked"]:
            raise ValueError(f"{door} is locked")
        state["open"] = True
        return "open"

    def unlock(door: str) -> str:
        state["locked"] = False
        return f"{door} unlocked"

    functions = {"open_door": open_door, "unlock": unlock}
    tools = tuple(
        ToolSchema(n, takes=(ToolParameter("door", "string", required=True),), effect=Effect.WRITES)
        for n in functions
    )
    return PythonTools(Catalogue(tools), functions, state), state


@pytest.mark.parametrize("refusals", [1, 3])
def test_what_was_refused_is_called_again_when_something_was_written(refusals: int) -> None:
    tools, state = door()
    wants = tuple(GoalCall(name, {"door": "north"}) for name in ("open_door", "unlock"))
    went = carry_out(
        GuardedTools(tools, "door"),
        ToolRequest(wants, ordered=False),
        retrying=FailureHandling(refusals=refusals),
    )
    called = [outcome.call.tool for outcome in went.outcomes]
    assert went.steps.complete and state["open"]
    # Unlock at once, then open: a refused call is not repeated while nothing has changed.
    assert called == ["open_door", "unlock", "open_door"]


def test_what_is_refused_for_good_is_called_once() -> None:
    tools, _ = door()
    went = carry_out(
        GuardedTools(tools, "door"), ToolRequest((GoalCall("open_door", {"door": "north"}),))
    )
    assert went.exit_code == 1 and len(went.outcomes) == 1 and "is locked" in went.decision.why


def library() -> PythonTools:
    def find(title: str) -> dict[str, str]:
        return {"book_id": {"Emma": "B-7"}[title]}

    def find_slowly(title: str) -> dict[str, str]:
        return find(title)

    def lend(book_id: str) -> str:
        return f"{book_id} lent"

    tools = (
        *(ToolSchema(name, takes=(ToolParameter("title", "string", required=True),),
                     gives=(ToolParameter("book_id", "string", required=True),),
                     effect=Effect.READS) for name in ("find", "find_slowly")),
        ToolSchema("lend", takes=(ToolParameter("book_id", "string", required=True),),
                   effect=Effect.WRITES),
    )  # fmt: skip
    functions = {"find": find, "find_slowly": find_slowly, "lend": lend}
    return PythonTools(Catalogue(tools), functions)


@pytest.mark.parametrize("name", ["result", "result[]"])
@pytest.mark.parametrize("type_", ["object", "object|array", ""])
def test_a_schema_that_speaks_of_an_object_and_of_nothing_in_it_rules_nothing_out(
    name: str, type_: str
) -> None:
    said = (ToolParameter(name, type_, required=True),)
    told = {"find": said, "find_slowly": (ToolParameter("colour", "string"),)}
    inner = library()

    def find(title: str) -> object:
        found = {"book_id": {"Emma": "B-7"}[title]}
        return [found] if name.endswith("[]") else found

    tools = (replace(tool, gives=told.get(tool.name, ())) for tool in inner.catalogue.tools)
    functions: dict[str, Callable[..., Any]] = {
        "find": find, "find_slowly": str.upper, "lend": str.upper}  # fmt: skip
    went = carry_out(GuardedTools(PythonTools(Catalogue(tuple(tools)), functions), "library"), LENT)
    assert went.outcomes[0].call.tool == "find"
    assert went.steps.bound(0) == {("book_id",): "B-7"}


def test_a_look_up_whose_tool_works_again_is_made_again() -> None:
    inner, broken = library(), {"find": 1}

    def find(title: str) -> object:
        broken["find"] -= 1
        if broken["find"] >= 0:
            raise OSError("the desk is closed")
        return {"book_id": {"Emma": "B-7"}[title], "title": title}

    functions = {"find": find, "find_slowly": find, "lend": str.upper}
    tools = Catalogue(tuple(t for t in inner.catalogue.tools if t.name != "find_slowly"))
    went = carry_out(GuardedTools(PythonTools(tools, functions), "library"), LENT)
    looked = [o.call.arguments["title"] for o in went.outcomes if o.call.tool == "find"]
    assert went.outcomes[-1].call.arguments == {"book_id": "B-7"} and looked == ["Emma", "Emma"]


LENT = ToolRequest((GoalCall("lend", {"book_id": EntityQuery()}),), (NamedValue("title", "Emma"),))


@pytest.mark.slow
def test_costs_come_from_the_log_and_what_calls_show_is_added(tmp_path: Path) -> None:
    log, tools = tmp_path / "graph.jsonl", library()
    failing = FaultyTools(tools, {"find": ToolFault(CallFailure.TIMED_OUT)})
    first = carry_out(
        GuardedTools(failing, "library"), LENT, Learnt(opened_experience(log, tools.catalogue))
    )
    assert [o.call.tool for o in first.outcomes] == ["find", "find_slowly", "lend"]
    written = log.read_bytes()
    learnt = opened_experience(log, tools.catalogue)
    assert log.read_bytes() == written, "tools that are there already are not added again"
    assert learnt.graph.tools["find"].evidence.failures == 1
    assert learnt.flow("book_id", "find_slowly", ("book_id",)) == 0.5
    assert learnt.cost("find") > learnt.cost("find_slowly")
    second = carry_out(GuardedTools(tools, "library"), LENT, Learnt(learnt))
    assert [o.call.tool for o in second.outcomes] == ["find_slowly", "lend"]
    assert graph_text(rebuilt(read_events(log))) == graph_text(learnt.graph)


def test_a_tool_that_is_gone_and_comes_back_keeps_its_past(tmp_path: Path) -> None:
    log, tools = tmp_path / "graph.jsonl", library()
    carry_out(GuardedTools(tools, "library"), LENT, Learnt(opened_experience(log, tools.catalogue)))
    without = Catalogue(tools.catalogue.tools[1:])
    assert not opened_experience(log, without).graph.usable("find")
    again = opened_experience(log, tools.catalogue).graph
    assert again.usable("find") and again.tools["find"].evidence.successes == 1


def test_plans_are_proven_and_are_what_is_called() -> None:
    went = carry_out(GuardedTools(library(), "library"), LENT, Learnt(GraphExperience()))
    assert went.world is not None and went.world.finished.reached
    planned = [action.name for action in went.world.plans[0].plan.actions]
    assert planned == ["call-find", "call-lend"]
    assert went.world.finished.replans == 0


def test_what_the_user_says_of_meanings_is_not_overruled_by_names() -> None:
    depot = ParameterMeaning(
        "target", (Slot("redirect", "depot_id"), Slot("find", "depot_id", gives=True)), by_user=True
    )
    other = ParameterMeaning("depot_id", (Slot("get", "depot_id", gives=True),))
    suits, path = ParameterMatcher(meanings=(depot, other)), ("depot_id",)
    assert suits("redirect", "depot_id", "find", path) == 1
    assert suits("redirect", "depot_id", "get", path) == 0
    assert ParameterMatcher()("redirect", "depot_id", "get", path) == 1


def office(desks: int) -> PythonTools:
    """Return desks that each map a number to the next one, and stamps that take them."""
    taken = {f"desk_{n}": f"number_{n}" for n in range(desks)}
    schemas, functions = [], {}
    for name, number in taken.items():
        schemas.append(
            ToolSchema(name, takes=(ToolParameter("title", "string", required=True),),
                       gives=(ToolParameter(number, "string"),), effect=Effect.READS)
        )  # fmt: skip
        functions[name] = lambda title, number=number: {number: f"{title} {number}"}
        stamp = name.replace("desk", "stamp")
        schemas.append(
            ToolSchema(stamp, takes=(ToolParameter(number, "string", required=True),),
                       effect=Effect.WRITES)
        )  # fmt: skip
        functions[stamp] = lambda **given: str(given)
    return PythonTools(Catalogue(tuple(schemas)), functions)


def stamped(desks: int) -> ToolRequest:
    wants = (GoalCall(f"stamp_{n}", {f"number_{n}": EntityQuery()}) for n in range(desks))
    return ToolRequest(tuple(wants), (NamedValue("title", "Emma"),))


@pytest.mark.slow
@given(st.integers(1, 4), st.floats(0.1, 1), st.integers(0, 10_000), st.sampled_from((1, 5)))
@settings(max_examples=6, deadline=None)
def test_what_fails_for_good_ends_a_run_long_before_the_budget(
    desks: int, share: float, seed: int, refusals: int
) -> None:
    tools = office(desks)
    faulty = FaultyTools(tools, draw_faults(tools.catalogue, share, seed))
    went = carry_out(
        GuardedTools(faulty, "office", CallPolicy(60)), stamped(desks),
        retrying=FailureHandling(refusals=refusals), was_done=lambda _: False,
    )  # fmt: skip
    # Each call once, again after a change, and few futile attempts.
    assert len(went.outcomes) <= 4 * desks + MAX_REPEATED_FAILURES < 60
    assert all(outcome.failure is not CallFailure.NOT_ALLOWED for outcome in went.outcomes)


@pytest.mark.slow
@given(st.sampled_from(FAULT_KINDS), st.integers(1, 4), st.integers(2, 3))
@settings(max_examples=6, deadline=None)
def test_a_tool_that_comes_back_is_used_within_ten_calls(
    kind: CallFailure, calls: int, desks: int
) -> None:
    faulty = FaultyTools(office(desks), {"desk_0": ToolFault(kind, calls)})
    went = carry_out(
        GuardedTools(faulty, "office", CallPolicy(60)), stamped(desks),
        retrying=FailureHandling(refusals=5),
    )  # fmt: skip
    assert went.steps.complete
    worked = next(n for n, o in enumerate(went.outcomes) if o.call.tool == "desk_0" and o.ok)
    assert worked - calls <= 10


def test_an_entity_that_the_call_changes_is_taken_as_it_is_described() -> None:
    """The call will change the trip's class, yet its flight is still found in it."""
    trip = {"trip_id": "T1", "cabin": "economy",
            "flights": [{"flight_number": "F1", "date": "2024-05-19"},
                        {"flight_number": "F2", "date": "2024-05-20"}]}  # fmt: skip
    tools = (
        ToolSchema("get_trip", takes=(ToolParameter("trip_id", "string", required=True),),
                   effect=Effect.READS),
        ToolSchema("find_flights", takes=tuple(ToolParameter(n, "string", required=True)
                   for n in ("origin", "destination")), effect=Effect.READS),
        ToolSchema("change_trip", takes=(ToolParameter("trip_id", "string", required=True),
                   ToolParameter("cabin", "string", required=True),
                   ToolParameter("flights", "array", required=True)), effect=Effect.WRITES),
    )  # fmt: skip
    functions = {
        "get_trip": lambda trip_id: {"T1": trip}[trip_id],
        "find_flights": lambda origin, destination: [origin, destination],
        "change_trip": lambda **values: sorted(values),
    }
    flight = EntityQuery((NamedValue("date", "2024-05-20"),))
    rows = [{"flight_number": flight, "date": "2024-05-20"}]
    want = GoalCall("change_trip", {"trip_id": "T1", "cabin": "business", "flights": rows})
    went = carry_out(
        GuardedTools(PythonTools(Catalogue(tools), functions), "trips"), ToolRequest((want,))
    )
    assert went.steps.complete
    assert went.outcomes[-1].call.arguments["flights"] == [
        {"flight_number": "F2", "date": "2024-05-20"}
    ]
    assert [outcome.call.tool for outcome in went.outcomes] == ["get_trip", "change_trip"]
