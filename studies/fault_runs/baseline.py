"""The run without faults with which runs with faults are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hvr.errors import PddlError, PlannerError
from hvr.execution.events import Event, Finished, StepDone
from hvr.execution.executor import Executor
from hvr.execution.observation import sorts_of
from hvr.execution.perception import Sensors
from hvr.execution.world import World, open_world
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.world_file import load_world
from hvr.language.goal_builder import Stage
from hvr.pddl import Problem, parse_formula
from hvr.pddl.model import GroundAction
from hvr.pddl.task import holds_initially
from hvr.planning.plans import (
    AABlock,
    MacroAction,
    Plan,
    Planned,
    Policy,
    PolicyContext,
    Understanding,
)
from hvr.planning.search.planners import DEFAULT, make_planner
from hvr.policies.symbolic import SymbolicPolicy
from hvr.runs.tasks import PaperTask
from hvr.validation import Validator
from hvr.worlds import Kitchen
from hvr.worlds.faults import FaultyEnvironment, Schedule


@dataclass(frozen=True)
class Sent:
    """An AI2-THOR action sent for a step.

    Args:
        number: 1-based number, as counted by the fault injector.
        target: Id of the target object; empty if none.
    """

    number: int
    action: str
    target: str


@dataclass(frozen=True)
class BaseStep:
    """One step of the run without faults.

    Args:
        number: 1-based step number.
        held_before: Name of the object held before the step; empty if none.
        held_after: Name of the object held after the step; empty if none.
        handled: Names of the objects that the step names or changes.
    """

    number: int
    action: GroundAction
    sent: tuple[Sent, ...]
    held_before: str
    held_after: str
    handled: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Baseline:
    """A task in a scene, with its plan and its run without faults.

    Args:
        failures: Number of reported failures, all of them false alarms.
        names: hvr's object names by AI2-THOR id.
    """

    task: PaperTask
    scene: str
    planned: Planned
    steps: tuple[BaseStep, ...]
    reached: bool
    failures: int
    metadata: dict[str, Any]
    names: dict[str, str]


class Given(Policy[Stage]):
    """A policy that uses a given first plan, then plans with another policy.

    Args:
        first: First plan; None to plan from the start.
        policy: Policy for all further plans.
    """

    def __init__(self, first: Planned | None, policy: SymbolicPolicy) -> None:
        self.first = first
        self.policy = policy

    def plan(
        self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        first, self.first = self.first, None
        return first or self.policy.plan(stage, graph, inventory, reason)

    @classmethod
    def open(cls, context: PolicyContext) -> Given:
        return cls(None, SymbolicPolicy.open(context))

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[Stage]:
        return self.policy.understand(request, graph, inventory)

    def clearing(self, things: Sequence[str], place: str) -> Stage:
        return self.policy.clearing(things, place)

    def needs(self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        return self.policy.needs(stage, graph, inventory)

    def untidy(self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory) -> tuple[str, ...]:
        return self.policy.untidy(stage, graph, inventory)

    def opening(
        self,
        place: str,
        closing: Sequence[str],
        stage: Stage,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        return self.policy.opening(place, closing, stage, graph, inventory)

    def visiting(
        self,
        thing: str,
        closing: Sequence[str],
        stage: Stage,
        graph: KnowledgeGraph,
        inventory: Inventory,
    ) -> Planned:
        return self.policy.visiting(thing, closing, stage, graph, inventory)

    def keeping(self, stage: Stage, constraints: Sequence[str]) -> Stage:
        return self.policy.keeping(stage, constraints)


@dataclass
class Lab:
    """Settings that all runs of a process share.

    Args:
        budget: Time limit per planner call in seconds.
        seed: Seed of fault details and noise.
    """

    planner: str = DEFAULT
    budget: float = 10.0
    max_replans: int = 3
    seed: int = 0
    _baselines: dict[tuple[str, str], Baseline] = field(default_factory=dict, init=False)

    @cached_property
    def policy(self) -> SymbolicPolicy:
        domain = load_world().agent.domain()
        return SymbolicPolicy(load_ontology(), domain, make_planner(self.planner, self.budget))

    def world(self, env: FaultyEnvironment, sensors: Sensors | None = None) -> World:
        return open_world(env, ontology=self.policy.ontology, sensors=sensors)

    def truth(self, world: World) -> Problem:
        """Return the true state of a run's environment, with all objects.

        Facts that no camera shows, such as that a plate was washed, come from the run's graph.
        """
        env = world.env.env if isinstance(world.env, FaultyEnvironment) else world.env
        true = open_world(env, ontology=self.policy.ontology)
        try:
            remembered = sorts_of(self.policy.ontology).remembered
            marks = {a for a in world.graph.facts() if a.predicate in remembered}
            facts = {a for a in true.graph.facts() if a.predicate not in remembered}
            domain = self.policy.domain
            init = frozenset(a for a in facts | marks if a.predicate in domain.predicates)
            return true.graph.problem(domain, "true").replace(init=init)
        finally:
            true.graph.close()

    def holds(self, stage: Stage, world: World) -> bool:
        """Return whether a goal holds in the true state of a run's environment."""
        problem, domain = self.truth(world), self.policy.domain
        try:
            goal = parse_formula(stage.text, domain, problem.objects)
        except PddlError:  # an object of the goal no longer exists
            return False
        return holds_initially(domain, problem, goal)

    def baseline(self, task: PaperTask, scene: str) -> Baseline:
        """Return the cached plan of a task in a scene, with its run without faults.

        In the scene of the ground truth, the plan is the ground truth; in any other, the planner's.

        Raises:
            PlannerError: No plan was found, or the run without faults misses the goal.
            ImpossibleGoalError: No plan exists.
        """
        key = task.id, scene
        if key not in self._baselines:
            self._baselines[key] = self._run(task, scene)
        return self._baselines[key]

    def _run(self, task: PaperTask, scene: str) -> Baseline:
        env = FaultyEnvironment(Kitchen(scene), Schedule())
        start = env.last_event.metadata
        world = self.world(env)
        stage = self.policy.with_ends(task.goal)
        planned = self.policy.plan(stage, world.graph, world.inventory())
        if scene == task.ground_truth.scene:
            planned = _with_truth(planned, task)
        steps: list[BaseStep] = []
        failures = 0
        held, sent = "", 0
        validator = Validator(planned.task)

        def handled(action: GroundAction) -> frozenset[str]:
            report = validator.apply(action)
            atoms = (*report.added, *report.deleted) if report.ok else ()
            changed = (a for a in atoms if a.predicate != "near")
            return frozenset((*action.args, *(n for a in changed for n in a.args)))

        def listen(event: Event) -> None:
            nonlocal failures, held, sent
            if not isinstance(event, StepDone):
                return
            failures += len(event.failures)
            done = []
            for action in event.sent:
                sent += 1
                done.append(Sent(sent, action["action"], str(action.get("objectId", ""))))
            now = world.scene.held or ""
            steps.append(
                BaseStep(event.number, event.action, tuple(done), held, now, handled(event.action))
            )
            held = now

        executor = Executor(world, Given(planned, self.policy), listen, _nobody, self.max_replans)
        finished: Finished = executor.run([stage])
        if not finished.reached or sent != env.steps:
            raise PlannerError(
                f"{task.id} in {scene}: the run without faults failed: {finished.reason}"
            )
        names = {o["objectId"]: world.names.name(o["objectId"]) for o in start["objects"]}
        return Baseline(
            task, scene, planned, tuple(steps), finished.reached, failures, start, names
        )  # fmt: skip


def _with_truth(planned: Planned, task: PaperTask) -> Planned:
    """Replace the plan by the ground truth if the problem contains the ground truth's objects."""
    truth = task.ground_truth.steps
    if not Validator(planned.task).check(truth).valid:
        return planned
    block = AABlock(MacroAction(task.name), truth)
    plan = Plan((block,), planned.plan.optimal, "ground truth", 0.0)
    return Planned(planned.problem, planned.task, planned.relevant, plan, planned.planner_calls)


def _nobody(_planned: Planned) -> None: ...
