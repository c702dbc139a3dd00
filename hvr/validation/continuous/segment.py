"""A stretch of time in which numbers change and nothing happens: what holds throughout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from hvr.pddl.conditions import Conjunction
from hvr.pddl.numeric import Rational, Values, exact
from hvr.validation.continuous.moments import Moment, as_root, compare
from hvr.validation.continuous.motion import Motion, MovingState, exact_time
from hvr.validation.continuous.polynomials import Root

if TYPE_CHECKING:
    from hvr.validation.continuous.functions import Quantity


_PLACES = 15
"""How many decimals of an irrational time are shown."""


class Segment:
    """The time between two moments; neither belongs to it.

    Args:
        motion: how the numbers change.
        state: the truth of conditions along it.
        origin: the time from which moments count.
        start, end: the moments.
    """

    def __init__(
        self, motion: Motion, state: MovingState, origin: Fraction, start: Moment, end: Moment
    ) -> None:
        self._motion = motion
        self._state = state
        self._origin = origin
        self._start = start
        self._end = end

    def broken(self, condition: Conjunction) -> tuple[Fraction, Values] | None:
        """Return when a condition is first false, and the numbers then; None if it never is."""
        state = self._state
        if condition.is_empty:
            return None
        turns = self._turns([condition])
        if not state.holds(condition, self._start, after=True):
            return self._sample(self._start, turns[0] if turns else self._end)
        for turn, following in zip(turns, (*turns[1:], self._end), strict=False):
            if not state.holds(condition, turn):
                return self.time(turn), self._motion.at(turn)
            if not state.holds(condition, turn, after=True):
                return self._sample(turn, following)
        return None

    def states(self, conditions: Iterable[Conjunction]) -> Iterator[tuple[Quantity, Values]]:
        """Yield times and numbers that show every change of the truth of conditions.

        An irrational time is a constant that compares as it should.
        """
        last = self._start
        for turn in self._turns(conditions):
            # The truth between two turns is that in the middle, from the first of them on.
            yield exact_time(self._origin, last), self._sample(last, turn)[1]
            yield exact_time(self._origin, turn), self._motion.at(turn)
            last = turn
        yield exact_time(self._origin, last), self._sample(last, self._end)[1]

    def time(self, moment: Moment) -> Fraction:
        """Return the time of a moment, rounded if it is irrational."""
        return self._origin + approximate(moment)

    def _turns(self, conditions: Iterable[Conjunction]) -> list[Root]:
        turns = self._state.turns(conditions, self._start, self._end)
        return [turn for turn in turns if compare(turn, self._end) < 0]

    def _sample(self, start: Moment, end: Moment) -> tuple[Fraction, Values]:
        """Return the time of a moment, and the numbers at a time between it and another one."""
        one, two = as_root(start), as_root(end)
        while one.high >= two.low:
            # They are not the same, so that they part at last.
            compare(start, end)
            for root in (one, two):
                if not root.rational:
                    root.refine()
        return self.time(start), self._motion.at(exact(Fraction(one.high + two.low) / 2))


def approximate(moment: Moment) -> Rational:
    """Return a moment; an irrational one is rounded to be shown."""
    if not isinstance(moment, Root):
        return moment
    return moment.low if moment.rational else round(Fraction(moment.approximation()), _PLACES)
