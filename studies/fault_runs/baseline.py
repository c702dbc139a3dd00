"""The run without faults that runs with faults are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hvr.errors import PlannerError
from hvr.execution.events import Event, Finished, StepDone
from hvr.execution.executor import Executor
from hvr.execution.perception import Sensors
from hvr.execution.world import World, open_world
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.knowledge.world_file import load_world
from hvr.language.goal_builder import Stage
from hvr.pddl.model import GroundAction
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
    """One AI2-THOR action of a step.

    Args:
        number: as the injector counts, from 1.
        action: its name.
        target: id of the object that it was sent for; empty without one.
    """

    number: int
    action: str
    target: str


@dataclass(frozen=True)
class BaseStep:
    """One step of the run without faults.

    Args:
        number: of the step, from 1.
        action: what was done.
        sent: the AI2-THOR actions.
        held_before: name of what was in the hand before it, empty for nothing.
        held_after: and after it.
        handled: names of the objects that it names or changes.
    """

    number: int
    action: GroundAction
    sent: tuple[Sent, ...]
    held_before: str
    held_after: str
    handled: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Baseline:
    """A task in a scene: its plan, and the run without faults.

    Args:
        task: the task.
        scene: where.
        planned: the first plan with its problem.
        steps: the steps of the run.
        reached: the goal was reached.
        failures: how many failures were noticed; each is a false alarm.
        metadata: of the scene as it starts.
        names: hvr's name of every object by AI2-THOR's id.
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
    """A policy that gives a certain plan first, and plans itself after that.

    Args:
        first: the plan; None plans itself from the beginning.
        policy: makes the others.
    """

    def __init__(self, first: Planned | None, policy: SymbolicPolicy) -> None:
        self.first = first
        self.policy = policy

    def plan(
        self, stage: Stage, graph: KnowledgeGraph, inventory: Inventory, reason: str = ""
    ) -> Planned:
        """See `SymbolicPolicy.plan`."""
        first, self.first = self.first, None
        return first or self.policy.plan(stage, graph, inventory, reason)

    @classmethod
    def open(cls, context: PolicyContext) -> Given:
        """Return a policy that plans itself from the beginning."""
        return cls(None, SymbolicPolicy.open(context))

    def understand(
        self, request: str, graph: KnowledgeGraph, inventory: Inventory
    ) -> Understanding[Stage]:
        """See `SymbolicPolicy.understand`."""
        return self.policy.understand(request, graph, inventory)

    def clearing(self, things: Sequence[str], place: str) -> Stage:
        """See `SymbolicPolicy.clearing`."""
        return self.policy.clearing(things, place)


@dataclass
class Lab:
    """What all runs of a process share.

    Args:
        planner: name of the classical planner.
        budget: seconds for one planner call at most.
        max_replans: how many new plans a run may make.
        seed: for what faults leave open, and for noise.
    """

    planner: str = DEFAULT
    budget: float = 10.0
    max_replans: int = 3
    seed: int = 0
    _baselines: dict[tuple[str, str], Baseline] = field(default_factory=dict, init=False)

    @cached_property
    def policy(self) -> SymbolicPolicy:
        """Plans from the observed state."""
        domain = load_world().agent.domain()
        return SymbolicPolicy(load_ontology(), domain, make_planner(self.planner, self.budget))

    def world(self, env: FaultyEnvironment, sensors: Sensors | None = None) -> World:
        """Return a world with a new graph."""
        return open_world(env, ontology=self.policy.ontology, sensors=sensors)

    def baseline(self, task: PaperTask, scene: str) -> Baseline:
        """Return the plan of a task in a scene and its run without faults, made once.

        In the scene of the task's ground truth that is its plan; elsewhere the planner's.

        Raises:
            PlannerError: no plan was found, or the run without faults does not reach the goal.
            ImpossibleGoalError: there is no plan.
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
            told = (a for a in atoms if a.predicate != "near")
            return frozenset((*action.args, *(n for a in told for n in a.args)))

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
    """Return the ground truth as the plan, if its objects are those of the problem."""
    truth = task.ground_truth.steps
    if not Validator(planned.task).check(truth).valid:
        return planned
    block = AABlock(MacroAction(task.name), truth)
    plan = Plan((block,), planned.plan.optimal, "ground truth", 0.0)
    return Planned(planned.problem, planned.task, planned.relevant, plan, planned.planner_calls)


def _nobody(_planned: Planned) -> None:
    """Nobody needs to be told of a plan."""
