"""Parsing of arguments: errors as `UsageError`, and values with a range."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from hvr.base import numbers
from hvr.errors import HvrError, UsageError

if TYPE_CHECKING:
    from fractions import Fraction

HELP = ("--help", "-h")
_MOST_JOBS = 256
_COLUMNS = (60, 80, 100)
_T = TypeVar("_T")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps line breaks in descriptions, and fits the width of the terminal."""

    def __init__(self, prog: str) -> None:
        # By default argparse imports shutil for the width, even without printing help.
        super().__init__(prog, width=columns())


class ArgumentParser(argparse.ArgumentParser):
    """The parser of a command; it raises errors instead of printing usage and exiting.

    `dest` of an option is the name of the library's field, so that errors about the field can name
    the option.
    """

    hands_on = False
    """Whether the command parses its arguments itself; they are passed on as `words`."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, formatter_class=HelpFormatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Raise the error.

        Raises:
            UsageError: An argument is invalid; always raised.
        """
        raise UsageError(f"{message} ({self.prog} --help shows options and examples)")

    def read(self, given: Sequence[str]) -> argparse.Namespace:
        """Parse arguments; options may appear anywhere.

        Raises:
            UsageError: An argument is invalid.
        """
        if self.hands_on:
            return argparse.Namespace(words=list(given))
        if self.usage is None:  # argparse's default lists every option
            shown = map(_shown, self._get_positional_actions())
            self.usage = " ".join([self.prog, "[OPTIONS]", *shown])
        args, surplus = self.parse_known_intermixed_args(list(given))
        if surplus:
            self._refuse(surplus)
        return args

    def listed(self) -> Sequence[argparse.Action]:
        """Return the arguments that the help lists, in order."""
        return [action for action in self._actions if action.help is not argparse.SUPPRESS]

    def flag(self, field: str) -> str | None:
        """Return the option or argument that sets a field; None if there is none."""
        for action in self._actions:
            if action.dest == field:
                long = [name for name in action.option_strings if name.startswith("--")]
                return long[0] if long else str(action.metavar or action.dest)
        return None

    def with_flags(self, error: HvrError) -> str:
        """Return an error message with the option's name in place of the field's.

        If the message does not mention the field, the option is appended.
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
            self.error(f"unexpected argument {surplus[0]!r}")
        from hvr.pddl.diagnostics import nearest

        near = nearest(options[0], self._option_string_actions)
        hint = f"; did you mean {near}?" if near else ""
        self.error(f"no option named {options[0]}{hint}")


def asks_for_help(given: Sequence[str]) -> bool:
    """Return whether help is requested; that takes precedence over any error."""
    options = given[: given.index("--")] if "--" in given else given
    return any(word in options for word in HELP)


def add_json(parser: argparse._ActionsContainer, text: str = "print JSON") -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help=text)


def add_path(
    parser: argparse._ActionsContainer, name: str, text: str, metavar: str = "FILE", **more: Any
) -> None:
    """Add an option that names a file or a folder, with the help `text`."""
    from pathlib import Path

    parser.add_argument(name, metavar=metavar, type=Path, help=text, **more)


def utf8_text(text: str) -> str:
    """Parse a text that leaves the process, such as for a server or a store.

    Raises:
        ArgumentTypeError: The text is not UTF-8.
    """
    try:
        # Python represents undecodable bytes as surrogates.
        return os.fsencode(text).decode("utf-8") if re.search("[\ud800-\udfff]", text) else text
    except UnicodeError:
        raise argparse.ArgumentTypeError(f"{text!a} is not UTF-8") from None


def number(text: str) -> Fraction:
    """Parse a number from 0 to a million, exactly.

    Raises:
        ArgumentTypeError: The text is not such a number.
    """
    _read(numbers.parse_real, text)
    from fractions import Fraction

    return Fraction(text)


def real(text: str) -> float:
    """Parse a number from 0 to a million.

    Raises:
        ArgumentTypeError: The text is not such a number.
    """
    return _read(numbers.parse_real, text)


def seconds(text: str) -> float:
    """Parse a time: a number above 0, up to a million.

    Raises:
        ArgumentTypeError: The text is not such a number.
    """
    value = real(text)
    if not value:
        raise argparse.ArgumentTypeError(f"a time must be positive, got {text}")
    return value


def gibibytes(text: str) -> int:
    """Parse an amount of memory in GiB and return it in bytes.

    Raises:
        ArgumentTypeError: The text is not a positive number.
    """
    value = real(text)
    if not value:
        raise argparse.ArgumentTypeError(f"an amount of memory must be positive, got {text}")
    return round(value * (1 << 30))


def whole_number(text: str) -> int:
    """Parse a non-negative integer.

    Raises:
        ArgumentTypeError: The text is not such a number.
    """
    return _read(numbers.parse_integer, text)


def jobs(text: str) -> int:
    """Parse a number of processes; 0 means one per processor core.

    Raises:
        ArgumentTypeError: The text is not such a number, or it is too large.
    """
    value = whole_number(text)
    if value > _MOST_JOBS:
        raise argparse.ArgumentTypeError(f"must be at most {_MOST_JOBS} processes, got {value}")
    return value


def columns() -> int:
    """Return the width of help texts."""
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
