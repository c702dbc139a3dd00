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


@pytest.mark.slow
def test_both_branches_are_proven_and_saved(tmp_path: Path) -> None:
    options = hvr.Options(scene="FloorPlan1", sight="doors", save=tmp_path / "run")
    run = hvr.plan(EGG, options=options)
    assert run.reached and "an egg in the fridge: yes" in run.verdict
    saved = json.loads((run.folder / "branches.json").read_text(encoding="utf-8"))
    assert [branch["answer"] for branch in saved["branches"]] == ["yes", "no"]
    for name in ("yes", "no"):
        files = (run.folder / f"branch-{name}-{part}.pddl" for part in ("problem", "plan"))
        assert hvr.validate(run.folder / "domain.pddl", *files).valid


@pytest.mark.slow
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


@pytest.mark.slow
def test_all_stages_of_a_branch_are_proven(tmp_path: Path) -> None:
    text = "if the egg is in the fridge, put the egg in the sink, then put the egg in the microwave"
    options = hvr.Options(scene="FloorPlan1", sight="doors", execute=False, save=tmp_path / "run")
    run = hvr.plan(text, options=options)
    plans = sorted(path.name for path in run.folder.glob("branch-yes-*-plan.pddl"))
    assert plans == ["branch-yes-1-plan.pddl", "branch-yes-2-plan.pddl"]
    steps = [
        sum(line.startswith("(") for line in (run.folder / plan).read_text().splitlines())
        for plan in plans
    ]
    assert all(steps) and f"yes: {sum(steps)} steps, valid" in run.verdict


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        ("there is an apple", True),
        ("there is one apple", True),
        ("there are 2 apples", False),
        ("there aren't 2 apples", True),
        ("2 apples are on the countertop", False),
        ("there is a mug and an apple", True),
        ("there is a fork and a mug on the countertop", False),
        ("there is a fork or a mug on the countertop", True),
        ("there is no fork or mug on the countertop", False),
        ("the mug and the plate are clean", True),
        ("all cabinets are closed", True),
    ],
)
def test_counts_and_lists_decide_a_condition(condition: str, truth: bool) -> None:
    reader, inventory = scene("FloorPlan1")
    (goal,) = reader.goals(f"if {condition}, open the fridge", inventory)
    assert goal.notes[0].startswith(f"{condition}: {'yes' if truth else 'no'}")


def test_a_condition_that_hvr_cannot_decide_is_refused() -> None:
    reader, inventory = scene("FloorPlan1")
    with pytest.raises(HvrError):
        reader.goals("if half of the mugs are clean, open the fridge", inventory)
