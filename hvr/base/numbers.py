"""Numbers that people give: read from texts, or checked where they arrive as values.

NaN, infinity, and numbers that no clock, sampler or file could hold are refused here, so that
nothing behind needs to think of them.
"""

from __future__ import annotations

import operator
import re
from math import nan

from hvr.errors import UsageError

MAX_INTEGER = 999_999_999_999
"""The largest whole number; a file of SQLite, a seed of numpy and one of torch can hold it."""
MAX_REAL = 1e6
"""The largest other number. As seconds, which most of them are, it is within what timers allow."""

# Python also reads "1_000", " 1" and the digits of other scripts, which here are slips.
_WHOLE = r"-?[0-9]{1,12}"
_REAL = r"-?([0-9]{1,20}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?"
_SHOWN = 40


def parse_integer(text: str, least: int = 0, most: int = MAX_INTEGER) -> int:
    """Read a whole number.

    Raises:
        ValueError: the text is something else, or out of range; the message says so.
    """
    if not re.fullmatch(_WHOLE, text):
        raise ValueError(f"{brief(text)} is not a whole number of at most 12 digits")
    _check_range(text, int(text), least, most)
    return int(text)


def parse_real(text: str, least: float = 0, most: float = MAX_REAL) -> float:
    """Read a number.

    Raises:
        ValueError: the text is something else, or out of range; the message says so.
    """
    if not re.fullmatch(_REAL, text):
        raise ValueError(f"{brief(text)} is not a number such as 2 or 0.5")
    _check_range(text, float(text), least, most)
    return float(text)


def check_integer(field: str, value: object, least: int = 0, most: int = MAX_INTEGER) -> None:
    """Check an option that is a whole number.

    Args:
        field: its name.
        value: what was given.
        least: the smallest value that can be used.
        most: the largest.

    Raises:
        UsageError: it is none, or out of range.
    """
    try:
        usable = least <= operator.index(value) <= most  # type: ignore[arg-type]
    except TypeError:
        usable = False
    if not usable:
        raise UsageError(
            f"{field} must be a whole number from {least} to {most}, not {brief(value)}",
            field=field,
        )


def check_real(field: str, value: object, least: float = 0, most: float = MAX_REAL) -> None:
    """Check an option that is a number, in the way of `check_integer`.

    Raises:
        UsageError: it is none, or out of range.
    """
    if not least <= as_float(value) <= most:
        raise UsageError(
            f"{field} must be a number from {least:.12g} to {most:.12g}, not {brief(value)}",
            field=field,
        )


def check_positive(field: str, value: object, most: float = MAX_REAL) -> None:
    """Check an option that is a number above 0, in the way of `check_integer`.

    Raises:
        UsageError: it is none, or out of range.
    """
    if not 0 < as_float(value) <= most:
        raise UsageError(
            f"{field} must be positive and at most {most:.12g}, not {brief(value)}", field=field
        )


def as_float(value: object) -> float:
    """Return a number for comparing; NaN, which is in no range, if the value is none."""
    if not hasattr(value, "__float__"):  # texts and None have it not
        return nan
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return nan


def brief(value: object) -> str:
    """Return how a value is shown in a message, however long it is."""
    try:
        shown = repr(value)
    except ValueError:  # Python writes no number with thousands of digits
        return "a number with thousands of digits"
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _check_range(text: str, value: float, least: float, most: float) -> None:
    if value < least:
        wanted = "must not be negative" if least == 0 else f"is less than {least:.12g}"
        raise ValueError(f"{brief(text)} {wanted}")
    if value > most:
        raise ValueError(f"{brief(text)} is too large: at most {most:.12g}")
