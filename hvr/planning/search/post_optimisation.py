"""Small improvements of a valid plan that no search for the fewest steps makes.

* `eliminate`: leave out steps whose removal keeps the plan valid (action elimination,
  Nakhost & Müller 2010), greedily.
* `postpone`: do some actions late: turn appliances on only when what they work on is in place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hvr.pddl import GroundAction, Task
from hvr.validation import Validator, minimise
from hvr.validation.sequences import action_of, is_simple

Steps = tuple[GroundAction, ...]


def reaches_goal(task: Task, actions: Sequence[GroundAction]) -> bool:
    """Say whether a plan is applicable, keeps the constraints and reaches the goal."""
    if not is_simple(task):
        return Validator(task).check(actions).valid
    state = task.initial.bits
    for action in actions:
        operator = task.ground(action)
        if not operator.applicable(state):
            return False
        state = operator.apply(state)
    return task.goal.holds(state)


def eliminate(task: Task, actions: Sequence[GroundAction]) -> Steps:
    """Leave out what a plan does not need to be valid, see `hvr.validation.minimise`."""
    if not is_simple(task):
        validator = Validator(task)
        if not validator.check(actions).valid:
            return tuple(actions)
        return tuple(map(action_of, minimise.minimise(validator, actions)[0]))
    kept = minimise.eliminate_actions(task.initial, actions)
    return tuple(actions) if kept is None else tuple([actions[i] for i in kept])


def postpone(task: Task, actions: Sequence[GroundAction], late: Collection[str]) -> Steps:
    """Move each action of some names as far back as the plan stays valid.

    Args:
        task: the task.
        actions: a plan.
        late: names of the actions; the order of these among themselves is kept.
    """
    # From the end, so that one moved already does not stand in the way of those before it.
    steps = list(actions)
    for position in range(len(steps) - 1, -1, -1):
        if steps[position].name not in late:
            continue
        place = position
        while place + 1 < len(steps) and steps[place + 1].name not in late:
            swapped = [*steps]
            swapped[place], swapped[place + 1] = swapped[place + 1], swapped[place]
            if not reaches_goal(task, swapped):
                break
            steps = swapped
            place += 1
    return tuple(steps)
