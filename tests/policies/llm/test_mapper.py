"""The action set and the mapper, in a kitchen."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.base.files import data_path
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.pddl import TRUE, GroundAction, Task, applicable_actions, ground_all, parse_domain
from hvr.policies.llm.answers import ActionText, read_actions
from hvr.policies.llm.answers.conditions import read_literals
from hvr.policies.llm.mapper import ActionSet, Mapper
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene
from tests.planning.search.planning_worlds import room_tasks, states
from tests.policies.llm.answers.answer_tables import LITERALS, MAPPED, WHOLE


def kitchen(scene: str) -> Task:
    graph = KnowledgeGraph.create(None, load_ontology())
    inventory = World(Kitchen(load_scene(scene), 0), graph).inventory()
    domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
    return Task(domain, graph.problem(domain, "task", inventory.classes, TRUE))


@pytest.fixture(scope="module")
def actions() -> ActionSet:
    return ActionSet(kitchen("FloorPlan16"))


@pytest.fixture(scope="module")
def mapper(actions: ActionSet) -> Mapper:
    return Mapper(actions, LexicalEmbedder())


def action(text: str) -> GroundAction:
    name, *args = text.split()
    return GroundAction(name, tuple(args))


# The action set -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("slice_obj tomato-1", True),
        ("slice_obj mug-1", False),
        ("slice_obj nothing-1", False),
        ("slice tomato-1", False),
        ("slice_obj tomato-1 knife-1", False),
        ("toggle_on stoveburner-1", True),
        ("toggle_on stoveknob-1", True),
        ("toggle_on mug-1", False),
        ("put_on mug-1 coffeemachine-1", True),
        ("put_on mug-1 mug-1", False),
        ("put_in mug-1 coffeemachine-1", False),
        ("pour pot-1 mug-1", True),
        ("pour countertop-1 mug-1", False),
        ("pour pot-1 apple-1", False),
        ("drop_obj fridge-1", False),
        ("throw_away apple-1 garbagecan-1", True),
        ("throw_away apple-1 fridge-1", False),
        ("pick_up water", False),
    ],
)
def test_the_action_set_has_what_can_be_done(actions: ActionSet, text: str, valid: bool) -> None:
    assert (action(text) in actions) == valid
    assert (action(text) in actions.of(action(text).name)) == valid


@pytest.mark.slow
def test_enumeration_and_membership_agree(actions: ActionSet) -> None:
    found = set(actions)
    assert len(found) == len(actions)
    assert found == {a for a in ground_all(actions.task) if a in actions}


@pytest.mark.slow
@settings(max_examples=25)
@given(room_tasks())
def test_whatever_becomes_applicable_is_in_the_action_set(task: Task) -> None:
    found = ActionSet(task)
    for bits in list(states(task))[:50]:
        state = task.state(task.atoms_in(bits))
        for applicable in applicable_actions(state):
            assert applicable in found
            assert applicable in found.of(applicable.name)


# The mapper -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "holding", "meant"), [c[1:] for c in MAPPED], ids=[c[0] for c in MAPPED]
)
def test_the_mapper(mapper: Mapper, text: str, holding: str, meant: str | None) -> None:
    (written,) = read_actions(text).actions
    mapped = mapper.map(written, holding or None)
    assert mapped.action == (action(meant) if meant else None), mapped.note
    assert mapped.exact or mapped.note


@pytest.mark.parametrize(("text", "meant"), WHOLE)
def test_whole_answers(mapper: Mapper, text: str, meant: str) -> None:
    found = [mapper.map(written).action for written in read_actions(text).actions]
    assert "|".join(str(a).strip("()") for a in found) == meant


@pytest.mark.parametrize(("text", "meant"), [c[1:] for c in LITERALS], ids=[c[0] for c in LITERALS])
def test_literals(mapper: Mapper, text: str, meant: str | None) -> None:
    (literal,), _ = read_literals(text)
    assert mapper.map_literal(literal).literal == meant


@pytest.mark.slow
def test_every_valid_action_maps_to_itself(mapper: Mapper, actions: ActionSet) -> None:
    for valid in actions:
        mapped = mapper.map(ActionText(valid.name, valid.args))
        assert mapped.exact and mapped.action == valid


def test_the_first_available_instance_is_taken(actions: ActionSet) -> None:
    text = ActionText("navigate_to_obj", ("CounterTop",))
    ordered = Mapper(actions, LexicalEmbedder(), ("countertop-2", "countertop-1"))
    assert ordered.map(text).action == action("navigate_to_obj countertop-2")


def test_notes_say_why_there_is_no_action(mapper: Mapper) -> None:
    def note(name: str, *args: str) -> str:
        return mapper.map(ActionText(name, args)).note

    assert "like no action" in note("teleport", "mug-1")
    assert "no object like 'unicorn-1'" in note("pick_up", "unicorn-1")
    assert "(slice_obj mug-1) can never be done" in note("slice_obj", "mug-1")


class Stubborn:
    """An embedder that finds all texts equally similar."""

    def __init__(self, likeness: float) -> None:
        self.likeness = likeness

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        del query
        return (self.likeness,) * len(candidates)


WORDS = st.text(max_size=20) | st.sampled_from(["put_on", "mug-1", "Mug", "stove", "the sink", "²"])


@pytest.mark.slow
@settings(max_examples=40)
@given(
    name=WORDS, args=st.lists(WORDS, max_size=8), likeness=st.sampled_from([None, 0.0, 0.9, 1.0])
)
def test_what_is_mapped_is_valid(
    actions: ActionSet, name: str, args: list[str], likeness: float | None
) -> None:
    embedder = LexicalEmbedder() if likeness is None else Stubborn(likeness)
    mapped = Mapper(actions, embedder).map(ActionText(name, tuple(args)), "mug-1")
    assert mapped.action is None or mapped.action in actions
    assert mapped == Mapper(actions, embedder).map(ActionText(name, tuple(args)), "mug-1")
