"""Conditions learnt from refusals: candidates first, confirmed by predictions."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.tools.calling.calls import CallFailure, CallOutcome, ToolCall
from hvr.tools.navigation.entities import EntityProperty
from hvr.tools.navigation.preconditions import KnownEntities, LearntConditions

STATUS, COLOUR = frozenset({"status"}), frozenset({"color"})


_numbers = count()


def outcome(ok: bool, thing: int | None = None) -> CallOutcome:
    """Return a call on a given object, or on a new one each time."""
    arguments = {"thing": next(_numbers) if thing is None else thing}
    return CallOutcome(ToolCall("cancel", arguments), failure=None if ok else CallFailure.REFUSED)


def thing(*traits: EntityProperty) -> KnownEntities:
    return {"thing": frozenset(traits)}


def taught(*calls: tuple[str, str, bool]) -> LearntConditions:
    learnt = LearntConditions()
    for status, colour, ok in calls:
        learnt.observe(outcome(ok), thing((STATUS, status), (COLOUR, colour)))
    return learnt


PENDING = [("pending", "red", True), ("pending", "blue", True), ("sent", "green", False)]


def test_one_refusal_makes_a_candidate_that_is_not_trusted() -> None:
    learnt = taught(*PENDING)
    assert STATUS in {one.name for one in learnt.conditions("cancel")}
    assert learnt.violated("cancel", thing((STATUS, "sent"))) is None


def test_a_candidate_that_predicts_is_trusted_and_one_that_fails_is_dropped() -> None:
    more = [("pending", "green", True), ("pending", "red", True), *[("sent", "red", False)] * 2]
    learnt = taught(*PENDING, *more)
    broken = learnt.violated("cancel", thing((STATUS, "sent")))
    assert broken is not None and broken.values == ("pending",)
    assert learnt.violated("cancel", thing((STATUS, "pending"))) is None
    assert learnt.violated("cancel", thing((COLOUR, "green"))) is None
    learnt.observe(outcome(ok=True), thing((STATUS, "sent")))
    assert learnt.violated("cancel", thing((STATUS, "returned"))) is None


def test_what_is_known_of_another_parameters_entity_neither_hides_nor_makes_a_condition() -> None:
    learnt = LearntConditions()
    for status, ok in [("pending", True), ("sent", False)] * 4:
        both = frozenset({(STATUS, "pending"), (STATUS, "sent")})
        learnt.observe(outcome(ok), {"card": both, "order": frozenset({(STATUS, status)})})
    assert [one.parameter for one in learnt.conditions("cancel")] == ["order"]
    sent = frozenset({(STATUS, "sent")})
    assert learnt.violated("cancel", {"card": sent}) is None
    assert learnt.violated("cancel", {"card": frozenset(), "order": sent}) is not None


def test_the_same_things_once_more_confirm_nothing() -> None:
    learnt = LearntConditions()
    for _ in range(5):
        for number, (status, ok) in enumerate([("pending", True), ("sent", False)]):
            learnt.observe(outcome(ok, number), thing((STATUS, status)))
    assert [one.confirmed for one in learnt.conditions("cancel")] == [False]


def test_what_is_not_known_breaks_nothing() -> None:
    learnt = taught(*PENDING, *PENDING, *PENDING)
    assert learnt.violated("cancel", {}) is None


def test_other_failures_than_refusals_teach_nothing() -> None:
    learnt = taught(*PENDING[:2])
    for kind in CallFailure:
        if kind is not CallFailure.REFUSED:
            learnt.observe(
                CallOutcome(ToolCall("cancel", {}), failure=kind), thing((STATUS, "sent"))
            )
    assert learnt.conditions("cancel") == ()


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30))
def test_no_trusted_condition_is_contradicted_by_a_call_that_went_well(
    calls: list[tuple[str, bool]],
) -> None:
    learnt = LearntConditions()
    for value, ok in calls:
        learnt.observe(outcome(ok), thing((STATUS, value)))
    for value, ok in calls:
        if ok:
            assert learnt.violated("cancel", thing((STATUS, value))) is None
