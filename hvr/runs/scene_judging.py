"""Judging a plan by the goals of a sentence, or of a PDDL condition, in a scene."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hvr.errors import DataFileError, HvrError, ImpossibleGoalError, LanguageError
from hvr.execution.world import World, open_world
from hvr.judging.symbolic import judge
from hvr.judging.verdict import PlanVerdict
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import relevant_objects
from hvr.knowledge.world_file import load_world, world_of_scene
from hvr.language.goal_builder import Goal, Stage, end_conditions
from hvr.language.grammar import make_reader
from hvr.language.paraphrase import in_order
from hvr.language.taxonomy import Taxonomy
from hvr.pddl import (
    TRUE,
    And,
    Domain,
    GroundAction,
    Problem,
    Step,
    Task,
    TypedName,
    parse_constraint,
    parse_formula,
)
from hvr.planning.search.constraints import with_stages
from hvr.validation.sequences import action_of
from hvr.validation.validator import Validator
from hvr.worlds.environment import EnvironmentSetup, open_environment

if TYPE_CHECKING:
    from hvr.runs.judging import JudgingTarget

_MOST_OBJECTS_NAMED = 3


# Judged goals -------------------------------------------------------------------------------------
# A goal with several stages is judged as one: auxiliary facts record which stages have been
# reached, in order. For an ambiguous sentence, the most likely reading that needs most of the
# plan's steps is used, or else the reading with the fewest critiques.


@dataclass(frozen=True)
class JudgedGoal:
    """A verdict with its goal.

    Args:
        validator: Validator of the initial state and the goal; None if the goal is unknown.
        goal: The goal in words or PDDL.
        reading: The goal in words if the sentence is ambiguous; otherwise empty.
    """

    verdict: PlanVerdict
    validator: Validator | None
    goal: str
    reading: str = ""


def judge_by_goals(
    goals: Sequence[Goal],
    problem_of: Callable[[Sequence[Stage]], Problem],
    domain: Domain,
    plan: Sequence[Step],
    *,
    work: int,
) -> JudgedGoal:
    """Judge a plan by its best-fitting goal; `work` limits the condition tests per goal.

    Raises:
        HvrError: The plan cannot be judged by any goal.
    """
    judged: list[JudgedGoal] = []
    refusal: HvrError | None = None
    for goal in goals:
        try:
            stages = _with_plan_objects(goal.stages, plan)
            found = judge_by_stages(stages, problem_of(stages), domain, plan, work=work)
        except HvrError as error:
            refusal = refusal or error
            continue
        found = found if len(goals) == 1 else replace(found, reading=in_order(goal.paraphrase))
        # The goals are sorted by likelihood: the first fitting one wins.
        if _fits(found.verdict):
            return found
        judged.append(found)
    if not judged:
        assert refusal is not None, "there must be a goal"
        raise refusal
    return min(judged, key=lambda found: _findings(found.verdict))


_NAME = re.compile(r"\b([a-z]+)-\d+\b")
"""Pattern of an object name: kind and number."""


def _with_plan_objects(stages: Sequence[Stage], plan: Sequence[Step]) -> tuple[Stage, ...]:
    """Return the stages with the objects that the plan uses.

    Several stages refer to one object by name, which the reader chose among equal ones. If the plan
    does not use that object, another one of its kind in the plan replaces it.
    """
    if len(stages) < 2:
        return tuple(stages)
    used = dict.fromkeys(name for step in plan for name in action_of(step).args)
    text = " ".join(part for s in stages for part in (s.wanted, *s.ends, *s.constraints))
    named = {match[0]: match[1] for match in _NAME.finditer(text)}
    free = [name for name in used if name not in named]
    instead: dict[str, str] = {}
    for name, kind in named.items():
        other = next((n for n in free if n.rpartition("-")[0] == kind), None)
        if name not in used and other is not None:
            free.remove(other)
            instead[name] = other

    def changed(text: str) -> str:
        return _NAME.sub(lambda match: instead.get(match[0], match[0]), text)

    return tuple(
        stage.replace(
            wanted=changed(stage.wanted),
            ends=tuple(map(changed, stage.ends)),
            constraints=tuple(map(changed, stage.constraints)),
        )
        for stage in stages
    )


def judge_by_stages(
    stages: Sequence[Stage], problem: Problem, domain: Domain, plan: Sequence[Step], *, work: int
) -> JudgedGoal:
    """Judge a plan by all stages of a goal."""
    earlier = [parse_formula(s.wanted, domain, problem.objects) for s in stages[:-1]]
    domain, problem = with_stages(domain, problem, earlier)
    validator = Validator(Task(domain, problem))
    goal = ", then ".join(stage.text for stage in stages)
    if problem.constraints != TRUE:
        free = Validator(Task(domain, problem.replace(constraints=TRUE)))
        verdict = judge(free, plan, work=work)
        # A minimal plan without the constraints that satisfies them is also minimal with them.
        if verdict.repaired is not None and validator.check(verdict.repaired).valid:
            valid = validator.check(plan).valid
            return JudgedGoal(replace(verdict, valid=valid), validator, goal)
    return JudgedGoal(judge(validator, plan, work=work), validator, goal)


def _fits(verdict: PlanVerdict) -> bool:
    return verdict.repaired is not None and 2 * len(verdict.removed) <= len(verdict.plan)


def _findings(verdict: PlanVerdict) -> tuple[bool, int]:
    missing = sum(len(critique.actions) or 1 for critique in verdict.missing)
    unmended = verdict.repaired is None and verdict.outcome != "clean"
    return unmended, missing + len(verdict.removed)


def scene_problem(
    world: World,
    inventory: Inventory,
    domain: Domain,
    stages: Sequence[Stage],
    named: Iterable[str],
) -> Problem:
    """Return the problem of the last stage, with the objects of all stages and the `named` ones."""
    objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in inventory.classes]
    wanted = [parse_formula(stage.wanted, domain, objects, file="<goal>") for stage in stages]
    goal = parse_formula(stages[-1].text, domain, objects, file="<goal>")
    chosen = {*relevant_objects(wanted, inventory).names, *named}
    sources = {world.names.source(name) for name in chosen}
    chosen |= {name for name in sources if name is not None}
    for name in list(chosen):
        chosen.update(world.names.pieces(name))
    for name in list(chosen):
        parent = inventory.parents.get(name)
        while parent is not None and parent not in chosen:
            chosen.add(parent)
            parent = inventory.parents.get(parent)
    problem = world.graph.problem(domain, "judged", sorted(chosen), goal)
    texts = dict.fromkeys(text for stage in stages for text in stage.constraints)
    kept = [parse_constraint(text, domain, objects) for text in texts]
    return problem.replace(constraints=And(tuple(kept)))


def judge_in_scene(
    steps: Sequence[Step], domain: Domain, asked: JudgingTarget, work: int
) -> JudgedGoal:
    """Judge a plan by the sentence or the PDDL condition of `asked` in its scene."""
    scene = asked.scene or load_world().first_scene
    place = world_of_scene(scene)
    ontology = place.scene_ontology
    environment = open_environment(place.environments[0], EnvironmentSetup(scene=scene))
    world = open_world(environment, ontology=ontology)
    inventory = world.inventory()
    actions = tuple([action_of(step) for step in steps])

    def undecided(why: str, goal: str = "") -> JudgedGoal:
        return JudgedGoal(PlanVerdict(actions, unknown=why), None, goal)

    try:
        if asked.goal is not None:
            goals = _goals(asked.goal, ontology, domain, inventory)
        else:
            assert asked.goal_pddl is not None
            goals = (
                Goal(
                    (with_end_preferences(asked.goal_pddl.read_text(encoding="utf-8"), ontology),)
                ),
            )
    except (LanguageError, ImpossibleGoalError) as error:
        return undecided(f"the goal is not understood: {error}")
    except OSError as error:
        raise DataFileError(f"{asked.goal_pddl}: {error.strerror or error}") from error
    unknown = _unknown_objects(actions, inventory)
    if unknown:
        named = ", ".join(unknown[:_MOST_OBJECTS_NAMED])
        return undecided(f"{inventory.scene} has no {named}", goals[0].stages[-1].text)
    named_objects = [name for action in actions for name in action.args]

    def problem_of(stages: Sequence[Stage]) -> Problem:
        return scene_problem(world, inventory, domain, stages, named_objects)

    return judge_by_goals(goals, problem_of, domain, steps, work=work)


def _goals(
    sentence: str, ontology: Ontology, domain: Domain, inventory: Inventory
) -> tuple[Goal, ...]:
    goals = make_reader(None, ontology, domain).goals(sentence, inventory)
    whole = tuple(goal for goal in goals if not goal.unread)
    if not whole:
        raise LanguageError(
            f"hvr did not read {', '.join(map(repr, goals[0].unread))} in {sentence!r}"
        )
    return whole


def _unknown_objects(actions: Sequence[GroundAction], inventory: Inventory) -> list[str]:
    known = set(inventory.classes)
    return sorted({name for action in actions for name in action.args} - known)


def with_end_preferences(wanted: str, ontology: Ontology) -> Stage:
    """Return a PDDL goal as a stage with the ontology's end-state preferences."""
    holding = "(holding" in wanted
    ends = end_conditions(Taxonomy(ontology), set(), holding=holding)
    return Stage(wanted, tuple(ends))
