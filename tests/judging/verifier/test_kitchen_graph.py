"""Kitchen plans as plan graphs: causal links, objects named in requests, wrong plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from hvr.errors import DataFileError, UsageError
from hvr.judging.verifier.graph import START as GRAPH_START
from hvr.judging.verifier.graph import PlanGraph
from hvr.judging.verifier.kitchen.kitchen_verifier import (
    check_end,
    graph_of,
    kitchen_tools,
    reading_of,
)
from hvr.judging.verifier.kitchen.linked_plan import (
    INITIAL_STATE,
    Fact,
    LinkedPlan,
    causal_links,
    say_action,
)
from hvr.judging.verifier.kitchen.mentions import FROM, IN, NEAR, WITH, State, mentions_of
from hvr.judging.verifier.kitchen.step_features import NameMatch, covers, missing_states, name_match
from hvr.pddl import GroundAction, Task
from hvr.validation import Validator
from studies.kitchen_plans.alternatives import detours
from studies.kitchen_plans.contrast_groups import kitchen_family
from studies.kitchen_plans.examples import Example, read_examples, write_examples
from studies.kitchen_plans.hard_negatives import KINDS, misses, renamed
from tests.judging.verifier.kitchen_worlds import CHILLED, GOAL, kitchen, steps

PLAN = steps(*CHILLED)
REQUEST = "put a chilled apple on a plate"


def producers(plan: LinkedPlan, step: int) -> dict[str, int]:
    return {str(n.fact): n.producer for n in plan.steps[step].needs}


def test_each_precondition_names_the_step_that_made_it_true() -> None:
    plan = causal_links((kitchen(), PLAN))
    put = producers(plan, 5)
    assert put["(holding apple-1)"] == 3
    assert put["(opened fridge-1)"] == 1
    assert put["(near fridge-1)"] == 4
    assert put["(present fridge-1)"] == INITIAL_STATE
    # The object was put down in between, so the hand is empty since then.
    assert producers(plan, 8)["(hand_empty)"] == 5
    assert producers(plan, 8)["(opened fridge-1)"] == 7


def test_conditions_of_effects_that_come_about_are_needs() -> None:
    # Closing the fridge chills its contents, which is the purpose of putting the object in.
    closing = producers(causal_links((kitchen(), PLAN)), 6)
    assert closing["(in apple-1 fridge-1)"] == 5


def test_ends_are_what_steps_made_and_left_so() -> None:
    plan = causal_links((kitchen(), PLAN))
    ends = {str(n.fact): n.producer for n in plan.ends}
    assert ends["(on apple-1 plate-1)"] == 10
    assert ends["(chilled apple-1)"] == 6
    assert ends["(opened fridge-1)"] == 7
    assert "(in apple-1 fridge-1)" not in ends
    assert "(holding apple-1)" not in ends


def test_links_do_not_depend_on_what_else_there_is_or_on_the_goal() -> None:
    one = causal_links((kitchen(), PLAN))
    other = causal_links((kitchen("(opened fridge-1)"), PLAN))
    assert one == other


def test_stages_are_linked_with_each_other() -> None:
    task = kitchen()
    done = Validator(task)
    for action in PLAN[:2]:
        assert done.apply(action).ok
    # The second task begins where the first actions ended.
    second = kitchen()
    second.initial = done.state.__class__(second, _bits(second, done), ())
    found = causal_links((task, PLAN[:2]), (second, PLAN[2:]))
    assert producers(found, 5)["(opened fridge-1)"] == 1


def _bits(task: Task, validator: Validator) -> int:
    bits = 0
    for atom in validator.task.atoms_in(validator.state.bits):
        bits |= 1 << task.index(atom)
    return bits


def test_a_plan_that_cannot_be_carried_out_is_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match=r"step 1 \(pick_up apple-1\) cannot be executed"):
        causal_links((kitchen(), PLAN[3:]))
    with pytest.raises(UsageError, match="cannot be executed"):
        causal_links((kitchen(), steps("pick_up moon-1")))


def test_a_plan_without_steps_is_what_is_so_from_the_start() -> None:
    graph = kitchen_graph(kitchen(), ())
    assert [node.tool for node in graph.nodes] == ["finish"]
    assert graph.all_edges == ((GRAPH_START, 0),)
    assert "on . Plate" not in graph.nodes[0].inputs
    assert "on Apple" in graph.nodes[0].inputs


@pytest.mark.parametrize("dirty", [False, True])
def test_a_state_that_a_thing_has_had_from_the_start_is_there_at_the_end(dirty: bool) -> None:
    # "Clean" requires no washing, "washed" does.
    task = kitchen("(and)", "(dirtyable plate-1)" + " (dirty plate-1)" * dirty)
    moved = steps("navigate_to_obj plate-1", "pick_up plate-1")
    plan = causal_links((task, moved))
    assert (Fact("dirty", ("plate-1",), dirty)) in plan.start
    assert bool(missing_states(plan, mentions_of("bring me a clean plate"))) == dirty
    assert missing_states(plan, mentions_of("bring me a washed plate")) == ("wash",)


@pytest.mark.parametrize(
    ("request_text", "right"),
    [
        ("put the apple on the counter top", True),
        ("put the apple and the tomato on the counter top", True),
        ("put the apple on the plate", False),
        # Without a faucet hvr cannot resolve the goal.
        ("wash the plate", None),
        ("close the fridge", True),
        ("open the fridge", False),
        ("make coffee", None),
        ("hold the apple", False),
        ("frobnicate the fridge", None),
    ],
)
def test_without_steps_a_request_is_met_if_its_goal_holds(
    request_text: str, right: bool | None
) -> None:
    plan = causal_links((kitchen("(and)", "(dirtyable plate-1)"), ()))
    found = check_end(plan, request_text)
    assert (None if found.unread else not found.lacking) == right, found


EXTRA = ("navigate_to_obj tomato-1", "pick_up tomato-1", "navigate_to_obj fridge-1")


@pytest.mark.parametrize(
    ("plan", "lacking", "bare"),
    [
        # The fridge must remain open at the end, so that the apple comes out.
        (CHILLED, False, True),
        (CHILLED[:10], True, False),
        ((*CHILLED, "navigate_to_obj fridge-1", "close_obj fridge-1"), False, True),
        ((*CHILLED, *EXTRA), False, False),
        ((*CHILLED, *EXTRA, "put_in tomato-1 fridge-1"), False, False),
        ((*CHILLED[:2], *EXTRA, "put_in tomato-1 fridge-1", *CHILLED[2:]), False, False),
    ],
    ids=["all", "no end", "closed again", "another taken", "another moved", "moved before"],
)  # fmt: skip
def test_a_plan_is_bare_if_it_changes_only_what_its_goal_needs(
    plan: tuple[str, ...], lacking: bool, bare: bool
) -> None:
    also = "(fits tomato-1 fridge-1)"
    found = check_end(causal_links((kitchen("(and)", also), steps(*plan))), REQUEST)
    assert not found.unread
    assert (bool(found.lacking), found.bare) == (lacking, bare)


def kitchen_graph(task: Task, actions: Sequence[GroundAction]) -> PlanGraph:
    return graph_of(causal_links((task, actions)), REQUEST)


def test_the_graph_has_the_links_as_edges_and_an_end() -> None:
    graph = kitchen_graph(kitchen(), PLAN)
    end = len(PLAN)
    assert [n.tool for n in graph.nodes] == [a.name for a in PLAN] + ["finish"]
    assert {(3, 5), (1, 5), (4, 5), (5, 6), (6, end), (10, end)} <= set(graph.edges)
    assert (GRAPH_START, 0) in graph.all_edges and (GRAPH_START, 2) in graph.all_edges
    assert graph.nodes[3].text == "pick up the apple"
    assert "holding Apple" in graph.nodes[3].outputs
    assert "holding Apple" in graph.nodes[5].inputs
    assert "the apple is on the plate" in graph.nodes[end].text


def test_the_end_tells_what_the_request_names_and_the_plan_lacks() -> None:
    full = kitchen_graph(kitchen(), PLAN).nodes[-1].outputs
    assert "* handled other 0" in full and "* cold asked, is so" in full
    assert "* last place named" in full and "* puts named at named" in full
    assert "* cold of its thing named" in full
    short = kitchen_graph(kitchen(), PLAN[:9]).nodes[-1].outputs
    assert "* handled other 1" in short and "* last place other" in short
    unchilled = kitchen_graph(kitchen(), steps(CHILLED[2], CHILLED[3], CHILLED[9], CHILLED[10]))
    assert "* cold asked, is not so" in unchilled.nodes[-1].outputs


def test_words_of_a_request_are_found_whatever_stands_around_them() -> None:
    asked = mentions_of("Quick!! two tomatoes, chilled somehow, onto that plate over there")
    assert [set(t.classes) for t in asked.things] == [{"Tomato"}, {"Plate"}]
    assert asked.things[0].count == 2
    assert asked.states == {("cold", True)}
    assert mentions_of("make coffee").liquids == {"coffee"}
    assert mentions_of("").things == mentions_of("xyzzy").things == ()


def test_names_have_the_role_of_the_preposition_before_them() -> None:
    request = "take a mug from the shelf, put a fork with it on the table next to the toaster"
    roles = {min(t.classes): t.role for t in mentions_of(request).things}
    assert roles["Shelf"] == FROM and roles["DiningTable"] == IN and roles["Toaster"] == NEAR
    assert roles["Mug"] == roles["Fork"] == ""
    cup, knife = mentions_of("a cup with a knife in it").things
    assert (cup.role, knife.role) == ("", WITH)


@pytest.mark.parametrize(
    ("request_text", "said"),
    [
        ("put a washed fork on the table", {"Fork": {("wash", True)}}),
        ("rinse the fork and the knife", {"Fork": {("wash", True)}, "Knife": {("wash", True)}}),
        ("take the apple and cool it in the fridge", {"Apple": {("cold", True), ("hold", True)}}),
        ("the plate should be clean and on the table", {"Plate": {("wash", True)}}),
        ("switch the faucet on", {"Faucet": {("switch", True)}}),
        ("close the fridge", {"Fridge": {("open", False)}}),
        ("microwave the potato", {"Potato": {("heat", True)}}),
        ("put the egg in the microwave", {}),
    ],
)
def test_verbs_and_adjectives_are_said_of_the_things_beside_them(
    request_text: str, said: Mapping[str, set[State]]
) -> None:
    found = mentions_of(request_text).things
    assert {min(t.classes): set(t.states) for t in found if t.states} == said


@pytest.mark.parametrize(
    ("request_text", "held"),
    [
        # A phrase after a place describes the object, not the place.
        ("take the fork from the drawer and keep it in your hand", {"Fork"}),
        ("fill the bowl next to the toaster and have it in hand", {"Bowl"}),
        ("rinse the pear knife and the apple under the tap, in your hand", {"Apple"}),
        # Getting an object means holding it, unless a destination is given.
        ("slice the bread, then give the knife to us", {"Knife"}),
        ("rinse the plate in the sink and give it to me", {"Plate"}),
        ("give us the mug from the shelf", {"Mug"}),
        ("let the fork come over to me", {"Fork"}),
        ("give me a tomato on a plate", set()),
        ("give me a coffee", set()),
        ("give it to me", set()),
    ],
)
def test_what_is_to_be_in_the_hand_is_said_of_its_thing(request_text: str, held: set[str]) -> None:
    things = mentions_of(request_text).things
    assert {c for t in things if ("hold", True) in t.states for c in t.classes} == held


@pytest.mark.parametrize(
    ("request_text", "liquids"),
    [
        ("fill the bowl at the tap and put it on the table", {"water"}),
        ("fill the mug at the coffee machine", {"coffee"}),
        ("fill the bowl at the tap with coffee", {"coffee"}),
        ("put the bowl under the tap", set()),
        ("fill the bowl on the table, then turn the tap on", set()),
    ],
)
def test_what_is_filled_at_a_source_is_filled_with_what_comes_from_it(
    request_text: str, liquids: set[str]
) -> None:
    assert mentions_of(request_text).liquids == liquids


@pytest.mark.parametrize(
    ("request_text", "roles"),
    [
        ("the pot stands on the shelf", {"Pot": "", "Shelf": IN}),
        ("let the plate stand on the table", {"Plate": "", "DiningTable": IN}),
        ("two mugs are to stand on a stand", {"Mug": "", "SideTable": IN}),
        ("the small stand is where the mug goes", {"SideTable": IN, "Mug": ""}),
        ("the cabinet is the place for the plate and the mug",
         {"Cabinet": IN, "Plate": "", "Mug": ""}),
        ("the right spot for the knife is that drawer", {"Knife": "", "Drawer": IN}),
        ("where the apple belongs is the fridge", {"Apple": "", "Fridge": IN}),
        ("place an apple where the fork is; wash a mug", {"Apple": "", "Fork": "", "Mug": ""}),
        ("off to the table with a plate and a mug", {"DiningTable": IN, "Plate": "", "Mug": ""}),
        ("under the tap with that tomato", {"Faucet": NEAR, "Tomato": ""}),
        ("a plate, and put it in the fridge with the tomato",
         {"Plate": "", "Fridge": IN, "Tomato": WITH}),
    ],
)  # fmt: skip
def test_a_place_is_told_from_what_goes_there(request_text: str, roles: Mapping[str, str]) -> None:
    assert {min(t.classes): t.role for t in mentions_of(request_text).things} == roles


def test_names_that_people_mix_up_fit_a_little() -> None:
    assert name_match("Cup", "Mug") is name_match("Mug", "Cup") is NameMatch.LIKE
    assert name_match("Table", "DiningTable") is NameMatch.EXACT
    assert name_match("Apple", "Mug") is NameMatch.NONE


def test_a_reading_is_the_same_for_other_things() -> None:
    apple = reading_of(causal_links((kitchen(), PLAN)), REQUEST)
    renamed_plan = renamed(kitchen(), PLAN, "apple-1", "tomato-1")
    tomato = reading_of(causal_links((kitchen(), renamed_plan)), REQUEST.replace("apple", "tomato"))
    assert apple.request == tomato.request == "put a chilled thing on a thing"
    for one, other in zip(apple.nodes, tomato.nodes, strict=True):
        assert one.tool == other.tool and set(one.inputs) == set(other.inputs)
        assert set(one.outputs) == set(other.outputs)
    assert apple.edges == graph_of(causal_links((kitchen(), PLAN)), REQUEST).edges
    assert "pick up the named thing" in [n.text for n in apple.nodes]


def test_detours_reach_the_goal_too() -> None:
    task = kitchen()
    found = [d for seed in range(5) for d in detours(task, PLAN, Random(seed), most=3)]
    assert found and PLAN not in found
    assert all(Validator(task).check(plan).valid for plan in found)
    assert detours(task, PLAN, Random(1)) == detours(task, PLAN, Random(1))


def test_pieces_are_meant_by_the_name_of_the_whole() -> None:
    assert covers("Tomato", "TomatoSliced") and covers("TomatoSliced", "Tomato")
    assert not covers("Apple", "Tomato") and not covers("AppleSliced", "TomatoSliced")


def test_misses_can_be_carried_out_and_miss_the_goal() -> None:
    task = kitchen()
    others = (steps("navigate_to_obj apple-1", "pick_up apple-1"), PLAN)
    found = misses(task, PLAN, Random(1), others, each=2)
    assert {m.kind for m in found} == set(KINDS)
    for miss in found:
        report = Validator(task).check(miss.actions)
        assert report.executed == len(miss.actions)
        assert report.failure is not None and report.failure.step is None
    assert misses(task, PLAN, Random(1), others) == misses(task, PLAN, Random(1), others)


def test_renaming_takes_the_pieces_along() -> None:
    task = kitchen()
    assert renamed(task, PLAN[3:4], "apple-1", "tomato-1") == (
        GroundAction("pick_up", ("tomato-1",)),
    )


def test_marks_say_which_steps_are_wrong_and_where_some_are_missing() -> None:
    task = kitchen()
    true = causal_links((task, PLAN))
    wrong = causal_links((task, renamed(task, PLAN, "apple-1", "tomato-1")))
    short = causal_links((task, PLAN[:9]))
    good, swapped, cut = kitchen_family(
        REQUEST, "x", true, [("wrong object", wrong), ("missing end", short)]
    )
    assert not any(good.node_labels) and not any(good.edge_labels) and good.cost == 0
    assert [i for i, x in enumerate(swapped.node_labels) if x] == [2, 3, 5, 8, 10, 11]
    end = len(cut.graph.nodes) - 1
    marked = {e for e, x in zip(cut.graph.all_edges, cut.edge_labels, strict=True) if x}
    assert marked and all(b == end for _, b in marked)
    assert swapped.cost > 0 and cut.cost > 0


def test_tools_are_the_actions_with_the_types_of_the_plans() -> None:
    graph = graph_of(causal_links((kitchen(), PLAN)), REQUEST)
    tools = kitchen_tools([graph])
    assert "finish" in tools and "throw_away" in tools
    assert "holding Apple" in tools.tool("pick_up").outputs
    assert tools.linked("pick_up", "put_in")


def test_linked_plans_and_examples_come_back_from_files(tmp_path: Path) -> None:
    plan = causal_links((kitchen(), PLAN))
    assert LinkedPlan.from_json(plan.to_json()) == plan
    assert Fact.parse("(not (on a b))") == Fact("on", ("a", "b"), False)
    example = Example(
        "1", "FloorPlan4 x", "made", (REQUEST,), plan, (("missing end", plan),), (plan,)
    )
    for name in ("a.jsonl", "a.jsonl.xz"):
        write_examples(tmp_path / name, [example])
        assert list(read_examples(tmp_path / name)) == [example]
    assert example.new_scene and not example.new_thing
    (tmp_path / "bad.jsonl").write_text("{}\n")
    with pytest.raises(DataFileError, match=r"bad.jsonl:1: invalid example"):
        list(read_examples(tmp_path / "bad.jsonl"))
    with pytest.raises(DataFileError, match="cannot read"):
        list(read_examples(tmp_path / "none.jsonl"))


def test_actions_without_words_are_said_by_their_names() -> None:
    assert say_action(GroundAction("wipe_off", ("mug-1",)), {"mug-1": "mug"}) == "wipe off mug"
    assert GOAL.startswith("(exists")
