"""Asides change no request and are reported; requested actions never count as asides."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hvr.errors import AmbiguousError, HvrError, ImpossibleGoalError, LanguageError
from hvr.knowledge.world_file import load_world, world_of_scene
from hvr.language.goal_builder import Goal
from hvr.language.grammar import Reader
from tests.language.goal_sets import world_of

REQUESTS = (
    "wash the mug",
    "put the apple in the fridge",
    "slice the tomato and put a slice on the plate",
    "make coffee",
)
BEFORE = (
    "after a long day, ",
    "i am late. ",
    "for freshness, ",
    "planning a picnic? ",
    "when you're comfortable, ",
    "although there's a bowl on the shelf, ",
    "as you clear the table, ",
    "on the shelf, there's a bowl, but ",
    "when finished cooking, ",
    "since i am ill, ",
)
AFTER = (
    ", i am late",
    " because i am late",
    ". it's a lovely one",
    ", my friends are coming",
    ". that way, everything will be perfectly in place",
    ", making the clean-up straightforward",
    " before my meeting at nine",
)
COURTESIES = ("hello there, ", "could you please ", "hey robot, ", "")


@cache
def reader() -> Reader:
    world = load_world(world_of_scene("FloorPlan1").name)
    return Reader(world.scene_ontology, world.agent.domain())


def read(text: str) -> Goal:
    return reader().goal(text, world_of("FloorPlan1").inventory())


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(REQUESTS),
    st.sampled_from((*BEFORE, "")),
    st.sampled_from((*AFTER, "")),
    st.sampled_from(COURTESIES),
)
def test_chat_is_left_out_and_named(request: str, before: str, after: str, hello: str) -> None:
    assume(not (hello and before.endswith("but ")))
    goal = read(f"{before}{hello}{request}{after}")
    assert goal.stages == read(request).stages
    for aside in (before, after):
        plain = aside.strip(" ,.?").replace("-", " ").split(",")[0]
        plain = plain.replace("it's", "it is").replace("there's", "there is")
        assert not plain or any(plain in phrase for phrase in goal.unread)


@pytest.mark.parametrize(
    "text",
    [
        "wash the mug, defenestrate it",
        "wash the mug and dance",
        "after polishing the mug, put it in the cabinet",
        "put the mug in the sink, the frobnicator and the plate",
        "on the frobnicator, put the mug",
        "wash the mug with bleach",
        "for two people, slice the mug",
    ],
)
def test_actions_and_things_are_no_chat(text: str) -> None:
    with pytest.raises(HvrError):
        read(text)


THINGS = ("mug", "cup", "plate", "bowl", "fork")


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(
    st.sampled_from(THINGS),
    st.sampled_from(THINGS),
    st.sampled_from(["no wait", "sorry, i mean", "i mean", "no,", "or rather"]),
)
def test_a_correction_replaces_the_thing(one: str, other: str, words: str) -> None:
    assert read(f"wash the {one}, {words} the {other}").stages == read(f"wash the {other}").stages


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("if both fridges are clean, wash the mug", "There is only the fridge here"),
        ("make the mug blue", "hvr ignores 'blue'"),
        ("when it boils, wash the mug", "boil"),
        ("sing a song", "does not name a known thing"),
    ],
)
def test_what_is_presupposed_or_ignored_is_said(text: str, why: str) -> None:
    with pytest.raises(LanguageError, match=why):
        read(text)


def test_it_is_asked_what_a_correction_replaces() -> None:
    with pytest.raises(LanguageError, match="it is not clear what 'the cup' replaces"):
        read("put the mug in the sink, no wait, the cup")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("swap the mug and the plate", "the mug is in cabinet-3; the plate is on countertop-3"),
        ("put the mug in the fridge, then the cup",
         "the mug is in the fridge; then the mug is in the fridge; the cup is in the fridge"),
        ("wash the mug, but the tomato first",
         "the tomato has been washed and is clean; then the tomato has been washed and is clean; "
         "the mug has been washed and is clean"),
        ("switch the microwave on and leave it running with the mug inside",
         "the microwave is on; the mug is in the microwave"),
        ("give the plate a good rinse", "the plate has been washed and is clean"),
        ("hand the knife to me", "the knife is in the hand"),
        ("no need to wash the mug, just the plate", "the plate has been washed and is clean"),
        ("bring me something to cut with", "the knife is in the hand"),
        ("put half of the vases in the cabinet", "vase-1 is in a cabinet"),
        ("putting the mug in the fridge helps us find it", "the mug is in the fridge"),
        ("wash the crisp red fruit", "the apple has been washed and is clean"),
        ("put the leafy vegetable in a place that keeps food cold", "the lettuce is in the fridge"),
        ("switch the microwave on while holding the knife",
         "the knife is in the hand; then the microwave is on; the knife is in the hand; "
         "before the knife is not in the hand, the microwave is on"),
        ("if the mug or the cup is dirty, wash the plate", "nothing is left to do"),
        ("if the fridge is open, wash the mug. never open the microwave.", "nothing is left to do"),
    ],
)  # fmt: skip
def test_what_people_say(text: str, said: str) -> None:
    assert "; then ".join(read(text).paraphrase) == said


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("wash the mug without water", LanguageError, "hvr cannot leave out 'water'"),
        ("slice the bread with a spoon", LanguageError, "cannot slice anything with 'spoon'"),
        ("put the mug on top of the microwave", LanguageError, "only be in it"),
        ("swap the apple and the tomato", ImpossibleGoalError, "both are at countertop-2"),
        ("slice half of the apples", ImpossibleGoalError, "not a whole number"),
        ("get me something to drink", AmbiguousError, "contains coffee"),
        ("the plate is dirty", AmbiguousError, "did you mean: the plate has been washed"),
        ("lave la tasse", LanguageError, "French or Italian or Spanish"),
        ("мой кружку", LanguageError, "Cyrillic"),
        ("make the apple clean and dirty", LanguageError, "both clean and dirty"),
    ],
)
def test_what_is_asked_or_refused(text: str, error: type[HvrError], why: str) -> None:
    with pytest.raises(error, match=why):
        read(text)


def test_large_sets_are_reached_in_stages() -> None:
    stages = read("put everything on the counter").stages
    assert len(stages) > 2
    words = [set(stage.wanted.split()) for stage in stages]
    assert all(one <= more for one, more in pairwise(words))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the tomato is too warm", "the tomato is cold"),
        ("somebody left the fridge open", "the fridge is closed"),
        ("the knife isn't clean", "the knife has been washed"),
        ("this bread is getting stale", "the bread is in the garbage can"),
        ("the pan needs a good scrub", "the pan has been washed"),
        ("why is the coffee machine still on?", "the coffee machine is off"),
        ("turn of the coffee machine", "the coffee machine is off"),
        ("pit the lettuce in the sink", "the lettuce is in the sink basin"),
    ],
)
def test_complaints_and_likely_mistakes_are_asked_about(text: str, said: str) -> None:
    with pytest.raises(AmbiguousError, match=f"did you mean: {said}"):
        read(text)
