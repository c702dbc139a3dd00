"""Judges a plan against a problem, against a goal in a scene, or against its own run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hvr.errors import DataFileError, HvrError, ImpossibleGoalError, LanguageError, UsageError
from hvr.execution.world import World, open_world
from hvr.judging.model_judge import ask, check, measure
from hvr.judging.repair import MAX_CONDITION_TESTS
from hvr.judging.symbolic import judge
from hvr.judging.verdict import Critique, CritiqueKind, PlanVerdict
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import relevant_objects
from hvr.knowledge.world_file import load_world, world_of_scene
from hvr.language.goal_builder import Goal, Stage, end_conditions
from hvr.language.grammar import make_reader
from hvr.language.paraphrase import in_order
from hvr.language.taxonomy import Taxonomy
from hvr.models.model import Model
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
    parse_domain,
    parse_formula,
    parse_problem,
    read_plan,
)
from hvr.planning.search.constraints import with_stages
from hvr.tools.logs.reading import ReadPlan
from hvr.tools.tool_plans import ToolPlan
from hvr.validation.extraction.lines import KnownSymbols
from hvr.validation.extraction.readers import read_steps
from hvr.validation.sequences import action_of
from hvr.validation.validator import Validator
from hvr.worlds.environment import EnvironmentSetup, open_environment


@dataclass(frozen=True)
class JudgingTarget:
    """The reference for judging a plan: `problem`, `goal`, `goal_pddl`, or none of them for a run.

    Args:
        problem: Problem file.
        goal: Sentence about the objects of a scene.
        goal_pddl: File with a PDDL goal about the objects of a scene.
        scene: Scene of the goal; None for the default world's first one.
        domain: Domain file; None for the domain of the scene's world.
        lenient: Whether to read files with common errors of syntax.
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
        validator: Validator with the initial state and the goal; None if the goal is unknown.
        goal: The goal in words or PDDL.
        reading: The interpretation chosen for an ambiguous sentence; otherwise empty.
        read: The log record that contained the plan; None for plans from other files.
        note: How the plan was extracted from a model's answer; empty for a plan file.
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
        """The repaired plan, or None; if no step was inserted, it keeps the times in the file."""
        verdict = self.verdict
        if verdict.repaired is None or verdict.missing or not self.steps:
            return verdict.repaired
        return tuple(
            [step for number, step in enumerate(self.steps, 1) if number not in verdict.removed]
        )

    @property
    def title(self) -> str:
        """The file name, or the plan's id if the file contains several plans."""
        return self.file.name if self.tool_plan is None else f"plan {self.tool_plan.id}"


def judge_plan(
    plan: Path, asked: JudgingTarget, *, work: int = MAX_CONDITION_TESTS
) -> tuple[JudgedPlan, ...]:
    """Judge the plan in a file, or each stage's plan of a run.

    Args:
        plan: PDDL plan file or run folder.
        work: Maximum number of conditions to test.

    Returns:
        One judged plan, or one for each stage of a run. The verdict is unknown if the goal is not
            understood or a step names an object that the scene lacks.

    Raises:
        UsageError: The reference is missing or ambiguous.
        DataFileError: A file is missing or damaged.
        PddlError: A PDDL file is invalid.
        SceneError: No such scene exists.
    """
    given = [asked.problem is not None, asked.goal is not None, asked.goal_pddl is not None]
    if sum(given) > 1:
        raise UsageError("give only one of problem, goal and goal_pddl")
    if asked.scene is not None and asked.problem is not None:
        raise UsageError(
            "a problem already defines the initial state: leave out the scene", field="scene"
        )
    if plan.is_dir() and not any(given):
        return tuple(_judged(*part, work) for part in _parts_of_run(plan))
    file = plan / "plan.pddl" if plan.is_dir() else plan
    if not file.is_file():
        dash = "; this argument does not accept - for standard input" if str(file) == "-" else ""
        raise DataFileError(f"no such file: {file}{dash}")
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
    """Return a judged plan with a language model's critiques that hvr could prove.

    The plan is returned unchanged if the goal is unknown or hvr can prove no critique.

    Raises:
        LLMError: The model gave no usable answer.
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
            why = f"{model.name} finds it redundant, and the plan reaches the same goal without it"
            critiques.append(Critique(CritiqueKind.REMOVE, place + 1, (action,), why))
    for number, action in checked.inserted:
        following = [p for p in places[number - 1 :] if p is not None]
        index = following[0] + 1 if following else len(verdict.plan) + 1
        why = f"{model.name} finds it missing, and with it the plan comes closer to its goal"
        critiques.append(Critique(CritiqueKind.MISSING, index, (action,), why))
    critiques.sort(key=lambda critique: critique.index)
    reached = judged.validator.check(checked.plan).valid
    repaired = checked.plan if reached else verdict.repaired
    changed = replace(verdict, critiques=tuple(critiques), repaired=repaired)
    return replace(judged, verdict=changed)


def _places(verdict: PlanVerdict) -> list[int | None]:
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


# Scene judging ------------------------------------------------------------------------------------
# Judge a plan in a scene by the goals of a sentence, or by a PDDL condition.

_MOST_OBJECTS_NAMED = 3


# Judged goals -------------------------------------------------------------------------------------
# A goal with several stages is judged as a whole: auxiliary facts record which stages have been
# reached, in order. For an ambiguous sentence, the most likely reading that needs most of the
# plan's steps is used, or else the reading with the fewest critiques.


@dataclass(frozen=True)
class JudgedGoal:
    """A verdict on a plan and the goal that it was judged by.

    Args:
        validator: Validator with the initial state and the goal; None if the goal is unknown.
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
    """Judge a plan by the first goal that it fits, else by the goal with the fewest critiques.

    A plan fits a goal if it can be repaired and at most half of its steps are redundant.

    Args:
        goals: Readings of a sentence, most likely first.
        problem_of: Returns the problem of a goal's stages.
        work: Maximum number of conditions to test per goal.

    Raises:
        HvrError: The plan cannot be judged by any goal; the error is that of the first goal.
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
        # The goals are sorted by likelihood, so the first one that fits wins.
        if _fits(found.verdict):
            return found
        judged.append(found)
    if not judged:
        assert refusal is not None, "there must be a goal"
        raise refusal
    return min(judged, key=lambda found: _findings(found.verdict))


_NAME = re.compile(r"\b([a-z]+)-\d+\b")
"""An object's name, such as `mug-1`; the group is its class."""


def _with_plan_objects(stages: Sequence[Stage], plan: Sequence[Step]) -> tuple[Stage, ...]:
    # The reader chose among equal objects. If the plan does not use the chosen one, an object of
    # the same kind from the plan replaces it.
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
    earlier = [parse_formula(s.wanted, domain, problem.objects) for s in stages[:-1]]
    domain, problem = with_stages(domain, problem, earlier)
    validator = Validator(Task(domain, problem))
    goal = ", then ".join(stage.text for stage in stages)
    if problem.constraints != TRUE:
        free = Validator(Task(domain, problem.replace(constraints=TRUE)))
        verdict = judge(free, plan, work=work)
        # A plan that is minimal without the constraints and satisfies them is also minimal with
        # them.
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
    """Return the problem of the last stage, with the objects of all stages and of `named`."""
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
    """Judge a plan in a scene by the sentence or PDDL condition of `asked`.

    The verdict is unknown if hvr does not understand the sentence, or a step names an object that
    the scene lacks.
    """
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
            f"hvr does not understand {', '.join(map(repr, goals[0].unread))} in {sentence!r}"
        )
    return whole


def _unknown_objects(actions: Sequence[GroundAction], inventory: Inventory) -> list[str]:
    known = set(inventory.classes)
    return sorted({name for action in actions for name in action.args} - known)


def with_end_preferences(wanted: str, ontology: Ontology) -> Stage:
    """Return a PDDL goal as a stage, with the ontology's end-state preferences."""
    holding = "(holding" in wanted
    ends = end_conditions(Taxonomy(ontology), set(), holding=holding)
    return Stage(wanted, tuple(ends))
