"""Sentences that were once read wrongly: what each wants, stage by stage."""

from __future__ import annotations

from itertools import islice, product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.envs.kitchen import Kitchen
from hvr.errors import AmbiguousError, ImpossibleGoalError, LanguageError
from hvr.execution.executor import Executor
from hvr.execution.world import open_world
from hvr.language.alternatives import explore
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
    ("1", "set a potato that has been cut and cooked on the counter",
     "cooked potatosliced; on potatosliced countertop", "cooked potato"),
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
    # dishes that are put together, and idioms
    ("1", "make a tomato and lettuce salad in a bowl",
     "in tomatosliced bowl; in lettucesliced bowl", "in applesliced bowl"),
    ("1", "make an egg sandwich",
     "on breadsliced plate; cooked eggcracked; on eggcracked plate", "on tomatosliced plate"),
    ("1", "fill the mug with coffee, the cup with wine",
     "contains mug coffee; contains cup wine", ""),
    ("1", "fill the pot with water, the mug with coffee and the cup with wine",
     "contains pot water; contains mug coffee; contains cup wine", ""),
    ("1", "prepare breakfast: toast and coffee", "on breadsliced plate; contains mug coffee", ""),
    ("1", "put the kettle on", "contains kettle water; warm_liquid kettle", ""),
    ("1", "put the kettle on the stove", "on kettle stoveburner", "contains kettle water"),
    ("1", "place a cooked egg in the trash bin", "cooked eggcracked; in eggcracked garbagecan",
     "on eggcracked plate"),
    # exactly what is said
    ("16", "set the table with a plate, a fork and a knife",
     "on plate diningtable; on fork diningtable; on knife diningtable",
     "on cup diningtable; on butterknife diningtable"),
    ("1", "put the spatula and the spoon in drawers",
     "in spatula drawer; in spoon drawer", ""),
    # groups are all of their kinds
    ("1", "slice all the vegetables", "sliced lettuce; sliced potato; sliced tomato", ""),
    ("1", "slice everything",
     "sliced apple; sliced bread; sliced lettuce; sliced potato; sliced tomato", ""),
    ("1", "slice every vegetable and put a slice of each on a plate",
     "on lettucesliced plate; on potatosliced plate; on tomatosliced plate", ""),
    ("1", "before you slice the tomato wash it", "washed tomato | sliced tomato", ""),
    # an empty place holds nothing, an empty cup no liquid
    ("1", "make the sink empty", "not in item sinkbasin", "not filled sinkbasin"),
    ("1", "I want the fridge empty", "not in item fridge", "not filled fridge"),
    ("1", "empty the fridge", "not in item fridge", ""),
    ("1", "I want an empty fridge", "not in item fridge", "holding fridge"),
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
    is_a = inventory.ontology.is_a
    things = [c for c in here if is_a(c, "Pickupable") and not is_a(c, "Slice")
              and c != "EggCracked"]  # fmt: skip
    places = [c for c in here if not is_a(c, "Pickupable") and c != "Sink"]
    return [
        (thing, dish, place)
        for dish, thing, place in product(dishes, things, places)
        if dish in related("placeableIn", thing) and place in related("placeableIn", dish)
    ]


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


ALWAYS = [
    ("heat the potato without the microwave", "(forall (?x - microwave) (not (toggled ?x)))"),
    ("do not open the fridge and slice the tomato", "(forall (?x - fridge) (not (opened ?x)))"),
    ("slice the tomato but do not use the knife", "(forall (?x - knife) (not (holding ?x)))"),
    ("wash the mug and keep the fridge closed", "(forall (?x - fridge) (not (opened ?x)))"),
    ("take the mug, do not wash it", "(forall (?x - mug) (not (washed ?x)))"),
    ("make coffee, and do not turn off the light", "(toggled lightswitch-1)"),
    ("put the mug in a cabinet, never two doors open at once",
     "(not (exists (?x1 ?x2 - item) (and (not (= ?x1 ?x2)) (opened ?x1) (opened ?x2))))"),
    ("put the mug in a cabinet and never have more than one drawer open",
     "(not (exists (?x1 ?x2 - drawer) (and (not (= ?x1 ?x2)) (opened ?x1) (opened ?x2))))"),
    ("wash the mug, not in the microwave",
     "(forall (?x - mug) (not (exists (?place - microwave) (in ?x ?place))))"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "always"), ALWAYS, ids=[text for text, _ in ALWAYS])
def test_what_must_not_be_is_a_constraint(understand, text, always):
    for stage in understand("1", text).stages:
        assert stage.constraints == (f"(always {always})",)


@pytest.mark.parametrize(
    "text",
    [
        "cool the apple and never open the fridge twice",
        "put the apple in the fridge without opening it more than once",
        "put the egg and the apple in the fridge, but do not open the fridge a second time",
    ],
)
def test_what_may_be_once_only_is_a_constraint(understand, text):
    goal = understand("1", text)
    assert goal.stages[0].constraints == ("(forall (?x - fridge) (at-most-once (opened ?x)))",)
    assert "at most once the fridge is open" in goal.said[0]


def test_a_prohibition_is_about_what_it_can_be_about(understand):
    (stage,) = understand("1", "put the apple in the fridge without opening it").stages
    assert stage.constraints == ("(always (forall (?x - fridge) (not (opened ?x))))",)
    with pytest.raises(LanguageError, match="nobody can open 'it'"):
        understand("1", "wash the mug, but do not open it")


def test_what_must_not_be_in_the_end_is_a_goal(understand):
    (stage,) = understand("1", "make coffee and do not leave the light on").stages
    assert "(not (toggled" in stage.wanted
    assert not stage.constraints


def test_a_part_is_left_out_of_a_dish(read):
    (stage,) = read("1", "make a salad without tomato").stages
    assert "in lettucesliced bowl" in stage
    assert not any("tomato" in literal for literal in stage)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("put the mug in a cabinet, never two doors open", "at all times at most 1 thing is open"),
        ("heat the potato without the microwave", "at all times the microwave is off"),
        ("empty the fridge", "nothing is in the fridge"),
        ("the potato must not be hot", "the potato is not hot"),
    ],
)
def test_what_must_not_be_is_said(understand, text, words):
    assert words in understand("1", text).said[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("the mug must be cooked", "the mug cannot be cooked"),
        ("the apple must be toasted", "the apple cannot be toasted"),
        ("I want the cabinet", "the cabinet cannot be held"),
        ("put a fork in each drawer", "has only 1 fork, not 9"),
        ("I want a closed apple", "the apple cannot be closed"),
    ],
)
def test_what_cannot_be_is_refused_in_plain_words(understand, text, reason):
    with pytest.raises(ImpossibleGoalError, match=reason):
        understand("1", text)


CHOICES = [
    ("put the apple or the tomato on the plate",
     "either the apple is on the plate or the tomato is on the plate"),
    ("put the apple, the tomato or the egg in the bowl", "or the egg is in the bowl"),
    ("put the apple either in the bowl or on the plate", "either the apple is in the bowl"),
    ("wash the mug or slice the apple", "or the apple is sliced"),
    ("either make coffee or toast bread", "or a bread slice is cooked"),
    ("coffee or wine, please", "or the cup contains wine"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), CHOICES, ids=[text for text, _ in CHOICES])
def test_either_of_a_choice_will_do(understand, text, words):
    goal = understand("1", text)
    (stage,) = goal.stages
    assert stage.wanted.startswith("(or (exists")
    assert words in goal.said[0]


def test_a_choice_that_cannot_be_is_left_out_and_said(understand):
    goal = understand("1", "put the apple in the bowl or on the dining table")
    assert "bowl" in goal.stages[0].wanted
    assert "FloorPlan1 has no dining table" in goal.notes[0]


def test_two_ways_to_bracket_are_asked_about(policy: SymbolicPolicy, understand):
    with pytest.raises(AmbiguousError) as caught:
        understand("1", "wash the mug and the plate or the cup")
    assert len(caught.value.readings) == 2
    inventory = world_of("FloorPlan1").inventory()
    for number, words in enumerate(caught.value.readings, start=1):
        goal = policy.reader.goal("wash the mug and the plate or the cup", inventory, number)
        assert goal.said == (words,)


def test_after_not_or_means_neither(understand):
    (stage,) = understand("1", "wash the mug, do not use the knife or the fork").stages
    assert len(stage.constraints) == 2


@given(st.lists(st.integers(1, 4), max_size=2))
def test_every_way_to_choose_is_gone_through_once(sizes):
    ways = list(explore(lambda picks: tuple(picks.take(size) for size in sizes)))
    assert len(ways) == len(set(ways)) == prod(sizes)
    assert ways[0] == (0,) * len(sizes)


def test_each_is_in_some_drawer_and_no_other_drawer_is_needed(understand):
    goal = understand("1", "put the spatula and the spoon in drawers")
    assert "(= " not in goal.stages[0].wanted
    assert goal.said == ("the spatula is in a drawer; the spoon is in a drawer",)


def test_two_persons_need_two_of_each(read):
    (stage,) = read("28", "make coffee for two").stages
    assert sum(count for literal, count in stage.items() if literal.startswith("contains")) == 2


def test_a_meal_is_named_by_what_it_consists_of(understand):
    with pytest.raises(LanguageError, match="breakfast can be many things"):
        understand("1", "make breakfast")


def test_what_is_not_heeded_is_kept_as_unread(understand):
    assert understand("1", "put the big red apple in the bowl").unread == ("big", "red")


def test_what_no_word_joins_is_not_guessed_at(understand):
    with pytest.raises(LanguageError, match="cannot make sense of 'bread'"):
        understand("1", "make coffee bread")


def test_what_is_not_to_be_used_is_neither_held_nor_filled(understand):
    (stage,) = understand("1", "boil an egg without the pot").stages
    banned = " ".join(map(str, stage.constraints))
    assert "(holding ?x)" in banned and "(in ?inside ?x)" in banned


def test_the_top_of_what_is_closed_is_no_place(understand):
    with pytest.raises(LanguageError, match="nothing can be put on top of a fridge"):
        understand("1", "put the plate on top of the fridge")


def test_another_of_what_was_not_named_is_told(understand):
    assert "no other drawer was named before" in understand("1", "open the second drawer").notes[0]
