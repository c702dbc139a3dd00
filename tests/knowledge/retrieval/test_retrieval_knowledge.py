"""The ontology's information about a request, and the objects named in a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.context import (
    default_end_states,
    dishes,
    ingredients,
    known_dishes,
    meanings,
    notes,
    preferences,
)
from hvr.knowledge.retrieval.selection import mentioned
from tests.policies.llm.llm_worlds import scene

ONTOLOGY = load_ontology()


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        ("Set the table and serve a vegan meal", ["table setting", "vegan meal"]),
        ("tomato egg toast please", ["tomato egg toast"]),
        ("two fried eggs on toast", ["egg on toast"]),
        ("toast and coffee", ["coffee", "toast"]),
        ("open the fridge", []),
    ],
)
def test_a_request_names_dishes(request_: str, named: list[str]) -> None:
    assert sorted(line.split(":")[0] for line in dishes(request_, ONTOLOGY)) == named


def test_a_dish_is_told_with_its_parts() -> None:
    (line,) = dishes("a vegan dinner", ONTOLOGY)
    for part in ("LettuceSliced", "TomatoSliced", "PotatoSliced (cooked)", "Plate"):
        assert part in line


@pytest.mark.parametrize("dish", ONTOLOGY.instances("Dish"))
def test_every_dish_is_named_by_its_label_and_made_of_something(dish: str) -> None:
    label = ONTOLOGY.label(dish)
    assert any(line.startswith(f"{label}: ") for line in dishes(f"make {label}", ONTOLOGY))
    assert ingredients(f"make {label}", ONTOLOGY)
    assert label in known_dishes(ONTOLOGY)


def test_verbs_and_adjectives_are_told_by_what_they_bring_about() -> None:
    told = meanings("boil the water and put the cold cup on the table", ONTOLOGY)
    assert "boil: hot and stove_heated" in told
    # "Put on" does not mean "switched on" here.
    assert not any(line.startswith("put on") for line in told)


def test_preferences_are_told_where_the_kitchen_has_both() -> None:
    assert "hot drinks come in a mug rather than a cup" in preferences({"Mug", "Cup"}, ONTOLOGY)
    assert preferences({"Mug"}, ONTOLOGY) == ()
    assert "the hand is empty at the end" in default_end_states(ONTOLOGY)


def test_notes_go_to_whom_they_concern() -> None:
    steps = notes(ONTOLOGY, reader="steps", predicates=["near"], classes=["StoveKnob"])
    goal = notes(ONTOLOGY, reader="goal", predicates=["near", "filled"], classes=["StoveKnob"])
    assert any(text.startswith("near:") for text in steps) and len(steps) >= 3
    assert not set(steps) & set(goal) and any("full of water" in text for text in goal)


def test_notes_speak_of_predicates_and_classes_that_there_are() -> None:
    from tests.policies.llm.llm_worlds import domain

    for name in ONTOLOGY.instances("Note"):
        assert ONTOLOGY.annotation(name, "tells")
        for value in ONTOLOGY.annotation(name, "aboutPredicate"):
            assert set(str(value).split()) <= domain().predicates.keys()
        for value in ONTOLOGY.annotation(name, "aboutClass"):
            assert all(map(ONTOLOGY.has_class, str(value).split()))


def test_a_sentence_names_objects_and_kinds() -> None:
    inventory = scene()[1]
    assert mentioned("Put the mug on the coffee machine", inventory) == ("mug", "coffee machine")
    assert mentioned("Put mug-1 into the sink", inventory) == ("mug 1", "sink")
    assert mentioned("Do it", inventory) == ()
    listed = "a washed mug in closed drawers, the apple and a butter knife"
    assert mentioned(listed, inventory) == ("mug", "drawers", "apple", "butter knife")


@pytest.mark.slow
@given(st.text(max_size=60))
@settings(max_examples=25, deadline=None)
def test_whatever_is_asked_something_can_be_told(text: str) -> None:
    for told in (dishes(text, ONTOLOGY), meanings(text, ONTOLOGY), ingredients(text, ONTOLOGY)):
        assert all(told)
    assert all(mentioned(text, scene()[1]))
