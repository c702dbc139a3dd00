"""Action elimination: leave out the steps without which a plan comes to the same end.

Action elimination (Nakhost & Müller, ICAPS 2010) needs to know what the plan is for. Since no
gold goal may be known here, it is how everything that the plan touches is at its end.
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.pddl import And, GroundAction, Not, State, Task
from hvr.planning.llm.foresight import run
from hvr.validation import minimise


def outcome(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> And:
    """How everything that a plan touches is at its end, as a condition.

    What is switched on and off again is in it as off: a plan may not leave it on.

    Args:
        task: the task.
        state: the beginning.
        actions: the plan; steps that are not applicable are skipped.
        fleeting: predicates that do not count, such as nearness.
    """
    touched = 0
    for action in actions:
        following = run(task, state, (action,))
        touched |= state.bits ^ following.bits
        state = following
    true = [a for a in task.atoms_in(touched & state.bits) if a.predicate not in fleeting]
    false = [a for a in task.atoms_in(touched & ~state.bits) if a.predicate not in fleeting]
    return And((*sorted(true, key=str), *(Not(a) for a in sorted(false, key=str))))


def lean(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> tuple[int, ...]:
    """Numbers of the steps to keep, from 0, so that the end is the same but for what is fleeting.

    Args:
        task: the task.
        state: the beginning.
        actions: the plan. It is left as it is when some step is not applicable.
        fleeting: predicates that do not count, such as nearness.
    """
    goal = outcome(task, state, actions, fleeting)
    problem = task.problem.replace(init=state.atoms(static=True), goal=goal)
    kept = minimise.eliminate(Task(task.domain, problem).initial, actions)
    return tuple(range(len(actions))) if kept is None else kept
