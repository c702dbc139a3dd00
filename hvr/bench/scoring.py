"""Scores of a plan from its planning record.

Only this module reads gold goals and ground truths, after planning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from hvr.bench.cells import Scores
from hvr.bench.metrics import (
    best_correctness,
    block_verification,
    execution_success,
    expanded_plan_verification,
    goal_condition_success,
    length_discrepancy,
    macro_plan_verification,
)
from hvr.execution.deviations import compare_states
from hvr.execution.world import World, open_world
from hvr.knowledge.world_file import world_of_scene
from hvr.models.layers import MeteredUse
from hvr.pddl import (
    TRUE,
    And,
    Atom,
    Expression,
    GroundAction,
    State,
    Task,
    parse_constraint,
    parse_formula,
)
from hvr.pddl.formulas import atoms_of
from hvr.policies.llm.record import PlanningRecord
from hvr.runs.tasks import GroundTruth, PaperTask
from hvr.validation.minimise import eliminate_actions
from hvr.validation.report import Failure, FailureKind
from hvr.validation.validator import Validator
from hvr.worlds.kitchen import Kitchen

Steps = Sequence[GroundAction]

OPEN_ENDED = ("T5bis", "T12")
"""Open-ended tasks with several solutions. For these the paper (B.2) wrote a ground truth per run,
aligned with the model's intention. Here a plan that reaches the goal is compared with its own
reduction, and any other with the task's ground truth.
"""


@dataclass(frozen=True)
class DomainReplay:
    """The result of applying a plan's steps in the domain.

    Args:
        verified: Number of applicable steps at the start of the plan.
        state: State after the last applicable step.
        failure: Reason why the next step is not applicable; None if all steps are.
    """

    verified: int
    total: int
    state: State
    failure: Failure | None


@dataclass(frozen=True)
class ExecutionOutcome:
    """The result of executing a plan in the environment.

    Args:
        executed: Number of steps executed before the first failure.
        problem: Reason why execution stopped early; otherwise empty.
    """

    executed: int
    total: int
    state: State
    problem: str = ""


def score(
    record: PlanningRecord,
    task: PaperTask,
    *,
    scene: str | None = None,
    spent: MeteredUse | None = None,
    execute: bool = True,
    seed: int = 0,
) -> Scores:
    """Measure a plan: replay it in the domain, execute it, and compare it with the ground truth.

    Args:
        scene: Scene for which the plan was made; None for the scene of the ground truth.
        spent: Usage of the model, if any.
        execute: Whether to execute the plan in the embedded kitchen. A plan that is neither
            applicable nor correct is not executed, since it would fail.
        seed: Seed of the kitchen.
    """
    truth = task.ground_truth
    scene = scene or truth.scene
    arena = scene_task(scene)
    goal = _goal(task.goal, scene)
    plan = record.plan.actions
    replay = replay_plan(arena, plan)
    at_home = scene == truth.scene
    correctness = _correctness(plan, task, arena, goal) if at_home else None
    length = len(truth.steps) if at_home else task.optimum[scene].steps
    keeps = keeps_constraints(scene, task.constraints, plan)
    success = replay.failure is None and replay.state.holds(goal) and keeps
    aligned = success and task.id in OPEN_ENDED and at_home and correctness != 1
    if aligned:
        correctness, length = 1.0, len(_aligned(task.goal, scene, plan))
    run = None
    if execute and plan and (replay.failure is None or correctness == 1):
        run = execute_plan(arena, scene, plan, seed)
    return Scores(
        plan_length=len(plan),
        truth_length=length,
        pc=correctness,
        es=_execution_share(correctness, run, length),
        ld=length_discrepancy(len(plan), length),
        epv=expanded_plan_verification(replay.verified, replay.total),
        **_verification(record),
        goal_conditions=goal_condition_success(replay.state, goal),
        success=success,
        executed=run.executed if run else None,
        reached=run.state.holds(goal) and keeps if run else None,
        best=task.optimum[scene].steps,
        step_budget=task.budget_in(scene),
        aligned=aligned,
        corrections=sum(block.tries for block in record.blocks),
        planner_calls=record.planner_calls,
        library_hits=record.library_used,
        repaired=sum(block.repaired for block in record.blocks),
        unreadable=record.unreadable,
        repeated=record.repeated,
        removed=record.removed,
        spent=spent or MeteredUse(),
        failures=_failures(record, replay, success, run, keeps=keeps),
    )


def _execution_share(
    correctness: float | None, run: ExecutionOutcome | None, length: int
) -> float | None:
    if run is None or correctness is None:
        return None
    return execution_success(correctness, run.executed, length)


def _correctness(
    plan: Sequence[GroundAction], task: PaperTask, arena: Task, goal: Expression
) -> float | None:
    truth = task.ground_truth

    def is_valid(variant: GroundTruth) -> bool:
        kept = keeps_constraints(truth.scene, task.constraints, variant.steps)
        return kept and _valid(arena, goal, variant)

    return best_correctness(plan, truth, is_valid)[0]


def _verification(record: PlanningRecord) -> dict[str, float | None]:
    macro = record.macro_before.total if record.macro_before else len(record.blocks)
    blocks = block_verification(record.blocks, macro) if record.hierarchical else None
    # Without blocks, nothing shows whether V was on, so trust the later check.
    corrected = not record.blocks or any(b.verified_after is not None for b in record.blocks)
    return {
        "mpv_before": macro_plan_verification(record.macro_before),
        "mpv_after": macro_plan_verification(record.macro_after) if corrected else None,
        "aabv_before": blocks.before if blocks else None,
        "aabv_after": blocks.after if blocks else None,
    }


def replay_plan(task: Task, plan: Steps) -> DomainReplay:
    """Apply the steps of a plan until one is inapplicable."""
    validator = Validator(task)
    for number, action in enumerate(plan):
        report = validator.apply(action)
        if not report.ok:
            return DomainReplay(number, len(plan), validator.state, report.failure)
    return DomainReplay(len(plan), len(plan), validator.state, None)


def keeps_constraints(scene: str, constraints: Sequence[str], plan: Steps) -> bool:
    if not constraints:
        return True
    task = _bound(scene, tuple(constraints))
    done = replay_plan(task, plan).verified
    return Validator(task).check(plan[:done]).valid


def execute_plan(task: Task, scene: str, plan: Steps, seed: int = 0) -> ExecutionOutcome:
    """Execute a plan in a fresh kitchen without replanning.

    As in `hvr.execution.executor`, each observation is compared with the domain's prediction. If
    they differ, execution continues from the observed state. It stops at the first step that is
    inapplicable or that the environment rejects. A step counts as failed if its outcome makes the
    next step inapplicable.
    """
    ontology = world_of_scene(scene).scene_ontology
    world = open_world(Kitchen(scene, seed), ontology=ontology)
    names = [o.name for o in task.problem.objects]
    validator = Validator(task)
    ideal = validator  # the state if the last step had the expected outcome
    done, problem = 0, ""
    try:
        for number, action in enumerate(plan, 1):
            ideal = ideal.fork()
            report = validator.apply(action)
            if not report.ok:
                problem = report.explain()
                # The outcome of the previous step made this one inapplicable, so the previous step
                # failed.
                done -= int(ideal.apply(action).ok)
                break
            expected = validator.state.atoms()
            near = [a.args[0] for a in expected if a.predicate == "near"]
            outcome = world.act(number, action, near)
            if not outcome.result.success:
                problem = f"step {number} {action}: {outcome.result.error}"
                break
            done, ideal = number, validator
            observed = _seen(task, world, names)
            mismatch = compare_states(expected, observed, outcome.scene)
            if mismatch:
                lost = {atom for atom in mismatch.missing if atom.predicate == "near"}
                validator = Validator(task, state=task.state(observed - lost))
        return ExecutionOutcome(done, len(plan), task.state(_seen(task, world, names)), problem)
    finally:
        world.graph.close()


def _seen(task: Task, world: World, names: Sequence[str]) -> frozenset[Atom]:
    return frozenset(a for a in world.facts(names) if a.predicate in task.fluent_predicates)


def _valid(task: Task, goal: Expression, truth: GroundTruth) -> bool:
    replay = replay_plan(task, truth.steps)
    return replay.failure is None and replay.state.holds(goal)


def _aligned(goal: str, scene: str, plan: Steps) -> Steps:
    kept = eliminate_actions(_task_with(goal, scene).initial, plan)
    return plan if kept is None else [plan[i] for i in kept]


def _failures(
    record: PlanningRecord,
    replay: DomainReplay,
    success: bool,
    run: ExecutionOutcome | None,
    *,
    keeps: bool,
) -> dict[str, int]:
    # Count only the first inapplicable step, since the others follow from it.
    counts: Counter[str] = Counter()
    counts["unmapped action"] = sum(len(block.unmapped) for block in record.blocks)
    if replay.failure is not None:
        counts.update(_kinds(replay.failure))
    elif not success and keeps:
        counts["goal not met"] = 1
    if not keeps:
        counts["constraint broken"] = 1
    if record.stopped is not None:
        counts[record.stopped.kind] = 1
    elif replay.total == 0:
        counts["empty plan"] = 1
    if run is not None and run.problem:
        counts["execution stopped"] = 1
    return {kind: count for kind, count in sorted(counts.items()) if count}


def _kinds(failure: Failure) -> set[str]:
    if failure.kind is not FailureKind.PRECONDITION:
        return {f"inapplicable: {failure.kind.value}"}
    names = {
        atom.predicate for literal in failure.literals for atom in atoms_of(literal.formula)
    } or {"no literal"}
    return {f"inapplicable: {name}" for name in names}


# Cached in each process, because grounding the actions of a scene is expensive.


@lru_cache(maxsize=32)
def scene_task(scene: str) -> Task:
    """Return the initial state of a scene with all its objects as a task without a goal."""
    place = world_of_scene(scene)
    domain = place.agent.domain()
    with open_world(Kitchen(scene), ontology=place.scene_ontology).graph as graph:
        return Task(domain, graph.problem(domain, "score"))


@lru_cache(maxsize=8)
def _task_with(goal: str, scene: str) -> Task:
    task = scene_task(scene)
    return task.with_problem(task.problem.replace(goal=_goal(goal, scene)))


@lru_cache(maxsize=8)
def _bound(scene: str, constraints: tuple[str, ...]) -> Task:
    task = scene_task(scene)
    objects = task.problem.objects
    formulas = tuple(parse_constraint(text, task.domain, objects) for text in constraints)
    return task.with_problem(task.problem.replace(goal=TRUE, constraints=And(formulas)))


@lru_cache(maxsize=128)
def _goal(text: str, scene: str) -> Expression:
    task = scene_task(scene)
    return parse_formula(text, task.domain, task.problem.objects)
