"""Goals are pursued by calls in a small shop, whose tools fail and come back."""

from __future__ import annotations

import pytest

from hvr.calling.values import CallFailure, CallOutcome, Json, ToolCall
from hvr.navigation.chains import CallFacts
from hvr.navigation.decision import NextMove
from hvr.navigation.pursuit import pursue
from hvr.tools.catalogue.merging import ParameterMeaning, Slot
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema


def schema(name: str, takes: str, gives: str, effect: Effect = Effect.READS) -> ToolSchema:
    return ToolSchema(
        name,
        takes=(ToolParameter(takes, required=True),),
        gives=(ToolParameter(gives),),
        effect=effect,
    )


CATALOGUE = Catalogue(
    (
        schema("by_email", "email", "user"),
        schema("by_mail", "email", "user"),
        schema("orders", "user", "orders[].order"),
        schema("cancel", "order", "status", Effect.WRITES),
    )
)
MEANINGS = tuple(
    ParameterMeaning(
        leaf,
        tuple(
            Slot(tool.name, p.name, gives=gives)
            for tool in CATALOGUE.tools
            for gives, some in ((False, tool.takes), (True, tool.gives))
            for p in some
            if p.leaf == leaf
        ),
    )
    for leaf in ("email", "user", "order", "status")
)
CANCELLED = CallFacts(done=frozenset({"cancel"}))


class Shop:
    """A shop with one order; tools fail for as many calls as is said."""

    catalogue = CATALOGUE

    def __init__(self, failing: dict[str, int], failure: CallFailure) -> None:
        self.failing, self.failure = dict(failing), failure
        self.cancelled: list[Json] = []

    def reset(self) -> None:
        self.cancelled.clear()

    def state(self) -> Json:
        return list(self.cancelled)

    def close(self) -> None:
        pass

    def call(self, call: ToolCall) -> CallOutcome:
        if self.failing.get(call.tool, 0) > 0:
            self.failing[call.tool] -= 1
            return CallOutcome(call, failure=self.failure)
        if call.tool == "cancel":
            self.cancelled.append(call.arguments["order"])
        results: dict[str, Json] = {
            "by_email": {"user": "ann"},
            "by_mail": {"user": "ann"},
            "orders": {"orders": [{"order": 7}] if call.arguments.get("user") == "ann" else []},
            "cancel": {"status": "cancelled"},
        }
        return CallOutcome(call, results[call.tool])


@pytest.mark.parametrize(
    ("failing", "failure", "calls"),
    [
        ({}, CallFailure.REFUSED, 3),
        ({"by_email": 99}, CallFailure.UNAVAILABLE, 4),
        ({"orders": 2}, CallFailure.TIMED_OUT, 5),
        ({"cancel": 1}, CallFailure.REFUSED, 4),
    ],
)
def test_the_order_is_cancelled(failing: dict[str, int], failure: CallFailure, calls: int) -> None:
    shop = Shop(failing, failure)
    pursuit = pursue(shop, MEANINGS, {"email": "a@b"}, CANCELLED)
    assert pursuit.last.move is NextMove.ANSWER
    assert shop.state() == [7]
    assert len(pursuit.outcomes) <= calls


def test_a_write_that_may_have_worked_is_not_repeated() -> None:
    shop = Shop({"cancel": 1}, CallFailure.TIMED_OUT)
    pursuit = pursue(shop, MEANINGS, {"email": "a@b"}, CANCELLED)
    assert pursuit.last.move is NextMove.STOP
    assert [o.call.tool for o in pursuit.outcomes].count("cancel") == 1


def test_what_never_works_ends() -> None:
    shop = Shop({"orders": 99}, CallFailure.REFUSED)
    pursuit = pursue(shop, MEANINGS, {"email": "a@b"}, CANCELLED)
    assert pursuit.last.move is NextMove.ASK
    assert pursuit.last.ask == ("order",)
    assert [o.call.tool for o in pursuit.outcomes].count("orders") == 3


def test_the_budget_is_kept() -> None:
    pursuit = pursue(Shop({}, CallFailure.REFUSED), MEANINGS, {"email": "a"}, CANCELLED, budget=1)
    assert (len(pursuit.outcomes), pursuit.last.move) == (1, NextMove.STOP)
