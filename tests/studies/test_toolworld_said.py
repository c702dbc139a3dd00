"""The benchmark's requests contain only stated values, and its judge counts errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("immutables")
pytest.importorskip("numpy")

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from toolworld_goals import greedy
from toolworld_said import SaidRequest, in_words, said_request, wrong_writes
from toolworlds import Scenario, replay

from hvr.tools.calling.calls import CallOutcome, Json, ToolCall
from hvr.tools.calling.python_world import PythonTools
from hvr.tools.catalogue.schema import Catalogue, Effect, ToolParameter, ToolSchema
from hvr.tools.navigation.request import EntityQuery, NamedValue


def text(name: str) -> ToolParameter:
    return ToolParameter(name, "string", required=True)


SCHEMAS = (
    ToolSchema("find_user", takes=(text("email"),), effect=Effect.READS),
    ToolSchema("get_order", takes=(text("order_id"),), effect=Effect.READS),
    ToolSchema(
        "exchange", takes=(text("item_id"), text("note"), ToolParameter("count", "integer")),
        effect=Effect.WRITES,
    ),
)  # fmt: skip


def shop() -> PythonTools:
    made: list[Any] = []
    lamps = [{"item_id": "I-1", "colour": "red"}, {"item_id": "I-2", "colour": "blue"}]
    return PythonTools(
        Catalogue(SCHEMAS),
        {"find_user": lambda **_: {"order_id": "O-1"},
         "get_order": lambda **_: {"items": lamps},
         "exchange": lambda **values: made.append(values) or "done"},
    )  # fmt: skip


def posed(words: str) -> SaidRequest:
    calls = (
        ToolCall("find_user", {"email": "ann@x.org"}),
        ToolCall("get_order", {"order_id": "O-1"}),
        ToolCall("exchange", {"item_id": "I-2", "note": "broken", "count": 3}),
    )
    scenario = Scenario("s", "shop", (words,), calls, shop)
    return said_request(scenario, replay(scenario)[0])


def test_what_the_words_do_not_say_is_not_given() -> None:
    all_said = posed("I am ann@x.org. Exchange three of the BLUE lamps; they are broken.")
    assert all_said.request.said == (NamedValue("email", "ann@x.org"),)
    arguments = all_said.request.goals[0].arguments
    assert arguments["count"] == 3 and arguments["note"] == "broken"
    assert arguments["item_id"] == EntityQuery((NamedValue("colour", "blue"),))
    assert all_said.open == (frozenset(),)
    little = posed("I am ann@x.org. Exchange a lamp.")
    assert set(little.request.goals[0].arguments.values()) == {EntityQuery()}
    assert little.open == (frozenset({"item_id", "note", "count"}),)
    assert little.may_ask("note") and not little.may_ask("email")


def test_what_look_ups_need_and_nobody_says_may_be_asked() -> None:
    nobody = posed("Exchange three of the blue lamps; they are broken.")
    assert dict(nobody.inputs)["email"] == "ann@x.org" and nobody.may_ask("email")
    told = nobody.answered(["email", "item_id"])
    assert NamedValue("email", "ann@x.org") in told.request.said and not told.may_ask("email")
    assert told.request.goals[0].arguments["item_id"] == "I-2"


@pytest.mark.parametrize(
    ("value", "words", "said"),
    [
        (2, "two bags", True), (2, "2 bags", True), (2, "12 bags", False), (2, "twofold", False),
        ("#Lamp", "tag it lamp", True), ("2024-05-16", "on May 16th", True),
        ("credit_card", "my Credit Card", True), (True, "true", False), ("blue", "bluest", False),
        (["blue"], "blue", False), (2.5, "2.50 dollars", True),
    ],
)  # fmt: skip
def test_plain_renderings_are_in_words(value: Json, words: str, said: bool) -> None:
    assert in_words(value, [words]) is said


def test_writes_beside_the_correct_ones_are_wrong_each_once() -> None:
    right = ToolCall("exchange", {"item_id": "I-2", "note": None})
    same = ToolCall("exchange", {"item_id": "I-2"})
    other = ToolCall("exchange", {"item_id": "I-1"})
    read = ToolCall("get_order", {"order_id": "O-9"})
    made = [CallOutcome(call) for call in (read, same, other, same)]
    schemas = {schema.name: schema for schema in SCHEMAS}
    assert wrong_writes(made, [right], schemas) == [other, same]


def test_the_baseline_takes_the_first_of_each_name_and_asks_for_the_rest() -> None:
    said = posed("I am ann@x.org. Exchange three of the blue lamps; they are broken.")
    outcomes, asked = greedy(shop(), said.request)
    assert asked == "" and outcomes[-1].call.arguments["item_id"] == "I-2"
    little = posed("I am ann@x.org. Exchange three lamps; they are broken.")
    outcomes, asked = greedy(shop(), little.request)
    assert asked == "" and outcomes[-1].call.arguments["item_id"] == "I-1"
    outcomes, asked = greedy(shop(), posed("I am ann@x.org. Exchange three lamps.").request)
    assert asked == "note" and len(outcomes) == 2
