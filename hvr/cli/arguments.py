"""Command lines that are read without typer: errors as hvr has them, values with a range."""

from __future__ import annotations

import argparse
import os
import re
from fractions import Fraction
from typing import NoReturn

from hvr.errors import UsageError

_NUMBER = re.compile(r"\d{1,20}(\.\d{0,40})?(e[+-]?\d{1,2})?|\.\d{1,40}", re.IGNORECASE)
_MOST_JOBS = 256
_COLUMNS = (60, 80, 100)


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of descriptions, and knows how wide the terminal is."""

    def __init__(self, prog: str) -> None:
        # Left to itself, argparse imports shutil for the width, even when no help is printed.
        super().__init__(prog, width=_columns())


class ArgumentParser(argparse.ArgumentParser):
    """A parser that raises instead of printing its usage and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise the error.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{message}\n  {self.prog} --help shows the options and examples")


def number(text: str) -> Fraction:
    """Read a number that is not negative, exactly.

    Raises:
        ArgumentTypeError: the text is something else.
    """
    if not _NUMBER.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number such as 0.001, or is negative")
    return Fraction(text)


def count(text: str) -> int:
    """Read a whole number from 0 on.

    Raises:
        ArgumentTypeError: the text is something else.
    """
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def jobs(text: str) -> int:
    """Read a number of processes; 0 stands for one for each processor core.

    Raises:
        ArgumentTypeError: the text is something else, or too large.
    """
    value = count(text)
    if value > _MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{value} processes are too many: at most {_MOST_JOBS}")
    return value


def _columns() -> int:
    least, usual, most = _COLUMNS
    text = os.environ.get("COLUMNS", "")
    if text.isdecimal():
        return max(least, min(most, int(text)))
    try:
        return max(least, min(most, os.get_terminal_size().columns))
    except (OSError, ValueError, AttributeError):
        return usual
