"""Paraphrases of goals in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import hvr
from hvr.execution.events import Finished
from hvr.language.goal_builder import Goal, Stage
from hvr.language.paraphrase import in_order, paraphrase, paraphrase_constraints
from hvr.pddl import parse_constraint
from hvr.planning.plans import Judgement, Understanding
from hvr.policies.symbolic import SymbolicPolicy
from hvr.runs.spine import with_reservations
from tests.language.goal_sets import world_of

Understand = Callable[[str, str], Goal]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("make coffee", "the mug contains coffee and is on a counter top"),
        ("heat the potato, then cool it",
             "the potato is hot; then the potato is cold and has been in the cold"),
        ("open the fridge", "the fridge is open"),
        ("put bread in the fridge", "the bread is in the fridge"),
        ("turn on the stove", "a stove burner is on"),
        ("I want warm water in a cup in your hand",
         "the cup is in the hand and contains water and what the cup holds is warm"),
        ("put a slice of toast on a plate on the counter",
         "a bread slice is cooked, has been toasted and is on the plate; "
         "the plate is on a counter top"),
    ],
)  # fmt: skip
def test_sentences_are_said_back(understand: Understand, sentence: str, words: str) -> None:
    assert in_order(understand("1", sentence).paraphrase) == words


STAGES = {
    "(exists (?a ?b - spoon) (and (not (= ?a ?b)) (dirty ?a) (dirty ?b)))":
        "each of 2 spoons is dirty",
    "(exists (?a ?b - cabinet ?p - plate) (and (opened ?a) (in ?p ?b)))":
        "a cabinet is open; the plate is in the same or another cabinet",
    "(forall (?c - cabinet) (not (opened ?c)))": "every cabinet is closed",
    "(and (opened cabinet-1) (opened cabinet-2))": "each of cabinet-1 and cabinet-2 is open",
    "(or (hot potato-1) (cold potato-1))": "either the potato is hot or the potato is cold",
    "(exists (?p - plate) (and (dirty ?p) (not (exists (?c - (either drawer fridge)) "
    "(in ?p ?c)))))":
        "the plate is dirty and is not in any drawer or fridge",
    "(not (exists (?i - item) (in ?i fridge-1)))": "nothing is in the fridge",
    "(imply (opened fridge-1) (cold apple-1))": "if the fridge is open, the apple is cold",
    "(hand_empty)": "the hand is empty",
    "(and)": "nothing is left to do",
}  # fmt: skip


@pytest.mark.parametrize("wanted", STAGES)
def test_formulas_are_said(policy: SymbolicPolicy, wanted: str) -> None:
    reader = policy.reader
    inventory = world_of("FloorPlan1").inventory()
    (words,) = paraphrase([Stage(wanted)], reader.taxonomy, inventory, reader.domain)
    assert words == STAGES[wanted]


def test_constraints_are_said(policy: SymbolicPolicy) -> None:
    reader = policy.reader
    inventory = world_of("FloorPlan1").inventory()
    stage = Stage("(cold apple-1)", constraints=("(always (not (opened microwave-1)))",))
    (words,) = paraphrase([stage], reader.taxonomy, inventory, reader.domain)
    assert words == "the apple is cold; at all times the microwave is closed"


def test_no_pddl_is_left_in_what_is_said(understand: Understand) -> None:
    for sentence in ("make a salad", "fried egg on toast", "do the dishes", "close all cabinets",
                     "make a sandwich", "water the plant", "boil water in a pot"):  # fmt: skip
        words = in_order(understand("1", sentence).paraphrase)
        assert words and not re.search(r"[()?]", words), words


def test_what_was_already_so_and_what_was_not_read_is_no_plain_success(tmp_path: Path) -> None:
    run = hvr.plan("close the fridge", options=hvr.Options(save=tmp_path / "closed"))
    assert run.reached and not run.steps
    assert "already held" in run.verdict and "already held" in run.to_json()["verdict"]
    assert run.to_json()["reading"] == ["the fridge is closed"]


def test_words_that_were_not_read_are_told(policy: SymbolicPolicy) -> None:
    goal = policy.reader.goal("open the fridge", world_of("FloorPlan1").inventory())
    understanding = Understanding(goal.stages, goal.replace(unread=("red", "shiny")))
    done = with_reservations(Judgement(True), understanding, Finished(True, 2, 0))
    assert done.reached and done.reason == "hvr did not read 'red', 'shiny'"
    failed = Judgement(False, "why")
    assert with_reservations(failed, understanding, Finished(False, 0, 0)) is failed


def test_constraints_are_said_once_each(policy: SymbolicPolicy) -> None:
    reader = policy.reader
    inventory = world_of("FloorPlan1").inventory()
    text = "(always (forall (?x - microwave) (not (toggled ?x))))"
    constraint = parse_constraint(text, reader.domain, [])
    told = paraphrase_constraints([constraint, constraint], reader.taxonomy, inventory)
    assert told == "at all times the microwave is off"
