"""Selection of objects by the names in a model's answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvr.execution.world import World
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.knowledge.retrieval.inventory import Inventory, situation
from hvr.knowledge.retrieval.selection import Matcher, select
from hvr.pddl.formulas import Atom
from tests.knowledge.retrieval.name_table import HELD_OUT, NAMES
from tests.knowledge.retrieval.retrieval_scores import everything, score


@pytest.mark.slow
def test_names_are_mapped_to_classes(lexical: LexicalEmbedder) -> None:
    assert score(NAMES, lexical).right >= 111
    assert score(HELD_OUT, lexical).right >= 28


@pytest.mark.parametrize("cls", everything().ontology.object_types)
def test_every_name_of_the_ontology_is_known(cls: str, lexical: LexicalEmbedder) -> None:
    inventory = everything()
    matcher = Matcher(inventory, lexical, 2.0)  # nothing is similar enough: exact names only
    for label in (cls, *inventory.ontology.labels(cls)):
        _, classes, _ = matcher.match(cls if label == cls else f"the {label.upper()}")
        meant = {c for c in inventory.classes.values()
                 if label.lower() in inventory.ontology.labels(c)}  # fmt: skip
        assert classes
        assert set(classes) <= meant | {cls}


def test_instances_classes_and_what_is_not_there(
    inventory: Inventory, lexical: LexicalEmbedder
) -> None:
    answer = ["Mug", "the coffee machine", "cabinet_7", "a dishwasher", "", "  Mug ", "blender"]
    found = select(answer, inventory, lexical)
    assert found.names == ("mug-1", "coffeemachine-1", "cabinet-7")
    assert found.unmatched == ("a dishwasher", "blender")
    assert found.reasons["coffeemachine-1"] == "the model named 'the coffee machine'"


def test_a_known_class_that_is_absent_is_not_replaced(
    inventory: Inventory, lexical: LexicalEmbedder
) -> None:
    without = {n: c for n, c in inventory.classes.items() if c != "Toaster"}
    found = select(
        ["Toaster", "toasters"], replace(inventory, classes=without), lexical, threshold=0
    )
    assert found.names == ()
    assert found.unmatched == ("Toaster", "toasters")


def test_a_number_that_no_object_has_means_the_class(
    inventory: Inventory, lexical: LexicalEmbedder
) -> None:
    assert select(["mug-17"], inventory, lexical).names == ("mug-1",)


def test_kinds_of_things(inventory: Inventory, lexical: LexicalEmbedder) -> None:
    found = select(["cutlery"], inventory, lexical)
    assert {inventory.classes[n] for n in found.names} == {"ButterKnife", "Fork", "Knife", "Spoon"}


def test_a_sink_is_the_basin_and_the_class_sink_is_both(
    inventory: Inventory, lexical: LexicalEmbedder
) -> None:
    assert select(["sink"], inventory, lexical).names == ("sinkbasin-1",)
    assert select(["Sink"], inventory, lexical).names == ("sink-1", "sinkbasin-1")


def test_one_of_each_situation(inventory: Inventory, lexical: LexicalEmbedder) -> None:
    facts = inventory.facts | {Atom("on", ("pot-1", "stoveburner-2"))}
    changed = replace(inventory, facts=facts - {Atom("in", ("pot-1", "cabinet-1"))})
    burners = select(["burner"], changed, lexical).names
    assert len(burners) == 2
    assert "stoveburner-2" in burners
    assert len({situation(b, changed) for b in burners}) == 2
    assert len(select(["burner"], changed, lexical, per_class=1).names) == 1
    # Four free burners are equally suitable.
    assert len(select(["burner"], inventory, lexical, per_class=4).names) == 1
    both = select(["stoveburner-3", "stoveburner-4"], inventory, lexical, per_class=1)
    assert both.names == ("stoveburner-3", "stoveburner-4")


def test_pieces_come_with_what_they_are_cut_from(
    inventory: Inventory, lexical: LexicalEmbedder
) -> None:
    by_source = select(["tomato"], inventory, lexical).reasons
    assert by_source["tomatosliced-1"] == "a piece of tomato-1"
    by_piece = select(["slices of tomato"], inventory, lexical).reasons
    assert by_piece["tomato-1"] == "what tomatosliced-1 is cut from"
    assert set(by_source) == set(by_piece) == {"tomato-1", "tomatosliced-1", "tomatosliced-2"}
    assert set(select(["tomatosliced-5"], inventory, lexical).names) == {
        "tomatosliced-5",
        "tomato-1",
    }


def test_after_slicing_the_pieces_are_there_and_the_whole_is_not(
    inventory: Inventory, lexical: LexicalEmbedder
) -> None:
    pieces = {p for p, s in inventory.pairs("piece_of") if s == "tomato-1"}
    facts = inventory.facts | {Atom("present", (p,)) for p in pieces}
    sliced = replace(inventory, facts=facts - {Atom("present", ("tomato-1",))})
    expected = ("tomatosliced-1", "tomatosliced-2")
    assert select(["tomato slice"], sliced, lexical).names == expected
    assert select(["tomato"], sliced, lexical).names == expected


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(st.text(max_size=12), st.sampled_from([n for n, _ in (*NAMES, *HELD_OUT)])),
        max_size=6,
    ),
    st.integers(1, 3),
)
def test_whatever_is_answered(kitchen: World, names: list[str], per_class: int) -> None:
    inventory = kitchen.inventory()
    found = select(names, inventory, LexicalEmbedder(), per_class=per_class)
    assert found == select(names, inventory, LexicalEmbedder(), per_class=per_class)
    assert set(found.names) <= set(inventory.classes)
    assert set(found.unmatched) <= {n.strip() for n in names}
    more = select([*names, "Mug"], inventory, LexicalEmbedder(), per_class=per_class)
    assert set(found.names) <= set(more.names)


def test_a_long_sentence_is_no_name(inventory: Inventory, lexical: LexicalEmbedder) -> None:
    long = "mug " * 50_000
    assert select([long], inventory, lexical).unmatched == (long.strip(),)
