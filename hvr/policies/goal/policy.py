"""The policy `goal`: a language model writes the goal, a classical planner finds the plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from hvr.errors import GroundingLimitError, HvrError, ImpossibleGoalError, PddlError, UsageError
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import INSTRUMENT, PORTABLE
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.retrieval.selection import kinds_mentioned
from hvr.language.goal_builder import Goal, Stage, end_conditions, end_predicates
from hvr.language.paraphrase import paraphrase
from hvr.language.taxonomy import Taxonomy
from hvr.models.choice import ModelChoice
from hvr.models.errors import ModelError
from hvr.models.layers import Meter
from hvr.pddl import Domain, Problem, Task, TypedName, parse_formula
from hvr.planning.plans import (
    FindObjects,
    Judgement,
    Plan,
    Planned,
    Policy,
    PolicyContext,
    Understanding,
)
from hvr.policies.goal.answer import (
    ACCEPTED,
    SCHEMA,
    GoalAnswer,
    GoalVocabulary,
    answer_json,
    parse_goal_answer,
    prompt_values,
    schema_of,
)
from hvr.policies.goal.checking import CheckedGoal, check_goal, constraints, stage_conditions
from hvr.policies.llm.dialogue import Dialogue
from hvr.policies.llm.record import BlockRecord, PlanningRecord, stopped_by
from hvr.policies.llm.scene_prediction import PredictedScene
from hvr.policies.llm.settings import GOAL, is_goal
from hvr.policies.llm.writing import Equipment
from hvr.policies.symbolic import SymbolicPolicy

# Unmentioned objects ------------------------------------------------------------------------------


def unmentioned_objects(request: str, answer: GoalAnswer, words: GoalVocabulary) -> tuple[str, ...]:
    """Return the phrases of a request whose objects its goal does not mention.

    Only portable objects that are not tools count: requests often name the knife for cutting, or a
    place or appliance that is only a means. Nothing is returned if the answer itself lists what it
    leaves out. hvr asks the model once about these objects.
    """
    if answer.left_out:
        return ()  # the model has declared its omissions
    inventory = words.inventory
    ontology, roles = inventory.ontology, words.taxonomy.roles
    literals = [*answer.always, *answer.once, *(x for stage in answer.stages for x in stage)]
    literals += [literal for thing in answer.things for literal in thing.where]
    used = {arg for literal in literals for arg in literal.args}
    kinds = [*used, *(k for thing in answer.things if thing.name in used for k in thing.kinds)]
    classes = {c for kind in kinds for c in words.classes_of(kind)}
    classes |= {inventory.classes[n] for n in used if n in inventory.classes}
    told = {c for known in classes for c in _related(known, words)}
    liquids = used & set(words.liquids)

    def means(kind: str) -> bool:
        carried = roles.plays(kind, PORTABLE) and not roles.plays(kind, INSTRUMENT)
        pours = ontology.annotation(kind, "defaultLiquid")
        return not carried or bool(liquids.intersection(map(str, pours)))

    return tuple(
        phrase
        for phrase, meant in kinds_mentioned(request, inventory)
        if told.isdisjoint(meant) and not any(map(means, meant))
    )


def _related(kind: str, words: GoalVocabulary) -> Iterable[str]:
    ontology = words.inventory.ontology
    yield from ontology.superclasses(kind, reflexive=True)
    yield from ontology.subclasses(kind, reflexive=True)
    for other in ontology.object_types:
        if kind in map(str, ontology.annotation(other, "slicesInto")):
            yield other


# Goal generation ----------------------------------------------------------------------------------
# request ─▶ predicates, kinds, knowledge ─▶ goal ─▶ words, types, affordances
#     ─▶ already true? ─▶ a plan? ─▶ paraphrase of the goal

MAX_CORRECTIONS = 2
"""Maximum number of corrections of a goal, so that a request needs at most three calls."""

ALREADY = (
    "all of this is so already, so that nothing would be done: say what else the request asks for, "
    "or write the same goal again if it asks for nothing else"
)

FORGOTTEN = "the request names what the goal does not speak of,"
IF_RIGHT = "say of it what is asked, or write the same goal again if nothing is missing"

TOO_MANY = (
    "there are too many ways to choose these things together: name the objects themselves "
    "where it does not matter which is meant, or write fewer things into a stage"
)


@dataclass(frozen=True)
class GoalDraft:
    """An answer of the model, the error sent back (may be empty), and the goal if it is valid."""

    answer: GoalAnswer
    problem: str
    goal: Goal | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "answer": answer_json(self.answer),
            "problem": self.problem,
            "goal": [stage.wanted for stage in self.goal.stages] if self.goal else None,
            "said": list(self.goal.paraphrase) if self.goal else [],
        }


@dataclass
class GoalWriting:
    """Asks for a goal, checks it, and asks for corrections.

    `reachable` raises `ImpossibleGoalError` if a goal provably has no plan.
    """

    dialogue: Dialogue
    request: str
    graph: KnowledgeGraph
    words: GoalVocabulary
    reachable: Callable[[Goal], None]
    drafts: list[GoalDraft] = field(default_factory=list, init=False)

    def write(self) -> Goal:
        """Return the first goal without errors.

        Raises:
            ImpossibleGoalError: The model declares the request impossible, repeats a faulty goal in
                structured output, or has no corrections left.
            LLMError: The model did not answer.
        """
        told = prompt_values(self.request, self.graph, self.words)
        schema, accept = SCHEMA, SCHEMA
        if self.dialogue.structured:
            schema, accept = schema_of(self.words), ACCEPTED
        answer = parse_goal_answer(self.dialogue.ask_json("goal", schema, accept, **told))
        while True:
            draft = self._judged(answer)
            self.drafts.append(draft)
            if draft.goal is not None and not draft.problem:
                return draft.goal
            repeats = any(earlier.answer == answer for earlier in self.drafts[:-1])
            repeats = repeats and self.dialogue.structured
            if len(self.drafts) > MAX_CORRECTIONS or self._final(draft) or repeats:
                raise ImpossibleGoalError(self._refusal(draft))
            data = self.dialogue.ask_json(
                "correct_goal",
                schema,
                accept,
                **told,
                goal=answer_json(answer),
                problem=draft.problem,
            )
            answer = parse_goal_answer(data)

    def _final(self, draft: GoalDraft) -> bool:
        return bool(draft.answer.cannot and not draft.answer.stages)

    def _refusal(self, draft: GoalDraft) -> str:
        if self._final(draft):
            return f"the model finds no goal in this request: {draft.answer.cannot}"
        times = len(self.drafts)
        tried = f"{times - 1} correction{'s' * (times != 2)}"
        return f"the model's goal is still wrong after {tried}: {draft.problem}"

    def _judged(self, answer: GoalAnswer) -> GoalDraft:
        if answer.cannot and not answer.stages:
            return GoalDraft(answer, answer.cannot)
        checked = check_goal(answer, self.words)
        if checked.problems:
            return GoalDraft(answer, "\n".join(checked.problems))
        try:
            goal = self._goal(answer, checked)
        except PddlError as error:
            return GoalDraft(answer, f"the goal is no condition that this world knows: {error}")
        again = any(draft.problem == ALREADY for draft in self.drafts)
        if not again and all(self._holds(stage) for stage in goal.stages):
            return GoalDraft(answer, ALREADY, goal)
        names = unmentioned_objects(self.request, answer, self.words)
        asked = any(draft.problem.startswith(FORGOTTEN) for draft in self.drafts)
        if names and not asked and len(self.drafts) < MAX_CORRECTIONS:
            return GoalDraft(answer, f"{FORGOTTEN} {', '.join(names)}: {IF_RIGHT}", goal)
        try:
            self.reachable(goal)
        except ImpossibleGoalError as error:
            return GoalDraft(answer, str(error), goal)
        except GroundingLimitError:
            return GoalDraft(answer, TOO_MANY, goal)
        return GoalDraft(answer, "", goal)

    def _goal(self, answer: GoalAnswer, checked: CheckedGoal) -> Goal:
        taxonomy, inventory = self.words.taxonomy, self.words.inventory
        throughout = constraints(checked, taxonomy, inventory)
        stages = tuple(
            Stage(text, tuple(_ends(checked, number, taxonomy)), throughout)
            for number, text in enumerate(stage_conditions(checked, taxonomy, inventory))
        )
        texts = paraphrase(stages, taxonomy, inventory, self.words.domain)
        return Goal(stages, (), answer.left_out, texts)

    def _holds(self, stage: Stage) -> bool:
        domain, inventory = self.words.domain, self.words.inventory
        objects = [TypedName(n, (self.graph.pddl_type(n),)) for n in inventory.classes]
        wanted = parse_formula(stage.wanted, domain, objects, file="<goal>")
        try:
            return bool(Task(domain, self.graph.problem(domain, "goal")).initial.holds(wanted))
        except GroundingLimitError:  # a goal with that many instances is unlikely to hold already
            return False


def _ends(checked: CheckedGoal, number: int, taxonomy: Taxonomy) -> list[str]:
    """Return the end-state preferences of stage `number` that do not contradict the goal."""
    holding, exempt, left = False, set[str](), end_predicates(taxonomy)
    for literal in checked.stages[number]:
        holding = holding or (literal.predicate == "holding" and literal.holds)
        if literal.holds and literal.args and literal.predicate in left:
            exempt |= set(checked.things[literal.args[0]].classes)
    return end_conditions(taxonomy, taxonomy.with_controls(exempt), holding=holding)


# Offline plans ------------------------------------------------------------------------------------


def plan_all_stages(
    policy: Policy[Any],
    request: str,
    graph: KnowledgeGraph,
    inventory: Inventory,
    domain: Domain,
    compile_task: Callable[[Domain, Problem], Task] = Task,
    find: FindObjects[Any] | None = None,
) -> list[Planned]:
    """Plan each stage from the predicted final state of the previous one, without executing it.

    Args:
        find: Searches for the goal's objects before planning; None if all locations are known.
    """
    understanding = policy.understand(request, graph, inventory)
    if find is not None:
        inventory = find(understanding.stages[0])
    predicted = PredictedScene(graph, domain, inventory, compile_task)
    plans: list[Planned] = []
    for number, stage in enumerate(understanding.stages):
        world = (predicted.graph, predicted.inventory) if number else (graph, inventory)
        plans.append(policy.plan(stage, *world))
        predicted.advance(plans[-1].plan.actions)
    return plans


def uncorrected_record(plans: Sequence[Plan], seconds: float, planner_calls: int) -> PlanningRecord:
    """Return a record of one plan per stage, none of which needed corrections."""
    blocks = tuple(block for plan in plans for block in plan.blocks)
    return PlanningRecord(
        plan=Plan(
            blocks,
            optimal=len(plans) == 1 and plans[0].optimal,
            planner=" and ".join(dict.fromkeys(plan.planner for plan in plans)),
            seconds=seconds,
        ),
        blocks=tuple(
            BlockRecord(
                macro=block.macro,
                written=block.actions,
                actions=block.actions,
                verified_before=True,
                verified_after=True,
            )
            for block in blocks
        ),
        hierarchical=False,
        planner_calls=planner_calls,
    )


# Policy -------------------------------------------------------------------------------------------


class GoalPolicy(SymbolicPolicy):
    """A policy in which a language model writes the goal and a classical planner finds the plan."""

    asks_model = True

    def __init__(self, equipment: Equipment, *, meter: Meter | None = None) -> None:
        super().__init__(equipment.ontology, equipment.domain, equipment.planner)
        self.equipment = equipment
        self.drafts: list[GoalDraft] = []
        """All answers of the model, in order."""
        self._meter = meter
        self._calls = 0
        self._ready: tuple[Stage, Inventory, Planned] | None = None
        self._request = ""

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        from hvr.policies.llm.policy import open_equipment

        setting = context.model.setting
        if not is_goal(setting) and setting != ModelChoice.setting:
            raise UsageError(
                f"policy 'goal' supports only the setting {GOAL}, got {setting}", field="setting"
            )
        # Record the setting with which the run can be repeated.
        model = replace(context.model, setting=setting if is_goal(setting) else GOAL)
        equipment, meter, _ = open_equipment(replace(context, model=model))
        return cls(equipment, meter=meter)

    @property
    def meter(self) -> Meter | None:
        return self._meter

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[Stage]:
        """Return the model's goal after all checks.

        Its first stage has a plan, unless objects of this stage must be located first.

        Raises:
            ImpossibleGoalError: The model gives no goal, or none that can be reached in the scene.
            PlannerError: No plan was found within the time limit.
            LLMError: The model did not answer.
        """
        self._request = request
        equipment = self.equipment
        dialogue = Dialogue(
            equipment.model,
            equipment.prompts,
            equipment.temperature,
            structured=equipment.settings.structured,
        )
        words = GoalVocabulary(self.reader.taxonomy, inventory, self.domain)

        def reachable(goal: Goal) -> None:
            first = goal.stages[0]
            # It is too early to plan for objects that must be located first.
            if not inventory.unplaced.intersection(self.needs(first, graph, inventory)):
                self.plan(first, graph, inventory)

        writing = GoalWriting(dialogue, request, graph, words, reachable)
        self.drafts = writing.drafts
        goal = writing.write()
        return Understanding(goal.stages, goal)

    def plan(
        self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """Return a plan for a stage, or the last plan if the stage and the facts are the same."""
        if self._ready is not None:
            known, seen, planned = self._ready
            if (known, seen.facts, seen.avoided) == (stage, inventory.facts, inventory.avoided):
                return planned
        planned = super().plan(stage, graph, inventory, reason)
        self._calls += planned.planner_calls
        self._ready = (stage, inventory, planned)
        return planned

    def write(
        self,
        request: str,
        graph: KnowledgeGraph,
        inventory: Inventory,
        find: FindObjects[Stage] | None = None,
    ) -> PlanningRecord:
        """Return a plan for all stages of a request, with its record.

        If no reachable goal was found, the plan is empty and the record gives the reason.

        Args:
            find: Searches for the goal's objects before planning; None if all locations are known.
        """
        started = time.perf_counter()
        compile_task = self.equipment.compile_task
        try:
            plans = plan_all_stages(
                self, request, graph, inventory, self.domain, compile_task, find
            )
        except HvrError as error:
            stopped = stopped_by(error)
            if stopped is None:
                raise
            unreadable = int(isinstance(error, ModelError))
            record = uncorrected_record([], time.perf_counter() - started, self._calls)
            return replace(record, stopped=stopped, unreadable=unreadable)
        seconds = time.perf_counter() - started
        return uncorrected_record([planned.plan for planned in plans], seconds, self._calls)

    def judge(
        self,
        understanding: Understanding[Stage],
        done: Judgement,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Judgement:
        """Judge by the model's goal, and report any disagreement with hvr's own reading."""
        del understanding
        if not done.reached:
            return done
        try:
            own = self.reader.goal(self._request, inventory)
        except HvrError:
            return Judgement(True, "by the model's reading; hvr cannot read this request itself")
        wanted = self._parse(own.stages[-1], graph, inventory).wanted
        if Task(self.domain, graph.problem(self.domain, "judge")).initial.holds(wanted):
            return Judgement(True, "by the model's reading and by hvr's own")
        return Judgement(
            True, f"by the model's reading; by hvr's own, this does not hold: {own.paraphrase[-1]}"
        )

    def records(self) -> Mapping[str, Any]:
        return {"goal.json": [draft.to_json() for draft in self.drafts]}
