"""Read and print plans in the notations that planners and people use."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias, overload

from hvr.errors import PddlSyntaxError
from hvr.pddl.model import GroundAction
from hvr.pddl.reader import MAX_SURPLUS, Diagnostic, PddlTextSyntaxError, SourceText
from hvr.pddl.state import MAX_DIGITS
from hvr.values import Compact, Value, set_field


class TimedAction(Compact):
    """A step with its start time and, if it is durative, its duration."""

    __slots__ = ("action", "duration", "start")

    action: GroundAction
    start: Fraction
    duration: Fraction | None

    def __init__(
        self, action: GroundAction, start: Fraction, duration: Fraction | None = None
    ) -> None:
        set_field(self, "action", action)
        set_field(self, "start", start)
        set_field(self, "duration", duration)

    def __str__(self) -> str:
        duration = "" if self.duration is None else f" [{decimal_text(self.duration)}]"
        return f"{decimal_text(self.start)}: {self.action}{duration}"


Step: TypeAlias = GroundAction | TimedAction
Notation: TypeAlias = Literal["pddl", "call", "json"]


class PlanText(Value):
    """The contents of a plan file.

    Attributes:
        steps: The steps in file order; either all or none are timed.
        notation: `pddl` for `(action object …)`, `call` for `action(object, …)`, or `json`.
    """

    steps: tuple[Step, ...]
    notation: Notation = "pddl"
    warnings: tuple[Diagnostic, ...] = ()


_STEP = "a step: (action object …)"
_CALL = "action(object, object)"
_ITEM = r"""
    (?P<space>(?:\s++|;[^\r\n]*+)++)
    | (?P<fence>```[a-z]*)
    | (?P<stamp>[-+]?(?:[0-9]+/[0-9]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?))\s*:
    | (?P<count>[0-9]+)\.(?=\s|\()
    | \((?P<pddl>(?:[^();]++|;[^\r\n]*+)*+)\)
    | (?P<name>[^\W\d][^\s();:,\[\]{}`"]*+)\((?P<args>(?:[^();]++|;[^\r\n]*+)*+)\)
    | \[\s*(?P<cost>[0-9]+/[0-9]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)\s*\]
    """
"""Compiled on first use, because most plans take the fast path of `plain_plan`."""
_ARGUMENT = re.compile(r"[^?,:=\[\]{}\"`\s();]+")
_COMMENT = re.compile(r";[^\r\n]*")
_HEADER = re.compile(r"\s*(?:sequentialplan|timetriggeredplan):")


def read_plan(source: str | Path, *, file: str | None = None, lenient: bool = False) -> PlanText:
    """Read a plan in any common notation from text (`str`) or from a file (`Path`).

    A step is `(action object …)` or `action(object, …)`. It may have a number or time before it
    (`0:`, `1.`, `0.003:`) and a cost or duration after it (`[1]`). `;` begins a comment. Text
    that begins with `[` or `{` is JSON (see `hvr.pddl.plan_json`). Text that contains only white
    space and comments is the empty plan.

    Args:
        file: The file name to use in messages.
        lenient: Whether to skip errors that leave the steps clear, with a warning: surplus `)`,
            costs that follow no step, and missing times.

    Raises:
        DataFileError: The file cannot be read.
        PddlSyntaxError: The text is not a plan.
    """
    text = SourceText.read(source, file=file, default="<plan>", lenient=lenient)
    if text.text.lstrip()[:1] in ("[", "{") and '"' in text.text:
        from hvr.pddl.plan_json import read_json_plan

        return read_json_plan(text)
    return _PlanReader(text).read()


def parse_plan(source: str | Path, *, file: str | None = None) -> tuple[GroundAction, ...]:
    """Read a classical plan: the steps in the order of execution, without their times.

    `source` is a string, or the path of a file, in one of the notations of `read_plan`.

    Raises:
        DataFileError: The file cannot be read.
        PddlSyntaxError: The text is not a plan, or two steps have the same time.
    """
    return in_order(read_plan(source, file=file).steps)


def in_order(steps: Iterable[Step]) -> tuple[GroundAction, ...]:
    """Return the steps in chronological order, without their times.

    Either all or none of the steps must be timed.

    Raises:
        PddlSyntaxError: Two steps have the same time.
    """
    timed = [step for step in steps if isinstance(step, TimedAction)]
    if not timed:
        return tuple([step for step in steps if isinstance(step, GroundAction)])
    timed.sort(key=lambda step: step.start)
    for one, two in pairwise(timed):
        if one.start == two.start:
            place = two.action.location
            message = f"{one.action} and {two.action} are steps at the same time"
            expected = "a sequence of steps"
            if place is None:
                raise PddlSyntaxError(message)
            raise PddlTextSyntaxError(Diagnostic(place, message, expected=expected))
    return tuple([step.action for step in timed])


def print_plan(steps: Iterable[Step], cost: float | Decimal | Fraction | None = None) -> str:
    """Format a plan, with its cost (by default its length) in a comment on the last line."""
    lines = [str(step) for step in steps]
    kind = "unit" if cost is None else "general"
    lines.append(f"; cost = {len(lines) if cost is None else cost} ({kind} cost)")
    return "\n".join(lines) + "\n"


def decimal_text(value: Fraction) -> str:
    """Format a number exactly: as a decimal if it has finitely many digits, else as a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return str(value)
    places = max(twos, fives)
    digits = f"{abs(value) * 10**places}".zfill(places + 1)
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


class _PlanReader:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        # Lowering some non-ASCII letters changes their length, which would shift offsets.
        self.text = source.text.lower() if source.text.isascii() else source.text
        self.notation: Notation = "pddl"
        self.actions: list[GroundAction] = []
        self.offsets = array("q")
        self.names: dict[str, str] = {}
        self.stamps: list[Fraction | None] = []
        self.durations: list[Fraction | None] = []
        self.surplus = 0
        self.lpg = False

    def read(self) -> PlanText:
        text = self.text
        match_item = re.compile(_ITEM, re.VERBOSE).match
        header = _HEADER.match(text)
        place = header.end() if header else 0
        stamp: re.Match[str] | None = None
        may_cost = False
        while place < len(text):
            item = match_item(text, place)
            kind = item.lastgroup if item else None
            if item is None or (kind == "cost" and not may_cost):
                place = self._skip_surplus(place, stamp)
                continue
            place = item.end()
            if kind in ("stamp", "count"):
                if stamp is not None:
                    self._dangling(stamp)
                stamp, may_cost = item, False
            elif kind == "cost":
                self.durations[-1] = self._number(item, "cost")
                may_cost = False
                if self.stamps[-1] is not None:
                    place = self._end_of_lpg_step(place)
            elif kind == "fence":
                self.source.warn(item.start(), "a code fence", expected=_STEP)
            elif kind != "space":
                self._step(item)
                self.stamps.append(stamp and self._number(stamp, str(stamp.lastgroup)))
                self.durations.append(None)
                stamp, may_cost = None, True
        if stamp is not None:
            self._dangling(stamp)
        return PlanText(self._steps(), self.notation, tuple(self.source.warnings))

    def _step(self, step: re.Match[str]) -> None:
        call = step.lastgroup == "args"
        inside = step["args"] if call else step["pddl"]
        start = step.start("args" if call else "pddl")
        if ";" in inside:
            inside = _COMMENT.sub(lambda match: " " * len(match.group()), inside)
        if "," in inside:
            if not call:
                self.source.warn(start, "commas between arguments", expected=_STEP)
            elif inside.count(",") != len(inside.replace(",", " ").split()) - 1:
                at = start + inside.index(",")
                self._fail(at, "the arguments are not separated by single commas", _CALL)
            inside = inside.replace(",", " ")
        elif call and len(inside.split()) > 1:
            self._fail(start, "the arguments are not separated by commas", _CALL)
        names = inside.split()
        if not all(map(_ARGUMENT.fullmatch, names)):
            self._bad_name(inside, start)
        if call:
            names.insert(0, step["name"])
            self.notation = "call"
        if not names:
            self._fail(step.start(), "an empty step", _STEP)
        if not self.text.isascii():
            names = [name.lower() for name in names]
        # Share the strings: names occur in many steps.
        names = [self.names.setdefault(name, name) for name in names]
        offset = step.start("name" if call else 0)
        self.offsets.append(offset)
        location = self.source.location(offset)
        self.actions.append(GroundAction(names[0], tuple(names[1:]), location))

    def _steps(self) -> tuple[Step, ...]:
        if not any(stamp is not None for stamp in self.stamps):
            # Without times, a number in brackets is the cost of a step.
            return tuple(self.actions)
        steps: list[Step] = []
        untimed = 0
        read = zip(self.actions, self.stamps, self.durations, self.offsets, strict=True)
        for action, stamp, duration, offset in read:
            if stamp is None:
                untimed += 1
                self._untimed(action, offset)
            start = Fraction(untimed) if stamp is None else stamp
            steps.append(TimedAction(action, start, duration))
        return tuple(steps)

    # Errors ---------------------------------------------------------------------------------

    def _number(self, item: re.Match[str], group: str) -> Fraction:
        text, place = item[group], item.start(group)
        if len(text) > MAX_DIGITS:
            message = f"a number with more than {MAX_DIGITS} digits"
            self._fail(place, message, "a shorter number")
        try:
            return Fraction(text.rstrip("."))
        except ZeroDivisionError:
            self._fail(place, f"{text} divides by zero", "a number")

    def _untimed(self, action: GroundAction, offset: int) -> None:
        message = f"the step {action} has no number, but other steps have one"
        expected = "a number before every step, or before none"
        self.source.overlook(offset, message, expected=expected, error=PddlTextSyntaxError)

    def _bad_name(self, inside: str, start: int) -> NoReturn:
        for match in re.finditer(r"\S+", inside):
            word = match.group()
            if not _ARGUMENT.fullmatch(word):
                hint = "names separated by spaces" if "," in word else "a name"
                self._fail(start + match.start(), f"{word!r} is not allowed in a step", hint)
        raise AssertionError(inside)

    def _end_of_lpg_step(self, place: int) -> int:
        if not self.text.startswith(")", place):
            return place
        if not self.lpg:
            self.source.warn(place, "a ')' after the duration, as LPG-td prints it", expected=_STEP)
        self.lpg = True
        return place + 1

    def _skip_surplus(self, place: int, stamp: re.Match[str] | None) -> int:
        if self.text[place] != ")" or stamp is not None:
            self._refuse(place, stamp)
        self.surplus += 1
        if self.surplus > MAX_SURPLUS:
            self._fail(place, f"more than {MAX_SURPLUS} surplus ')'", _STEP)
        self.source.overlook(place, "one ')' too many", expected=_STEP, error=PddlTextSyntaxError)
        return place + 1

    def _refuse(self, place: int, stamp: re.Match[str] | None) -> NoReturn:
        text = self.text
        if text[place] == "(":
            parentheses = re.compile(r";[^\r\n]*|([()])").finditer(text, place + 1)
            closing = next((match for match in parentheses if match[1]), None)
            if closing is None:
                end = len(text.rstrip())
                expected = "')'; the plan may be truncated"
                self._fail(end, "the text ends before the step is closed", expected)
            self._fail(closing.start(), "a list inside a step", "a name")
        if stamp is not None:
            self._dangling(stamp)
        token = re.compile(r"[^\s();]+").match(text, place)
        assert token is not None
        word = token.group()
        if word.startswith("["):
            if self.actions and not re.fullmatch(r"\[[\d.]+\]", word):
                self._fail(place, "this is not the duration or cost of a step", "[number]")
            self._fail(place, "a cost that follows no step", _STEP)
        if re.fullmatch(r"\d+", word):
            self._fail(place, f"{word!r} is not a step number", f"'{word}:'")
        self._fail(place, f"{word!r} is not part of a plan", _STEP)

    def _dangling(self, stamp: re.Match[str]) -> NoReturn:
        self._fail(stamp.start(), f"{stamp.group().strip()!r} is not followed by a step", _STEP)

    def _fail(self, offset: int, message: str, expected: str) -> NoReturn:
        self.source.syntax_error(offset, message, expected=expected)


# Plain plan ---------------------------------------------------------------------------------------
# Fast reading of plans without errors: steps are kept as text, because an object per step takes ten
# times as much memory, and its location just as much. Most plans are valid, and reports on invalid
# ones mention a single step, so locations are computed on demand.

_NAME = r"[^?,:=\[\]{}\"`\s();]++"
PDDL_STEP = rf"\(\s*+(?:{_NAME}\s*+)++\)"
_PLAIN_CALL = rf"[^\W\d][^?,:=\[\]{{}}\"`\s();]*+\(\s*+(?:{_NAME}\s*+(?:,\s*+{_NAME}\s*+)*+)?+\)"
_DIGITS = 12
"""Maximum number of digits on either side of a decimal point; longer numbers take the slow path."""
TIME = rf"[0-9]{{1,{_DIGITS}}}+(?:\.[0-9]{{0,{_DIGITS}}}+)?+"
_COST = rf"(?:\s*+\[\s*+{TIME}\s*+\])?+"

_STEPS = re.compile(rf"(?:\s*+{PDDL_STEP})*+\s*+")
_CALLS = rf"(?:\s*+{_PLAIN_CALL})++\s*+"
_TIMED = rf"(?:\s*+{TIME}\s*+:\s*+{PDDL_STEP}{_COST})++\s*+"
# The lookbehind prevents quadratic time on names with many digits.
_STAMP = r"(?<![0-9.])([0-9]++)(?:\.([0-9]*+))?+\s*+:"
_INSIDE = re.compile(r"\(([^()]*)\)")
_CALLED = r"([^\s()]++\([^()]*)\)"
_STEP_OR_COMMENT = r";[^\r\n]*+|(\((?:[^();]++|;[^\r\n]*+)*+\))"
_CALL_OR_COMMENT = r";[^\r\n]*+|([^\s();]++\((?:[^();]++|;[^\r\n]*+)*+\))"


class PlainPlan(Value):
    """The steps of a plan as text.

    Attributes:
        steps: The action and objects of each step, in lower case.
        read: A function that reads the step with a 1-based number, with its location.
        calls: Whether the notation is `action(object, …)`.
    """

    steps: list[str]
    read: Callable[[int], GroundAction]
    calls: bool = False

    @property
    def actions(self) -> Sequence[GroundAction]:
        return _Actions(self.read, len(self.steps))


class _Actions(Sequence[GroundAction]):
    """Steps that are read on access, because storing them would take much memory."""

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
    """Return the steps of error-free plan text, or None if `read_plan` must read it.

    The text may contain only steps of one notation, white space and comments. The notations are
    `(action object …)` with or without times, `action(object, …)`, and a JSON list of strings. The
    order in the file must be the order of execution, and consecutive times must differ by more than
    `epsilon`.
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
    text = source.text
    left = (match.start() for match in re.finditer(expression, text) if match[1] is not None)
    starts = array("q")

    def read(number: int) -> GroundAction:
        starts.extend(islice(left, max(0, number - len(starts))))
        match = re.compile(expression).match(text, starts[number - 1])
        assert match is not None
        words = re.sub(r"[(),]", " ", _COMMENT.sub(" ", match[1])).lower().split()
        return GroundAction(words[0], tuple(words[1:]), source.location(match.start()))

    return read


def _json_plan(source: SourceText) -> PlainPlan | None:
    from hvr.base.texts import parse_json
    from hvr.pddl.plan_json import item_locations

    try:
        texts = parse_json(source.text)
    except ValueError:
        # `read_plan` will report the error.
        return None
    if not isinstance(texts, list) or not texts:
        return None
    if not all(isinstance(t, str) and re.fullmatch(PDDL_STEP, t) for t in texts):
        return None
    steps = [text[1:-1].lower() for text in texts]
    left = item_locations(source.text)
    starts = array("q")

    def read(number: int) -> GroundAction:
        starts.extend(islice(left, max(0, number - len(starts))))
        name, *args = steps[number - 1].split()
        return GroundAction(name, tuple(args), source.location(starts[number - 1]))

    return PlainPlan(steps, read)


# Timed texts --------------------------------------------------------------------------------------
# Fast reading of timed plans without errors: each step is parsed on access, because objects with
# times and locations would take twenty times as much memory as the text.

_TIMED_STEP = re.compile(
    rf"\s*+(?P<start>{TIME})\s*+:\s*+(?P<step>{PDDL_STEP})(?:\s*+\[\s*+(?P<length>{TIME})\s*+\])?+\s*+"
)
_MOST_KNOWN = 2000


def lazy_timed_plan(source: SourceText) -> LazyTimedPlan | None:
    """Return the steps if an ASCII text has only timed steps, white space and comments, else None.

    None means that `read_plan` must read the text.
    """
    text = source.text
    if not text.isascii() or "\0" in text:
        return None
    text = text.lower()
    if ";" in text:
        text = _COMMENT.sub(lambda match: " " * len(match.group()), text)
    starts = array("q")
    place = 0
    while place < len(text):
        step = _TIMED_STEP.match(text, place)
        if step is None:
            return None
        starts.append(place)
        place = step.end()
    return LazyTimedPlan(source, text, starts) if starts else None


class LazyTimedPlan(Sequence[TimedAction]):
    """The steps of a plan in file order, read on access.

    Steps accessed by index have a location; iteration omits it.

    Args:
        text: The text in lower case, with comments blanked.
        starts: The offset of each step.
    """

    def __init__(self, source: SourceText, text: str, starts: array[int]) -> None:
        self._source = source
        self._text = text
        self._starts = starts
        # Steps and times repeat.
        self._actions: dict[str, GroundAction] = {}
        self._numbers: dict[str, Fraction] = {}
        # Keep short plans in full, because callers iterate several times.
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
        match = _TIMED_STEP.match(self._text, place)
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
    whole, _, decimals = text.partition(".")
    return Fraction(int(whole + decimals), 10 ** len(decimals))
