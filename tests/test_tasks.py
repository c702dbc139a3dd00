"""The paper's tasks: their files, their ground truth, their sentences."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hvr.envs.kitchen import Kitchen
from hvr.envs.scenes import load_scene
from hvr.errors import DataFileError, UsageError
from hvr.execution.world import World
from hvr.files import data_path
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.pddl import Task as PddlTask
from hvr.pddl import TypedName, parse_domain, parse_formula
from hvr.policies.symbolic import SymbolicPolicy
from hvr.retrieval.places import tidy_places
from hvr.retrieval.relevance import relevant_objects
from hvr.run import Options, plan
from hvr.search.planners import FastDownward
from hvr.search.polish import reaches_goal
from hvr.tasks import PaperTask, load_task, task_ids
from studies.partial_order import sample_linearization

TASKS = task_ids()


@pytest.fixture(scope="module")
def policy() -> SymbolicPolicy:
    domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
    return SymbolicPolicy(load_ontology(), domain, FastDownward(seconds=600))


def problem_of(policy: SymbolicPolicy, task: PaperTask, scene: str) -> PddlTask:
    """The problem that the policy derives for a task, without planning."""
    graph = KnowledgeGraph.create(None, policy.ontology)
    inventory = World(Kitchen(scene), graph).inventory()
    stage = policy.with_ends(task.goal)
    objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
    wanted = parse_formula(stage.wanted, policy.domain, objects)
    goal = parse_formula(stage.text, policy.domain, objects)
    names = relevant_objects([wanted], inventory).names
    problem = graph.problem(policy.domain, "task", names, goal)
    return PddlTask(policy.domain, tidy_places(problem, wanted, inventory))


def test_all_tasks_of_the_paper_are_there() -> None:
    numbered = [f"T{n}" for n in range(1, 13)]
    assert set(TASKS) == {*numbered, "T5bis"}
    assert list(TASKS).index("T5bis") == list(TASKS).index("T5") + 1


@pytest.mark.parametrize("name", TASKS)
def test_the_scenes_have_what_is_required(name: str) -> None:
    task = load_task(name)
    assert len(task.scenes) >= 5
    for scene in task.scenes:
        assert set(task.requires) <= {o.object_type for o in load_scene(scene).objects}


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_every_order_of_the_ground_truth_reaches_the_goal(
    name: str, policy: SymbolicPolicy
) -> None:
    truth = load_task(name).ground_truth
    problem = problem_of(policy, load_task(name), truth.scene)
    assert reaches_goal(problem, truth.steps)
    rng = random.Random(1)
    for _ in range(20):
        numbers = sample_linearization(len(truth.blocks), truth.order, rng)
        steps = [action for number in numbers for action in truth.blocks[number - 1]]
        assert reaches_goal(problem, steps), numbers


@pytest.mark.parametrize("name", TASKS)
def test_the_ground_truth_is_minimal_where_that_was_proven(name: str) -> None:
    task = load_task(name)
    optimum = task.optimum[task.ground_truth.scene]
    assert len(task.ground_truth.steps) == optimum.steps
    assert all(o.bound <= o.steps for o in task.optimum.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["T1", "T2", "T3", "T4", "T5", "T5bis", "T6"])
def test_a_task_is_planned_as_short_as_proven_and_executed(name: str, tmp_path: Path) -> None:
    task = load_task(name)
    scene = task.scenes[2]
    run = plan(task=name, options=Options(scene=scene, save=tmp_path / "run"))
    assert run.reached
    assert len(run.plans[0].plan.actions) == task.optimum[scene].steps
    assert all(step.as_expected for step in run.steps)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["T7", "T11"])
def test_a_long_task_is_planned_nearly_as_short_and_executed(name: str, tmp_path: Path) -> None:
    task = load_task(name)
    scene = task.scenes[0]
    run = plan(task=name, options=Options(scene=scene, save=tmp_path / "run"))
    assert run.reached
    assert len(run.plans[0].plan.actions) <= 1.1 * task.optimum[scene].steps


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_every_sentence_of_a_task_asks_for_its_goal(name: str, policy: SymbolicPolicy) -> None:
    """Where the sentence's goal is reached by a plan, the task's goal is reached too."""
    task = load_task(name)
    graph = KnowledgeGraph.create(None, policy.ontology)
    inventory = World(Kitchen(task.ground_truth.scene), graph).inventory()
    seen = set()
    for sentence in task.sentences:
        (stage,) = policy.reader.goal(sentence, inventory).stages
        if stage in seen:  # other words for the same goal
            continue
        seen.add(stage)
        planned = policy.plan(stage, graph, inventory)
        state = planned.task.initial.bits
        for action in planned.plan.actions:
            state = planned.task.ground(action).apply(state)
        objects = [TypedName(n, (graph.pddl_type(n),)) for n in planned.relevant.names]
        wanted = parse_formula(task.goal, policy.domain, objects)
        assert planned.task.condition(wanted).holds(state), sentence


def test_an_unknown_task_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="T1, T2"):
        load_task("T77")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id = [", "TOML"),
        ("", "missing"),
        ("id = 3\n", "form|missing"),
    ],
)
def test_a_damaged_task_file_says_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "T1.toml").write_text(text)
    with pytest.raises(DataFileError, match=words):
        load_task("T1", tmp_path)
