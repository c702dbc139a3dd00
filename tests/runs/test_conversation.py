"""Dialogues: memory, corrections, questions and undo, by Python and on a terminal."""

from __future__ import annotations

import json
import os
import pty
import sys
from pathlib import Path
from typing import Any

import pytest

import hvr
from benchmarks.dialogues import failed_dialogues
from hvr.errors import PlannerError
from hvr.language.answers import CANCEL, chosen, small_talk, undone
from hvr.language.dialogue import Rewriter
from hvr.language.phrases import DialogueMemory
from hvr.runs import conversation
from hvr.runs.spine import carry_out
from tests import warm


@pytest.mark.slow
def test_dialogues_end_as_they_should(tmp_path: Path) -> None:
    assert failed_dialogues(tmp_path, every=20) == []


@pytest.mark.slow
def test_a_question_is_answered_in_words(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        reply = robot.say("wash the mug and the plate or the cup")
        assert reply.kind == "question" and len(reply.choices) == 2
        assert robot.say("huh?").kind == "question"
        done = robot.say("the second one")
        assert done.kind == "done" and done.run is not None and done.run.reached
        assert robot.say("what did you do?").kind == "answer"
    said = (tmp_path / "c" / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["kind"] for line in said] == ["question", "question", "done", "answer"]


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("1", 0), ("the second one", 1), ("the last one", 1), ("the cup", 1),
        ("The mug, please", 0), ("the mug is clean", 0), ("neither", CANCEL), ("no", CANCEL),
        ("3", None), ("clean", None), ("open the fridge", None), ("either is fine", 0),
    ],
)  # fmt: skip
def test_answers(answer: str, number: int | None) -> None:
    assert chosen(answer, ("the mug is clean", "the cup is clean")) == number


@pytest.mark.slow
def test_what_cannot_be_undone_is_said(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        robot.say("slice the apple")
        reply = robot.say("undo")
        assert reply.kind == "failed" and "cannot be undone: the apple is sliced" in reply.text


@pytest.mark.slow
def test_what_an_error_ended_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        with monkeypatch.context() as failing:

            def fail(*args: Any, **kwargs: Any) -> None:
                carry_out(*args, **kwargs)
                raise PlannerError("no more time")

            failing.setattr(conversation, "carry_out", fail)
            assert robot.say("open the fridge").kind == "refused"
        assert "half-way" in robot.say("what did you do?").text
        assert robot.say("undo").kind == "done"
        assert robot.say("is the fridge closed?").text.startswith("yes")


@pytest.mark.slow
def test_a_dialogue_on_a_terminal(tmp_path: Path) -> None:
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "hvr", "chat", "--quiet", "--save", str(tmp_path / "c")]
    process = warm.Popen(command, stdin=inner, stdout=inner, stderr=inner)
    os.close(inner)
    seen = ""
    for turn in (
        "open the fridge",
        "wash the mug and the plate or the cup",
        "the first one",
        "bye",
    ):
        seen += _until_prompt(outer)
        os.write(outer, f"{turn}\n".encode())
    assert process.wait(timeout=60) == 0
    os.close(outer)
    assert "the fridge is open" in seen and "  2  " in seen


def _until_prompt(terminal: int) -> str:
    text = ""
    while not text.endswith(("> ", "? ")):
        text += os.read(terminal, 1024).decode()
    return text


def test_a_new_request_replaces_the_question_before(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        first = robot.say("wash the mug and the plate or the cup")
        second = robot.say("wash the cup and the mug or the plate")
        assert second.kind == "question" and second.choices != first.choices


@pytest.mark.slow
def test_one_request_is_undone_at_a_time(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        assert robot.say("is anything open?").text.startswith("no")
        robot.say("open the fridge")
        assert robot.say("is anything open?").text.startswith("yes")
        robot.say("open the microwave")
        assert robot.say("undo").kind == "done"
        assert robot.say("is the fridge open?").text.startswith("yes")
        assert robot.say("is the microwave open?").text.startswith("no")
        assert robot.say("undo").kind == "done"
        assert robot.say("is the fridge open?").text.startswith("no")


@pytest.mark.slow
def test_everything_is_undone_at_once(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        robot.say("open the fridge")
        robot.say("put the apple in the bowl")
        assert robot.say("undo everything you did").kind == "done"
        assert robot.say("is the fridge open?").text.startswith("no")
        assert "countertop-2" in robot.say("where is the apple?").text


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("close both", "close fridge-1 and microwave-1"),
        ("empty both of them", "empty fridge-1 and microwave-1"),
        ("great, and the cup?", "put the cup in the sink"),
        ("oh no, open it again!", "open fridge-1 again !"),
        ("put the fork in it", "put the fork in fridge-1"),
        ("take both out again", "take fridge-1 and microwave-1 out again"),
        ("open drawer 9", "open drawer 9"),
        ("close the cabinet", "close cabinet-3"),
        ("wash the knife you used", "wash knife-1"),
        ("except the mug, put that on the table", "put the mug on the table"),
        ("no, not the mug, the cup", "put the cup in the sink"),
        ("the bread on the table", "put the bread on the table"),
        ("no, on the table", "put the mug on the table"),
        ("take another drawer", "put the mug in another drawer"),
        ("close the first of them", "close fridge-1"),
        ("how many are closed?", "how many fridges are closed ?"),
        ("hm, is it open?", "is fridge-1 open ?"),
        ("open the second one", "open microwave-1"),
        ("too warm, open it", "too warm , open the fridge"),
        ("put the knife in too", "put the knife in fridge-1 too"),
        ("the other way round", "swap fridge-1 and microwave-1"),
        ("not the mug, the cup", "put the cup in the sink"),
        ("fine, next to the cup then", "put the mug next to the cup"),
    ],
)
def test_turns_are_rewritten_to_stand_alone(text: str, meant: str, tmp_path: Path) -> None:
    pair = ("fridge-1", "microwave-1")
    acted = ("knife-1", "cabinet-3")
    memory = DialogueMemory("put the mug in the sink", pair, pair, (), pair, acted=acted)
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        reader, inventory = robot._reader, robot.inventory()
    assert meant in list(Rewriter(reader, inventory, memory).requests(text))


@pytest.mark.parametrize(
    "text", ["thanks", "Never mind.", "great, thank you!", "and now?", "hello"]
)
def test_small_talk_is_answered(text: str) -> None:
    assert small_talk(text)


@pytest.mark.parametrize("text", ["open the fridge", "the fridge", "stop the microwave", "no, it"])
def test_requests_are_not_small_talk(text: str) -> None:
    assert not small_talk(text)


@pytest.mark.slow
def test_what_was_done_is_told_and_what_was_taken_out_stays_out(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan7", save=tmp_path / "c")) as robot:
        assert robot.say("take the fork out of the drawer").kind == "done"
        assert robot.say("close the drawer").kind == "done"
        assert not robot.say("where is the fork?").text.endswith("drawer-4")
        assert robot.say("wash the spatula").kind == "done"
        assert robot.say("did you wash the spatula?").text == "yes"
        assert robot.say("did you wash the fork?").text == "no"
        assert robot.say("is the spatula clean yet?").text == "yes"
        assert robot.say("if it is, put it on the table").kind == "done"


def test_a_named_thing_with_a_question_mark_orders_nothing(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        assert robot.say("and the kettle?").kind == "refused"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("undo", 1), ("undo that please", 1), ("take back the last request", 1), ("undo twice", 2),
        ("undo the last three things", 3), ("undo everything you did", 4), ("take the mug back", 0),
        ("undo the lamp", 0),
    ],
)  # fmt: skip
def test_what_is_undone(text: str, number: int) -> None:
    assert undone(text, 4) == number


@pytest.mark.slow
def test_refused_turns_and_questions_are_remembered(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        assert robot.say("fly the cup to the moon").kind == "refused"
        assert robot.say("ok then just put it in the sink").kind == "done"
        assert robot.say("did it work? where is it?").text == "yes. the cup is in the sink basin"
        assert robot.say("is the fridge open?").text == "no"
        assert robot.say("thanks! now open it").request == "now open fridge-1"
        assert robot.say("it's open, isn't it?").text == "yes"
        assert robot.say("what have you done so far?").text.startswith("then just put cup-1")
        assert robot.say("why did you open it?").text.startswith("because you asked")


@pytest.mark.slow
def test_pairs_ordinals_and_origins_are_remembered(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan2", save=tmp_path / "c")) as robot:
        robot.say("clean the plate")
        robot.say("and the bowl")
        assert robot.say("put the first one in the cabinet").request == "put plate-1 in the cabinet"
        reply = robot.say("and the other one in the fridge")
        assert reply.kind == "done" and reply.request == "put bowl-1 in the fridge"
        assert robot.say("where was it at first?").text.startswith("the bowl was")
        assert robot.say("not the bowl, sorry").kind == "done"
        assert robot.say("is the bowl back?").text == "yes"
        assert robot.say("I only wanted the plate").kind in {"done", "refused"}


@pytest.mark.slow
def test_questions_and_remarks_neither_undo_nor_drop_requests(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        assert robot.say("put 1.5 eggs in the pan").kind == "refused"
        assert robot.say("is the apple back in the fridge?").text == "no"
        both = robot.say("open the fridge, is the microwave open?")
        assert both.text.endswith("no") and both.run is not None
        for said in ("did you undo that?", "I just wanted to say thanks", "take that back to me"):
            robot.say(said)
            assert robot.say("is the fridge open?").text == "yes", said
        robot.say("open the microwave")
        assert robot.say("did you open the microwave and close the fridge?").text != "yes"
        reply = robot.say("The mug is dirty. Wash it.")
        assert reply.request is not None and "mug" in reply.request
        assert "is the fridge open?" in robot.say("open the piano. is the fridge open?").text


def test_options_reject_a_folder_as_text() -> None:
    with pytest.raises(hvr.UsageError, match=r"save must be a pathlib\.Path, got 'text'"):
        hvr.Options(save="text")  # type: ignore[arg-type]


@pytest.mark.slow
def test_remarks_and_unreadable_questions_change_nothing(tmp_path: Path) -> None:
    with hvr.Conversation(hvr.Options(scene="FloorPlan1", save=tmp_path / "c")) as robot:
        assert robot.say("it was kind of you to slice the apple").kind in {"refused", "question"}
        assert robot.say("what does the fridge cost?").kind == "refused"
        assert robot.say("is the mug clean?").text == "yes"
        assert "leaves out 'wash it'" in robot.say("if not, wash it").text
        banned = robot.say("if the mug is clean, don't open the fridge, but wash the plate")
        assert "plate has been washed" in banned.text
        fallback = robot.say("wash all the pencils if they are dirty, otherwise open the fridge")
        assert "the fridge is open" in fallback.text
