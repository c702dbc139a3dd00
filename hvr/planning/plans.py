"""Plans as values, and the protocol of the policies that make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

from hvr.errors import ImpossibleGoalError
from hvr.knowledge.retrieval.relevance import Relevant
from hvr.knowledge.world_file import load_world
from hvr.pddl import Domain, Problem, Task, Trajectory
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
        precondition: PDDL literals that must hold before.
        postcondition: PDDL literals that hold after.
    """

    name: str
    precondition: tuple[str, ...] = ()
    postcondition: tuple[str, ...] = ()

    json_shape = "*"


class AABlock(Value):
    """The atomic actions that carry out a macro action."""

    macro: MacroAction
    actions: tuple[GroundAction, ...]

    json_shape = "macro actions=calls"

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The actions with their arguments, as JSON."""
        return [{"action": a.name, "args": list(a.args)} for a in self.actions]


class Plan(Value):
    """A plan as macro actions with their blocks.

    Args:
        optimal: Whether no plan of this problem has fewer actions, by proof.
    """

    blocks: tuple[AABlock, ...]
    optimal: bool = False
    planner: str = ""
    seconds: float = 0.0

    json_shape = "blocks length optimal planner"

    @property
    def length(self) -> int:
        """The number of actions."""
        return len(self.actions)

    @property
    def actions(self) -> tuple[GroundAction, ...]:
        """All atomic actions in order."""
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


class Planned(Value):
    """A plan with the problem that it solves.

    Args:
        problem: The problem, restricted to the relevant objects.
        relevant: The objects, and why each was chosen.
        assumed: Constraints of the problem that the request does not contain, such as predicted
            room. They are not monitored.
    """

    problem: Problem
    task: Task
    relevant: Relevant
    plan: Plan
    planner_calls: int
    assumed: tuple[Trajectory, ...] = ()


class RecoveryStrategies(Value):
    """The recovery strategies that suit a policy; see `hvr.execution.recovery`.

    Args:
        repairs: Strategies that keep the plan, cheapest first.
        replan: Strategies that make a new plan.
    """

    repairs: tuple[str, ...] = ("retry", "re-navigate")
    replan: tuple[str, ...] = ("satisfy", "replace")


STATE_PLANNER_STRATEGIES = RecoveryStrategies()
"""For policies that plan from the observed state: a new plan achieves what is missing."""

FEEDBACK_PLANNER_STRATEGIES = RecoveryStrategies(
    ("retry", "re-navigate", "satisfy"), ("ask", "replace")
)
"""For policies that need a report of the failure: inserting missing steps comes before asking."""


Wanted = TypeVar("Wanted")
"""The type of a policy's goals: a condition, or a request in words."""

FindObjects = Callable[[Wanted], "Inventory"]
"""Searches for unseen objects that a goal needs; returns the updated inventory."""


@dataclass(frozen=True)
class Understanding(Generic[Wanted]):
    """A policy's interpretation of a request.

    Args:
        stages: Goals to reach in this order; usually one.
        goal: The goal according to hvr's grammar; None if the grammar cannot read the request.
        impossible: Why that goal cannot be met here; "" if it can, or was not read.
        judged_only: Whether the goal only judges the result and is hidden from the policy.
    """

    stages: tuple[Wanted, ...]
    goal: Goal | None
    impossible: str = ""
    judged_only: bool = False


class Judgement(Value):
    """Whether the request was met.

    Args:
        reached: The answer; None if hvr cannot tell.
        reason: The basis of the answer; "" if it is the observed goal itself.
    """

    reached: bool | None
    reason: str = ""

    def noting(self, remark: str) -> Judgement:
        """Return the judgement with a remark appended to its reason."""
        return Judgement(self.reached, f"{self.reason}; {remark}" if self.reason else remark)


@dataclass(frozen=True, kw_only=True)
class PolicyContext:
    """The dependencies and settings of a policy.

    Args:
        agent: The robot of the domain, for the library.
        prompts: The folder of the world's prompt templates; None for the default world.
        about: Request, task, scene and seed, as transcripts name them.
        folder: The run folder; None saves nothing.
        transcript: The file for prompts and answers, if any.
        header: Further fields of the transcript's first line; empty in a replay of the run.
        ledger: The file of model costs, for a budget shared by several processes.
        embedder: An existing embedder; None creates the one that `model` names.
        compile_task: Creates tasks, for callers that cache them.
        listen: Called with the events of planning.
        reader: The reader of requests, one of `hvr.language.grammar.READERS`; None for the best
            installed one.
        reading: The 1-based number of the intended reading of an ambiguous request.
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
    """A maker of plans, with its goals, recovery strategies, judgement and records.

    Subclasses must define `open`, `understand`, `plan` and `clearing`; the rest has defaults.
    """

    recovery_strategies: ClassVar[RecoveryStrategies] = STATE_PLANNER_STRATEGIES
    """The recovery strategies that suit the policy."""

    asks_model: ClassVar[bool] = False
    """Whether the policy uses a language model, so that its runs are recorded for replay."""

    @property
    def meter(self) -> Meter | None:
        """The usage of the policy's language model, if any."""
        return None

    @classmethod
    def open(cls, context: PolicyContext) -> Self:
        """Create the policy.

        Raises:
            HvrError: A dependency is missing or unusable.
        """
        ...

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[Wanted]:
        """Return the goals of a request.

        Raises:
            LanguageError: The request was not understood.
            ImpossibleGoalError: The request cannot be met in this scene.
        """
        ...

    def plan(
        self, stage: Wanted, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """Return a plan from the observed state of the world.

        Args:
            reason: Why the previous plan failed; "" at first.

        Raises:
            ImpossibleGoalError: No plan exists, by proof.
            PlannerError: No plan was found in time.
            LLMError: The language model did not answer.
        """
        ...

    def clearing(self, things: Sequence[str], place: str) -> Wanted:
        """Return the goal of removing things from a place.

        Args:
            things: The names of the things.
            place: Name of the object that holds them.
        """
        ...

    def needs(self, stage: Wanted, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        """Return the objects that a plan would use, including those whose place is unknown.

        The robot looks for them before planning (`hvr.execution.world`); none by default.
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
        """Return a plan to open a place and look inside.

        Args:
            closing: Places to close, which were opened without success.
            stage: The goal to reach afterwards, with its constraints.

        Raises:
            ImpossibleGoalError: No plan exists, or the policy does not support this.
            PlannerError: No plan was found in time.
        """
        del closing, stage, graph, inventory
        raise ImpossibleGoalError(f"this policy cannot inspect {place}")

    def visiting(
        self,
        thing: str,
        closing: Sequence[str],
        stage: Wanted,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        """Return a plan to go to a thing and see it.

        Args:
            closing: Places to close, which were opened to look inside.
            stage: The goal whose constraints hold.

        Raises:
            ImpossibleGoalError: No plan exists, or the policy does not support this.
            PlannerError: No plan was found in time.
        """
        del closing, stage, graph, inventory
        raise ImpossibleGoalError(f"this policy cannot go and observe {thing}")

    def keeping(self, stage: Wanted, constraints: Sequence[str]) -> Wanted:
        """Return a goal with other constraints.

        Args:
            constraints: The remaining trajectory constraints as PDDL.
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
        """Return whether the request was met, after the plans were carried out.

        Args:
            done: Whether the goals of the plans were observed to hold, and why not.
            graph: The world as observed at the end.
        """
        del graph, inventory
        if understanding.goal is None and done.reached:
            return Judgement(True, "the policy's own goal holds; hvr did not read the request")
        return Judgement(done.reached)

    def records(self) -> Mapping[str, Any]:
        """Return JSON files for the run folder by name, which explain the plans."""
        return {}

    def keep(self, planned: Planned, run: str) -> None:
        """Learn from a successful plan.

        Raises:
            DataFileError: The result cannot be written.
        """
        del planned, run
