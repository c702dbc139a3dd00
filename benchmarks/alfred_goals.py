"""Measure the share of ALFRED's demonstration goals that hvr reaches.

    python benchmarks/alfred_goals.py [--data FILE] [--limit N] [--placement-table]
                                      [--jobs N] [--engine NAME] [--address A]

For every demonstration, the script builds the scene from the recorded object poses and writes the
goal, given by the demonstration's parameters, as PDDL. hvr then plans and executes it with
replanning in the embedded kitchen. ALFRED's own conditions (`alfred_judge.py`) decide on AI2-THOR's
metadata whether the goal is reached; they use no PDDL, none of hvr's names and no knowledge graph.

ALFRED forces every put, so AI2-THOR's placement table is off unless `--placement-table` is given.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from statistics import mean, median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from alfred_judge import DATA, MARKS, TASK_TYPES, TWO, Judge, Wanted, read
from conditions import conditions
from inputs import measured
from side_by_side import add_options, chosen, results

from hvr.base.engines.registry import EngineChoice
from hvr.errors import HvrError, ImpossibleGoalError, PlannerError
from hvr.execution.events import Event as RunEvent
from hvr.execution.events import PlanReady, Replanning, StepDone
from hvr.execution.executor import Executor
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.world_file import load_world, world_of_scene
from hvr.planning.plans import Planned
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.thor.observe import load_facts
from studies.alfred import scene_from_alfred


@dataclass(frozen=True)
class Settings:
    """Options for planning and executing the demonstrations.

    Args:
        placement_table: Whether AI2-THOR's placement table restricts placements.
        budget: Time limit of each search in seconds.
        patience: Seconds after which a search that finds no shorter plan stops.
    """

    placement_table: bool = False
    budget: float = 5.0
    patience: float = 0.3
    seed: int = 0


def is_forbidden(wanted: Wanted) -> bool:
    """Return whether AI2-THOR's placement table forbids the target in the parent or the movable."""
    types = load_facts().types
    if wanted.lamp:
        return False
    pairs = [(wanted.target, wanted.movable or wanted.parent)]
    if wanted.movable:
        pairs.append((wanted.movable, wanted.parent))
    return any(place not in types[thing].placeable_in for thing, place in pairs)


@lru_cache(maxsize=1)
def kitchen_ontology() -> Ontology:
    return load_world("kitchen").scene_ontology


def goal_of(wanted: Wanted, ontology: Ontology) -> str:
    """Return the goal as PDDL in the domain of the scene's world."""
    target = _pddl_type(wanted.target, ontology)
    if wanted.lamp:
        lamp = _pddl_type(wanted.lamp, ontology)
        return f"(exists (?o - {target} ?l - {lamp}) (and (holding ?o) (toggled ?l) (near ?l)))"
    parent = _pddl_type(wanted.parent, ontology)

    at = _preposition(wanted.parent, ontology)
    if wanted.task_type == TWO:
        return (
            f"(exists (?a ?b - {target} ?r - {parent}) (and (not (= ?a ?b)) "
            f"({at} ?a ?r) ({at} ?b ?r)))"
        )
    if wanted.movable:
        movable = _pddl_type(wanted.movable, ontology)
        return (
            f"(exists (?o - {target} ?m - {movable} ?r - {parent}) "
            f"(and ({_preposition(wanted.movable, ontology)} ?o ?m) ({at} ?m ?r)))"
        )
    mark = MARKS.get(wanted.task_type)
    placed = f"({at} ?o ?r)"
    condition = f"(and ({mark} ?o) {placed})" if mark else placed
    return f"(exists (?o - {target} ?r - {parent}) {condition})"


def _pddl_type(object_type: str, ontology: Ontology) -> str:
    found = ontology.class_of_thor_type(object_type)
    if found is None:
        raise ValueError(f"the ontology does not know the type {object_type}")
    return str(ontology.pddl_type(found))


def _preposition(object_type: str, ontology: Ontology) -> str:
    found = ontology.class_of_thor_type(object_type) or ""
    return "on" if ontology.is_a(found, "SurfaceReceptacle") else "in"


@dataclass
class Episode:
    """The outcome of one demonstration.

    Args:
        goal: Goal as PDDL.
        reached: Whether ALFRED's conditions hold at the end.
        outcome: `reached`, or the class of the miss; `placement table` if AI2-THOR's placement
            table forbids the goal itself.
        reason: Explanation of a miss.
        steps: Number of executed atomic actions.
        thor_steps: Number of AI2-THOR actions sent, without queries.
        expert_steps: Number of interactions in the demonstration, without navigation.
        optimal: Whether the last plan is proven shortest.
        scene_seconds: Time to build the scene, the kitchen and its graph.
        plan_seconds: Time to plan, including retrieval and validation.
        search_seconds: Part of `plan_seconds` spent in search.
        act_seconds: Time to execute.
        differences: Steps after which the kitchen differed from the domain's prediction.
    """

    id: str
    floor_plan: str
    task_type: str
    goal: str = ""
    reached: bool = False
    outcome: str = ""
    reason: str = ""
    steps: int = 0
    thor_steps: int = 0
    expert_steps: int = 0
    planner_calls: int = 0
    optimal: bool = False
    scene_seconds: float = 0.0
    plan_seconds: float = 0.0
    search_seconds: float = 0.0
    act_seconds: float = 0.0
    seconds: float = 0.0
    differences: list[str] = field(default_factory=list)


@lru_cache(maxsize=4)
def _policy(settings: Settings, world: str) -> SymbolicPolicy:
    place = load_world(world)
    planner = FastDownward(settings.budget, settings.patience)
    return SymbolicPolicy(
        place.scene_ontology, place.agent.domain(), planner, any_place=not settings.placement_table
    )


def run_episode(record: Mapping[str, Any], settings: Settings) -> Episode | None:
    """Plan, execute and judge one demonstration; None if its goal cannot be written as PDDL."""
    started = time.perf_counter()
    wanted = Wanted.of(record)
    if wanted is None:
        return None
    episode = Episode(str(record["id"]), str(record["floor_plan"]), wanted.task_type)
    episode.expert_steps = len(record.get("interactions", ()))
    policy = _policy(settings, world_of_scene(episode.floor_plan).name)
    episode.goal = goal_of(wanted, policy.ontology)
    forced = not settings.placement_table
    kitchen = Kitchen(scene_from_alfred(record), settings.seed, placement_table=not forced)
    judge = Judge(kitchen)
    world = World(judge, KnowledgeGraph.create(ontology=policy.ontology), force_put=forced)
    episode.scene_seconds = time.perf_counter() - started
    failures: list[str] = []

    def listen(event: RunEvent) -> None:
        if isinstance(event, PlanReady):
            episode.plan_seconds += event.seconds
            episode.search_seconds += event.plan.seconds
            episode.optimal = event.plan.optimal
        elif isinstance(event, StepDone):
            if event.error:
                failures.append(f"{event.action}: {event.error}")
            if event.difference:
                episode.differences.append(f"{event.action}: {event.difference.explain()}")
        elif isinstance(event, Replanning):
            failures.append(event.reason)

    def planned(plan: Planned) -> None:
        episode.planner_calls += plan.planner_calls

    executor = Executor(world, policy, listen, planned)
    begun = time.perf_counter()
    try:
        finished = executor.run([policy.with_ends(episode.goal)])
        episode.outcome = "reached" if finished.reached else "execution failed"
        episode.reason = finished.reason
        if not finished.reached and failures and failures[-1] not in episode.reason:
            episode.reason += f" (last failure: {failures[-1]})"
    except ImpossibleGoalError as error:
        forbidden = settings.placement_table and is_forbidden(wanted)
        episode.outcome = "placement table" if forbidden else "no plan exists"
        episode.reason = (
            f"{wanted.target} may not be put into {wanted.movable or wanted.parent}"
            if forbidden
            else str(error)
        )
    except PlannerError as error:
        episode.outcome, episode.reason = "no plan found in time", str(error)
    except HvrError as error:
        episode.outcome, episode.reason = type(error).__name__, str(error)
    episode.act_seconds = time.perf_counter() - begun - episode.plan_seconds
    episode.steps, episode.thor_steps = executor.steps, judge.steps
    missing = judge.missing(wanted)
    episode.reached = not missing
    if missing and episode.outcome == "reached":
        episode.outcome, episode.reason = "judged differently", missing
    episode.seconds = time.perf_counter() - started
    return episode


def run(
    records: Sequence[Mapping[str, Any]], settings: Settings, engine: EngineChoice
) -> Iterator[Episode | None]:
    return results(partial(run_episode, settings=settings), records, engine, chunk=4)


def summary(episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """Return one row per task type, then a row of totals."""
    groups: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        groups[episode.task_type].append(episode)
    rows = []
    for name, group in [*((t, groups[t]) for t in TASK_TYPES if t in groups),
                        ("all", list(episodes))]:  # fmt: skip
        done = [e for e in group if e.reached]
        rows.append(
            {
                "task type": name,
                "episodes": len(group),
                "reached": len(done),
                "share": len(done) / len(group) if group else 0.0,
                "steps": mean(e.steps for e in done) if done else 0.0,
                "expert": mean(e.expert_steps for e in done) if done else 0.0,
                "planner calls": mean(e.planner_calls for e in group) if group else 0.0,
                "proven": sum(e.optimal for e in done) / len(done) if done else 0.0,
                "plan s": median(e.plan_seconds for e in group) if group else 0.0,
                "median s": median(e.seconds for e in group) if group else 0.0,
                "max s": max((e.seconds for e in group), default=0.0),
            }
        )
    return rows


def show(episodes: Sequence[Episode]) -> None:
    rows = summary(episodes)
    heads = list(rows[0])
    print("  ".join(f"{h:<34}" if h == heads[0] else f"{h:>9}" for h in heads))
    for row in rows:
        cells = []
        for head, value in row.items():
            if head == heads[0]:
                cells.append(f"{value:<34}")
            elif head in ("share", "proven"):
                cells.append(f"{100 * value:>{max(9, len(head)) - 1}.1f}%")
            elif isinstance(value, float):
                cells.append(f"{value:>{max(9, len(head))}.2f}")
            else:
                cells.append(f"{value:>{max(9, len(head))}}")
        print("  ".join(cells))
    misses = [e for e in episodes if not e.reached]
    if misses:
        print(f"\n{len(misses)} misses:", dict(Counter(e.outcome for e in misses)))
    for e in misses:
        print(f"  {e.id} ({e.floor_plan}): {e.outcome}: {e.reason}\n    {e.goal}")
    kinds = Counter(e.outcome for e in episodes if e.reached and e.outcome != "reached")
    if kinds:
        print("reached although the run reported another outcome:", dict(kinds))
    unlike = sum(bool(e.differences) for e in episodes)
    print(f"episodes with a step that differed from the prediction: {unlike}")


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the demonstrations, .jsonl.gz")
    parser.add_argument("--limit", type=int, help="run only N, spread evenly over the file")
    add_options(parser, jobs=2)
    parser.add_argument(
        "--placement-table", action="store_true",
        help="place objects only where AI2-THOR's placement table allows it",
    )  # fmt: skip
    parser.add_argument("--budget", type=float, default=5.0, help="seconds for each search")
    parser.add_argument(
        "--patience", type=float, default=0.3,
        help="end a search after this many seconds without a shorter plan",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed of the kitchen")
    parser.add_argument("--only", default="", help="only demonstrations with this text in their ID")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code is 2 if the demonstrations are missing."""
    options = parse_arguments(arguments)
    if not options.data.is_file():
        print(f"{options.data} does not exist; give the demonstrations with --data",
              file=sys.stderr)  # fmt: skip
        return 2
    settings = Settings(options.placement_table, options.budget, options.patience, options.seed)
    put = "by AI2-THOR's placement table" if settings.placement_table else "forced"
    head = (
        f"{conditions(settings.seed)} · {options.jobs} processes · puts {put} · at most "
        f"{settings.budget:g} s per search, {settings.patience:g} s without a shorter plan"
    )
    print(head)
    records = [r for r in read(options.data, options.limit) if options.only in r["id"]]
    started = time.perf_counter()
    episodes = [e for e in run(records, settings, chosen(options)) if e]
    seconds = time.perf_counter() - started
    left_out = len(records) - len(episodes)
    if not episodes:
        print("no demonstration has a goal that can be written")
        return 0
    show(episodes)
    print(
        f"{len(episodes)} episodes in {seconds:.1f} s"
        + (f"; {left_out} left out because their goals cannot be written" if left_out else "")
    )
    if options.json is not None:
        report = {
            "conditions": head, "settings": asdict(settings),
            "seconds": seconds, "left out": left_out,
            "summary": summary(episodes), "episodes": [asdict(e) for e in episodes],
        }  # fmt: skip
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(measured(main))
