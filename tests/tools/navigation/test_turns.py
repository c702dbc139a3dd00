"""Next-move decisions learnt from earlier turns: a few requests to two services, hashed words."""

from __future__ import annotations

import pytest

from hvr.tools.catalogue.schema import ToolParameter, ToolSchema
from hvr.tools.navigation.chains import NextMove
from hvr.tools.navigation.turns import (
    JudgedTurn,
    OfferedTool,
    Turn,
    kind_of,
    left_open,
    masked,
    nouns,
    required,
    sentences,
    spans,
)

COPY = OfferedTool(ToolSchema("copy_file", "Copy a file.", (
    ToolParameter("file_name", "string", required=True),)), "files")  # fmt: skip
SORT = OfferedTool(ToolSchema("sort_lines", "Sort the lines of a file.", (
    ToolParameter("file_name", "string", required=True),)), "files")  # fmt: skip
TWEET = OfferedTool(ToolSchema("post_tweet", "Post a tweet.", (
    ToolParameter("content", "string", required=True),)), "tweets")  # fmt: skip


def test_kinds_of_parameters_are_told_by_schema_and_name() -> None:
    assert kind_of(ToolParameter("mode", "string", choices=('"a"',))) == "choice"
    assert kind_of(ToolParameter("amount", "number")) == "number"
    assert kind_of(ToolParameter("dest_folder", "string")) == "file"
    assert sum(required(COPY.schema)) == 1


def test_what_is_stated_is_counted_and_masked() -> None:
    assert spans("Copy 'a.txt' to b.txt 3 times")[:3] == [1, 1, 2]
    assert "secret" not in masked("say 'secret' twice")
    assert sentences("Do this. Then that!") == ["Do this.", "Then that!"]


def test_nouns_without_a_value_are_left_open() -> None:
    known = nouns(COPY.schema)
    assert "file" in known
    for text, counts in (
        ("Sort a certain file", [1, 1, 0, 0, 0]),
        ("Sort a file for me", [0, 1, 0, 0, 0]),
        ("Sort that file", [0, 0, 0, 1, 0]),
        ("Sort a file named 'a.txt'", [0, 0, 0, 0, 0]),
        ("Sort a file. Then add 3", [0, 1, 0, 0, 0]),
        ("Tell my cousin", [0, 0, 1, 0, 1]),
        ("Tell my cousin, Bob", [0, 0, 0, 0, 0]),
        ("Buy a lamp", [0, 0, 0, 0, 0]),
    ):
        assert left_open(text, known) == counts, text


def test_an_empty_turn_is_judged_by_what_was_said_last() -> None:
    assert Turn("", (), (), ("first", "last")).request == "last"


def test_tools_are_voted_for_by_the_nearest_requests_of_other_dialogues() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from hvr.knowledge.retrieval.embedders import TextVectors
    from hvr.tools.navigation.turns import FEATURES, ToolNeeds

    tools = (COPY, SORT)
    turns = [
        JudgedTurn(Turn(text, tools, ()), NextMove.CALL, frozenset({tool}), dialogue)
        for dialogue, text, tool in (
            ("1", "Make a copy of a.txt.", "copy_file"),
            ("2", "Make a copy of a.txt. Thanks!", "copy_file"),
            ("2", "Put b.txt in order.", "sort_lines"),
        )
    ]
    needs = ToolNeeds(turns, TextVectors("lexical-hash").encode)
    likest, by_request, by_sentence = 5, FEATURES - 2, FEATURES - 1
    one = needs.features(turns[0].turn, tools, "1")
    assert one.shape == (2, FEATURES)
    assert one[0, by_sentence] > one[1, by_sentence]
    assert one[0, by_request] + one[1, by_request] == pytest.approx(1)
    assert one[0, likest] < 1
    # Its own dialogue is left out, and the others concern the other tool.
    other = needs.features(turns[1].turn, tools, "2")
    assert list(other[:, by_request]) == [1, 0]
    assert list(other[:, likest] > 0) == [True, False]
    held = needs.held_out([0, 1, 1])
    assert set(held) == {0, 1}
    assert held[0](one).shape == (2,)


@pytest.mark.slow
def test_the_move_is_learnt_and_said_with_a_reason() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from hvr.knowledge.retrieval.embedders import TextVectors
    from hvr.tools.navigation.turn_judge import TurnJudge

    turns = []
    for number in range(12):
        name, dialogue = f"'n{number}.txt'", str(number)
        files, tweets = (COPY, SORT), (TWEET,)
        turns += [
            JudgedTurn(Turn(f"Please copy the file {name}.", files, tweets), NextMove.CALL,
                       frozenset({"copy_file"}), dialogue),
            JudgedTurn(Turn(f"Sort the lines of {name}.", files, tweets), NextMove.CALL,
                       frozenset({"sort_lines"}), dialogue),
            JudgedTurn(Turn("Please copy a certain file.", files, tweets), NextMove.ASK,
                       frozenset(), dialogue),
            JudgedTurn(Turn(f"Sort the lines of {name}.", (COPY,), (SORT, TWEET)), NextMove.FIND,
                       frozenset(), dialogue),
            JudgedTurn(Turn("What is the capital of Peru?", files, tweets), NextMove.ANSWER,
                       frozenset(), dialogue),
        ]  # fmt: skip
    judge = TurnJudge(turns, TextVectors("lexical-hash").encode)
    for text, near, far, move in (
        ("Please copy the file 'other.md'.", (COPY, SORT), (TWEET,), NextMove.CALL),
        ("Sort the lines of 'x.txt'.", (COPY,), (SORT, TWEET), NextMove.FIND),
        ("Please copy a certain file.", (COPY, SORT), (TWEET,), NextMove.ASK),
        ("What is the capital of Chad?", (COPY, SORT), (TWEET,), NextMove.ANSWER),
    ):
        decision = judge.decide(Turn(text, near, far))
        assert decision.move is move
        assert decision.admissible[0] is move
        assert abs(sum(decision.chances.values()) - 1) < 1e-6
        assert decision.why.endswith(".")
    some = [one.turn for one in turns[:3]]
    together, alone = judge.decide_all(some), [judge.decide(turn) for turn in some]
    assert [d.move for d in together] == [d.move for d in alone]
    assert judge.decide_all([]) == []
