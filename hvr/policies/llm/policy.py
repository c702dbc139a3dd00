"""The policy `llm`, which knows the request and the graph but no reference goal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import hvr
from hvr.base.files import commit
from hvr.errors import ImpossibleGoalError, LanguageError, UsageError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.context import ingredients
from hvr.knowledge.retrieval.embedders import make_embedder
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.knowledge.retrieval.selection import expand, mentioned, select
from hvr.language.goal_builder import Stage
from hvr.language.grammar import Reader
from hvr.models import recording
from hvr.models.choice import ModelChoice
from hvr.models.config import read_config
from hvr.models.connect import (
    RecordedRun,
    connect,
    embedder_options,
    is_simulation,
    recorded_run,
    replayed,
)
from hvr.models.layers import Meter
from hvr.models.recording import has_header
from hvr.pddl import TypedName, parse_formula
from hvr.pddl.task import holds_initially
from hvr.planning.library import Library, Origin, learn, read_library, update_library, write_library
from hvr.planning.plans import (
    FEEDBACK_PLANNER_STRATEGIES,
    FindObjects,
    Judgement,
    Planned,
    Policy,
    PolicyContext,
    Understanding,
)
from hvr.planning.search.navigation import find_navigation
from hvr.planning.search.planners import NAME as PLANNER
from hvr.planning.search.planners import Planner, RecordedPlanner
from hvr.policies.llm.agent import make_writing
from hvr.policies.llm.prompts import Prompts, load_prompts
from hvr.policies.llm.record import PlanningRecord
from hvr.policies.llm.repair import plan_outcome, read_constraints
from hvr.policies.llm.scene_prediction import PredictedScene
from hvr.policies.llm.settings import (
    AGENT,
    PolicySettings,
    decided,
    is_agent,
    is_goal,
    settings_named,
)
from hvr.policies.llm.writing import Equipment
from hvr.policies.symbolic import SymbolicPolicy

# Equipment ----------------------------------------------------------------------------------------
# The equipment of an LLM policy: model, prompts, library, embedder and planner.

LIBRARY_FILE = "library.ttl"
"""File in a run folder with the macro actions that the run can use."""

PROMPTS_FOLDER = "prompts"
"""Subfolder of a run folder for the user's prompt templates."""


STRUCTURED = "structured"
"""Field in a transcript's header that says whether answers are structured."""

LEDGER_FILE = "ledger.sqlite"
"""File in a run folder with the costs of all attempts."""


def open_equipment(context: PolicyContext) -> tuple[Equipment, Meter, Path | None]:
    """Return the equipment, the usage meter, and the library to which macro actions are added.

    The path of the library is None if no library is extended.

    A repeated run uses the library, prompts and planner results of the recorded run, and extends no
    library. A resumed run uses the ones in its own folder.

    Raises:
        UsageError: No model is named, or an option is invalid.
        LLMError: A key is missing.
        MissingExtraError: A package that the model needs is not installed.
        DataFileError: A file is unusable.
    """
    choice, folder = context.model, context.folder
    recorded = recorded_run(choice)
    source = recorded.folder if recorded is not None else _resumed_folder(context)
    own_prompts = choice.prompts
    settings_named(choice.setting)  # an unknown setting is reported as the user wrote it
    choice = replace(choice, setting=decided(choice.setting, _structured(choice, context)))
    settings = settings_named(choice.setting)
    # A resumed run keeps its templates; a repeated one may get new ones.
    if (own_prompts is None or source == folder) and source and (source / PROMPTS_FOLDER).is_dir():
        own_prompts = source / PROMPTS_FOLDER
    prompts = load_prompts(own_prompts, world=context.prompts, structured=settings.structured)
    embedder = context.embedder or make_embedder(choice.embedder, embedder_options(choice))
    library = _library(choice, settings, source)
    # This precedes the transcript, whose existence marks these inputs as complete.
    if folder is not None and source != folder:
        if library is not None:
            write_library(library, folder / LIBRARY_FILE)
        if own_prompts is not None:
            prompts.save(folder / PROMPTS_FOLDER)
    header = context.header or _header(context, settings, prompts)
    meter = connect(
        choice,
        about=context.about,
        transcript=context.transcript,
        header={**header, STRUCTURED: True} if settings.structured else header,
        ledger=context.ledger or (folder / LEDGER_FILE if folder is not None else None),
        plans=1 if context.ledger is None else None,
    )
    equipment = Equipment(
        ontology=context.ontology,
        domain=context.domain,
        model=meter,
        settings=settings,
        embedder=embedder,
        planner=_planner(context, recorded),
        prompts=prompts,
        library=library,
        agent=context.agent,
        listen=context.listen or (lambda _: None),
        temperature=choice.temperature,
        compile_task=context.compile_task,
    )
    return equipment, meter, None if recorded else choice.library


def _structured(choice: ModelChoice, context: PolicyContext) -> bool:
    # A replayed or resumed run keeps its form. The simulated model and the user's templates use
    # text; other models get schemas.
    spec = read_config(choice).spec or ""
    earlier = replayed(spec) or context.transcript
    if earlier is not None and has_header(recording.file_of(earlier)):
        return bool(recording.read(earlier)[0].get(STRUCTURED))
    return choice.prompts is None and not is_simulation(spec) and replayed(spec) is None


def _resumed_folder(context: PolicyContext) -> Path | None:
    if context.folder is None or context.transcript is None or not has_header(context.transcript):
        return None
    return context.folder


def _header(
    context: PolicyContext, settings: PolicySettings, prompts: Prompts
) -> Mapping[str, Any]:
    choice = context.model
    return {
        "run": {
            **context.about,
            "setting": choice.setting,
            "embedder": choice.embedder,
            "temperature": choice.temperature,
        },
        "settings": settings.to_json(),
        "prompts": prompts.digests,
        "commit": commit(),
    }


def _planner(context: PolicyContext, recorded: RecordedRun | None) -> Planner:
    if context.folder is None:
        return context.planner
    earlier = recorded.folder / PLANNER if recorded else None
    return RecordedPlanner(context.planner, context.folder / PLANNER, earlier)


def _library(choice: ModelChoice, settings: PolicySettings, source: Path | None) -> Library | None:
    if not settings.library:
        return None
    if source is not None:
        path = source / LIBRARY_FILE
        return read_library(path) if path.exists() else None
    return read_library(choice.library, missing_ok=True) if choice.library else None


def learn_macros(
    path: Path,
    equipment: Equipment,
    planned: Planned,
    *,
    about: Mapping[str, Any],
    run: str,
    used: Collection[str],
) -> None:
    """Add the macro actions of a successful plan to a library.

    Args:
        about: The request and the scene.
        run: Name of the run, recorded with new and used entries.
        used: Ids of the library entries that the plan uses.
    """
    origin = Origin(
        request=str(about.get("request", "")),
        scene=str(about.get("scene", "")),
        model=equipment.model.name,
        simulated=equipment.model.simulated,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        version=hvr.__version__,
        run=run,
    )
    entries = learn(
        planned.plan, planned.task, equipment.agent, origin, ontology=equipment.ontology
    )
    known = (equipment.library or Library()).entries
    again = [entry.with_use(run) for entry in known if entry.id in used]
    update_library(path, Library(entries).merge(Library(again)))


# --------------------------------------------------------------------------------------------------


class LLMPolicy(Policy[str]):
    """A policy that plans with a language model, and may extend a library of macro actions."""

    recovery_strategies = FEEDBACK_PLANNER_STRATEGIES
    asks_model = True

    def __init__(
        self,
        equipment: Equipment,
        *,
        meter: Meter | None = None,
        library: Path | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.equipment = equipment
        self.plans: list[PlanningRecord] = []
        """Planning records in order, one per plan."""
        self._meter = meter
        self._library = library
        self._about = dict(about or {})
        self._library_uses: set[str] = set()
        # used only for judgements and constraints: the model must plan without knowing the goal
        self._reader = Reader(equipment.ontology, equipment.domain)

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        if is_goal(context.model.setting):
            raise UsageError(
                f"setting {context.model.setting!r} belongs to the policy 'goal', not to 'llm'",
                field="setting",
            )
        equipment, meter, library = open_equipment(context)
        return cls(equipment, meter=meter, library=library, about=context.about)

    @property
    def meter(self) -> Meter | None:
        return self._meter

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[str]:
        """Return the request as the only stage; hvr's own reading serves only for judging."""
        del graph
        try:
            goal = self._reader.goal(request, inventory)
        except LanguageError:
            return Understanding((request,), None, judged_only=True)
        except ImpossibleGoalError as error:
            return Understanding((request,), None, str(error), judged_only=True)
        return Understanding((request,), goal, judged_only=True)

    def clearing(self, things: Sequence[str], place: str) -> str:
        """Return a request to remove objects from a place."""
        return f"take {' and '.join(things)} away from {place} and put it somewhere else"

    def needs(self, stage: str, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        """Return the objects in the request or needed for its dishes, with their dependencies."""
        del graph
        equipment = self.equipment
        words = (*mentioned(stage, inventory), *ingredients(stage, inventory.ontology))
        named = select(words, inventory, equipment.embedder).names
        return tuple(dict.fromkeys((*named, *expand(named, inventory))))

    def opening(
        self,
        place: str,
        closing: Sequence[str],
        stage: str,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        """Return a plan that opens a place, without asking the model; see `Policy.opening`."""
        del stage  # in words: its constraints are unknown
        return self._symbolic.opening(place, closing, Stage("(and)"), graph, inventory)

    def visiting(
        self,
        thing: str,
        closing: Sequence[str],
        stage: str,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        """Return a plan that goes to an object, without asking the model; see `Policy.visiting`."""
        del stage
        return self._symbolic.visiting(thing, closing, Stage("(and)"), graph, inventory)

    @property
    def _symbolic(self) -> SymbolicPolicy:
        equipment = self.equipment
        return SymbolicPolicy(equipment.ontology, equipment.domain, equipment.planner)

    def plan(
        self, stage: str, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """Return a plan; its goal is the predicted final state of everything that it changes.

        Raises:
            ImpossibleGoalError: Planning ended early without a step.
            LLMError: The model did not answer.
        """
        request = stage
        if reason:
            request = f"{stage} (A first attempt was broken off: {reason} Go on from here.)"
        predicted = self._predicted(graph, inventory)
        task = predicted.task
        record = self._write(request, predicted, self._constraints(stage, inventory))
        record.require_steps()
        self.plans.append(record)
        navigation = find_navigation(task.domain)
        fleeting = navigation.predicates if navigation else frozenset()
        goal = plan_outcome(task, task.initial, record.plan.actions, fleeting)
        problem = task.problem.replace(goal=goal)
        relevant = Relevant({o.name: "it is in the scene" for o in problem.objects})
        planned = task.with_problem(problem)
        return Planned(problem, planned, relevant, record.plan, record.planner_calls)

    def write(
        self,
        request: str,
        graph: KnowledgeGraph,
        inventory: Inventory,
        find: FindObjects[str] | None = None,
    ) -> PlanningRecord:
        """Return a plan for a request, with its record.

        Args:
            find: Searches for the request's objects before planning; None if all locations are
                known.
        """
        if find is not None:
            inventory = find(request)
        predicted = self._predicted(graph, inventory)
        return self._write(request, predicted, self._constraints(request, inventory))

    def _constraints(self, request: str, inventory: Inventory) -> tuple[str, ...]:
        settings = self.equipment.settings
        if not (settings.constraints and settings.verification):
            return ()
        return read_constraints(self._reader, request, inventory)

    def _predicted(self, graph: KnowledgeGraph, inventory: Inventory) -> PredictedScene:
        equipment = self.equipment
        return PredictedScene(graph, equipment.domain, inventory, equipment.compile_task)

    def _write(
        self, request: str, predicted: PredictedScene, constraints: Sequence[str]
    ) -> PlanningRecord:
        writing = make_writing(self.equipment, request, predicted, constraints)
        record = writing.write()
        self._library_uses |= set(writing.library_uses)
        return record

    def judge(
        self,
        understanding: Understanding[str],
        done: Judgement,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Judgement:
        """Judge by hvr's own reading, since an executed plan may still miss the request."""
        steps = any(record.plan.actions for record in self.plans)
        if not done.reached:
            return done if steps else Judgement(False, "the plan has no steps")
        if understanding.impossible:
            return Judgement(
                False, f"by hvr's own reading, this is impossible here: {understanding.impossible}"
            )
        if understanding.goal is None:
            if not steps:
                return Judgement(False, "the plan has no steps")
            return Judgement(
                None,
                "every step had its expected effects; hvr cannot read this request itself, so it "
                "did not judge whether the request was met",
            )
        domain, stages = self.equipment.domain, understanding.goal.stages
        objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
        wanted = parse_formula(stages[-1].wanted, domain, objects, file="<goal>")
        if holds_initially(domain, graph.problem(domain, "judge"), wanted):
            last = " (the last of its stages)" if len(stages) > 1 else ""
            return Judgement(True, f"by hvr's own reading, the request is met{last}")
        return Judgement(
            False, f"by hvr's own reading, this was requested but does not hold: {wanted}"
        )

    def records(self) -> Mapping[str, Any]:
        """Return the records of all plans by file name: `planning.json`, `planning-2.json`, …"""
        return {
            f"planning{'' if number == 1 else f'-{number}'}.json": record.to_json()
            for number, record in enumerate(self.plans, start=1)
        }

    def keep(self, planned: Planned, run: str) -> None:
        """Add the macro actions of a successful first plan to the library, if there is one."""
        if self._library is None or len(self.plans) != 1:
            return
        learn_macros(
            self._library,
            self.equipment,
            planned,
            about=self._about,
            run=run,
            used=self._library_uses,
        )


# Agent --------------------------------------------------------------------------------------------
# The policy `agent`: a language model plans by calling hvr's tools.


class AgentPolicy(LLMPolicy):
    """A policy in which a language model builds its plan by calling tools."""

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        setting = context.model.setting
        if not is_agent(setting) and setting != ModelChoice.setting:
            raise UsageError(
                f"policy 'agent' supports only the setting {AGENT}, got {setting}", field="setting"
            )
        # Record the setting with which the run can be repeated.
        setting = setting if is_agent(setting) else AGENT
        return super().open(replace(context, model=replace(context.model, setting=setting)))
