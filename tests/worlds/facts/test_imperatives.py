"""The imperatives of a world's actions, and 'bring … to …', are requests."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import pytest

from hvr.errors import LanguageError
from hvr.execution.facts.sentences import RequestedProblem, problem_for
from hvr.knowledge.world_file import find_world
from hvr.pddl import parse_domain, parse_problem
from hvr.worlds.facts.folder import WorldFolder
from hvr.worlds.facts.lexicon import lexicon_for


@cache
def folder(world: str) -> WorldFolder:
    return WorldFolder(find_world(world))


def asked(world: str, text: str) -> RequestedProblem:
    place = folder(world)
    problem, _ = place.problem(None)
    return problem_for(text, place.domain, problem, place.words, place.ontology)


FORMS = ("put {0} on {1}", "put the {0} block on top of the {1} block", "stack {0} on {1}, please",
         "could you move {0} onto {1}", "i want {0} on {1}", "{0} should be on {1}")  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_blocks_are_put_on_each_other(form: str) -> None:
    for one, other in permutations(("red", "green", "blue", "yellow", "white"), 2):
        assert asked("blocksworld", form.format(one, other)).said == f"{one} is on {other}"


@pytest.mark.parametrize("form", ["bring {0} to the {1}", "deliver {0} to {1}, please",
                                  "take {0} from the market to the {1}"])  # fmt: skip
def test_parcels_are_brought_to_places(form: str) -> None:
    for parcel in ("parcel1", "parcel 2"):
        for place in ("harbour", "depot", "airport1"):
            said = f"{parcel.replace(' ', '')} is at {place}"
            assert asked("logistics", form.format(parcel, place)).said == said


@pytest.mark.parametrize(
    ("world", "text", "said"),
    [
        ("blocksworld", "pick red up", "red is in the hand"),
        ("blocksworld", "pick up white", "white is in the hand"),
        ("blocksworld", "take white off yellow", "white is not on yellow"),
        ("blocksworld", "put white and green on the table",
         "white is on the table and green is on the table"),
        ("blocksworld", "pick white up and put it on green",
         "white is in the hand; then white is on green"),
        ("blocksworld", "put red on green, then blue on red",
         "red is on green; then red is on green and blue is on red"),
        ("logistics", "load parcel2 into truck1 at the depot", "parcel2 is in truck1"),
        ("logistics", "drive truck1 to the harbour", "truck1 is at harbour"),
        ("logistics", "drive truck1 to the harbour, then to the depot", None),
        ("logistics", "fly plane1 to airport2", "plane1 is at airport2"),
        ("logistics", "deliver both parcels to the depot", "every parcel is at depot"),
    ],
)  # fmt: skip
def test_orders_ask_for_effects(world: str, text: str, said: str | None) -> None:
    if said is None:
        with pytest.raises(LanguageError):
            asked(world, text)
    else:
        assert asked(world, text).said == said


@pytest.mark.parametrize(
    ("world", "text", "why"),
    [
        ("blocksworld", "put violet on green", "understood: green; unknown word 'violet'"),
        ("blocksworld", "put red on red", "cannot be put on or in itself"),
        ("blocksworld", "put red", "it can read for example 'put BLOCK down'"),
        ("logistics", "drive parcel1 to the depot", "hvr does not understand"),
        ("logistics", "fly truck1 to airport2", "hvr does not understand"),
        ("logistics", "load parcel9 into truck1", "unknown word 'parcel9'"),
    ],
)
def test_refusals_are_short_and_name_the_words(world: str, text: str, why: str) -> None:
    with pytest.raises(LanguageError, match=why) as refused:
        asked(world, text)
    assert len(str(refused.value).split()) < 40


def test_a_domain_without_words_has_imperatives() -> None:
    domain = parse_domain(
        "(define (domain lamps) (:requirements :strips) (:predicates (lit ?l) (dark ?l))"
        " (:action light-up :parameters (?l) :precondition (dark ?l)"
        " :effect (and (lit ?l) (not (dark ?l)))))"
    )
    problem = parse_problem(
        "(define (problem p) (:domain lamps) (:objects red green) (:init (dark red))"
        " (:goal (lit green)))",
        domain,
    )
    words = lexicon_for(domain)
    assert problem_for("light up red, please", domain, problem, words).said == "red is lit"
