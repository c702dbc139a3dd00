"""The conditions that hold between two happenings, while numbers change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from hvr.pddl.conditions import Conjunction
from hvr.pddl.numeric import Rational, Values, exact
from hvr.validation.continuous.moments import Moment, as_root, compare
from hvr.validation.continuous.motion import Motion, MovingState, exact_time
from hvr.validation.continuous.polynomials import Root
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.validation.continuous.functions import Quantity


_PLACES = 15
"""Decimal places shown for an irrational time."""

_SOON = Fraction(1, 10**6)
"""Width to which an irrational time is enclosed before a sample is taken after it."""


class SegmentSample(Value):
    """The numbers at a time, as a sample of an interval in which no condition changes.

    Attributes:
        since: The exact beginning of the interval. An irrational beginning is a constant function,
            which compares exactly.
        after: The beginning of the interval, rounded if it is irrational.
        time: The time of the numbers: the beginning, or shortly after it if the interval excludes
            its beginning.
        values: The numbers.
    """

    since: Quantity
    after: Fraction
    time: Fraction
    values: Values


class Segment:
    """The open interval between two moments.

    Args:
        motion: The numbers as functions of time.
        state: The truth of conditions along the motion.
        origin: The time of moment 0.
        start, end: The two moments.
    """

    def __init__(
        self, motion: Motion, state: MovingState, origin: Fraction, start: Moment, end: Moment
    ) -> None:
        self._motion = motion
        self._state = state
        self._origin = origin
        self._start = start
        self._end = end

    def broken(self, condition: Conjunction) -> SegmentSample | None:
        """Return a sample where a condition is first false; None if it always holds."""
        state = self._state
        if condition.is_empty:
            return None
        turns = self._turns([condition])
        if not state.holds(condition, self._start, after=True):
            return self._sample(self._start, turns[0] if turns else self._end)
        for turn, following in zip(turns, (*turns[1:], self._end), strict=False):
            if not state.holds(condition, turn):
                return self._sample_at(turn)
            if not state.holds(condition, turn, after=True):
                return self._sample(turn, following)
        return None

    def states(self, conditions: Iterable[Conjunction]) -> Iterator[SegmentSample]:
        """Yield enough samples to show every change in the truth of conditions."""
        last = self._start
        for turn in self._turns(conditions):
            # No condition changes between two turns, so one sample stands for the interval.
            yield self._sample(last, turn)
            yield self._sample_at(turn)
            last = turn
        yield self._sample(last, self._end)

    def time(self, moment: Moment) -> Fraction:
        """Return the time of a moment, rounded if it is irrational."""
        return self._origin + approximate(moment)

    def _turns(self, conditions: Iterable[Conjunction]) -> list[Root]:
        turns = self._state.turns(conditions, self._start, self._end)
        return [turn for turn in turns if compare(turn, self._end) < 0]

    def _sample_at(self, moment: Moment) -> SegmentSample:
        time = self.time(moment)
        return SegmentSample(exact_time(self._origin, moment), time, time, self._motion.at(moment))

    def _sample(self, start: Moment, end: Moment) -> SegmentSample:
        """Return a sample between two moments, soon after the first."""
        one, two = as_root(start), as_root(end)
        while one.high >= two.low or one.high - one.low > _SOON:
            # `compare` refuses moments that it cannot tell apart, so this loop ends.
            compare(start, end)
            for root in (one, two):
                if not root.rational:
                    root.refine()
        moment = short_between(self._origin + one.high, self._origin + two.low) - self._origin
        return SegmentSample(
            exact_time(self._origin, start),
            self.time(start),
            self._origin + moment,
            self._motion.at(exact(moment)),
        )


def short_between(low: Fraction, high: Fraction) -> Fraction:
    """Return a number with few decimals between two others, close to the lower one."""
    scale = 1000
    while True:
        number = Fraction(floor(low * scale) + 1, scale)
        if number < high:
            return number
        scale *= 10


def approximate(moment: Moment) -> Rational:
    """Return a moment as a rational number, rounded for display if it is irrational."""
    if not isinstance(moment, Root):
        return moment
    return moment.low if moment.rational else round(Fraction(moment.approximation()), _PLACES)
