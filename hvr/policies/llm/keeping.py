"""Constraints on the way: what a request forbids, and which steps of a block break it.

They are those that hvr itself reads in the request, as "never two doors open". Of its reading a
plan knows nothing else, least of all the goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hvr.errors import ImpossibleGoalError, LanguageError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.reader import Reader
from hvr.pddl import And, GroundAction, State, Task, Trajectory, parse_constraint
from hvr.policies.llm.foresight import run
from hvr.validation.promises import Promises, ground_constraints

Kept = tuple[Trajectory, ...]


def read_constraints(reader: Reader, request: str, inventory: Inventory) -> tuple[str, ...]:
    """Return the PDDL constraints of a request that are the same in all its readings.

    There are none where the request cannot be read.
    """
    try:
        goals = reader.goals(request, inventory)
    except (LanguageError, ImpossibleGoalError):
        return ()
    read = [dict.fromkeys(c for stage in goal.stages for c in stage.constraints) for goal in goals]
    return tuple(text for text in read[0] if all(text in others for others in read))


def grounded(task: Task, texts: Iterable[str]) -> Kept:
    """Return PDDL constraints with the objects of a task."""
    domain, problem = task.domain, task.problem
    parsed = And(tuple(parse_constraint(text, domain, problem.objects) for text in texts))
    return ground_constraints(Task(domain, problem.replace(constraints=parsed)))


def broken(
    state: State, actions: Sequence[GroundAction], kept: Kept
) -> tuple[tuple[int, Trajectory], ...]:
    """Return the steps that break constraints, from 1, each with what it breaks.

    Args:
        state: the state before the first step.
        actions: the steps; those that are not applicable are skipped.
        kept: what is left of the constraints, `state` included.
    """
    if not kept:
        return ()
    promises = Promises(kept)
    promises.observe(state)
    found: list[tuple[int, Trajectory]] = []
    for number, action in enumerate(actions, start=1):
        state = run(state.task, state, (action,))
        found += [(number, one) for one in promises.observe(state)]
    return tuple(found)


def left(state: State, actions: Sequence[GroundAction], kept: Kept) -> Kept:
    """Return what is left of constraints after some steps; see `broken`."""
    promises = Promises(kept)
    if kept:
        promises.observe(state)
        for action in actions:
            state = run(state.task, state, (action,))
            promises.observe(state)
    return promises.prohibitions
