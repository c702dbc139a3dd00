"""Run the work of benchmarks and tools in parallel on hvr's engines."""

from __future__ import annotations

import argparse
import functools
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from hvr.base.engines import LostCellError
from hvr.base.engines.registry import EngineChoice
from hvr.doors.cli.arguments import add_engine_options, engine_choice
from hvr.doors.cli.arguments import jobs as jobs_of

W = TypeVar("W")
R = TypeVar("R")

_PRINT_SECONDS = 2.0


def add_options(parser: argparse.ArgumentParser, jobs: int = 1) -> None:
    """Add `--jobs` (by default `jobs`), `--engine` and `--address`, which `chosen` reads."""
    parser.add_argument(
        "--jobs", type=jobs_of, default=jobs, metavar="N",
        help=f"processes; 0: one for each processor core (default: {jobs})",
    )  # fmt: skip
    add_engine_options(parser)


def chosen(options: argparse.Namespace) -> EngineChoice:
    """Return the engine given by the options, HVR_ENGINE or pyproject.toml."""
    return engine_choice(options)


def results(
    function: Callable[[W], R], work: Sequence[W], engine: EngineChoice, chunk: int = 1
) -> Iterator[R]:
    """Yield the function's result for each piece of work, in order.

    Progress, speed and remaining time are printed on standard error.

    Args:
        function: A module-level function, or a `functools.partial` of one.
        work: Arguments, one per call.
        chunk: Number of pieces sent together, for short work.

    Raises:
        LostCellError: Every process that worked on a piece died.
        Exception: Any exception of the function.
    """
    todo = [(importable(function), work[i : i + chunk]) for i in range(0, len(work), chunk)]
    progress = _Progress(len(work))
    with closing(engine.open(len(todo))) as opened:
        for done in opened.run(_do, todo, ordered=True):
            if done.value is None:
                first = done.number * chunk + 1
                raise LostCellError(f"pieces {first} to {first + chunk - 1}: {done.lost}")
            for value in done.value:
                yield value
                progress.one_more()
    progress.end()


def _do(piece: tuple[Callable[[Any], Any], Sequence[Any]]) -> list[Any]:
    function, work = piece
    return [function(one) for one in work]


def importable(function: Any) -> Any:
    """Return a function of the main program in a form that other processes can import."""
    if isinstance(function, functools.partial):
        inner = importable(function.func)
        return functools.partial(inner, *function.args, **function.keywords)
    if function.__module__ != "__main__":
        return function
    file = Path(str(sys.modules["__main__"].__file__)).resolve()
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    return getattr(importlib.import_module(file.stem), function.__name__)


class _Progress:
    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._begun = self._printed = time.monotonic()

    def one_more(self) -> None:
        self._done += 1
        now = time.monotonic()
        if now - self._printed >= _PRINT_SECONDS and self._done < self._total:
            self._printed = now
            self._print(now, "\r" if sys.stderr.isatty() else "\n")

    def end(self) -> None:
        if self._printed > self._begun:  # skip the final line for instant work
            self._print(time.monotonic(), "\n")

    def _print(self, now: float, end: str) -> None:
        rate = self._done / max(now - self._begun, 1e-9)
        left = (self._total - self._done) / max(rate, 1e-9)
        print(
            f"{self._done} of {self._total}, {rate:.3g} per second, {left:.0f} s left",
            file=sys.stderr, end=end, flush=True,
        )  # fmt: skip
