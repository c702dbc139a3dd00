"""From a request to a saved run: the spine of `hvr plan`.

open the scene ─▶ understand the request ─▶ [plan ─▶ validate ─▶ execute and watch]* ─▶ save
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import hvr
from hvr.envs.registry import check_environment, open_environment
from hvr.envs.scenes import load_scene, scene_names
from hvr.errors import (
    DataFileError,
    ImpossibleGoalError,
    MissingObjectError,
    PlannerError,
    UsageError,
)
from hvr.execution.belief import Sight
from hvr.execution.events import Event, Finished, PlanReady, StepDone, Understood
from hvr.execution.executor import Executor, Policy
from hvr.execution.perception import Senses
from hvr.execution.world import World
from hvr.files import data_path
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.language.goals import Goal
from hvr.pddl import parse_domain, print_plan, print_problem
from hvr.policies.symbolic import Planned, SymbolicPolicy
from hvr.report.run_page.scenes import AFTER, BEFORE
from hvr.run.folder import RunFolder
from hvr.run.model_choice import ModelChoice
from hvr.search.planners import DEFAULT, make_planner
from hvr.tasks import PaperTask, load_task

if TYPE_CHECKING:
    from hvr.envs.faults import Schedule
    from hvr.envs.registry import OpenEnvironment
    from hvr.envs.thor.options import ThorOptions
    from hvr.library import Origin
    from hvr.llm.meter import Spent
    from hvr.policies.llm.events import PolicyEvent
    from hvr.run.model_run import ModelRun, Recorded

DEFAULT_SCENE = "FloorPlan16"
POLICIES = ("symbolic", "llm")


@dataclass(frozen=True)
class Options:
    """How to run.

    Args:
        scene: the kitchen, FloorPlan1 to FloorPlan30.
        policy: who plans.
        planner: the classical planner of the symbolic policy, and for repair.
        budget: seconds for one planner call at most.
        seed: for the environment.
        max_replans: how many new plans may be made when something differs.
        execute: False only plans and validates.
        save: the run folder; None makes one under ./runs.
        model: the language model of the policy `llm`.
        env: where to execute: hvr's `kitchen`, or `thor`.
        thor: how to start AI2-THOR; None means its usual options.
        sight: what the robot sees: `omniscient`, all of the metadata, or `visible`.
        error_rate: share of wrong readings that it takes its sensor to have.
        faults: file of faults to play (docs/faults.md); None for none.
    """

    scene: str = DEFAULT_SCENE
    policy: str = "symbolic"
    planner: str = DEFAULT
    budget: float = 10.0
    seed: int = 0
    max_replans: int = 3
    execute: bool = True
    save: Path | None = None
    model: ModelChoice = field(default_factory=ModelChoice)
    env: str = "kitchen"
    thor: ThorOptions | None = None
    sight: str = Sight.OMNISCIENT.value
    error_rate: float = 0.0
    faults: Path | None = None


@dataclass(frozen=True)
class Run:
    """What came of a request.

    Args:
        request: the sentence.
        scene: where.
        goal: how hvr's own grammar reads it: what the symbolic policy plans for, and what a
            language model's plan is judged by. None when it could not be read.
        reached: what was asked for holds in what the environment shows; None when not executed,
            or when hvr cannot judge what a language model's plan has done.
        plans: every plan made, in order.
        steps: every step executed, in order.
        finished: how it ended; None when not executed.
        planner_calls: how often a classical planner was called.
        seconds: wall time.
        folder: the run folder.
        verdict: in a sentence, what `reached` rests on.
        model: name of the language model; empty without one.
        simulated: the model is a simulation of one.
        spent: what the model used; None without one.
    """

    request: str
    scene: str
    goal: Goal | None
    reached: bool | None
    plans: tuple[PlanReady, ...]
    steps: tuple[StepDone, ...]
    finished: Finished | None
    planner_calls: int
    seconds: float
    folder: Path
    verdict: str = ""
    model: str = ""
    simulated: bool = False
    spent: Spent | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "request": self.request,
            "scene": self.scene,
            "goal": [stage.text for stage in self.goal.stages] if self.goal else None,
            "notes": list(self.goal.notes) if self.goal else [],
            "reached": self.reached,
            "verdict": self.verdict,
            "plans": [p.to_json() for p in self.plans],
            "steps": [s.to_json() for s in self.steps],
            "finished": self.finished.to_json() if self.finished else None,
            "planner_calls": self.planner_calls,
            "planning_seconds": [round(p.seconds, 4) for p in self.plans],
            "seconds": round(self.seconds, 4),
            "model": self.model or None,
            "simulated": self.simulated,
            "spent": asdict(self.spent) if self.spent else None,
            "folder": str(self.folder),
        }


def plan(
    text: str | None = None,
    *,
    task: str | None = None,
    options: Options | None = None,
    listen: Callable[[Event | PolicyEvent], None] | None = None,
) -> Run:
    """Plan a request, prove the plan, execute and watch it, and save the run.

    Args:
        text: the request, such as "make coffee"; or
        task: the id of one of the paper's tasks, such as "T2". Its sentence is the request;
            its gold goal is not looked at.
        options: where and how.
        listen: is told every event as it happens.

    Raises:
        LanguageError: the request was not understood.
        ImpossibleGoalError: it cannot be met in this scene; the message says why.
        PlannerError: no plan was found in the time allowed, or it does not validate.
        LLMError: the language model gave no usable answer; what it was asked and answered so
            far is in the run folder.
        SceneError, UsageError, DataFileError: an option cannot be used.
        SimulatorError, MissingExtraError: AI2-THOR cannot be started, or has ended.
    """
    options = options or Options()
    started = time.perf_counter()
    if options.policy not in POLICIES:
        raise UsageError(f"unknown policy {options.policy!r} (policies: {', '.join(POLICIES)})")
    if options.max_replans < 0:
        raise UsageError("--max-replans must not be negative")
    again = None
    if options.policy == "llm":
        # Models and what they need are imported only where one is asked: `hvr plan` starts fast.
        from hvr.run.model_run import recorded_run, repeated

        again = recorded_run(options.model)
    if again is not None:
        if text is None and task is None:
            text, task = again.run["request"], again.run["task"]
            text = None if task is not None else text
        options = replace(
            options,
            scene=str(again.run["scene"]),
            seed=int(again.run["seed"]),
            planner=str(again.run["planner"]),
            budget=float(again.run["budget"]),
            max_replans=int(again.run["max_replans"]),
            execute=bool(again.run["execute"]),
            sight=str(again.run.get("sight", options.sight)),
            error_rate=float(again.run.get("error_rate", options.error_rate)),
            model=repeated(options.model, again),
        )
    if (text is None) == (task is None):
        raise UsageError("give either a request, such as 'make coffee', or --task T2")
    check_environment(options.env)
    senses = _senses(options)
    faults = _faults(options, again)
    planner = make_planner(options.planner, options.budget)
    chosen = load_task(task) if task is not None else None
    request = chosen.goal_oriented if chosen else text or ""
    scene = load_scene(options.scene)
    if chosen is not None and scene.name not in chosen.scenes:
        raise ImpossibleGoalError(
            f"{scene.name} lacks what {chosen.id} needs ({', '.join(chosen.requires)}); "
            f"scenes that have it: {', '.join(chosen.scenes)}"
        )
    ontology = load_ontology()
    domain_file = data_path("domains") / "kitchen" / "domain.pddl"
    symbolic = SymbolicPolicy(ontology, parse_domain(domain_file), planner)
    folder = RunFolder.create(options.save, chosen.id if chosen else request, datetime.now())
    recorder = _Recorder(folder, listen)
    graph = None
    env: OpenEnvironment | None = None
    try:
        env = open_environment(
            options.env, scene.name, seed=options.seed, thor=options.thor, folder=folder.path,
            faults=faults,
        )  # fmt: skip
        graph = KnowledgeGraph.create(folder.path / "graph", ontology)
        force_put = bool(options.thor and options.thor.force_action)
        world = World(env, graph, force_put=force_put, senses=senses)
        folder.write_scene(BEFORE, env.last_event.metadata, world.names)
        folder.write("domain.pddl", domain_file.read_text(encoding="utf-8"))
        if options.policy == "symbolic":
            goal: Goal | None = _goal(symbolic, world, request)
            assert goal is not None
            recorder(
                Understood(
                    tuple(stage.wanted for stage in goal.stages),
                    goal.stages[-1].ends,
                    goal.notes,
                )
            )
            finished = _pursue(symbolic, goal.stages, world, recorder, options)
            verdict, reached = "", finished.reached if finished else None
            model = None
        else:
            from hvr.run.judge import judged, reading
            from hvr.run.model_run import open_model

            read = reading(symbolic, world, request)
            goal = read.goal
            about = {
                "request": request, "task": chosen.id if chosen else None, "scene": scene.name,
                "seed": options.seed, "planner": options.planner, "budget": options.budget,
                "max_replans": options.max_replans, "execute": options.execute,
                "sight": options.sight, "error_rate": options.error_rate,
                "faults": faults.to_json() if faults is not None else None,
            }  # fmt: skip
            model = open_model(
                options.model, about, folder.path, ontology=ontology, domain=symbolic.domain,
                planner=planner, listen=recorder,
            )  # fmt: skip
            try:
                finished = _pursue(model.policy, (request,), world, recorder, options)
            except PlannerError as error:
                if not recorder.plans or recorder.plans[-1].report.valid:
                    raise
                # Without verification a model may well write what cannot be done.
                finished = Finished(False, len(recorder.steps), len(recorder.plans) - 1, str(error))
                recorder(finished)
            finally:
                for number, record in enumerate(model.policy.records, start=1):
                    suffix = "" if number == 1 else f"-{number}"
                    folder.write_json(f"planning{suffix}.json", record.to_json())
            reached, verdict = judged(finished, read, recorder.plans, world, symbolic.domain)
            if reached and len(recorder.planned_values) == 1:
                try:
                    model.keep(recorder.planned_values[0], _origin(model, about, folder))
                except DataFileError as error:
                    verdict += f"; nothing was added to the library: {error}"
        if faults is not None:
            folder.write_json("faults.json", _injected(env))
        if recorder.steps:
            folder.write_scene(AFTER, env.last_event.metadata, world.names)
        graph.export(folder.path / "graph.ttl")
    except BaseException as error:
        if recorder.worth_keeping():
            folder.write_json("error.json", {"error": type(error).__name__, "message": str(error)})
        else:  # nothing finished that could be lost
            if graph is not None:
                graph.close()
            folder.discard()
        raise
    finally:
        if graph is not None:
            graph.close()
        if env is not None:
            env.stop()
    result = Run(
        request, scene.name, goal, reached,
        tuple(recorder.plans), tuple(recorder.steps), finished, recorder.calls,
        time.perf_counter() - started, folder.path, verdict,
        model.meter.name if model else "", bool(model and model.simulated),
        model.meter.spent() if model else None,
    )  # fmt: skip
    folder.write_json("task.json", _summary(result, options, chosen))
    return result


def _senses(options: Options) -> Senses:
    if options.sight not in set(Sight):
        raise UsageError(f"unknown sight {options.sight!r} (sights: {', '.join(Sight)})")
    if not 0 <= options.error_rate < 0.5:
        raise UsageError(f"--error-rate must be from 0 to below 0.5, not {options.error_rate:g}")
    return Senses(Sight(options.sight), options.error_rate)


def _faults(options: Options, again: Recorded | None) -> Schedule | None:
    """Return the faults to play: of the file named, or of the run that is repeated."""
    recorded = again.run.get("faults") if again is not None else None
    if options.faults is None and recorded is None:
        return None
    from hvr.envs.faults import Schedule

    return Schedule.load(options.faults) if options.faults else Schedule.from_json(recorded)


def _injected(env: OpenEnvironment) -> list[dict[str, Any]]:
    """Return what faults were played, and what they changed."""
    from hvr.envs.faults import FaultyEnvironment

    assert isinstance(env, FaultyEnvironment)
    return [injection.to_json() for injection in env.log]


AnyGoal = TypeVar("AnyGoal")


def _pursue(
    policy: Policy[AnyGoal],
    stages: Sequence[AnyGoal],
    world: World,
    recorder: _Recorder,
    options: Options,
) -> Finished | None:
    """Plan and execute; None when it is only planned."""
    executor = Executor(world, policy, recorder, recorder.planned, options.max_replans)
    if options.execute:
        return executor.run(stages)
    executor.prepare(stages[0])
    return None


def _goal(policy: SymbolicPolicy, world: World, request: str) -> Goal:
    """Return the goal of the request; a missing object names the scenes that have it."""
    try:
        return policy.understand(request, world.inventory())
    except MissingObjectError as error:
        scenes = scenes_with(error.classes)
        where = f"scenes that have one: {', '.join(scenes)}" if scenes else "no scene has one"
        raise ImpossibleGoalError(f"{error}; {where}") from error


def _origin(model: ModelRun, about: Mapping[str, Any], folder: RunFolder) -> Origin:
    from hvr.library import Origin

    return Origin(
        request=str(about["request"]), scene=str(about["scene"]), model=model.meter.name,
        simulated=model.simulated, date=datetime.now(UTC).isoformat(timespec="seconds"),
        version=hvr.__version__, run=folder.path.name,
    )  # fmt: skip


def scenes_with(classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of the scenes that have an object of one of these AI2-THOR types."""
    wanted = set(classes)
    return tuple(
        name for name in scene_names()
        if any(o.object_type in wanted for o in load_scene(name).objects)
    )  # fmt: skip


def _summary(result: Run, options: Options, task: PaperTask | None) -> dict[str, Any]:
    values = result.to_json()
    del values["plans"], values["steps"]
    return {
        "task": task.id if task else None,
        "env": options.env,
        "sight": options.sight,
        "error_rate": options.error_rate,
        "faults": str(options.faults) if options.faults else None,
        "policy": options.policy,
        "planner": options.planner,
        "setting": options.model.setting if options.policy == "llm" else None,
        "seed": options.seed,
        **values,
        "folder": None,
    }


@dataclass
class _Recorder:
    """Writes plans and events into the run folder and passes events on."""

    folder: RunFolder
    listen: Callable[[Event | PolicyEvent], None] | None
    plans: list[PlanReady] = field(default_factory=list)
    steps: list[StepDone] = field(default_factory=list)
    planned_values: list[Planned] = field(default_factory=list)
    calls: int = 0

    def worth_keeping(self) -> bool:
        """Something was finished, or a model was asked, that must not be lost."""
        return bool(self.plans) or (self.folder.path / RunFolder.TRANSCRIPT).exists()

    def __call__(self, event: Event | PolicyEvent) -> None:
        self.folder.append("trace.jsonl", event.to_json())
        if isinstance(event, PlanReady):
            self.plans.append(event)
        elif isinstance(event, StepDone):
            self.steps.append(event)
        if self.listen is not None:
            self.listen(event)

    def planned(self, planned: Planned) -> None:
        self.planned_values.append(planned)
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
