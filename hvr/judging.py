"""Whether a language model's plan did what was asked: hvr reads the request itself.

The policy never sees this reading, and it is no gold label.
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.errors import ImpossibleGoalError, LanguageError
from hvr.execution.events import Finished, PlanReady
from hvr.execution.world import World
from hvr.pddl import Domain, Task, TypedName, parse_formula
from hvr.planning.language.goals import Goal
from hvr.planning.symbolic import SymbolicPolicy


def reading(policy: SymbolicPolicy, world: World, request: str) -> Goal | None:
    """How hvr's grammar reads a request that a language model plans; None if it cannot."""
    try:
        return policy.understand(request, world.inventory())
    except (LanguageError, ImpossibleGoalError):
        return None


def judged(
    finished: Finished | None,
    goal: Goal | None,
    plans: Sequence[PlanReady],
    world: World,
    domain: Domain,
) -> tuple[bool | None, str]:
    """Whether a language model's plan did what was asked, and what that rests on.

    The policy never sees this reading of the request, and it is no gold label.
    """
    if finished is None:
        return None, ""
    if not any(p.plan.actions for p in plans):
        return False, "the plan has no steps"
    if not finished.reached:
        return False, finished.reason
    if goal is None:
        return True, (
            "every step did what it should; hvr cannot read this request itself, so whether it "
            "is what was asked for was not judged"
        )
    objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in world.inventory().classes]
    wanted = parse_formula(goal.stages[-1].wanted, domain, objects, file="<goal>")
    if Task(domain, world.graph.problem(domain, "judge")).initial.holds(wanted):
        return True, "hvr's own reading of the request holds"
    return False, f"by hvr's own reading, this was asked for and does not hold: {wanted}"
