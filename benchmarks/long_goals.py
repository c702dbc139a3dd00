"""Execute random long goals in the domain and in the kitchen, and list every disagreement.

    python benchmarks/long_goals.py --seeds 500
    python benchmarks/long_goals.py --seeds 20 --first 100 --out goals.jsonl     # resumes

A goal has 5 to 9 random conditions on different objects of a random kitchen: moved, washed, cooked,
cooled or cut, pieces on carried dishes, doors and switches. A step whose outcome differs from the
prediction is a disagreement. It is explained if the kitchen found no free space, which the domain
does not model.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from conditions import conditions
from inputs import measured, records

from hvr.base.files import append_json_line
from hvr.errors import HvrError
from hvr.execution.events import StepDone
from hvr.execution.executor import Executor
from hvr.execution.world import World, open_world
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.triples import NO_ROOM
from hvr.knowledge.world_file import load_world
from hvr.language.goal_builder import Stage
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.worlds.environment import EnvironmentSetup, open_environment

SCENES = tuple(f"FloorPlan{n}" for n in range(1, 31))


def random_goal(inventory: Inventory, chance: random.Random, count: int) -> str:
    kinds = list(_OPTIONS)
    found: list[str] = []
    used: set[str] = set()
    for _ in range(50 * count):
        if len(found) == count:
            break
        options = [o for o in _OPTIONS[chance.choice(kinds)](inventory) if not used & set(o[0])]
        if options:
            things, text = chance.choice(options)
            used.update(things)
            found.append(text)
    return f"(and {' '.join(found)} (hand_empty))"


_Option = tuple[tuple[str, ...], str]
"""The things that a condition uses up, and the condition."""


def _movable(inventory: Inventory) -> list[str]:
    return [
        n
        for n in sorted(inventory.classes)
        if inventory.true("pickupable", n) and inventory.true("present", n)
    ]


def _moved(inventory: Inventory) -> Iterator[_Option]:
    for thing in _movable(inventory):
        for _, place in (p for p in inventory.pairs("fits") if p[0] == thing):
            if inventory.true("holds_one", place) or inventory.true("pickupable", place):
                continue
            if relation := _relation(inventory, place):
                yield (thing,), f"({relation} {thing} {place})"


def _relation(inventory: Inventory, place: str) -> str:
    """Return the relation of objects to a place; empty for places such as the rim of some sinks."""
    if inventory.true("container", place):
        return "in"
    return "on" if inventory.true("surface", place) else ""


def _treated(inventory: Inventory) -> Iterator[_Option]:
    for predicate, kind in (("washed", "SinkBasin"), ("chilled", "Fridge")):
        for place in inventory.of(kind):
            for thing in _movable(inventory):
                if inventory.true("fits", thing, place):
                    yield (thing,), f"({predicate} {thing})"
    for _, thing in inventory.pairs("cooks"):
        if inventory.true("present", thing):
            yield (thing,), f"(cooked {thing})"


def _cut(inventory: Inventory) -> Iterator[_Option]:
    dishes = [d for d in _movable(inventory) if inventory.classes[d] in ("Plate", "Bowl", "Pot")]
    tables = [*inventory.of("DiningTable"), *inventory.of("CounterTop")]
    for piece, whole in inventory.pairs("piece_of"):
        if not inventory.true("sliceable", whole):
            continue
        for dish in dishes:
            relation = _relation(inventory, dish)
            if relation and inventory.true("fits", piece, dish):
                text = f"({relation} {piece} {dish})"
                yield (whole, dish), text
                for table in tables:
                    yield (whole, dish), f"(and {text} (on {dish} {table}))"


def _switched(inventory: Inventory) -> Iterator[_Option]:
    for place in (*inventory.of("Cabinet"), *inventory.of("Drawer")):
        yield (place,), f"(opened {place})"
    for switch in inventory.of("LightSwitch"):
        yield (switch,), f"(not (toggled {switch}))"


_OPTIONS = {"moved": _moved, "treated": _treated, "cut": _cut, "switched": _switched}


def play(seed: int, least: int = 5, most: int = 9) -> dict[str, Any]:
    """Plan and execute one random goal, and return a row with its disagreements.

    Args:
        least: Minimum number of conditions.
        most: Maximum number of conditions.
    """
    chance = random.Random(seed)
    scene = chance.choice(SCENES)
    setup = EnvironmentSetup(scene=scene, seed=seed, options=(), folder=None)
    env = open_environment("kitchen", setup, None)
    try:
        world = open_world(env)
        try:
            return {
                "seed": seed,
                "scene": scene,
                **_played(world, chance, chance.randint(least, most)),
            }
        finally:
            world.graph.close()
    finally:
        env.stop()


def _played(world: World, chance: random.Random, count: int) -> dict[str, Any]:
    domain = load_world().agent.domain()
    policy = SymbolicPolicy(world.graph.ontology, domain, FastDownward(20.0, patience=0.1))
    goal = random_goal(world.inventory(), chance, count)
    steps: list[StepDone] = []

    def listen(event: Any) -> None:
        if isinstance(event, StepDone):
            steps.append(event)

    executor = Executor(world, policy, listen, lambda _: None, max_replans=8)
    try:
        finished = executor.run([Stage(goal)])
    except HvrError as error:
        return {"goal": goal, "reached": False, "why": f"{type(error).__name__}: {error}",
                "steps": len(steps), "explained": [], "unexplained": []}  # fmt: skip
    wrong = [s for s in steps if not s.as_expected]
    room = [s for s in wrong if any(text in s.error for text in NO_ROOM)]
    return {
        "goal": goal,
        "reached": finished.reached,
        "why": finished.reason,
        "steps": len(steps),
        "replans": finished.replans,
        "explained": [str(s.action) for s in room],
        "unexplained": [
            f"{s.number} {s.action}: {s.error} {' '.join(map(str, s.failures))}"
            for s in wrong
            if s not in room
        ],
    }


def main() -> int:
    """Print the rows with disagreements; the exit code is 1 if one is unexplained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=500, help="number of goals")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--out", type=Path, help="file of rows; rows in it are not played again")
    options = parser.parse_args()
    known = {}
    if options.out and options.out.exists():
        known = {row["seed"]: row for row in records(options.out, "seed", "steps")}
    print(conditions(options.first))
    rows = []
    for seed in range(options.first, options.first + options.seeds):
        row = known.get(seed) or play(seed)
        if options.out and seed not in known:
            append_json_line(options.out, row)
        rows.append(row)
        if row["explained"] or row["unexplained"] or not row["reached"]:
            ends = "reached" if row["reached"] else f"NOT REACHED {row['why']}"
            print(f"{seed:>4} {row['scene']:12} {row['steps']:>3} {ends}")
            for text in row["unexplained"]:
                print(f"     UNEXPLAINED {text}")
    print(_summary(rows))
    return 1 if any(row["unexplained"] for row in rows) else 0


def _summary(rows: list[dict[str, Any]]) -> str:
    steps = sorted(row["steps"] for row in rows)
    count = Counter(bool(row["reached"]) for row in rows)
    return (
        f"{len(rows)} goals, {count[True]} reached; {sum(steps)} steps, {steps[0]} to {steps[-1]} "
        f"each; {sum(len(r['explained']) for r in rows)} steps refused for room, "
        f"{sum(len(r['unexplained']) for r in rows)} unexplained disagreements"
    )


if __name__ == "__main__":
    sys.exit(measured(main))
