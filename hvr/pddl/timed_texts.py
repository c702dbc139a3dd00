"""Plans of timed steps in which nothing can be refused: each step is read when it is wanted.

An object for each step, with its times and its place, would take twenty times its text.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import overload

from hvr.pddl.lexer import SourceText
from hvr.pddl.model import GroundAction
from hvr.pddl.plain_plan import PDDL_STEP, TIME
from hvr.pddl.plan import TimedAction

_STEP = re.compile(
    rf"\s*+(?P<start>{TIME})\s*+:\s*+(?P<step>{PDDL_STEP})(?:\s*+\[\s*+(?P<length>{TIME})\s*+\])?+\s*+"
)
_COMMENT = re.compile(r";[^\r\n]*")
_MOST_KNOWN = 2000


def timed_texts(source: SourceText) -> TimedTexts | None:
    """Return the steps of a text that is nothing but steps with times, space and comments."""
    text = source.text
    if not text.isascii() or "\0" in text:
        return None
    text = text.lower()
    if ";" in text:
        text = _COMMENT.sub(lambda match: " " * len(match.group()), text)
    starts = array("q")
    place = 0
    while place < len(text):
        step = _STEP.match(text, place)
        if step is None:
            return None
        starts.append(place)
        place = step.end()
    return TimedTexts(source, text, starts) if starts else None


class TimedTexts(Sequence[TimedAction]):
    """The steps of a plan, in the order of the file.

    Those that are iterated over have no place in the text, one that is asked for by its index has.

    Args:
        source: where they come from.
        text: its text in lower case, without comments.
        starts: where each step begins.
    """

    def __init__(self, source: SourceText, text: str, starts: array[int]) -> None:
        self._source = source
        self._text = text
        self._starts = starts
        # Steps and times come again and again.
        self._actions: dict[str, GroundAction] = {}
        self._numbers: dict[str, Fraction] = {}
        # Few steps are read once: a plan is gone through several times.
        self._all: list[TimedAction] | None = None

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[TimedAction]:
        if self._all is None and len(self._starts) <= _MOST_KNOWN:
            self._all = [self._read(place) for place in self._starts]
        return iter(self._all) if self._all is not None else map(self._read, self._starts)

    @overload
    def __getitem__(self, index: int) -> TimedAction: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TimedAction]: ...
    def __getitem__(self, index: int | slice) -> TimedAction | Sequence[TimedAction]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = self._starts[index]
        step = self._read(place)
        action = step.action
        location = self._source.location(self._text.index("(", place))
        return TimedAction(
            GroundAction(action.name, action.args, location), step.start, step.duration
        )

    def _read(self, place: int) -> TimedAction:
        match = _STEP.match(self._text, place)
        assert match is not None
        start, step, length = match.groups()
        action = self._actions.get(step)
        if action is None:
            name, *args = step[1:-1].split()
            if len(self._actions) >= _MOST_KNOWN:
                self._actions.clear()
            action = self._actions[step] = GroundAction(name, tuple(args))
        return TimedAction(
            action, _fraction(start), None if length is None else self._number(length)
        )

    def _number(self, text: str) -> Fraction:
        number = self._numbers.get(text)
        if number is None:
            if len(self._numbers) >= _MOST_KNOWN:
                self._numbers.clear()
            number = self._numbers[text] = _fraction(text)
        return number


def _fraction(text: str) -> Fraction:
    """Return the number of some digits, perhaps with a point among them."""
    whole, _, decimals = text.partition(".")
    return Fraction(int(whole + decimals), 10 ** len(decimals))
