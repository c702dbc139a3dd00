"""Policies for PDDL worlds in which a model writes the plan, or only the goal (Liu et al. 2023)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvr.base.files import writing
from hvr.errors import HvrError, ImpossibleGoalError, UsageError
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.models.choice import ModelChoice
from hvr.models.errors import ModelError
from hvr.models.layers import Meter
from hvr.pddl import And, Domain, Expression, Problem, Task, parse_formula
from hvr.pddl.model import print_domain, print_problem
from hvr.planning.plans import Planned, PolicyContext
from hvr.planning.search.planners import Planner
from hvr.policies.llm.agent import make_writing
from hvr.policies.llm.answers.text import clean
from hvr.policies.llm.dialogue import Dialogue
from hvr.policies.llm.mapper import ActionSet
from hvr.policies.llm.policy import learn_macros, open_equipment
from hvr.policies.llm.prediction import PredictedFacts
from hvr.policies.llm.prompts import DEFAULT_PROMPTS
from hvr.policies.llm.record import PlanningRecord
from hvr.policies.llm.schemas import REFUSAL, AnswerForm, WorldForms
from hvr.policies.llm.settings import is_goal
from hvr.policies.llm.writing import Equipment
from hvr.validation.trajectory import grounded_constraints
from hvr.validation.validator import Validator
from hvr.worlds.facts.lexicon import WorldLexicon

# Goal writing -------------------------------------------------------------------------------------
# A language model translates the request into a PDDL goal: LLM+P (Liu et al. 2023). A planner then
# finds the plan, and hvr's validator proves it.

GOAL_PROMPTS = DEFAULT_PROMPTS / "facts"
"""Prompt templates for PDDL goals, suitable for every PDDL world."""

MAX_GOAL_ATTEMPTS = 3
"""Maximum number of goals that a model may write per request."""

_EMPTY = "it has no condition, so that it would hold without doing anything"

_BEGINS = re.compile(r"\(\s*(?:and|or|not|imply|forall|exists|[A-Za-z]|[<>=])")


@dataclass(frozen=True)
class GoalWriter:
    """Asks a model for a goal until one is usable; the model never sees the problem's own goal."""

    dialogue: Dialogue
    domain: Domain
    problem: Problem
    words: WorldLexicon
    planner: Planner

    def write(self, request: str) -> Expression:
        """Return the goal of a request.

        Raises:
            ImpossibleGoalError: The model gives a reason for not writing a goal.
            ModelError: No written goal is usable.
            LLMError: The model did not answer.
        """
        told = {"request": request, "predicates": self._predicates(), "kinds": self._kinds()}
        form = self._form() if self.dialogue.structured else None
        written, problem = "", ""
        for number in range(MAX_GOAL_ATTEMPTS):
            more = {"goal": written, "problem": problem} if number else {}
            answer = self.dialogue.ask("correct_goal" if number else "goal", form, **told, **more)
            if form is not None and answer.startswith(REFUSAL):
                reason = answer.removeprefix(REFUSAL)
                raise ImpossibleGoalError(f"the model finds no goal in this request: {reason}")
            former, written = written, _formula(answer)
            if form is not None and number and written == former:
                break  # the next answer would be identical
            try:
                goal = parse_formula(written, self.domain, self.problem.objects, file="<goal>")
            except HvrError as error:
                problem = str(error)
                continue
            problem = _EMPTY if goal == And(()) else self._impossible(goal)
            if not problem:
                return goal
        raise ModelError(
            f"{self.dialogue.model.name}: the goal is still unusable after {MAX_GOAL_ATTEMPTS} "
            f"attempts: {_in_words(problem)}",
            kind="garbled",
        )

    def _form(self) -> AnswerForm:
        task = Task(self.domain, self.problem.replace(goal=And(())))
        return WorldForms(ActionSet(task)).goal(task.objects)

    def _impossible(self, goal: Expression) -> str:
        try:
            result = self.planner.solve(Task(self.domain, self.problem.replace(goal=goal)))
        except HvrError:
            return ""  # undecided: the planning run that follows has more time
        proven = result.plan is None and result.optimal
        return "it is proven that no plan reaches this goal" if proven else ""

    def _predicates(self) -> str:
        lines = []
        domain = self.domain
        schemas = {name: predicate.parameters for name, predicate in domain.predicates.items()}
        schemas |= {name: function.parameters for name, function in domain.functions.items()}
        for name, parameters in schemas.items():
            typed = [f"{p.name} - {' '.join(p.types) or 'object'}" for p in parameters]
            clause = self.words.wording.clause(name, [p.name for p in parameters])
            lines.append(f"({' '.join((name, *typed))})" + (f": {clause}" if clause else ""))
        return "\n".join(lines)

    def _kinds(self) -> str:
        of_type: dict[str, list[str]] = {}
        for o in (*self.domain.constants, *self.problem.objects):
            of_type.setdefault(" ".join(o.types) or "object", []).append(o.name)
        return "\n".join(f"{kind}: {' '.join(names)}" for kind, names in of_type.items())


def _formula(answer: str) -> str:
    text = clean(answer)
    begins = _BEGINS.search(text)
    if begins is None:
        return text.strip()
    depth = 0
    for end in range(begins.start(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return " ".join(text[begins.start() : end + 1].split())
    return " ".join(text[begins.start() :].split())


# Plan writing -------------------------------------------------------------------------------------
# The paper's policy, applied to the facts of any PDDL problem.

TRANSCRIPT = "llm.jsonl"
"""File in the run folder that records the prompts and answers."""


class ModelPlanner:
    """A planner that uses a language model, as an alternative to `StatePlanner`.

    Args:
        library: File to which learnt macro actions are added; None to add none.

    Attributes:
        records: Planning records in order, one per plan.
    """

    def __init__(
        self,
        equipment: Equipment,
        request: str,
        words: WorldLexicon,
        meter: Meter,
        library: Path | None = None,
    ) -> None:
        self.equipment = equipment
        self.request = request
        self.meter = meter
        self.records: list[PlanningRecord] = []
        self._words = words
        self._library = library
        self._used: set[str] = set()

    def plan(self, task: Task) -> Planned:
        """Return a plan from the task's initial state. The plan need not reach the goal.

        Raises:
            UsageError: The task has durative actions.
            ImpossibleGoalError: Planning ended early without a step, or the planner of planner
                repair proves that no plan exists.
            LLMError: The model did not answer.
        """
        predicted = PredictedFacts(task, self._words.wording, self._words.types)
        settings = self.equipment.settings
        if settings.constraints and settings.verification and task.problem.constraints != And(()):
            predicted.keep(grounded_constraints(task))
        writing = make_writing(self.equipment, self.request, predicted)
        record = writing.write()
        record.require_steps()
        self.records.append(record)
        self._used |= set(writing.library_uses)
        if settings.planner_repair and not Validator(task).check(record.plan.actions).valid:
            self._check_possible(task)
        told = Relevant(dict.fromkeys(task.objects, "the problem names it"))
        return Planned(task.problem, task, told, record.plan, record.planner_calls)

    def goal(self, problem: Problem) -> Expression:
        """Return the goal that the model writes for the request; see `GoalWriter.write`."""
        equipment = self.equipment
        dialogue = Dialogue(
            equipment.model,
            equipment.prompts,
            equipment.temperature,
            structured=equipment.settings.structured,
        )
        writer = GoalWriter(dialogue, equipment.domain, problem, self._words, equipment.planner)
        return writer.write(self.request)

    def keep(self, planned: Planned, run: str) -> None:
        """Add the macro actions of a successful first plan to the library, if there is one."""
        if self._library is not None and len(self.records) == 1:
            about = {"request": self.request, "scene": planned.problem.name}
            learn_macros(
                self._library, self.equipment, planned, about=about, run=run, used=self._used
            )

    def _check_possible(self, task: Task) -> None:
        try:
            result = self.equipment.planner.solve(task)
        except HvrError:
            return
        if result.plan is None:
            raise ImpossibleGoalError(f"no plan exists: proven by {result.planner}")


@dataclass(frozen=True)
class DescribedWorld:
    """A PDDL world to describe to a language model.

    Attributes:
        problem: Problem of the world, which only a simulated model sees as a whole.
        ontology: Ontology of the world; None if it has none.
        prompts: Folder of the world's prompt templates; None for the default ones.
    """

    domain: Domain
    problem: Problem
    words: WorldLexicon
    ontology: Ontology | None = None
    prompts: Path | None = None


def open_model(
    choice: ModelChoice,
    world: DescribedWorld,
    request: str,
    *,
    planner: Planner,
    seed: int = 0,
    folder: Path | None = None,
    listen: Callable[[Any], None] | None = None,
) -> ModelPlanner:
    """Connect a language model that plans in a world.

    Args:
        planner: Planner for planner-assisted repair.
        folder: Folder for the transcript; None to write no transcript.
        listen: Callback that receives the events of planning.

    Raises:
        UsageError: A library is given, but the world has no ontology.
        HvrError: See `open_equipment`.
    """
    if choice.library is not None and world.ontology is None:
        raise UsageError(
            "a library needs a world with an ontology: see hvr world new", field="library"
        )
    if folder is not None:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
    pddl = {"domain": print_domain(world.domain), "problem": print_problem(world.problem)}
    own = world.prompts or DEFAULT_PROMPTS
    if is_goal(choice.setting) and not (own / "goal.txt").is_file():
        own = GOAL_PROMPTS
    equipment, meter, library = open_equipment(
        PolicyContext(
            ontology=world.ontology or load_ontology(),
            domain=world.domain,
            agent=world.domain.name,
            planner=planner,
            model=choice,
            prompts=own,
            about={"request": request, "pddl": pddl, "seed": seed},
            folder=folder,
            transcript=folder / TRANSCRIPT if folder is not None else None,
            listen=listen,
        )
    )
    return ModelPlanner(equipment, request, world.words, meter, library)


def _in_words(problem: str) -> str:
    return re.sub(r"^<goal>:\d+:\d+: ", "", problem.splitlines()[0])
