"""Conditions of requests: each is tried in a scene in which it holds and in one in which not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from hvr.errors import HvrError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.grammar import Reader
from hvr.language.paraphrase import NOTHING_LEFT, in_order
from hvr.pddl import Atom
from tests.language.test_own_words import scene

NOTHING = NOTHING_LEFT
MUG_DIRTY = "dirty mug-1"
MUG_WASHED = "the mug has been washed and is clean"


@cache
def changed(*changes: str) -> tuple[Reader, Inventory]:
    """FloorPlan1 with other facts: those with '-' before them are removed."""
    reader, inventory = scene("FloorPlan1")
    facts = set(inventory.facts)
    for change in changes:
        predicate, *args = change.removeprefix("-").split()
        atom = Atom(predicate, tuple(args))
        if change.startswith("-"):
            assert atom in facts
            facts.discard(atom)
        else:
            facts.add(atom)
    return reader, replace(inventory, facts=frozenset(facts))


def said(text: str, *changes: str) -> str:
    reader, inventory = changed(*changes)
    (goal,) = reader.goals(text, inventory)
    return in_order(goal.paraphrase)


APPLE_AWAY = ("-on apple-1 countertop-2", "in apple-1 microwave-1")


@pytest.mark.parametrize(
    ("text", "change", "as_it_is", "otherwise"),
    [
        ("check whether the mug is dirty and if so wash it", (MUG_DIRTY,), NOTHING, MUG_WASHED),
        ("is the mug dirty? if it is, wash it", (MUG_DIRTY,), NOTHING, MUG_WASHED),
        ("should the mug be dirty, wash it", (MUG_DIRTY,), NOTHING, MUG_WASHED),
        ("see if the mug is dirty; if it isn't, open the fridge", (MUG_DIRTY,),
         "the fridge is open", NOTHING),
        ("if the bowl is empty and the mug is clean, open the fridge", (MUG_DIRTY,),
         "the fridge is open", NOTHING),
        ("if neither the mug nor the cup is dirty, open the fridge", (MUG_DIRTY,),
         "the fridge is open", NOTHING),
        ("open the fridge unless the mug or the cup is dirty", (MUG_DIRTY,),
         "the fridge is open", NOTHING),
        ("only open the fridge if everything on the counter is clean", (MUG_DIRTY,),
         "the fridge is open", NOTHING),
        ("put the mug in the sink, but wash it first if it is dirty", (MUG_DIRTY,),
         "the mug is in the sink basin",
         "the mug has been washed, is clean and is in the sink basin"),
        ("if the microwave has nothing in it, open it, else turn it on", APPLE_AWAY,
         "the microwave is open", "the microwave is on"),
        ("if there is something in the microwave, put it in the sink", APPLE_AWAY, NOTHING,
         "the apple is in the sink basin"),
        ("put the mug in the microwave if there is nothing in it, otherwise in the sink",
         APPLE_AWAY, "the mug is in the microwave", "the mug is in the sink basin"),
        ("if the apple is in the fridge or in the microwave, wash it, otherwise the mug",
         APPLE_AWAY, MUG_WASHED, "the apple has been washed and is clean"),
        ("look in the microwave. if you find an apple, take it out", APPLE_AWAY, NOTHING,
         "the apple is in the hand"),
        ("wash the mug and the bowl if they are dirty", (MUG_DIRTY,), NOTHING, MUG_WASHED),
        ("if the mug is neither dirty nor full, open the fridge", (MUG_DIRTY,),
         "the fridge is open", NOTHING),
        ("if either the mug or the apple is in the microwave, wash it", APPLE_AWAY, NOTHING,
         "the apple has been washed and is clean"),
        ("if the microwave has only an apple in it, close the fridge, else open the fridge",
         APPLE_AWAY,
         "the fridge is open", "the fridge is closed"),
        ("if one thing is in the microwave, turn it on", APPLE_AWAY, NOTHING,
         "the microwave is on"),
        ("i think the mug's dirty. if so, wash it", (MUG_DIRTY,), NOTHING, MUG_WASHED),
        ("if you can't find an apple in the microwave, open the fridge", APPLE_AWAY,
         "the fridge is open", NOTHING),
        ("if the mug is dirty wash it, otherwise wash the bowl, and then open the fridge",
         (MUG_DIRTY,),
         "the bowl has been washed and is clean; then the bowl has been washed and is clean; "
         "the fridge is open",
         "the mug has been washed and is clean; then the mug has been washed and is clean; "
         "the fridge is open"),
        ("if there are at least two apples or the mug is dirty, wash the mug", (MUG_DIRTY,),
         NOTHING, MUG_WASHED),
    ],
)  # fmt: skip
def test_both_branches(text: str, change: tuple[str, ...], as_it_is: str, otherwise: str) -> None:
    assert (said(text), said(text, *change)) == (as_it_is, otherwise)


def test_a_condition_behind_each_of_several_things_is_applied_to_each() -> None:
    text = "open every drawer unless it is open"
    assert said(text) == "every drawer is open"
    assert said(text, "opened drawer-1") == "every drawer other than drawer-1 is open"


def test_the_nearest_condition_owns_an_alternative() -> None:
    text = "if the fridge is closed, if the mug is dirty, wash it, otherwise open the fridge"
    assert said(text) == "the fridge is open"
    assert said(text, "opened fridge-1") == NOTHING


def test_what_is_unknown_until_a_look_is_read_after_it() -> None:
    reader, inventory = changed()
    inventory = replace(inventory, unseen=frozenset({"fridge-1"}))
    text = "if there is anything in the fridge, put it on the counter"
    (goal,) = reader.goals(text, inventory)
    assert goal.contingency is not None
    assert goal.contingency.then.deferred and not goal.contingency.otherwise.deferred
    assert goal.contingency.looks == ("fridge-1",)


def test_a_pronoun_never_falls_back_to_another_thing_because_the_first_does_not_fit() -> None:
    with pytest.raises(HvrError, match="apple cannot be put"):
        said("if there is something in the microwave, put it in the toaster", *APPLE_AWAY)
