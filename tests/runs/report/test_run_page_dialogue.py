"""The dialogue on a run's page: the model's answers, faults, and corrections."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hvr.models.choice import ModelChoice
from hvr.runs.report.charts import Series, bars
from hvr.runs.report.run_page.page import render
from hvr.runs.report.run_page.reading import read_story
from hvr.runs.report.run_page.story import AskedModel, dialogue, turns_of
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
    text = render(story)
    assert text.count('id="dialogue"') == 1
    assert text.index("How the plan was made") < text.index('id="steps"')
    assert all(one.answer for one in story.asked)
    assert f"All {len(story.asked)} prompts and answers" in text


@pytest.mark.slow
def test_a_run_without_a_model_has_no_dialogue(tmp_path: Path) -> None:
    plan("wash the plate", options=Options(save=tmp_path / "r", execute=False))
    assert "How the plan was made" not in render(read_story(tmp_path / "r"))


def test_texts_of_models_are_escaped_and_cut() -> None:
    nasty = "<script>alert(1)</script>" + "x" * 50_000
    events = [
        {"event": "block", "name": nasty, "actions": [nasty], "unmapped": [nasty]},
        {"event": "block-check", "problem": nasty, "attempt": 1, "attempts": 2},
        {"event": "plan", "plan": {}},
        {"event": "no such event"},
        {},
    ]  # fmt: skip
    text = dialogue(turns_of(events), [AskedModel("block", nasty, "", nasty)])
    assert "<script" not in text
    assert "50025 characters" in text and "no answer" in text


@pytest.mark.parametrize(
    "source", ["model", "correction", "library", "navigation", "planner", "best"]
)
def test_each_source_of_a_block_has_a_speaker(source: str) -> None:
    (turn,) = turns_of([{"event": "block", "name": "n", "actions": ["(a)"], "source": source}])
    assert turn.speaker and "changes the block" not in turn.title


@pytest.mark.parametrize(("groups", "series"), [(1, 1), (1, 7), (2, 3), (13, 7)])
def test_charts_are_wide_enough_to_be_read(groups: int, series: int) -> None:
    names = [f"T{n}" for n in range(groups)]
    text = bars("title", names, [Series(f"s{n}", {"T0": 0.5}) for n in range(series)])
    (width,) = re.findall(r'viewBox="0 0 (\d+) ', text)
    assert int(width) >= 320
    places = [float(x) for x in re.findall(r'<rect[^>]* x="([\d.]+)" width="', text)]
    assert all(0 <= x < int(width) for x in places)
