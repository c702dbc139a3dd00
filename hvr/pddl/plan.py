"""Plan files: the formats of the planning competitions and of those who write plans by hand."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias

from hvr.errors import PddlSyntaxError
from hvr.pddl.diagnostics import Diagnostic, PddlTextSyntaxError
from hvr.pddl.lexer import SourceText
from hvr.pddl.model import GroundAction
from hvr.pddl.numeric import MOST_DIGITS
from hvr.pddl.reader import MOST_SURPLUS
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
    """What a plan file says.

    Attributes:
        steps: the steps, in the order of the file; all timed, or none.
        notation: `pddl` for `(action object …)`, `call` for `action(object, …)`, `json`.
        warnings: what a lenient reading overlooked.
    """

    steps: tuple[Step, ...]
    notation: Notation = "pddl"
    warnings: tuple[Diagnostic, ...] = ()


_STEP = "a step: (action object …)"
_CALL = "action(object, object)"
_ITEM = r"""
    (?P<space>(?:\s++|;[^\r\n]*+)++)
    | (?P<fence>```[a-z]*)
    | (?P<stamp>[-+]?(?:[0-9]+/[0-9]+|[0-9]+(?:\.[0-9]*)?|\.[0-9]+))\s*:
    | (?P<count>[0-9]+)\.(?=\s|\()
    | \((?P<pddl>(?:[^();]++|;[^\r\n]*+)*+)\)
    | (?P<name>[^\W\d][^\s();:,\[\]{}`"]*+)\((?P<args>(?:[^();]++|;[^\r\n]*+)*+)\)
    | \[\s*(?P<cost>[0-9]+/[0-9]+|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*\]
    """
"""Compiled when first needed: most plans are read without it."""
_ARGUMENT = re.compile(r"[^?,:=\[\]{}\"`\s();]+")
_COMMENT = re.compile(r";[^\r\n]*")
_HEADER = re.compile(r"\s*(?:sequentialplan|timetriggeredplan):")


def read_plan(source: str | Path, *, file: str | None = None, lenient: bool = False) -> PlanText:
    """Read a plan in any of the notations that are in use.

    A step is `(action object …)` or `action(object, …)`. It may have a number or time before it
    (`0:`, `1.`, `0.003:`) and a cost or duration after it (`[1]`). `;` begins a comment. A text
    that begins with `[` or `{` is JSON (see `hvr.pddl.plan_json`). A text without any step is
    the empty plan only when it has nothing but space and comments.

    Args:
        source: the text, or the path of a file.
        file: the name that messages give the text.
        lenient: Whether to skip, with a warning, what leaves the steps clear: surplus `)`, costs
            that follow no step, and missing times.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError: anything that is not a plan.
    """
    text = SourceText.read(source, file=file, default="<plan>", lenient=lenient)
    if text.text.lstrip()[:1] in ("[", "{") and '"' in text.text:
        from hvr.pddl.plan_json import read_json_plan

        return read_json_plan(text)
    return _PlanReader(text).read()


def parse_plan(source: str | Path, *, file: str | None = None) -> tuple[GroundAction, ...]:
    """Read a classical plan: the steps in the order of execution.

    Args:
        source: the text, or the path of a file, in the notations of `read_plan`.
        file: the name that messages give the text.

    Returns:
        the steps, without times; each knows its location.

    Raises:
        DataFileError: the file cannot be read.
        PddlSyntaxError: anything that is not a plan, or steps at the same time.
    """
    return in_order(read_plan(source, file=file).steps)


def in_order(steps: Iterable[Step]) -> tuple[GroundAction, ...]:
    """Return the steps in the order of their times, without the times.

    Raises:
        PddlSyntaxError: two steps at the same time.
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
    """Print a plan, with its cost in a comment on the last line.

    Args:
        steps: the steps.
        cost: the cost of the plan; None when every step costs 1.
    """
    lines = [str(step) for step in steps]
    kind = "unit" if cost is None else "general"
    lines.append(f"; cost = {len(lines) if cost is None else cost} ({kind} cost)")
    return "\n".join(lines) + "\n"


def decimal_text(value: Fraction) -> str:
    """Print a number exactly: as a decimal where it is one, else as a fraction."""
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
        # Some letters outside ASCII change their length when they are lowered.
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
        """Take a step apart."""
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
        # Names occur in many steps: one string for each is enough.
        names = [self.names.setdefault(name, name) for name in names]
        offset = step.start("name" if call else 0)
        self.offsets.append(offset)
        location = self.source.location(offset)
        self.actions.append(GroundAction(names[0], tuple(names[1:]), location))

    def _steps(self) -> tuple[Step, ...]:
        if not any(stamp is not None for stamp in self.stamps):
            # Without times, what stands in brackets is the cost of a step.
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
        if len(text) > MOST_DIGITS:
            message = f"a number of more than {MOST_DIGITS} digits"
            self._fail(place, message, "a shorter number")
        try:
            return Fraction(text.rstrip("."))
        except ZeroDivisionError:
            self._fail(place, f"{text} divides by zero", "a number")

    def _untimed(self, action: GroundAction, offset: int) -> None:
        message = f"the step {action} has no number, and others have one"
        expected = "a number before every step, or before none"
        self.source.overlook(offset, message, expected=expected, error=PddlTextSyntaxError)

    def _bad_name(self, inside: str, start: int) -> NoReturn:
        for match in re.finditer(r"\S+", inside):
            word = match.group()
            if not _ARGUMENT.fullmatch(word):
                hint = "names separated by spaces" if "," in word else "a name"
                self._fail(start + match.start(), f"{word!r} cannot stand in a step", hint)
        raise AssertionError(inside)

    def _end_of_lpg_step(self, place: int) -> int:
        """Skip the `)` that LPG-td prints after the duration of a step; return what follows."""
        if not self.text.startswith(")", place):
            return place
        if not self.lpg:
            self.source.warn(place, "a ')' after the duration, as LPG-td prints it", expected=_STEP)
        self.lpg = True
        return place + 1

    def _skip_surplus(self, place: int, stamp: re.Match[str] | None) -> int:
        """Skip a surplus `)` in a lenient reading, and refuse anything else.

        Returns:
            Offset after the `)`.
        """
        if self.text[place] != ")" or stamp is not None:
            self._refuse(place, stamp)
        self.surplus += 1
        if self.surplus > MOST_SURPLUS:
            self._fail(place, f"more than {MOST_SURPLUS} ')' too many", _STEP)
        self.source.overlook(place, "a ')' too many", expected=_STEP, error=PddlTextSyntaxError)
        return place + 1

    def _refuse(self, place: int, stamp: re.Match[str] | None) -> NoReturn:
        text = self.text
        if text[place] == "(":
            parentheses = re.compile(r";[^\r\n]*|([()])").finditer(text, place + 1)
            closing = next((match for match in parentheses if match[1]), None)
            if closing is None:
                end = len(text.rstrip())
                self._fail(end, "the text ends before the step is closed", "')'")
            self._fail(closing.start(), "a list inside a step", "a name")
        if stamp is not None:
            self._dangling(stamp)
        token = re.compile(r"[^\s();]+").match(text, place)
        assert token is not None
        word = token.group()
        if word.startswith("["):
            if self.actions and not re.fullmatch(r"\[[\d.]+\]", word):
                self._fail(place, "this is not the cost of a step", "[number]")
            self._fail(place, "a cost that follows no step", _STEP)
        if re.fullmatch(r"\d+", word):
            self._fail(place, f"{word!r} is not a step number", f"'{word}:'")
        self._fail(place, f"{word!r} is not part of a plan", _STEP)

    def _dangling(self, stamp: re.Match[str]) -> NoReturn:
        self._fail(stamp.start(), f"{stamp.group().strip()!r} is not followed by a step", _STEP)

    def _fail(self, offset: int, message: str, expected: str) -> NoReturn:
        self.source.syntax_error(offset, message, expected=expected)
