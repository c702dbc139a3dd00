"""What each step of a plan can do when the steps beside it may be left out: an over-approximation.

A state is abstracted to two sets of bits: those that may be true and those that may be false. A
step that may be left out adds to both, a step that every solution keeps changes them for certain.
What the goal needs and this abstraction cannot reach, no part of the plan reaches. Where a few
steps may be put in, too, what can be so is known for each number of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hvr.pddl import Task
from hvr.pddl.state import Operator, is_satisfiable

PossibleValues: TypeAlias = tuple[int, int]
"""Bits that may be true, and bits that may be false."""

Levels: TypeAlias = tuple[PossibleValues, ...]
"""What may be so after at most so many steps were put in as the place in the tuple says."""

Insertion: TypeAlias = tuple[int, int]
"""A place, and the number of an operator that may be put in there."""


class RelaxedEffects:
    """A step as the abstraction sees it, restricted to bits that something reads."""

    __slots__ = ("add", "delete", "makes", "perhaps", "precondition", "spoils")

    def __init__(self, operator: Operator, read: int) -> None:
        self.precondition = operator.precondition
        self.makes = makes_of(operator) & read
        self.spoils = spoils_of(operator) & read
        self.add = operator.add & read
        self.delete = operator.delete & ~operator.add & read
        further = [
            (condition, add & read, delete & ~operator.add & read)
            for condition, add, delete in operator.conditional
        ]
        self.perhaps = [change for change in further if change[1] or change[2]]


@dataclass(frozen=True)
class Decided:
    """What is known of every solution before any search.

    Args:
        kept: indexes of the steps that every solution keeps.
        gone: those that none keeps.
        useless: what no solution puts in.
    """

    kept: frozenset[int]
    gone: frozenset[int]
    useless: frozenset[Insertion]


class RelaxedSteps:
    """The steps of a plan, and others that may be put in, with what each may make true and false.

    Args:
        task: the task.
        operators: the steps.
        others: operators that may be put in.
        offers: of each place, the numbers of those that may be put in there; the last place is
            after the last step.
        budget: how many may be put in.

    Attributes:
        operators: the steps.
        reads: the bits that each depends on.
        effects: what each changes.
        other_effects: the same of what may be put in.
    """

    def __init__(
        self,
        task: Task,
        operators: Sequence[Operator],
        others: Sequence[Operator] = (),
        offers: Sequence[Sequence[int]] = (),
        budget: int = 0,
    ) -> None:
        self.task = task
        self.operators = operators
        self.offers = offers or [()] * (len(operators) + 1)
        self.budget = budget
        self.reads = [reads_of(operator) for operator in operators]
        read = task.goal.mentioned()
        # Derived atoms get their bits when what mentions them is compiled: the goal comes first.
        self.derived = task.derived_bits
        for mask in (*self.reads, *map(reads_of, others)):
            read |= mask
        if read & self.derived:
            # What a derived atom follows from is not looked into.
            read = -1
        self.effects = [RelaxedEffects(operator, read) for operator in operators]
        self.other_effects = [RelaxedEffects(operator, read) for operator in others]

    def forced(self, bits: int) -> Decided | None:
        """Return what every solution keeps, and what none has.

        Both by probing: the abstraction without the step, or with it for certain, cannot reach
        the goal. More may have to be kept or left out than are found.

        Returns:
            None where no part of the plan reaches the goal.
        """
        kept: set[int] = set()
        gone: set[int] = set()
        useless: set[Insertion] = set()
        more = True
        while more:
            more = False
            decided = Decided(frozenset(kept), frozenset(gone), frozenset(useless))
            trace = self._trace(bits, decided)
            if trace is None:
                return None
            for step in range(len(self.operators)):
                if step in kept or step in gone:
                    continue
                levels = self._offered(step, trace[step], decided)
                if not self._reaches(trace, step, levels, decided):
                    kept.add(step)
                    more = True
                elif not self._reaches(trace, step, self._after(step, levels, True), decided):
                    gone.add(step)
                    more = True
            for place, numbers in enumerate(self.offers if self.budget else ()):
                for number in numbers:
                    if (place, number) in useless:
                        continue
                    if not self._helps(trace[place], place, number, decided):
                        useless.add((place, number))
                        more = True
        return Decided(frozenset(kept), frozenset(gone), frozenset(useless))

    def reachable(self, bits: int, begin: int, decided: Decided, spent: int = 0) -> bool:
        """Say whether the goal may be reached from a state before a step.

        Args:
            bits: the state.
            begin: the step; others may still be put in before it.
            decided: what is known of every solution.
            spent: how many steps were put in so far.
        """
        levels = ((bits | self.derived, ~bits),) * (self.budget - spent + 1)
        return self._goes_on(begin, levels, decided)

    def _goes_on(self, begin: int, levels: Levels | None, decided: Decided) -> bool:
        for place in range(begin, len(self.operators)):
            assert levels is not None
            levels = self._offered(place, levels, decided)
            if place not in decided.gone:
                levels = self._after(place, levels, place in decided.kept)
                if levels is None:
                    return False
        assert levels is not None
        return self._goal(self._offered(len(self.operators), levels, decided))

    def _trace(self, bits: int, decided: Decided) -> list[Levels] | None:
        levels: Levels = ((bits | self.derived, ~bits),) * (self.budget + 1)
        trace = [levels]
        for place in range(len(self.operators)):
            levels = self._offered(place, levels, decided)
            if place not in decided.gone:
                after = self._after(place, levels, place in decided.kept)
                if after is None:
                    return None
                levels = after
            trace.append(levels)
        return trace if self._goal(self._offered(len(self.operators), levels, decided)) else None

    def _reaches(
        self, trace: list[Levels], probed: int, levels: Levels | None, decided: Decided
    ) -> bool:
        """Say whether the goal may be reached from what is so after a step."""
        for place in range(probed + 1, len(self.operators) + 1):
            if levels is None:
                return False
            # What follows is as it was, and the goal was reached.
            if levels == trace[place]:
                return True
            if place == len(self.operators):
                break
            levels = self._offered(place, levels, decided)
            if place not in decided.gone:
                levels = self._after(place, levels, place in decided.kept)
        return levels is not None and self._goal(
            self._offered(len(self.operators), levels, decided)
        )

    def _helps(self, levels: Levels, place: int, number: int, decided: Decided) -> bool:
        effects = self.other_effects[number]
        before = self._offered(place, levels, decided)[:-1]
        after = [self._once(effects, state, True) for state in before]
        possible = tuple([state for state in after if state is not None])
        return bool(possible) and self._goes_on(place, possible, decided)

    def _offered(self, place: int, levels: Levels, decided: Decided) -> Levels:
        """Return the abstract states with what may be put in at a place."""
        if len(levels) == 1 or not self.offers[place]:
            return levels
        effects = [
            self.other_effects[number]
            for number in self.offers[place]
            if (place, number) not in decided.useless
        ]
        result = [levels[0]]
        for here in levels[1:]:
            true, false = here
            below = result[-1]
            for one in effects:
                if one.makes & ~true or one.spoils & ~false:
                    more = self._once(one, below, False)
                    if more is not None:
                        true |= more[0]
                        false |= more[1]
            result.append((true, false))
        return tuple(result)

    def _after(self, step: int, levels: Levels, certain: bool) -> Levels | None:
        """Return the abstract states after a step; None where it must be kept and cannot be."""
        effects = self.effects[step]
        after: list[PossibleValues] = []
        for state in levels:
            one = self._once(effects, state, certain)
            if one is not None:
                after.append(one)
        if not after:
            return None
        # Where it cannot be kept yet, something must have been put in before.
        return (*(_NOTHING,) * (len(levels) - len(after)), *after)

    def _once(
        self, effects: RelaxedEffects, state: PossibleValues, certain: bool
    ) -> PossibleValues | None:
        """Return one abstract state after a step."""
        true, false = state
        if not certain and not (effects.makes & ~true or effects.spoils & ~false):
            return state
        if state == _NOTHING or not is_satisfiable(
            effects.precondition, true, false | self.derived
        ):
            return None if certain else state
        new_true, new_false = true, false
        if certain:
            # Now it is known what the step found, and what it leaves.
            stored = ~self.derived
            new_false &= ~(effects.precondition.positive & stored) & ~effects.add
            new_true &= ~(effects.precondition.negative & stored) & ~effects.delete
        new_true |= effects.add
        new_false |= effects.delete
        for condition, add, delete in effects.perhaps:
            if (add & ~new_true or delete & ~new_false) and is_satisfiable(
                condition, true, false | self.derived
            ):
                new_true |= add
                new_false |= delete
        return new_true, new_false

    def _goal(self, levels: Levels) -> bool:
        true, false = levels[-1]
        return levels[-1] != _NOTHING and is_satisfiable(self.task.goal, true, false | self.derived)


_NOTHING: PossibleValues = (0, 0)
"""In place of an abstract state: there is none."""


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
