"""Macro actions of any plan: it is cut where something that has to come is reached for good.

A fact is a landmark of a plan if the plan's own actions, even without their deletes, cannot reach
the goal without it (Hoffmann, Porteous and Sebastia, 2004, on the plan's actions alone, which makes
it quick for any problem). A block ends with the step after which a landmark stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from hvr.pddl import GroundAction, Task
from hvr.pddl.conditions import Operator
from hvr.planning.macro_actions import support
from hvr.planning.plans import AABlock, MacroAction
from hvr.planning.search.operators import Literals, bits

_NAMED = 3
"""A block is named by so many facts at most."""


def blocks_of(task: Task, actions: Sequence[GroundAction]) -> tuple[AABlock, ...]:
    """Cut a valid plan into blocks.

    A block's precondition says what its actions read and do not bring about, its postcondition
    what it brings about and a later block or the goal reads: so nothing is said that does not
    matter. Of what is false, only what the plan makes true at some time is told.

    Args:
        task: a classical task.
        actions: a plan that is valid in its initial state.
    """
    operators = [task.ground(action) for action in actions]
    states = [task.initial.bits]
    for operator in operators:
        states.append(operator.apply(states[-1]))
    reads = [support(o.precondition, state) for o, state in zip(operators, states, strict=False)]
    reads = [_with_triggers(r, o, s) for r, o, s in zip(reads, operators, states, strict=False)]
    wanted = support(task.goal, states[-1])
    marks = _landmarks(operators, states[0], wanted)
    lasting = _lasting(states)
    ends = _ends(lasting, marks)
    ever = _union(states)
    blocks = []
    start = 0
    for end in ends:
        later = _needed(reads[end:], states[end:], wanted)
        own = _needed(reads[start:end], states[start : end + 1], Literals())
        before, after = states[start], states[end]
        gained = Literals(after & ~before & later.true, before & ~after & later.false)
        reached = lasting[end] & ~lasting[start] & marks
        name = ", ".join(_words(task, bit) for bit in list(bits(reached))[:_NAMED])
        macro = MacroAction(
            name or str(actions[end - 1]).strip("()"),
            _texts(task, Literals(own.true, own.false & ever)),
            _texts(task, gained),
        )
        blocks.append(AABlock(macro, tuple(actions[start:end])))
        start = end
    return tuple(blocks)


def _with_triggers(read: Literals, operator: Operator, state: int) -> Literals:
    """Add what the conditional effects that take place read."""
    for condition, add, delete in operator.conditional:
        if condition.holds(state) and (add & ~state or delete & state):
            used = support(condition, state)
            read = Literals(read.true | used.true, read.false | used.false)
    return read


def _needed(reads: Sequence[Literals], states: Sequence[int], wanted: Literals) -> Literals:
    """Return what must hold at the start of some steps for them, and for what is wanted at their
    end.

    Args:
        reads: what each step reads.
        states: the state before each step, and the one after the last.
        wanted: what is read at the end.
    """
    true, false = wanted.true, wanted.false
    for number in range(len(reads) - 1, -1, -1):
        before, after = states[number], states[number + 1]
        true = true & ~(after & ~before) | reads[number].true
        false = false & ~(before & ~after) | reads[number].false
    return Literals(true, false)


def _lasting(states: Sequence[int]) -> list[int]:
    """Return, for each state, what is true from there to the end, as bits."""
    stays = states[-1]
    lasting = []
    for state in reversed(states):
        stays &= state
        lasting.append(stays)
    return lasting[::-1]


def _ends(lasting: Sequence[int], marks: int) -> list[int]:
    """Return after how many steps each block ends; the last one ends with the plan."""
    steps = len(lasting) - 1
    ends = [n for n in range(1, steps) if lasting[n] & ~lasting[n - 1] & marks]
    return [*ends, steps] if steps else []


def _landmarks(operators: Sequence[Operator], initial: int, wanted: Literals) -> int:
    """Return the facts without which the operators cannot reach what is wanted, as bits."""
    added = 0
    for operator in operators:
        added |= operator.add
        for _, add, _ in operator.conditional:
            added |= add
    marks = wanted.true & ~initial
    for bit in bits(added & ~initial & ~marks):
        if not _reaches(operators, initial, wanted.true, ~(1 << bit)):
            marks |= 1 << bit
    return marks


def _reaches(operators: Sequence[Operator], initial: int, goal: int, allowed: int) -> bool:
    """Say whether the operators reach a goal without deletes and without some facts."""
    true = initial
    waiting = list(operators)
    while goal & ~true:
        before = true
        blocked = []
        for operator in waiting:
            # Of what is read only the facts that must be true count, which errs towards reaching.
            if operator.precondition.positive & ~true:
                blocked.append(operator)
                continue
            true |= operator.add & allowed
            triggered = [not condition.positive & ~true for condition, _, _ in operator.conditional]
            for (_, add, _), takes_place in zip(operator.conditional, triggered, strict=True):
                if takes_place:
                    true |= add & allowed
            if not all(triggered):
                blocked.append(operator)
        if true == before:
            return False
        waiting = blocked
    return True


def _union(states: Sequence[int]) -> int:
    result = 0
    for state in states:
        result |= state
    return result


def _texts(task: Task, literals: Literals) -> tuple[str, ...]:
    true = sorted(str(task.fluent(bit)) for bit in bits(literals.true))
    false = sorted(f"(not {task.fluent(bit)})" for bit in bits(literals.false))
    return (*true, *false)


def _words(task: Task, bit: int) -> str:
    atom = task.fluent(bit)
    return " ".join((atom.predicate, *atom.args))
