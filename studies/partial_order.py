"""Derive the partial order of a plan's blocks.

Explanation-based order generalisation (Kambhampati & Kedar, Artificial Intelligence 67, 1994) on
whole blocks. Block A stays before block B if A establishes a precondition of B, if B deletes a
precondition of A, or if B deletes one that a block between them re-establishes. Blocks are not
interleaved: the robot is in one place at a time and has one hand.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from hvr.pddl import GroundAction, Task
from hvr.planning.plans import support
from hvr.planning.search.ground import Literals

Blocks = Sequence[Sequence[GroundAction]]
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Summary:
    """The facts that a block needs at its start, and those that it makes true and false."""

    needs: Literals
    true: int
    false: int


def block_order(task: Task, blocks: Blocks) -> Pairs:
    """Return the pairs of blocks (i, j), numbered from 1, in which i must precede j.

    The blocks must form a valid plan in the given order. Pairs that follow by transitivity are
    omitted.
    """
    summaries = _summaries(task, blocks)
    goal = support(task.goal, _final(task, blocks))
    count = len(summaries)
    before = [[False] * (count + 1) for _ in range(count + 1)]
    consumers = [*summaries, _Summary(goal, 0, 0)]
    for b, consumer in enumerate(consumers):
        for positive in (True, False):
            needed = consumer.needs.true if positive else consumer.needs.false
            given = needed & (task.initial.bits if positive else ~task.initial.bits)
            _constrain(summaries, b, (needed, given), positive, before)
    for a in range(count):
        for b in range(a + 1, count):
            undone = summaries[a].needs.true & summaries[b].false
            undone |= summaries[a].needs.false & summaries[b].true
            before[a][b] |= bool(undone)
    closed = _closure(before, count)
    return tuple(
        (a + 1, b + 1)
        for a in range(count)
        for b in range(a + 1, count)
        if closed[a][b] and not any(closed[a][c] and closed[c][b] for c in range(a + 1, b))
    )


def _constrain(
    summaries: Sequence[_Summary],
    b: int,
    literals: tuple[int, int],
    positive: bool,
    before: list[list[bool]],
) -> None:
    """Order the producers and threats of the literals that block `b` needs.

    The producer is the first block that establishes the literal after its last deletion. Blocks
    that use and restore a literal, such as the empty hand, are therefore not chained.

    Args:
        b: Index of the consumer; the number of blocks stands for the goal.
        literals: Bits that `b` needs, and the subset that holds initially.
        positive: Whether the bits must be true, rather than false.
        before: Ordering matrix, updated in place.
    """
    needed, given = literals
    count = len(summaries)
    while needed:
        literal = needed & -needed
        needed ^= literal

        def makes(summary: _Summary, literal: int = literal) -> bool:
            return bool((summary.true if positive else summary.false) & literal)

        def breaks(summary: _Summary, literal: int = literal) -> bool:
            return bool((summary.false if positive else summary.true) & literal)

        # Only producers after the last deletion supply the literal to block `b`.
        undone = max((p for p in range(b) if breaks(summaries[p])), default=-1)
        producer = None
        if undone >= 0 or not given & literal:
            producer = next((p for p in range(undone + 1, b) if makes(summaries[p])), None)
        if producer is not None and b < count:
            before[producer][b] = True
        for threat in range(count):
            if threat == b or not breaks(summaries[threat]):
                continue
            # A threat goes either before the producer or after the consumer, as in the plan.
            if threat < b and producer is not None:
                before[threat][producer] = True
            elif threat > b:
                before[b][threat] = True


def _summaries(task: Task, blocks: Blocks) -> list[_Summary]:
    state = task.initial.bits
    summaries = []
    for block in blocks:
        needs_true = needs_false = true = false = 0
        for action in block:
            operator = task.ground(action)
            used = support(operator.precondition, state)
            needs_true |= used.true & ~true
            needs_false |= used.false & ~false
            add, delete = operator.add, operator.delete
            for condition, more_add, more_delete in operator.conditional:
                if condition.holds(state):
                    used = support(condition, state)
                    needs_true |= used.true & ~true
                    needs_false |= used.false & ~false
                    add, delete = add | more_add, delete | more_delete
            true = true & ~delete | add
            false = false & ~add | delete & ~add
            state = operator.apply(state)
        summaries.append(_Summary(Literals(needs_true, needs_false), true, false))
    return summaries


def _final(task: Task, blocks: Blocks) -> int:
    state = task.initial.bits
    for block in blocks:
        for action in block:
            state = task.ground(action).apply(state)
    return state


def _closure(before: list[list[bool]], count: int) -> list[list[bool]]:
    closed = [row[:count] for row in before[:count]]
    for middle in range(count):
        for a in range(count):
            if closed[a][middle]:
                for b in range(count):
                    closed[a][b] |= closed[middle][b]
    return closed


def sample_linearization(count: int, order: Pairs, rng: random.Random) -> tuple[int, ...]:
    """Return a random order of the blocks (numbered from 1) that respects the pairs."""
    waiting = set(range(1, count + 1))
    result: list[int] = []
    while waiting:
        free = sorted(b for b in waiting if not any(a in waiting for a, c in order if c == b))
        chosen = rng.choice(free)
        waiting.remove(chosen)
        result.append(chosen)
    return tuple(result)
