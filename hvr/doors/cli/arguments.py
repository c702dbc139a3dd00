"""Reading the arguments of a command: errors as hvr has them, values with a range."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar

from hvr.base import numbers
from hvr.errors import HvrError, UsageError

if TYPE_CHECKING:
    from fractions import Fraction

HELP = ("--help", "-h")
_MOST_JOBS = 256
_COLUMNS = (60, 80, 100)
_T = TypeVar("_T")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of descriptions, and knows how wide the terminal is."""

    def __init__(self, prog: str) -> None:
        # Left to itself, argparse imports shutil for the width, even when no help is printed.
        super().__init__(prog, width=columns())


class ArgumentParser(argparse.ArgumentParser):
    """The parser of a command; it raises instead of printing its usage and exiting.

    The name under which it keeps a value (`dest`) is the name of the library's field, so that
    errors about the field can be told as errors about the option.
    """

    hands_on = False
    """The words are kept as `utf8_text` for the command, which has a parser of its own for them."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, formatter_class=HelpFormatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Raise the error.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message} ({self.prog} --help shows the options and examples)")

    def read(self, given: Sequence[str]) -> argparse.Namespace:
        """Read arguments; options may stand among them.

        Raises:
            UsageError: they cannot be used.
        """
        if self.hands_on:
            return argparse.Namespace(words=list(given))
        if self.usage is None:  # argparse's own would name every option
            shown = map(_shown, self._get_positional_actions())
            self.usage = " ".join([self.prog, "[OPTIONS]", *shown])
        args, surplus = self.parse_known_intermixed_args(list(given))
        if surplus:
            self._refuse(surplus)
        return args

    def listed(self) -> Sequence[argparse.Action]:
        """Return the arguments that the help lists, in its order."""
        return [action for action in self._actions if action.help is not argparse.SUPPRESS]

    def flag(self, field: str) -> str | None:
        """Return the option or argument that sets a field; None where there is none."""
        for action in self._actions:
            if action.dest == field:
                long = [name for name in action.option_strings if name.startswith("--")]
                return long[0] if long else str(action.metavar or action.dest)
        return None

    def with_flags(self, error: HvrError) -> str:
        """Return the message of an error with the option in place of the field it is about.

        Where the message does not name the field, the option stands behind it.
        """
        message = str(error)
        flag = self.flag(error.field) if error.field is not None else None
        if error.field is None or flag is None:
            return message
        named, times = re.subn(rf"(?<![\w./-]){error.field}(?![\w./:-])", flag, message)
        return named if times else f"{message} ({flag})"

    def _refuse(self, surplus: Sequence[str]) -> NoReturn:
        options = [word.partition("=")[0] for word in surplus if word.startswith("-")]
        if not options:
            self.error(f"{surplus[0]!r} is one argument too many")
        from hvr.pddl.diagnostics import nearest

        near = nearest(options[0], self._option_string_actions)
        hint = f"; did you mean {near}?" if near else ""
        self.error(f"there is no option {options[0]}{hint}")


def asks_for_help(given: Sequence[str]) -> bool:
    """Say whether help is wanted: asking for it wins over anything that is wrong beside it."""
    options = given[: given.index("--")] if "--" in given else given
    return any(word in options for word in HELP)


def add_json(parser: argparse._ActionsContainer, text: str = "print JSON") -> None:
    """Add the option `--json`."""
    parser.add_argument("--json", action="store_true", help=text)


def utf8_text(text: str) -> str:
    """Read a text that goes further than to a message, such as to a server or a store.

    Raises:
        ArgumentTypeError: it is not UTF-8.
    """
    try:
        # Bytes that the locale has no letters for are kept as halves of surrogate pairs.
        return os.fsencode(text).decode("utf-8") if re.search("[\ud800-\udfff]", text) else text
    except UnicodeError:
        raise argparse.ArgumentTypeError(f"{text!a} is not UTF-8") from None


def number(text: str) -> Fraction:
    """Read a number from 0 to a million, exactly.

    Raises:
        ArgumentTypeError: the text is something else.
    """
    _read(numbers.parse_real, text)
    from fractions import Fraction

    return Fraction(text)


def real(text: str) -> float:
    """Read a number from 0 to a million.

    Raises:
        ArgumentTypeError: the text is something else.
    """
    return _read(numbers.parse_real, text)


def seconds(text: str) -> float:
    """Read a time: a number above 0, up to a million.

    Raises:
        ArgumentTypeError: the text is something else.
    """
    value = real(text)
    if not value:
        raise argparse.ArgumentTypeError(f"a time must be positive, not {text}")
    return value


def gibibytes(text: str) -> int:
    """Read an amount of memory in GiB and return it in bytes.

    Raises:
        ArgumentTypeError: The text is not a positive number.
    """
    value = real(text)
    if not value:
        raise argparse.ArgumentTypeError(f"an amount of memory must be positive, got {text}")
    return round(value * (1 << 30))


def whole_number(text: str) -> int:
    """Read a whole number from 0 on.

    Raises:
        ArgumentTypeError: the text is something else.
    """
    return _read(numbers.parse_integer, text)


def jobs(text: str) -> int:
    """Read a number of processes; 0 stands for one for each processor core.

    Raises:
        ArgumentTypeError: the text is something else, or too large.
    """
    value = whole_number(text)
    if value > _MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{value} processes are too many: at most {_MOST_JOBS}")
    return value


def columns() -> int:
    """Return how many columns help may have."""
    least, usual, most = _COLUMNS
    text = os.environ.get("COLUMNS", "")
    if text.isdecimal():
        return max(least, min(most, int(text)))
    try:
        return max(least, min(most, os.get_terminal_size().columns))
    except (OSError, ValueError, AttributeError):
        return usual


def _shown(positional: argparse.Action) -> str:
    name = str(positional.metavar or positional.dest)
    forms = {"?": f"[{name}]", "*": f"[{name}...]", "+": f"{name}..."}
    return forms.get(str(positional.nargs), name)


def _read(read: Callable[[str], _T], text: str) -> _T:
    try:
        return read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
