"""Whole plans of a policy, made without carrying anything out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.pddl import Domain, Problem, Task
from hvr.planning.plans import Find, Plan, Planned, Policy
from hvr.policies.llm.record import BlockRecord, PlanningRecord
from hvr.policies.llm.scene import SceneForesight


def plans_of(
    policy: Policy[Any],
    request: str,
    graph: KnowledgeGraph,
    inventory: Inventory,
    domain: Domain,
    compile_task: Callable[[Domain, Problem], Task] = Task,
    find: Find[Any] | None = None,
) -> list[Planned]:
    """Return the plans of the stages, each from the state that the one before it leads to.

    Args:
        policy: The policy.
        request: The request.
        graph: The world.
        inventory: The objects and facts of the world.
        domain: The actions.
        compile_task: Makes tasks, for callers that keep them.
        find: Looks for what the goal needs before it is planned for; None where all is known.

    Raises:
        HvrError: The policy understands nothing or finds no plan.
    """
    understanding = policy.understand(request, graph, inventory)
    if find is not None:
        inventory = find(understanding.stages[0])
    foresight = SceneForesight(graph, domain, inventory, compile_task)
    plans: list[Planned] = []
    for number, stage in enumerate(understanding.stages):
        world = (foresight.graph, foresight.inventory) if number else (graph, inventory)
        plans.append(policy.plan(stage, *world))
        foresight.advance(plans[-1].plan.actions)
    return plans


def record_of(plans: Sequence[Plan], seconds: float, planner_calls: int) -> PlanningRecord:
    """Return the record of plans that nobody corrected.

    Args:
        plans: The plans of the stages.
        seconds: Wall time of planning.
        planner_calls: The number of calls of the classical planner.
    """
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
