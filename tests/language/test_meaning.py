"""Sentences that were once read wrongly: what each wants, stage by stage."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.envs.kitchen import Kitchen
from hvr.execution.executor import Executor
from hvr.execution.world import open_world
from hvr.policies.symbolic import SymbolicPolicy
from tests.language.goal_sets import world_of

# scene, sentence, literals of its stages (`;` between literals, `|` between stages), and literals
# that it must not want
WANTED = [
    # what is with a thing is in it
    ("16", "put a pan with a knife in it on the dining table",
     "on pan diningtable; in knife pan", "on knife diningtable"),
    ("16", "place a pan containing a knife on the counter",
     "on pan countertop; in knife pan", "on knife countertop"),
    ("1", "move the plate with the bread on it to the fridge",
     "in plate fridge; on bread plate", "in bread fridge"),
    ("16", "slice the tomato with a knife", "sliced tomato", "in knife pan"),
    ("1", "put the apple in the bowl and the bowl with the apple in it in the fridge",
     "in apple bowl; in bowl fridge", "in applesliced bowl"),
    # what is named is used
    ("1", "boil the potato in the pot with water",
     "in potato pot; contains pot water; warm_liquid pot; stove_heated potato",
     "contains cup water"),
    ("1", "boil the potato in the pot and put it on a plate",
     "on potato plate; stove_heated potato; present pot", "in potato pot"),
    # what is cut is there in pieces
    ("1", "put the lettuce in the sink and wash it, then put it on the plate and slice it",
     "in lettuce sinkbasin; washed lettuce | sliced lettuce; on lettucesliced plate",
     "on lettuce plate"),
    # order
    ("1", "make coffee and then wash the mug",
     "contains mug coffee | washed mug; on mug countertop", "contains mug coffee"),
    ("1", "wash the mug and make coffee in it", "washed mug | contains mug coffee", ""),
    ("1", "turn the light on, off and on again",
     "toggled lightswitch | not toggled lightswitch | toggled lightswitch", ""),
    ("1", "put the mug in the sink before opening the fridge",
     "in mug sinkbasin | opened fridge; in mug sinkbasin", ""),
    ("1", "open the fridge after washing the mug", "washed mug | opened fridge", ""),
    ("1", "make coffee; then make toast",
     "contains mug coffee; on mug countertop | contains mug coffee; on breadsliced plate", ""),
    ("1", "wash the apple and then put it in the fridge", "washed apple; in apple fridge", ""),
    # groups are all of their kinds
    ("1", "slice all the vegetables", "sliced lettuce; sliced potato; sliced tomato", ""),
    ("1", "slice everything",
     "sliced apple; sliced bread; sliced lettuce; sliced potato; sliced tomato", ""),
    # an empty place holds nothing, an empty cup no liquid
    ("1", "make the sink empty", "not in item sinkbasin", "not filled sinkbasin"),
    ("1", "I want the fridge empty", "not in item fridge", "not filled fridge"),
    ("1", "empty the fridge", "not in item fridge", ""),
    ("1", "empty the cup", "not filled cup; not in item cup", ""),
    ("1", "pour the water out of the cup", "not filled cup", ""),
    # an adjective that tells nothing apart is something to be done
    ("1", "put clean lettuce on the counter top", "washed lettuce; on lettuce countertop", ""),
    ("1", "put toast on a clean plate", "not dirty plate", "washed plate"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("scene", "text", "wanted", "unwanted"), WANTED, ids=[w[1] for w in WANTED]
)
def test_what_is_wanted(read, scene, text, wanted, unwanted):
    stages = read(scene, text).stages
    expected = [part.strip() for part in wanted.split("|")]
    assert len(stages) == len(expected), stages
    for stage, literals in zip(stages, expected, strict=True):
        for literal in literals.split(";"):
            assert literal.strip() in stage, (literal, stage)
    for literal in filter(None, map(str.strip, unwanted.split(";"))):
        assert literal not in stages[-1]


def affording(scene: str) -> list[tuple[str, str, str]]:
    """Kinds of things, dishes and places of a scene of which each goes on or in the next."""
    inventory = world_of(f"FloorPlan{scene}").inventory()
    related = inventory.ontology.related
    here = sorted(set(inventory.classes.values()))
    dishes = [c for c in here if inventory.ontology.is_a(c, "PortableReceptacle")]
    return [(thing, dish, place) for dish in dishes for thing in here for place in here
            if dish in related("placeableIn", thing) and place in related("placeableIn", dish)
            and inventory.ontology.pddl_type(place) != "sink"
            and inventory.ontology.is_a(thing, "Pickupable") and not thing.endswith("Sliced")
            and thing != "EggCracked" and not inventory.ontology.is_a(place, "Pickupable")]  # fmt: skip


@given(st.data())
def test_what_is_in_a_dish_goes_with_it(policy: SymbolicPolicy, read, data) -> None:
    scene = data.draw(st.sampled_from(("1", "16", "21")))
    thing, dish, place = data.draw(st.sampled_from(affording(scene)))
    label = policy.ontology.label
    where = "in" if data.draw(st.booleans()) else "inside"
    text = f"put the {label(dish)} with the {label(thing)} {where} it on the {label(place)}"
    (stage,) = read(scene, text).stages
    kinds = [policy.ontology.pddl_type(c) for c in (thing, dish, place)]
    assert any(f"{r} {kinds[0]} {kinds[1]}" in stage for r in ("on", "in")), (text, stage)
    assert any(f"{r} {kinds[1]} {kinds[2]}" in stage for r in ("on", "in")), (text, stage)


@pytest.mark.parametrize(
    ("done", "text", "end"),
    [
        ("open drawer-3", "close the drawer", "(and (not (opened drawer-3)))"),
        ("open cabinet-5", "close the open cabinet", "(and (not (opened cabinet-5)))"),
        ("open drawer-3", "put the spoon in the open drawer", "in ?spoon0a drawer-3"),
    ],
)
def test_the_one_that_differs_is_meant(policy: SymbolicPolicy, done, text, end) -> None:
    world = open_world(Kitchen("FloorPlan1"))
    executor = Executor(world, policy, lambda _event: None, lambda _plan: None)
    assert executor.run(policy.reader.goal(done, world.inventory()).stages).reached
    (stage,) = islice(policy.reader.goal(text, world.inventory()).stages, 1)
    assert end in stage.wanted
