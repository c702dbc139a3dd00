"""Kitchens with injected faults, and runs in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from hvr.base.files import data_path
from hvr.execution.deviations import Deviation
from hvr.execution.events import Event, Finished, Noticed, Recovery, StepDone
from hvr.execution.executor import Executor
from hvr.execution.perception import Sensors
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.pddl import parse_domain
from hvr.planning.plans import Policy
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.worlds.environment import Event as Observation
from hvr.worlds.faults import Fault, FaultyEnvironment, Schedule
from hvr.worlds.kitchen import Kitchen

Goal = TypeVar("Goal")
Hook = Callable[[Kitchen, str, int, dict[str, Any]], Observation | None]
"""Called with the kitchen, the action, its count, and its arguments; returns the answer, or None to
execute the action.
"""


class Tampered:
    """A kitchen with a hook before every action."""

    def __init__(self, kitchen: Kitchen, hook: Hook) -> None:
        self.kitchen = kitchen
        self.hook = hook
        self.sent: dict[str, int] = {}

    @property
    def last_event(self) -> Observation:
        return self.kitchen.last_event

    def reset(self, scene: Any = None) -> Observation:
        return self.kitchen.reset(scene)

    def step(self, action: Any = None, **kwargs: Any) -> Observation:
        if isinstance(action, dict):
            kwargs = {**action, **kwargs}
            action = kwargs.pop("action")
        self.sent[action] = self.sent.get(action, 0) + 1
        answer = self.hook(self.kitchen, action, self.sent[action], kwargs)
        return answer if answer is not None else self.kitchen.step(action, **kwargs)


@dataclass(frozen=True)
class Ran:
    """Outcome of a run."""

    finished: Finished
    events: list[Event]
    world: World

    @property
    def steps(self) -> list[StepDone]:
        return [e for e in self.events if isinstance(e, StepDone)]

    @property
    def failures(self) -> list[Deviation]:
        return [f for e in self.events if isinstance(e, StepDone | Noticed) for f in e.failures]

    @property
    def recoveries(self) -> list[Recovery]:
        return [e for e in self.events if isinstance(e, Recovery)]


@cache
def symbolic() -> SymbolicPolicy:
    domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
    return SymbolicPolicy(load_ontology(), domain, FastDownward(seconds=600, patience=0.2))


def undisturbed(_kitchen: Kitchen, _action: str, _count: int, _args: dict[str, Any]) -> None:
    """Hook that changes nothing."""


def run(
    text: str,
    hook: Hook = undisturbed,
    scene: str = "FloorPlan16",
    *,
    sensors: Sensors | None = None,
    max_replans: int = 3,
    max_tries: int = 1,
) -> Ran:
    """Execute a request in a tampered kitchen."""
    policy = symbolic()
    graph = KnowledgeGraph.create(None, policy.ontology)
    world = World(Tampered(Kitchen(scene), hook), graph, sensors=sensors)
    events: list[Event] = []
    executor = Executor(
        world, policy, events.append, lambda _: None, max_replans, max_tries=max_tries
    )
    stages = policy.reader.goal(text, world.inventory()).stages
    return Ran(executor.run(stages), events, world)


def run_with(
    policy: Policy[Goal],
    stages: Sequence[Goal],
    faults: tuple[Fault, ...] = (),
    scene: str = "FloorPlan16",
    *,
    sensors: Sensors | None = None,
    max_replans: int = 3,
) -> Ran:
    """Execute stages with a policy in a kitchen with faults."""
    graph = KnowledgeGraph.create(None, symbolic().ontology)
    world = World(FaultyEnvironment(Kitchen(scene), Schedule(faults)), graph, sensors=sensors)
    events: list[Event] = []
    executor = Executor(world, policy, events.append, lambda _: None, max_replans)
    return Ran(executor.run(stages), events, world)


def the(kitchen: Kitchen, kind: str, number: int = 0) -> str:
    """Return the ID of an object of a type."""
    found = [
        o["objectId"] for o in kitchen.last_event.metadata["objects"] if o["objectType"] == kind
    ]
    return str(found[number])


def silent(action: str, times: int = 1) -> Hook:
    """Hook that makes an action report success without effect, the first `times` times."""

    def hook(kitchen: Kitchen, sent: str, count: int, _args: dict[str, Any]) -> Observation | None:
        return kitchen.step("Pass") if sent == action and count <= times else None

    return hook


def just_before(action: str, meddle: Callable[[Kitchen], Any], count: int = 1) -> Hook:
    """Hook that interferes with the kitchen before an action."""

    def hook(kitchen: Kitchen, sent: str, number: int, _args: dict[str, Any]) -> None:
        if sent == action and number == count:
            meddle(kitchen)

    return hook


def drop(kitchen: Kitchen) -> None:
    """Drop the held object."""
    kitchen.step("DropHandObject", forceAction=True)


def refused(action: str, message: str, times: int = 1) -> Hook:
    """Hook that makes an action fail with a message, the first `times` times."""

    def hook(kitchen: Kitchen, sent: str, count: int, _args: dict[str, Any]) -> Observation | None:
        if sent != action or count > times:
            return None
        event = kitchen.step("PickupObject", objectId="nothing", forceAction=True)
        event.metadata["errorMessage"] = message
        return event

    return hook
