"""Find, for every task and scene, a shortest plan, and write it into tasks/*.toml.

    python tools/prove_tasks.py [T1 T2 …] [--seconds 600] [--jobs 2]

For each scene that has what the task requires, the problem is derived from the knowledge
graph as `hvr plan --task` derives it, and searched until a shortest plan is proven or the
time is up. The length, and the proven lower bound, go into the table [optimum]; the plan for
the first scene whose shortest plan has the most usual length goes, in blocks with their
partial order, into [ground_truth]. What stands above these tables in the files is left as it is.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hvr.envs.kitchen import Kitchen
from hvr.envs.scenes import load_scene, scene_names
from hvr.evaluation.partial_order import block_order, sample_linearization
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.pddl import Task as PddlTask
from hvr.pddl import parse_domain
from hvr.planning.fast_downward import solve
from hvr.planning.planners import FastDownward
from hvr.plan import Plan
from hvr.planning.macro import macro_blocks
from hvr.planning.polish import reaches_goal, switch_late
from hvr.planning.symbolic import SymbolicPolicy
from hvr.resources import data_path
from hvr.tasks import read_toml, task_ids

MARK = "# --- measured by tools/prove_tasks.py ---"


def fitting_scenes(requires: list[str]) -> list[str]:
    """Scenes that have an object of every type; a butter knife is a knife too."""
    found = []
    for name in scene_names():
        types = {o.object_type for o in load_scene(name).objects}
        if set(requires) <= types:
            found.append(name)
    return found


def prove(task_id: str, scene: str, seconds: float) -> tuple[str, str, int, int, list, tuple]:
    """(task, scene, steps, bound, blocks as text, order) of one scene."""
    values = read_toml(data_path("tasks") / f"{task_id}.toml")
    domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
    ontology = load_ontology()
    policy = SymbolicPolicy(ontology, domain, FastDownward(min(seconds, 20.0), 5.0))
    graph = KnowledgeGraph.create(None, ontology)
    world = World(Kitchen(scene), graph)
    stage = policy.with_ends(str(values["goal"]))
    planned = policy.plan(stage, graph, world.inventory())
    task: PddlTask = planned.task
    plan = planned.plan
    steps = bound = len(plan.actions)
    if not plan.optimal:
        result = solve(task, seconds)
        bound = result.lower_bound
        if result.plan is not None and len(result.plan) < steps:
            blocks = macro_blocks(task, switch_late(task, result.plan))
            plan = Plan(blocks, result.optimal)
            steps = len(result.plan)
    blocks = [block.actions for block in plan.blocks]
    order = block_order(task, blocks)
    rng = random.Random(0)
    for _ in range(200):
        numbers = sample_linearization(len(blocks), order, rng)
        actions = [action for number in numbers for action in blocks[number - 1]]
        if not reaches_goal(task, actions):
            raise SystemExit(f"{task_id} {scene}: the partial order {order} allows {numbers}, "
                             "which does not reach the goal")  # fmt: skip
    return task_id, scene, steps, bound, [[str(a) for a in b] for b in blocks], order


def write(task_id: str, results: list[tuple[str, str, int, int, list, tuple]]) -> None:
    """Put the tables into the task's file."""
    path = data_path("tasks") / f"{task_id}.toml"
    head = path.read_text(encoding="utf-8").split(MARK)[0].rstrip()
    results.sort(key=lambda r: int(r[1].removeprefix("FloorPlan")))
    usual = statistics.mode(r[2] for r in results if r[2] == r[3])
    best = next(r for r in results if r[2] == r[3] == usual)
    lines = [head, "", MARK, "", "[ground_truth]", f'scene = "{best[1]}"', "blocks = ["]
    for block in best[4]:
        lines.append("  [" + ", ".join(f'"{step}"' for step in block) + "],")
    lines += ["]", "order = [" + ", ".join(f"[{a}, {b}]" for a, b in best[5]) + "]", ""]
    lines += ["# bound: no plan with the retrieved objects is shorter (proven by A*)", "[optimum]"]
    lines += [f"{r[1]} = {{ steps = {r[2]}, bound = {r[3]} }}" for r in results]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Prove all tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=list(task_ids()))
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    for task_id in options.tasks:
        values = read_toml(data_path("tasks") / f"{task_id}.toml")
        scenes = fitting_scenes(list(values["requires"]))
        results = []
        started = time.perf_counter()
        with ProcessPoolExecutor(options.jobs) as pool:
            futures = [pool.submit(prove, task_id, s, options.seconds) for s in scenes]
            for future in futures:
                results.append(future.result())
                _, scene, steps, bound, _, _ = results[-1]
                print(f"{task_id:6} {scene:12} {steps:3} steps  bound {bound:3}", flush=True)
        write(task_id, results)
        proven = sum(r[2] == r[3] for r in results)
        print(f"{task_id}: {proven} of {len(results)} proven, "
              f"{time.perf_counter() - started:.0f} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
