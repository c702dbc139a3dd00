"""Compare the walk of hvr's search for hidden objects with an informed searcher's.

    python benchmarks/search.py --things 200 --seed 1

In each case, an object of a kitchen is put in a place drawn from a distribution. The robot (sight
`visible`) knows the room but not this place. The distribution is the share of each class of places
for objects of this class in every second kitchen, with equally likely places within a class. The
robot learns its frequencies only from the other kitchens. The informed searcher is the same robot,
except that it knows the distribution; it does not know the place.

walk metres between the robot's positions until it sees the object actions steps of 0.25 m, opening,
closing and looking around
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conditions import conditions
from inputs import measured

from hvr.execution.belief import Sight
from hvr.execution.perception import AROUND, Sensors
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.pddl import Atom, GroundAction
from hvr.worlds.faults import effects
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import PlaceCounts, scene_names
from hvr.worlds.thor.skills import GRID
from tools.count_places import count_places

SENSORS = Sensors(Sight.VISIBLE)


class Searcher(World):
    """A robot that searches by learnt frequencies or, if `true` is given, by that distribution."""

    true: Mapping[str, float] | None = None

    def chances(
        self, thing: str, places: Collection[str], inventory: Inventory
    ) -> Mapping[str, float]:
        if self.true is None:
            return super().chances(thing, places, inventory)
        return {place: chance for place, chance in self.true.items() if place in places}


@dataclass
class Walk:
    found: bool = False
    metres: float = 0.0
    actions: float = 0.0
    places: int = 0


@dataclass(frozen=True)
class Hidden:
    """An object and its place, which was drawn from the distribution `true` over places."""

    scene: str
    thing: str
    place: str
    true: Mapping[str, float]


def distribution(thing: str, inventory: Inventory, counts: PlaceCounts) -> Mapping[str, float]:
    """Return the probability that each place of a room holds an object, from counts by class."""
    known = counts.get(inventory.classes[thing], {})
    fitting = [p for p in inventory.classes if Atom("fits", (thing, p)) in inventory.facts]
    fitting = [p for p in fitting if not inventory.true("pickupable", p)]
    sizes = {inventory.classes[p]: 0 for p in fitting}
    for place in fitting:
        sizes[inventory.classes[place]] += 1
    weights = {p: known.get(inventory.classes[p], 0) / sizes[inventory.classes[p]] for p in fitting}
    total = sum(weights.values())
    return {p: weight / total for p, weight in weights.items() if weight} if total else {}


def opened(scene: str) -> Searcher:
    return Searcher(Kitchen(scene), KnowledgeGraph.create(None, load_ontology()), sensors=SENSORS)


def hidden_things(scenes: tuple[str, ...], counts: PlaceCounts, seed: int) -> Iterator[Hidden]:
    """Yield an endless sequence of random objects with their hiding places."""
    chance = random.Random(seed)
    inventories: dict[str, Inventory] = {}
    while True:
        scene = chance.choice(scenes)
        if scene not in inventories:
            world = opened(scene)
            inventories[scene] = world.inventory()
            world.graph.close()
        inventory = inventories[scene]
        single = [n for n in inventory.classes if len(inventory.of(inventory.classes[n])) == 1]
        things = [n for n in single if inventory.true("pickupable", n) and n in inventory.parents]
        thing = chance.choice(sorted(things))
        true = distribution(thing, inventory, counts)
        if len(true) < 2:
            continue
        places = sorted(true)
        place = chance.choices(places, [true[p] for p in places])[0]
        yield Hidden(scene, thing, place, true)


def search(case: Hidden, counts: PlaceCounts, *, informed: bool) -> Walk | None:
    """Return the walk until the object is seen; None if it cannot be put in its place."""
    world = opened(case.scene)
    try:
        ids = [world.names.object_id(n) for n in (case.thing, case.place)]
        if not effects.occupy(world.env, *ids):
            return None
        kind = "in" if Atom("in", (case.thing, case.place)) in world.inventory().facts else "on"
        parent = world.scene.objects[case.thing].parents[0]
        world.perception.revise((), [Atom(kind, (case.thing, parent))])
        world.graph.update(world.scene)
        world.place_counts = counts
        world.true = case.true if informed else None
        return _walk(world, case.thing)
    finally:
        world.graph.close()


def _walk(world: Searcher, thing: str) -> Walk:
    walk, searched, step, door = Walk(), set[str](), 0, ""

    def act(name: str, target: str) -> None:
        nonlocal step
        step += 1
        before = world.perception.stands_at
        world.act(step, GroundAction(name, (target,)), (target,))
        metres = math.dist(before, world.perception.stands_at)
        walk.metres += metres
        walk.actions += 1 + (metres / GRID if name == "navigate_to_obj" else 0.0)

    def seen() -> bool:
        return thing not in world.perception.lost

    while not seen():
        order = world.search_order([thing], searched)
        if not order:
            return walk
        place = order[0]
        searched.add(place)
        walk.places += 1
        if door:
            act("close_obj", door)
            door = ""
        act("navigate_to_obj", place)
        attributes = world.scene.objects[place].attributes
        if not seen() and attributes.get("openable") and not attributes.get("isOpen"):
            act("open_obj", place)
            door = place
        if not seen():
            world.look_around(step)
            walk.actions += len(AROUND)
    walk.found = True
    return walk


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--things", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(conditions(options.seed))
    kitchens = [n for n in scene_names("kitchen") if int(n.removeprefix("FloorPlan")) < 100]
    true, learnt = count_places(kitchens[::2]), count_places(kitchens[1::2])
    ours: list[Walk] = []
    informed: list[Walk] = []
    for case in hidden_things(tuple(kitchens), true, options.seed):
        if len(ours) == options.things:
            break
        walk = search(case, learnt, informed=False)
        other = search(case, learnt, informed=True) if walk is not None else None
        if walk is None or other is None:
            continue
        if not walk.found:
            print(f"not found: {case.thing} at {case.place} in {case.scene}")
        ours.append(walk)
        informed.append(other)
    print(f"{'':10} {'found':>6} {'places':>7} {'walk (m)':>9} {'median':>7} {'actions':>8}")
    for name, walks in (("hvr", ours), ("informed", informed)):
        found = sum(walk.found for walk in walks)
        places, metres, actions = (
            sum(getattr(walk, part) for walk in walks) for part in ("places", "metres", "actions")
        )
        median = statistics.median(walk.metres for walk in walks)
        print(f"{name:10} {found:>6} {places:>7} {metres:>9.0f} {median:>7.1f} {actions:>8.0f}")
    for part in ("metres", "actions"):
        sums = [sum(getattr(walk, part) for walk in walks) for walks in (ours, informed)]
        print(f"{part}: {sums[0] / sums[1]:.2f} times the informed searcher's")


if __name__ == "__main__":
    sys.exit(measured(main))
