"""The loop of judge and planner on a model's plan, before it is executed.

No gold goal may be known here. What the model wants is taken to be what its steps would bring about
if each of them could be executed: the state that all it touches is in then, but for fleeting facts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hvr.judging.loop import Round, run_loop
from hvr.judging.verdict import CritiqueKind
from hvr.pddl import And, GroundAction, Misfit, Not, State, Task
from hvr.plans import AABlock
from hvr.policies.llm.events import PlanJudged
from hvr.validation import Validator


def judged_blocks(
    task: Task,
    blocks: tuple[AABlock, ...],
    fleeting: frozenset[str],
    listen: Callable[[PlanJudged], None],
) -> tuple[tuple[AABlock, ...], tuple[Round, ...]]:
    """Return the blocks of a plan without superfluous steps and with missing ones.

    Args:
        task: the task, in whose initial state the plan begins.
        blocks: the plan.
        fleeting: predicates that do not count, such as nearness.
        listen: is told what was changed.

    Returns:
        the blocks, and the rounds; none where there is nothing to say, or the plan changes
        nothing for good.
    """
    state = task.initial
    actions = tuple(action for block in blocks for action in block.actions)
    goal = intended(task, state, actions, fleeting)
    if not goal.operands:
        return blocks, ()
    problem = task.problem.replace(init=state.atoms(static=True), goal=goal)
    loop = run_loop(Validator(Task(task.domain, problem)), actions, most=1)
    verdict = loop.verdict
    if not loop.rounds or verdict is None:
        return blocks, ()
    put_in: dict[int, list[GroundAction]] = {}
    for critique in verdict.critiques:
        if critique.kind is CritiqueKind.MISSING:
            put_in.setdefault(critique.index, []).extend(critique.actions)
    changed: list[AABlock] = []
    number = 0
    for block in blocks:
        steps: list[GroundAction] = []
        for action in block.actions:
            number += 1
            steps += put_in.get(number, [])
            if number not in verdict.removed:
                steps.append(action)
        changed.append(replace(block, actions=tuple(steps)))
    last = put_in.get(len(actions) + 1)
    if last:
        changed[-1] = replace(changed[-1], actions=(*changed[-1].actions, *last))
    removed = tuple([actions[number - 1] for number in sorted(verdict.removed)])
    listen(PlanJudged(removed, tuple([a for steps in put_in.values() for a in steps])))
    return tuple(block for block in changed if block.actions), loop.rounds


def intended(
    task: Task, state: State, actions: Sequence[GroundAction], fleeting: frozenset[str]
) -> And:
    """Return what the steps of a plan would bring about if each could be executed."""
    bits, touched = state.bits, 0
    for action in actions:
        operator = task.try_ground(action)
        if isinstance(operator, Misfit):
            continue
        after = operator.apply(bits)
        touched |= bits ^ after
        bits = after
    true = [a for a in task.atoms_in(touched & bits) if a.predicate not in fleeting]
    false = [a for a in task.atoms_in(touched & ~bits) if a.predicate not in fleeting]
    return And((*sorted(true, key=str), *(Not(a) for a in sorted(false, key=str))))
