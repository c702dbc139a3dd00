"""The problem contains exactly the objects that a goal needs."""

from __future__ import annotations

import pytest

from hvr.knowledge.retrieval.relevance import relevant_objects
from hvr.pddl import TypedName, parse_formula
from tests.language.goal_sets import world_of

# scene, sentence, required types, forbidden types
NEEDED = [
    ("1", "make coffee", "mug coffeemachine", "knife toaster microwave"),
    ("5", "water the plant", "houseplant cup faucet sinkbasin", "mug fridge"),
    ("5", "light the stove", "stoveburner stoveknob", "pan"),
    ("21", "all the tomato slices in the bowl", "tomato bowl tomatosliced", "plate"),
    ("1", "fry an egg", "egg eggcracked pan stoveburner stoveknob", "microwave toaster"),
    ("1", "toast a slice of bread", "bread breadsliced toaster", "microwave pan"),
    ("16", "wash the fork", "fork faucet sinkbasin", "knife plate"),
    ("1", "fill the cup with wine", "cup winebottle", "faucet"),
    ("28", "heat the potato", "potato microwave", "toaster knife"),
]


@pytest.mark.parametrize(("scene", "text", "there", "absent"), NEEDED, ids=[n[1] for n in NEEDED])
def test_relevant(policy, understand, scene, text, there, absent):
    world = world_of(f"FloorPlan{scene}")
    inventory = world.inventory()
    objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in inventory.classes]
    goals = [parse_formula(s.wanted, policy.domain, objects, file="<goal>")
             for s in understand(scene, text).stages]  # fmt: skip
    relevant = relevant_objects(goals, inventory)
    kinds = {name.rsplit("-", 1)[0] for name in relevant.names}
    assert set(there.split()) <= kinds
    assert not set(absent.split()) & kinds
    assert len(relevant.names) <= 16
    assert all(relevant.reasons.values())
