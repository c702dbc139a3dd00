"""Which value at hand suits, and which look-up comes next."""

from __future__ import annotations

from hvr.calling.values import CallOutcome, ToolCall
from hvr.navigation.findings import Findings, key
from hvr.navigation.lookups import Search, match
from hvr.navigation.wants import NamedValue, Sought

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


def test_numbers_are_equal_however_deep_they_stand() -> None:
    assert key([{"amount": 250}]) == key([{"amount": 250.0}]) != key([{"amount": "250"}])
    assert key([True]) != key([1])
