"""Runs the cells of a bench on an engine, so that a kill loses no finished cell."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from hvr.base.engines.registry import EngineChoice
from hvr.base.printable import protect_output
from hvr.base.secrets.scrubber import Scrubber
from hvr.bench.cells import FAILED, Cell, CellOptions, CellResult, RunCell
from hvr.bench.folder import BenchFolder
from hvr.models.errors import ModelError


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
    engine: EngineChoice | None = None,
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
        engine: where cells are done; in this process if None. A cell whose process dies is tried
            again, and then has an error. On a cluster all machines must have the folder.
        prompts: digests of the prompt texts by name, for the manifest.
        listen: is told of each result.

    Returns:
        A result for each cell, in order.

    Raises:
        UsageError: another bench is in the folder or at work there, or the engine cannot be used.
        DataFileError: the folder cannot be written.
        KeyboardInterrupt: it was interrupted; finished cells are kept.
    """
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
        choice = replace(engine or EngineChoice(), start=_start_worker)
        work = [_Work(run_cell, cell, options, folder) for cell in waiting]
        with (
            closing(choice.open(len(work))) as opened,
            closing(opened.run(_work, work)) as done,
        ):
            for finished in done:
                keep(finished.value or _lost(waiting[finished.number], finished.lost, bench))
    return tuple(found[cell] for cell in cells)


@dataclass(frozen=True)
class _Work:
    """A cell with all that it takes to do it, for another process.

    Args:
        run_cell: does it.
        cell: the cell.
        options: for `run_cell`.
        folder: of the bench.
    """

    run_cell: RunCell
    cell: Cell
    options: CellOptions
    folder: Path


def _work(work: _Work) -> CellResult:
    """Do a cell and write its result."""
    cell, bench = work.cell, BenchFolder(work.folder)
    with bench.at_work(cell):
        started = time.perf_counter()
        try:
            result = work.run_cell(cell, work.options, work.folder)
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


def _lost(cell: Cell, reason: str, bench: BenchFolder) -> CellResult:
    """Write the result of a cell whose processes died."""
    result = CellResult(
        cell=cell, scores=None, error=reason, error_kind="LostCellError", exit_code=FAILED,
        model=cell.model, simulated=cell.simulated,
    )  # fmt: skip
    bench.write(result)
    return result


def _kind(error: Exception) -> str:
    name = type(error).__name__
    return f"{name}: {error.kind}" if isinstance(error, ModelError) else name


def _start_worker() -> None:
    """In a worker process: print as the first process does, and show what a model waits for."""
    from hvr.models.notices import show_notices_of_worker

    protect_output()
    show_notices_of_worker()
