"""Judging a plan against a problem, a goal in a scene, or its run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from hvr.errors import DataFileError, UsageError
from hvr.judging.model_judge import ask, check, measure
from hvr.judging.repair import MAX_CONDITION_TESTS
from hvr.judging.symbolic import judge
from hvr.judging.verdict import Critique, CritiqueKind, PlanVerdict
from hvr.models.model import Model
from hvr.pddl import Domain, Step, parse_domain, parse_problem, read_plan
from hvr.tools.logs.reading import ReadPlan
from hvr.tools.tool_plans import ToolPlan
from hvr.validation.extraction.lines import KnownSymbols
from hvr.validation.extraction.readers import read_steps
from hvr.validation.validator import Validator


@dataclass(frozen=True)
class JudgingTarget:
    """The reference for judging a plan.

    Give exactly one of `problem`, `goal` and `goal_pddl`, or none of them to judge a run.

    Args:
        problem: Problem file.
        goal: Goal as a sentence.
        goal_pddl: File with a PDDL goal about objects of a scene.
        scene: Scene of a goal.
        domain: Domain file; None for the domain of the scene's world.
        lenient: Whether to accept unambiguous syntax errors.
    """

    problem: Path | None = None
    goal: str | None = None
    goal_pddl: Path | None = None
    scene: str | None = None
    domain: Path | None = None
    lenient: bool = False


@dataclass(frozen=True)
class JudgedPlan:
    """A plan with its verdict.

    Args:
        steps: Steps as in the file.
        validator: Validator of the initial state and the goal; None if the goal is unknown.
        goal: The goal in words or PDDL.
        reading: The interpretation of an ambiguous sentence; otherwise empty.
        tool_plan: The plan, if it is a tool plan.
        read: Record of a log, with the skipped parts, if the plan comes from one.
        note: Remark on the extraction of the plan from an answer; empty for a plan file.
    """

    file: Path
    verdict: PlanVerdict
    steps: tuple[Step, ...]
    validator: Validator | None
    goal: str = ""
    reading: str = ""
    tool_plan: ToolPlan | None = None
    read: ReadPlan | None = None
    note: str = ""

    @property
    def repaired(self) -> tuple[Step, ...] | None:
        """The repaired plan; it keeps the file's times if no step was inserted."""
        verdict = self.verdict
        if verdict.repaired is None or verdict.missing or not self.steps:
            return verdict.repaired
        return tuple(
            [step for number, step in enumerate(self.steps, 1) if number not in verdict.removed]
        )

    @property
    def title(self) -> str:
        """The file name, or the plan's ID if the file contains several plans."""
        return self.file.name if self.tool_plan is None else f"plan {self.tool_plan.id}"


def judge_plan(
    plan: Path, asked: JudgingTarget, *, work: int = MAX_CONDITION_TESTS
) -> tuple[JudgedPlan, ...]:
    """Judge the plan in a file, or the plans of a run, one per stage.

    Args:
        plan: PDDL plan file, or run folder.
        asked: The reference for judging.
        work: Maximum number of condition tests.

    Raises:
        UsageError: The reference is missing or ambiguous.
        DataFileError: A file is missing or damaged.
        PddlError: A PDDL file is invalid.
        SceneError: No such scene exists.
    """
    given = [asked.problem is not None, asked.goal is not None, asked.goal_pddl is not None]
    if sum(given) > 1:
        raise UsageError("give only one of problem, goal and PDDL goal", field="goal")
    if asked.scene is not None and asked.problem is not None:
        raise UsageError(
            "a problem already defines the initial state: leave out the scene", field="scene"
        )
    if plan.is_dir() and not any(given):
        return tuple(_judged(*part, work) for part in _parts_of_run(plan))
    file = plan / "plan.pddl" if plan.is_dir() else plan
    if not file.is_file():
        raise DataFileError(f"no such file: {file}")
    if asked.problem is not None:
        domain = _domain(asked)
        problem = parse_problem(asked.problem, domain, lenient=asked.lenient)
        known = KnownSymbols.of(domain, problem)
        steps, note = read_steps(file, known, lenient=asked.lenient)
        judged = _judged(file, steps, Validator(domain, problem), str(problem.goal), work)
        return (replace(judged, note=note),)
    if not any(given):
        raise UsageError(
            f"{plan}: no goal given; add a sentence, a PDDL condition or a problem", field="goal"
        )
    steps, note = read_steps(file, KnownSymbols.of(_domain(asked)), lenient=asked.lenient)
    from hvr.runs.scene_judging import judge_in_scene

    found = judge_in_scene(steps, _domain(asked), asked, work)
    judged = JudgedPlan(file, found.verdict, steps, found.validator, found.goal, found.reading)
    return (replace(judged, note=note),)


def _domain(asked: JudgingTarget) -> Domain:
    if asked.domain is None:
        from hvr.knowledge.world_file import world_of_scene

        return world_of_scene(asked.scene or "").agent.domain()
    return parse_domain(asked.domain, lenient=asked.lenient)


def _judged(
    file: Path, steps: tuple[Step, ...], validator: Validator, goal: str, work: int
) -> JudgedPlan:
    verdict = judge(validator, steps, work=work)
    return JudgedPlan(file, verdict, steps, validator, goal)


def _parts_of_run(folder: Path) -> Iterable[tuple[Path, tuple[Step, ...], Validator, str]]:
    if not (folder / "plan.pddl").is_file():
        raise DataFileError(f"{folder}: the run has no plan to judge; plan.pddl is missing")
    number = 1
    while (plan := folder / ("plan.pddl" if number == 1 else f"plan-{number}.pddl")).is_file():
        domain = parse_domain(folder / "domain.pddl")
        problem = parse_problem(folder / plan.name.replace("plan", "problem"), domain)
        steps = read_plan(plan).steps
        yield plan, steps, Validator(domain, problem), str(problem.goal)
        number += 1


def with_opinion(judged: JudgedPlan, model: Model) -> JudgedPlan:
    """Return a judged plan with a model's proven critiques of the remaining steps.

    Raises:
        LLMError: The model did not answer.
    """
    verdict = judged.verdict
    if judged.validator is None:
        return judged
    plan = verdict.repaired or verdict.plan
    start = judged.validator.state
    checked = check(start, plan, ask(model, judged.goal, plan))
    if measure(start, checked.plan) >= measure(start, plan):
        return judged
    places = _places(verdict)
    critiques = list(verdict.critiques)
    for number in checked.removed:
        place = places[number - 1]
        if place is not None:
            action = verdict.plan[place]
            why = f"{model.name} says so, and the plan without it reaches the same goal"
            critiques.append(Critique(CritiqueKind.REMOVE, place + 1, (action,), why))
    for number, action in checked.inserted:
        following = [p for p in places[number - 1 :] if p is not None]
        index = following[0] + 1 if following else len(verdict.plan) + 1
        why = f"{model.name} misses it, and with it the plan comes nearer to its goal"
        critiques.append(Critique(CritiqueKind.MISSING, index, (action,), why))
    critiques.sort(key=lambda critique: critique.index)
    reached = judged.validator.check(checked.plan).valid
    repaired = checked.plan if reached else verdict.repaired
    changed = replace(verdict, critiques=tuple(critiques), repaired=repaired)
    return replace(judged, verdict=changed)


def _places(verdict: PlanVerdict) -> list[int | None]:
    """Return the original index of each step of the repaired plan; None for an inserted step."""
    if verdict.repaired is None:
        return list(range(len(verdict.plan)))
    places: list[int | None] = []
    for number in range(1, len(verdict.plan) + 2):
        for critique in verdict.missing:
            if critique.index == number:
                places += [None] * len(critique.actions)
        if number <= len(verdict.plan) and number not in verdict.removed:
            places.append(number - 1)
    return places
