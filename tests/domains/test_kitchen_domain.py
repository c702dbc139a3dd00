"""domains/kitchen: each rule of the kitchen, and the plans printed in the HVR paper."""

from pathlib import Path

import pytest

from hvr.base.files import data_path
from hvr.pddl import Atom, Domain, Task, parse_domain, parse_plan, parse_problem
from hvr.validation import Outcome, Validator
from tests.command_line import Hvr

OBJECTS = """
    egg - egg eggcracked - eggcracked pan - pan stoveburner - stoveburner stoveknob - stoveknob
    plate - plate countertop - countertop cup - cup mug - mug sinkbasin - sinkbasin
    faucet - faucet microwave - microwave fridge - fridge toaster - toaster
    coffeemachine - coffeemachine knife - knife bread - bread breadsliced - breadsliced
    potato - potato winebottle - winebottle garbagecan - garbagecan floor - floor
"""

FIXED = """
    (pickupable egg) (pickupable eggcracked) (pickupable pan) (pickupable plate)
    (pickupable cup) (pickupable mug) (pickupable knife) (pickupable bread)
    (pickupable breadsliced) (pickupable potato) (pickupable winebottle)
    (surface countertop) (surface plate) (surface stoveburner) (surface toaster)
    (surface coffeemachine)
    (container pan) (container sinkbasin) (container microwave) (container fridge)
    (container garbagecan)
    (large countertop) (holds_one stoveburner) (holds_one coffeemachine) (holds_one toaster)
    (fits egg countertop) (fits egg pan) (fits egg garbagecan) (fits eggcracked pan)
    (fits eggcracked plate) (fits pan stoveburner) (fits pan countertop) (fits plate countertop)
    (fits plate stoveburner) (fits plate fridge) (fits cup sinkbasin) (fits cup microwave)
    (fits cup countertop) (fits cup fridge) (fits mug coffeemachine) (fits mug countertop)
    (fits mug sinkbasin) (fits knife countertop) (fits bread countertop)
    (fits breadsliced toaster) (fits breadsliced plate) (fits potato microwave)
    (fits potato pan) (fits potato countertop)
    (openable microwave) (openable fridge)
    (toggleable microwave) (toggleable faucet) (toggleable coffeemachine) (toggleable toaster)
    (toggleable stoveknob)
    (sliceable bread) (crackable egg) (cutting_tool knife)
    (fillable cup) (fillable mug) (bottomless winebottle)
    (dirtyable cup) (breakable cup) (breakable plate)
    (brews coffeemachine) (heats microwave) (heats stoveburner) (heats toaster)
    (cooks stoveburner eggcracked) (cooks stoveburner potato) (cooks microwave potato)
    (cooks toaster breadsliced) (cools fridge)
    (knob_of stoveknob stoveburner) (faucet_of faucet sinkbasin)
    (beside sinkbasin faucet) (beside faucet sinkbasin)
    (beside stoveburner stoveknob) (beside stoveknob stoveburner)
    (piece_of eggcracked egg) (piece_of breadsliced bread)
    (present pan) (present stoveburner) (present stoveknob) (present plate)
    (present countertop) (present cup) (present mug) (present sinkbasin) (present faucet)
    (present microwave) (present fridge) (present toaster) (present coffeemachine)
    (present knife) (present garbagecan) (present floor) (present winebottle)
    (present egg) (present bread) (present potato)
    (filled winebottle) (contains winebottle wine)
"""

PLACES = {
    "egg": "(on egg countertop)",
    "pan": "(on pan countertop)",
    "plate": "(on plate countertop)",
    "cup": "(on cup countertop)",
    "mug": "(on mug countertop)",
    "knife": "(on knife countertop)",
    "bread": "(on bread countertop)",
    "potato": "(on potato countertop)",
    "winebottle": "(on winebottle countertop)",
}


@pytest.fixture(scope="module")
def domain() -> Domain:
    return parse_domain(data_path("domains") / "kitchen" / "domain.pddl")


class Kitchen:
    """A kitchen with everything on the countertop by default."""

    def __init__(self, domain: Domain, start: str = "", goal: str = "(and)") -> None:
        held = next((thing for thing in PLACES if f"(holding {thing})" in start), None)
        moved = {thing for thing in PLACES if f"on {thing} " in start or f"in {thing} " in start}
        places = [text for thing, text in PLACES.items() if thing not in moved | {held}]
        hand = "" if held or "(holding" in start else "(hand_empty)"
        text = (
            f"(define (problem p) (:domain kitchen) (:objects {OBJECTS})"
            f"(:init {FIXED} {' '.join(places)} {hand} {start}) (:goal {goal}))"
        )
        self.validator = Validator(Task(domain, parse_problem(text, domain)))

    def does(self, steps: str) -> None:
        """Assert that every step succeeds."""
        for action in parse_plan("".join(f"({step.strip()})" for step in steps.split(";"))):
            report = self.validator.apply(action)
            assert report.ok, report.failure

    def refuses(self, step: str) -> None:
        (action,) = parse_plan(f"({step})")
        assert not self.validator.apply(action).ok

    def __contains__(self, atom: str) -> bool:
        predicate, *args = atom.split()
        return Atom(predicate, tuple(args)) in self.validator.state


def plan(text: str) -> str:
    return "".join(f"({step.strip()})" for step in text.split(";"))


FRIED_EGG = """
    navigate_to_obj egg; pick_up egg; crack_obj egg; navigate_to_obj pan; put_in eggcracked pan;
    pick_up pan; navigate_to_obj stoveburner; put_on pan stoveburner; toggle_on stoveburner;
    toggle_off stoveburner; pick_up eggcracked; navigate_to_obj plate; put_on eggcracked plate;
    pick_up plate; navigate_to_obj countertop; put_on plate countertop
"""
FRIED_EGG_GOAL = """(and (cooked eggcracked) (stove_heated eggcracked) (on eggcracked plate)
    (on plate countertop) (hand_empty) (not (toggled stoveburner)))"""

WARM_WATER = """
    navigate_to_obj cup; pick_up cup; navigate_to_obj sinkbasin; put_in cup sinkbasin;
    toggle_on faucet; toggle_off faucet; navigate_to_obj microwave; open_obj microwave;
    navigate_to_obj sinkbasin; pick_up cup; navigate_to_obj microwave; put_in cup microwave;
    close_obj microwave; toggle_on microwave; toggle_off microwave; open_obj microwave; pick_up cup
"""
WARM_WATER_GOAL = """(and (holding cup) (contains cup water) (hot cup) (warm_liquid cup)
    (microwaved cup))"""


@pytest.mark.parametrize(
    ("steps", "goal", "length"),
    [(FRIED_EGG, FRIED_EGG_GOAL, 16), (WARM_WATER, WARM_WATER_GOAL, 17)],
    ids=["fried egg", "warm water"],
)
def test_plans_of_the_paper_are_valid(domain: Domain, steps: str, goal: str, length: int) -> None:
    kitchen = Kitchen(domain, goal=goal)
    actions = parse_plan(plan(steps))
    assert len(actions) == length
    assert kitchen.validator.check(actions).outcome is Outcome.VALID
    for left_out in range(length):
        shorter = (*actions[:left_out], *actions[left_out + 1 :])
        if actions[left_out].name != "toggle_off":
            assert kitchen.validator.check(shorter).outcome is Outcome.INVALID


def test_going_somewhere_leaves_everything_else_behind(domain: Domain) -> None:
    kitchen = Kitchen(domain)
    kitchen.does("navigate_to_obj egg; navigate_to_obj sinkbasin")
    assert "near sinkbasin" in kitchen
    assert "near faucet" in kitchen
    assert "near egg" not in kitchen


def test_there_is_no_way_to_what_is_behind_a_closed_door(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(in potato microwave)")
    kitchen.refuses("navigate_to_obj potato")
    kitchen.does("navigate_to_obj microwave; open_obj microwave; navigate_to_obj potato")
    inside = Kitchen(domain, "(in plate fridge) (on egg plate)")
    inside.refuses("navigate_to_obj egg")
    inside.does("navigate_to_obj fridge; open_obj fridge; navigate_to_obj egg; pick_up egg")


def test_a_large_surface_is_not_within_reach_as_a_whole(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(in cup sinkbasin)")
    kitchen.does("navigate_to_obj countertop")
    kitchen.refuses("pick_up egg")
    kitchen.does("navigate_to_obj sinkbasin; pick_up cup")


def test_opening_and_closing_need_a_free_hand(domain: Domain) -> None:
    kitchen = Kitchen(domain)
    kitchen.does("navigate_to_obj potato; pick_up potato; navigate_to_obj microwave")
    kitchen.refuses("open_obj microwave")
    holding = Kitchen(domain, "(holding potato) (near microwave) (opened microwave)")
    holding.refuses("close_obj microwave")
    holding.does("put_in potato microwave; close_obj microwave")


def test_what_is_open_cannot_be_opened_nor_a_running_microwave(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(near microwave)")
    kitchen.refuses("close_obj microwave")
    kitchen.does("open_obj microwave")
    kitchen.refuses("open_obj microwave")
    kitchen.refuses("toggle_on microwave")
    kitchen.does("close_obj microwave; toggle_on microwave")
    kitchen.refuses("open_obj microwave")
    kitchen.refuses("toggle_on microwave")
    kitchen.does("toggle_off microwave; open_obj microwave")


def test_the_hand_holds_one_thing(domain: Domain) -> None:
    kitchen = Kitchen(domain)
    kitchen.does("navigate_to_obj egg; pick_up egg; navigate_to_obj knife")
    kitchen.refuses("pick_up knife")


def test_a_closed_receptacle_neither_gives_nor_takes(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(in potato microwave) (near microwave)")
    kitchen.refuses("pick_up potato")
    kitchen.does("open_obj microwave; pick_up potato")
    shut = Kitchen(domain, "(holding potato) (near microwave)")
    shut.refuses("put_in potato microwave")


def test_closing_takes_what_is_inside_out_of_reach(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(holding potato) (near microwave) (opened microwave)")
    kitchen.does("put_in potato microwave")
    assert "near potato" in kitchen
    kitchen.does("close_obj microwave")
    assert "near potato" not in kitchen


def test_things_go_only_where_they_fit(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(holding knife) (near stoveburner) (near countertop)")
    kitchen.refuses("put_on knife stoveburner")
    kitchen.refuses("put_in knife countertop")
    kitchen.does("put_on knife countertop")
    assert "hand_empty" in kitchen


def test_one_thing_in_a_single_slot(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(holding plate) (near stoveburner) (on pan stoveburner)")
    kitchen.refuses("put_on plate stoveburner")
    free = Kitchen(domain, "(holding plate) (near stoveburner)")
    free.does("put_on plate stoveburner")


def test_slicing_needs_a_knife_in_hand(domain: Domain) -> None:
    kitchen = Kitchen(domain)
    kitchen.does("navigate_to_obj bread")
    kitchen.refuses("slice_obj bread")
    kitchen.does("navigate_to_obj knife; pick_up knife")
    kitchen.refuses("slice_obj bread")
    kitchen.does("navigate_to_obj bread; slice_obj bread")
    assert "present bread" not in kitchen
    assert "on bread countertop" not in kitchen
    assert "on breadsliced countertop" in kitchen
    assert "near breadsliced" in kitchen
    kitchen.refuses("slice_obj bread")


def test_slices_keep_what_was_done_to_the_whole(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(holding knife) (near bread) (cooked bread) (hot bread)")
    kitchen.does("slice_obj bread")
    assert "cooked breadsliced" in kitchen
    assert "hot breadsliced" in kitchen
    assert "cold breadsliced" not in kitchen


def test_nothing_is_sliced_in_a_dish(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(holding knife) (near bread) (in bread pan)")
    kitchen.refuses("slice_obj bread")


def test_an_egg_is_cracked_in_the_hand_or_in_a_dish(domain: Domain) -> None:
    held = Kitchen(domain, "(holding egg)")
    held.does("crack_obj egg")
    assert "holding eggcracked" in held
    assert "holding egg" not in held
    assert "hand_empty" not in held
    in_pan = Kitchen(domain, "(in egg pan)")
    in_pan.refuses("crack_obj egg")
    in_pan.does("navigate_to_obj pan; crack_obj egg")
    assert "in eggcracked pan" in in_pan
    busy = Kitchen(domain, "(in egg pan) (near pan) (holding knife)")
    busy.refuses("crack_obj egg")
    bare = Kitchen(domain, "(near egg)")
    bare.refuses("crack_obj egg")


def test_knob_and_burner_switch_each_other(domain: Domain) -> None:
    kitchen = Kitchen(domain)
    kitchen.does("navigate_to_obj stoveburner; toggle_on stoveburner")
    assert "toggled stoveknob" in kitchen
    kitchen.refuses("toggle_on stoveknob")
    kitchen.does("toggle_off stoveknob")
    assert "toggled stoveburner" not in kitchen
    kitchen.does("navigate_to_obj stoveknob; toggle_on stoveknob")
    assert "toggled stoveburner" in kitchen


def test_switches_must_be_near(domain: Domain) -> None:
    kitchen = Kitchen(domain)
    for thing in ("faucet", "microwave", "stoveburner", "coffeemachine", "toaster"):
        kitchen.refuses(f"toggle_on {thing}")
    kitchen.does("navigate_to_obj plate")
    kitchen.refuses("toggle_on plate")


def test_a_burner_cooks_what_is_in_the_pan_on_it(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(on pan stoveburner) (in potato pan) (near stoveburner)")
    kitchen.does("toggle_on stoveburner")
    for state in ("cooked potato", "hot potato", "stove_heated potato", "hot pan"):
        assert state in kitchen
    assert "cooked pan" not in kitchen
    late = Kitchen(domain, "(on pan stoveburner) (toggled stoveburner) (toggled stoveknob)"
                           "(holding potato) (near pan)")  # fmt: skip
    late.does("put_in potato pan")
    assert "cooked potato" in late
    moved = Kitchen(domain, "(toggled stoveburner) (toggled stoveknob) (in potato pan)"
                            "(holding pan) (near stoveburner)")  # fmt: skip
    moved.does("put_on pan stoveburner")
    assert "cooked potato" in moved


def test_a_microwave_cooks_and_heats(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(in potato microwave) (in cup microwave) (near microwave)")
    kitchen.does("toggle_on microwave")
    for state in ("cooked potato", "hot potato", "microwaved potato", "hot cup"):
        assert state in kitchen
    assert "cooked cup" not in kitchen
    assert "warm_liquid cup" not in kitchen


def test_a_toaster_toasts(domain: Domain) -> None:
    start = "(present breadsliced) (on breadsliced toaster) (near toaster)"
    kitchen = Kitchen(domain, start)
    kitchen.does("toggle_on toaster")
    for state in ("cooked breadsliced", "hot breadsliced", "toasted breadsliced"):
        assert state in kitchen


def test_a_fridge_cools(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(holding cup) (hot cup) (filled cup) (contains cup coffee)"
                              "(warm_liquid cup) (near fridge) (opened fridge)")  # fmt: skip
    kitchen.does("put_in cup fridge")
    assert "cold cup" in kitchen
    assert "hot cup" not in kitchen
    assert "warm_liquid cup" not in kitchen
    assert "chilled cup" not in kitchen
    kitchen.does("close_obj fridge")
    assert "chilled cup" in kitchen


def test_what_is_put_on_a_dish_in_the_fridge_gets_cold(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(present eggcracked) (holding eggcracked) (hot eggcracked)"
                              "(in plate fridge) (opened fridge) (near plate)")  # fmt: skip
    kitchen.does("put_on eggcracked plate")
    assert "cold eggcracked" in kitchen
    assert "hot eggcracked" not in kitchen


def test_a_faucet_fills_and_cleans(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(in cup sinkbasin) (dirty cup)")
    kitchen.does("navigate_to_obj sinkbasin; toggle_on faucet")
    for state in ("filled cup", "contains cup water", "washed cup"):
        assert state in kitchen
    assert "dirty cup" not in kitchen
    running = Kitchen(domain, "(toggled faucet) (holding mug) (near sinkbasin)")
    running.does("put_in mug sinkbasin")
    assert "contains mug water" in running
    full = Kitchen(domain, "(in cup sinkbasin) (filled cup) (contains cup coffee) (near faucet)")
    full.does("toggle_on faucet")
    assert "contains cup water" not in full


def test_a_coffee_machine_fills_a_mug(domain: Domain) -> None:
    kitchen = Kitchen(domain)
    kitchen.does(
        "navigate_to_obj mug; pick_up mug; navigate_to_obj coffeemachine;"
        "put_on mug coffeemachine; toggle_on coffeemachine; toggle_off coffeemachine; pick_up mug"
    )
    for state in ("contains mug coffee", "filled mug", "hot mug", "warm_liquid mug"):
        assert state in kitchen
    full = Kitchen(domain, "(on mug coffeemachine) (filled mug) (contains mug water)"
                           "(near coffeemachine)")  # fmt: skip
    full.does("toggle_on coffeemachine")
    assert "contains mug coffee" not in full


@pytest.mark.slow
def test_pouring(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(holding mug) (filled mug) (contains mug coffee) (warm_liquid mug)")
    kitchen.refuses("pour mug cup")
    kitchen.does("navigate_to_obj cup; pour mug cup")
    for state in ("filled cup", "contains cup coffee", "hot cup", "warm_liquid cup"):
        assert state in kitchen
    for state in ("filled mug", "contains mug coffee", "warm_liquid mug"):
        assert state not in kitchen
    kitchen.refuses("pour mug cup")


def test_nothing_is_poured_into_what_is_full_or_cannot_be_filled(domain: Domain) -> None:
    start = "(holding mug) (filled mug) (contains mug water) (near cup) (near plate)"
    kitchen = Kitchen(domain, f"{start} (filled cup)")
    kitchen.refuses("pour mug cup")
    kitchen.refuses("pour mug plate")
    kitchen.does("navigate_to_obj sinkbasin; pour mug sinkbasin")
    assert "filled mug" not in kitchen
    assert "filled sinkbasin" not in kitchen


def test_a_bottle_has_many_glasses(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(holding winebottle) (near cup)")
    kitchen.does("pour winebottle cup; navigate_to_obj mug; pour winebottle mug")
    for state in ("contains cup wine", "contains mug wine", "filled winebottle"):
        assert state in kitchen


def test_garbage_is_thrown_away(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(holding egg)")
    kitchen.refuses("throw_away egg garbagecan")
    kitchen.does("navigate_to_obj garbagecan; throw_away egg garbagecan")
    assert "in egg garbagecan" in kitchen
    assert "hand_empty" in kitchen
    knife = Kitchen(domain, "(holding knife) (near garbagecan)")
    knife.refuses("throw_away knife garbagecan")


def test_dropping(domain: Domain) -> None:
    kitchen = Kitchen(domain, "(holding bread)")
    kitchen.does("drop_obj bread")
    assert "on bread floor" in kitchen
    assert "near bread" in kitchen
    fragile = Kitchen(domain, "(holding cup)")
    fragile.refuses("drop_obj cup")


@pytest.mark.slow
@pytest.mark.parametrize("words", ["make coffee", "--task T4", "throw away the egg"])
def test_the_model_of_a_run_is_clean(words: str, hvr_: Hvr, tmp_path: Path) -> None:
    run = tmp_path / "run"
    request = words.split() if words.startswith("--") else [words]
    assert hvr_("plan", *request, "--dry-run", "--save", run, "-q").code == 0
    ended = hvr_("lint", run / "domain.pddl", run / "problem.pddl")
    assert ended.code == 0
    assert "warning" not in ended.out and "error" not in ended.out
