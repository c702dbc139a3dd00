"""Words around a wish change nothing; denied, past and reported wishes are not carried out."""

from __future__ import annotations

from functools import cache

import pytest

from hvr.errors import AmbiguousError, HvrError, LanguageError
from hvr.execution.world import open_world
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.world_file import load_world, world_of_scene
from hvr.language.goal_builder import Goal
from hvr.language.grammar import Reader
from hvr.worlds.kitchen import Kitchen
from tests.language.test_asides import read

AROUND = (
    "would it be too much trouble to {}",
    "i was wondering whether you'd mind {ing}",
    "i'd be ever so grateful if you {ed}",
    "my back is killing me, so {}",
    "the kids will be home any minute so {}",
    "for the photo shoot i want you to {}",
    "you know what would be great? {}",
    "if you've got a sec, {}, ta",
    "what about {ing}",
    "{} before my sister arrives",
    "{} or else i'll be cross",
    "{} - no hurry though",
    "do me a solid and {}",
    "i can't face it tonight. {}?",
    "{} like the good robot you are",
    "it's about time you {ed}",
    "i'm begging you to {}",
    "do you reckon you could {}",
    "how would you feel about {ing}",
    "we don't want a fire, {}",
    "not to be rude but {}",
    "while tidying up for the party, {}. it keeps things neat and pleasant",
    "even though the pantry is open, {}",
    "to prepare for the holidays, {}, ready for a fresh start",
    "after a long day of meetings, {}. its shine cheers everybody up",
    "instead of standing around, {}",
)


@pytest.mark.parametrize("words", AROUND)
def test_words_around_a_wish_change_nothing(words: str) -> None:
    text = words.replace("{ing}", "washing the mug").replace("{ed}", "washed the mug")
    assert read(text.replace("{}", "wash the mug")).stages == read("wash the mug").stages


@pytest.mark.parametrize(
    "text",
    [
        "i was going to slice the apple but i'm full",
        "he already sliced the apple",
        "i'm glad you sliced the apple",
        "you should never slice the apple",
        "if i had asked you to slice the apple you would have",
        "could you show me how to slice the apple",
        "have you sliced the apple",
        "why would anyone slice the apple",
        "the last thing i want is for you to slice the apple",
        "slice the apple if my wife agrees",
        "after the guests leave, slice the apple",
        "when boiling, slice the apple",
        "after slicing the bread and serving it to the guests, slice the apple",
        "tomorrow, slice the apple",
        "slice the apple with a hammer",
        "feed the cat and slice the apple",
        "would you mind not slicing the apple",
        "i see you slice the apple",
        "you used to slice the apple",
        "slice the apple in an hour",
        "how would you feel if i sliced the apple",
    ],
)
def test_other_sentences_about_a_wish_are_refused(text: str) -> None:
    with pytest.raises(LanguageError):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "my wife told me to tell you to slice the apple",
        'he said "slice the apple"',
        "slice the apple, just kidding",
        "robots slice the apple",
    ],
)
def test_doubtful_wishes_are_asked_about(text: str) -> None:
    with pytest.raises(AmbiguousError, match="did you mean: the apple is sliced"):
        read(text)


@cache
def place_of(scene: str) -> tuple[Reader, Inventory]:
    world = load_world(world_of_scene(scene).name)
    ontology = world.scene_ontology
    inventory = open_world(Kitchen(scene), ontology=ontology).inventory()
    return Reader(ontology, world.agent.domain()), inventory


def read_in(scene: str, text: str) -> Goal:
    reader, inventory = place_of(scene)
    return reader.goal(text, inventory)


SAME = (
    ("FloorPlan1", "mrs miller needs a mug of water", "i want a mug of water"),
    ("FloorPlan1", "she'd like a slice of bread", "i want a slice of bread"),
    (
        "FloorPlan1",
        "knives don't belong here, put the knife in the sink",
        "put the knife in the sink",
    ),
    ("FloorPlan1", "the baby's asleep, so close the fridge", "close the fridge"),
    ("FloorPlan1", "wash the mug, young man", "wash the mug"),
    ("FloorPlan1", "wash the mug, thank you ever so much", "wash the mug"),
    ("FloorPlan1", "wash the mug brb", "wash the mug"),
    (
        "FloorPlan1",
        "after you've washed the mug, slice the tomato",
        "after washing the mug, slice the tomato",
    ),
    ("FloorPlan1", "take the pan and put on the stove", "put the pan on the stove"),
    (
        "FloorPlan1",
        "the cup is in the cabinet, take it and put on the counter",
        "put the cup on the counter",
    ),
    ("FloorPlan1", "let the tomato cool", "cool the tomato"),
    ("FloorPlan1", "bring the water to the boil", "boil the water"),
    ("FloorPlan1", "put out the plate on the counter", "put the plate on the counter"),
    ("FloorPlan1", "close the light", "turn off the light"),
    ("FloorPlan1", "into the sink with the mug", "put the mug in the sink"),
    ("FloorPlan1", "guests don't like wine, so wash the mug", "wash the mug"),
    ("FloorPlan1", "do i have to say it twice? wash the mug", "wash the mug"),
    ("FloorPlan1", "can't find the mug, wash it", "wash the mug"),
    ("FloorPlan1", "i'd like the tomato in slices", "i'd like the tomato sliced"),
    (
        "FloorPlan1",
        "put the pan, not the pot, on the stove",
        "put the pan on the stove, not the pot",
    ),
    ("FloorPlan402", "the candle's burning, blow it out", "blow out the candle"),
    ("FloorPlan427", "put the sponge from the bathtub in the sink", "put the sponge in the sink"),
    ("FloorPlan230", "candles on", "turn all candles on"),
    (
        "FloorPlan201",
        "put the book not on the sofa but on the coffee table",
        "put the book on the coffee table",
    ),
    (
        "FloorPlan201",
        "in my day boxes were kept on the sofa, put the book on the coffee table",
        "put the book on the coffee table",
    ),
    ("FloorPlan301", "turn the lamp on the dresser off", "turn off the lamp on the dresser"),
    (
        "FloorPlan301",
        "i don't want the book on the bed, put it on the desk",
        "put the book on the desk",
    ),
)


@pytest.mark.parametrize(("scene", "said", "plain"), SAME)
def test_two_ways_to_ask_mean_the_same(scene: str, said: str, plain: str) -> None:
    assert read_in(scene, said).paraphrase[-1] == read_in(scene, plain).paraphrase[-1]


@pytest.mark.parametrize(
    ("scene", "text"),
    [
        ("FloorPlan1", "to slice the apple you need a knife"),
        ("FloorPlan1", "you need a knife to slice the apple"),
        ("FloorPlan1", "put the second egg in the bowl"),
        ("FloorPlan1", "there is no apple in the bowl"),
        ("FloorPlan1", "wash the mug, would you put a blorp on it"),
        ("FloorPlan201", "put the statue under the sofa"),
        ("FloorPlan301", "put the book under the bed"),
        ("FloorPlan10", "put the apple between the vases"),
        ("FloorPlan1", "check the stove"),
        ("FloorPlan208", "switch off every lamp and the light"),
        ("FloorPlan427", "throw away the toilet paper in the bathtub, keep the one on the counter"),
    ],
)
def test_what_is_no_request_or_cannot_be_done_is_refused(scene: str, text: str) -> None:
    with pytest.raises(HvrError):
        read_in(scene, text)


@pytest.mark.parametrize(
    "text",
    [
        "clear the coffee table, but leave the statue",
        "clear the coffee table, but do not touch the statue",
        "keep the statue and clear the coffee table",
    ],
)
def test_what_is_to_be_left_is_not_moved(text: str) -> None:
    said = "; ".join(read_in("FloorPlan218", text).paraphrase)
    assert "the box is on" in said and "the statue is on" not in said
    assert "the statue is not in the hand" in said


def test_the_light_is_one_whose_state_changes() -> None:
    assert "switch" in read_in("FloorPlan305", "turn off the light").paraphrase[0]


def test_a_device_in_two_words_is_not_switched() -> None:
    said = read_in("FloorPlan1", "put the mug in the microwave but don't turn it on").paraphrase
    assert "the microwave is off" in said[0]
