"""The dialogue of a run: the model's answers, faults, and corrections."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hvr.doors.studio.documents import run_document
from hvr.models.choice import ModelChoice
from hvr.models.recording import NAME
from hvr.runs.report.run_page import read_story, turns_of
from hvr.runs.request import Options
from hvr.runs.spine import plan


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose simulated model first errs and is corrected."""
    save = tmp_path_factory.mktemp("run") / "r"
    model = ModelChoice(spec="scripted:error=0.5,seed=1", setting="HVR")
    plan(task="T2", options=Options(policy="llm", model=model, save=save))
    return save


@pytest.mark.slow
def test_the_page_shows_the_dialogue_in_its_order(folder: Path) -> None:
    story = read_story(folder)
    checks = [turn.good for turn in story.turns if turn.good is not None]
    assert False in checks and checks[-1] is True
    wrong = next(i for i, turn in enumerate(story.turns) if turn.good is False)
    written, corrected = story.turns[wrong - 1], story.turns[wrong + 1]
    assert written.speaker == corrected.speaker == "Model" and written.lines
    assert "corrects" in corrected.title and corrected.lines != written.lines
    assert story.asked and all(one.answer for one in story.asked)


@pytest.mark.slow
def test_a_run_without_a_model_has_no_dialogue(tmp_path: Path) -> None:
    plan("wash the plate", options=Options(save=tmp_path / "r", execute=False))
    assert run_document(tmp_path / "r")["story"]["asked"] == []


def test_long_texts_of_models_are_cut(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    first, *rest = (folder / NAME).read_text(encoding="utf-8").splitlines()
    asked = json.loads(rest[0])
    asked["answer"]["text"] = "<script>alert(1)</script>" + "x" * 50_000
    lines = [first, json.dumps(asked), *rest[1:]]
    (tmp_path / NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = run_document(tmp_path)["story"]["asked"][0]["answer"]
    assert "50025 characters" in told and len(told) < 21_000


@pytest.mark.parametrize(
    "source", ["model", "correction", "library", "navigation", "planner", "best"]
)
def test_each_source_of_a_block_has_a_speaker(source: str) -> None:
    (turn,) = turns_of([{"event": "block", "name": "n", "actions": ["(a)"], "source": source}])
    assert turn.speaker and "changes the block" not in turn.title
