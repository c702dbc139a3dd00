"""The tasks: their files, ground truths and sentences."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hvr.base.files import data_path
from hvr.bench.scoring import keeps_constraints
from hvr.errors import DataFileError, UsageError
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.relevance import forbid_untidy_places, relevant_objects
from hvr.pddl import And, GroundAction, TypedName, parse_constraint, parse_domain, parse_formula
from hvr.pddl import Task as PddlTask
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.runs.request import Options
from hvr.runs.spine import plan
from hvr.runs.tasks import PaperTask, expand_ids, load_task, paper_task_ids, task_ids
from hvr.validation import Validator
from hvr.validation.minimise import reaches_goal
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene
from hvr.worlds.thor.observe import Names
from hvr.worlds.thor.skills import perform
from studies.partial_order import sample_linearization

TASKS = paper_task_ids()
HARDER = tuple(name for name in task_ids() if name not in TASKS)


@pytest.fixture(scope="module")
def policy() -> SymbolicPolicy:
    domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
    return SymbolicPolicy(load_ontology(), domain, FastDownward(seconds=600, patience=0.02))


def problem_of(policy: SymbolicPolicy, task: PaperTask, scene: str) -> PddlTask:
    """Return the policy's problem for a task, without planning."""
    graph = KnowledgeGraph.create(None, policy.ontology)
    inventory = World(Kitchen(scene), graph).inventory()
    stage = policy.with_ends(task.goal)
    objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
    wanted = parse_formula(stage.wanted, policy.domain, objects)
    goal = parse_formula(stage.text, policy.domain, objects)
    bound = tuple(parse_constraint(c, policy.domain, objects) for c in task.constraints)
    named = {name for step in task.ground_truth.steps for name in step.args}
    names = {*relevant_objects([wanted], inventory, bound).names, *named}
    problem = graph.problem(policy.domain, "task", names, goal).replace(constraints=And(bound))
    return PddlTask(policy.domain, forbid_untidy_places(problem, wanted, inventory))


def test_all_tasks_of_the_paper_are_there() -> None:
    numbered = [f"T{n}" for n in range(1, 13)]
    assert set(TASKS) == {*numbered, "T5bis"}
    assert list(TASKS).index("T5bis") == list(TASKS).index("T5") + 1
    assert set(HARDER) == {f"T{n}" for n in range(13, 25)}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["t2"], ["T2"]),
        (["T4-T6", "T5"], ["T4", "T5", "T5bis", "T6"]),
        (["T23-T24", "T1"], ["T23", "T24", "T1"]),
        (["paper"], list(TASKS)),
        (["all"], [*TASKS, *HARDER]),
    ],
)
def test_ranges_and_names_of_sets(written: list[str], meant: list[str]) -> None:
    assert list(expand_ids(written)) == meant


@pytest.mark.parametrize(
    ("written", "words"), [("T6-T4", "is empty; did you mean T4-T6"), ("T13-T99", "'T99'")]
)
def test_a_range_without_tasks_is_refused(written: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        expand_ids([written])


@pytest.mark.parametrize("name", HARDER)
def test_a_harder_task_is_long_and_its_ground_truth_is_carried_out(
    name: str, policy: SymbolicPolicy
) -> None:
    task = load_task(name)
    truth = task.ground_truth
    assert 30 <= len(truth.steps) <= 110
    problem = problem_of(policy, task, truth.scene)
    assert Validator(problem).check(truth.steps).valid
    kitchen = Kitchen(truth.scene)
    names = Names.from_metadata(kitchen.last_event.metadata)
    for step in truth.steps:
        assert perform(kitchen, names, step.name, step.args).success, step


@pytest.mark.slow
def test_a_plan_that_breaks_a_constraint_is_no_success() -> None:
    truth = load_task("T19").ground_truth
    assert keeps_constraints(truth.scene, load_task("T19").constraints, truth.steps)
    again = ("close_obj", "open_obj", "close_obj")
    more = (*truth.steps, *(GroundAction(name, ("fridge-1",)) for name in again[1:]))
    assert truth.steps[-1] == GroundAction(again[0], ("fridge-1",))
    assert not keeps_constraints(truth.scene, load_task("T19").constraints, more)


@pytest.mark.parametrize("name", TASKS)
def test_the_scenes_have_what_is_required(name: str) -> None:
    task = load_task(name)
    assert len(task.scenes) >= 5
    for scene in task.scenes:
        assert set(task.requires) <= {o.object_type for o in load_scene(scene).objects}


@pytest.mark.slow
@pytest.mark.parametrize("name", (*TASKS, *HARDER))
def test_every_order_of_the_ground_truth_reaches_the_goal(
    name: str, policy: SymbolicPolicy
) -> None:
    truth = load_task(name).ground_truth
    problem = problem_of(policy, load_task(name), truth.scene)
    assert reaches_goal(problem, truth.steps)
    rng = random.Random(1)
    for _ in range(8):
        numbers = sample_linearization(len(truth.blocks), truth.order, rng)
        steps = [action for number in numbers for action in truth.blocks[number - 1]]
        assert reaches_goal(problem, steps), numbers


@pytest.mark.parametrize("name", (*TASKS, *HARDER))
def test_the_ground_truth_is_minimal_where_that_was_proven(name: str) -> None:
    task = load_task(name)
    optimum = task.optimum[task.ground_truth.scene]
    assert len(task.ground_truth.steps) == optimum.steps
    assert all(o.bound <= o.steps for o in task.optimum.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["T1", "T3", "T4", "T5bis", "T6"])
def test_a_task_is_planned_as_short_as_proven_and_executed(name: str, tmp_path: Path) -> None:
    task = load_task(name)
    scene = task.scenes[2]
    run = plan(task=name, options=Options(scene=scene, save=tmp_path / "run"))
    assert run.reached
    assert len(run.plans[0].plan.actions) == task.optimum[scene].steps
    assert all(step.as_expected for step in run.steps)


@pytest.mark.slow
def test_a_long_task_is_planned_nearly_as_short_and_executed(tmp_path: Path) -> None:
    name = "T7"
    task = load_task(name)
    scene = task.scenes[0]
    run = plan(task=name, options=Options(scene=scene, save=tmp_path / "run"))
    assert run.reached
    assert len(run.plans[0].plan.actions) <= 1.1 * task.optimum[scene].steps


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_every_sentence_of_a_task_asks_for_its_goal(name: str, policy: SymbolicPolicy) -> None:
    """A plan that reaches the sentence's goal also reaches the task's goal."""
    task = load_task(name)
    graph = KnowledgeGraph.create(None, policy.ontology)
    inventory = World(Kitchen(task.ground_truth.scene), graph).inventory()
    seen = set()
    for sentence in task.sentences:
        # 'Then' makes stages; the last one has everything that must hold at the end.
        stage = policy.reader.goal(sentence, inventory).stages[-1]
        if stage in seen:  # another wording of the same goal
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
    ("text", "words"), [("id = [", "TOML"), ("", "missing"), ("id = 3\n", "form|missing")]
)
def test_a_damaged_task_file_says_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "T1.toml").write_text(text)
    with pytest.raises(DataFileError, match=words):
        load_task("T1", tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('requires = ["Mug"', 'requires = "Mug" #', "'requires' must be a list of strings"),
        ("paper_steps =", "step_bugdet = 9\npaper_steps =", "did you mean 'step_budget'"),
        (
            "paper_steps =",
            "step_budget = 3\npaper_steps =",
            "must be at least 9, the minimum number of steps, got 3",
        ),
        ("paper_steps =", 'step_budget = "9"\npaper_steps =', "must be a positive integer"),
        ("paper_steps =", 'unseen = "yes"\npaper_steps =', "must be true or false"),
        ("(exists (?", "(exist (?", "'goal': .*exist"),
        ("paper_steps =", 'constraints = ["(alwys)"]\npaper_steps =', "'constraints': .*alwys"),
        ("order = [[", "order = [[1, 9], [", "'order' must contain block numbers from 1 to"),
        ("order = [[", "order = [1, [", "list of pairs of numbers, got 1"),
        ("FloorPlan1 = {", "FloorPlan1 = 9 # {", "'FloorPlan1' must be a table, got 9"),
        ('scene = "FloorPlan1"', 'scene = "FloorPlan99"', "must contain FloorPlan99"),
    ],
)
def test_a_task_of_ones_own_that_is_malformed_says_what_is_wrong(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    text = (data_path("tasks") / "T2.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "mine.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataFileError, match=words) as caught:
        load_task(str(tmp_path / "mine.toml"))
    assert "mine.toml" in str(caught.value)


def test_tasks_of_ones_own_are_named_by_their_files(tmp_path: Path) -> None:
    text = (data_path("tasks") / "T2.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(f"step_budget = 9\n{text}", encoding="utf-8")
    assert expand_ids([str(path), "T2"]) == (str(path), "T2")
    assert expand_ids([f"{tmp_path}/"]) == (str(path),)
    mine = load_task(str(path))
    assert mine.reference == str(path) and load_task("T2").reference == "T2"
    assert mine.budget_in(mine.ground_truth.scene) == 9 and mine.budget_in("FloorPlan2") is None
    with pytest.raises(UsageError, match="no folder with task files"):
        expand_ids([f"{tmp_path}/nowhere/"])


@pytest.mark.parametrize("name", HARDER)
def test_a_harder_task_has_a_budget_close_to_the_best_known(name: str) -> None:
    task = load_task(name)
    best = task.optimum[task.ground_truth.scene].steps
    assert task.step_budget is not None
    assert best <= task.step_budget <= (2 if task.unseen else 1.1) * best
