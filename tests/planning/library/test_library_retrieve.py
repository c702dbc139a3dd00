"""Retrieval: every offered macro works in the present state and fits the request."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.errors import PddlError
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.pddl import Atom, State, Task, TypedName, parse_formula
from hvr.planning.library import Library, MacroMatch, Origin, Query, lift, retrieve
from hvr.planning.library.candidates import read_words
from hvr.planning.plans import AABlock
from hvr.runs.tasks import paper_task_ids
from hvr.validation import Validator
from tests.planning.library.library_worlds import (
    ONTOLOGY,
    after,
    block,
    graph_of,
    ground_truth,
    learnt,
    room,
    task_in,
)

EMBEDDER = LexicalEmbedder()


def find(
    library: Library,
    name: str,
    task: Task,
    state: State | None = None,
    agent: str = "single-arm",
    *wanted: str,
) -> MacroMatch | None:
    return retrieve(
        library, Query(name=name, agent=agent, postcondition=wanted), task, state or task.initial,
        EMBEDDER, ontology=ONTOLOGY,
    )  # fmt: skip


def assert_works(match: MacroMatch, task: Task, state: State, *wanted: str) -> None:
    validator = Validator(task, state=state)
    for action in match.block.actions:
        report = validator.apply(action)
        assert report.ok, (match.entry.name, report.failure)
    objects = [TypedName(n, kinds) for n, kinds in task.objects.items()]
    for text in (*wanted, *match.block.macro.postcondition):
        assert validator.state.holds(parse_formula(text, task.domain, objects)), text
    for text in match.block.macro.precondition:
        assert state.holds(parse_formula(text, task.domain, objects)), text


@pytest.mark.parametrize("task_id", paper_task_ids())
def test_in_the_state_where_it_was_learnt_every_block_is_found_again(task_id: str) -> None:
    task, plan = ground_truth(task_id)
    library, state = learnt(task_id), task.initial
    for found in plan.blocks:
        # Include the block's lasting effects, which the pipeline knows after planning.
        wanted = [t for t in found.macro.postcondition if "present" not in t]
        match = find(library, found.macro.name, task, state, "single-arm", *wanted)
        assert match is not None, found.macro.name
        assert match.block.macro.name == found.macro.name
        assert_works(match, task, state, *wanted)
        state = after(task, state, found.actions)


NAMES = [
    "Slice the tomato", "Cut the potato into slices", "Slice the bread", "Put the mug on the table",
    "Put the cup on the counter", "Brew coffee", "Make coffee in the mug", "Take the cup",
    "Close the fridge", "Crack the egg into the pan", "Pour wine into the cup", "Take the apple",
    "Put the plate on the dining table", "Cook the potato slice with the stove burner",
]  # fmt: skip
SCENES = ["FloorPlan1", "FloorPlan3", "FloorPlan10", "FloorPlan16"]


@pytest.mark.slow
@settings(max_examples=25)
@given(
    name=st.sampled_from(NAMES),
    scene=st.sampled_from(SCENES),
    agent=st.sampled_from(["single-arm", "dual-arm", "pusher"]),
    moves=st.lists(st.sampled_from(NAMES), max_size=2),
)
def test_whatever_is_offered_works(name: str, scene: str, agent: str, moves: list[str]) -> None:
    task = task_in(scene, agent)
    state = task.initial
    for move in moves:  # also from states after other macro actions
        match = find(learnt(), move, task, state, agent)
        state = state if match is None else after(task, state, match.block.actions)
    match = find(learnt(), name, task, state, agent)
    if match is not None:
        assert_works(match, task, state)


@pytest.mark.slow
def test_in_another_scene_it_binds_other_objects() -> None:
    # Learnt in FloorPlan16, where the mug is in the sink.
    here = task_in("FloorPlan16")
    coffee = block(
        "Make coffee in the mug",
        "(navigate_to_obj mug-1)", "(pick_up mug-1)", "(navigate_to_obj coffeemachine-1)",
        "(put_on mug-1 coffeemachine-1)", "(toggle_on coffeemachine-1)",
        "(toggle_off coffeemachine-1)",
    )  # fmt: skip
    slice_it = block(
        "Slice the tomato",
        "(navigate_to_obj knife-1)", "(pick_up knife-1)", "(navigate_to_obj tomato-1)",
        "(slice_obj tomato-1)",
    )  # fmt: skip
    there = task_in("FloorPlan1")
    for found, text in ((coffee, "countertop"), (slice_it, "countertop-2")):
        library = Library([lift(found, here, here.initial, agent="single-arm")])
        match = find(library, found.macro.name, there)
        if found is slice_it:
            # The only knife lies in a closed drawer; once the drawer is open, the block works.
            assert match is None
            opened = Atom("opened", ("drawer-9",))
            state = there.state([*there.initial.atoms(), opened])
            match = find(library, found.macro.name, there, state)
        else:
            state = there.initial
        assert match is not None
        assert_works(match, there, state)
        assert any(text in literal for literal in match.block.macro.precondition)


# --- words ---


@pytest.fixture(scope="module")
def tomato() -> Library:
    return Library(e for e in learnt() if e.name == "slice ?tomato1")


def test_the_potato_never_gets_the_blocks_of_the_tomato(tomato: Library) -> None:
    task = task_in("FloorPlan16")
    assert find(tomato, "Slice the potato", task) is None
    assert find(tomato, "slice potato-1", task) is None
    assert find(tomato, "Slice", task) is None


def test_a_general_form_is_bound_to_what_the_words_name() -> None:
    library = Library(e for e in learnt() if e.name in {"slice ?potato1", "slice ?bread1"})
    task = task_in("FloorPlan16")
    match = find(library, "Slice the tomato", task)
    assert match is not None
    assert match.generalised
    assert match.block.actions[-1].args == ("tomato-1",)
    assert_works(match, task, task.initial, "(sliced tomato-1)")


def test_as_learnt_comes_before_generalised() -> None:
    match = find(learnt(), "slice potato-1", task_in("FloorPlan16"))
    assert match is not None
    assert match.entry.name == "slice ?potato1"
    assert not match.generalised


@pytest.mark.slow
def test_a_named_object_is_the_one_that_is_bound() -> None:
    task = task_in("FloorPlan16")
    for number in (1, 2):
        match = find(learnt(), f"put cup-1 on countertop-{number}", task)
        if match is not None:
            assert match.block.actions[-1].args == ("cup-1", f"countertop-{number}")
    match = find(learnt(), "put cup-1 on diningtable-1", task)
    assert match is not None
    assert match.block.actions[-1].args == ("cup-1", "diningtable-1")


def test_an_object_that_is_not_there_is_never_bound() -> None:
    assert find(learnt(), "put cup-7 on diningtable-1", task_in("FloorPlan16")) is None


@pytest.mark.parametrize(
    ("asked", "learnt_as"),
    [
        ("Open the fridge", "Close the fridge"),
        ("Turn on the coffee machine", "Turn off the coffee machine"),
        ("Turn the coffee machine on", "Turn the coffee machine off"),
        ("Slice the tomato", "Put the tomato on the counter"),
        ("Fill the mug with water", "Fill the mug with coffee"),
        ("Wash the mug", "Take the mug"),
        ("Put the mug on the counter", "Put the mug on the table"),
    ],
)
def test_what_words_say_against_an_entry_counts(asked: str, learnt_as: str) -> None:
    task = room("single-arm")
    take = block(learnt_as, "(navigate_to_obj mug-1)", "(pick_up mug-1)",
                 "(navigate_to_obj diningtable-1)", "(put_on mug-1 diningtable-1)")  # fmt: skip
    library = Library([lift(take, task, task.initial, agent="single-arm")])
    assert find(library, learnt_as, task) is not None
    assert find(library, asked, task) is None


def test_a_synonym_by_the_ontology_is_understood(tomato: Library) -> None:
    task = task_in("FloorPlan16")
    library = learnt()
    match = find(library, "Cut the bread", task)
    assert match is not None
    assert match.entry.name == "slice ?bread1"
    assert len(tomato) >= 1


@pytest.mark.parametrize("name", ["", "...", "Tidy up", "Dance", "把杯子放在桌上", "the the"])
def test_other_words_find_nothing(name: str) -> None:
    assert find(learnt(), name, task_in("FloorPlan16")) is None


def test_an_empty_library_has_nothing() -> None:
    assert find(Library(), "Slice the tomato", task_in("FloorPlan16")) is None


def test_words_are_read_with_articles_plurals_and_separated_verbs() -> None:
    found = read_words("Turn the coffee machines on", ONTOLOGY, {})
    assert [m.classes for m in found.mentions] == [frozenset({"CoffeeMachine"})]
    assert found.verb == {("toggled", True)}
    found = read_words("Put Mug 1 on it", ONTOLOGY, {"mug-1": "mug"})
    assert [m.name for m in found.mentions] == ["mug-1"]
    assert not found.verb


# --- requests ---


def test_a_wanted_postcondition_binds_and_is_proven() -> None:
    task = task_in("FloorPlan16")
    match = find(
        learnt(), "Put the cup on the table", task, None, "single-arm",
        "(on cup-1 diningtable-1)", "(hand_empty)",
    )  # fmt: skip
    assert match is not None
    assert_works(match, task, task.initial, "(on cup-1 diningtable-1)", "(hand_empty)")


def test_what_does_not_bring_about_what_is_wanted_is_not_offered() -> None:
    task = task_in("FloorPlan16")
    assert find(learnt(), "Take the cup", task) is not None
    assert find(learnt(), "Take the cup", task, None, "single-arm", "(cold cup-1)") is None


def test_a_wanted_condition_need_not_be_a_literal() -> None:
    task = task_in("FloorPlan16")
    wanted = "(exists (?c - cup) (holding ?c))"
    match = find(learnt(), "Take the cup", task, None, "single-arm", wanted)
    assert match is not None


def test_a_wanted_condition_that_is_none_is_an_error() -> None:
    with pytest.raises(PddlError):
        find(learnt(), "Take the cup", task_in("FloorPlan16"), None, "single-arm", "(flying cup-1)")


def test_what_holds_already_is_not_done_again() -> None:
    task, plan = ground_truth("T1")
    first = plan.blocks[0]
    state = after(task, task.initial, first.actions)
    again = find(learnt("T1"), first.macro.name, task, state)
    assert again is None


# --- objects ---


@pytest.mark.slow
def test_the_answer_is_always_the_same() -> None:
    task = task_in("FloorPlan10")
    first = find(learnt(), "Slice the bread", task)
    other = Task(task.domain, graph_of("FloorPlan10").problem(task.domain, "again"))
    again = find(Library(reversed(learnt().entries)), "Slice the bread", other)
    assert first is not None
    assert again is not None
    assert first.block == again.block
    assert first.entry == again.entry


# --- agents ---

TWO_THINGS = block(
    "Carry the mug and the apple",
    "(navigate_to_obj mug-1)", "(pick_up mug-1)", "(navigate_to_obj apple-1)", "(pick_up apple-1)",
)  # fmt: skip
IN_THE_FRIDGE = block(
    "Put the apple in the fridge",
    "(navigate_to_obj apple-1)", "(pick_up apple-1)", "(navigate_to_obj fridge-1)",
    "(open_obj fridge-1)", "(put_in apple-1 fridge-1)", "(close_obj fridge-1)",
)  # fmt: skip
ON_THE_TABLE = block(
    "Put the mug on the table",
    "(navigate_to_obj mug-1)", "(pick_up mug-1)", "(navigate_to_obj diningtable-1)",
    "(put_on mug-1 diningtable-1)",
)  # fmt: skip


@pytest.mark.parametrize("taught", [TWO_THINGS, IN_THE_FRIDGE], ids=["two things", "fridge"])
def test_what_takes_two_hands_is_not_offered_to_one(taught: AABlock) -> None:
    task = room("dual-arm")
    library = Library([lift(taught, task, task.initial, agent="dual-arm")])
    assert find(library, taught.macro.name, task, None, "dual-arm") is not None
    assert find(library, taught.macro.name, room("single-arm")) is None


def test_what_two_hands_have_learnt_and_one_can_do_is_offered() -> None:
    task = room("dual-arm")
    library = Library([lift(ON_THE_TABLE, task, task.initial, agent="dual-arm")])
    match = find(library, "Put the mug on the table", room("single-arm"))
    assert match is not None
    assert match.entry.agent == "dual-arm"
    assert_works(match, room("single-arm"), room("single-arm").initial)


def test_what_one_hand_has_learnt_is_offered_to_two_and_not_to_none() -> None:
    task = room("single-arm")
    library = Library([lift(ON_THE_TABLE, task, task.initial, agent="single-arm")])
    assert find(library, "Put the mug on the table", room("dual-arm"), None, "dual-arm") is not None
    assert find(library, "Put the mug on the table", room("pusher"), None, "pusher") is None


def test_opening_needs_no_hand_for_a_pusher() -> None:
    task = room("single-arm")
    opened = block("Open the fridge", "(navigate_to_obj fridge-1)", "(open_obj fridge-1)")
    library = Library([lift(opened, task, task.initial, agent="single-arm")])
    match = find(library, "Open the fridge", room("pusher"), None, "pusher")
    assert match is not None
    assert_works(match, room("pusher"), room("pusher").initial)


def test_an_own_block_comes_before_that_of_another_agent() -> None:
    single, dual = room("single-arm"), room("dual-arm")
    library = Library([
        lift(ON_THE_TABLE, single, single.initial, agent="single-arm"),
        lift(ON_THE_TABLE, dual, dual.initial, agent="dual-arm"),
    ])  # fmt: skip
    for agent in ("single-arm", "dual-arm"):
        match = find(library, "Put the mug on the table", room(agent), None, agent)
        assert match is not None
        assert match.entry.agent == agent


def test_of_equals_the_one_that_was_learnt_for_the_same_request_comes_first() -> None:
    task = room("single-arm")
    beside = block(
        ON_THE_TABLE.macro.name, *map(str, ON_THE_TABLE.actions), "(navigate_to_obj apple-1)"
    )
    ways = {"tidy up": ON_THE_TABLE, "serve a snack": beside}
    library = Library([
        lift(way, task, task.initial, agent="single-arm", origin=Origin(request=request))
        for request, way in ways.items()
    ])  # fmt: skip
    for request, way in ways.items():
        match = retrieve(
            library,
            Query(name="Put the mug on the table", agent="single-arm", request=request),
            task, task.initial, EMBEDDER, ontology=ONTOLOGY,
        )  # fmt: skip
        assert match is not None
        assert match.block.actions == way.actions
