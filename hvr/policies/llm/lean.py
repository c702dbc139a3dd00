"""Action elimination: leave out the steps without which a plan comes to the same end.

Action elimination (Nakhost & Müller, ICAPS 2010) needs to know what the plan is for. Since no
gold goal may be known here, it is how everything that the plan touches is at its end.
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.pddl import And, GroundAction, Not, State, Task
from hvr.policies.llm.foresight import run
from hvr.validation import minimise


def outcome(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> And:
    """Return how everything that a plan touches is at its end, as a condition.

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
    return _literals(task, state, touched, fleeting)


def lean(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> tuple[int, ...]:
    """Return numbers of the steps to keep, from 0, so that the end is the same but for what is
    fleeting.

    Args:
        task: the task.
        state: the beginning.
        actions: the plan. It is left as it is when some step is not applicable.
        fleeting: predicates that do not count, such as nearness.
    """
    end = run(task, state, actions)
    everything = tuple(range(len(actions)))
    goal = outcome(task, state, actions, fleeting)
    while True:
        problem = task.problem.replace(init=state.atoms(static=True), goal=goal)
        kept = minimise.eliminate(Task(task.domain, problem).initial, actions)
        if kept is None or kept == everything:
            return everything
        # Leaving a step out may touch something that the whole plan spares.
        other = run(task, state, [actions[n] for n in kept])
        more = _literals(task, end, end.bits ^ other.bits, fleeting)
        if not more.operands:
            return kept
        goal = And((*goal.operands, *more.operands))


def _literals(task: Task, state: State, fluents: int, fleeting: frozenset[str]) -> And:
    """Return how some fluents, given as bits, are in a state; without those that are fleeting."""
    true = [a for a in task.atoms_in(fluents & state.bits) if a.predicate not in fleeting]
    false = [a for a in task.atoms_in(fluents & ~state.bits) if a.predicate not in fleeting]
    return And((*sorted(true, key=str), *(Not(a) for a in sorted(false, key=str))))
