"""Count work instead of timing it, so that results do not depend on the machine's load."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class TooMuchWorkError(AssertionError):
    """More lines were executed than allowed."""


def lines_run(call: Callable[[], object], at_most: int | None = None) -> int:
    """Return the number of Python lines that a call executes, including callees.

    Args:
        call: Function to run; its exceptions propagate.
        at_most: Maximum number of lines.

    Raises:
        TooMuchWorkError: The call exceeded the maximum.
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
