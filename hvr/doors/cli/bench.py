"""`hvr bench`: measures combinations of tasks, settings, models and seeds."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.printable import console
from hvr.doors.cli.arguments import (
    add_engine_options,
    add_json,
    add_model_options,
    add_path,
    engine_choice,
    jobs,
    model_choice,
)
from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.bench.cells import Cell, CellOptions, CellResult
    from hvr.bench.runner import Listen, Progress
    from hvr.bench.tables import Delta, Summary


# Lists --------------------------------------------------------------------------------------------

_MOST_SEEDS = 1000


def split_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def split_models(text: str) -> list[str]:
    """Split model names at commas, but keep options together, as in `scripted:error=0,seed=1`."""
    specs: list[str] = []
    for part in split_list(text):
        if specs and ":" in specs[-1] and re.match(r"[a-z_]+=", part):
            specs[-1] += f",{part}"
        else:
            specs.append(part)
    return specs


def split_seeds(text: str) -> list[int]:
    """Return the seeds 0 to 4 for `5`, or 0 and 7 for `0,7`; reject other text (UsageError)."""
    parts = split_list(text)
    if not parts or not all(re.fullmatch(r"\d{1,9}", part, re.ASCII) for part in parts):
        raise UsageError(f"--seeds must be a number such as 5, or a list such as 0,7, got {text!r}")
    numbers = list(dict.fromkeys(map(int, parts)))
    if "," in text:
        return numbers
    if not 1 <= numbers[0] <= _MOST_SEEDS:
        raise UsageError(f"--seeds must be from 1 to {_MOST_SEEDS}, got {text}")
    return list(range(numbers[0]))


# Report -------------------------------------------------------------------------------------------

_MOST_ERRORS = 5


def add_report_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("report")
    add_json(group, "print one JSON document")
    add_path(group, "--csv", "write a CSV file with a line per cell")
    add_path(group, "--html", "write a page with plots, and with the paper's tables for comparison")
    add_path(group, "--latex", "write the paper's tables 2 and 5 in LaTeX, with 95 %% intervals")
    add_path(
        group,
        "--compare",
        "print the changes since an earlier bench: its folder, or its --json output",
        metavar="BENCH",
    )
    group.add_argument("--per-task", action="store_true", help="also print a table per measure")


def check_report(args: argparse.Namespace) -> None:
    """Raise an error if a report cannot be written or the results to compare cannot be read."""
    from hvr.bench.tables import load_results
    from hvr.doors.cli.output import check_page, check_writable

    if args.html is not None:
        check_page(args.html)
    for path in (args.csv, args.latex):
        if path is not None:
            check_writable(path)
    if args.compare is not None:
        load_results(args.compare)


def report(folder: Path, results: Sequence[CellResult], args: argparse.Namespace) -> None:
    """Print the results, and write the requested files."""
    from hvr.bench import export
    from hvr.bench.folder import BenchFolder
    from hvr.bench.tables import compare, load_results, summarise
    from hvr.doors.cli.output import print_json, write_whole

    summary = summarise(results)
    manifest = BenchFolder(folder).manifest()
    deltas = compare(load_results(args.compare), results) if args.compare is not None else None
    if args.csv is not None:
        write_whole(args.csv, export.to_csv(results))
    if args.latex is not None:
        write_whole(args.latex, export.to_latex(summary))
    if args.html is not None:
        from hvr.doors.studio.documents import shared_page

        document = export.bench_report(manifest, results, summary, deltas)
        write_whole(args.html, shared_page(document, document["title"]))
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
    from hvr.bench.tables import delta_table
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
        screen.print(
            f"more errors ({len(errors) - _MOST_ERRORS}): see {folder / 'cells'}", markup=False
        )
    ends = Counter(r.error_kind for r in results if r.finished and r.error)
    if ends:
        told = ", ".join(f"{kind} ({number})" for kind, number in ends.most_common())
        screen.print(f"plans that ended early: {told}", markup=False)
    done = sum(r.finished for r in results)
    screen.print(f"{done} of {len(results)} cells finished · saved in {folder}", markup=False)


# Run ----------------------------------------------------------------------------------------------

_RUN_DESCRIPTION = """\
Plan tasks with models under several settings, or with other policies, and measure the plans.

A cell is one plan. Every finished cell is saved: the same command resumes an interrupted bench, and
repeats cells that ended in an error. --max-calls, --max-tokens and --max-dollars limit all cells
together, however often the bench is resumed.
"""

_RUN_EPILOG = """\
examples:
  hvr bench --models scripted:error=0.1 --seeds 5 --jobs 2 --save bench/x
  hvr bench --tasks T1,T2 --settings HVR+,HVR,LLM --html bench.html
  hvr bench --policy symbolic --policy toy_policy:OneBlock --settings HVR+ --latex tables.tex
  hvr bench --models openai:NAME --base-url http://localhost:8000/v1 --json
  hvr bench --tasks T1-T24 --settings all --models openai:NAME --price
  hvr bench --tasks T1-T24 --settings all --models openai:NAME --save bench/all --record runs.zip
  hvr bench --replay runs.zip
  hvr bench show bench/x --per-task
  hvr bench show bench/x --compare bench/y

exit codes:
  0  all cells have scores
  2  an option is invalid, or cells have no scores because an option or a key is wrong
  3  a cell failed with an internal error, or its processes died
  4  cells have no scores because a model failed or the budget is spent: the same command resumes
"""

_TWELVE = "T1,T2,T3,T4,T5,T6,T7,T8,T9,T10,T11,T12"
_SETTINGS = "HVR,HV,HR,VR,R,LLM"
_MODELS = ("scripted:error=0.1",)
_MODEL_FIELDS = (
    "base_url",
    "embedder",
    "prompts",
    "cache",
    "temperature",
    "timeout",
    "calls_per_plan",
    "max_calls",
    "max_tokens",
    "max_dollars",
)


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = _RUN_DESCRIPTION, _RUN_EPILOG
    parser.add_argument(
        "--tasks",
        default=_TWELVE,
        help=(
            "tasks, such as T2,T7 or T13-T24, or paper, or all, or task files and folders "
            "(default: %(default)s)"
        ),
    )
    parser.add_argument(
        "--settings",
        help=(
            "settings, such as HVR+, LLM+P or HVR+planner_repair, or all "
            f"(default: {_SETTINGS}, or none with --policy)"
        ),
    )
    parser.add_argument(
        "--policy",
        metavar="NAME|MODULE:ATTRIBUTE",
        action="append",
        default=[],
        help="a policy, such as symbolic or your own; may be repeated",
    )
    parser.add_argument(
        "--models",
        action="append",
        help=(
            "models, such as scripted:error=0.1 (a simulation) or openai:NAME "
            f"(default: {_MODELS[0]})"
        ),
    )
    parser.add_argument(
        "--seeds",
        default="1",
        help="number of seeds (5 means 0 to 4), or a list such as 0,7 (default: %(default)s)",
    )
    _add_execution_options(parser)


def _add_execution_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scene", help="the scene (default: each task's ground-truth scene)")
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=jobs,
        default=1,
        help="number of processes; 0 for one per processor core (default: %(default)s)",
    )
    add_engine_options(parser)
    add_path(
        parser,
        "--save",
        "folder of the bench; an existing one is resumed (default: a new one under ./bench)",
        metavar="FOLDER",
    )
    parser.add_argument(
        "--execute",
        action=argparse.BooleanOptionalAction,
        help="execute plans in the kitchen (default: yes, or as recorded with --replay)",
    )
    add_path(
        parser,
        "--cassettes",
        "replay answers from this folder, such as bench/x/transcripts",
        metavar="FOLDER",
    )
    parser.add_argument(
        "--price",
        action="store_true",
        help="only print the expected tokens and cost, without asking a model",
    )
    add_path(
        parser,
        "--record",
        "also write all prompts and answers into one file, which --replay reads",
        metavar="FILE.zip",
    )
    add_path(
        parser,
        "--replay",
        "replay the cells and answers of a recorded file, without a model",
        metavar="FILE.zip",
    )
    add_model_options(parser, _MODEL_FIELDS)
    add_report_options(parser)


def run_run(args: argparse.Namespace) -> int:
    from hvr.bench.cells import CellOptions
    from hvr.bench.folder import opened_recording

    check_report(args)
    if args.price:
        return _price(args)
    if args.replay is None:
        options = CellOptions(
            execute=args.execute is not False, cassettes=args.cassettes, model=model_choice(args)
        )
        return _run(args, _cells(args), options)
    with opened_recording(args.replay) as recording:
        known = recording.options
        model = replace(model_choice(args), embedder=known.embedder, temperature=known.temperature)
        execute = known.execute if args.execute is None else args.execute
        options = CellOptions(execute=execute, cassettes=recording.cassettes, model=model)
        return _run(args, recording.cells, options)


def _price(args: argparse.Namespace) -> int:
    from hvr.bench.cells import CellOptions
    from hvr.bench.tables import price_lines

    for line in price_lines(_cells(args), CellOptions(model=model_choice(args))):
        print(line)
    return 0


def _cells(args: argparse.Namespace) -> tuple[Cell, ...]:
    from hvr.bench.cells import plan_cells
    from hvr.runs.tasks import expand_ids

    return plan_cells(
        expand_ids(split_list(args.tasks)),
        split_list(_settings(args)),
        [spec for text in args.models or _MODELS for spec in split_models(text)],
        split_seeds(args.seeds),
        args.scene,
        args.policy,
    )


def _run(args: argparse.Namespace, cells: tuple[Cell, ...], options: CellOptions) -> int:
    from hvr.bench import runner as cell
    from hvr.bench.folder import record_bench
    from hvr.bench.runner import run_bench
    from hvr.bench.tables import price_lines
    from hvr.models.layers import notices

    folder = args.save or Path("bench") / f"{datetime.now():%Y%m%d-%H%M%S}"
    cell.check_models(cells, options)
    prompts = cell.prompt_digests(options)
    if args.replay is None and args.cassettes is None:
        for line in price_lines([c for c in cells if not c.simulated], options):
            print(f"expected: {line}", file=sys.stderr)
    try:
        with _progress(quiet=args.json) as listen, notices():
            results = run_bench(
                folder,
                cells,
                cell.run_cell,
                options,
                engine=engine_choice(args),
                prompts=prompts,
                listen=listen,
            )
    except KeyboardInterrupt:
        print(
            f"finished cells are in {folder}; resume with --save {folder} and the same options",
            file=sys.stderr,
        )
        raise
    if args.record is not None:
        record_bench(folder, cells, args.record)
    report(folder, results, args)
    return _exit_code([r.exit_code for r in results if not r.finished])


def _settings(args: argparse.Namespace) -> str:
    if args.settings == "all":
        from hvr.policies.llm.settings import CONSTRAINED, SETTINGS

        return ",".join((*SETTINGS, CONSTRAINED))
    return args.settings if args.settings is not None else "" if args.policy else _SETTINGS


def _exit_code(errors: Sequence[int]) -> int:
    if not errors:
        return 0
    # Internal errors take precedence over errors that a retry may resolve.
    unforeseen = [code for code in errors if code not in (1, 2, 4)]
    return 3 if unforeseen else 4 if 4 in errors else 2


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Listen]:
    if quiet:
        yield lambda _: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    from hvr.runs.tasks import label

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console(stderr=True)) as bar:
        task = bar.add_task("cells", total=None, rate="")
        begun = time.monotonic()

        def listen(progress: Progress) -> None:
            latest = progress.result.cell if progress.result else None
            text = f"{label(latest.task)} {latest.setting}" if latest else "cells"
            new = progress.done - progress.resumed
            rate = f"{new * 60 / max(time.monotonic() - begun, 0.1):.0f} a minute" if new else ""
            bar.update(
                task, total=progress.total, completed=progress.done, description=text, rate=rate
            )

        yield listen


# Show ---------------------------------------------------------------------------------------------

_SHOW_EPILOG = """\
examples:
  hvr bench show bench/x
  hvr bench show bench/x --html bench.html --csv bench.csv
"""


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _SHOW_EPILOG
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder of a bench")
    add_report_options(parser)


def run_show(args: argparse.Namespace) -> int:
    from hvr.bench.tables import load_results

    check_report(args)
    if not args.folder.is_dir():
        raise UsageError(f"the folder {args.folder} does not exist; `hvr bench --save` creates one")
    report(args.folder, load_results(args.folder), args)
    return 0
