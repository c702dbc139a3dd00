"""The spine of a run: open, understand, plan, validate, execute and observe, judge, save.

The executor plans and validates: it asks the policy for a plan of each stage, and for a new plan if
the world deviates from the prediction.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvr.errors import (
    DataFileError,
    ImpossibleGoalError,
    InvalidPlanError,
    LanguageError,
    MissingObjectError,
    UsageError,
)
from hvr.execution.events import Finished
from hvr.execution.executor import Executor
from hvr.execution.world import World, open_world
from hvr.knowledge.ontology import CONTAINS, FILLED, OPEN, RUNNING, roles_of
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goal_builder import Contingency, Goal, lasting_constraints
from hvr.models.choice import ModelChoice
from hvr.pddl import And, Domain, Task, Trajectory, TypedName, parse_constraint, parse_formula
from hvr.pddl.task import holds_initially
from hvr.planning.plans import Judgement, Planned, Policy, PolicyContext, Understanding
from hvr.runs.folder import (
    AFTER,
    BEFORE,
    Listener,
    Recorder,
    RunFolder,
    earlier_attempts,
    recorded_status,
    shared_graph,
)
from hvr.runs.request import Options, RunRequest, read_request, resumed
from hvr.runs.result import Run, result_of, summary
from hvr.validation.trajectory import grounded_constraints
from hvr.validation.validator import Validator
from hvr.worlds.environment import EnvironmentSetup, OpenEnvironment, open_environment
from hvr.worlds.scenes import scenes_with

if TYPE_CHECKING:
    from hvr.runs.contingent import ProvenBranch

# Composition root ---------------------------------------------------------------------------------


@dataclass
class RunComponents:
    """The components of a run that is ready to start.

    Args:
        branches: Branches of a contingent goal, proven before the observation.
        answer: Result of the observation, in words.
    """

    request: RunRequest
    folder: RunFolder
    recorder: Recorder
    env: OpenEnvironment
    world: World
    policy: Policy[Any]
    executor: Executor[Any]
    branches: tuple[ProvenBranch, ...] = ()
    answer: str = ""


@dataclass(frozen=True)
class OpenScene:
    """An open environment with the robot's world, which several requests can share."""

    env: OpenEnvironment
    world: World


@contextmanager
def open_scene(request: RunRequest, folder: RunFolder) -> Iterator[OpenScene]:
    """Open the environment and the robot's world for a request, and close them at the end."""
    options = request.options
    env: OpenEnvironment | None = None
    world: World | None = None
    try:
        setup = EnvironmentSetup(
            scene=request.scene, seed=options.seed, options=options.env_options, folder=folder.path
        )
        env = open_environment(request.environment, setup, request.faults)
        ontology = request.world.scene_ontology
        shared = shared_graph(request, folder)
        world = open_world(
            env, folder.path / "graph", ontology=ontology, sensors=options.sensors, shared=shared
        )
        yield OpenScene(env, world)
    finally:
        if world is not None:
            world.graph.close()
        if env is not None:
            env.stop()


@contextmanager
def open_run(
    request: RunRequest, folder: RunFolder, listen: Listener | None, scene: OpenScene | None = None
) -> Iterator[RunComponents]:
    """Open all components of a run, and close them at the end.

    If an open `scene` is given, it is used and stays open.
    """
    recorder = Recorder(folder, listen)
    with nullcontext(scene) if scene is not None else open_scene(request, folder) as opened:
        assert opened is not None
        env, world = opened.env, opened.world
        agent = request.world.agent
        folder.write_scene(BEFORE, env.last_event.metadata, world.names)
        folder.write("domain.pddl", agent.path.read_text(encoding="utf-8"))
        policy = _policy(request, folder, recorder)
        executor = Executor(
            world, policy, recorder, recorder.plan_made, request.options.max_replans
        )
        yield RunComponents(request, folder, recorder, env, world, policy, executor)
        if request.faults is not None:
            folder.write_json("faults.json", _injected(env))
        if recorder.steps:
            folder.write_scene(AFTER, env.last_event.metadata, world.names)
        world.graph.export(folder.path / "graph.ttl")


def _policy(request: RunRequest, folder: RunFolder, recorder: Recorder) -> Policy[Any]:
    options, agent = request.options, request.world.agent
    return request.policy.open(
        PolicyContext(
            ontology=request.world.scene_ontology,
            domain=agent.domain(),
            agent=agent.name,
            planner=request.planner,
            model=options.model,
            prompts=request.world.prompts,
            about=request.about(),
            folder=folder.path,
            transcript=folder.path / RunFolder.TRANSCRIPT,
            listen=recorder,
            reader=options.reader,
            reading=options.reading,
        )
    )


def _injected(env: OpenEnvironment) -> list[dict[str, Any]]:
    from hvr.worlds.faults import FaultyEnvironment

    assert isinstance(env, FaultyEnvironment)
    return [injection.to_json() for injection in env.log]


# Dry run ------------------------------------------------------------------------------------------


def judge_dry_run(
    planned: Planned,
    understanding: Understanding[Any],
    world: World,
    domain: Domain,
    *,
    asks_model: bool,
) -> Judgement:
    """Judge an unexecuted plan for the first stage by its final state in the validator."""
    if not understanding.judged_only:
        stages = len(understanding.stages)
        if stages == 1:
            whose = "by the model's reading; hvr's own was not compared" if asks_model else ""
            return Judgement(True, whose)
        return Judgement(None, f"only the first of {stages} stages was planned and checked")
    if understanding.impossible:
        return Judgement(
            False, f"by hvr's own reading, this is impossible here: {understanding.impossible}"
        )
    if understanding.goal is None:
        if not planned.plan.actions:
            return Judgement(False, "the plan has no steps")
        return Judgement(
            None,
            "every step is executable; hvr cannot read this request itself, so it did not check "
            "whether the plan meets it",
        )
    stages_read = understanding.goal.stages
    objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in world.inventory().classes]
    wanted = parse_formula(stages_read[-1].wanted, domain, objects, file="<goal>")
    texts, unchecked = lasting_constraints(stages_read)
    kept = [parse_constraint(text, domain, objects) for text in texts]
    problem = world.graph.problem(domain, "foreseen").replace(constraints=And(tuple(kept)))
    # Evaluate the goal in the final state, since grounding it may be too expensive.
    validator, actions = Validator(domain, problem), planned.plan.actions
    report = validator.check(actions)
    if not report.valid:
        if report.failure is None:
            return Judgement(None, f"the plan cannot be checked: {report.reason}")
        why = " ".join(report.explain().split())
        return Judgement(False, f"by hvr's own reading, {why}")
    end = validator.state_after(actions, len(actions)).atoms(static=True)
    if holds_initially(domain, problem.replace(init=end), wanted):
        last = " (the last of its stages)" if len(stages_read) > 1 else ""
        met = f"by hvr's own reading, the final state meets the request{last}"
        if unchecked:
            return Judgement(None, f"{met}; not checked: {', '.join(unchecked)}")
        return Judgement(True, met)
    return Judgement(
        False, f"by hvr's own reading, the final state lacks what was requested: {wanted}"
    )


# Runs ---------------------------------------------------------------------------------------------


def plan(
    text: str | None = None,
    *,
    task: str | None = None,
    options: Options | None = None,
    listen: Listener | None = None,
) -> Run:
    """Plan a request, prove the plan, execute and observe it, and save the run.

    Args:
        text: The request, such as "make coffee".
        task: ID of a task, such as "T2", or path of a task file, instead of `text`. Its sentence
            is the request; its reference goal is not used.
        listen: Callback that receives events as they happen.

    Raises:
        LanguageError: The request was not understood.
        ImpossibleGoalError: The request is impossible in this scene; the message explains why.
        PlannerError: No plan was found within the time limit, or the plan is invalid.
        LLMError: The language model gave no usable answer. The error's `folder` contains the
            dialogue up to the error.
        SceneError, UsageError, DataFileError: An option is invalid.
        SimulatorError: The environment cannot be started, or has stopped.
        MissingExtraError: A required package is not installed.
        StoreError: The SPARQL server in the options rejects the graph or does not answer.
    """
    started = time.perf_counter()
    request = read_request(text, task, options or Options())
    folder = RunFolder.create(request.options.save, request.name, datetime.now())
    return _run(request, folder, request.to_json(), listen, started)


def resume(
    folder: Path | str,
    *,
    model: ModelChoice | None = None,
    env_options: Sequence[str] = (),
    named: Sequence[str] = (),
    listen: Listener | None = None,
) -> Run:
    """Resume an interrupted run with its original options.

    The run restarts from the beginning in the same folder, but reuses the recorded answers of a
    language model. Their cost counts toward the limits and appears in `Run.spent`.

    Args:
        model: New `base_url`, `timeout`, `limits` (for all attempts together) and `trust_project`;
            None keeps the recorded value. A recorded base URL receives no provider's key, so a
            folder from someone else cannot collect your key. Other fields are ignored.
        env_options: Environment options that name a program, which a folder must not contain.
        named: The run's policy, planner or environment, if it is `module:attribute`. Code named
            only by a folder is not executed.
        listen: Callback that receives events as they happen.

    Raises:
        UsageError: The folder contains no run, or the run is finished or still active.
        HvrError: See `plan`.
    """
    started = time.perf_counter()
    opened, about = RunFolder.reopen(Path(folder))
    with closing(opened):
        request = resumed(about, opened.path, model or ModelChoice(), env_options, named)
        initial = {**request.to_json(), "earlier": earlier_attempts(about)}
        opened.move_aside()
        return _run(request, opened, initial, listen, started)


def _run(
    request: RunRequest,
    folder: RunFolder,
    initial: Mapping[str, Any],
    listen: Listener | None,
    started: float,
) -> Run:
    return carry_out(request, folder, initial, listen, started)[0]


def carry_out(
    request: RunRequest,
    folder: RunFolder,
    initial: Mapping[str, Any],
    listen: Listener | None,
    started: float,
    *,
    scene: OpenScene | None = None,
    goal: Goal | None = None,
) -> tuple[Run, tuple[Planned, ...]]:
    """Carry out a request; return the result, and the plans with their problems.

    Args:
        initial: Contents of the run's status at the start.
        started: Time at which the request arrived, from `time.perf_counter`.
        scene: An open scene to act in; None to open the scene of the request.
        goal: The goal, if it is known without parsing the request.
    """
    with recorded_status(folder, initial) as status:
        with open_run(request, folder, listen, scene) as run:
            try:
                before = run.world.inventory()
                understanding = _understand(run, goal)
                finished = _execute(run, understanding)
            finally:
                for name, record in run.policy.records().items():
                    folder.write_json(name, record)
            judgement = _judge(run, understanding, finished)
            if run.branches:
                from hvr.runs.contingent import judged

                judgement = judged(run, judgement)
            elif finished is not None and judgement.reached:
                judgement = _with_side_effects(judgement, understanding, before, run.world)
            judgement = _with_view(judgement, understanding, run.world)
            judgement = _with_budget(judgement, run.request, finished)
            judgement = _with_store(judgement, run)
        seconds = time.perf_counter() - started
        result = result_of(run, understanding.goal, finished, judgement, seconds)
        status.finish(summary(result))
    return result, tuple(run.recorder.planned)


def _understand(run: RunComponents, goal: Goal | None) -> Understanding[Any]:
    if goal is not None:
        understanding: Understanding[Any] = Understanding(goal.stages, goal)
        run.recorder.understood(understanding)
        return understanding
    try:
        understanding = run.policy.understand(
            run.request.text, run.world.graph, run.world.inventory()
        )
    except MissingObjectError as error:
        scenes = scenes_with(error.classes, run.request.world.name)
        where = f"scenes that have one: {_few(scenes)}" if scenes else "no scene has one"
        raise ImpossibleGoalError(f"{error}; {where}") from error
    run.recorder.understood(understanding)
    return understanding


def _few(names: Sequence[str]) -> str:
    more = len(names) - _FEW
    return ", ".join(names[:_FEW]) + (f" and {more} more" if more > 0 else "")


_FEW = 5


def _execute(run: RunComponents, understanding: Understanding[Any]) -> Finished | None:
    try:
        goal = understanding.goal
        if goal is not None and goal.contingency and not understanding.judged_only:
            return _execute_contingent(run, goal.contingency)
        if run.request.options.execute:
            return run.executor.run(understanding.stages, _unseen_constraints(run, understanding))
        stage = understanding.stages[0]
        if sought := run.executor.missing_objects(stage):
            raise UsageError(
                f"a dry run cannot search for {' and '.join(sought)}: leave out --dry-run, or "
                "use --sight omniscient",
                field="execute",
            )
        run.executor.prepare(stage)
        return None
    except InvalidPlanError as error:
        if not run.policy.asks_model:
            raise
        # Without verification, a model may write inexecutable steps; this is a result, not an
        # error.
        steps, replans = len(run.recorder.steps), run.executor.replans
        finished = Finished(False, steps, replans, str(error))
        run.recorder(finished)
        return finished


def _execute_contingent(run: RunComponents, contingency: Contingency) -> Finished | None:
    from hvr.runs.contingent import decide, prove_branches, settled, show_look

    answers = []
    while True:
        run.branches = (*run.branches, *prove_branches(run, contingency))
        if not run.request.options.execute:
            show_look(run, contingency)
            return None
        truth, failed = decide(run, contingency)
        if truth is None:
            assert failed is not None
            run.recorder(failed)
            return failed
        answers.append(f"{contingency.condition}: {'yes' if truth else 'no'}")
        run.answer = "; ".join(answers)
        chosen = contingency.then if truth else contingency.otherwise
        try:
            chosen = settled(run, contingency, chosen)
        except (ImpossibleGoalError, LanguageError) as error:
            steps, replans = run.executor.steps, run.executor.replans
            failed = Finished(False, steps, replans, f"{run.answer}; {error}")
            run.recorder(failed)
            return failed
        if chosen.contingency is None:
            return run.executor.run(chosen.stages)
        contingency = chosen.contingency


def _unseen_constraints(
    run: RunComponents, understanding: Understanding[Any]
) -> tuple[Trajectory, ...]:
    """Return the constraints of a goal that the policy ignores when it plans."""
    goal = understanding.goal
    if goal is None or not understanding.judged_only:
        return ()
    texts, _ = lasting_constraints(goal.stages)
    if not texts:
        return ()
    graph = run.world.graph
    domain = run.request.world.agent.domain()
    problem = graph.problem(domain, "watched")
    constraints = And(tuple(parse_constraint(t, domain, problem.objects) for t in texts))
    return grounded_constraints(Task(domain, problem.replace(constraints=constraints)))


def _judge(
    run: RunComponents, understanding: Understanding[Any], finished: Finished | None
) -> Judgement:
    if finished is None:
        planned, domain = run.recorder.planned[-1], run.request.world.agent.domain()
        asks_model = run.policy.asks_model
        return judge_dry_run(planned, understanding, run.world, domain, asks_model=asks_model)
    judgement = run.policy.judge(
        understanding,
        Judgement(finished.reached, finished.reason),
        run.world.graph,
        run.world.inventory(),
    )
    if judgement.reached and len(run.recorder.planned) == 1:
        try:
            run.policy.keep(run.recorder.planned[0], run.folder.path.name)
        except DataFileError as error:
            judgement = judgement.noting(f"nothing was added to the library: {error}")
    return with_reservations(judgement, understanding, finished)


def _with_side_effects(
    judgement: Judgement, understanding: Understanding[Any], before: Inventory, world: World
) -> Judgement:
    """Mention devices left on and objects left open or full, unless the request asks for this."""
    goal = understanding.goal
    if goal is None or understanding.judged_only:
        return judgement
    after, roles = world.inventory(), roles_of(world.graph.ontology)
    asked = " ".join(stage.wanted for stage in goal.stages)
    contains = roles.predicate(CONTAINS)
    for role, word in ((OPEN, "open"), (RUNNING, "on"), (FILLED, "full")):
        name = roles.predicate(role)
        said = name is None or f"({name} " in asked or (role == FILLED and f"({contains} " in asked)
        left = [] if said else [n for n in after.classes if after.true(str(name), n)]
        if new := [n for n in left if not before.true(str(name), n)]:
            judgement = judgement.noting(f"left {word}: {', '.join(new)}")
    return judgement


def _with_view(judgement: Judgement, understanding: Understanding[Any], world: World) -> Judgement:
    goal = understanding.goal
    if goal is None or not judgement.reached or not world.limited:
        return judgement
    stages = [goal.stages]
    if goal.contingency is not None:
        stages = [goal.contingency.then.stages, goal.contingency.otherwise.stages]
    if not any(stage.constraints for some in stages for stage in some):
        return judgement
    return judgement.noting("conditions over time were checked only where the robot looked")


def _with_budget(judgement: Judgement, request: RunRequest, finished: Finished | None) -> Judgement:
    budget = request.task.budget_in(request.scene) if request.task else None
    if budget is None or finished is None or not judgement.reached:
        return judgement
    where = "within" if finished.steps <= budget else "beyond"
    return judgement.noting(f"{where} the budget of {budget} steps")


def _with_store(judgement: Judgement, run: RunComponents) -> Judgement:
    why = run.world.graph.catch_up()
    if not why:
        return judgement
    store = run.request.options.store
    return judgement.noting(
        f"the store lacks this run: {why}; "
        f"`hvr kg publish {run.folder.path} --store {store}` sends it"
    )


def with_reservations(
    judgement: Judgement, understanding: Understanding[Any], finished: Finished
) -> Judgement:
    """Add reservations to a success.

    A reservation says that nothing was done, or which parts were not observed, checked or
    understood.
    """
    if not judgement.reached:
        return judgement
    if finished.steps == 0:
        judgement = judgement.noting("the goal already held, so nothing was done")
    if finished.unseen:
        judgement = judgement.noting(
            f"{' and '.join(finished.unseen)} could not be observed at the end"
        )
    goal = understanding.goal
    if goal is not None and understanding.judged_only:
        _, unchecked = lasting_constraints(goal.stages)
        if unchecked:
            judgement = judgement.noting(f"not checked: {', '.join(unchecked)}")
    if goal is not None and goal.unread:
        judgement = judgement.noting(f"hvr did not read {', '.join(map(repr, goal.unread))}")
    return judgement
