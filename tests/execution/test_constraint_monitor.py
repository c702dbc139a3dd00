"""Constraints during execution: remaining obligations, and the effects of a violation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hvr.execution.events import Event
from hvr.execution.executor import Executor
from hvr.execution.world import World
from hvr.knowledge.graph import KnowledgeGraph
from hvr.pddl import TRUE, Atom, Not, Task, Trajectory, ground_all
from hvr.validation import Validator
from hvr.validation.trajectory import ConstraintMonitor, with_constraints
from hvr.worlds.kitchen import Kitchen
from tests.execution.execution_worlds import Ran, Tampered, symbolic
from tests.planning.search.test_constraints import watched_tasks


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(watched_tasks(), st.data())
def test_what_is_left_judges_the_rest_as_the_validator_judges_all(
    task: Task, data: st.DataObject
) -> None:
    task = Task(task.domain, task.problem.replace(goal=TRUE))
    operators = [task.ground(action) for action in ground_all(task)]
    walk = Validator(task)
    steps = []
    for _ in range(data.draw(st.integers(0, 5))):
        able = [o.action for o in operators if o.applicable(walk.state.bits)]
        if not able:
            break
        steps.append(data.draw(st.sampled_from(able)))
        assert walk.apply(steps[-1]).ok
    judged = Validator(task).check(steps).valid
    monitor, validator = ConstraintMonitor.of(task), Validator(task)
    for number, step in enumerate((*steps, None)):
        rest, state = with_constraints(task, validator.state, monitor.left)
        ahead = Validator(rest, state=state).check(steps[number:])
        assert judged == (ahead.valid and not monitor.broken)
        if step is not None:
            validator.apply(step)
            monitor.observe(validator.state)
    assert judged == (not monitor.broken and not monitor.unmet(validator.state))


def ran(env: Tampered, request: str, *constraints: str) -> Ran:
    policy = symbolic()
    world = World(env, KnowledgeGraph.create(None, policy.ontology))
    events: list[Event] = []
    executor = Executor(world, policy, events.append, lambda _: None)
    (stage,) = policy.reader.goal(request, world.inventory()).stages
    return Ran(executor.run([stage.replace(constraints=constraints)]), events, world)


def before_the(number: int, action: str, happening: str, **arguments: object) -> Tampered:
    """Return a kitchen in which another action happens before the n-th call of an action."""

    def hook(kitchen: Kitchen, name: str, count: int, _: dict[str, Any]) -> None:
        if (name, count) == (action, number):
            kitchen.step(happening, forceAction=True, **arguments)

    return Tampered(Kitchen("FloorPlan1"), hook)


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 9])
def test_constraints_are_kept_through_recovery(number: int) -> None:
    knife, opened = "(holding knife-1)", "(opened fridge-1)"
    run = ran(
        before_the(number, "PutObject", "DropHandObject"), "put the apple in the fridge",
        f"(sometime {knife})", f"(at-most-once {knife})", f"(sometime-before {opened} {knife})",
    )  # fmt: skip
    assert run.finished.reached
    assert run.finished.replans == (number < 9)
    steps = [str(step.action) for step in run.steps if step.success]
    assert steps.count("(pick_up knife-1)") == 1
    assert steps.index("(pick_up knife-1)") < steps.index("(open_obj fridge-1)")


def test_what_others_break_is_no_success() -> None:
    kept = "(always (not (dirty mug-1)))"
    mug = next(
        o["objectId"] for o in Kitchen("FloorPlan1").last_event.metadata["objects"]
        if o["objectType"] == "Mug"
    )  # fmt: skip
    run = ran(before_the(1, "PutObject", "DirtyObject", objectId=mug), "make coffee", kept)
    assert not run.finished.reached
    assert "at all times mug-1 is clean" in run.finished.reason
    assert dict(run.finished.failures)["constraint broken"] == 1
    assert str(run.steps[-1].action) == "(put_on mug-1 countertop-2)"  # the rest is still executed


def test_constraints_that_the_policy_does_not_know_are_watched() -> None:
    policy = symbolic()
    world = World(Kitchen("FloorPlan1"), KnowledgeGraph.create(None, policy.ontology))
    executor = Executor(world, policy, lambda _: None, lambda _: None)
    stages = policy.reader.goal("cool the apple", world.inventory()).stages
    closed = Trajectory("always", (), (Not(Atom("opened", ("fridge-1",))),))
    finished = executor.run(stages, (closed,))
    assert not finished.reached
    assert "at all times fridge-1 is closed" in finished.reason
