"""Polite, hesitant and roundabout requests mean what the plain ones mean, in three worlds."""

from __future__ import annotations

import pytest

from hvr.errors import HvrError, LanguageError
from hvr.language.rewording import plainly
from tests.language.test_claims import Scene, scene_of

WORLDS = ("FloorPlan1", "FloorPlan201", "laboratory")

ORDERS = (
    "i'd be ever so grateful if you could {order}",
    "it would make me happy if you'd {order}",
    "if it's no bother, {order}",
    "{order}, if it isn't too much trouble",
    "so if you could {order}, that would be great",
    "may i ask you to {order}",
    "what i would like you to do is {order}",
    "could somebody {order}",
    "brb, {order}",
    "you know what, {order}",
    "pardon me, would you {order}",
    "{order}, no time",
    "where did i put it? {order}",
    "{order} when you're done",
    "i want to sleep. {order}",
    "i was hoping you'd {order}, thank you darling",
    "see if you can {order} before lunch",
)
STATES = (
    "i'd be grateful if {thing} could be {place}",
    "{thing} would look better {place}",
    "it would be nice if {thing} were {place}",
)
REFERENTS = (
    "i can't lift {thing}, put it {place}",
    "{thing} is sleepy, put it {place}",
    "i have forgotten {thing}, my dear, would you put it {place}",
    "i don't need {thing} any more, put it {place}",
    "{thing} looks dull, put it {place}",
)


def _sentences(scene: Scene) -> list[tuple[str, str]]:
    things = [(t, p) for t in scene.things if (p := scene.elsewhere(t)) is not None][:3]
    assert things
    return [(scene.the(thing), scene.at(place)) for thing, place in things]


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("form", [*ORDERS, *STATES, *REFERENTS])
def test_roundabout_forms_mean_the_plain_order(world: str, form: str) -> None:
    scene = scene_of(world)
    for thing, place in _sentences(scene):
        order = f"put {thing} {place}"
        wanted = scene.read(order, "grammar")
        assert scene.read(form.format(order=order, thing=thing, place=place), "grammar") == wanted


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(
    "form",
    [
        "{order} if {thing} is glowing",
        "the doohickey, {order}",
        "make sure the flux is on, {order}",
        "{order} and {thing} must be glowing",
        "never glow, {order}",
    ],
)
def test_what_restricts_or_asks_for_more_is_not_courtesy(world: str, form: str) -> None:
    scene = scene_of(world)
    for thing, place in _sentences(scene):
        with pytest.raises(HvrError):
            scene.read(form.format(order=f"put {thing} {place}", thing=thing), "grammar")


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("wash neither the fork nor the spoon", "do not wash the fork or the spoon"),
        ("leave the pan alone", "do not touch the pan"),
        ("close the fridge; leave the rest as they are", "close the fridge"),
        ("if it is clean put it away, if not, wash it", None),
        ("put it on the stove if it is not hot", None),
        ("bring it please to me", None),
    ],
)
def test_plain_words(said: str, plain: str | None) -> None:
    assert plainly(said) == (plain or said)


@pytest.mark.parametrize(
    ("scene", "said", "plain"),
    [
        ("FloorPlan1", "please don't slice the apple, wash it", "don't slice the apple, wash it"),
        ("FloorPlan1", "don't wash the mug, just the cup", "wash the cup. don't wash the mug"),
        ("FloorPlan1", "i need the knife. it's in the drawer", "i need the knife"),
        (
            "FloorPlan1",
            "the fork goes in the sink, the spoon too",
            "put the fork and the spoon in the sink",
        ),
        (
            "FloorPlan1",
            "the egg can go in the sink, and the fork as well",
            "put the egg and the fork in the sink",
        ),
        ("FloorPlan1", "dishes need washing", "wash all the dishes"),
        (
            "FloorPlan1",
            "turn the light on and the coffee machine off",
            "turn on the light. turn off the coffee machine",
        ),
        (
            "FloorPlan1",
            "move the bread off the counter and into the fridge",
            "put the bread in the fridge",
        ),
        (
            "FloorPlan1",
            "the coffee machine was left on, switch it off",
            "switch off the coffee machine",
        ),
        ("FloorPlan201", "lights off", "turn off all the lights"),
        ("FloorPlan201", "turn off every light", "turn off all the lights"),
    ],
)
def test_claims_that_said_too_little(scene: str, said: str, plain: str) -> None:
    one, other = (scene_of(scene).read(text, "grammar") for text in (said, plain))
    assert one == other


@pytest.mark.parametrize("text", ["wash the mug and make one", "wash the cup and make it"])
def test_a_pronoun_is_nothing_to_make(text: str) -> None:
    with pytest.raises(LanguageError, match="say what to make"):
        scene_of("FloorPlan1").read(text, "grammar")


def test_the_default_place_of_a_verb_is_not_a_place_that_was_named() -> None:
    stages = scene_of("FloorPlan18").read("clear the mug away and put it on the table", "grammar")
    assert stages[-1] == {"on mug diningtable"}
