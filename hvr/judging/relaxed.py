"""What each step of a plan can do when the steps beside it may be left out: an over-approximation.

A state is abstracted to two sets of bits: those that may be true and those that may be false. A
step that may be left out adds to both, a step that every solution keeps changes them for certain.
What the goal needs and this abstraction cannot reach, no part of the plan reaches.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

from hvr.pddl import Task
from hvr.pddl.conditions import Conjunction, Operator

Maybe: TypeAlias = tuple[int, int]
"""Bits that may be true, and bits that may be false."""


def may_hold(condition: Conjunction, true: int, false: int) -> bool:
    """Say whether a condition can be true; comparisons of numbers always can."""
    if condition.positive & ~true or condition.negative & ~false:
        return False
    for clause in condition.clauses:
        if clause.positive & true or clause.negative & false:
            continue
        if not any(may_hold(part, true, false) for part in clause.parts):
            return False
    return True


class Steps:
    """The steps of a plan as operators, with what each reads, may make true and may make false.

    Attributes:
        operators: the steps.
        reads: the bits that each depends on.
        makes: the bits that each may make true.
        spoils: the bits that each may make false.
    """

    def __init__(self, task: Task, operators: Sequence[Operator]) -> None:
        self.task = task
        self.operators = operators
        self.derived = task.derived_bits
        self.reads = [reads_of(operator) for operator in operators]
        self.makes = [makes_of(operator) for operator in operators]
        self.spoils = [spoils_of(operator) for operator in operators]

    def forced(self, bits: int) -> tuple[frozenset[int], frozenset[int]] | None:
        """Return the steps that every solution keeps, and those that none keeps.

        Both by probing: the abstraction without the step, or with it for certain, cannot reach
        the goal. More may have to be kept or left out than are found.

        Args:
            bits: the state before the first step.

        Returns:
            indexes of both kinds; None where no part of the plan reaches the goal.
        """
        kept: set[int] = set()
        gone: set[int] = set()
        everything = range(len(self.operators))
        more = True
        while more:
            more = False
            trace = self._trace(bits, kept, gone)
            if trace is None:
                return None
            for step in everything:
                if step in kept or step in gone:
                    continue
                if not self._reaches(trace, step, False, kept, gone):
                    kept.add(step)
                    more = True
                elif not self._reaches(trace, step, True, kept, gone):
                    gone.add(step)
                    more = True
        return frozenset(kept), frozenset(gone)

    def reachable(
        self, bits: int, begin: int, kept: Collection[int], gone: Collection[int]
    ) -> bool:
        """Say whether the goal may be reached from a state before a step."""
        state: Maybe | None = (bits | self.derived, ~bits)
        for step in range(begin, len(self.operators)):
            assert state is not None
            if step in gone:
                continue
            state = self._after(step, state, step in kept)
            if state is None:
                return False
        assert state is not None
        return self._goal(state)

    def _trace(self, bits: int, kept: Collection[int], gone: Collection[int]) -> list[Maybe] | None:
        state: Maybe = (bits | self.derived, ~bits)
        trace = [state]
        for step in range(len(self.operators)):
            if step not in gone:
                after = self._after(step, state, step in kept)
                if after is None:
                    return None
                state = after
            trace.append(state)
        return trace if self._goal(state) else None

    def _reaches(
        self,
        trace: list[Maybe],
        probed: int,
        keep: bool,
        kept: Collection[int],
        gone: Collection[int],
    ) -> bool:
        state: Maybe | None = trace[probed]
        for step in range(probed, len(self.operators)):
            assert state is not None
            if step == probed:
                state = self._after(step, state, True) if keep else state
            elif step not in gone:
                state = self._after(step, state, step in kept)
            if state is None:
                return False
            # What follows is as it was, and the goal was reached.
            if state == trace[step + 1]:
                return True
        assert state is not None
        return self._goal(state)

    def _after(self, step: int, state: Maybe, certain: bool) -> Maybe | None:
        true, false = state
        operator = self.operators[step]
        if not may_hold(operator.precondition, true, false | self.derived):
            return None if certain else state
        add, delete = operator.add, operator.delete & ~operator.add
        if not certain:
            for condition, more_add, more_delete in operator.conditional:
                if may_hold(condition, true, false | self.derived):
                    add |= more_add
                    delete |= more_delete
            return true | add, false | delete
        stored = ~self.derived
        # Now it is known what the step found.
        false &= ~(operator.positive & stored)
        true &= ~(operator.negative & stored)
        maybe_add = maybe_delete = 0
        for condition, more_add, more_delete in operator.conditional:
            if may_hold(condition, true, false | self.derived):
                maybe_add |= more_add
                maybe_delete |= more_delete
        true = true & ~delete | add | maybe_add
        false = false & ~add | delete | (maybe_delete & ~add)
        return true, false

    def _goal(self, state: Maybe) -> bool:
        return may_hold(self.task.goal, state[0], state[1] | self.derived)


def reads_of(operator: Operator) -> int:
    """Return the bits that a step depends on."""
    mask = operator.precondition.mentioned()
    for condition, _, _ in operator.conditional:
        mask |= condition.mentioned()
    for condition, _ in operator.numeric:
        mask |= condition.mentioned()
    return mask


def makes_of(operator: Operator) -> int:
    """Return the bits that a step may make true."""
    mask = operator.add
    for _, add, _ in operator.conditional:
        mask |= add
    return mask


def spoils_of(operator: Operator) -> int:
    """Return the bits that a step may make false."""
    mask = operator.delete & ~operator.add
    for _, _, delete in operator.conditional:
        mask |= delete & ~operator.add
    return mask
