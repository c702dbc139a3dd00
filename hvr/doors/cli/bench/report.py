"""What `hvr bench` prints and writes of its results."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.printable import console
from hvr.doors.cli.arguments import add_json

if TYPE_CHECKING:
    from hvr.bench.cells import CellResult
    from hvr.bench.compare import Delta
    from hvr.bench.summary import Summary

_MOST_ERRORS = 5


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is reported, and where."""
    group = parser.add_argument_group("report")
    add_json(group, "print one JSON document")
    group.add_argument("--csv", metavar="FILE", type=Path, help=(
        "write a CSV file with a line for each cell"))  # fmt: skip
    group.add_argument("--html", metavar="FILE", type=Path, help=(
        "write a page with the paper's tables beside these, and plots"))  # fmt: skip
    group.add_argument("--latex", metavar="FILE", type=Path, help=(
        "write the paper's tables 2 and 5 in LaTeX, with 95 per cent intervals"))  # fmt: skip
    group.add_argument("--compare", metavar="BENCH", type=Path, help=(
        "an earlier bench, as its folder or its --json: print what changed"))  # fmt: skip
    group.add_argument("--per-task", action="store_true", help=(
        "print a table for each measure, too"))  # fmt: skip


def check_report(args: argparse.Namespace) -> None:
    """Say before hours of work what could not be written or read after them.

    Raises:
        DataFileError: a file could not.
    """
    from hvr.bench.compare import load_results
    from hvr.doors.cli.output import check_writable

    for path in (args.csv, args.html, args.latex):
        if path is not None:
            check_writable(path)
    if args.compare is not None:
        load_results(args.compare)


def report(folder: Path, results: Sequence[CellResult], args: argparse.Namespace) -> None:
    """Print results, and write the files that were asked for."""
    from hvr.bench import export, latex, page
    from hvr.bench.compare import compare, load_results
    from hvr.bench.folder import BenchFolder
    from hvr.bench.summary import summarise
    from hvr.doors.cli.output import print_json, write_whole

    summary = summarise(results)
    manifest = BenchFolder(folder).manifest()
    deltas = compare(load_results(args.compare), results) if args.compare is not None else None
    if args.csv is not None:
        write_whole(args.csv, export.to_csv(results))
    if args.latex is not None:
        write_whole(args.latex, latex.to_latex(summary))
    if args.html is not None:
        write_whole(args.html, page.render(manifest, results, summary))
    if args.json:
        document = export.to_json(manifest, results, summary)
        if deltas is not None:
            document["compared"] = [delta.to_json() for delta in deltas]
        print_json(document)
    else:
        _print(folder, results, summary, deltas, per_task=args.per_task)


def _print(
    folder: Path,
    results: Sequence[CellResult],
    summary: Summary,
    deltas: Sequence[Delta] | None,
    *,
    per_task: bool,
) -> None:
    from hvr.bench import tables
    from hvr.bench.compare import delta_table
    from hvr.runs.tasks import label

    screen = console()
    for table in tables.main_tables(summary):
        screen.print(table)
    if per_task:
        for table in tables.task_tables(summary):
            screen.print(table)
    if deltas is not None:
        screen.print(delta_table(deltas, summary))
    errors = [r for r in results if not r.finished]
    for result in errors[:_MOST_ERRORS]:
        cell = result.cell
        where = f"{label(cell.task)} {cell.setting} {cell.model} seed {cell.seed}"
        screen.print(f"error in {where}: {result.error}", markup=False)
    if len(errors) > _MOST_ERRORS:
        screen.print(f"and {len(errors) - _MOST_ERRORS} more errors: see {folder / 'cells'}",
                      markup=False)  # fmt: skip
    done = sum(r.finished for r in results)
    screen.print(f"{done} of {len(results)} cells · saved in {folder}", markup=False)
