"""Which tool is chosen to cut with: what lies in the open, then what the ontology prefers."""

from __future__ import annotations

from dataclasses import replace

from hvr.pddl.model import Atom
from hvr.retrieval.inventory import Inventory


def test_the_preferred_kind_comes_first_where_both_lie_open(inventory: Inventory) -> None:
    kinds = [inventory.classes[n] for n in inventory.tools("cutting_tool", "slicing")]
    assert kinds == ["Knife", "ButterKnife"]
    assert inventory.preferred("slicing") == {"Knife"}


def test_what_must_not_be_used_or_is_not_there_is_no_tool(inventory: Inventory) -> None:
    best, other = inventory.tools("cutting_tool", "slicing")
    assert replace(inventory, avoided=frozenset({best})).tools("cutting_tool", "slicing") == (
        other,
    )
    gone = replace(inventory, facts=inventory.facts - {Atom("present", (best,))})
    assert gone.tools("cutting_tool", "slicing") == (other,)
