"""One cell of a bench: make the plan with the model, then score it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from hvr.bench.cells import NO_MODEL, Cell, CellOptions, CellResult, policy_of
from hvr.bench.folder import BenchFolder
from hvr.bench.scoring import score
from hvr.errors import ImpossibleGoalError, LanguageError, PlannerError
from hvr.execution.belief import Sight
from hvr.execution.events import Event, StepDone
from hvr.execution.executor import Executor
from hvr.execution.perception import Senses
from hvr.execution.world import World, open_world
from hvr.knowledge.retrieval.embedders import Embedder, make_embedder
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.world_file import world_of_scene
from hvr.models.choice import ModelChoice
from hvr.models.connect import connect, embedder_options
from hvr.models.factory import loads_weights
from hvr.models.meter import Spent
from hvr.models.options import ModelOptions
from hvr.pddl import Domain, GroundAction, Problem, Task
from hvr.planning.plans import AABlock, Find, MacroAction, Planned, Policy, PolicyContext
from hvr.planning.search.planners import FastDownward, Planner
from hvr.planning.search.recorded import RecordedPlanner
from hvr.policies.goal.policy import GoalPolicy
from hvr.policies.llm.policy import LLMPolicy
from hvr.policies.llm.prompts import load_prompts
from hvr.policies.llm.record import PlanningRecord
from hvr.policies.llm.settings import is_goal
from hvr.policies.registry import policy_class
from hvr.policies.whole import plans_of, record_of
from hvr.runs.tasks import PaperTask, load_task
from hvr.worlds.registry import EnvironmentSetup, open_environment


def run_cell(cell: Cell, options: CellOptions, folder: Path) -> CellResult:
    """Plan the task of a cell with its model or policy and score the plan.

    Every prompt and answer goes to `transcripts/ID.jsonl` in the folder, and what an earlier try
    was answered is taken from there. The task's gold goal and ground truth are read by the scoring,
    and by the simulated model, which has to know what it gets wrong; the policy gets the sentence.

    Raises:
        LLMError: the model gave no usable answer.
        UsageError: the spec of the model cannot be used.
        DataFileError: the transcript cannot be written, or a recorded one is missing.
    """
    started = time.perf_counter()
    task = load_task(cell.task)
    bench = BenchFolder(folder)
    transcript = bench.transcript(cell)
    choice = _choice(cell, options)
    place = world_of_scene(cell.scene)
    policy = _class(cell).open(
        PolicyContext(
            ontology=place.scene_ontology,
            domain=place.agent.domain(),
            agent=place.agent.name,
            planner=_planner(cell, options, transcript),
            model=choice,
            prompts=place.prompts,
            about=_about(cell),
            transcript=transcript,
            header={"cell": cell.to_json()},
            ledger=bench.ledger,
            embedder=_embedder(choice),
            compile_task=_compiled,
        )
    )
    env = open_environment("kitchen", EnvironmentSetup(scene=cell.scene, seed=cell.seed))
    world = open_world(
        env, ontology=place.scene_ontology, senses=Senses(Sight.DOORS) if task.unseen else None
    )
    with world.graph:
        record = _written(policy, task, world, place.agent.domain())
    meter = policy.meter
    seconds = time.perf_counter() - started
    spent = Spent(seconds=seconds) if meter is None else meter.spent(seconds)
    scores = score(
        record, task, scene=cell.scene, spent=spent, execute=options.execute, seed=cell.seed
    )
    return CellResult(
        cell=cell,
        scores=scores,
        model="" if meter is None else meter.name,
        simulated=meter is not None and meter.simulated,
        seconds=time.perf_counter() - started,
        record=record.to_json(),
    )


def _ignore(planned: Planned) -> None:
    del planned


def _class(cell: Cell) -> type[Policy[Any]]:
    """Return the class of the policy that plans in a cell."""
    name = policy_of(cell.setting)
    if name is not None:
        return policy_class(name)
    return GoalPolicy if is_goal(cell.setting) else LLMPolicy


def _written(policy: Policy[Any], task: PaperTask, world: World, domain: Domain) -> PlanningRecord:
    """Return the plan of a task; where things have to be looked for, after the steps of that."""
    inventory = world.inventory()
    if not task.unseen:
        return _record(policy, task.goal_oriented, world, inventory, domain)
    looked: list[GroundAction] = []

    def listen(event: Event) -> None:
        if isinstance(event, StepDone) and event.success:
            looked.append(event.action)

    executor: Executor[Any] = Executor(world, policy, listen, _ignore)

    def find(wanted: Any) -> Inventory:
        executor.find(wanted)
        return world.inventory()

    record = _record(policy, task.goal_oriented, world, inventory, domain, find)
    if not looked:
        return record
    first = AABlock(MacroAction("look behind closed doors"), tuple(looked))
    return replace(record, plan=record.plan.replace(blocks=(first, *record.plan.blocks)))


def _record(
    policy: Policy[Any],
    request: str,
    world: World,
    inventory: Inventory,
    domain: Domain,
    find: Find[Any] | None = None,
) -> PlanningRecord:
    """Return the plan of a policy; a policy that finds none has an empty one."""
    if isinstance(policy, GoalPolicy | LLMPolicy):
        return policy.write(request, world.graph, inventory, find)
    started = time.perf_counter()
    try:
        plans = plans_of(policy, request, world.graph, inventory, domain, _compiled, find)
    except (LanguageError, ImpossibleGoalError, PlannerError):
        plans = []
    calls = sum(planned.planner_calls for planned in plans)
    seconds = time.perf_counter() - started
    return record_of([planned.plan for planned in plans], seconds, calls)


def check_models(cells: Sequence[Cell], options: CellOptions) -> None:
    """Make each model and the embedder once, to report what cannot work before anything is run.

    Local models are left out: loading one takes long.

    Raises:
        UsageError: a spec or an option cannot be used.
        LLMError: a key is missing.
        MissingExtraError: a package is not installed.
        DataFileError: a recording is missing.
        UsageError: the budget is in dollars, and the price of a model is not known.
    """
    for cell in {cell.model: cell for cell in cells if cell.model != NO_MODEL}.values():
        choice = _choice(cell, options)
        _embedder(choice)
        if not loads_weights(cell.model):
            connect(choice, about=_about(cell))


def prompt_digests(options: CellOptions) -> dict[str, str]:
    """Return digests of the prompt texts that cells are run with, for the manifest."""
    return dict(load_prompts(options.model.prompts).digests)


def _choice(cell: Cell, options: CellOptions) -> ModelChoice:
    """Return the model of a cell, or its recorded answers when a bench is repeated."""
    if cell.model == NO_MODEL:
        return ModelChoice()
    spec = cell.model
    if options.cassettes is not None:
        spec = f"replay:{options.cassettes / f'{cell.id}.jsonl'}"
    chosen = replace(options.model, spec=spec)
    return chosen if policy_of(cell.setting) else replace(chosen, setting=cell.setting)


def _about(cell: Cell) -> dict[str, Any]:
    return {"task": cell.task, "scene": cell.scene, "seed": cell.seed}


def _planner(cell: Cell, options: CellOptions, transcript: Path) -> Planner:
    """Return Fast Downward with its results kept beside the transcript.

    When a bench is repeated, its recorded results are used.
    """
    name = f"{cell.id}.planner.jsonl"
    earlier = options.cassettes / name if options.cassettes is not None else None
    return RecordedPlanner(FastDownward(), transcript.with_name(name), earlier)


# Cached for each process: compiling a scene and loading an embedder's model each take longer
# than the rest of a cell.


@lru_cache(maxsize=2)
def _compiled(domain: Domain, problem: Problem) -> Task:
    """Return a task that keeps what it has compiled for the next cell in the same scene."""
    return Task(domain, problem)


def _embedder(choice: ModelChoice) -> Embedder | None:
    if choice.spec is None:
        return None
    return _made(choice.embedder, embedder_options(choice))


@cache
def _made(name: str, options: ModelOptions) -> Embedder:
    return make_embedder(name, options)
