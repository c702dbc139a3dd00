"""Choice of a cutting tool: visible ones first, then the ontology's preference."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hvr.knowledge.ontology import INSTRUMENT
from hvr.knowledge.retrieval.inventory import Inventory, ObjectSelection
from hvr.pddl.formulas import Atom


def test_the_preferred_kind_comes_first_where_both_lie_open(inventory: Inventory) -> None:
    kinds = [inventory.classes[n] for n in inventory.tools(INSTRUMENT, "slicing")]
    assert kinds == ["Knife", "ButterKnife"]
    assert inventory.preferred("slicing") == {"Knife"}


def test_what_must_not_be_used_or_is_not_there_is_no_tool(inventory: Inventory) -> None:
    best, other = inventory.tools(INSTRUMENT, "slicing")
    assert replace(inventory, avoided=frozenset({best})).tools(INSTRUMENT, "slicing") == (other,)
    gone = replace(inventory, facts=inventory.facts - {Atom("present", (best,))})
    assert gone.tools(INSTRUMENT, "slicing") == (other,)


@pytest.mark.parametrize("name", ["knife-1", "blade-1"])
def test_the_choice_follows_the_class_and_not_the_name(inventory: Inventory, name: str) -> None:
    def named(old: str) -> str:
        return name if old == "knife-1" else old

    facts = frozenset(Atom(a.predicate, tuple(map(named, a.args))) for a in inventory.facts)
    classes = {named(n): c for n, c in inventory.classes.items()}
    renamed = replace(inventory, classes=classes, facts=facts)
    chosen = ObjectSelection(renamed, {"butterknife-1": "wanted"})
    chosen.tool()
    assert list(chosen.reasons) == ["butterknife-1", name]
    sharp = ObjectSelection(renamed, {name: "wanted"})
    sharp.tool()
    assert list(sharp.reasons) == [name]
