"""Failures during a language model's plan, and their repair with and without the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hvr.runs.spine
from hvr.models.choice import ModelChoice
from hvr.runs.request import Options
from hvr.runs.result import Run
from hvr.worlds.faults import Fault, FaultEffect, FaultKind, FaultTiming, Schedule
from tests.extras import needs
from tests.model_server import Behaviour, Question, make_coffee
from tests.models.servers import OpenAIServer

needs("openai")


def failing(tmp_path: Path, behaviour: Behaviour, *faults: Fault) -> Run:
    """Run "make coffee" in FloorPlan1 with faults and a model behind a server."""
    schedule = tmp_path / "faults.json"
    Schedule(faults).save(schedule)
    with OpenAIServer(behaviour) as server:
        choice = ModelChoice(spec="openai:test-model", base_url=server.url)
        options = Options(
            scene="FloorPlan1", policy="llm", model=choice, save=tmp_path / "run", faults=schedule
        )
        return hvr.runs.spine.plan("make coffee", options=options)


def recoveries(folder: Path) -> list[tuple[str, str]]:
    lines = (folder / "trace.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    return [(e["rung"], e["outcome"]) for e in events if e["event"] == "recovery"]


@pytest.mark.slow
def test_missing_steps_are_put_in_without_asking_the_model(tmp_path: Path) -> None:
    behaviour = Behaviour(make_coffee)
    on = Fault(
        FaultKind.CHANGED,
        FaultTiming(actions=("PutObject",)),
        FaultEffect("coffeemachine-1", field="isToggled", value=True),
    )
    result = failing(tmp_path, behaviour, on)
    assert result.reached
    assert ("satisfy", "worked") in recoveries(tmp_path / "run")
    assert behaviour.purposes.count("macro_plan") == 1


@pytest.mark.slow
def test_a_dropped_mug_is_told_of_and_fetched(tmp_path: Path) -> None:
    behaviour = Behaviour(make_coffee)
    slips = Fault(FaultKind.DROP, FaultTiming(actions=("TeleportFull",), nth=2))
    result = failing(tmp_path, behaviour, slips)
    assert result.reached
    assert [rung for rung, _ in recoveries(tmp_path / "run")] == ["ask"]
    # A replay plays the same faults.
    choice = ModelChoice(spec=f"replay:{tmp_path / 'run'}")
    again = hvr.runs.spine.plan(
        options=Options(policy="llm", model=choice, save=tmp_path / "again")
    )
    assert again.reached
    assert recoveries(tmp_path / "again") == recoveries(tmp_path / "run")


@pytest.mark.slow
def test_the_model_is_told_what_went_wrong(tmp_path: Path) -> None:
    """The hand repeatedly fails to close, until every strategy that keeps the plan is exhausted."""
    told: list[str] = []

    def model(asked: Question) -> str:
        told.append(asked.text)
        return make_coffee(asked)

    behaviour = Behaviour(model)
    loose = Fault(FaultKind.SILENT, FaultTiming(actions=("PickupObject",), nth=1, times=3))
    result = failing(tmp_path, behaviour, loose)
    rungs = [rung for rung, _ in recoveries(tmp_path / "run")]
    assert rungs[:2] == ["retry", "re-navigate"] and "ask" in rungs
    assert any("A first attempt was broken off" in text and "pick_up" in text for text in told)
    assert behaviour.purposes.count("macro_plan") > 1
    assert result.reached
