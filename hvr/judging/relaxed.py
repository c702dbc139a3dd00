"""What each step of a plan can do when the steps beside it may be left out: an over-approximation.

A state is abstracted to two sets of bits: those that may be true and those that may be false. A
step that may be left out adds to both, a step that every solution keeps changes them for certain.
What the goal needs and this abstraction cannot reach, no part of the plan reaches. Of steps that
are dear only a few may be kept; what can be so is then known for each number of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TypeAlias

from hvr.pddl import Task
from hvr.pddl.conditions import Conjunction, Operator

Maybe: TypeAlias = tuple[int, int]
"""Bits that may be true, and bits that may be false."""

Levels: TypeAlias = tuple[Maybe | None, ...]
"""What may be so with at most so many dear steps as the place in the tuple says; None at places
with fewer than are certain."""


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

    Args:
        task: the task.
        operators: the steps.
        dear: indexes of those of which only a few may be kept.
        budget: how many.

    Attributes:
        operators: the steps.
        reads: the bits that each depends on.
        makes: the bits that each may make true, of those that a step or the goal reads.
        spoils: the bits that each may make false, of the same.
        surely: of each, those that it makes true and false in any case.
        perhaps: of each, its further changes and their conditions.
    """

    def __init__(
        self,
        task: Task,
        operators: Sequence[Operator],
        dear: Collection[int] = frozenset(),
        budget: int = 0,
    ) -> None:
        self.task = task
        self.operators = operators
        self.dear = frozenset(dear)
        self.budget = budget
        self.derived = task.derived_bits
        self.reads = [reads_of(operator) for operator in operators]
        read = task.goal.mentioned()
        for mask in self.reads:
            read |= mask
        if read & self.derived:
            # What a derived atom follows from is not looked into.
            read = -1
        self.makes = [makes_of(operator) & read for operator in operators]
        self.spoils = [spoils_of(operator) & read for operator in operators]
        self.surely = [(o.add & read, o.delete & ~o.add & read) for o in operators]
        self.perhaps = [
            [
                (condition, add & read, delete & ~operator.add & read)
                for condition, add, delete in operator.conditional
                if (add | delete & ~operator.add) & read
            ]
            for operator in operators
        ]

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
        self,
        bits: int,
        begin: int,
        kept: Collection[int],
        gone: Collection[int],
        spent: int = 0,
    ) -> bool:
        """Say whether the goal may be reached from a state before a step.

        Args:
            bits: the state.
            begin: the step.
            kept: the steps that every solution keeps.
            gone: the steps that none keeps.
            spent: how many of the dear steps were kept so far.
        """
        left = self.budget - spent
        levels: Levels | None = ((bits | self.derived, ~bits),) * (left + 1)
        for step in range(begin, len(self.operators)):
            if step in gone or (left == 0 and step in self.dear):
                continue
            assert levels is not None
            levels = self._after(step, levels, step in kept)
            if levels is None:
                return False
        return self._goal(levels)

    def _trace(
        self, bits: int, kept: Collection[int], gone: Collection[int]
    ) -> list[Levels] | None:
        levels: Levels = ((bits | self.derived, ~bits),) * (self.budget + 1)
        trace = [levels]
        for step in range(len(self.operators)):
            if step not in gone:
                after = self._after(step, levels, step in kept)
                if after is None:
                    return None
                levels = after
            trace.append(levels)
        return trace if self._goal(levels) else None

    def _reaches(
        self,
        trace: list[Levels],
        probed: int,
        keep: bool,
        kept: Collection[int],
        gone: Collection[int],
    ) -> bool:
        levels: Levels | None = trace[probed]
        for step in range(probed, len(self.operators)):
            assert levels is not None
            if step == probed:
                levels = self._after(step, levels, True) if keep else levels
            elif step not in gone:
                levels = self._after(step, levels, step in kept)
            if levels is None:
                return False
            # What follows is as it was, and the goal was reached.
            if levels == trace[step + 1]:
                return True
        return self._goal(levels)

    def _after(self, step: int, levels: Levels, certain: bool) -> Levels | None:
        """Return the abstract states after a step; None where it must be kept and cannot be."""
        if step not in self.dear:
            if not certain and not self._may_change(step, levels):
                return levels
            after = [None if one is None else self._once(step, one, certain) for one in levels]
            return None if after[-1] is None else tuple(after)
        if certain:
            used = [None if one is None else self._once(step, one, True) for one in levels[:-1]]
            return None if not used or used[-1] is None else (None, *used)
        if not self._may_change(step, levels[1:]):
            return levels
        united = [levels[0]]
        for below, here in pairwise(levels):
            more = None if below is None else self._once(step, below, False)
            united.append(_union(here, more))
        return tuple(united)

    def _may_change(self, step: int, levels: Levels) -> bool:
        """Say whether a step that may be left out can add anything to the states."""
        makes, spoils = self.makes[step], self.spoils[step]
        return any(one is not None and (makes & ~one[0] or spoils & ~one[1]) for one in levels)

    def _once(self, step: int, state: Maybe, certain: bool) -> Maybe | None:
        """Return one abstract state after a step."""
        true, false = state
        operator = self.operators[step]
        if not may_hold(operator.precondition, true, false | self.derived):
            return None if certain else state
        add, delete = self.surely[step]
        new_true, new_false = true, false
        if certain:
            # Now it is known what the step found, and what it leaves.
            stored = ~self.derived
            new_false = new_false & ~(operator.positive & stored) & ~add
            new_true = new_true & ~(operator.negative & stored) & ~delete
        new_true |= add
        new_false |= delete
        for condition, more_add, more_delete in self.perhaps[step]:
            if (more_add & ~new_true or more_delete & ~new_false) and may_hold(
                condition, true, false | self.derived
            ):
                new_true |= more_add
                new_false |= more_delete
        return new_true, new_false

    def _goal(self, levels: Levels | None) -> bool:
        last = None if levels is None else levels[-1]
        return last is not None and may_hold(self.task.goal, last[0], last[1] | self.derived)


def _union(one: Maybe | None, two: Maybe | None) -> Maybe | None:
    if one is None or two is None:
        return one or two
    return one[0] | two[0], one[1] | two[1]


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
