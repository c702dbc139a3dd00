"""The runner of a bench, which plans and scores each cell and preserves finished cells."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from hvr.base.engines.registry import EngineChoice
from hvr.base.printable import protect_output
from hvr.base.registry import need_local
from hvr.base.secrets import Scrubber
from hvr.bench.cells import FAILED, NO_MODEL, Cell, CellOptions, CellResult, RunCell, policy_of
from hvr.bench.folder import BenchFolder
from hvr.bench.scoring import score
from hvr.errors import HvrError
from hvr.execution.belief import Sight
from hvr.execution.events import Event, StepDone
from hvr.execution.executor import Executor
from hvr.execution.perception import Sensors
from hvr.execution.world import World, open_world
from hvr.knowledge.retrieval.embedders import Embedder, make_embedder
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.world_file import world_of_scene
from hvr.models.choice import ModelChoice
from hvr.models.config import ModelOptions
from hvr.models.connect import connect, embedder_options, loads_weights
from hvr.models.errors import ModelError
from hvr.models.layers import MeteredUse
from hvr.pddl import Domain, GroundAction, Problem, Task
from hvr.planning.plans import AABlock, FindObjects, MacroAction, Policy, PolicyContext
from hvr.planning.search.planners import FastDownward, Planner, RecordedPlanner
from hvr.policies import policy_class
from hvr.policies.goal.policy import GoalPolicy, plan_all_stages, uncorrected_record
from hvr.policies.llm.policy import AgentPolicy, LLMPolicy
from hvr.policies.llm.prompts import load_prompts
from hvr.policies.llm.record import PlanningRecord, stopped_by
from hvr.policies.llm.settings import is_agent, is_goal
from hvr.runs.tasks import PaperTask, load_task
from hvr.worlds.environment import EnvironmentSetup, open_environment

# Runner -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Progress:
    """Progress of a bench.

    Args:
        done: Number of cells with a result, also from earlier runs.
        resumed: Number of cells finished in earlier runs.
        result: Result of the cell that has just ended; None at the start.
    """

    done: int
    total: int
    resumed: int
    result: CellResult | None = None


Listen = Callable[[Progress], None]


def run_bench(
    folder: Path,
    cells: Sequence[Cell],
    run_cell: RunCell,
    options: CellOptions,
    *,
    engine: EngineChoice | None = None,
    prompts: Mapping[str, str] | None = None,
    listen: Listen | None = None,
) -> tuple[CellResult, ...]:
    """Run all cells that have no result yet.

    The process that runs a cell writes its result before the cell counts as done. An error in a
    cell is also a result; when the bench is resumed, the cell is retried and reuses the recorded
    answers.

    Args:
        folder: New or empty folder, or the folder of the same bench to resume.
        engine: Engine that runs the cells; None for this process. If a cell's process dies, the
            cell is retried once and then counts as an error. On a cluster, all machines must share
            the folder.
        prompts: Digests of the prompt templates, which a resumed bench must not change.
        listen: Callback that receives the progress at the start and after each cell.

    Returns:
        One result per cell, in order.

    Raises:
        UsageError: The folder contains another bench or is in use, or the engine cannot be used.
        DataFileError: The folder contains other files, or cannot be written.
        KeyboardInterrupt: The bench was interrupted; finished cells are kept.
    """
    bench = BenchFolder(folder)
    with bench.locked():
        found = {r.cell: r for r in bench.open(cells, options, prompts or {})}
        resumed = len(found)
        report = listen or (lambda _: None)
        report(Progress(resumed, len(cells), resumed))

        def keep(result: CellResult) -> None:
            found[result.cell] = result
            report(Progress(len(found), len(cells), resumed, result))

        waiting = [cell for cell in cells if cell not in found]
        choice = replace(engine or EngineChoice(), start=_start_worker)
        work = [_Work(run_cell, cell, options, folder) for cell in waiting]
        with closing(choice.open(len(work))) as opened, closing(opened.run(_work, work)) as done:
            for finished in done:
                keep(finished.value or _lost(waiting[finished.number], finished.lost, bench))
    return tuple(found[cell] for cell in cells)


@dataclass(frozen=True)
class _Work:
    run_cell: RunCell
    cell: Cell
    options: CellOptions
    folder: Path


def _work(work: _Work) -> CellResult:
    cell, bench = work.cell, BenchFolder(work.folder)
    with bench.locked_cell(cell):
        started = time.perf_counter()
        try:
            result = work.run_cell(cell, work.options, work.folder)
        except Exception as error:
            # An error in a cell must not end the bench, whatever a provider's library raises.
            message = Scrubber.of(os.environ).text(str(error) or repr(error))
            result = _failed(
                cell, message, _kind(error), getattr(error, "exit_code", FAILED), started
            )
        bench.write(result)
    return result


def _lost(cell: Cell, reason: str, bench: BenchFolder) -> CellResult:
    result = _failed(cell, reason, "LostCellError", FAILED)
    bench.write(result)
    return result


def _failed(
    cell: Cell, error: str, kind: str, exit_code: int, started: float | None = None
) -> CellResult:
    return CellResult(
        cell=cell,
        scores=None,
        error=error,
        error_kind=kind,
        exit_code=exit_code,
        model=cell.model,
        simulated=cell.simulated,
        seconds=0.0 if started is None else time.perf_counter() - started,
    )


def _kind(error: Exception) -> str:
    name = type(error).__name__
    return f"{name}: {error.kind}" if isinstance(error, ModelError) else name


def _start_worker() -> None:
    from hvr.models.layers import show_notices_of_worker

    protect_output()
    show_notices_of_worker()


# Cell ---------------------------------------------------------------------------------------------


def run_cell(cell: Cell, options: CellOptions, folder: Path) -> CellResult:
    """Plan the task of a cell with its model or policy, and score the plan.

    Prompts and answers are written to `transcripts/ID.jsonl` in the folder, and answers of an
    earlier attempt are reused from it. Only the scoring and the simulated model read the task's
    gold goal and ground truth; the policy gets only the sentence.

    Raises:
        LLMError: The model gave no usable answer.
        UsageError: The spec of the model is invalid.
    """
    started = time.perf_counter()
    task = load_task(cell.task)
    bench = BenchFolder(folder)
    transcript = bench.transcript(cell)
    choice = _choice(cell, options)
    place = world_of_scene(cell.scene)
    policy = _policy_class(cell).open(
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
        env, ontology=place.scene_ontology, sensors=Sensors(Sight.DOORS) if task.unseen else None
    )
    with world.graph:
        record = _written(policy, task, world, place.agent.domain())
    meter = policy.meter
    seconds = time.perf_counter() - started
    spent = MeteredUse(seconds=seconds) if meter is None else meter.spent(seconds)
    scores = score(
        record, task, scene=cell.scene, spent=spent, execute=options.execute, seed=cell.seed
    )
    return CellResult(
        cell=cell,
        scores=scores,
        error=record.stopped.reason if record.stopped else "",
        error_kind=record.stopped.kind if record.stopped else "",
        model="" if meter is None else meter.name,
        simulated=meter is not None and meter.simulated,
        seconds=time.perf_counter() - started,
        record=record.to_json(),
    )


def _policy_class(cell: Cell) -> type[Policy[Any]]:
    name = policy_of(cell.setting)
    if name is not None:
        return policy_class(name)
    if is_agent(cell.setting):
        return AgentPolicy
    return GoalPolicy if is_goal(cell.setting) else LLMPolicy


def _written(policy: Policy[Any], task: PaperTask, world: World, domain: Domain) -> PlanningRecord:
    """Return the planning record of a task, which begins with the search for unseen objects."""
    inventory = world.inventory()
    if not task.unseen:
        return _record(policy, task.goal_oriented, world, inventory, domain)
    searched: list[GroundAction] = []

    def listen(event: Event) -> None:
        if isinstance(event, StepDone) and event.success:
            searched.append(event.action)

    executor: Executor[Any] = Executor(world, policy, listen, lambda _: None)

    def find(target: Any) -> Inventory:
        executor.find(target)
        return world.inventory()

    record = _record(policy, task.goal_oriented, world, inventory, domain, find)
    if not searched:
        return record
    first = AABlock(MacroAction("look behind closed doors"), tuple(searched))
    return replace(record, plan=record.plan.replace(blocks=(first, *record.plan.blocks)))


def _record(
    policy: Policy[Any],
    request: str,
    world: World,
    inventory: Inventory,
    domain: Domain,
    find: FindObjects[Any] | None = None,
) -> PlanningRecord:
    started = time.perf_counter()
    try:
        if isinstance(policy, GoalPolicy | LLMPolicy):
            return policy.write(request, world.graph, inventory, find)
        plans = plan_all_stages(policy, request, world.graph, inventory, domain, _compiled, find)
    except HvrError as error:
        # A plan that failed because of the model or the policy is a result.
        stopped = stopped_by(error)
        if stopped is None:
            raise
        return replace(uncorrected_record([], time.perf_counter() - started, 0), stopped=stopped)
    calls = sum(planned.planner_calls for planned in plans)
    seconds = time.perf_counter() - started
    return uncorrected_record([planned.plan for planned in plans], seconds, calls)


def check_models(cells: Sequence[Cell], options: CellOptions) -> None:
    """Create each model and the embedder once, to report errors before any cell runs.

    For a local model, only its packages are checked, since loading it is slow.

    Raises:
        UsageError: A spec or option is invalid, a key is missing, or the budget is in dollars and a
            price is unknown.
    """
    for cell in {cell.model: cell for cell in cells if cell.model != NO_MODEL}.values():
        choice = _choice(cell, options)
        _embedder(choice)
        if loads_weights(cell.model) and options.cassettes is None:
            need_local()
        else:
            connect(choice, about=_about(cell))


def prompt_digests(options: CellOptions) -> dict[str, str]:
    return dict(load_prompts(options.model.prompts).digests)


def _choice(cell: Cell, options: CellOptions) -> ModelChoice:
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
    name = f"{cell.id}.planner.jsonl"
    earlier = options.cassettes / name if options.cassettes is not None else None
    return RecordedPlanner(FastDownward(), transcript.with_name(name), earlier)


# Cached in each process: compiling a scene or loading an embedding model takes longer than the rest
# of a cell.


@lru_cache(maxsize=2)
def _compiled(domain: Domain, problem: Problem) -> Task:
    return Task(domain, problem)


def _embedder(choice: ModelChoice) -> Embedder | None:
    if choice.spec is None:
        return None
    return _made(choice.embedder, embedder_options(choice))


@cache
def _made(name: str, options: ModelOptions) -> Embedder:
    return make_embedder(name, options)
