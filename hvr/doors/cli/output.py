"""Output of commands: JSON, text, files written atomically, progress, and questions."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hvr.base.files import write_whole
from hvr.base.printable import console
from hvr.doors.cli.process import use_utf8
from hvr.errors import DataFileError, UsageError

# Output -------------------------------------------------------------------------------------------
# Output of commands: JSON, text in other formats, and files written atomically.

__all__ = [
    "check_apart",
    "check_page",
    "check_writable",
    "print_chunks",
    "print_json",
    "write_whole",
]


def check_writable(path: Path) -> None:
    """Raise an error if a path is `-` or a folder, or if its folder does not exist."""
    if str(path) == "-":
        raise UsageError("expected an output file, got '-': name a file, or /dev/stdout")
    if path.is_dir():
        raise DataFileError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise DataFileError(f"cannot write {path}: the folder {path.parent} does not exist")


PAGE_ENDINGS = (".html", ".htm")


def check_page(path: Path) -> None:
    """Raise an error unless a file with this path can be written as an HTML page.

    A device such as /dev/stdout may have any name.
    """
    check_writable(path)
    if path.suffix.lower() not in PAGE_ENDINGS and (path.is_file() or not path.exists()):
        raise UsageError(f"--html must name a {' or '.join(PAGE_ENDINGS)} file, got {path}")


def check_apart(outputs: Iterable[Path], inputs: Iterable[str] = ()) -> None:
    """Raise UsageError if two outputs are the same file, or an output is also an input."""
    written: set[object] = set()
    for path in outputs:
        place = _place(str(path))
        if place in written:
            raise UsageError(f"{path} is named for two outputs: name a different file for each")
        if place is not None:
            written.add(place)
    if written:
        for name in inputs:
            if _place(name) in written:
                raise UsageError(f"a report would overwrite the input {name}: name another file")


def _place(name: str) -> object:
    try:
        known = os.stat(name)  # noqa: PTH116 - a text is given
    except (OSError, ValueError):
        return os.path.realpath(name)
    return (known.st_dev, known.st_ino) if stat.S_ISREG(known.st_mode) else None


def print_json(data: object, indent: int | None = None) -> None:
    """Print values as JSON, on one line or indented; NaN and infinity become null."""
    try:
        text = json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)
    except ValueError:
        plain = json.loads(json.dumps(data), parse_constant=lambda _: None)
        text = json.dumps(plain, indent=indent, ensure_ascii=False)
    print_chunks([f"{text}\n"])


def print_chunks(chunks: Iterable[str]) -> None:
    """Print text in a machine-readable format, each chunk as soon as it is available.

    The encoding is UTF-8 in every locale, as these formats require.
    """
    use_utf8()
    for chunk in chunks:
        sys.stdout.write(chunk)
        sys.stdout.flush()


# Terminal -----------------------------------------------------------------------------------------
# Progress and questions on a terminal.

# Progress -----------------------------------------------------------------------------------------

Tell = Callable[[str, int, int, str], None]
"""Reports progress: the stage's name, the amount done, the total amount, and a remark."""

PROGRESS_INTERVAL_S = 10.0
"""Seconds between two progress lines of a stage if there is no terminal."""


@contextmanager
def show_progress(every_s: float = PROGRESS_INTERVAL_S) -> Iterator[Tell]:
    """Yield a function that shows the progress of stages on standard error.

    On a terminal, each stage has a bar that disappears at the end. Otherwise, as in a log or in CI,
    a stage prints a line at its start, at its end, and in between at least `every_s` seconds apart.
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
    write: Callable[[str], None]
    every_s: float
    _last: dict[str, float] = field(default_factory=dict)

    def tell(self, stage: str, done: int, of: int, remark: str = "") -> None:
        now = time.monotonic()
        if stage in self._last and done < of and now - self._last[stage] < self.every_s:
            return
        self._last[stage] = now
        self.write(f"{stage}: {done} of {of}{f', {remark}' if remark else ''}")


# Questions ----------------------------------------------------------------------------------------


def on_terminal() -> bool:
    """Return whether the user can answer questions: input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_reading(
    readings: Sequence[str],
    ask: Callable[[str], str] = input,
    tell: Callable[[str], object] = print,
) -> int | None:
    """Ask the user for the intended reading; return its 1-based number, or None for no choice."""
    several = "This can be read in several ways. Which one is meant?"
    tell(several if len(readings) > 1 else "Is this meant?")
    for number, words in enumerate(readings, start=1):
        tell(f"  {number}  {words}")
    try:
        answer = ask(
            f"a number (1 to {len(readings)}) or words of one, or Enter alone to cancel: "
        ).strip()
    except EOFError:
        return None
    from hvr.language.answers import CANCEL, chosen

    choice = chosen(answer, readings)
    return None if choice is None or choice == CANCEL else choice + 1
