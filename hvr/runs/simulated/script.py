"""Scripts: a task's ground truth, or a plan of hvr's planner, divided into macro actions."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from hvr.errors import UsageError
from hvr.execution.facts.planning import StatePlanner
from hvr.execution.world import open_world
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.wording import load_action_annotations, load_wording
from hvr.knowledge.world_file import world_of_scene
from hvr.pddl import (
    Domain,
    Expression,
    GroundAction,
    Task,
    TypedName,
    parse_domain,
    parse_formula,
    parse_problem,
)
from hvr.planning.plans import AABlock, MacroAction, block_conditions, block_name
from hvr.runs.simulated.step_errors import Providers, providers_of
from hvr.runs.tasks import PaperTask
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import Scene, load_scene

# Script -------------------------------------------------------------------------------------------

_INSTANCE = re.compile(r"\b[a-z]+-\d+\b")
_ARTICLES = frozenset({"the", "a", "an"})
_NTH = ("another", "a third", "a fourth", "a fifth", "a sixth", "a seventh", "an eighth")
_AGAIN = ("again", "a third time", "a fourth time", "a fifth time", "a sixth time")
MIN_NAME_SIMILARITY = 0.8
"""Minimum `difflib` similarity between a written name and the macro action it denotes."""


@dataclass(frozen=True)
class Script:
    """The plan that the simulated model knows.

    Args:
        providers: Steps that establish each literal; see `adapted`.
        constraints: PDDL trajectory constraints.
        kinds: Classes of the objects whose names do not contain their class.

    Raises:
        UsageError: The script has no blocks, or two macro actions have the same name.
    """

    blocks: tuple[AABlock, ...]
    title: str = "a plan"
    providers: Providers = field(default_factory=dict, hash=False)
    goal: Expression | None = None
    constraints: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        keys = [_key(block.macro.name) for block in self.blocks]
        if not keys:
            raise UsageError("a script needs at least one block")
        if len(set(keys)) < len(keys) or not all(keys):
            raise UsageError("the macro actions of a script must have distinct, non-empty names")

    @property
    def steps(self) -> tuple[GroundAction, ...]:
        return tuple(action for block in self.blocks for action in block.actions)

    def find(self, name: str) -> AABlock | None:
        """Return the macro action with the most similar name, or None if none is similar."""
        by_key = {_key(block.macro.name): block for block in self.blocks}
        wanted = _key(name)
        near = difflib.get_close_matches(wanted, list(by_key), n=1, cutoff=MIN_NAME_SIMILARITY)
        return by_key.get(wanted) or (by_key[near[0]] if near else None)


def script_of(task: PaperTask, scene: str) -> Script:
    """Return the script of a task: its ground truth, with macro actions named after classes.

    The conditions come from `block_conditions`, restricted to the plan's objects and their places.
    They omit preconditions about free places, since no model would write them.

    Raises:
        UsageError: The ground truth belongs to another scene.
    """
    truth = task.ground_truth
    if scene != truth.scene:
        raise UsageError(
            f"the simulated model knows the ground truth of {task.id} only in {truth.scene}, not "
            f"in {scene}: choose the scene {truth.scene}"
        )
    place = world_of_scene(scene)
    domain = place.agent.domain()
    world = open_world(Kitchen(scene), ontology=place.scene_ontology)
    with world.graph as graph:
        script = script_in_scene(graph, world.inventory(), domain, truth.blocks, task.goal)
    return replace(script, title=f"{task.id} in {scene}", constraints=task.constraints)


def script_in_scene(
    graph: KnowledgeGraph,
    inventory: Inventory,
    domain: Domain,
    blocks: Iterable[Sequence[GroundAction]],
    goal: str,
) -> Script:
    """Return the script of a plan in a scene; each of `blocks` becomes a macro action."""
    parts = [tuple(block) for block in blocks]
    steps = [action for part in parts for action in part]
    pddl = Task(domain, graph.problem(domain, "script", _objects(steps, inventory)))
    state = pddl.initial.bits
    written: list[AABlock] = []
    names: dict[str, list[str]] = {}
    for actions in parts:
        before, after, following = block_conditions(pddl, state, actions)
        name = _sentence(block_name(pddl, actions, state, following), inventory.classes, names)
        needs = tuple(text for text in before if not text.startswith(("(not (on ", "(not (in ")))
        written.append(AABlock(MacroAction(name, needs, after), actions))
        state = following
    return Script(
        tuple(written),
        providers=providers_of(pddl, steps),
        goal=parse_formula(
            goal, domain, [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
        ),
    )


def scene_name(scene: str | Scene) -> str:
    """Return the canonical name of a scene."""
    return scene.name if isinstance(scene, Scene) else load_scene(scene).name


def _objects(steps: Iterable[GroundAction], inventory: Inventory) -> tuple[str, ...]:
    names = {name for action in steps for name in action.args}
    ontology = inventory.ontology
    names |= {n for ground in ontology.subjects("isGround") for n in inventory.of(ground)}
    for prop in ontology.subjects("joinsSwitch"):
        for predicate in ontology.predicates(prop):
            names |= {n for pair in inventory.pairs(predicate) if names & set(pair) for n in pair}
    waiting = list(names)
    while waiting:
        parent = inventory.parents.get(waiting.pop())
        if parent is not None and parent not in names:
            names.add(parent)
            waiting.append(parent)
    return tuple(sorted(names))


def _sentence(text: str, classes: Mapping[str, str], names: dict[str, list[str]]) -> str:
    """Turn `put mug-1 on plate-1` into a unique sentence such as `Put the mug on the plate`."""

    def noun_phrase(match: re.Match[str], article: str = "the") -> str:
        return f"{article} {_noun(classes[match[0]])}"

    text = _as_order(text)
    sentence = _capital(_INSTANCE.sub(noun_phrase, text))
    before = names.setdefault(sentence, [])
    before.append(text)
    times = len(before) - 1
    if not times:
        return sentence
    if before.count(text) > 1:
        return f"{sentence} {_AGAIN[times - 1]}"
    nth = _INSTANCE.sub(lambda match: noun_phrase(match, _NTH[times - 1]), text, count=1)
    return _capital(_INSTANCE.sub(noun_phrase, nth))


def _as_order(text: str) -> str:
    for use in load_action_annotations().uses:
        if use.sentence:
            pattern = re.escape(use.title.text)
            pattern = pattern.replace(r"\{0\}", "(.+)").replace(r"\{1\}", r"(\S+)")
            match = re.fullmatch(pattern, text)
            if match:
                return use.sentence.fill(match.groups())
    return text


def _noun(object_class: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", object_class).lower().split()
    # "bread sliced" becomes "sliced bread"
    is_piece = object_class.lower() in load_wording().wholes
    return " ".join([words[-1], *words[:-1]] if is_piece else words)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _key(name: str) -> str:
    return " ".join(w for w in re.findall(r"[a-z0-9]+", name.lower()) if w not in _ARTICLES)


# Problems -----------------------------------------------------------------------------------------

_SECONDS = 30.0


@lru_cache(maxsize=128)
def script_of_problem(domain: str, problem: str) -> Script:
    """Return the script of a PDDL problem: a plan of hvr's planner, split at landmarks.

    Raises:
        PddlError: The domain or problem cannot be parsed.
        ImpossibleGoalError: No plan exists.
        PlannerError: No plan was found within 30 s.
        UsageError: The goal already holds.
    """
    parsed = parse_domain(domain)
    task = Task(parsed, parse_problem(problem, parsed))
    return script_of_plan(task, StatePlanner(seconds=_SECONDS).plan(task).plan.blocks)


def script_of_plan(task: Task, plan: Sequence[AABlock]) -> Script:
    """Return the script of a plan for a PDDL problem.

    Raises:
        UsageError: The plan has no steps.
    """
    steps = [action for block in plan for action in block.actions]
    if not steps:
        raise UsageError("a scripted model needs a goal that does not hold yet")
    seen: Counter[str] = Counter()
    blocks: list[AABlock] = []
    for block in plan:
        name = block.macro.name
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name}, time {seen[name]}"
        blocks.append(block.replace(macro=block.macro.replace(name=name)))
    kinds = {name: types[0] for name, types in task.objects.items()}
    return Script(
        tuple(blocks), task.problem.name, providers_of(task, steps), task.problem.goal, kinds=kinds
    )
