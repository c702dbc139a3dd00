"""Work that is counted instead of timed: the count is the same however busy the machine is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class TooMuchWorkError(AssertionError):
    """More lines were run than were allowed."""


def lines_run(call: Callable[[], object], at_most: int | None = None) -> int:
    """Return how many lines of Python a call runs, in all functions that it calls.

    Args:
        call: what to run; an exception that it raises comes out.
        at_most: raise an error as soon as it is more.

    Raises:
        TooMuchWorkError: it was more than allowed.
    """
    lines = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
            if at_most is not None and lines > at_most:
                raise TooMuchWorkError(f"more than {at_most} lines were run")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines
