"""From a request to a saved run: the spine of `hvr plan`.

open the scene ─▶ understand the request ─▶ [plan ─▶ validate ─▶ execute and watch]* ─▶ save
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from hvr.envs.kitchen import Kitchen
from hvr.envs.scenes import load_scene, scene_names
from hvr.errors import ImpossibleGoalError, UsageError
from hvr.execution.events import Event, Finished, PlanReady, StepDone, Understood
from hvr.execution.executor import Executor
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.pddl import parse_domain, print_plan, print_problem
from hvr.planning.language.goals import Goal, MissingObjectError
from hvr.planning.planners import DEFAULT, make_planner
from hvr.planning.symbolic import Planned, SymbolicPolicy
from hvr.resources import data_path
from hvr.run_folder import RunFolder
from hvr.tasks import Task, load_task

DEFAULT_SCENE = "FloorPlan16"
POLICIES = ("symbolic",)


@dataclass(frozen=True)
class Options:
    """How to run.

    Args:
        scene: the kitchen, FloorPlan1 to FloorPlan30.
        policy: who plans.
        planner: the classical planner of the symbolic policy.
        budget: seconds for one planner call at most.
        seed: for the environment.
        max_replans: how many new plans may be made when something differs.
        execute: False only plans and validates.
        save: the run folder; None makes one under ./runs.
    """

    scene: str = DEFAULT_SCENE
    policy: str = "symbolic"
    planner: str = DEFAULT
    budget: float = 10.0
    seed: int = 0
    max_replans: int = 3
    execute: bool = True
    save: Path | None = None


@dataclass(frozen=True)
class Run:
    """What came of a request.

    Args:
        request: the sentence.
        scene: where.
        goal: what it was understood as.
        reached: the goal holds in what the environment shows; None when not executed.
        plans: every plan made, in order.
        steps: every step executed, in order.
        finished: how it ended; None when not executed.
        planner_calls: how often a planner was called.
        seconds: wall time.
        folder: the run folder.
    """

    request: str
    scene: str
    goal: Goal
    reached: bool | None
    plans: tuple[PlanReady, ...]
    steps: tuple[StepDone, ...]
    finished: Finished | None
    planner_calls: int
    seconds: float
    folder: Path

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "request": self.request,
            "scene": self.scene,
            "goal": [stage.text for stage in self.goal.stages],
            "notes": list(self.goal.notes),
            "reached": self.reached,
            "plans": [p.to_json() for p in self.plans],
            "steps": [s.to_json() for s in self.steps],
            "finished": self.finished.to_json() if self.finished else None,
            "planner_calls": self.planner_calls,
            "seconds": round(self.seconds, 4),
            "folder": str(self.folder),
        }


def plan(
    text: str | None = None,
    *,
    task: str | None = None,
    options: Options | None = None,
    listen: Callable[[Event], None] | None = None,
) -> Run:
    """Plan a request, prove the plan, execute and watch it, and save the run.

    Args:
        text: the request, such as "make coffee"; or
        task: the id of one of the paper's tasks, such as "T2".
        options: where and how.
        listen: is told every event as it happens.

    Raises:
        LanguageError: the request was not understood.
        ImpossibleGoalError: it cannot be met in this scene; the message says why.
        PlannerError: no plan was found in the time allowed.
        SceneError, UsageError, DataFileError: an option cannot be used.
    """
    options = options or Options()
    started = time.perf_counter()
    if options.policy not in POLICIES:
        raise UsageError(f"unknown policy {options.policy!r} (policies: {', '.join(POLICIES)})")
    if options.max_replans < 0:
        raise UsageError("--max-replans must not be negative")
    if (text is None) == (task is None):
        raise UsageError("give either a request, such as 'make coffee', or --task T2")
    planner = make_planner(options.planner, options.budget)
    chosen = load_task(task) if task is not None else None
    request = chosen.goal_oriented if chosen else text or ""
    scene = load_scene(options.scene)
    ontology = load_ontology()
    domain_file = data_path("domains") / "kitchen" / "domain.pddl"
    policy = SymbolicPolicy(ontology, parse_domain(domain_file), planner)
    folder = RunFolder.create(options.save, chosen.id if chosen else request, datetime.now())
    recorder = _Recorder(folder, listen)
    graph = None
    try:
        graph = KnowledgeGraph.create(folder.path / "graph", ontology)
        world = World(Kitchen(scene, options.seed), graph)
        goal = _goal(policy, world, request, chosen)
        folder.write("domain.pddl", domain_file.read_text(encoding="utf-8"))
        recorder(
            Understood(
                tuple(stage.wanted for stage in goal.stages),
                goal.stages[-1].ends,
                goal.notes,
            )
        )
        executor = Executor(world, policy, recorder, recorder.planned, options.max_replans)
        finished = None
        if options.execute:
            finished = executor.run(goal.stages)
        else:
            executor.prepare(goal.stages[0])
        graph.export(folder.path / "graph.ttl")
    except BaseException:
        if not recorder.plans:  # nothing finished that could be lost
            if graph is not None:
                graph.close()
            folder.discard()
        raise
    finally:
        if graph is not None:
            graph.close()
    result = Run(
        request, scene.name, goal, finished.reached if finished else None,
        tuple(recorder.plans), tuple(recorder.steps), finished, recorder.calls,
        time.perf_counter() - started, folder.path,
    )  # fmt: skip
    folder.write_json("task.json", _summary(result, options, chosen))
    return result


def _goal(policy: SymbolicPolicy, world: World, request: str, task: Task | None) -> Goal:
    """The goal of the request or task; a missing object names the scenes that have it."""
    scene = world.scene.scene
    if task is not None:
        if scene not in task.scenes:
            raise ImpossibleGoalError(
                f"{scene} lacks what {task.id} needs ({', '.join(task.requires)}); "
                f"scenes that have it: {', '.join(task.scenes)}"
            )
        return Goal((policy.with_ends(task.goal),))
    try:
        return policy.understand(request, world.inventory())
    except MissingObjectError as error:
        scenes = scenes_with(error.classes)
        where = f"scenes that have one: {', '.join(scenes)}" if scenes else "no scene has one"
        raise ImpossibleGoalError(f"{error}; {where}") from error


def scenes_with(classes: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the scenes that have an object of one of these AI2-THOR types."""
    wanted = set(classes)
    return tuple(
        name for name in scene_names()
        if any(o.object_type in wanted for o in load_scene(name).objects)
    )  # fmt: skip


def _summary(result: Run, options: Options, task: Task | None) -> dict[str, Any]:
    values = result.to_json()
    del values["plans"], values["steps"]
    return {
        "task": task.id if task else None,
        "policy": options.policy,
        "planner": options.planner,
        "seed": options.seed,
        **values,
        "folder": None,
    }


@dataclass
class _Recorder:
    """Writes plans and events into the run folder and passes events on."""

    folder: RunFolder
    listen: Callable[[Event], None] | None
    plans: list[PlanReady] = field(default_factory=list)
    steps: list[StepDone] = field(default_factory=list)
    calls: int = 0

    def __call__(self, event: Event) -> None:
        self.folder.append("trace.jsonl", event.to_json())
        if isinstance(event, PlanReady):
            self.plans.append(event)
        elif isinstance(event, StepDone):
            self.steps.append(event)
        if self.listen is not None:
            self.listen(event)

    def planned(self, planned: Planned) -> None:
        self.calls += planned.planner_calls
        suffix = "" if not self.plans else f"-{len(self.plans) + 1}"
        actions = planned.plan.actions
        self.folder.write(f"problem{suffix}.pddl", print_problem(planned.problem))
        self.folder.write(f"plan{suffix}.pddl", print_plan(actions))
        self.folder.write_json(f"plan{suffix}.json", planned.plan.to_json())
        facts = sorted(map(str, planned.problem.init))
        self.folder.write_json(
            f"subgraph{suffix}.json", {"objects": planned.relevant.reasons, "facts": facts}
        )
