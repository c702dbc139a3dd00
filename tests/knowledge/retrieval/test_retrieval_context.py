"""Descriptions of objects in prompts."""

from __future__ import annotations

import pytest

from hvr.errors import UnknownObjectError
from hvr.execution.world import World, open_world
from hvr.knowledge.hypothetical import assume_atoms, hypothetical_copy
from hvr.knowledge.retrieval.context import class_context, object_context
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.knowledge.retrieval.selection import expand, select
from hvr.models.model import estimate_tokens
from hvr.pddl.formulas import Atom
from hvr.runs.tasks import load_task
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene

CHANGING = ("on", "in", "holding", "hand_empty", "near", "present", "opened", "toggled",
            "sliced", "cooked", "hot", "cold", "dirty", "filled", "contains", "washed")  # fmt: skip


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("mug-1", "mug-1 (Mug): in sinkbasin-1; not dirty, not filled; "
                  "can be picked up, filled; container"),
        ("egg-1", "egg-1 (Egg): in fridge-1; cold; can be picked up, cracked"),
        ("eggcracked-1", "eggcracked-1 (EggCracked): does not exist yet: "
                         "made by cracking egg-1; can be picked up"),
        ("fridge-1", "fridge-1 (Fridge): not opened; can be opened; container, cold source"),
        ("coffeemachine-1", "coffeemachine-1 (CoffeeMachine): not toggled; can be switched; "
                            "makes coffee; takes one Mug"),
        ("stoveburner-3", "stoveburner-3 (StoveBurner): not toggled; heat source; "
                          "takes one Pan or Pot; switched by stoveknob-4"),
        ("stoveknob-4", "stoveknob-4 (StoveKnob): not toggled; can be switched; "
                        "knob of stoveburner-3"),
        ("sinkbasin-1", "sinkbasin-1 (SinkBasin): container; water from faucet-1"),
        ("knife-1", "knife-1 (Knife): on countertop-1; can be picked up; cutting tool"),
        ("winebottle-1", "winebottle-1 (WineBottle): on countertop-1; filled with wine; "
                         "can be picked up, filled"),
        ("sink-1", "sink-1 (Sink)"),
    ],
)  # fmt: skip
def test_a_line_says_what_matters(kitchen: World, name: str, line: str) -> None:
    assert object_context(kitchen.graph, [name]) == line


def test_a_predicted_state_is_described(kitchen: World) -> None:
    graph = hypothetical_copy(kitchen.graph)
    gone = {Atom("present", ("tomato-1",)), Atom("on", ("tomato-1", "countertop-1")),
            Atom("hand_empty"), Atom("on", ("plate-1", "diningtable-1"))}  # fmt: skip
    new = {Atom("present", ("tomatosliced-1",)), Atom("on", ("tomatosliced-1", "countertop-1")),
           Atom("sliced", ("tomato-1",)), Atom("holding", ("plate-1",)),
           Atom("dirty", ("plate-1",)), Atom("hot", ("plate-1",)), Atom("washed", ("plate-1",)),
           Atom("near", ("fridge-1",)), Atom("opened", ("fridge-1",)),
           Atom("on", ("pot-1", "stoveburner-1"))}  # fmt: skip
    now = {a for a in graph.facts() if a.predicate in CHANGING}
    assume_atoms(graph, (now - gone) | new, CHANGING)
    lines = object_context(
        graph, ["tomato-1", "tomatosliced-1", "plate-1", "fridge-1", "stoveburner-1"]
    ).splitlines()
    assert lines == [
        "fridge-1 (Fridge): near the robot, opened; can be opened; container, cold source",
        "plate-1 (Plate): held by the robot; dirty, hot, washed; can be picked up; surface",
        "stoveburner-1 (StoveBurner): not toggled; heat source; takes one Pan or Pot; "
        "switched by stoveknob-1; taken up by pot-1",
        "tomato-1 (Tomato): does not exist any more: sliced",
        "tomatosliced-1 (TomatoSliced): on countertop-1; can be picked up",
    ]


def test_each_object_once_in_a_fixed_order(kitchen: World) -> None:
    names = kitchen.graph.objects()
    text = object_context(kitchen.graph, [*names, *names[::-1]])
    assert text == object_context(kitchen.graph, reversed(names))
    said = [line.split(" (")[0] for line in text.splitlines()]
    assert sorted(said) == sorted(names)
    assert said.index("cabinet-2") < said.index("cabinet-10")


def test_classes_without_names_of_objects(kitchen: World) -> None:
    names = ["mug-1", "tomatosliced-1", "tomatosliced-2", "cabinet-1", "cabinet-2", "toaster-1",
             "breadsliced-1"]  # fmt: skip
    assert class_context(kitchen.graph, names).splitlines() == [
        "BreadSliced: can be picked up; made by slicing Bread; none yet",
        "Cabinet: can be opened; container; 2 there",
        "Mug: can be picked up, filled; container; in SinkBasin; 1 there",
        "Toaster: can be switched; heat source; takes one BreadSliced; cooks BreadSliced; 1 there",
        "TomatoSliced: can be picked up; made by slicing Tomato; none yet",
    ]
    everything = class_context(kitchen.graph, kitchen.graph.objects())
    assert "-" not in everything
    assert everything.count("\n") + 1 == len(set(kitchen.inventory().classes.values()))


def test_nothing_and_unknown_names(kitchen: World) -> None:
    assert object_context(kitchen.graph, []) == ""
    assert class_context(kitchen.graph, []) == ""
    with pytest.raises(UnknownObjectError, match="spaceship-1"):
        object_context(kitchen.graph, ["spaceship-1"])


@pytest.mark.parametrize("scene", ["FloorPlan16", "FloorPlan7"])
def test_contexts_are_short(scene: str) -> None:
    """T12 names the most classes; about 25 tokens per object, 700 in total."""
    world = open_world(Kitchen(load_scene(scene), 0))
    inventory = world.inventory()
    task = load_task("T12")
    chosen = select(task.requires, inventory, LexicalEmbedder())
    names = [*chosen.names, *expand(chosen.names, inventory)]
    assert set(task.requires) <= {inventory.classes[n] for n in names}
    text = object_context(world.graph, names)
    assert estimate_tokens(text) <= 700
    assert estimate_tokens(text) <= 28 * len(names)
    assert estimate_tokens(class_context(world.graph, names)) < estimate_tokens(text)
    whole = object_context(world.graph, world.graph.objects())
    assert estimate_tokens(whole) <= 28 * len(world.graph.objects())
