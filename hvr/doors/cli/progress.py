"""How far long work has come, on standard error: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from hvr.base.printable import console

Tell = Callable[[str, int, int, str], None]
"""Called with the name of a stage, how much of it is done, of how much, and a remark."""

EVERY_S = 10.0
"""Seconds between two lines of a stage where there is no terminal."""


@contextmanager
def shown_progress(every_s: float = EVERY_S) -> Iterator[Tell]:
    """Return a function that shows how far stages have come.

    On a terminal each stage has a bar, which goes when the work ends. Elsewhere (in a log, in CI)
    a stage has a line when it begins, one every `every_s` seconds, and one when it is done.
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
    """Lines of stages, not too many of them."""

    write: Callable[[str], None]
    every_s: float
    _last: dict[str, float] = field(default_factory=dict)

    def tell(self, stage: str, done: int, of: int, remark: str = "") -> None:
        """Write a line if a stage begins or ends, or if its last one is long ago."""
        now = time.monotonic()
        if stage in self._last and done < of and now - self._last[stage] < self.every_s:
            return
        self._last[stage] = now
        self.write(f"{stage}: {done} of {of}{f', {remark}' if remark else ''}")
