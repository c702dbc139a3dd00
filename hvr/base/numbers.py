"""Parse numbers that users give, and check their ranges.

NaN, infinity and numbers too large for clocks, samplers and files are rejected, so that later code
need not check.
"""

from __future__ import annotations

import operator
import re
from math import nan

from hvr.errors import UsageError

MAX_INTEGER = 999_999_999_999
"""Largest integer that SQLite columns and the seeds of numpy and torch can hold."""
MAX_REAL = 1e6
"""Largest real number, which timers also accept as a number of seconds."""

# Stricter than Python, which also accepts "1_000", " 1" and the digits of other scripts.
_WHOLE = r"-?[0-9]{1,12}"
_REAL = r"-?([0-9]{1,20}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?"
_SHOWN = 40


def parse_integer(text: str, least: int = 0, most: int = MAX_INTEGER) -> int:
    """Parse an integer from `least` to `most`; raise a ValueError for any other text."""
    if not re.fullmatch(_WHOLE, text):
        raise ValueError(f"{brief(text)} is not a whole number of at most 12 digits")
    _check_range(text, int(text), least, most)
    return int(text)


def parse_real(text: str, least: float = 0, most: float = MAX_REAL) -> float:
    """Parse a decimal number from `least` to `most`; raise a ValueError for any other text."""
    if not re.fullmatch(_REAL, text):
        raise ValueError(f"{brief(text)} is not a number such as 2 or 0.5")
    _check_range(text, float(text), least, most)
    return float(text)


def check_integer(field: str, value: object, least: int = 0, most: int = MAX_INTEGER) -> None:
    """Raise a UsageError unless the option `field` is an integer from `least` to `most`."""
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
    """Raise a UsageError unless the option `field` is a number from `least` to `most`."""
    if not least <= as_float(value) <= most:
        raise UsageError(
            f"{field} must be a number from {least:.12g} to {most:.12g}, not {brief(value)}",
            field=field,
        )


def check_positive(field: str, value: object, most: float = MAX_REAL) -> None:
    """Raise a UsageError unless the option `field` is positive and at most `most`."""
    if not 0 < as_float(value) <= most:
        raise UsageError(
            f"{field} must be positive and at most {most:.12g}, not {brief(value)}", field=field
        )


def as_float(value: object) -> float:
    """Return a number as a float, or NaN for other values; NaN fails every range check."""
    if not hasattr(value, "__float__"):  # str and None
        return nan
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return nan


def brief(value: object) -> str:
    """Return the `repr` of a value, shortened for a message."""
    try:
        shown = repr(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        return "a number with thousands of digits"
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _check_range(text: str, value: float, least: float, most: float) -> None:
    if value < least:
        limit = "must not be negative" if least == 0 else f"is too small: at least {least:.12g}"
        raise ValueError(f"{brief(text)} {limit}")
    if value > most:
        raise ValueError(f"{brief(text)} is too large: at most {most:.12g}")
