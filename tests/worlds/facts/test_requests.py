"""Requests in other worlds: their own verbs, tools and places, the same grammar."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from hvr.base.files import data_path
from hvr.errors import HvrError, ImpossibleGoalError, LanguageError
from hvr.execution.facts.grammar import RequestedProblem
from hvr.execution.facts.planning import StatePlanner
from hvr.execution.facts.sentences import problem_for
from hvr.knowledge.ontology import ROLES, load_ontology, ontology_of, roles_of
from hvr.knowledge.world_file import find_world
from hvr.pddl import Task
from hvr.validation import Validator
from hvr.worlds.facts.folder import WorldFolder

ROOT = Path(__file__).parents[3]
LABORATORY = ROOT / "worlds" / "laboratory"


def asked(text: str, folder: Path = LABORATORY) -> RequestedProblem:
    world = WorldFolder(find_world(str(folder)))
    problem, _ = world.problem("morning.pddl")
    return problem_for(text, world.domain, problem, world.words, world.ontology)


def planned(posed: RequestedProblem) -> list[str]:
    """Return a plan that hvr's validator accepts."""
    plan = StatePlanner(seconds=20).plan(Task(posed.domain, posed.problem)).plan
    steps = [step for block in plan.blocks for step in block.actions]
    assert Validator(posed.domain, posed.problem).check(steps).valid
    return list(map(str, steps))


@pytest.mark.parametrize(
    ("sentence", "said", "steps"),
    [
        # An adjective selects an object, and a participle requires a state.
        ("put the frozen tube in rack2", "spare is frozen and is in rack2", 3),
        ("put the frozen tube in the rack", "spare is frozen and is in a rack", 3),
        ("freeze two tubes", "each of blood and urine is frozen", 6),
        ("spin blood in the centrifuge", "blood has been spun", 4),
        ("put a spun vial on the bench", "a tube has been spun and is on the bench", 7),
        ("open the freezer", "the freezer is open", 1),
        ("open the freezer, then close it", "the freezer is open; then the freezer is shut", 2),
        ("take saline", "the flask is in the gripper", 1),
        ("freeze urine and put it in rack 2", "urine is frozen and is in rack2", 7),
        ("all tubes should be frozen", "every tube is frozen", 6),
        ("do not open the freezer and spin a tube",
         "a tube has been spun; at all times the freezer is shut", 4),
    ],
)  # fmt: skip
def test_requests_are_read_and_planned(sentence, said, steps):
    posed = asked(sentence)
    assert posed.said == said
    assert len(planned(posed)) == steps


def test_the_order_of_what_is_asked_is_kept():
    steps = planned(asked("freeze blood, then spin it"))
    frozen, spun = (next(i for i, s in enumerate(steps) if s.startswith(f"({verb} "))
                    for verb in ("freeze", "spin"))  # fmt: skip
    assert frozen < spun


def test_simple_sentences_and_pddl_are_read_as_before():
    assert asked("blood is in rack2").said == "blood is in rack2"
    assert asked("(frozen urine)").said == "urine is frozen"


@pytest.mark.parametrize(
    ("sentence", "error", "why"),
    [
        ("freeze the rack", ImpossibleGoalError, "lacks the affordance Sample"),
        ("put the pen in the freezer", ImpossibleGoalError, "can be put on or in: bench"),
        ("make coffee", LanguageError, "not name a known"),
        ("wash the tube", LanguageError, "unknown word: 'wash'"),
        ("slice the tube", LanguageError, "of what"),
        ("fill the flask", LanguageError, "unknown word: 'fill'"),
        ("freeze four tubes", ImpossibleGoalError, "has only 3 tubes"),
        ("put blood in blood", LanguageError, "'blood' cannot be put in itself"),
    ],
)
def test_what_this_world_lacks_is_refused_in_its_own_words(sentence, error, why):
    with pytest.raises(error) as refused:
        asked(sentence)
    assert why in str(refused.value)
    # The examples of refusals are specific to the kitchen.
    assert not re.search(r"mug|cup|bread|counter|microwave", str(refused.value))


def test_without_verbs_only_simple_sentences_are_read(tmp_path):
    shutil.copytree(LABORATORY, tmp_path / "lab")
    words = tmp_path / "lab" / "words.ttl"
    words.write_text(re.sub(r"(?m)^k:verb\w+ a k:Verb .*?\.$", "", words.read_text(), flags=re.S))
    assert asked("blood is in rack2", tmp_path / "lab").said == "blood is in rack2"
    with pytest.raises(LanguageError, match="hvr does not understand 'freeze two tubes'"):
        asked("freeze two tubes", tmp_path / "lab")


def test_a_role_that_is_not_played_is_a_piece_of_grammar_less(tmp_path):
    shutil.copytree(LABORATORY, tmp_path / "lab")
    words = tmp_path / "lab" / "words.ttl"
    assert asked("do not use the freezer and spin a tube", tmp_path / "lab").problem.constraints
    # Without a state of the role "open", nothing shows that a freezer is in use.
    words.write_text(words.read_text().replace('k:role "open" ;', ""))
    with pytest.raises(HvrError):
        planned(asked("do not use the freezer and freeze a tube", tmp_path / "lab"))
    assert asked("freeze two tubes", tmp_path / "lab").said


def test_every_role_that_an_ontology_gives_is_known_and_described():
    page = (ROOT / "docs" / "reference" / "language.md").read_text(encoding="utf-8")
    worlds = [ontology_of([file]) for file in sorted((ROOT / "worlds").glob("*/*.ttl"))]
    for ontology in (load_ontology(data_path("ontology")), *worlds):
        given = {role for _, role in ontology.pairs("role")}
        assert given <= ROLES
        assert all(roles_of(ontology).players(role) for role in given)
    assert all(f"`{role}`" in page for role in ROLES)
