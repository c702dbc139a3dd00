"""Progress and questions on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from hvr.base.printable import console

# Progress -----------------------------------------------------------------------------------------

Tell = Callable[[str, int, int, str], None]
"""Called with the name of a stage, the amount done, the total amount, and a remark."""

PROGRESS_INTERVAL_S = 10.0
"""Seconds between two lines of a stage without a terminal."""


@contextmanager
def show_progress(every_s: float = PROGRESS_INTERVAL_S) -> Iterator[Tell]:
    """Yield a function that shows the progress of stages on standard error.

    On a terminal each stage has a bar, which disappears at the end. Elsewhere, as in a log or in
    CI, a stage prints a line at its start, every `every_s` seconds, and at its end.
    """
    from rich.progress import Progress, TaskID, TextColumn

    to = console(stderr=True)
    if not to.is_terminal:
        lines = _Lines(lambda line: to.print(line, soft_wrap=True, highlight=False), every_s)
        yield lines.tell
        return
    columns = (*Progress.get_default_columns(), TextColumn("{task.fields[remark]}"))
    with Progress(*columns, console=to, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def tell(stage: str, done: int, of: int, remark: str = "") -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=of, remark="")
            bars.update(tasks[stage], completed=done, total=of, remark=remark)

        yield tell


@dataclass
class _Lines:
    """Prints the progress of stages as lines, at intervals."""

    write: Callable[[str], None]
    every_s: float
    _last: dict[str, float] = field(default_factory=dict)

    def tell(self, stage: str, done: int, of: int, remark: str = "") -> None:
        """Print a line if a stage begins or ends, or if its last line is old enough."""
        now = time.monotonic()
        if stage in self._last and done < of and now - self._last[stage] < self.every_s:
            return
        self._last[stage] = now
        self.write(f"{stage}: {done} of {of}{f', {remark}' if remark else ''}")


# Questions ----------------------------------------------------------------------------------------


def on_terminal() -> bool:
    """Return whether the user can be asked: input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_reading(
    readings: Sequence[str],
    ask: Callable[[str], str] = input,
    tell: Callable[[str], object] = print,
) -> int | None:
    """Ask the user for the intended reading; return its 1-based number, or None.

    Args:
        readings: The readings in plain words.
        ask: Shows a prompt and returns the answer.
        tell: Shows a line.
    """
    tell("This can be read in several ways. Which one is meant?")
    for number, words in enumerate(readings, start=1):
        tell(f"  {number}  {words}")
    try:
        answer = ask(f"1 to {len(readings)}, or words of one; nothing to cancel: ").strip()
    except EOFError:
        return None
    from hvr.language.dialogue import CANCEL, chosen

    choice = chosen(answer, readings)
    return None if choice is None or choice == CANCEL else choice + 1
