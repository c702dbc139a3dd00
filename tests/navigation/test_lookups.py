"""Which value at hand suits, and which look-up comes next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hvr.calling.values import CallOutcome, ToolCall
from hvr.navigation.findings import Findings, key
from hvr.navigation.lookups import Search, match
from hvr.navigation.request import EntityQuery, NamedValue

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
    search = Search("date", EntityQuery((NamedValue("price", 53),)), ("AB1",), ("AB1",))
    found = match(search, findings)
    assert found.value == "2024-05-26" and found.choices == ("2024-05-26",) and found.sure


def booking(bags: int, family: str) -> Findings:
    findings = Findings()
    result = {
        "booking_id": "B1", "bags": bags, "free_bags": 1, "home": {"city": "Ulm", "street": "A 1"},
        "passengers": [{"first_name": "Mei", "last_name": family, "born": "1989-12-13"}],
    }  # fmt: skip
    findings.add(CallOutcome(ToolCall("get_booking", {"booking_id": "B1"}), result))
    return findings


@given(bags=st.integers(0, 9), wanted=st.integers(0, 9))
def test_what_is_changed_of_the_named_thing_speaks_against_none_of_its_values(
    bags: int, wanted: int
) -> None:
    given_ = (NamedValue("booking_id", "B1"), NamedValue("bags", wanted))
    search = Search("free_bags", EntityQuery(), ("B1", wanted), ("B1",), own=given_)
    found = match(search, booking(bags, "Lee"))
    assert found.value == 1 and found.sure


def test_what_stands_within_the_named_thing_may_be_another() -> None:
    given_ = (NamedValue("booking_id", "B1"), NamedValue("city", "Bonn"))
    search = Search("street", EntityQuery(), ("B1", "Bonn"), ("B1",), own=given_)
    assert match(search, booking(1, "Lee")).value == "A 1"
    assert not match(search, booking(1, "Lee")).sure


def test_features_tell_an_entity_whose_other_values_are_changed() -> None:
    given_ = (NamedValue("first_name", "Mei"), NamedValue("last_name", "Garcia"))
    described = EntityQuery((NamedValue("first_name", "Mei"),))
    assert match(Search("born", described, ("B1",), ("B1",), own=given_), booking(1, "Lee")).sure
    assert not match(Search("born", EntityQuery(), ("B1",), ("B1",), own=given_),
                     booking(1, "Lee")).sure  # fmt: skip
    elsewhere = Search("born", described, ("B2",), ("B2",), own=given_)
    assert not match(elsewhere, booking(1, "Lee")).sure


def test_a_value_of_another_thing_is_taken_rather_than_one_that_the_request_speaks_against() -> (
    None
):
    findings = booking(1, "Lee")
    result = {"booking_id": "B2", "home": {"city": "Bonn", "street": "B 2"}}
    findings.add(CallOutcome(ToolCall("get_booking", {"booking_id": "B2"}), result))
    given_ = (NamedValue("booking_id", "B1"), NamedValue("city", "Bonn"))
    search = Search("street", EntityQuery(), ("B1", "Bonn"), ("B1",), own=given_)
    found = match(search, findings)
    assert found.value == "B 2" and found.choices == ("B 2",) and not found.other
    assert match(search, booking(1, "Lee")).other


def test_numbers_are_equal_however_deep_they_stand() -> None:
    assert key([{"amount": 250}]) == key([{"amount": 250.0}]) != key([{"amount": "250"}])
    assert key([True]) != key([1])
