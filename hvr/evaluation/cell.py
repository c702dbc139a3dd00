"""One cell of a bench: make the plan with the model, then score it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from hvr.envs.kitchen import Kitchen
from hvr.envs.scenes import load_scene
from hvr.evaluation.bench.cells import Cell, CellOptions, CellResult
from hvr.evaluation.bench.folder import BenchFolder
from hvr.evaluation.scoring import score
from hvr.execution.world import World
from hvr.files import data_path
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.llm.factory import make_model, stack
from hvr.llm.meter import Meter
from hvr.llm.model import Model
from hvr.llm.options import ModelOptions
from hvr.llm.replay import Replay
from hvr.pddl import Domain, Problem, Task, parse_domain
from hvr.policies.llm.prompts import Prompts, load_prompts
from hvr.policies.llm.settings import named
from hvr.retrieval.embedders import Embedder, make_embedder
from hvr.search.planners import FastDownward, Planner
from hvr.search.recorded import RecordedPlanner
from hvr.tasks import PaperTask, load_task


def run_cell(cell: Cell, options: CellOptions, folder: Path) -> CellResult:
    """Plan the task of a cell with its model and score the plan.

    Every prompt and answer goes to `transcripts/ID.jsonl` in the folder. The task's gold goal
    and ground truth are read by the scoring, and by the simulated model, which has to know
    what it gets wrong; the policy gets the sentence.

    Raises:
        LLMError: the model gave no usable answer.
        UsageError: the spec of the model cannot be used.
        DataFileError: the transcript cannot be written, or a recorded one is missing.
    """
    from hvr.policies.llm.policy import LLMPolicy

    started = time.perf_counter()
    task = load_task(cell.task)
    reach = ModelOptions(base_url=options.base_url)
    transcript = BenchFolder(folder).new_transcript(cell)
    # No cache: what one cell pays for must not make another look cheap.
    model = Meter(
        stack(
            _model(cell, options, reach, task),
            reach,
            record=transcript,
            header={"cell": cell.to_json()},
        )
    )
    with KnowledgeGraph.create(None, load_ontology()) as graph:
        world = World(Kitchen(load_scene(cell.scene), cell.seed), graph)
        policy = LLMPolicy(
            load_ontology(),
            _domain(),
            model,
            named(cell.setting),
            embedder=_embedder(options.embedder),
            planner=_planner(cell, options, transcript),
            prompts=_prompts(),
            compile_task=_compiled,
        )
        record = policy.write(task.goal_oriented, graph, world.inventory())
    spent = model.spent(time.perf_counter() - started)
    scores = score(
        record, task, scene=cell.scene, spent=spent, execute=options.execute, seed=cell.seed
    )
    return CellResult(
        cell=cell,
        scores=scores,
        model=model.name,
        simulated=model.simulated,
        seconds=time.perf_counter() - started,
        record=record.to_json(),
    )


def check_models(cells: Sequence[Cell], options: CellOptions) -> None:
    """Make each model once, so that what cannot work is said before anything is run.

    Local models are left out: loading one takes long.

    Raises:
        UsageError: a spec or an option cannot be used.
        LLMError: a key is missing.
        MissingExtraError: a package is not installed.
        DataFileError: a recording is missing.
    """
    for cell in {cell.model: cell for cell in cells}.values():
        if not cell.model.startswith("hf:"):
            _model(cell, options, ModelOptions(base_url=options.base_url), load_task(cell.task))


def prompt_digests() -> dict[str, str]:
    """Return digests of the prompt texts that cells are run with, for the manifest."""
    return dict(_prompts().digests)


def _planner(cell: Cell, options: CellOptions, transcript: Path) -> Planner:
    """Fast Downward with its results beside the transcript, or those of the repeated bench."""
    name = f"{cell.id}.planner.jsonl"
    earlier = options.cassettes / name if options.cassettes is not None else None
    return RecordedPlanner(FastDownward(), transcript.with_name(name), earlier)


def _model(cell: Cell, options: CellOptions, reach: ModelOptions, task: PaperTask) -> Model:
    if options.cassettes is not None:
        return Replay(options.cassettes / f"{cell.id}.jsonl")
    if cell.simulated:
        from hvr.scripted import make_scripted

        return make_scripted(cell.model, task, load_scene(cell.scene), cell.seed)
    return make_model(cell.model, reach)


# What never changes is made once in each process.


@cache
def _domain() -> Domain:
    return parse_domain(data_path("domains") / "kitchen" / "domain.pddl")


@lru_cache(maxsize=2)
def _task(problem: Problem) -> Task:
    return Task(_domain(), problem)


def _compiled(domain: Domain, problem: Problem) -> Task:
    """Return a task that remembers what it has compiled, for the next cell in the same scene."""
    assert domain is _domain()
    return _task(problem)


@cache
def _prompts() -> Prompts:
    return load_prompts()


@cache
def _embedder(name: str) -> Embedder:
    return make_embedder(name)
