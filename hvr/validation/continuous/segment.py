"""A stretch of time in which numbers change and nothing happens: what holds throughout."""

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
"""How many decimals of an irrational time are shown."""

_SOON = Fraction(1, 10**6)
"""The width to which an irrational time is enclosed before a sample is taken after it."""


class SegmentSample(Value):
    """The numbers at a time, which stand for a stretch in which no condition changes.

    Attributes:
        since: The beginning of the stretch, exactly. An irrational one is a constant that compares
            as it should.
        after: The beginning of the stretch, rounded if it is irrational.
        time: The time of the numbers: the beginning, or shortly after it if it does not belong to
            the stretch.
        values: The numbers.
    """

    since: Quantity
    after: Fraction
    time: Fraction
    values: Values


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

    def broken(self, condition: Conjunction) -> SegmentSample | None:
        """Return when a condition is first false, and the numbers then; None if it never is."""
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
        """Yield samples that show every change of the truth of conditions."""
        last = self._start
        for turn in self._turns(conditions):
            # No condition changes between two turns, so any time between them will do.
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
        """Return a sample of the time between two moments, soon after the first."""
        one, two = as_root(start), as_root(end)
        while one.high >= two.low or one.high - one.low > _SOON:
            # They are not the same, so that they part at last.
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
    """Return a number between two others that has few decimals and is not far above the lower."""
    scale = 1000
    while True:
        number = Fraction(floor(low * scale) + 1, scale)
        if number < high:
            return number
        scale *= 10


def approximate(moment: Moment) -> Rational:
    """Return a moment; an irrational one is rounded to be shown."""
    if not isinstance(moment, Root):
        return moment
    return moment.low if moment.rational else round(Fraction(moment.approximation()), _PLACES)
