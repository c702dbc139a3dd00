"""Correct repairs of a damaged plan, found by exhaustive search over its subplans.

The oracle shares with hvr's judge only the execution of steps and the literals that they read. It
assumes no step to be necessary, prunes no state, and ignores only literals that neither a step nor
the goal reads. It knows which steps were dropped from the plan, and where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hvr.judging.evidence import execute, holds
from hvr.pddl import GroundAction, Misfit, Task
from hvr.pddl.state import Operator
from hvr.validation.minimise import reads_of

MOST_STATES = 150_000
MOST_ANSWERS = 200


@dataclass(frozen=True)
class Item:
    """A step of a damaged plan.

    Args:
        dropped: Whether the damaged plan lacks the step.
        kind: Kind of error that inserted or dropped the step; empty for an undamaged step.
    """

    action: GroundAction
    dropped: bool = False
    kind: str = ""


@dataclass(frozen=True)
class Answers:
    """The best repairs of a damaged plan.

    Args:
        inserted: Number of dropped steps that are restored.
        length: Number of steps that remain.
        kept: Indexes of the kept items, one set per repair; not complete if there are many.
    """

    inserted: int
    length: int
    kept: tuple[frozenset[int], ...]


def repairs(task: Task, items: Sequence[Item], most: int = MOST_STATES) -> Answers | None:
    """Return the repairs with the fewest restored steps and, among these, the fewest kept steps.

    Raises:
        OverflowError: There are too many states to enumerate.
    """
    compiled = [task.try_ground(item.action) for item in items]
    read = task.goal.mentioned()
    for operator in compiled:
        read |= 0 if isinstance(operator, Misfit) else reads_of(operator)
    # Derived predicates may read any fact, so every bit distinguishes states.
    if task.derived_bits:
        read = -1
    # Dynamic programming over items: each state keeps its cheapest subplans, cost first.
    layer = {(task.initial.bits & read, task.initial.values): ((0, 0), [frozenset[int]()])}
    looked = 0
    for index, (item, operator) in enumerate(zip(items, compiled, strict=True)):
        # Copying the layer covers the choice to leave the item out.
        after = dict(layer)
        if isinstance(operator, Operator):
            for (bits, values), (cost, ways) in layer.items():
                done = execute(task, operator, (bits, values))
                if done is None:
                    continue
                key = done[0] & read, done[1]
                more = cost[0] + item.dropped, cost[1] + 1
                known = after.get(key)
                longer = [way | {index} for way in ways]
                if known is None or more < known[0]:
                    after[key] = (more, longer)
                elif more == known[0]:
                    after[key] = (more, [*known[1], *longer][:MOST_ANSWERS])
        layer = after
        looked += len(layer)
        if looked > most:
            raise OverflowError(f"more than {most} states")
    ends = [value for mark, value in layer.items() if holds(task.goal, mark)]
    if not ends:
        return None
    best = min(cost for cost, _ in ends)
    kept = [way for cost, ways in ends if cost == best for way in ways]
    return Answers(best[0], best[1], tuple(dict.fromkeys(kept)))
