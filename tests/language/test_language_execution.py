"""Sentences from end to end: understood, planned, executed, with the requested outcome."""

from __future__ import annotations

import pytest

from hvr.execution.executor import Executor
from hvr.execution.world import open_world
from hvr.pddl.formulas import Atom
from hvr.worlds.kitchen import Kitchen

# scene, sentence, atoms that hold at the end
EXECUTED = [
    ("1", "make coffee", ["contains mug-1 coffee"]),
    ("5", "put two slices of tomato on a plate", ["on tomatosliced-1 plate-1"]),
    ("10", "wash the fork and put it in a drawer", ["washed fork-1"]),
    ("16", "make a fried egg and serve it", ["cooked eggcracked-1", "on eggcracked-1 plate-1"]),
    ("21", "throw away the lettuce", ["in lettuce-1 garbagecan-1"]),
    ("28", "put the apple in the fridge and then on the table", ["cold apple-1"]),
    ("1", "put the kettle on the stove and turn it on", ["on kettle-1 stoveburner-3"]),
    ("5", "water the plant", ["contains houseplant-1 water"]),
    ("10", "turn on the light and open the fridge", ["toggled lightswitch-1", "opened fridge-1"]),
    ("16", "wash up the dishes", ["washed plate-1", "washed mug-1", "washed cup-1"]),
    ("21", "put a warm potato in the fridge", ["in potato-1 fridge-1"]),
    ("28", "bring me the pepper", ["holding peppershaker-1"]),
    ("1", "pour the wine from the bottle into the mug", ["contains mug-1 wine"]),
    ("21", "all the tomato slices in the bowl", ["in tomatosliced-4 bowl-1"]),
    ("12", "toast a slice of bread and put the bread in the fridge", ["in breadsliced-8 fridge-1"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "text", "atoms"), EXECUTED, ids=[e[1] for e in EXECUTED])
def test_carried_out(policy, scene, text, atoms):
    world = open_world(Kitchen(f"FloorPlan{scene}"))
    goal = policy.reader.goal(text, world.inventory())
    executor = Executor(world, policy, lambda _event: None, lambda _plan: None)
    finished = executor.run(goal.stages)
    assert finished.reached, finished
    facts = world.inventory().facts
    for atom in atoms:
        predicate, *args = atom.split()
        assert Atom(predicate, tuple(args)) in facts, atom


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scene", "text"),
    [
        ("FloorPlan23", "put the pan, the pot, the bowl and the plate in cabinets"),
        ("FloorPlan1", "put the pan and the cup in cabinets and close them all"),
    ],
)
def test_things_go_where_they_have_room(policy, scene, text):
    world = open_world(Kitchen(scene))
    goal = policy.reader.goal(text, world.inventory())
    executor = Executor(world, policy, lambda _event: None, lambda _plan: None)
    finished = executor.run(goal.stages)
    assert finished.reached
    assert finished.replans == 0
