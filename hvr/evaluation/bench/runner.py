"""Runs the cells of a bench, in several processes, so that a kill loses no finished cell."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path

from hvr.errors import UsageError
from hvr.evaluation.bench.cells import FAILED, Cell, CellOptions, CellResult, RunCell
from hvr.evaluation.bench.folder import BenchFolder
from hvr.llm.errors import ModelError
from hvr.printable import protect_output
from hvr.secrets.scrubber import Scrubber
from hvr.workers import leave_interrupts_to_parent, starting

_MOST_JOBS = 256
_WATCH_SECONDS = 0.3


@dataclass(frozen=True)
class Progress:
    """How far a bench has come.

    Args:
        done: cells with a result, those of earlier starts included.
        total: all cells.
        resumed: cells that were there already.
        result: the latest result; None at the start.
    """

    done: int
    total: int
    resumed: int
    result: CellResult | None = None


Listen = Callable[[Progress], None]


def run_bench(
    folder: Path,
    cells: Sequence[Cell],
    run_cell: RunCell,
    options: CellOptions,
    *,
    jobs: int = 1,
    prompts: Mapping[str, str] | None = None,
    listen: Listen | None = None,
) -> tuple[CellResult, ...]:
    """Run all cells that have no result yet.

    Each result is written by the process that made it, before it counts as done. An error in
    a cell is a result, too; it is tried again when the bench is resumed, and gets the answers that
    it was given before.

    Args:
        folder: of the bench: new, empty, or that of the same bench, which is then resumed.
        cells: what to do.
        run_cell: does one; a function of a module, so that other processes find it.
        options: for `run_cell`.
        jobs: processes; 1 stays in this one, 0 stands for one for each processor core.
        prompts: digests of the prompt texts by name, for the manifest.
        listen: is told of each result.

    Returns:
        A result for each cell, in order.

    Raises:
        UsageError: another bench is in the folder or at work there, or `jobs` cannot be used.
        DataFileError: the folder cannot be written.
        KeyboardInterrupt: it was interrupted; finished cells are kept.
    """
    if not 0 <= jobs <= _MOST_JOBS:
        raise UsageError(f"jobs must be 0 to {_MOST_JOBS}, not {jobs}", field="jobs")
    bench = BenchFolder(folder)
    with bench.alone():
        found = {r.cell: r for r in bench.open(cells, options, prompts or {})}
        resumed = len(found)
        tell = listen or (lambda _: None)
        tell(Progress(resumed, len(cells), resumed))

        def keep(result: CellResult) -> None:
            found[result.cell] = result
            tell(Progress(len(found), len(cells), resumed, result))

        waiting = [cell for cell in cells if cell not in found]
        jobs = min(jobs or os.cpu_count() or 1, max(len(waiting), 1))
        if jobs == 1:
            for cell in waiting:
                keep(_work(run_cell, cell, options, folder))
        else:
            _run_parallel(waiting, lambda cell: (run_cell, cell, options, folder), jobs, keep)
    return tuple(found[cell] for cell in cells)


def _work(run_cell: RunCell, cell: Cell, options: CellOptions, folder: Path) -> CellResult:
    """Do a cell and write its result."""
    bench = BenchFolder(folder)
    with bench.at_work(cell):
        started = time.perf_counter()
        try:
            result = run_cell(cell, options, folder)
        except Exception as error:
            # One cell must not end the bench, whatever a provider's library raises.
            message = Scrubber.of(os.environ).text(str(error) or repr(error))
            result = CellResult(
                cell=cell, scores=None, error=message, error_kind=_kind(error),
                exit_code=getattr(error, "exit_code", FAILED), model=cell.model,
                simulated=cell.simulated, seconds=time.perf_counter() - started,
            )  # fmt: skip
        bench.write(result)
    return result


def _kind(error: Exception) -> str:
    name = type(error).__name__
    return f"{name}: {error.kind}" if isinstance(error, ModelError) else name


_Arguments = tuple[RunCell, Cell, CellOptions, Path]


def _run_parallel(
    cells: Sequence[Cell],
    arguments: Callable[[Cell], _Arguments],
    jobs: int,
    keep: Callable[[CellResult], None],
) -> None:
    waiting = list(cells)
    while waiting:
        lost = _run_pool(waiting, arguments, jobs, keep)
        for cell in lost:
            result = CellResult(
                cell=cell, scores=None, error="a worker process died (out of memory?)",
                error_kind="BrokenProcessPool", exit_code=FAILED, model=cell.model,
                simulated=cell.simulated,
            )  # fmt: skip
            BenchFolder(arguments(cell)[3]).write(result)
            keep(result)


def _run_pool(
    waiting: list[Cell],
    arguments: Callable[[Cell], _Arguments],
    jobs: int,
    keep: Callable[[CellResult], None],
) -> list[Cell]:
    """Work off `waiting`; the cells that were under way if a process died, else none."""
    # A fresh interpreter for each worker: forking a process with threads is not safe.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(jobs, context, _start_worker, (stop, os.getpid()))
    running: dict[Future[CellResult], Cell] = {}
    try:
        while waiting or running:
            # No more than there are processes, so that a death costs few cells.
            while waiting and len(running) < jobs:
                with starting():
                    future = pool.submit(_work, *arguments(waiting[0]))
                running[future] = waiting[0]
                del waiting[0]
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                keep(future.result())
                del running[future]
        return []
    except BrokenProcessPool:
        return _rescue(running, keep)
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _rescue(
    running: Mapping[Future[CellResult], Cell], keep: Callable[[CellResult], None]
) -> list[Cell]:
    """Keep what was finished beside the process that died; the other cells are lost."""
    lost = []
    for future, cell in running.items():
        if future.done() and future.exception() is None:
            keep(future.result())
        else:
            lost.append(cell)
    return lost


def _start_worker(stop: Event, parent: int) -> None:
    """In a worker: leave Ctrl-C to the parent, and end when it says so or is gone."""
    from hvr.llm.notices import show_notices_of_worker

    leave_interrupts_to_parent()
    protect_output()
    show_notices_of_worker()

    def watch() -> None:
        # A cell may wait minutes for a model, and a killed parent cannot say anything.
        while not stop.wait(_WATCH_SECONDS) and os.getppid() == parent:
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
