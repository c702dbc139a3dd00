"""Results as a graph of entities, and the entities a request refers to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.tools.calling.calls import CallOutcome, ToolCall
from hvr.tools.navigation.entities import MAX_ENTITY_VALUES, ConstraintMatch, EntityGraph
from hvr.tools.navigation.entity_linking import EntityLinker, Identification
from hvr.tools.navigation.known_values import KnownValues, key
from hvr.tools.navigation.request import EntityQuery, NamedValue, Order, Selection


def read(*calls: tuple[str, dict[str, Any], Any]) -> tuple[EntityGraph, KnownValues]:
    graph, at_hand = EntityGraph(), KnownValues()
    for tool, arguments, result in calls:
        outcome = CallOutcome(ToolCall(tool, arguments), result)
        graph.add(outcome)
        at_hand.add(outcome)
    return graph, at_hand


def fit(graph: EntityGraph, value: Any, name: str, wanted: Any) -> ConstraintMatch:
    (number,) = graph.holders(value)
    return graph.fit(number, NamedValue(name, wanted))


LOANS = (
    "list_loans", {"member_id": "m-1"},
    [{"loan_id": "l-1", "book_id": "b-1", "due": "2026-12-01"},
     {"loan_id": "l-2", "book_id": "b-2", "due": "2026-12-09"}],
)  # fmt: skip
BOOKS = ("get_book", {"book_id": "b-1"}, {"title": "Dune"}), (
    "get_book", {"book_id": "b-2"}, {"title": "Emma"})  # fmt: skip
MEMBER = ("find_member", {"email": "bob@lib.org"}, {"member_id": "m-1", "name": "Bob"})


def test_an_entity_is_described_by_what_it_refers_to_and_never_by_its_siblings() -> None:
    graph, _ = read(MEMBER, LOANS, BOOKS[0])
    assert fit(graph, "l-1", "title", "Dune") is ConstraintMatch.MET
    assert fit(graph, "l-1", "title", "Emma") is ConstraintMatch.BROKEN
    assert fit(graph, "l-2", "title", "Dune") is ConstraintMatch.UNKNOWN
    assert fit(graph, "l-2", "email", "bob@lib.org") is ConstraintMatch.MET
    assert fit(graph, "l-2", "name", "Ann") is ConstraintMatch.BROKEN


def test_what_a_later_result_says_replaces_what_an_earlier_one_said() -> None:
    def order(status: str) -> tuple[str, dict[str, Any], Any]:
        return "get_order", {"order_id": "#1"}, {"order_id": "#1", "status": status}

    graph, _ = read(order("pending"), order("cancelled"))
    assert fit(graph, "#1", "status", "cancelled") is ConstraintMatch.MET
    assert fit(graph, "#1", "status", "pending") is ConstraintMatch.BROKEN


def test_one_number_on_two_days_is_two_flights() -> None:
    flights = [{"flight_number": "AB1", "date": "2026-05-28", "price": 60},
               {"flight_number": "AB1", "date": "2026-05-26", "price": 53}]  # fmt: skip
    graph, at_hand = read(("get_trip", {"trip_id": "T1"}, {"flights": flights}))
    query = EntityQuery((NamedValue("price", 53),))
    found = identify(graph, at_hand, "date", query)
    assert found.value == "2026-05-26"


def test_numbers_of_things_of_two_kinds_are_two_things() -> None:
    graph, _ = read(
        ("get_pet", {"pet_id": 3}, {"id": 3, "name": "Rex"}),
        ("get_order", {"order_id": 3}, {"id": 3, "name": "food"}),
    )
    assert len(graph.holders(3)) == 2


def identify(
    graph: EntityGraph, at_hand: KnownValues, name: str, query: EntityQuery,
    said: tuple[NamedValue, ...] = (), *, final: bool = True,
) -> Identification:  # fmt: skip
    return EntityLinker(at_hand, graph).identify(
        name, "", query, said, (), (), final=final
    )  # fmt: skip


def test_of_several_the_one_is_meant_that_meets_what_was_said() -> None:
    graph, at_hand = read(MEMBER, LOANS, *BOOKS)
    for title, loan in (("Dune", "l-1"), ("Emma", "l-2")):
        query = EntityQuery((NamedValue("title", title),))
        assert identify(graph, at_hand, "loan_id", query).value == loan
    assert not identify(graph, at_hand, "loan_id", EntityQuery((NamedValue("title", "It"),))).chosen


def test_several_that_meet_what_was_said_are_all_told() -> None:
    graph, at_hand = read(MEMBER, LOANS)
    found = identify(graph, at_hand, "loan_id", EntityQuery(), (NamedValue("name", "Bob"),))
    assert found.value is None and [one.found.value for one in found.chosen] == ["l-1", "l-2"]


def test_what_may_still_meet_it_is_looked_at_before_one_is_chosen() -> None:
    graph, at_hand = read(MEMBER, LOANS, BOOKS[0])
    query = EntityQuery((NamedValue("title", "Dune"),))
    found = identify(graph, at_hand, "loan_id", query, final=False)
    assert [one.found.value for one in found.open] == ["l-2"] and found.lacking == {"title"}
    graph, at_hand = read(MEMBER, LOANS, *BOOKS)
    assert identify(graph, at_hand, "loan_id", query, final=False).value == "l-1"


def test_a_selection_takes_one_of_several() -> None:
    graph, at_hand = read(MEMBER, LOANS)
    for selection, loan in (
        (Selection(Order.LEAST, "due"), "l-1"),
        (Selection(Order.MOST, "due"), "l-2"),
        (Selection(Order.MOST, "due", 2), "l-1"),
        (Selection(Order.LISTED), "l-1"),
        (Selection(Order.LISTED, position=-1), "l-2"),
    ):
        query = EntityQuery(selection=selection)
        assert identify(graph, at_hand, "loan_id", query).value == loan
    for selection in (Selection(Order.LISTED, position=3), Selection(Order.MOST, "pages")):
        found = identify(graph, at_hand, "loan_id", EntityQuery(selection=selection))
        assert found.value is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(("id", "a_id", "name", "x", "7")), inner, max_size=4)
        ),
        max_leaves=25,
    )
)
def test_any_result_can_be_read_twice(result: Any) -> None:
    call = ("get_thing", {"thing_id": "t-1"}, result)
    graph, _ = read(call, call)
    for number in graph.holders("t-1"):
        assert number in graph.above(number)


@pytest.mark.parametrize(("rows", "cut"), [(10, False), (MAX_ENTITY_VALUES + 10, True)])
def test_a_result_that_is_too_long_to_be_read_whole_is_known_as_such(rows: int, cut: bool) -> None:
    graph, _ = read(("list_loans", {}, [{"loan_id": f"l-{row}"} for row in range(rows)]))
    assert graph.cut is cut


def test_numbers_are_equal_however_deep_they_stand() -> None:
    assert key([{"amount": 250}]) == key([{"amount": 250.0}]) != key([{"amount": "250"}])
    assert key([True]) != key([1])
