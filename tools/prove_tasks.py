"""Find a shortest plan for every task and scene, and write it into tasks/*.toml.

    python tools/prove_tasks.py [T1 T2 …] [--seconds 600] [--jobs 2]

The script considers each scene with the objects that the task requires, or each scene named in the
file. It derives the problem from the knowledge graph, as in the symbolic policy, and searches until
a shortest plan is proven or the time is up. If the kitchen rejects a plan for lack of space, the
search restarts with this constraint.

Length and proven lower bound go into the table [optimum]. The table [ground_truth] receives the
plan for the first scene with the most common length, in blocks with their partial order. The rest
of the file is unchanged, and an existing plan stays unless a shorter one is found.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from side_by_side import add_options, chosen
from side_by_side import results as side_by_side

from hvr.base.files import data_path
from hvr.base.texts import read_toml
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.triples import ActionEvent
from hvr.pddl import GroundAction, parse_domain
from hvr.pddl import Task as PddlTask
from hvr.planning.plans import AABlock, Planned, macro_blocks
from hvr.planning.search.fast_downward import SearchResult, solve
from hvr.planning.search.planners import FastDownward, Planner
from hvr.policies.symbolic import SymbolicPolicy
from hvr.runs.tasks import load_task, task_ids
from hvr.validation.minimise import reaches_goal
from hvr.validation.sequences import is_simple
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene, scene_names
from hvr.worlds.thor.observe import Names
from hvr.worlds.thor.skills import perform
from studies.partial_order import Blocks, Pairs, block_order, sample_linearization

MARK = "# --- measured by tools/prove_tasks.py ---"
MOST_TRIES = 30
MOST_BLOCKS = 14
"""Maximum number of blocks to order; the work may double with each block."""


@dataclass(frozen=True)
class Result:
    """The shortest known plan of a task in a scene, in blocks, with the proven bound."""

    scene: str
    steps: int
    bound: int
    blocks: list[list[str]]
    order: Pairs


def fitting_scenes(requires: list[str]) -> list[str]:
    found = []
    for name in scene_names():
        types = {o.object_type for o in load_scene(name).objects}
        if set(requires) <= types:
            found.append(name)
    return found


class Arena:
    """A task in a scene, which learns where objects do not fit."""

    def __init__(self, values: Mapping[str, Any], scene: str, planner: Planner) -> None:
        self.scene = scene
        domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
        self.policy = SymbolicPolicy(load_ontology(), domain, planner)
        self.stage = self.policy.keeping(
            self.policy.with_ends(str(values["goal"])), tuple(values.get("constraints", ()))
        )
        self.graph = KnowledgeGraph.create(None, self.policy.ontology)
        self.world = World(Kitchen(scene), self.graph)

    def plan(self) -> Planned:
        for _ in range(MOST_TRIES):
            planned = self.policy.plan(self.stage, self.graph, self.world.inventory())
            if not self._refused(planned.plan.actions):
                return planned
        raise SystemExit(f"{self.scene}: no plan was executable in {MOST_TRIES} attempts")

    def _refused(self, actions: Iterable[GroundAction]) -> bool:
        """Execute a plan in a fresh kitchen, and record where an object did not fit."""
        kitchen = Kitchen(self.scene)
        names = Names.from_metadata(kitchen.last_event.metadata)
        for number, action in enumerate(actions, 1):
            result = perform(kitchen, names, action.name, action.args)
            if result.success:
                continue
            before = self.graph.did_not_fit()
            event = ActionEvent(number, action.name, action.args, False, result.error)
            self.graph.record(event)
            if self.graph.did_not_fit() == before:
                raise SystemExit(
                    f"{self.scene}: step {number} {action} was rejected: {result.error}"
                )
            return True
        return False


def truth_blocks(blocks: Iterable[AABlock]) -> list[tuple[GroundAction, ...]]:
    """Return the blocks of a ground truth; taking the knife becomes a block of its own.

    Otherwise, the cut in the same block would have to precede all other cuts.
    """
    found: list[tuple[GroundAction, ...]] = []
    for block in blocks:
        actions = block.actions
        taken = next((n for n, a in enumerate(actions) if a.name == "pick_up"), None)
        if taken is not None and actions[-1].name == "slice_obj":
            found.append(actions[: taken + 1])
            actions = actions[taken + 1 :]
        found.append(actions)
    return found


def checked_order(task_id: str, task: PddlTask, blocks: Blocks) -> Pairs:
    """Return the partial order of the blocks, tested on 200 random linearisations.

    If the plan has constraints or very many blocks, their total order is returned.
    """
    order = tuple((n, n + 1) for n in range(1, len(blocks)))
    if is_simple(task) and len(blocks) <= MOST_BLOCKS:
        order = block_order(task, blocks)
    rng = random.Random(0)
    for _ in range(200):
        numbers = sample_linearization(len(blocks), order, rng)
        actions = [action for number in numbers for action in blocks[number - 1]]
        if not reaches_goal(task, actions):
            raise SystemExit(f"{task_id}: the partial order {order} allows {numbers}, "
                             "which does not reach the goal")  # fmt: skip
    return order


def prove(task_id: str, scene: str, seconds: float) -> Result:
    values = read_toml(data_path("tasks") / f"{task_id}.toml")
    planner = Prover(seconds)
    arena = Arena(values, scene, FastDownward(60.0, 0.5))
    arena.plan()  # learn where objects do not fit from quickly found plans
    arena.policy.planner = planner
    planned = arena.plan()
    blocks = truth_blocks(planned.plan.blocks)
    steps = len(planned.plan.actions)
    bound = planner.bound
    known = values.get("optimum", {}).get(scene)
    if known is not None:
        bound = max(bound, int(known["bound"]))
        truth = load_task(task_id).ground_truth
        if (
            known["steps"] < steps
            and truth.scene == scene
            and reaches_goal(planned.task, truth.steps)
        ):
            blocks = truth_blocks(macro_blocks(planned.task, truth.steps))
            steps = int(known["steps"])
    order = checked_order(task_id, planned.task, blocks)
    return Result(scene, steps, bound, [[str(a) for a in b] for b in blocks], order)


@dataclass
class Prover:
    """A time-limited optimal planner that records the lower bound of its last problem."""

    seconds: float
    bound: int = 0

    def solve(self, task: PddlTask) -> SearchResult:
        result = solve(task, self.seconds)
        self.bound = result.lower_bound
        return result


def write(task_id: str, results: list[Result]) -> None:
    path = data_path("tasks") / f"{task_id}.toml"
    head = path.read_text(encoding="utf-8").split(MARK)[0].rstrip()
    results.sort(key=lambda r: int(r.scene.removeprefix("FloorPlan")))
    proven = [r for r in results if r.steps == r.bound] or results
    usual = statistics.mode(r.steps for r in proven)
    best = next(r for r in proven if r.steps == usual)
    lines = [head, "", MARK, "", "[ground_truth]", f'scene = "{best.scene}"', "blocks = ["]
    for block in best.blocks:
        lines.append("  [" + ", ".join(f'"{step}"' for step in block) + "],")
    lines += ["]", "order = [" + ", ".join(f"[{a}, {b}]" for a, b in best.order) + "]", ""]
    lines += ["# bound: no plan with the retrieved objects is shorter (proven by A*)", "[optimum]"]
    lines += [f"{r.scene} = {{ steps = {r.steps}, bound = {r.bound} }}" for r in results]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def reorder(task_id: str) -> None:
    path = data_path("tasks") / f"{task_id}.toml"
    truth = load_task(task_id).ground_truth
    planned = Arena(read_toml(path), truth.scene, FastDownward()).plan()
    cut = truth_blocks(macro_blocks(planned.task, truth.steps))
    order = checked_order(task_id, planned.task, cut)
    text = path.read_text(encoding="utf-8")
    written = ["  [" + ", ".join(f'"{step}"' for step in block) + "]," for block in cut]
    lines = ["blocks = [", *written, "]"]
    lines.append("order = [" + ", ".join(f"[{a}, {b}]" for a, b in order) + "]")
    found = re.compile(r"^blocks = \[\n.*?^\]\norder = .*?$", re.MULTILINE | re.DOTALL)
    path.write_text(found.sub("\n".join(lines), text), encoding="utf-8")
    print(f"{task_id:6} {len(cut)} blocks, {len(order)} pairs", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=list(task_ids()))
    parser.add_argument("--seconds", type=float, default=600.0)
    add_options(parser)
    parser.add_argument("--orders", action="store_true", help="only recompute blocks and orders")
    options = parser.parse_args()
    for task_id in options.tasks:
        if options.orders:
            reorder(task_id)
            continue
        values = read_toml(data_path("tasks") / f"{task_id}.toml")
        scenes = values.get("scenes") or fitting_scenes(list(values["requires"]))
        results = []
        started = time.perf_counter()
        search = partial(prove, task_id, seconds=options.seconds)
        for r in side_by_side(search, scenes, chosen(options)):
            results.append(r)
            print(f"{task_id:6} {r.scene:12} {r.steps:3} steps  bound {r.bound:3}", flush=True)
        write(task_id, results)
        proven = sum(r.steps == r.bound for r in results)
        print(f"{task_id}: {proven} of {len(results)} proven, "
              f"{time.perf_counter() - started:.0f} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
