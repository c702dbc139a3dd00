"""Goals written by a model: accepted forms, rejections, and the resulting PDDL."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.knowledge.ontology import load_ontology
from hvr.language.taxonomy import Taxonomy
from hvr.models.replies import find_json
from hvr.pddl import TypedName, parse_constraint, parse_formula
from hvr.policies.goal.answer import SCHEMA, GoalVocabulary, parse_goal_answer
from hvr.policies.goal.checking import CheckedGoal, check_goal, constraints, stage_conditions
from tests.extras import needs
from tests.policies.llm.llm_worlds import domain, scene

needs("jsonschema")


@cache
def words() -> GoalVocabulary:
    """The vocabulary of FloorPlan16."""
    return GoalVocabulary(Taxonomy(load_ontology()), scene()[1], domain())


def literal(text: str) -> dict[str, Any]:
    """Return a literal as JSON: "in a Bowl", "not opened Fridge"."""
    holds = not text.startswith("not ")
    predicate, *args = text.removeprefix("not ").split()
    return {"predicate": predicate, "args": args, "holds": holds}


def checked(
    *stages: Sequence[str],
    things: Sequence[Mapping[str, Any]] = (),
    always: Sequence[str] = (),
    **more: Any,
) -> CheckedGoal:
    """Return a checked goal."""
    data = {
        "things": list(things),
        "stages": [[literal(text) for text in stage] for stage in stages],
        "always": [literal(text) for text in always],
        **more,
    }
    return check_goal(parse_goal_answer(find_json(json.dumps(data), SCHEMA)), words())


def thing(name: str, *kinds: str, every: bool = False, where: Sequence[str] = ()) -> dict[str, Any]:
    """Return an object description as JSON."""
    described = {"where": [literal(text) for text in where]} if where else {}
    return {"name": name, "kinds": list(kinds), "every": every, **described}


def conditions(goal: CheckedGoal) -> tuple[str, ...]:
    """Return the stages as PDDL that parses."""
    assert goal.problems == ()
    graph, inventory = scene()
    texts = stage_conditions(goal, words().taxonomy, inventory)
    objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
    for text in texts:
        parse_formula(text, domain(), objects)
    return texts


# Rejections ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        (["hott Potato"], "there is no predicate 'hott': did you mean 'hot'?"),
        (["closed Fridge"], "write 'opened' with \"holds\": false"),
        (["surface Plate"], "never changes"),
        (["on Mug"], "expected (on ?o ?r), found "),
        (["contains Mug Plate"], "'Plate' is no liquid; argument 2 is water or coffee or wine"),
        (["hot coffee"], "'coffee' is a liquid"),
        (["on Kettle CounterTop"], "FloorPlan16 has no kettle"),
        (["on Mugg CounterTop"], "did you mean 'Mug'?"),
        (["cooked Plate"], "a plate lacks the affordance Cookable; these have it: BreadSliced"),
        (["cooked Egg"], "an egg lacks the affordance Cookable"),
        (["opened Mug"], "a mug lacks the affordance Openable"),
        (["on Fridge CounterTop"], "a fridge lacks the affordance Pickupable"),
        (["in Pan Toaster"], "a pan cannot be put on or in Toaster; it can be put on or in:"),
        ([], "the goal has no condition"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_do(stage: Sequence[str], said: str) -> None:
    problems = checked(stage).problems
    assert len(problems) == 1 and said in problems[0]


def test_every_problem_of_an_answer_is_said_at_once() -> None:
    assert len(checked(["hott Potato", "on Mug", "on Kettle CounterTop"]).problems) == 3


def test_what_is_described_has_to_be_there() -> None:
    goal = checked(["on m CounterTop"], things=[thing("m", "Mug", where=["in m Fridge"])])
    assert goal.problems == ("no Mug here meets (in m Fridge) now",)


def test_all_of_a_kind_must_be_able() -> None:
    goal = checked(["cooked all"], things=[thing("all", "Potato", "Plate", every=True)])
    assert "a plate lacks the affordance Cookable" in goal.problems[0]


# PDDL ---------------------------------------------------------------------------------------------


def test_a_kind_stands_for_one_thing_of_it() -> None:
    (text,) = conditions(checked(["contains Mug coffee", "on Mug DiningTable"]))
    assert text.startswith("(exists (?x1 - mug ?x") and text.count("- mug") == 1


def test_two_names_are_two_things() -> None:
    goal = checked(
        ["on a Plate", "on b Plate"], things=[thing("a", "BreadSliced"), thing("b", "BreadSliced")]
    )
    (text,) = conditions(goal)
    assert "(not (= ?x1 ?x2))" in text


def test_a_declared_thing_is_meant_by_its_kind() -> None:
    (text,) = conditions(checked(["washed m", "on Mug CounterTop"], things=[thing("m", "Mug")]))
    assert text.count("- mug") == 1


def test_a_place_takes_its_own_preposition_and_the_basin_of_a_sink() -> None:
    (text,) = conditions(checked(["on Mug Sink"]))
    assert "- sinkbasin)" in text and "(in ?x1 ?x2)" in text


def test_of_a_group_what_can_be_so_is_meant() -> None:
    (text,) = conditions(checked(["cooked f"], things=[thing("f", "Food")]))
    assert "potato" in text and "apple" not in text


def test_every_thing_that_is_described_is_named() -> None:
    described = thing("all", "Knife", "Fork", every=True, where=["on all CounterTop"])
    (text,) = conditions(checked(["on all DiningTable"], things=[described]))
    inventory = scene()[1]
    meant = [n for n in (*inventory.of("Knife"), *inventory.of("Fork"))
             if inventory.parents.get(n) in inventory.of("CounterTop")]  # fmt: skip
    assert len(meant) > 1 and all(f"(on {name} " in text for name in meant)


@pytest.mark.parametrize(("place_first", "places"), [(True, 1), (False, 2)])
def test_the_order_of_things_says_whether_a_place_is_one_for_all(
    place_first: bool, places: int
) -> None:
    things = [thing("c", "Cabinet"), thing("all", "Mug", "Cup", every=True)]
    goal = checked(["in all c"], things=things if place_first else things[::-1])
    (text,) = conditions(goal)
    assert text.count("exists") == places


def test_stages_speak_of_the_same_thing() -> None:
    stages = conditions(checked(["washed Mug"], ["contains Mug coffee"]))
    assert stages == ("(washed mug-1)", "(contains mug-1 coffee)")


def kept(goal: CheckedGoal) -> tuple[str, ...]:
    """Return the constraints as PDDL that parses."""
    assert goal.problems == ()
    graph, inventory = scene()
    texts = constraints(goal, words().taxonomy, inventory)
    objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
    for text in texts:
        parse_constraint(text, domain(), objects)
    return texts


def test_what_shall_hold_on_the_way_is_a_constraint() -> None:
    done = ["on Mug CounterTop"]
    (never,) = kept(checked(done, always=["not opened Cabinet"]))
    assert never == "(always (forall (?x3 - cabinet) (not (opened ?x3))))"
    (named,) = kept(checked(done, always=["not opened cabinet-2"]))
    assert named == "(always (not (opened cabinet-2)))"
    (once,) = kept(checked(done, once=[literal("opened Fridge")]))
    assert once == "(forall (?x3 - fridge) (at-most-once (opened ?x3)))"
    (two,) = kept(checked(done, never_two=["opened"]))
    assert "(not (= ?a ?b)) (opened ?a) (opened ?b)" in two


@pytest.mark.parametrize(("apart", "different"), [(True, 1), (False, 0)])
def test_places_may_be_one_unless_they_are_to_be_apart(apart: bool, different: int) -> None:
    places = [{**thing(name, "Cabinet"), "apart": apart} for name in ("c", "d")]
    (text,) = conditions(checked(["in Mug c", "in Cup d"], things=places))
    assert text.count("(not (= ") == different


# Laws ---------------------------------------------------------------------------------------------

NAMES = ["m", "x", "Mug", "Potato", "Plate", "CounterTop", "Fridge", "Food", "mug-1", "coffee",
         "Toaster", "nothing", "", "?x", "AppleSliced", "SinkBasin"]  # fmt: skip
literals = st.builds(
    lambda p, args, holds: {"predicate": p, "args": args, "holds": holds},
    st.sampled_from(["on", "in", "hot", "opened", "contains", "sliced", "holding", "fly", ""]),
    st.lists(st.sampled_from(NAMES), max_size=3),
    st.booleans(),
)
answers = st.fixed_dictionaries(
    {"stages": st.lists(st.lists(literals, max_size=3), max_size=2)},
    optional={
        "things": st.lists(
            st.builds(
                lambda name, kinds, every, where: {
                    "name": name, "kinds": kinds, "every": every, "where": where
                },
                st.sampled_from(["m", "x", "all"]),
                st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
                st.booleans(),
                st.lists(literals, max_size=1),
            ),
            max_size=2,
        ),
        "always": st.lists(literals, max_size=1),
        "once": st.lists(literals, max_size=1),
        "never_two": st.lists(st.sampled_from(["opened", "on", "fly"]), max_size=1),
    },
)  # fmt: skip


@pytest.mark.slow
@given(answers)
@settings(max_examples=80, deadline=None)
def test_whatever_is_written_is_sent_back_or_is_a_condition_of_the_kitchen(
    answer: dict[str, Any],
) -> None:
    goal = check_goal(parse_goal_answer(answer), words())
    if goal.problems:
        assert all(problem.strip() for problem in goal.problems)
        return
    assert conditions(goal)
    kept(goal)


def test_things_that_have_nothing_to_do_with_each_other_are_apart_in_the_formula() -> None:
    """One quantifier over all objects would have too many instances."""
    (text,) = conditions(checked(["washed Mug", "in Mug c", "cooked Potato", "on Potato Plate"],
                                 things=[thing("c", "Cabinet")]))  # fmt: skip
    assert text.startswith("(and (exists (") and text.count("(exists (") == 2
