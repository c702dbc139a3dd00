"""One question on a terminal: which of several readings of a request is meant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence


def on_terminal() -> bool:
    """Return whether someone can be asked: input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def which_reading(
    readings: Sequence[str],
    ask: Callable[[str], str] = input,
    tell: Callable[[str], object] = print,
) -> int | None:
    """Ask which reading is meant; return its number from 1, or None if none is.

    Args:
        readings: each in plain words.
        ask: shows a prompt and returns the answer.
        tell: shows a line.
    """
    tell("This can be read in several ways. Which one is meant?")
    for number, words in enumerate(readings, start=1):
        tell(f"  {number}  {words}")
    try:
        answer = ask(f"1 to {len(readings)}, or nothing to leave it: ").strip()
    except EOFError:
        return None
    number = int(answer) if answer.isdecimal() else 0
    return number if 1 <= number <= len(readings) else None
