"""Conditions of requests to PDDL worlds, decided in the initial state."""

from __future__ import annotations

import pytest

from hvr.execution.facts.sentences import problem_for
from hvr.knowledge.world_file import find_world
from hvr.worlds.facts.folder import WorldFolder


@pytest.mark.parametrize(
    ("world", "text", "said"),
    [
        ("gripper", "if ball1 isn't in the hall, put it there, or else put it in the study",
         "ball1 lies in hall"),
        ("gripper", "if ball1 isn't in the study, put it there, or else put it in the hall",
         "ball1 lies in hall"),
        ("gripper", "if there are more than four balls in the study, take one of them to the hall",
         "nothing is left to do"),
        ("gripper", "bring ball2 to the hall if ball1 is in the hall or ball3 is in the study",
         "ball2 lies in hall"),
        ("gripper", "only bring ball4 to the hall if ball3 is in the hall",
         "nothing is left to do"),
        ("blocksworld", "check if yellow is clear; if it isn't, clear it", "yellow is clear"),
        ("blocksworld", "in case neither red nor white is clear, put white on the table",
         "nothing is left to do"),
        ("logistics", "is plane1 at airport2? if not, fly it there", "plane1 is at airport2"),
        ("logistics", "is plane1 at airport1? if so, leave it, otherwise fly it there",
         "nothing is left to do"),
        ("laboratory", "if the freezer is open, shut it, else open it", "the freezer is open"),
    ],
)  # fmt: skip
def test_conditions(world: str, text: str, said: str) -> None:
    folder = WorldFolder(find_world(world))
    problem, _ = folder.problem(None)
    posed = problem_for(text, folder.domain, problem, folder.words, folder.ontology)
    assert posed.said == said
