"""Clusters across agents, and the common part of their members."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from hvr.planning.library import Library, lift
from hvr.planning.library.clusters import (
    MIN_SIMILARITY,
    find_clusters,
    generalise,
    least_common_class,
    signature,
    similarity,
)
from hvr.planning.library.entry import bind_literal, literal_text, make, parse_literal
from tests.planning.library.library_strategies import libraries
from tests.planning.library.library_worlds import ONTOLOGY, block, learnt, room

PUSH = block(
    "Move the mug to the table", "(navigate_to_obj mug-1)", "(push_to mug-1 diningtable-1)"
)
CARRY = block(
    "Put the mug on the table",
    "(navigate_to_obj mug-1)", "(pick_up mug-1)", "(navigate_to_obj diningtable-1)",
    "(put_on mug-1 diningtable-1)",
)  # fmt: skip


def across_agents() -> Library:
    pusher, single = room("pusher"), room("single-arm")
    return Library([
        lift(PUSH, pusher, pusher.initial, agent="pusher"),
        lift(CARRY, single, single.initial, agent="single-arm"),
        lift(CARRY.replace(macro=PUSH.macro), room("dual-arm"), room("dual-arm").initial,
             agent="dual-arm"),
    ])  # fmt: skip


def test_pushing_and_carrying_the_mug_to_the_table_are_one_cluster() -> None:
    (cluster,) = find_clusters(across_agents(), ONTOLOGY)
    assert cluster.agents == ("dual-arm", "pusher", "single-arm")
    assert [str(s) for s in cluster.variants("pusher")[0].steps] == [
        "(navigate_to_obj ?mug1)", "(push_to ?mug1 ?diningtable1)",
    ]  # fmt: skip
    general = cluster.general
    assert ("?mug1", "Mug") in general.parameters
    assert ("?diningtable1", "DiningTable") in general.parameters
    assert {"(on ?mug1 ?diningtable1)", "(not (on ?mug1 ?countertop1))"} == set(
        general.postcondition
    )
    assert {"(on ?mug1 ?countertop1)", "(pickupable ?mug1)"} <= set(general.precondition)
    # Only the pusher needs adjacent surfaces, and only hands must be empty.
    assert not any("beside" in t or "hand" in t for t in general.precondition)
    assert general.name == "… ?mug1 … ?diningtable1"


@pytest.mark.slow
def test_slicing_things_is_one_cluster_with_a_general_form() -> None:
    library = Library(e for e in learnt() if e.name.startswith("slice") and len(e.steps) == 4)
    assert len({e.name for e in library}) >= 2
    (cluster,) = find_clusters(library, ONTOLOGY)
    general = cluster.general
    classes = dict(general.parameters)
    (sliced,) = [t for t in general.postcondition if t.startswith("(sliced")]
    variable = sliced.removeprefix("(sliced ").rstrip(")")
    assert general.name == f"slice {variable}"
    for entry in library:
        own = next(v for v, part in general.roles[entry.id].items() if part == variable)
        kind = ONTOLOGY.class_of_pddl_type(entry.types[own])
        assert kind is not None
        assert ONTOLOGY.is_a(kind, classes[variable])
    assert f"(sliceable {variable})" in general.precondition
    assert any(t.startswith("(cutting_tool ?") for t in general.precondition)


def test_opposites_are_not_one_cluster() -> None:
    task = room("single-arm")
    opened = room("single-arm", "(opened fridge-1)")
    library = Library([
        lift(block("Open the fridge", "(navigate_to_obj fridge-1)", "(open_obj fridge-1)"),
             task, task.initial, agent="single-arm"),
        lift(block("Close the fridge", "(navigate_to_obj fridge-1)", "(close_obj fridge-1)"),
             opened, opened.initial, agent="single-arm"),
    ])  # fmt: skip
    assert len(find_clusters(library, ONTOLOGY)) == 2


@pytest.mark.slow
@settings(max_examples=25)
@given(libraries)
def test_every_macro_action_is_in_one_cluster_whatever_the_order(library: Library) -> None:
    found = find_clusters(library, ONTOLOGY)
    ids = [e.id for c in found for e in c.members]
    assert sorted(ids) == sorted(e.id for e in library)
    assert find_clusters(Library(reversed(library.entries)), ONTOLOGY) == found


@pytest.mark.slow
def test_all_members_of_a_cluster_are_alike() -> None:
    for cluster in find_clusters(learnt(), ONTOLOGY):
        marks = [signature(e) for e in cluster.members]
        assert all(similarity(a, b) >= MIN_SIMILARITY for a in marks for b in marks)


def test_a_general_form_says_nothing_that_a_member_denies() -> None:
    for cluster in find_clusters(learnt(), ONTOLOGY):
        general = cluster.general
        for entry in cluster.members:
            roles = {part: v for v, part in general.roles[entry.id].items()}
            for texts, own in (
                (general.precondition, entry.precondition),
                (general.postcondition, entry.postcondition),
            ):
                said = {literal_text(bind_literal(parse_literal(t), roles)) for t in texts}
                assert said <= set(own)
            for variable, kind in general.parameters:
                mine = ONTOLOGY.class_of_pddl_type(entry.types[roles[variable]])
                assert mine is None or ONTOLOGY.is_a(mine, kind)


def test_one_member_is_its_own_general_form_up_to_names() -> None:
    for entry in learnt("T2"):
        form = generalise([entry], ONTOLOGY)
        assert len(form.precondition) == len(entry.precondition)
        assert len(form.postcondition) == len(entry.postcondition)
        assert len(form.parameters) == len(entry.parameters)


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["mug"], "Mug"),
        (["mug", "mug"], "Mug"),
        (["tomato", "potato", "lettuce"], "Vegetable"),
        (["knife", "butterknife"], "CuttingTool"),
        (["mug", "unheard-of"], "PhysicalObject"),
    ],
)
def test_the_least_common_class(types: list[str], expected: str) -> None:
    found = least_common_class(types, ONTOLOGY)
    assert found == expected or set(ONTOLOGY.subclasses(found)) <= set(
        ONTOLOGY.subclasses(expected)
    )
    for kind in types:
        known = ONTOLOGY.class_of_pddl_type(kind)
        assert known is None or ONTOLOGY.is_a(known, found)


def test_similarity_is_symmetric_and_one_for_the_same() -> None:
    marks = [signature(e) for e in learnt()]
    for a in marks[:12]:
        assert similarity(a, a) == 1.0
        for b in marks:
            assert similarity(a, b) == similarity(b, a)
            assert 0 <= similarity(a, b) <= 1


def test_the_cluster_of_an_entry() -> None:
    library = across_agents()
    for entry in library:
        assert entry in library.cluster_of(entry.id, ONTOLOGY).members
    other = library.add([make(replace(library.entries[0], agent="another"))])
    assert len(other.cluster_of(library.entries[0].id, ONTOLOGY).members) == 4
