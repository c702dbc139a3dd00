"""Improving plans and cutting them into blocks: laws for every plan."""

import pytest
from hypothesis import HealthCheck, given, settings

from hvr.knowledge.wording import load_action_annotations
from hvr.pddl import GroundAction, Task, parse_formula
from hvr.planning.plans import macro_blocks
from hvr.validation.minimise import eliminate, postpone, reaches_goal
from tests.planning.search.planning_worlds import plans

LAW = settings(max_examples=25, suppress_health_check=list(HealthCheck))
Case = tuple[Task, tuple[GroundAction, ...]]


@pytest.mark.slow
@LAW
@given(plans())
def test_eliminate_keeps_a_plan_valid_and_never_lengthens_it(case: Case) -> None:
    task, plan = case
    assert reaches_goal(task, plan)
    shorter = eliminate(task, plan)
    assert reaches_goal(task, shorter)
    assert len(shorter) <= len(plan)


@pytest.mark.slow
@LAW
@given(plans())
def test_switch_late_keeps_a_plan_valid_and_its_steps(case: Case) -> None:
    task, plan = case
    later = postpone(task, plan, load_action_annotations().late)
    assert reaches_goal(task, later)
    assert sorted(map(str, later)) == sorted(map(str, plan))


@pytest.mark.slow
@LAW
@given(plans())
def test_blocks_make_up_the_plan_and_say_what_they_need_and_do(case: Case) -> None:
    task, plan = case
    blocks = macro_blocks(task, plan)
    assert tuple(action for block in blocks for action in block.actions) == plan
    state = task.initial.bits
    for block in blocks:
        assert block.actions
        assert block.macro.name
        assert all(holds(task, literal, state) for literal in block.macro.precondition)
        for action in block.actions:
            operator = task.ground(action)
            assert operator.applicable(state)
            state = operator.apply(state)
        assert all(holds(task, literal, state) for literal in block.macro.postcondition)


def holds(task: Task, literal: str, state: int) -> bool:
    formula = parse_formula(literal, task.domain, task.problem.objects, file="<literal>")
    return task.condition(formula).holds(state)
