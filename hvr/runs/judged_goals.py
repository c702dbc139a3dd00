"""Plans judged against the goals that a sentence can mean in a scene.

A goal with several stages is judged as one: the actions remember which of its stages have been
reached, in their order, and all of them must have been. Where a sentence can mean several things,
the plan tells which: the likeliest reading for which it needs most of its steps, else the one that
there is least to say against it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from hvr.errors import HvrError
from hvr.execution.world import World
from hvr.judging.symbolic import judge
from hvr.judging.verdict import PlanVerdict
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import relevant_objects
from hvr.language.goals import Goal, Stage
from hvr.language.saying import in_order
from hvr.pddl import (
    TRUE,
    And,
    Domain,
    Problem,
    Step,
    Task,
    TypedName,
    parse_constraint,
    parse_formula,
)
from hvr.planning.solving.stages import remembering
from hvr.validation import Validator
from hvr.validation.sequences import action_of


@dataclass(frozen=True)
class JudgedGoal:
    """A verdict, and the goal that it is about.

    Args:
        verdict: the verdict.
        validator: where the plan begins, with the goal.
        goal: its stages as PDDL.
        reading: the goal in words, where the sentence can mean several things; else "".
    """

    verdict: PlanVerdict
    validator: Validator
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
    """Judge a plan by the one of some goals that it fits best.

    Args:
        goals: what a sentence can mean, the likeliest first.
        problem_of: makes the problem of a goal's stages.
        domain: the actions.
        plan: the plan.
        work: How many conditions to test for each goal.

    Raises:
        HvrError: the plan cannot be judged by any of them.
    """
    judged: list[JudgedGoal] = []
    refusal: HvrError | None = None
    for goal in goals:
        try:
            stages = _of_the_plan(goal.stages, plan)
            found = judge_by_stages(stages, problem_of(stages), domain, plan, work=work)
        except HvrError as error:
            refusal = refusal or error
            continue
        found = found if len(goals) == 1 else replace(found, reading=in_order(goal.said))
        if _fits(found.verdict):
            return found
        judged.append(found)
    if not judged:
        assert refusal is not None, "there must be a goal"
        raise refusal
    return min(judged, key=lambda found: _findings(found.verdict))


_NAME = re.compile(r"\b([a-z]+)-\d+\b")
"""An object of a scene: its kind and a number."""


def _of_the_plan(stages: Sequence[Stage], plan: Sequence[Step]) -> tuple[Stage, ...]:
    """Return stages about the objects that a plan uses.

    Several stages speak of one object by its name, which the reader chose among those of a kind.
    Where a plan does not touch it, what it does touch of the kind is meant.
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
    stages: Sequence[Stage],
    problem: Problem,
    domain: Domain,
    plan: Sequence[Step],
    *,
    work: int,
) -> JudgedGoal:
    """Judge a plan by all stages of a goal.

    Args:
        stages: the goal.
        problem: the problem of its last stage.
        domain: the actions.
        plan: the plan.
        work: How many conditions to test.
    """
    earlier = [parse_formula(s.wanted, domain, problem.objects) for s in stages[:-1]]
    domain, problem = remembering(domain, problem, earlier)
    validator = Validator(Task(domain, problem))
    goal = ", then ".join(stage.text for stage in stages)
    if problem.constraints != TRUE:
        free = Validator(Task(domain, problem.replace(constraints=TRUE)))
        verdict = judge(free, plan, work=work)
        # What is smallest without the constraints and keeps them is smallest with them.
        if verdict.repaired is not None and validator.check(verdict.repaired).valid:
            valid = validator.check(plan).valid
            return JudgedGoal(replace(verdict, valid=valid), validator, goal)
    return JudgedGoal(judge(validator, plan, work=work), validator, goal)


def _fits(verdict: PlanVerdict) -> bool:
    """Say whether a plan needs most of its steps for its goal."""
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
    """Return the problem of a goal, over the objects that it needs and those that a plan names.

    Args:
        world: the scene.
        inventory: what there is in it.
        domain: the actions.
        stages: the goal; the problem is that of the last stage, with the objects of all.
        named: objects of the plan.
    """
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
