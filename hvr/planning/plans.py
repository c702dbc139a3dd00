"""Plans as values, and the contract of who makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

from hvr.errors import ImpossibleGoalError
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.knowledge.world_file import load_world
from hvr.pddl import Domain, Problem, Task
from hvr.pddl.model import GroundAction
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.knowledge.graph import KnowledgeGraph
    from hvr.knowledge.ontology import Ontology
    from hvr.knowledge.retrieval.embedders import Embedder
    from hvr.knowledge.retrieval.inventory import Inventory
    from hvr.language.goal_builder import Goal
    from hvr.models.choice import ModelChoice
    from hvr.models.meter import Meter
    from hvr.planning.search.planners import Planner


class MacroAction(Value):
    """A subtask in words, with conditions on the world before and after it.

    Args:
        name: what is done, in a few words.
        precondition: PDDL literals that must hold before.
        postcondition: PDDL literals that hold after.
    """

    name: str
    precondition: tuple[str, ...] = ()
    postcondition: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "name": self.name,
            "precondition": list(self.precondition),
            "postcondition": list(self.postcondition),
        }


class AABlock(Value):
    """The atomic actions that carry out one macro action."""

    macro: MacroAction
    actions: tuple[GroundAction, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "macro": self.macro.to_json(),
            "actions": [{"action": a.name, "args": list(a.args)} for a in self.actions],
        }


class Plan(Value):
    """A plan as macro actions with their blocks.

    Args:
        blocks: in order.
        optimal: it is proven that no plan of this problem has fewer actions.
        planner: what found it.
        seconds: wall time it took to find.
    """

    blocks: tuple[AABlock, ...]
    optimal: bool = False
    planner: str = ""
    seconds: float = 0.0

    @property
    def actions(self) -> tuple[GroundAction, ...]:
        """The expanded plan: all atomic actions in order."""
        return tuple(action for block in self.blocks for action in block.actions)

    def __repr__(self) -> str:
        return f"<Plan: {self._summary}>"

    @property
    def _summary(self) -> str:
        actions, blocks = len(self.actions), len(self.blocks)
        return (
            f"{actions} action{'s' * (actions != 1)} in {blocks} block{'s' * (blocks != 1)}"
            f"{', optimal' * self.optimal}"
        )

    def _repr_html_(self) -> str:
        from hvr.base.notebooks import html_card

        rows = [
            (str(number), block.macro.name, " ".join(map(str, block.actions)))
            for number, block in enumerate(self.blocks, 1)
        ]
        return html_card(f"Plan: {self._summary}", (), ("block", "macro action", "actions"), rows)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, without the time it took: the same plan is the same text."""
        return {
            "blocks": [block.to_json() for block in self.blocks],
            "length": len(self.actions),
            "optimal": self.optimal,
            "planner": self.planner,
        }


class Planned(Value):
    """A plan with the problem that it solves.

    Args:
        problem: over the relevant objects only.
        task: the problem compiled.
        relevant: the objects and why each was chosen.
        plan: the plan.
        planner_calls: how often a classical planner was called.
    """

    problem: Problem
    task: Task
    relevant: Relevant
    plan: Plan
    planner_calls: int


class RecoveryStrategies(Value):
    """The recovery strategies that suit a policy; see `hvr.execution.recovery`.

    Args:
        repairs: Those that keep the plan, cheapest first.
        replan: those that make a new one.
    """

    repairs: tuple[str, ...] = ("retry", "re-navigate")
    replan: tuple[str, ...] = ("satisfy", "replace")


STATE_PLANNER_STRATEGIES = RecoveryStrategies()
"""For policies that plan from the observed state: a new plan satisfies what is missing."""

FEEDBACK_PLANNER_STRATEGIES = RecoveryStrategies(
    ("retry", "re-navigate", "satisfy"), ("ask", "replace")
)
"""For policies that have to be told what went wrong: missing steps are put in before they are
asked again."""


Wanted = TypeVar("Wanted")
"""What a policy plans for: a condition, or a request in words."""

FindObjects = Callable[[Wanted], "Inventory"]
"""Looks for what a goal needs and nobody has seen; returns what there is to be known then."""


@dataclass(frozen=True)
class Understanding(Generic[Wanted]):
    """What a policy plans for when it is given a request.

    Args:
        stages: to be reached in this order; mostly one.
        goal: how hvr's own grammar reads the request; None when it cannot be read.
        impossible: why that goal cannot be met here; empty when it can, or was not read.
        judged_only: the goal is what the result is judged by, and the policy does not see it.
    """

    stages: tuple[Wanted, ...]
    goal: Goal | None
    impossible: str = ""
    judged_only: bool = False


class Judgement(Value):
    """Whether what was asked for was done.

    Args:
        reached: None when hvr cannot tell.
        reason: what the answer rests on; empty where it is the observed goal itself.
    """

    reached: bool | None
    reason: str = ""

    def noting(self, remark: str) -> Judgement:
        """Return the judgement with one more remark."""
        return Judgement(self.reached, f"{self.reason}; {remark}" if self.reason else remark)


@dataclass(frozen=True, kw_only=True)
class PolicyContext:
    """What a policy is made from.

    Args:
        ontology: classes, words and preferences.
        domain: the actions.
        agent: the robot whose domain it is, for the library.
        planner: the classical planner.
        model: which language model is to be asked, and how.
        prompts: folder of the world's templates for language models; None for the usual world's.
        about: the request, task, scene and seed, as transcripts name them.
        folder: of the run; None keeps nothing.
        transcript: file for what a model is asked and answers; None for none.
        header: what else the first line of the transcript says; empty for what repeats the run.
        ledger: file of what models were charged, for a budget that several processes share.
        embedder: made already; None makes the one that `model` names.
        compile_task: makes tasks, for callers that keep them.
        listen: is told what happens while the policy plans.
        reader: who reads requests, one of `hvr.language.grammar.READERS`; None for the best that
            is installed.
        reading: which of several readings of the request is meant, from 1.
    """

    ontology: Ontology
    domain: Domain
    planner: Planner
    model: ModelChoice
    agent: str = field(default_factory=lambda: load_world().agent.name)
    prompts: Path | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    transcript: Path | None = None
    header: Mapping[str, Any] = field(default_factory=dict)
    ledger: Path | None = None
    embedder: Embedder | None = None
    compile_task: Callable[[Domain, Problem], Task] = Task
    listen: Callable[[Any], None] | None = None
    reader: str | None = None
    reading: int | None = None


class Policy(Protocol[Wanted]):
    """Makes plans: what it plans for, how it recovers, how it is judged, what it keeps.

    A class that inherits from this one has to define `open`, `understand`, `plan` and
    `clearing`; the rest has defaults.
    """

    recovery_strategies: ClassVar[RecoveryStrategies] = STATE_PLANNER_STRATEGIES
    """The recoveries that suit it."""

    asks_model: ClassVar[bool] = False
    """Whether it asks a language model: its runs are recorded and can be replayed."""

    @property
    def meter(self) -> Meter | None:
        """What its language model used; None without one."""
        return None

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        """Make the policy.

        Raises:
            HvrError: something that it needs is missing or cannot be used.
        """
        ...

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[Wanted]:
        """Return what to plan for.

        Raises:
            LanguageError: the request was not understood.
            ImpossibleGoalError: it cannot be met in this scene.
        """
        ...

    def plan(
        self, stage: Wanted, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """Return a plan from the world as observed.

        Args:
            stage: what to reach.
            graph: the world.
            inventory: what there is in it.
            reason: why an earlier plan could not be carried on; empty at first.

        Raises:
            ImpossibleGoalError: it is proven that there is no plan.
            PlannerError: none was found in the time allowed.
            LLMError: the language model did not answer.
        """
        ...

    def clearing(self, things: Sequence[str], place: str) -> Wanted:
        """Return the goal of taking things away from a place.

        Args:
            things: names of the things.
            place: name of what they are on or in.
        """
        ...

    def needs(self, stage: Wanted, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        """Return the things that a plan would use, those included whose place nobody knows.

        They are looked for before a plan is made (`hvr.execution.world`); nothing by default.
        """
        del stage, graph, inventory
        return ()

    def opening(
        self,
        place: str,
        closing: Sequence[str],
        stage: Wanted,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        """Return a plan to open a place and look into it.

        Args:
            place: its name.
            closing: places that were opened for nothing, to be closed again.
            stage: what is to be reached afterwards, and under which constraints.
            graph: the world.
            inventory: what there is in it.

        Raises:
            ImpossibleGoalError: there is no plan, or the policy makes none.
            PlannerError: none was found in the time allowed.
        """
        del closing, stage, graph, inventory
        raise ImpossibleGoalError(f"this policy does not look into {place}")

    def keeping(self, stage: Wanted, constraints: Sequence[str]) -> Wanted:
        """Return a goal to be reached under other constraints than its own.

        Args:
            stage: the goal.
            constraints: trajectory constraints as PDDL: what is left of its own.
        """
        del constraints
        return stage

    def judge(
        self,
        understanding: Understanding[Wanted],
        done: Judgement,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Judgement:
        """Return whether the request was met, after its plans were carried out.

        Args:
            understanding: what was planned for.
            done: whether the goals of the plans were observed to hold, and why not.
            graph: the world as observed in the end.
            inventory: what there is in it.
        """
        del graph, inventory
        if understanding.goal is None and done.reached:
            return Judgement(True, "the policy's own goal holds; hvr did not read the request")
        return Judgement(done.reached)

    def records(self) -> Mapping[str, Any]:
        """Return JSON files for the run folder, by name: how its plans came about."""
        return {}

    def keep(self, planned: Planned, run: str) -> None:
        """Learn from a plan that did what was asked.

        Raises:
            DataFileError: what was learnt cannot be written.
        """
        del planned, run
