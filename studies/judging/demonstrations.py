"""Convert ALFRED's demonstrations to plans of hvr's skills, each with a problem and a goal.

A demonstration is converted if each of its interactions maps to an applicable step, preceded by
`navigate_to_obj` where needed, and if the goal and the tidiness preferences hold at the end.
ALFRED's agent opens and closes with full hands and may put any object anywhere; so do these plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hvr.base.files import data_path
from hvr.errors import HvrError
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import allow_all_places
from hvr.language.goal_builder import Stage
from hvr.pddl import Domain, GroundAction, Problem, Task, parse_domain
from hvr.runs.judging import scene_problem, with_end_preferences
from hvr.validation import Validator
from hvr.worlds.kitchen import Kitchen
from studies.alfred import resolve_id, scene_from_alfred

_SKILLS = {
    "PickupObject": "pick_up",
    "OpenObject": "open_obj",
    "CloseObject": "close_obj",
    "ToggleObjectOn": "toggle_on",
    "ToggleObjectOff": "toggle_off",
    "SliceObject": "slice_obj",
}


@dataclass(frozen=True)
class Demonstration:
    """A demonstration as a valid plan; `problem` also contains some distractors."""

    id: str
    task_type: str
    sentences: tuple[str, ...]
    problem: Problem
    plan: tuple[GroundAction, ...]


@lru_cache(maxsize=1)
def domain_text() -> str:
    """Return hvr's kitchen domain, changed so that opening and closing need no free hand."""
    text = (data_path("domains") / "kitchen" / "domain.pddl").read_text(encoding="utf-8")
    for before in ("(hand_empty) (not (opened ?o))", "(hand_empty) (opened ?o)"):
        if before not in text:
            raise ValueError(f"expected {before!r} in the kitchen domain")
        text = text.replace(before, before.removeprefix("(hand_empty) "))
    return text.replace("(define (domain kitchen)", "(define (domain kitchen-full-hands)")


@lru_cache(maxsize=1)
def domain() -> Domain:
    return parse_domain(domain_text())


def read_demonstration(record: Mapping[str, Any], wanted: str) -> Demonstration | None:
    """Return a demonstration as a plan; None if it is not a valid plan of hvr's skills.

    Args:
        record: One line of ALFRED's file.
        wanted: Goal in PDDL, without tidiness preferences.
    """
    try:
        scene = scene_from_alfred(record)
        world = World(Kitchen(scene), KnowledgeGraph.create(), force_put=True)
        inventory = world.inventory()
        asked = []
        for interaction in record["interactions"]:
            things = [interaction["objectId"], interaction.get("receptacleObjectId")]
            ids = [resolve_id(scene, thing) for thing in things if thing]
            if None in ids:
                return None
            names = tuple([world.names.name(str(i)) for i in ids])
            asked.append((str(interaction["action"]), names))
        named = [name for _, names in asked for name in names]
        problem = problem_of(
            world, inventory, [with_end_preferences(wanted, world.graph.ontology)], named
        )
        plan = _plan(Task(domain(), problem), asked)
    except HvrError:
        return None
    if plan is None:
        return None
    return Demonstration(
        str(record["id"]),
        str(record["task_type"]),
        tuple([str(a["task_desc"]).strip() for a in record["annotations"]]),
        problem,
        plan,
    )


def problem_of(
    world: World, inventory: Inventory, stages: Sequence[Stage], named: Iterable[str]
) -> Problem:
    """Return the problem of a goal, over the required objects and some distractors."""
    chosen = set(named)
    wider = [*chosen, *_bystanders(inventory, chosen)]
    return allow_all_places(
        scene_problem(world, inventory, domain(), stages, wider), inventory.ontology
    )


def _bystanders(inventory: Inventory, chosen: set[str], count: int = 3) -> Iterator[str]:
    classes = {inventory.classes[name] for name in chosen if name in inventory.classes}
    for name, object_class in inventory.classes.items():
        able = inventory.true("pickupable", name) and inventory.true("present", name)
        if count and object_class not in classes and able and not inventory.hidden(name):
            count -= 1
            classes.add(object_class)
            yield name


def _plan(
    task: Task, asked: Iterable[tuple[str, tuple[str, ...]]]
) -> tuple[GroundAction, ...] | None:
    ahead = Validator(task)
    static = task.static_facts
    steps: list[GroundAction] = []
    containers = {a.args[0] for a in static.atoms() if a.predicate == "container"}
    for name, things in asked:
        if name == "PutObject":
            skill = "put_in" if things[-1] in containers else "put_on"
            step = GroundAction(skill, things)
        elif name in _SKILLS:
            step = GroundAction(_SKILLS[name], things[:1])
        else:
            return None
        if not ahead.apply(step).ok:
            there = GroundAction("navigate_to_obj", things[-1:])
            if not (ahead.apply(there).ok and ahead.apply(step).ok):
                return None
            steps.append(there)
        steps.append(step)
    return tuple(steps) if ahead.goal_holds() else None
