"""Conditions in requests: decided at once if known, otherwise by a look and two proven branches."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import hvr
from hvr.errors import HvrError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.paraphrase import in_order
from hvr.runs.conversation import Conversation
from tests.language.own_words import alike
from tests.language.test_own_words import scene
from tests.runs.test_conversation import holds

FILE = Path(__file__).parent / "contingent.txt"
EGG = "if there is an egg in the fridge, put it in the pan, otherwise open the microwave"


def failures(save: Path, sight: str, every: int = 1) -> list[str]:
    """Carry out the contingent requests; return those that do not end as they should."""
    lines = [x for x in FILE.read_text(encoding="utf-8").splitlines() if not x.startswith("#")]
    found = []
    for number, line in enumerate(lines[::every]):
        name, text, answer, ends = (part.strip() for part in line.split("|"))
        options = hvr.Options(scene=name, sight=sight, reader="grammar", save=save / str(number))
        with Conversation(options) as robot:
            reply = robot.say(text)
            wrong = _wrong(ends, robot._inventory())
        verdict = reply.run.verdict if reply.run else reply.text
        decided = f": {answer}; proven before the look" in verdict
        looked = "proven before the look" in verdict
        right = {"refused": reply.run is None, "known": not looked}.get(answer, decided)
        if wrong or not right:
            found.append(f"{text}: {wrong}, {reply.kind} {verdict}")
    return found


def _wrong(ends: str, inventory: Inventory) -> list[str]:
    facts = [end for end in ends.split("; ") if end]
    return [f for f in facts if holds(f.removeprefix("!"), inventory) is f.startswith("!")]


@pytest.mark.slow
@pytest.mark.parametrize("sight", ["visible", "doors"])
def test_contingent_requests(tmp_path: Path, sight: str) -> None:
    assert failures(tmp_path, sight, every=9) == []


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
