"""Prompts for the simulated model, filled in like the pipeline's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from hvr.base.files import data_path
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.context import object_context
from hvr.models.model import Request
from hvr.pddl import GroundAction, parse_domain
from hvr.pddl import Task as PddlTask
from hvr.planning.plans import AABlock, MacroAction
from hvr.policies.llm.prompts import load_prompts
from hvr.runs.simulated import ErrorModel, Script, Scripted, script_of
from hvr.runs.simulated.step_errors import CHOICE_KINDS, CONDITION_KINDS, MACRO_KINDS, STEP_KINDS
from hvr.runs.tasks import load_task
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene

_PROMPTS = load_prompts()
KINDS = (*STEP_KINDS, *CONDITION_KINDS, *MACRO_KINDS, *CHOICE_KINDS)


def request(purpose: str, **values: str) -> Request:
    """Return a prompt without the unused values."""
    defaults = {
        "request": "make lunch", "objects": "", "classes": "", "actions": "(pick_up, o)",
        "predicates": "(holding o)", "history": "nothing", "macro": "", "macros": "",
        "conditions": "", "block": "", "problem": "", "attempt": "1", "attempts": "9",
        "knowledge": "", "wanted": "",
    }  # fmt: skip
    return Request(messages=_PROMPTS[purpose].fill(defaults | values), purpose=purpose)


@cache
def script(task_id: str) -> Script:
    """Return the script of a task in its ground truth's scene."""
    task = load_task(task_id)
    return script_of(task, task.ground_truth.scene)


@cache
def scene(task_id: str) -> tuple[str, str, PddlTask]:
    """Return part of a task's scene: object lines, all classes, and the problem.

    It has the script's objects, the first object of each of their classes, and their switches.
    """
    domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
    blocks = script(task_id).blocks
    texts = [t for b in blocks for t in (*b.macro.precondition, *b.macro.postcondition)]
    texts += map(str, script(task_id).steps)
    named = set(re.findall(r"[a-z]+-\d+", " ".join(texts)))
    with KnowledgeGraph.create(None, load_ontology()) as graph:
        world = World(Kitchen(load_scene(load_task(task_id).ground_truth.scene), 0), graph)
        classes = world.inventory().classes
        kin = {f"{name.split('-')[0]}-{n}" for name in named for n in (1, 2, 3)}
        switches = {name for name, cls in classes.items() if cls in {"StoveKnob", "Faucet"}}
        names = sorted(named | switches | (kin & set(classes)))
        kinds = ", ".join(sorted(set(classes.values())))
        problem = graph.problem(domain, "scene", names)
        return object_context(graph, names), kinds, PddlTask(domain, problem)


def listed(task_id: str, names: Iterable[str]) -> str:
    """Return the lines of some objects."""
    wanted = set(names)
    lines = scene(task_id)[0].splitlines()
    return "\n".join(line for line in lines if line.split(" ", 1)[0] in wanted)


def only(*kinds: str, **values: float) -> ErrorModel:
    """Return an error model with only some kinds of errors."""
    weights = {kind: float(kind in kinds) for kind in KINDS}
    return ErrorModel(**{"error": 1.0, "macros": 1.0, **weights, **values})


def step(text: str) -> GroundAction:
    """Parse an action such as `pick_up mug-1`."""
    name, *args = text.split()
    return GroundAction(name, tuple(args))


def numbered(steps: Sequence[GroundAction]) -> str:
    """Format actions as in the prompts."""
    return "\n".join(f"{i}. ({', '.join((a.name, *a.args))})" for i, a in enumerate(steps, start=1))


COFFEE = Script(
    (
        AABlock(
            MacroAction(
                "Put the mug on the coffee machine",
                ("(present mug-1)", "(hand_empty)"),
                ("(on mug-1 coffeemachine-1)", "(not (in mug-1 cabinet-4))"),
            ),
            tuple(
                map(
                    step,
                    (
                        "navigate_to_obj mug-1",
                        "pick_up mug-1",
                        "navigate_to_obj coffeemachine-1",
                        "put_on mug-1 coffeemachine-1",
                    ),
                )
            ),
        ),
        AABlock(
            MacroAction("Brew the coffee", (), ("(contains mug-1 coffee)",)),
            (step("toggle_on coffeemachine-1"), step("toggle_off coffeemachine-1")),
        ),
        AABlock(
            MacroAction("Take the mug", ("(hand_empty)",), ("(holding mug-1)",)),
            (step("pick_up mug-1"),),
        ),
    )
)
"""A small hand-written plan."""

COFFEE_OBJECTS = """\
coffeemachine-1 (CoffeeMachine): not toggled; can be switched; makes coffee; takes one Mug
mug-1 (Mug): not dirty, not filled; can be picked up, filled; container"""

DISTRACTORS = """
mug-2 (Mug): on countertop-1; can be picked up, filled; container
fork-1 (Fork): in cabinet-4; can be picked up
toaster-1 (Toaster): not toggled; can be switched; heat source; takes one BreadSliced"""


def coffee(errors: ErrorModel, seed: int = 0) -> Scripted:
    """Return a model that makes coffee."""
    return Scripted(COFFEE, errors, seed)
