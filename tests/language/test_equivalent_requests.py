"""Different forms of English for one request have the same goal, in three worlds."""

from __future__ import annotations

import pytest

from hvr.errors import HvrError
from hvr.language.goal_builder import Goal
from tests.language.test_claims import scene_of

ROWS = (
    # States, adverbs and particles
    ("FloorPlan2", "make sure the fridge is properly shut", "close the fridge"),
    ("FloorPlan2", "make clean the mug", "make the mug clean"),
    ("FloorPlan2", "wash the mug slightly", "wash the mug"),
    ("FloorPlan2", "could you fetch the cup down for me?", "fetch the cup"),
    ("FloorPlan2", "turn off the stove", "every stove burner should be off"),
    ("FloorPlan2", "the stove should be off", "every stove burner should be off"),
    ("FloorPlan224", "make off the two lamps", "turn off the two lamps"),
    ("FloorPlan402", "put the toilet seat down", "close the toilet"),
    ("FloorPlan402", "make sure the lid of the toilet is down", "close the toilet"),
    ("FloorPlan211", "put the laptop on the tv stand with the lid closed",
     "put the laptop on the tv stand. close the laptop"),
    ("FloorPlan306", "get the laptop shut and on the bed", "the laptop closed and on the bed"),
    ("FloorPlan205", "disable all lamps", "turn off all lamps"),
    # Statements in a row are all goals
    ("FloorPlan5", "ensure that the microwave is empty and its door is closed.",
     "ensure that the microwave is empty. close the microwave"),
    ("FloorPlan211", "the box should be open and the laptop is closed.",
     "open the box and close the laptop"),
    # Lists
    ("FloorPlan12", "two things: wash the mug and close the fridge",
     "wash the mug and close the fridge"),
    ("FloorPlan12", "lunch time: put the fork on the counter", "put the fork on the counter"),
    ("FloorPlan12", "mug -> microwave", "put the mug in the microwave"),
    ("FloorPlan12", "wash the mug and the cup one after the other", "wash the mug and the cup"),
    ("FloorPlan17", "serve sliced tomato and lettuce", "serve sliced tomato and sliced lettuce"),
    ("FloorPlan17", "put the washed fork and spoon in the drawer",
     "put the washed fork and the washed spoon in the drawer"),
    ("FloorPlan2", "put potato in microwave, close door, open door",
     "put potato in microwave, close microwave, open microwave"),
    ("FloorPlan228", "put the laptop, closed, on the chair",
     "put the laptop on the chair. close the laptop"),
    ("FloorPlan2", "close the microwave, open the microwave",
     "close the microwave and then open it"),
    ("FloorPlan20", "wash the dishes in the sink", "wash all the dishes that are in the sink"),
    ("FloorPlan9", "wash the mug in the sink", "wash the mug"),
    ("FloorPlan203", "deactivate every light source", "turn off all the lights"),
    ("FloorPlan7", "empty the drawer into the sink", "put the fork and the spoon in the sink"),
    # Wishes
    ("FloorPlan219", "give remote", "give me the remote"),
    ("FloorPlan315", "put the teddy bear on the desk for now", "put the teddy bear on the desk"),
    ("FloorPlan17", "drop the apple on the floor", "drop the apple"),
    ("FloorPlan2", "need a coffee", "i need a coffee"),
    ("FloorPlan2", "make her a coffee", "make a coffee"),
    ("FloorPlan2", "toast two slices", "toast two slices of bread"),
    ("FloorPlan2", "open the first drawer", "open the drawer"),
    # 'Of' between nouns
    ("FloorPlan404", "open the curtain of the shower", "open the shower curtain"),
    ("FloorPlan2", "close the door of the fridge", "close the fridge"),
    ("FloorPlan322", "put the two pillows of the bed on the armchair",
     "put the two pillows that are on the bed on the armchair"),
    # Groups and their members
    ("FloorPlan216", "turn all the lights off but leave the desk lamp on",
     "turn off the light switch and the floor lamp and turn on the desk lamp"),
    ("FloorPlan8", "move everything off the stove", "put the pan on the counter"),
    # Devices and their means
    ("FloorPlan17", "turn the stove on under the pot", "turn on stoveburner-1"),
    ("FloorPlan403", "turn on the shower and close the door",
     "turn on the shower and close the shower door"),
    ("FloorPlan428", "turn off the light", "turn off the light switch"),
    ("FloorPlan402", "turn on the sink", "turn on the tap next to the sink"),
    ("FloorPlan404", "turn on the water", "turn on the tap"),
    ("FloorPlan420", "clean the soap with water in the sink", "wash the soap"),
    ("FloorPlan2", "slice the tomato on the counter", "slice the tomato"),
    # Conditions on what a check finds
    ("FloorPlan2", "check whether the fridge is closed; if it is, open it", "open the fridge"),
    ("FloorPlan2", "is the fridge open? if not, open it", "open the fridge"),
    ("FloorPlan26", "put the bread on the counter if there is no bread there yet",
     "put the bread on the counter"),
    ("FloorPlan2", "check if the fridge is open; if not, open it", "open the fridge"),
    ("laboratory", "two things: open the freezer and label every tube",
     "open the freezer and label every tube"),
    ("laboratory", "your list: open the freezer, then close it", "open the freezer, then close it"),
    ("laboratory", "freeze two tubes one after the other", "freeze two tubes"),
)  # fmt: skip


def _goal(scene: str, request: str) -> Goal:
    read = scene_of(scene)
    return read.readers["grammar"].goals(request, read.inventory)[0]


@pytest.mark.parametrize(("scene", "request_", "plain"), ROWS)
def test_same_goal(scene: str, request_: str, plain: str) -> None:
    assert _goal(scene, request_).paraphrase == _goal(scene, plain).paraphrase


def test_all_parts_of_a_dish_are_kept() -> None:
    goal = _goal("FloorPlan2", "make a sandwich with sliced tomato and lettuce")
    assert "tomato slice" in goal.paraphrase[0] and "lettuce slice" in goal.paraphrase[0]


def test_box_with_things_need_not_be_moved() -> None:
    goal = _goal("FloorPlan303", "the CDs, all in the box please")
    assert "table" not in goal.paraphrase[0]


def test_one_of_a_group_does_not_stand_for_all() -> None:
    goal = _goal("FloorPlan2", "wash all the dishes and put the mug in the sink")
    assert goal.paraphrase[0].count("sink") == 1


@pytest.mark.parametrize("text", ["a cold glass of water", "bring me a hot cup of coffee"])
def test_contents_are_kept(text: str) -> None:
    assert f"contains {text.split()[-1]}" in _goal("FloorPlan3", text).paraphrase[0]


@pytest.mark.parametrize(
    ("scene", "text"),
    [
        ("FloorPlan2", "put the mug back"),
        ("FloorPlan203", "put everything back where it belongs"),
        ("FloorPlan308", "wallet and keys in the safe"),
        ("FloorPlan9", "wash the dishes in the sink"),
        ("FloorPlan27", "wash the tomato twice"),
        ("FloorPlan218", "empty the box onto the table"),
        ("FloorPlan320", "gimme my phone, it's on the bed i think"),
    ],
)
def test_asked_rather_than_claimed(scene: str, text: str) -> None:
    with pytest.raises(HvrError):
        _goal(scene, text)
