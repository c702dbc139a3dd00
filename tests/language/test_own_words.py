"""A paraphrase that is typed back is read as the goal that it describes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvr.errors import HvrError
from hvr.execution.world import open_world
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.world_file import load_world
from hvr.language.goal_builder import Goal, Stage
from hvr.language.grammar import Reader
from hvr.language.own_words import OwnWords
from hvr.language.paraphrase import in_order, paraphrase
from hvr.worlds.kitchen import Kitchen
from tests.language.own_words import alike

SCENES = {
    "FloorPlan1": "kitchen",
    "FloorPlan16": "kitchen",
    "FloorPlan201": "home",
    "FloorPlan401": "home",
}
SENTENCES = Path(__file__).parents[2] / "benchmarks"


@lru_cache(maxsize=8)
def scene(name: str) -> tuple[Reader, Inventory]:
    world = load_world(SCENES[name])
    return Reader(world.scene_ontology, world.agent.domain()), open_world(Kitchen(name)).inventory()


@pytest.mark.parametrize(
    "sentence",
    [
        "make coffee",
        "close all cabinets",
        "make a sandwich",
        "boil water in a pot",
        "put the fork, knife and spoon in separate drawers",
        "wash the mug or slice the apple",
        "heat the potato, then cool it",
        "wash the mug without the sponge",
        "never have two drawers open and put the knife in the sink",
    ],
)
def test_a_paraphrase_is_read_as_its_goal(sentence: str) -> None:
    reader, inventory = scene("FloorPlan1")
    goal = reader.goal(sentence, inventory)
    again = reader.goal(in_order(goal.paraphrase), inventory)
    assert alike(goal, again, reader, inventory)


def test_each_choice_of_a_question_is_read_as_its_goal() -> None:
    reader, inventory = scene("FloorPlan1")
    goals = reader.goals("wash the mug and the plate or the cup", inventory)
    assert len(goals) > 1
    for goal in goals:
        (again,) = reader.goals(in_order(goal.paraphrase), inventory)
        assert alike(goal, again, reader, inventory)


@pytest.mark.parametrize("text", ["the mug is dirty", "a mug is on the table.", "the mug"])
def test_descriptions_are_no_paraphrases(text: str) -> None:
    """hvr never asks for dirt, and the grammar reads the sentences that people write."""
    reader, inventory = scene("FloorPlan1")
    own = OwnWords(reader.taxonomy, inventory, reader.domain).goal(text)
    assert own is None or in_order(own.paraphrase).lower() == text.rstrip(".")


def test_a_paraphrase_whose_names_can_mean_several_things_is_read() -> None:
    reader, inventory = scene("FloorPlan401")
    text = (
        "the spray bottle has been washed; the spray bottle is in the floor; "
        "the dish sponge has been washed and is in the floor; the paper towel roll is in the floor"
    )
    assert OwnWords(reader.taxonomy, inventory, reader.domain).goal(text) is not None


def test_things_that_are_counted_together_are_counted_once() -> None:
    reader, inventory = scene("FloorPlan1")
    stage = Stage(
        "(exists (?a ?b ?c - apple) (and (washed ?a) (washed ?b) (washed ?c) "
        "(not (= ?c ?a)) (not (= ?c ?b))))"
    )
    (said,) = paraphrase([stage], reader.taxonomy, inventory, reader.domain)
    assert said.endswith("is not the same as the third apple")
    assert OwnWords(reader.taxonomy, inventory, reader.domain).goal(said) is not None


@st.composite
def goals(draw: st.DrawFn) -> tuple[str, str]:
    """A scene and a conjunction of literals over objects and variables."""
    name = draw(st.sampled_from(sorted(SCENES)))
    reader, inventory = scene(name)
    kinds = {n: reader.taxonomy.pddl_type(c) for n, c in inventory.classes.items()}
    portable = sorted(n for n in kinds if inventory.true("pickupable", n))
    places = sorted(set(inventory.parents.values()) - set(portable))
    variables = {
        f"?v{i}": draw(st.sampled_from(sorted({kinds[n] for n in portable})))
        for i in range(draw(st.integers(0, 3)))
    }
    things = [*variables, *draw(st.lists(st.sampled_from(portable), min_size=1, max_size=3))]
    parts = []
    more = [draw(st.sampled_from(things)) for _ in range(draw(st.integers(1, 4)))]
    for thing in draw(st.permutations([*variables, *more])):
        parts.append(
            draw(
                st.sampled_from(
                    [
                        f"(washed {thing})",
                        f"(not (dirty {thing}))",
                        f"(hot {thing})",
                        f"(in {thing} {draw(st.sampled_from(places))})",
                        f"(exists (?p - drawer) (in {thing} ?p))",
                        f"(not (exists (?q - (either cabinet drawer)) (in {thing} ?q)))",
                    ]
                )
            )
        )
    names = list(variables)
    for i, one in enumerate(names):
        for other in names[:i]:
            if variables[one] == variables[other] and draw(st.booleans()):
                parts.append(f"(not (= {one} {other}))")
    declared = " ".join(f"{n} - {kind}" for n, kind in variables.items())
    body = f"(and {' '.join(parts)})"
    return name, f"(exists ({declared}) {body})" if declared else body


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(goals())
def test_any_goal_survives_its_paraphrase(drawn: tuple[str, str]) -> None:
    name, wanted = drawn
    reader, inventory = scene(name)
    try:
        said = paraphrase([Stage(wanted)], reader.taxonomy, inventory, reader.domain)
    except HvrError:
        return  # the predicate does not apply to the type
    own = OwnWords(reader.taxonomy, inventory, reader.domain).goal(in_order(said))
    assert own is not None, said
    original = Goal((Stage(wanted, own.stages[0].ends),), paraphrase=said)
    assert alike(original, own, reader, inventory), said


@pytest.mark.slow
@pytest.mark.parametrize("file", ["sentences.txt", "sentences_home.txt"])
def test_paraphrases_of_many_sentences_are_read_as_their_goals(file: str) -> None:
    wrong = []
    lines = (SENTENCES / file).read_text(encoding="utf-8").splitlines()
    for line in lines[::6]:
        name, _, text = (part.strip() for part in line.partition("|"))
        if name not in SCENES or text.startswith("!"):
            continue
        reader, inventory = scene(name)
        try:
            found = reader.goals(text, inventory)
        except HvrError:
            continue
        for goal in found:
            again = OwnWords(reader.taxonomy, inventory, reader.domain)
            read = again.goal(in_order(goal.paraphrase))
            if read is None or not alike(goal, read, reader, inventory):
                wrong.append((text, goal.paraphrase))
    assert not wrong


@pytest.mark.slow
def test_a_text_with_many_ways_to_split_it_is_given_up() -> None:
    reader, inventory = scene("FloorPlan1")
    text = "either " + " or ".join(["a mug is clean and a cup is clean"] * 30) + " zzz"
    words = OwnWords(reader.taxonomy, inventory, reader.domain)
    assert words.goal(text) is None
