"""The LLM policy: it knows the request and the graph but no gold goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from hvr.errors import ImpossibleGoalError, LanguageError, UsageError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.context import ingredients
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.knowledge.retrieval.selection import expand, mentioned, select
from hvr.language.goal_builder import Stage
from hvr.language.grammar import Reader
from hvr.models.meter import Meter
from hvr.pddl import Task, TypedName, parse_formula
from hvr.pddl.task import holds_initially
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
from hvr.policies.llm.agent import make_writing
from hvr.policies.llm.equipment import learn_macros
from hvr.policies.llm.record import PlanningRecord
from hvr.policies.llm.repair import plan_outcome, read_constraints
from hvr.policies.llm.scene_prediction import PredictedScene
from hvr.policies.llm.settings import is_goal
from hvr.policies.llm.writing import Equipment
from hvr.policies.symbolic import SymbolicPolicy


class LLMPolicy(Policy[str]):
    """A policy that plans with a language model.

    Args:
        meter: Counter of the model's usage, if needed.
        library: File to add learnt macro actions to; None to add none.
        about: Request and scene, recorded in the library.
    """

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
        """One record per plan, in order."""
        self._meter = meter
        self._library = library
        self._about = dict(about or {})
        self._library_uses: set[str] = set()
        # Only for judgements and constraints: the model must plan without knowing the goal.
        self._reader = Reader(equipment.ontology, equipment.domain)

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        """Open the policy; see `open_equipment`."""
        from hvr.policies.llm.equipment import open_equipment

        if is_goal(context.model.setting):
            raise UsageError(
                f"the setting {context.model.setting} belongs to the policy goal, not to llm",
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
        """Return the request itself; hvr's own reading of it is only used to judge the result."""
        del graph
        try:
            goal = self._reader.goal(request, inventory)
        except LanguageError:
            return Understanding((request,), None, judged_only=True)
        except ImpossibleGoalError as error:
            return Understanding((request,), None, str(error), judged_only=True)
        return Understanding((request,), goal, judged_only=True)

    def clearing(self, things: Sequence[str], place: str) -> str:
        """Return the request to remove objects from a place."""
        return f"take {' and '.join(things)} away from {place} and put it somewhere else"

    def needs(self, stage: str, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        """Return the objects that the request and its dishes name, with their dependencies."""
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
        """Return a plan that opens a place, without asking the model."""
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
        """Return a plan that goes to a thing, without asking the model."""
        del stage
        return self._symbolic.visiting(thing, closing, Stage("(and)"), graph, inventory)

    @property
    def _symbolic(self) -> SymbolicPolicy:
        equipment = self.equipment
        return SymbolicPolicy(equipment.ontology, equipment.domain, equipment.planner)

    def plan(
        self, stage: str, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """Return a plan whose goal is the predicted final state of all that it changes."""
        request = stage
        if reason:
            request = f"{stage} (A first attempt was broken off: {reason} Go on from here.)"
        record = self._write(request, graph, inventory, self._constraints(stage, inventory))
        self.plans.append(record)
        domain = self.equipment.domain
        task = Task(domain, graph.problem(domain, "plan"))
        navigation = find_navigation(domain)
        fleeting = navigation.predicates if navigation else frozenset()
        goal = plan_outcome(task, task.initial, record.plan.actions, fleeting)
        problem = task.problem.replace(goal=goal)
        relevant = Relevant({o.name: "it is in the scene" for o in problem.objects})
        return Planned(problem, Task(domain, problem), relevant, record.plan, record.planner_calls)

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
        return self._write(request, graph, inventory, self._constraints(request, inventory))

    def _constraints(self, request: str, inventory: Inventory) -> tuple[str, ...]:
        settings = self.equipment.settings
        if not (settings.constraints and settings.verification):
            return ()
        return read_constraints(self._reader, request, inventory)

    def _write(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory, constraints: Sequence[str]
    ) -> PlanningRecord:
        equipment = self.equipment
        predicted = PredictedScene(graph, equipment.domain, inventory, equipment.compile_task)
        writing = make_writing(equipment, request, predicted, constraints)
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
        """Judge by hvr's own reading: a fully executed plan may still miss the request."""
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
        """Return `planning.json`, and `planning-2.json` and so on for further plans."""
        return {
            f"planning{'' if number == 1 else f'-{number}'}.json": record.to_json()
            for number, record in enumerate(self.plans, start=1)
        }

    def keep(self, planned: Planned, run: str) -> None:
        """Add the macro actions of a successful first plan to the library."""
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
