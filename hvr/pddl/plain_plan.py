"""Plans in which nothing can be refused: their steps as mere texts, read quickly and small.

A step of a few characters would be an object of ten times their size, with its place as another.
Most plans are valid, and of the others one step is talked about: places are looked up then.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import overload

from hvr.pddl.lexer import SourceText
from hvr.pddl.model import GroundAction
from hvr.values import Value

_NAME = r"[^?,:=\[\]{}\"`\s();]++"
PDDL_STEP = rf"\(\s*+(?:{_NAME}\s*+)++\)"
_CALL = rf"[^\W\d][^?,:=\[\]{{}}\"`\s();]*+\(\s*+(?:{_NAME}\s*+(?:,\s*+{_NAME}\s*+)*+)?+\)"
_DIGITS = 12
"""Most digits of a time on either side of its point; others are read the long way."""
TIME = rf"[0-9]{{1,{_DIGITS}}}+(?:\.[0-9]{{0,{_DIGITS}}}+)?+"
_COST = rf"(?:\s*+\[\s*+{TIME}\s*+\])?+"

_COMMENT = re.compile(r";[^\r\n]*")
_STEPS = re.compile(rf"(?:\s*+{PDDL_STEP})*+\s*+")
_CALLS = rf"(?:\s*+{_CALL})++\s*+"
_TIMED = rf"(?:\s*+{TIME}\s*+:\s*+{PDDL_STEP}{_COST})++\s*+"
# Names may have very many digits, which are looked at once each.
_STAMP = r"(?<![0-9.])([0-9]++)(?:\.([0-9]*+))?+\s*+:"
_INSIDE = re.compile(r"\(([^()]*)\)")
_CALLED = r"([^\s()]++\([^()]*)\)"
_ONE_STEP = PDDL_STEP
_STEP_OR_COMMENT = r";[^\r\n]*+|(\((?:[^();]++|;[^\r\n]*+)*+\))"
_CALL_OR_COMMENT = r";[^\r\n]*+|([^\s();]++\((?:[^();]++|;[^\r\n]*+)*+\))"


class PlainPlan(Value):
    """The steps of a plan as texts.

    Attributes:
        steps: for each, the names of the action and its objects, in lower case.
        read: what reads a single step, counted from 1, with its place.
        calls: whether they are written `action(object, …)`.
    """

    steps: list[str]
    read: Callable[[int], GroundAction]
    calls: bool = False

    @property
    def actions(self) -> Sequence[GroundAction]:
        """The steps with their places, each read when it is wanted."""
        return _Actions(self.read, len(self.steps))


class _Actions(Sequence[GroundAction]):
    """Steps that are not kept: an object for each would take many times the text."""

    def __init__(self, read: Callable[[int], GroundAction], count: int) -> None:
        self._read = read
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> GroundAction: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[GroundAction]: ...
    def __getitem__(self, index: int | slice) -> GroundAction | Sequence[GroundAction]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return self._read(index % self._count + 1)


def plain_plan(source: SourceText, epsilon: Fraction) -> PlainPlan | None:
    """Return the steps of a text in the order of the file, if that is the order of execution.

    None unless the text is nothing but steps of one notation, space and comments, so that nothing
    in it can be refused: steps in parentheses, with or without times; calls; a JSON list of texts.

    Args:
        source: the text.
        epsilon: times have to be further apart than this.
    """
    text = source.text
    if "\0" in text:
        return None
    if text.lstrip()[:1] == "[":
        return _json_plan(source)
    if ";" in text:
        text = _COMMENT.sub("", text)
    if _STEPS.fullmatch(text) is not None or _is_timed(text, epsilon):
        return PlainPlan(_INSIDE.findall(text.lower()), _reader(source, _STEP_OR_COMMENT))
    if re.fullmatch(_CALLS, text) is not None:
        calls = re.finditer(_CALLED, text.lower())
        steps = [match[1].replace("(", " ").replace(",", " ") for match in calls]
        return PlainPlan(steps, _reader(source, _CALL_OR_COMMENT), calls=True)
    return None


def _is_timed(text: str, epsilon: Fraction) -> bool:
    """Say whether all steps have times before them that rise by more than epsilon."""
    if re.fullmatch(_TIMED, text) is None:
        return False
    least, before = int(epsilon * 10**_DIGITS), -(10 ** (3 * _DIGITS))
    for match in re.finditer(_STAMP, text):
        ticks = int(match[1] + (match[2] or "").ljust(_DIGITS, "0"))
        if ticks - before <= least:
            return False
        before = ticks
    return True


def _reader(source: SourceText, expression: str) -> Callable[[int], GroundAction]:
    """Return a reader of single steps of a text, by an expression with a step as its group 1."""
    text = source.text
    left = _step_starts(expression, text)
    starts = array("q")

    def read(number: int) -> GroundAction:
        starts.extend(islice(left, max(0, number - len(starts))))
        match = re.compile(expression).match(text, starts[number - 1])
        assert match is not None
        words = re.sub(r"[(),]", " ", _COMMENT.sub(" ", match[1])).lower().split()
        return GroundAction(words[0], tuple(words[1:]), source.location(match.start()))

    return read


def _step_starts(expression: str, text: str) -> Iterator[int]:
    for match in re.finditer(expression, text):
        if match[1] is not None:
            yield match.start()


def _json_plan(source: SourceText) -> PlainPlan | None:
    """Read a JSON list of texts, each a step in parentheses."""
    from hvr.base.texts import parse_json

    try:
        texts = parse_json(source.text)
    except ValueError:
        # Whoever reads it in full says what is wrong.
        return None
    if not isinstance(texts, list) or not texts:
        return None
    if not all(isinstance(t, str) and re.fullmatch(_ONE_STEP, t) for t in texts):
        return None
    steps = [text[1:-1].lower() for text in texts]
    left = _places(source.text)
    starts = array("q")

    def read(number: int) -> GroundAction:
        starts.extend(islice(left, max(0, number - len(starts))))
        name, *args = steps[number - 1].split()
        return GroundAction(name, tuple(args), source.location(starts[number - 1]))

    return PlainPlan(steps, read)


def _places(text: str) -> Iterator[int]:
    from hvr.pddl.json_places import places_of_items

    return places_of_items(text)
