"""The judge of plans over tools: by the values in logs, or by links for plans without values."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.judging.tool_calls import judge_tool_plan, repaired_plan
from hvr.judging.verdict import Cause, CritiqueKind, PlanVerdict
from hvr.tools.call_log import KnownTools, read_known_tools
from hvr.tools.tool_plans import LoggedCall, Tool, ToolGraph, ToolPlan

REMOVE, MISSING, ARGUMENT = CritiqueKind.REMOVE, CritiqueKind.MISSING, CritiqueKind.ARGUMENT


def plan(tools: str, *links: tuple[str, str]) -> ToolPlan:
    return ToolPlan("p", "", (), tuple(tools.split()), links)


def graph(tools: str, *links: tuple[str, str]) -> KnownTools:
    return KnownTools(ToolGraph(tuple(map(Tool, tools.split())), links), linked=True)


def found(verdict: PlanVerdict) -> list[tuple[CritiqueKind, int]]:
    return [(critique.kind, critique.index) for critique in verdict.critiques]


# Links --------------------------------------------------------------------------------------------


def test_goals_side_by_side_are_normal() -> None:
    assert judge_tool_plan(plan("a b c d", ("a", "b"), ("c", "d"))).outcome == "clean"
    assert judge_tool_plan(plan("find read find read", ("find", "read"))).outcome == "clean"


def test_a_lookup_that_is_read_and_not_called_is_missing() -> None:
    (critique,) = judge_tool_plan(plan("b c", ("a", "b"), ("b", "c"))).critiques
    assert (critique.kind, critique.index) == (MISSING, 1)
    assert [str(a) for a in critique.actions] == ["(a)"]


def test_a_lookup_that_comes_too_late_belongs_before() -> None:
    verdict = judge_tool_plan(plan("a c b", ("a", "c"), ("b", "c")))
    assert found(verdict) == [(MISSING, 2), (REMOVE, 3)]
    assert [str(a) for a in verdict.repaired or ()] == ["(a)", "(b)", "(c)"]


@pytest.mark.parametrize(
    ("tools", "outcome"), [("", "undecided"), ("a", "clean"), ("a b", "undecided")]
)
def test_plans_without_links(tools: str, outcome: str) -> None:
    assert judge_tool_plan(plan(tools)).outcome == outcome


def test_links_that_the_tools_do_not_have_are_explained() -> None:
    known = graph("a b c x", ("a", "b"), ("b", "c"))
    assert found(judge_tool_plan(plan("a b c"), known)) == []
    assert found(judge_tool_plan(plan("a x b", ("a", "x"), ("x", "b")), known)) == [(REMOVE, 2)]
    missing = judge_tool_plan(plan("a c", ("a", "c")), known)
    assert [str(a) for c in missing.critiques for a in c.actions] == ["(b)"]
    assert found(judge_tool_plan(plan("b a", ("b", "a")), known)) == [(MISSING, 1), (REMOVE, 2)]


def test_unknown_tools_are_undecided() -> None:
    assert "is not among the tools" in judge_tool_plan(plan("a z"), graph("a")).unknown


# Logs ---------------------------------------------------------------------------------------------


def schema(tool: str, about: str, effect: str, gives: tuple[str, ...] = (), **takes: str) -> Any:
    return {
        "name": tool, "description": about, "type": effect,
        "parameters": {"type": "object", "required": list(takes),
                       "properties": {k: {"type": v} for k, v in takes.items()}},
        "response": {"type": "object", "properties": {k: {"type": "string"} for k in gives}},
    }  # fmt: skip


HOTEL = [
    schema("get_weather", "Tell the weather of a city", "read", city="string"),
    schema("save_room", "Save a room of the hotel", "write", room="string"),
    schema("find_guest", "Find a guest by the name", "read", ("guest_id",), name="string"),
    schema("list_stays", "List the stays of a guest", "read", ("stay_id",), guest_id="string"),
    schema("book_room", "Book a room", "write", ("booking_id",), guest_id="string",
           nights="integer"),
    schema("pay", "Pay for a booking", "write", booking_id="string"),
    schema("read_news", "Read the headlines", "read"),
]  # fmt: skip


@pytest.fixture(scope="module")
def hotel(tmp_path_factory: pytest.TempPathFactory) -> KnownTools:
    path = tmp_path_factory.mktemp("hotel") / "tools.json"
    path.write_text(json.dumps(HOTEL), encoding="utf-8")
    return read_known_tools(path)


def log(request: str, *calls: tuple[Any, ...]) -> ToolPlan:
    """Return a log of calls, each a tool, its arguments, and its result if any."""
    logged = tuple(
        LoggedCall(c[0], c[1], result=c[2] if len(c) > 2 else None, returned=len(c) > 2,
                   failed=len(c) > 2 and isinstance(c[2], str) and "rror" in c[2], turn=1)
        for c in calls
    )  # fmt: skip
    tools = tuple(call.tool for call in logged)
    return ToolPlan("p", request, (), tools, calls=logged, said=(request,))


STAY = (
    ("find_guest", {"name": "Ann Lee"}, {"guest_id": "ann_lee_4711"}),
    ("list_stays", {"guest_id": "ann_lee_4711"}, {"stays": [{"stay_id": "S-2041"}]}),
    ("book_room", {"guest_id": "ann_lee_4711", "nights": 2}, {"booking_id": "B-9917"}),
    ("pay", {"booking_id": "B-9917"}, {"paid": True}),
)
ASKED = "I am Ann Lee. List my stays, then book a room for two nights and pay."


def test_two_things_that_were_asked_are_both_goals(hotel: KnownTools) -> None:
    both = log("Tell me the weather in Prague and save the room deluxe",
               ("get_weather", {"city": "Prague"}), ("save_room", {"room": "deluxe"}))  # fmt: skip
    assert judge_tool_plan(both, hotel).outcome == "clean"
    assert judge_tool_plan(log(ASKED, *STAY), hotel).outcome == "clean"


def test_a_call_that_brings_nothing_new_is_repeated(hotel: KnownTools) -> None:
    verdict = judge_tool_plan(log(ASKED, STAY[0], STAY[0], STAY[0], *STAY[1:]), hotel)
    assert found(verdict) == [(REMOVE, 2), (REMOVE, 3)]
    assert {critique.cause for critique in verdict.critiques} == {Cause.REPEATED}
    # The result may differ after a change, or when it was recorded.
    assert found(judge_tool_plan(log(ASKED, *STAY, STAY[1]), hotel)) == []
    other = ("list_stays", {"guest_id": "ann_lee_4711"}, {"stays": []})
    assert found(judge_tool_plan(log(ASKED, STAY[0], STAY[1], other, *STAY[2:]), hotel)) == []
    assert found(judge_tool_plan(log(ASKED, *STAY, STAY[3]), hotel)) == [(REMOVE, 5)]


def test_trying_again_after_a_failure_is_no_fault(hotel: KnownTools) -> None:
    failed = ("find_guest", {"name": "Ann Lee"}, "Error: busy")
    assert found(judge_tool_plan(log(ASKED, failed, *STAY), hotel)) == []
    wrong = ("find_guest", {"surname": "Lee"}, "Error: no such parameter")
    assert found(judge_tool_plan(log(ASKED, wrong, *STAY), hotel)) == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"guest_id": "ann_lee_4711"}, "requires 'nights'"),
        ({"guest_id": "ann_lee_4711", "days": 2, "nights": 2}, "has no parameter 'days'"),
        ({"guest_id": "ann_lee_4711", "nights": "two"}, "of type integer"),
    ],
)
def test_arguments_are_held_against_the_schema(
    hotel: KnownTools, arguments: dict[str, Any], reason: str
) -> None:
    booked = ("book_room", arguments, {"booking_id": "B-9917"})
    verdict = judge_tool_plan(log(ASKED, *STAY[:2], booked, STAY[3]), hotel)
    assert found(verdict) == [(ARGUMENT, 3)]
    assert reason in verdict.critiques[0].reason
    # A wrong argument leads to no removal or insertion.
    assert verdict.repaired == verdict.plan


def test_a_value_from_nowhere_points_at_the_lookup_that_gives_it(hotel: KnownTools) -> None:
    verdict = judge_tool_plan(log(ASKED, *STAY[1:]), hotel)
    (critique,) = verdict.critiques
    assert (critique.kind, critique.index, str(critique.actions[0])) == (MISSING, 1, "(find_guest)")
    late = judge_tool_plan(log(ASKED, STAY[1], STAY[0], *STAY[2:]), hotel)
    assert (MISSING, 1) in found(late) and "only called after it" in late.critiques[0].reason


def test_paying_without_a_booking_misses_the_booking(hotel: KnownTools) -> None:
    (critique,) = judge_tool_plan(
        log("Pay for my stay", ("pay", {"booking_id": "B1"})), hotel
    ).critiques
    assert (critique.kind, str(critique.actions[0])) == (MISSING, "(book_room)")
    said = log("Pay for booking B1", ("pay", {"booking_id": "B1"}))
    assert judge_tool_plan(said, hotel).outcome == "clean"


def test_a_result_about_something_else_shows_a_wrong_argument(hotel: KnownTools) -> None:
    wrong = ("pay", {"booking_id": "B-9917"}, {"booking_id": "B-9918", "paid": True})
    verdict = judge_tool_plan(log(ASKED, *STAY[:3], wrong), hotel)
    assert found(verdict) == [(ARGUMENT, 4)] and "'B-9918'" in verdict.critiques[0].reason


def test_only_unasked_unread_reading_calls_are_redundant(hotel: KnownTools) -> None:
    weather = ("get_weather", {"city": "Oslo"}, {"sky": "grey"})
    assert found(judge_tool_plan(log(ASKED, *STAY[:2], weather, *STAY[2:]), hotel)) == [(REMOVE, 3)]
    # The last call may be the answer, a write is a goal, and Oslo may be intended.
    assert found(judge_tool_plan(log(ASKED, *STAY, weather), hotel)) == []
    room = ("save_room", {"room": "deluxe"}, {"saved": True})
    assert found(judge_tool_plan(log(ASKED, *STAY[:2], room, *STAY[2:]), hotel)) == []
    asked = ASKED + " I come from Oslo."
    assert found(judge_tool_plan(log(asked, *STAY[:2], weather, *STAY[2:]), hotel)) == []


def test_a_call_is_held_against_the_message_that_it_can_answer(hotel: KnownTools) -> None:
    news, guest = ("read_news", {}, {"headlines": ["Fog"]}), ("get_weather", {"city": "Oslo"}, {})

    def second(*said: str) -> PlanVerdict:
        calls = log("", news, STAY[0], news, guest).calls
        calls = tuple(replace(call, turn=1 if i < 2 else 2) for i, call in enumerate(calls))
        tools = tuple(call.tool for call in calls)
        return judge_tool_plan(ToolPlan("p", said[0], (), tools, calls=calls, said=said), hotel)

    asked = "Read me the news and find the guest Ann Lee."
    assert found(second(asked, "How is the weather in Oslo?")) == [(REMOVE, 3)]
    # "Yes" continues the previous request.
    assert found(second(f"{asked} Read them twice.", "Yes, please.")) == []


def test_another_call_of_the_tool_has_what_was_asked(hotel: KnownTools) -> None:
    oslo, bergen = (("get_weather", {"city": city}, {"sky": city[::-1]}) for city in
                    ("Oslo", "Bergen"))  # fmt: skip
    asked = f"{ASKED} And tell me the weather in Oslo."
    assert found(judge_tool_plan(log(asked, bergen, oslo, *STAY), hotel)) == [(REMOVE, 1)]
    # A lone name may be a translation.
    assert found(judge_tool_plan(log(asked, bergen, *STAY), hotel)) == []


def test_a_slip_in_an_identifier_is_told_by_the_right_one(hotel: KnownTools) -> None:
    for wrong in ("B-9971", "B-9916"):
        slip = ("pay", {"booking_id": wrong}, {"paid": True})
        verdict = judge_tool_plan(log(ASKED, *STAY[:3], slip), hotel)
        assert found(verdict) == [(ARGUMENT, 4)] and "'B-9917'" in verdict.critiques[0].reason
    # A result that repeats the value shows that both exist.
    both = ("pay", {"booking_id": "B-9918"}, {"paid": "B-9918"})
    assert found(judge_tool_plan(log(ASKED, *STAY, both), hotel)) == []


def test_a_write_that_alone_is_unexplained_stands_out(hotel: KnownTools) -> None:
    alien = ("save_room", {"room": "suite-8841"}, {"saved": True})
    assert found(judge_tool_plan(log(ASKED, *STAY, alien), hotel)) == [(ARGUMENT, 5)]
    confirmed = ("save_room", {"room": "suite-8841"}, {"saved": "suite-8841"})
    assert found(judge_tool_plan(log(ASKED, *STAY, confirmed), hotel)) == []


def test_a_message_that_quotes_another_name_contradicts(hotel: KnownTools) -> None:
    wrong = ("save_room", {"room": "suite-8841"}, "Room 'deluxe' was saved")
    verdict = judge_tool_plan(log(ASKED, *STAY, wrong), hotel)
    assert found(verdict) == [(ARGUMENT, 5)] and "'deluxe'" in verdict.critiques[0].reason


def test_a_lookup_that_others_had_is_missed_although_the_write_confirms(hotel: KnownTools) -> None:
    booked = ("book_room", {"guest_id": "bo_ek_0815", "nights": 1}, {"guest": "bo_ek_0815"})
    assert (MISSING, 5) in found(judge_tool_plan(log(ASKED, *STAY, booked), hotel))
    assert found(judge_tool_plan(log("Book a room", booked), hotel)) == []


def test_without_a_request_nothing_is_called_redundant(hotel: KnownTools) -> None:
    silent = log("", ("read_news", {}, {"headlines": []}), *STAY)
    assert found(judge_tool_plan(silent, hotel)) == []


def test_logs_without_tools_or_results_are_undecided() -> None:
    bare = log("x", ("f", {"a": 1}), ("g", {"b": 2}))
    assert judge_tool_plan(bare).outcome == "undecided"


def test_the_repaired_plan_keeps_arguments(hotel: KnownTools) -> None:
    given = log(ASKED, STAY[0], STAY[0], *STAY[1:])
    repaired = repaired_plan(given, judge_tool_plan(given, hotel))
    assert repaired.tools == tuple(call[0] for call in STAY)
    assert [call.arguments for call in repaired.calls] == [call[1] for call in STAY]


@given(st.lists(st.sampled_from(STAY), min_size=1, max_size=6), st.text(max_size=20))
def test_each_critique_names_a_call_and_repairs_stay_together(
    calls: list[tuple[Any, ...]], request: str
) -> None:
    given_ = log(request, *calls)
    verdict = judge_tool_plan(given_)
    assert all(1 <= critique.index <= len(calls) for critique in verdict.critiques)
    repaired = repaired_plan(given_, verdict)
    assert len(repaired.calls) == len(repaired.tools)
    added = sum(len(critique.actions) for critique in verdict.missing)
    assert len(repaired.tools) == len(calls) - len(verdict.removed) + added


@pytest.mark.slow
def test_right_logs_of_tau2_and_bfcl_stay_whole() -> None:
    data = Path(__file__).parents[4] / "shared" / "data" / "toolworlds"
    if not data.is_dir():
        pytest.skip("needs the tool worlds beside the checkout")
    from benchmarks.tool_judge import WORLDS, judged, load

    known = {world: read_known_tools(data / world / "tools.json") for world in WORLDS}
    verdicts = judged(load(data), known)
    assert sum(bool(verdict.critiques) for verdict in verdicts) <= 0.02 * len(verdicts)
