"""Scripts for any PDDL problem: a plan of hvr's planner, cut into macro actions at landmarks."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from hvr.errors import UsageError
from hvr.execution.facts.planning import StatePlanner
from hvr.pddl import Task, parse_domain, parse_problem
from hvr.planning.plans import AABlock
from hvr.runs.simulated.adapt import providers_of
from hvr.runs.simulated.script import Script

_SECONDS = 30.0


@lru_cache(maxsize=128)
def script_of_problem(domain: str, problem: str) -> Script:
    """Return the script of a problem.

    Args:
        domain, problem: PDDL texts.

    Raises:
        PddlError: they cannot be read.
        ImpossibleGoalError: it is proven that there is no plan.
        PlannerError: none was found in 30 s.
        UsageError: the goal holds already: there is nothing to be wrong about.
    """
    parsed = parse_domain(domain)
    task = Task(parsed, parse_problem(problem, parsed))
    planned = StatePlanner(seconds=_SECONDS).plan(task)
    if not planned.plan.actions:
        raise UsageError("a scripted model has nothing to say where the goal holds already")
    seen: Counter[str] = Counter()
    blocks: list[AABlock] = []
    for block in planned.plan.blocks:
        name = block.macro.name
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name}, time {seen[name]}"
        blocks.append(block.replace(macro=block.macro.replace(name=name)))
    kinds = {name: types[0] for name, types in task.objects.items()}
    return Script(
        tuple(blocks),
        task.problem.name,
        providers_of(task, planned.plan.actions),
        task.problem.goal,
        kinds=kinds,
    )
