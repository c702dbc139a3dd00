"""The policy `goal`: a language model reads the request, the classical planner plans."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from hvr.errors import HvrError, ImpossibleGoalError, PlannerError, UsageError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goals import Goal, Stage
from hvr.models.choice import ModelChoice
from hvr.models.meter import Meter
from hvr.pddl import Task, TypedName, parse_formula
from hvr.planning.plans import Find, Judgement, Planned, Policy, PolicyContext, Understanding
from hvr.policies.goal.words import GoalWords
from hvr.policies.goal.writing import GoalDraft, GoalWriting
from hvr.policies.llm.dialogue import Dialogue
from hvr.policies.llm.record import PlanningRecord
from hvr.policies.llm.settings import GOAL, is_goal
from hvr.policies.llm.writing import Equipment
from hvr.policies.symbolic import SymbolicPolicy
from hvr.policies.whole import plans_of, record_of


class GoalPolicy(Policy[Stage]):
    """The policy that asks a language model for the goal, and plans for it itself.

    Args:
        equipment: the means to ask the model, and the planner.
        meter: counts what the model uses; None where nobody asks.
    """

    asks_model = True

    def __init__(self, equipment: Equipment, *, meter: Meter | None = None) -> None:
        self.equipment = equipment
        self.drafts: list[GoalDraft] = []
        """What the model answered, in order."""
        self._meter = meter
        self._symbolic = SymbolicPolicy(equipment.ontology, equipment.domain, equipment.planner)
        self._calls = 0
        self._ready: tuple[Stage, Inventory, Planned] | None = None
        self._request = ""

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        """See `Policy`; the inputs of a repeated run come from its folder.

        Raises:
            UsageError: no model is named, or an option cannot be used.
            LLMError: a key is missing.
            MissingExtraError: a package that the model needs is not installed.
            DataFileError: a file cannot be used.
        """
        from hvr.policies.llm.opening import open_equipment

        setting = context.model.setting
        if not is_goal(setting) and setting != ModelChoice.setting:
            raise UsageError(
                f"the policy goal has the setting {GOAL} alone, not {setting}", field="setting"
            )
        # The run is repeated by its setting.
        model = replace(context.model, setting=GOAL)
        equipment, meter, _ = open_equipment(replace(context, model=model))
        return cls(equipment, meter=meter)

    @property
    def meter(self) -> Meter | None:
        """See `Policy`."""
        return self._meter

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[Stage]:
        """Return the model's goal, checked and with a plan for its first stage.

        Raises:
            ImpossibleGoalError: the model finds no goal, or none that can be met here.
            PlannerError: no plan was found in the time allowed.
            LLMError: the model did not answer.
        """
        self._request = request
        equipment = self.equipment
        taxonomy = self._symbolic.reader.taxonomy
        dialogue = Dialogue(equipment.model, equipment.prompts, equipment.temperature)
        words = GoalWords(taxonomy, inventory, equipment.domain)

        def reachable(goal: Goal) -> None:
            first = goal.stages[0]
            # What has to be looked for first cannot be planned for yet.
            if not inventory.unplaced.intersection(self.needs(first, graph, inventory)):
                self.plan(first, graph, inventory)

        writing = GoalWriting(dialogue, request, graph, words, reachable)
        self.drafts = writing.drafts
        goal = writing.write()
        return Understanding(goal.stages, goal)

    def plan(
        self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """See `Policy`; the plan that proved a goal to be possible is not made again."""
        if self._ready is not None:
            known, seen, planned = self._ready
            if (known, seen.facts, seen.avoided) == (stage, inventory.facts, inventory.avoided):
                return planned
        planned = self._symbolic.plan(stage, graph, inventory, reason)
        self._calls += planned.planner_calls
        self._ready = (stage, inventory, planned)
        return planned

    def clearing(self, things: Sequence[str], place: str) -> Stage:
        """See `Policy`."""
        return self._symbolic.clearing(things, place)

    def needs(self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        """See `Policy`."""
        return self._symbolic.needs(stage, graph, inventory)

    def opening(
        self,
        place: str,
        closing: Sequence[str],
        stage: Stage,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        """See `Policy`."""
        return self._symbolic.opening(place, closing, stage, graph, inventory)

    def keeping(self, stage: Stage, constraints: Sequence[str]) -> Stage:
        """See `Policy`."""
        return self._symbolic.keeping(stage, constraints)

    def write(
        self,
        request: str,
        graph: KnowledgeGraph,
        inventory: Inventory,
        find: Find[Stage] | None = None,
    ) -> PlanningRecord:
        """Return a plan for all stages of a request, with the record of its making.

        Where the model's goal is none that can be met, the plan is empty.

        Args:
            request: the request.
            graph: the world.
            inventory: what there is in it.
            find: looks for what the goal needs before it is planned for; None where all is known.

        Raises:
            LLMError: the model did not answer.
        """
        started = time.perf_counter()
        equipment = self.equipment
        try:
            plans = plans_of(
                self, request, graph, inventory, equipment.domain, equipment.compile_task, find
            )
        except (ImpossibleGoalError, PlannerError):
            plans = []
        seconds = time.perf_counter() - started
        return record_of([planned.plan for planned in plans], seconds, self._calls)

    def judge(
        self,
        understanding: Understanding[Stage],
        done: Judgement,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Judgement:
        """See `Policy`; where hvr's own reading is another one, the judgement says so."""
        del understanding
        if not done.reached:
            return done
        try:
            own = self._symbolic.reader.goal(self._request, inventory)
        except HvrError:
            return Judgement(True, "by the model's reading; hvr has none of its own")
        domain = self.equipment.domain
        objects = [TypedName(n, (graph.pddl_type(n),)) for n in inventory.classes]
        wanted = parse_formula(own.stages[-1].wanted, domain, objects, file="<goal>")
        if Task(domain, graph.problem(domain, "judge")).initial.holds(wanted):
            return Judgement(True, "by the model's reading and by hvr's own")
        return Judgement(
            True, f"by the model's reading; by hvr's own, this does not hold: {own.said[-1]}"
        )

    def records(self) -> Mapping[str, Any]:
        """See `Policy`: `goal.json`, with each answer of the model and what was wrong with it."""
        return {"goal.json": [draft.to_json() for draft in self.drafts]}
