"""Conditions over time, read as trajectory constraints and paraphrased."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.watched import failures, lines_of
from hvr.errors import HvrError
from hvr.execution.facts.sentences import problem_for
from hvr.knowledge.world_file import find_world
from hvr.language.paraphrase import in_order
from hvr.worlds.facts.folder import WorldFolder
from tests.language.test_own_words import scene

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "watched.txt"
SCENES = [line for line in lines_of(BENCHMARK) if line[0] == "FloorPlan1"]


@pytest.mark.parametrize(
    "text, said",
    [
        ("keep the fridge open until the apple is in it",
         "the fridge is open; then the apple is in the fridge; "
         "before the fridge is closed, the apple is in the fridge"),
        ("wash the mug and whenever a cabinet is open, close it",
         "the mug has been washed and is clean; "
         "whenever a cabinet is open, then or later that cabinet is closed"),
        ("slice the bread, but never carry the knife while the stove is on",
         "the bread is sliced; at all times if a stove burner is on, the knife is not in the hand"),
        ("keep the light switch on while you work, and wash the mug",
         "the mug has been washed and is clean; at all times the light switch is on; "
         "whenever the light switch is off, then or later the light switch is on"),
        ("put the apple in the fridge, but do not open the fridge before the mug is on the table",
         None),
        ("do not open the fridge until the light switch is off. put the apple in the fridge",
         "the apple is in the fridge; before the fridge is open, the light switch is off"),
        ("wash the mug until it is clean", "the mug has been washed and is clean"),
    ],
)  # fmt: skip
def test_how_conditions_over_time_are_read(text: str, said: str | None) -> None:
    reader, inventory = scene("FloorPlan1")
    if said is None:
        with pytest.raises(HvrError):
            reader.goals(text, inventory)
        return
    (goal,) = reader.goals(text, inventory)
    assert in_order(goal.paraphrase) == said


def test_paraphrases_of_conditions_over_time_are_read_as_their_goals() -> None:
    reader, inventory = scene("FloorPlan1")
    for _, text, checks in SCENES:
        if checks == "refused":
            with pytest.raises(HvrError):
                reader.goals(text, inventory)
            continue
        (goal,) = reader.goals(text, inventory)
        (again,) = reader.goals(in_order(goal.paraphrase), inventory)
        assert goal.paraphrase == again.paraphrase and len(goal.stages) == len(again.stages)
        assert any("constraints" in str(s) or s.constraints for s in goal.stages), text


@pytest.mark.parametrize(
    "text, constraint",
    [
        ("put red on white, but never have blue on green while yellow is on the table",
         "(always (imply (on-table yellow) (not (on blue green))))"),
        ("keep white clear until green is on the table",
         "(sometime-before (not (clear white)) (on-table green))"),
        ("whenever red is clear, put red on blue. put green on the table",
         "(sometime-after (clear red) (on red blue))"),
        ("put red on blue. blue must be clear before red is in the hand",
         "(sometime-before (holding red) (clear blue))"),
    ],
)  # fmt: skip
def test_worlds_of_facts(text: str, constraint: str) -> None:
    folder = WorldFolder(find_world("blocksworld"))
    problem, _ = folder.problem(None)
    posed = problem_for(text, folder.domain, problem, folder.words, folder.ontology)
    assert constraint in str(posed.problem.constraints)


def test_paraphrases_in_worlds_of_facts_are_read_as_their_goals() -> None:
    for world, text, checks in lines_of(BENCHMARK):
        if world.startswith("FloorPlan") or checks == "refused":
            continue
        folder = WorldFolder(find_world(world))
        problem, _ = folder.problem(None)
        posed = problem_for(text, folder.domain, problem, folder.words, folder.ontology)
        again = problem_for(posed.said, folder.domain, problem, folder.words, folder.ontology)
        assert (again.said, again.problem) == (posed.said, posed.problem), text


@pytest.mark.slow
def test_runs_keep_to_their_conditions(tmp_path: Path) -> None:
    assert failures(BENCHMARK, tmp_path, every=7) == []
