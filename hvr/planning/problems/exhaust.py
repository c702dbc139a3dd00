"""Shortest plans and proofs that there is none, by looking at every state in the order of depth."""

from __future__ import annotations

from typing import TypeAlias

from hvr.pddl import Task
from hvr.pddl.numeric import Values
from hvr.planning.problems.values import Proven
from hvr.validation.relaxation import Clock, Relaxation
from hvr.validation.search import execute, read_functions

_State: TypeAlias = tuple[int, Values]


def shortest(task: Task, most: int) -> Proven | None:
    """Return a shortest plan or the proof that there is none.

    Args:
        task: A task without time and without constraints.
        most: The most states to look at.

    Returns:
        None if there are more states than that.
    """
    start: _State = (task.initial.bits, task.initial.values)
    if task.goal.holds(*start):
        return Proven((), "the goal holds at the start")
    relaxation = Relaxation(task.initial, task.goal, read_functions(task), Clock(60.0), beyond=None)
    if not relaxation.complete:
        return None
    if not relaxation.reachable:
        return Proven(None, "the goal is not reachable even if no fact ever ceases to hold")
    operators = relaxation.operators
    # Most operators fail on their literals: looked at here, that costs no call.
    literals = [(one.positive | one.negative, one.positive) for one in operators]
    before: dict[_State, tuple[_State, int]] = {start: (start, -1)}
    layer, depth = [start], 0
    while layer:
        after: list[_State] = []
        for state in layer:
            for number, (mask, positive) in enumerate(literals):
                if state[0] & mask != positive:
                    continue
                then = execute(task, operators[number], *state)
                if then is None or then in before:
                    continue
                before[then] = state, number
                if task.goal.holds(*then):
                    steps = _path(before, then)
                    plan = tuple([str(operators[step].action) for step in steps])
                    return Proven(
                        plan,
                        f"breadth-first search: no state within {depth} steps of the start "
                        f"reaches the goal",
                        len(before),
                    )
                after.append(then)
            if len(before) > most:
                return None
        layer, depth = after, depth + 1
    proof = f"breadth-first search: none of the {len(before)} reachable states meets the goal"
    return Proven(None, proof, len(before))


def _path(before: dict[_State, tuple[_State, int]], state: _State) -> list[int]:
    steps: list[int] = []
    while True:
        state, number = before[state]
        if number < 0:
            return steps[::-1]
        steps.append(number)
