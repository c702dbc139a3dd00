"""Whether a language model's plan did what was asked: hvr reads the request itself.

The policy never sees this reading, and it is no gold label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hvr.errors import ImpossibleGoalError, LanguageError
from hvr.execution.events import Finished, PlanReady
from hvr.execution.world import World
from hvr.language.goals import Goal
from hvr.pddl import Domain, Task, TypedName, parse_formula
from hvr.policies.symbolic import SymbolicPolicy


@dataclass(frozen=True)
class RequestReading:
    """How hvr's grammar reads a request.

    Args:
        goal: what is wanted; None when it cannot be read, or is impossible.
        impossible: why it cannot be met here; empty when it can, or cannot be read.
    """

    goal: Goal | None
    impossible: str = ""


def reading(policy: SymbolicPolicy, world: World, request: str) -> RequestReading:
    """Return how hvr's grammar reads a request that a language model plans."""
    try:
        return RequestReading(policy.understand(request, world.inventory()))
    except LanguageError:
        return RequestReading(None)
    except ImpossibleGoalError as error:
        return RequestReading(None, str(error))


def judged(
    finished: Finished | None,
    read: RequestReading,
    plans: Sequence[PlanReady],
    world: World,
    domain: Domain,
) -> tuple[bool | None, str]:
    """Return whether a language model's plan did what was asked, and what that rests on.

    None with a reason when it was carried out and hvr cannot judge it.
    """
    if finished is None:
        return None, ""
    if not any(p.plan.actions for p in plans):
        return False, "the plan has no steps"
    if not finished.reached:
        return False, finished.reason
    if read.impossible:
        return False, f"by hvr's own reading, this is impossible here: {read.impossible}"
    if read.goal is None:
        return None, (
            "every step did what it should; hvr cannot read this request itself, so whether it "
            "is what was asked for was not judged"
        )
    objects = [TypedName(n, (world.graph.pddl_type(n),)) for n in world.inventory().classes]
    wanted = parse_formula(read.goal.stages[-1].wanted, domain, objects, file="<goal>")
    if Task(domain, world.graph.problem(domain, "judge")).initial.holds(wanted):
        last = " (the last of its stages)" if len(read.goal.stages) > 1 else ""
        return True, f"hvr's own reading of the request holds{last}"
    return False, f"by hvr's own reading, this was asked for and does not hold: {wanted}"
