"""Action elimination: leave out the steps without which a plan comes to the same end.

Action elimination (Nakhost & Müller, ICAPS 2010) needs a goal. Since no gold goal may be known
here, the goal is the final state of everything that the plan touches.
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.pddl import And, Atom, GroundAction, Not, State, Task
from hvr.planning.plans import AABlock
from hvr.policies.llm.foresight import applicable, run
from hvr.validation import minimise


def outcome(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> And:
    """Return the final state of everything that a plan touches, as a condition.

    A lamp that is switched on and off again appears as off: a shorter plan may not leave it on.
    What the last step was done for counts, if it changes nothing else.

    Args:
        task: the task.
        state: the state before the plan.
        actions: the plan; steps that are not applicable are skipped.
        fleeting: predicates that do not count, such as nearness.
    """
    # Step by step: the two ends alone would not show what was changed and changed back.
    touched, first = 0, state
    for action in actions:
        following = run(task, state, (action,))
        touched |= state.bits ^ following.bits
        state = following
    lasting = _literals(task, state, touched, fleeting)
    return And((*lasting.operands, *_arrival(task, first, actions, fleeting)))


def lean(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> tuple[int, ...]:
    """Return the numbers of the steps to keep, from 0, for the same end but for fleeting facts.

    Args:
        task: the task.
        state: the state before the plan.
        actions: the plan. All steps are kept when one of them is not applicable.
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
        # A shorter plan may change what the whole plan leaves alone; then that joins the goal.
        # The new literals hold at the plan's end and not yet in the goal, so the goal grows each
        # time, the whole plan always reaches it, and the loop ends.
        other = run(task, state, [actions[n] for n in kept])
        more = _literals(task, end, end.bits ^ other.bits, fleeting)
        if not more.operands:
            return kept
        goal = And((*goal.operands, *more.operands))


def eliminated(
    task: Task, blocks: Sequence[AABlock], fleeting: frozenset[str]
) -> tuple[tuple[AABlock, ...], tuple[GroundAction, ...]]:
    """Return the blocks of a plan without unnecessary steps, and these steps.

    Args:
        task: the task, whose initial state the plan begins in.
        blocks: of the plan. They stay as they are when one of the steps is not applicable.
        fleeting: predicates that do not count, such as nearness.
    """
    actions = tuple(a for b in blocks for a in b.actions)
    if applicable(task, task.initial, actions) < len(actions):
        return tuple(blocks), ()
    # A plan that changes nothing for good is left as it is: its purpose is not known.
    kept = set(lean(task, task.initial, actions, fleeting)) or set(range(len(actions)))
    shorter: list[AABlock] = []
    position = 0
    left_out: list[GroundAction] = []
    for block in blocks:
        numbers = range(position, position + len(block.actions))
        position += len(block.actions)
        rest = tuple(actions[n] for n in numbers if n in kept)
        left_out += [actions[n] for n in numbers if n not in kept]
        shorter.append(block.replace(actions=rest))
    return tuple(b for b in shorter if b.actions), tuple(left_out)


def _arrival(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> tuple[Atom, ...]:
    """Return what a last step that changes nothing for good was done for.

    Going to a lamp serves what is done there; if nothing is, it was meant for itself.
    """
    if not actions:
        return ()
    before = run(task, state, actions[:-1])
    after = run(task, before, actions[-1:])
    changed = list(task.atoms_in(before.bits ^ after.bits))
    if not all(a.predicate in fleeting for a in changed):
        return ()
    gained = task.atoms_in(after.bits & ~before.bits)
    return tuple(sorted((a for a in gained if set(a.args) <= set(actions[-1].args)), key=str))


def _literals(task: Task, state: State, fluents: int, fleeting: frozenset[str]) -> And:
    """Return the values of some fluents in a state, given as bits, without the fleeting ones."""
    true = [a for a in task.atoms_in(fluents & state.bits) if a.predicate not in fleeting]
    false = [a for a in task.atoms_in(fluents & ~state.bits) if a.predicate not in fleeting]
    return And((*sorted(true, key=str), *(Not(a) for a in sorted(false, key=str))))
