"""Which value at hand suits, and which look-up comes next."""

from __future__ import annotations

from hvr.calling.values import CallOutcome, Json, ToolCall
from hvr.navigation.experience import CountedExperience
from hvr.navigation.findings import Findings, key
from hvr.navigation.lookups import Search, match, next_look_up
from hvr.navigation.wants import NamedValue, Sought
from hvr.tools.catalogue.schema import Effect, ToolParameter, ToolSchema

TRIP = CallOutcome(
    ToolCall("get_trip", {"trip_id": "T1"}),
    {"flights": [
        {"flight_number": "AB1", "date": "2024-05-28", "price": 60},
        {"flight_number": "AB1", "date": "2024-05-26", "price": 53},
        {"flight_number": "CD2", "date": "2024-05-28", "price": 53},
    ]},
)  # fmt: skip
"""A flight on two days, of which each day has the price of the other in some flight."""


def test_the_entity_that_has_the_features_itself_is_taken() -> None:
    findings = Findings()
    findings.add(TRIP)
    search = Search("date", Sought((NamedValue("price", 53),)), ("AB1",), ("AB1",))
    found = match(search, findings)
    assert found.value == "2024-05-26" and found.choices == ("2024-05-26",) and found.sure


def test_what_a_call_without_arguments_lists_needs_to_stand_with_nothing_else() -> None:
    airports: Json = [{"origin": "JFK", "city": "New York"}, {"origin": "SEA", "city": "Seattle"}]
    search = Search("origin", Sought((NamedValue("city", "Seattle"),)), ("U1",), ("U1",))
    for arguments, sure in (({}, True), ({"country": "US"}, False)):
        findings = Findings()
        findings.add(CallOutcome(ToolCall("list_airports", arguments), airports))
        found = match(search, findings)
        assert (found.value, found.sure) == ("SEA", sure)


def test_a_tool_never_called_comes_before_those_that_cannot_show_what_is_searched() -> None:
    takes = tuple(ToolParameter(name, "string", required=True) for name in ("origin", "date"))
    flights = ToolSchema("search_flights", takes=takes, effect=Effect.READS)
    airports = ToolSchema("list_airports", effect=Effect.READS)
    flight: Json = {"origin": "DEN", "flight_number": "AB1"}
    seen = CallOutcome(ToolCall(flights.name, {"origin": "DEN", "date": "2024-05-20"}), [flight])
    findings = Findings([NamedValue("date", "2024-05-21")])
    findings.add(seen)
    search = Search("origin", Sought((NamedValue("city", "Seattle"),)))
    look = next_look_up([search], findings, (flights, airports), CountedExperience([[seen]]), ())
    assert look is not None and look.call.tool == "list_airports"


def test_numbers_are_equal_however_deep_they_stand() -> None:
    assert key([{"amount": 250}]) == key([{"amount": 250.0}]) != key([{"amount": "250"}])
    assert key([True]) != key([1])
