"""Judged dialogues influence requests to a tool world, but never add a call."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import DataFileError, UsageError
from hvr.knowledge.retrieval.embedders import TextVectors
from hvr.tools.catalogue.schema import Catalogue, ToolSchema
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.request import GoalCall, ToolRequest
from hvr.tools.navigation.turn_judge import (
    TurnDecision,
    figures_of,
    learn_moves,
    read_moves,
    with_dialogue_opinion,
)
from hvr.tools.navigation.turns import MOVES, OfferedTool, judged_turns, read_dialogues
from hvr.tools.navigation.words.reading import ReadRequest
from tests.command_line import Hvr

TURNS = Path(__file__).parents[3] / "examples" / "parcel_turns.jsonl"
TOOLS = {name: OfferedTool(ToolSchema(name)) for name in ("a", "b")}


def test_a_dialogue_says_what_was_at_hand_known_and_right() -> None:
    record = {"dialogue": "d", "tools": ["a"], "turns": [
        {"user": ["Hello", "you"], "move": "ask"},
        {"user": "", "calls": ["b"], "tools": ["a", "b", {"name": "c", "parameters": {}}]},
        {"user": "Thanks", "move": "answer"},
    ]}  # fmt: skip
    first, second, third = judged_turns(record, TOOLS, "here")
    assert (first.turn.text, first.move) == ("Hello you", NextMove.ASK)
    assert [t.schema.name for t in first.turn.at_hand] == ["a"]
    assert [t.schema.name for t in first.turn.outside] == ["b"]
    assert second.turn.idle and second.turn.request == "Hello you"
    assert (second.move, second.used) == (NextMove.CALL, frozenset({"b"}))
    assert [t.schema.name for t in third.turn.at_hand] == ["a", "b", "c"] and not third.turn.idle
    assert third.turn.earlier == ("Hello you",) and third.dialogue == "d"


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({}, "'turns' must be a non-empty list"),
        ({"turns": [3]}, "turn 1: expected an object"),
        ({"turns": [{"user": 3, "move": "ask"}]}, "'user' must be a string"),
        ({"turns": [{"user": "x"}]}, "'move' must be one of call, find, ask, answer"),
        ({"turns": [{"user": "x", "move": "stop"}]}, "'move' must be one of"),
        ({"turns": [{"user": "x", "move": "ask", "calls": ["a"]}]}, "must be 'call' if"),
        ({"turns": [{"user": "x", "calls": ["z"]}]}, "no tool named 'z'"),
        ({"turns": [{"user": "x", "move": "ask"}], "tools": ["z"]}, "no tool named 'z'"),
        ({"turns": [{"user": "x", "move": "ask"}], "tools": "a"}, "must be a list of names"),
    ],
)
def test_what_is_wrong_with_a_dialogue_is_said(record: dict[str, Any], says: str) -> None:
    with pytest.raises(DataFileError, match=f"here.*{says}"):
        judged_turns(record, TOOLS, "here")


def test_too_few_dialogues_teach_nothing() -> None:
    some = [{"dialogue": str(n), "turns": [{"user": "x", "calls": ["a"]}]} for n in range(30)]
    catalogue = Catalogue((ToolSchema("a"),))
    for few in (some[:5], some):
        with pytest.raises(UsageError, match="at least 20 judged dialogues"):
            learn_moves(few, catalogue, "lexical-hash", TextVectors("lexical-hash").encode)


def test_what_is_no_better_than_the_commonest_move_is_not_used() -> None:
    call, ask = NextMove.CALL, NextMove.ASK
    assert figures_of([(call, call)] * 20 + [(ask, ask)] * 8)["by_chance"] < 0.01
    assert figures_of([(call, call)] * 20 + [(ask, call)] * 8)["by_chance"] == 1.0
    figures = figures_of([(call, ask)] * 3 + [(call, call)] * 9 + [(ask, ask)] * 4)
    assert figures["by_chance"] > 0.3 and figures["accuracy"] == 13 / 16


_SHARES = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any)
_NEEDED = st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1)), max_size=3)


@given(_SHARES, _NEEDED, st.booleans(), st.lists(st.sampled_from("abc"), unique=True))
def test_an_opinion_brings_in_no_tool_that_did_not_come_into_question(
    shares: list[int], needed: list[tuple[str, float]], clear: bool, tools: list[str]
) -> None:
    chances = {m: n / sum(shares) for m, n in zip(MOVES, shares, strict=True)}
    move = max(chances, key=lambda one: chances[one])
    opinion = TurnDecision(move, "Why.", chances, tuple(needed))

    def reading(*names: str) -> ReadRequest:
        goals = tuple(GoalCall(name, {"x": 1}) for name in names)
        return ReadRequest(ToolRequest(goals, text="text") if names else None, "Read.", names)

    read = reading(*tools) if clear else replace(reading(), tools=tuple(tools))
    found = with_dialogue_opinion(read, opinion, reading)
    if read.request is not None:
        # A reading is executed unchanged, or needs confirmation.
        assert found.read.request == read.request and found.read.move is None
        assert found.doubted == (not {NextMove.CALL, NextMove.ASK} & set(opinion.admissible))
    elif found.read.request is not None:
        assert {goal.tool for goal in found.read.request.goals} <= set(tools)
        assert move in (NextMove.CALL, NextMove.ASK)
    elif found.read.move is not None:
        assert found.read.move is move and move in (NextMove.ANSWER, NextMove.FIND)
    assert with_dialogue_opinion(read, None, reading).read == read
    # Explicit words take precedence.
    forbidden = replace(read, request=None, move=NextMove.ANSWER)
    assert with_dialogue_opinion(forbidden, opinion, reading).read == forbidden


def test_a_world_that_names_no_file_of_decisions_is_told_so(tmp_path: Path, hvr_: Hvr) -> None:
    (tmp_path / "desk.py").write_text("def look() -> str:\n    return 'x'\n", encoding="utf-8")
    (tmp_path / "world.toml").write_text('[tools]\nmodule = "desk"\ndecisions = "d.json"\n')
    said = hvr_("world", "check", str(tmp_path))
    assert said.code == 1 and "decisions: no file named 'd.json'" in said.out


def test_what_was_not_written_by_learn_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "decisions.json"
    for text in ("[]", "{}", '{"form": "x"}', '{"form": "hvr judged dialogues 1"}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataFileError, match="was not written by `hvr tools learn --turns"):
            read_moves(path)
    path.write_text("3\n", encoding="utf-8")
    with pytest.raises(DataFileError, match="line 1: expected an object"):
        read_dialogues(path)


@pytest.mark.slow
def test_a_world_with_judged_dialogues_knows_when_no_tool_is_of_use(
    hvr_: Hvr, tmp_path: Path
) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    file = tmp_path / "decisions.json"
    learn = ("tools", "learn", "parcels", "--turns", str(TURNS), "--vectors", "lexical-hash")
    told = json.loads(hvr_(*learn, "--out", str(file), "--json").out)
    assert told["used"] and told["figures"]["accuracy"] > told["figures"]["commonest"] + 0.2
    weather, parcel = "Who wrote Hamlet?", "Tell me where P-1004 is at the moment"
    assert hvr_("tools", "plan", "parcels", weather).code == 1
    no = hvr_("tools", "run", "parcels", weather, "--decisions", str(file))
    assert no.code == 1
    assert hvr_("tools", "plan", "parcels", parcel).code == 0
    yes = hvr_("tools", "plan", "parcels", parcel, "--decisions", str(file), "--json")
    assert yes.code == 0 and json.loads(yes.out)["calls"] == ["get_parcel (wanted)"]
    # A world may name the file itself; an uninformative one is not used.
    record = json.loads(file.read_text(encoding="utf-8"))
    record["figures"]["by_chance"] = 0.5
    file.write_text(json.dumps(record), encoding="utf-8")
    unused = hvr_("tools", "plan", "parcels", weather, "--decisions", str(file))
    assert unused.code == 1 and "is ignored" in unused.err
