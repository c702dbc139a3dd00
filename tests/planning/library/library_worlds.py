"""Tasks of real scenes, and the ground truths of the paper's tasks as plans."""

from __future__ import annotations

from functools import cache

from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.world_file import load_agent
from hvr.pddl import GroundAction, State, Task, parse_plan, parse_problem
from hvr.planning.library import Library, Origin, learn
from hvr.planning.plans import AABlock, MacroAction, Plan, macro_blocks
from hvr.runs.tasks import load_task, paper_task_ids
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene

ONTOLOGY = load_ontology()


@cache
def graph_of(scene: str) -> KnowledgeGraph:
    world = World(Kitchen(load_scene(scene), 0), KnowledgeGraph.create(None, ONTOLOGY))
    return world.graph


@cache
def task_in(scene: str, agent: str = "single-arm") -> Task:
    """Return a whole scene as a task."""
    domain = load_agent(agent).domain()
    return Task(domain, graph_of(scene).problem(domain, "scene"))


@cache
def room(agent: str, *facts: str) -> Task:
    """Return a tiny room in which a pusher can work: a mug on a counter, a table and a fridge."""
    hands = "" if agent == "pusher" else "(hand_empty)"
    domain = load_agent(agent).domain()
    text = f"""(define (problem room) (:domain {domain.name})
      (:objects mug-1 - mug apple-1 - apple countertop-1 - countertop diningtable-1 - diningtable
        fridge-1 - fridge)
      (:init {hands} (pickupable mug-1) (pickupable apple-1) (surface countertop-1)
        (surface diningtable-1) (large countertop-1) (fits mug-1 diningtable-1)
        (fits mug-1 countertop-1) (fits apple-1 fridge-1) (fits apple-1 countertop-1)
        (beside countertop-1 diningtable-1) (beside diningtable-1 countertop-1)
        (container fridge-1) (openable fridge-1) (cools fridge-1)
        (present mug-1) (present apple-1) (present countertop-1) (present diningtable-1)
        (present fridge-1) (on mug-1 countertop-1) (on apple-1 countertop-1)
        {" ".join(facts)}) (:goal (and)))"""
    return Task(domain, parse_problem(text, domain))


def after(task: Task, state: State, actions: tuple[GroundAction, ...]) -> State:
    bits = state.bits
    for action in actions:
        operator = task.ground(action)
        assert operator.applicable(bits), action
        bits = operator.apply(bits)
    return State(task, bits, state.values)


def block(name: str, *steps: str) -> AABlock:
    return AABlock(MacroAction(name), parse_plan("\n".join(steps)))


@cache
def ground_truth(task_id: str) -> tuple[Task, Plan]:
    """Return a task's ground truth, split into blocks by hvr.

    The problem contains the plan's objects, their places and their parts.
    """
    truth = load_task(task_id).ground_truth
    graph, domain = graph_of(truth.scene), load_agent("single-arm").domain()
    facts = graph.facts()
    names = {a for step in truth.steps for a in step.args}
    names |= {a.args[1] for a in facts if a.predicate in {"on", "in"} and a.args[0] in names}
    names |= {o for a in facts if a.predicate in {"knob_of", "faucet_of"} for o in a.args}
    names |= {a.args[0] for a in facts if a.predicate == "piece_of" and a.args[1] in names}
    task = Task(domain, graph.problem(domain, task_id, sorted(names)))
    return task, Plan(macro_blocks(task, truth.steps))


@cache
def learnt(*task_ids_: str) -> Library:
    """Return the library learnt from the ground truths of some tasks, by default all."""
    found = Library()
    for task_id in task_ids_ or paper_task_ids():
        task, plan = ground_truth(task_id)
        origin = Origin(
            request=task_id, scene=load_task(task_id).ground_truth.scene, model="by hand",
            date="2026-01-01", version="1", run=f"run-{task_id}",
        )  # fmt: skip
        found = found.add(learn(plan, task, "single-arm", origin, ontology=ONTOLOGY))
    return found
