"""Conditions in requests: decided at once if known, otherwise by a look and two proven branches."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import hvr
from benchmarks.dialogues import failed_conditions
from hvr.errors import HvrError
from hvr.language.paraphrase import in_order
from tests.language.own_words import alike
from tests.language.test_own_words import scene

EGG = "if there is an egg in the fridge, put it in the pan, otherwise open the microwave"


@pytest.mark.slow
@pytest.mark.parametrize("sight", ["visible", "doors"])
def test_contingent_requests(tmp_path: Path, sight: str) -> None:
    assert failed_conditions(tmp_path, sight, every=9) == []


def test_both_branches_are_proven_and_saved(tmp_path: Path) -> None:
    options = hvr.Options(scene="FloorPlan1", sight="doors", save=tmp_path / "run")
    run = hvr.plan(EGG, options=options)
    assert run.reached and "an egg in the fridge: yes" in run.verdict
    saved = json.loads((run.folder / "branches.json").read_text(encoding="utf-8"))
    assert [branch["answer"] for branch in saved["branches"]] == ["yes", "no"]
    for name in ("yes", "no"):
        files = (run.folder / f"branch-{name}-{part}.pddl" for part in ("problem", "plan"))
        assert hvr.validate(run.folder / "domain.pddl", *files).valid


def test_a_dry_run_shows_the_look_and_both_branches(tmp_path: Path) -> None:
    options = hvr.Options(scene="FloorPlan1", sight="doors", execute=False, save=tmp_path / "run")
    run = hvr.plan(EGG, options=options)
    assert run.would_reach and "yes: 5 steps, valid; no: 2 steps, valid" in run.verdict
    assert run.plans[0].looking_for == ("whether there is an egg in the fridge",)


def test_the_paraphrase_of_a_contingent_goal_is_read_as_the_goal() -> None:
    reader, inventory = scene("FloorPlan1")
    inventory = replace(inventory, unseen=frozenset({"fridge-1"}))
    (goal,) = reader.goals(EGG, inventory)
    (again,) = reader.goals(in_order(goal.paraphrase), inventory)
    assert goal.contingency is not None and again.contingency is not None
    assert goal.paraphrase == again.paraphrase
    assert alike(goal.contingency.then, again.contingency.then, reader, inventory)


def test_what_hvr_cannot_wait_for_is_refused() -> None:
    reader, inventory = scene("FloorPlan1")
    for text in ("whenever the mug is dirty, wash it", "when the fridge is open, close it"):
        with pytest.raises(HvrError, match="does not wait for events"):
            reader.goals(text, inventory)
