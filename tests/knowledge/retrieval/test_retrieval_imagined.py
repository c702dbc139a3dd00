"""Predicted states: the graph agrees with the predicted atoms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.base.files import data_path
from hvr.errors import UnknownObjectError, UsageError
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.hypothetical import assume_atoms, hypothetical_copy
from hvr.pddl import Domain, State, Task, parse_domain
from hvr.pddl.formulas import Atom
from hvr.runs.tasks import load_task
from hvr.validation.validator import Validator

OBJECTS = (
    "tomato-1", "tomatosliced-1", "tomatosliced-2", "knife-1", "egg-1", "eggcracked-1", "fridge-1",
    "mug-1", "cup-1", "sinkbasin-1", "faucet-1", "countertop-1", "countertop-2", "stoveburner-1",
    "stoveknob-1", "pan-1", "microwave-1", "coffeemachine-1", "plate-1", "diningtable-1",
    "winebottle-1", "garbagecan-1", "floor-1",
)  # fmt: skip


@pytest.fixture(scope="module")
def domain() -> Domain:
    return parse_domain(data_path("domains") / "kitchen" / "domain.pddl")


def fluents(task: Task) -> frozenset[str]:
    return frozenset(p for p in task.domain.predicates if not task.is_static(p))


def dynamic(graph: KnowledgeGraph, names: frozenset[str]) -> frozenset[Atom]:
    return frozenset(a for a in graph.facts() if a.predicate in names)


def check_derived(graph: KnowledgeGraph) -> None:
    """Check that derived locations are up to date, and that each object has one temperature."""
    direct = {tuple(r) for r in graph.query("SELECT ?a ?b { ?a k:on|k:in ?b }")}
    assert {tuple(r) for r in graph.query("SELECT ?a ?b { ?a k:locatedIn ?b }")} == direct
    within = {tuple(r) for r in graph.query("SELECT DISTINCT ?a ?b { ?a (k:on|k:in)+ ?b }")}
    assert {tuple(r) for r in graph.query("SELECT ?a ?b { ?a k:within ?b }")} == within
    marks = "SELECT ?a { ?a k:historyMark ?v }"
    sub = "SELECT DISTINCT ?a { ?a ?p true . ?p rdfs:subPropertyOf k:historyMark }"
    assert sorted(graph.query(marks).rows) == sorted(graph.query(sub).rows)
    several = "SELECT ?a { ?a k:temperature ?v } GROUP BY ?a HAVING (COUNT(?v) > 1)"
    assert not graph.query(several).rows
    both = "SELECT ?a ?p { ?a ?p true, false }"
    assert not graph.query(both).rows


def test_a_copy_is_the_same_and_apart(kitchen: World) -> None:
    before = kitchen.graph.scene_triples()
    copy = hypothetical_copy(kitchen.graph)
    assert copy.scene_triples() == before
    assume_atoms(copy, [Atom("holding", ("mug-1",))], ["holding", "on", "in", "hand_empty"])
    assert Atom("holding", ("mug-1",)) in copy.facts()
    assert not [a for a in copy.facts() if a.predicate in {"on", "in", "hand_empty"}]
    assert kitchen.graph.scene_triples() == before


def test_the_state_as_it_is_changes_nothing(kitchen: World, domain: Domain) -> None:
    task = Task(domain, kitchen.graph.problem(domain, "now"))
    copy = hypothetical_copy(kitchen.graph)
    assume_atoms(copy, task.initial.atoms(), fluents(task))
    assert copy.scene_triples() == kitchen.graph.scene_triples()


@pytest.mark.slow
@settings(max_examples=12)
@given(st.data())
def test_law_on_random_walks(kitchen: World, domain: Domain, data: st.DataObject) -> None:
    """Apply random actions to some objects; all other objects must stay unchanged."""
    task = Task(domain, kitchen.graph.problem(domain, "walk", OBJECTS))
    changing = fluents(task)
    copy = hypothetical_copy(kitchen.graph)
    others = dynamic(copy, changing) - task.initial.atoms()
    validator = Validator(task)
    for _ in range(data.draw(st.integers(1, 12))):
        possible = validator.applicable_actions()
        action = data.draw(st.sampled_from(possible))
        validator.apply(action)
        if data.draw(st.booleans()):
            continue
        assume_atoms(copy, validator.state.atoms() | others, changing)
        assert dynamic(copy, changing) == validator.state.atoms() | others
        check_derived(copy)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", ["T12"])
def test_law_along_a_whole_plan(kitchen: World, domain: Domain, task_id: str) -> None:
    """Compare the whole scene after each step, forwards and backwards."""
    task = Task(domain, kitchen.graph.problem(domain, "plan"))
    changing = fluents(task)
    copy = hypothetical_copy(kitchen.graph)
    validator = Validator(task)
    states: list[State] = [validator.state]
    for action in load_task(task_id).ground_truth.steps:
        assert validator.apply(action).ok
        states.append(validator.state)
    for state in (*states, states[0]):
        assume_atoms(copy, state.atoms(), changing)
        assert dynamic(copy, changing) == state.atoms()
    assert copy.facts() == kitchen.graph.facts()
    check_derived(copy)


def test_new_pieces_have_a_state(kitchen: World) -> None:
    copy = hypothetical_copy(kitchen.graph)
    now = {a for a in copy.facts() if a.predicate in {"present", "cooked", "hot", "cold"}}
    assume_atoms(
        copy, now | {Atom("present", ("potatosliced-1",))}, ["present", "cooked", "hot", "cold"]
    )
    state = copy.describe("potatosliced-1").state
    assert state == {"isPresent": True, "isCooked": False, "temperature": "roomTemp"}
    more = {Atom("hot", ("potatosliced-1",)), Atom("cooked", ("potatosliced-1",))}
    assume_atoms(copy, now | more, ["present", "cooked", "hot", "cold"])
    state = copy.describe("potatosliced-1").state
    assert state == {"isPresent": False, "isCooked": True, "temperature": "hot"}


def test_only_the_fluents_are_replaced(kitchen: World) -> None:
    copy = hypothetical_copy(kitchen.graph)
    before = copy.facts()
    assume_atoms(copy, [Atom("opened", ("fridge-1",)), Atom("dirty", ("mug-1",))], ["opened"])
    after = copy.facts()
    assert after - before == {Atom("opened", ("fridge-1",))}
    assert {a.predicate for a in before - after} <= {"opened"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("atoms", "names", "error"),
    [
        ([Atom("opened", ("spaceship-1",))], ["opened"], UnknownObjectError),
        ([Atom("on", ("mug-1", "spaceship-1"))], ["on"], UnknownObjectError),
        ([], ["levitating"], UsageError),
        ([], ["pickupable"], UsageError),
        ([], ["fits"], UsageError),
    ],
)
def test_what_cannot_be_supposed(
    kitchen: World, atoms: list[Atom], names: list[str], error: type[Exception]
) -> None:
    copy = hypothetical_copy(kitchen.graph)
    with pytest.raises(error):
        assume_atoms(copy, atoms, names)
    assert copy.facts() == kitchen.graph.facts()
