"""The monitoring executor: reactions to an unexpected world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hvr.base.files import data_path
from hvr.execution.deviations import compare_states
from hvr.execution.events import Event, Finished, PlanReady, Replanning, StepDone
from hvr.execution.executor import Executor
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import load_ontology
from hvr.knowledge.scene_graph import SceneGraph, SceneObject
from hvr.pddl import Atom, parse_domain
from hvr.planning.search.planners import FastDownward
from hvr.policies.symbolic import SymbolicPolicy
from hvr.worlds.environment import Event as Observation
from hvr.worlds.kitchen import Kitchen


class Meddler:
    """A kitchen that interferes once, just before a chosen action."""

    def __init__(self, kitchen: Kitchen, trigger: str, meddle: Callable[[Kitchen], None]) -> None:
        self.kitchen = kitchen
        self.trigger = trigger
        self.meddle: Callable[[Kitchen], None] | None = meddle

    @property
    def last_event(self) -> Observation:
        return self.kitchen.last_event

    def reset(self, scene: Any = None) -> Observation:
        return self.kitchen.reset(scene)

    def step(self, action: Any = None, **kwargs: Any) -> Observation:
        name = action if isinstance(action, str) else action["action"]
        if name == self.trigger and self.meddle is not None:
            meddle, self.meddle = self.meddle, None
            meddle(self.kitchen)
        return self.kitchen.step(action, **kwargs)


@pytest.fixture(scope="module")
def policy() -> SymbolicPolicy:
    domain = parse_domain(data_path("domains") / "kitchen" / "domain.pddl")
    return SymbolicPolicy(load_ontology(), domain, FastDownward(seconds=600))


def execute(
    policy: SymbolicPolicy, env: Any, text: str, max_replans: int = 3
) -> tuple[Finished, list[Event], World]:
    world = World(env, KnowledgeGraph.create(None, policy.ontology))
    events: list[Event] = []
    executor = Executor(world, policy, events.append, lambda _: None, max_replans)
    goal = policy.reader.goal(text, world.inventory())
    return executor.run(goal.stages), events, world


def object_id(kitchen: Kitchen, kind: str) -> str:
    return next(o["objectId"] for o in kitchen.last_event.metadata["objects"]
                if o["objectType"] == kind)  # fmt: skip


@pytest.mark.slow
def test_a_plain_run_goes_as_expected_and_is_recorded(policy: SymbolicPolicy) -> None:
    finished, events, world = execute(policy, Kitchen("FloorPlan16"), "make coffee")
    assert finished.reached
    steps = [e for e in events if isinstance(e, StepDone)]
    assert all(e.as_expected for e in steps)
    mug = next(o for o in world.env.last_event.metadata["objects"] if o["objectType"] == "Mug")
    assert mug["fillLiquid"] == "coffee"
    recorded = world.graph.query("SELECT ?e { ?e a k:Action }")
    assert len(recorded) == len(steps)


@pytest.mark.slow
def test_a_drop_from_the_hand_is_noticed_and_mended(policy: SymbolicPolicy) -> None:
    def drop(kitchen: Kitchen) -> None:
        kitchen.step("DropHandObject", forceAction=True)

    env = Meddler(Kitchen("FloorPlan16"), "PutObject", drop)
    finished, events, _ = execute(policy, env, "put the spoon on the dining table")
    assert finished.reached
    assert finished.replans == 1
    wrong = next(e for e in events if isinstance(e, StepDone) and not e.as_expected)
    assert not wrong.success
    assert any(atom.predicate == "holding" or atom.predicate == "on"
               for atom in (*wrong.difference.missing, *wrong.difference.unexpected))  # fmt: skip
    assert sum(isinstance(e, PlanReady) for e in events) == 2


@pytest.mark.slow
def test_a_silent_failure_is_seen_in_the_state(policy: SymbolicPolicy) -> None:
    """The mug is emptied right after brewing while every action reports success."""

    class Spilling(Meddler):
        """Empties the full mug before it is taken from the machine."""

        def step(self, action: Any = None, **kwargs: Any) -> Observation:
            name = action if isinstance(action, str) else action["action"]
            mug = object_id(self.kitchen, "Mug")
            full = self.kitchen.last_event.get_object(mug)["isFilledWithLiquid"]
            if name == "PickupObject" and full and self.meddle is not None:
                self.meddle = None
                self.kitchen.step("EmptyLiquidFromObject", objectId=mug, forceAction=True)
            return self.kitchen.step(action, **kwargs)

    env = Spilling(Kitchen("FloorPlan16"), "", lambda _: None)
    finished, events, _ = execute(policy, env, "make coffee")
    assert finished.reached
    assert finished.replans >= 1
    wrong = [e for e in events if isinstance(e, StepDone) and not e.as_expected]
    assert any(e.success and e.difference.missing for e in wrong)


def test_harmless_differences_do_not_cost_a_new_plan(policy: SymbolicPolicy) -> None:
    def cook_for_fun(kitchen: Kitchen) -> None:
        kitchen.step("DirtyObject", objectId=object_id(kitchen, "Mug"), forceAction=True)

    env = Meddler(Kitchen("FloorPlan16"), "PutObject", cook_for_fun)
    finished, events, _ = execute(policy, env, "make coffee")
    assert finished.reached
    assert finished.replans == 0
    assert any(isinstance(e, StepDone) and e.difference for e in events)


@pytest.mark.slow
def test_the_number_of_new_plans_is_limited(policy: SymbolicPolicy) -> None:
    class Slippery(Meddler):
        """Drops the held object before every put."""

        def step(self, action: Any = None, **kwargs: Any) -> Observation:
            name = action if isinstance(action, str) else action["action"]
            if name == "PutObject":
                self.kitchen.step("DropHandObject", forceAction=True)
            return self.kitchen.step(action, **kwargs)

    env = Slippery(Kitchen("FloorPlan16"), "", lambda _: None)
    finished, events, _ = execute(policy, env, "put the spoon on the dining table", 2)
    assert not finished.reached
    assert finished.replans == 2
    assert "gave up" in finished.reason
    assert finished.unmet
    assert sum(isinstance(e, Replanning) for e in events) == 2


def scene(**reach: bool) -> SceneGraph:
    objects = {n: SceneObject(n, "Mug", n, in_reach=r, distance=9.0) for n, r in reach.items()}
    return SceneGraph("FloorPlan1", objects)


def test_difference_names_what_is_missing_and_what_is_new() -> None:
    a, b, c = (Atom("hot", (name,)) for name in "abc")
    found = compare_states([a, b], [b, c], scene())
    assert found.missing == (a,)
    assert found.unexpected == (c,)
    assert "(hot a)" in found.explain()
    assert not compare_states([a], [a], scene())


def test_nearness_is_one_sided() -> None:
    near = Atom("near", ("a",))
    assert not compare_states([near], [], scene(a=True))
    assert compare_states([near], [], scene(a=False)).missing == (near,)
    assert not compare_states([], [near], scene(a=True))
