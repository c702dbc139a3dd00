"""The language model's policy: it knows the request and the graph, and no gold goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from hvr.errors import ImpossibleGoalError, LanguageError, UsageError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.background import ingredients
from hvr.knowledge.retrieval.expansion import expand
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.knowledge.retrieval.selection import mentioned, select
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
from hvr.policies.llm.equipment import learn_macros
from hvr.policies.llm.record import PlanningRecord
from hvr.policies.llm.repair import plan_outcome, read_constraints
from hvr.policies.llm.scene_prediction import PredictedScene
from hvr.policies.llm.settings import is_goal
from hvr.policies.llm.writing import Equipment, Writing
from hvr.policies.symbolic import SymbolicPolicy


class LLMPolicy(Policy[str]):
    """The policy that plans with a language model.

    Args:
        equipment: the means to write plans.
        meter: counts what the model uses; None where nobody asks.
        library: file of macro actions to add to after success; None adds nothing.
        about: the request and the scene, for the library.
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
        """The record of each plan, in order."""
        self._meter = meter
        self._library = library
        self._about = dict(about or {})
        self._library_uses: set[str] = set()
        # For the judgement and for constraints: a plan that knew the goal would not be the model's.
        self._reader = Reader(equipment.ontology, equipment.domain)

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        """See `Policy`; the inputs of a repeated run come from its folder.

        Raises:
            UsageError: no model is named, or an option cannot be used.
            LLMError: a key is missing.
            MissingExtraError: a package that the model needs is not installed.
            DataFileError: a file cannot be used.
        """
        from hvr.policies.llm.equipment import open_equipment

        if is_goal(context.model.setting):
            raise UsageError(
                f"{context.model.setting} is the setting of the policy goal, not of llm",
                field="setting",
            )
        equipment, meter, library = open_equipment(context)
        return cls(equipment, meter=meter, library=library, about=context.about)

    @property
    def meter(self) -> Meter | None:
        """See `Policy`."""
        return self._meter

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[str]:
        """See `Policy`; the result is judged by hvr's own reading."""
        del graph
        try:
            goal = self._reader.goal(request, inventory)
        except LanguageError:
            return Understanding((request,), None, judged_only=True)
        except ImpossibleGoalError as error:
            return Understanding((request,), None, str(error), judged_only=True)
        return Understanding((request,), goal, judged_only=True)

    def clearing(self, things: Sequence[str], place: str) -> str:
        """Return the request to take things away from a place."""
        return f"take {' and '.join(things)} away from {place} and put it somewhere else"

    def needs(self, stage: str, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        """See `Policy`: what the request names, itself or by a dish, with what that depends on."""
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
        """See `Policy`; planned without the model, which is asked once all is found."""
        del stage  # in words; what is to be kept on the way is not known
        equipment = self.equipment
        symbolic = SymbolicPolicy(equipment.ontology, equipment.domain, equipment.planner)
        return symbolic.opening(place, closing, Stage("(and)"), graph, inventory)

    def plan(
        self, stage: str, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """Return a plan for a request, with the predicted end of what it touches as its goal.

        Raises:
            LLMError: the model did not answer.
        """
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
        """Return a plan for a request in the world of a graph, with the record of its making.

        Args:
            request: the request.
            graph: the world.
            inventory: what there is in it.
            find: looks for what the request speaks of before anything else; None where all is
                known.

        Raises:
            LLMError: the model did not answer; its transcript has the dialogue so far.
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
        self,
        request: str,
        graph: KnowledgeGraph,
        inventory: Inventory,
        constraints: Sequence[str],
    ) -> PlanningRecord:
        equipment = self.equipment
        foresight = PredictedScene(graph, equipment.domain, inventory, equipment.compile_task)
        writing = Writing(equipment, request, foresight, constraints)
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
        """See `Policy`; even a plan whose steps all worked may not do what was asked for."""
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
                "every step did what it should; hvr cannot read this request itself, so whether "
                "it is what was asked for was not judged",
            )
        domain, stages = self.equipment.domain, understanding.goal.stages
        objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
        wanted = parse_formula(stages[-1].wanted, domain, objects, file="<goal>")
        if holds_initially(domain, graph.problem(domain, "judge"), wanted):
            last = " (the last of its stages)" if len(stages) > 1 else ""
            return Judgement(True, f"hvr's own reading of the request holds{last}")
        return Judgement(
            False, f"by hvr's own reading, this was asked for and does not hold: {wanted}"
        )

    def records(self) -> Mapping[str, Any]:
        """See `Policy`: `planning.json`, and `planning-2.json` of a second plan."""
        return {
            f"planning{'' if number == 1 else f'-{number}'}.json": record.to_json()
            for number, record in enumerate(self.plans, start=1)
        }

    def keep(self, planned: Planned, run: str) -> None:
        """See `Policy`: its macro actions go into the library."""
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
