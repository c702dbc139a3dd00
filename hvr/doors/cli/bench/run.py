"""`hvr bench`: plan with models, and measure the plans."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hvr.base.printable import console
from hvr.doors.cli.arguments import jobs
from hvr.doors.cli.bench.lists import split_list, split_models, split_seeds
from hvr.doors.cli.bench.report import add_report_options, check_report, report
from hvr.doors.cli.engine_options import add_engine_options, engine_choice
from hvr.doors.cli.model_options import add_model_options, model_choice

if TYPE_CHECKING:
    from hvr.bench.runner import Listen, Progress

_DESCRIPTION = """\
Plan tasks with models under the paper's settings, or with other policies, and measure the plans.

Every finished cell is kept: the same command goes on where it was interrupted or killed, and
tries cells again that ended in an error. --max-calls, --max-tokens and --max-dollars hold for all
cells together, however often the bench is gone on with; each cell is a plan.
"""

_EPILOG = """\
examples:
  hvr bench --models scripted:error=0.1 --seeds 5 --jobs 2 --save bench/x
  hvr bench --tasks T1,T2 --settings HVR+,HVR,LLM --html bench.html
  hvr bench --policy symbolic --policy toy_policy:OneBlock --settings HVR+ --latex tables.tex
  hvr bench --models openai:NAME --base-url http://localhost:8000/v1 --json
  hvr bench show bench/x --per-task
  hvr bench show bench/x --compare bench/y

exit codes:
  0  all cells have scores
  2  an option cannot be used, or cells have no scores because of such a thing (a wrong key)
  3  a cell failed for a reason that nobody foresaw, or its processes died
  4  cells have no scores because a model or the budget did not allow it: the same command goes on
"""

_TWELVE = "T1,T2,T3,T4,T5,T6,T7,T8,T9,T10,T11,T12"
_SETTINGS = "HVR,HV,HR,VR,R,LLM"
_MODELS = ("scripted:error=0.1",)
_MODEL_FIELDS = (
    "base_url", "embedder", "prompts", "cache", "temperature", "timeout",
    "calls_per_plan", "max_calls", "max_tokens", "max_dollars",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("--tasks", default=_TWELVE, help=(
        "tasks, such as T2,T7 or T13-T24, or paper, or all, or files and folders of your own "
        "(default: %(default)s)"))  # fmt: skip
    parser.add_argument("--settings", help=(
        "settings, such as HVR+, LLM+P or HVR+planner_repair "
        f"(default: {_SETTINGS}, or none with --policy)"))  # fmt: skip
    parser.add_argument("--policy", metavar="NAME|MODULE:ATTRIBUTE", action="append", default=[],
                        help="a policy, such as symbolic or your own; may be repeated")  # fmt: skip
    parser.add_argument("--models", action="append", help=(
        "models, such as scripted:error=0.1 (a simulation) or openai:NAME "
        f"(default: {_MODELS[0]})"))  # fmt: skip
    parser.add_argument("--seeds", default="1", help=(
        "how many (5 stands for 0 to 4), or which, as in 0,7 (default: %(default)s)"))  # fmt: skip
    parser.add_argument("--scene", help="where (default: where each task has its ground truth)")
    parser.add_argument("--jobs", metavar="N", type=jobs, default=1, help=(
        "processes; 0 for one a processor core (default: %(default)s)"))  # fmt: skip
    add_engine_options(parser)
    parser.add_argument("--save", metavar="FOLDER", type=Path, help=(
        "folder of the bench; one that is there is gone on with "
        "(default: a new one under ./bench)"))  # fmt: skip
    parser.add_argument("--execute", action=argparse.BooleanOptionalAction, default=True, help=(
        "carry plans out in the kitchen"))  # fmt: skip
    parser.add_argument("--cassettes", metavar="FOLDER", type=Path, help=(
        "replay the answers in this folder, such as bench/x/transcripts"))  # fmt: skip
    add_model_options(parser, _MODEL_FIELDS)
    add_report_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return the exit code.

    Raises:
        HvrError: an option cannot be used, or a file cannot be read or written.
    """
    from hvr.bench import cell
    from hvr.bench.cells import CellOptions, plan_cells
    from hvr.bench.runner import run_bench
    from hvr.models.notices import notices
    from hvr.runs.tasks import expand_ids

    check_report(args)
    cells = plan_cells(
        expand_ids(split_list(args.tasks)),
        split_list(_settings(args)),
        [spec for text in args.models or _MODELS for spec in split_models(text)],
        split_seeds(args.seeds),
        args.scene,
        args.policy,
    )
    folder = args.save or Path("bench") / f"{datetime.now():%Y%m%d-%H%M%S}"
    options = CellOptions(execute=args.execute, cassettes=args.cassettes, model=model_choice(args))
    cell.check_models(cells, options)
    prompts = cell.prompt_digests(options)
    try:
        with _progress(quiet=args.json) as listen, notices():
            results = run_bench(
                folder, cells, cell.run_cell, options,
                engine=engine_choice(args), prompts=prompts, listen=listen,
            )  # fmt: skip
    except KeyboardInterrupt:
        print(
            f"finished cells are in {folder}, go on with --save {folder} and the same options",
            file=sys.stderr,
        )
        raise
    report(folder, results, args)
    return _exit_code([r.exit_code for r in results if not r.finished])


def _settings(args: argparse.Namespace) -> str:
    """Return the settings that are meant: none where only policies are named."""
    return args.settings if args.settings is not None else "" if args.policy else _SETTINGS


def _exit_code(errors: Sequence[int]) -> int:
    """Return the exit code of a bench from those of the errors in its cells."""
    if not errors:
        return 0
    # What nobody foresaw comes first, then what asking again may mend.
    unforeseen = [code for code in errors if code not in (1, 2, 4)]
    return 3 if unforeseen else 4 if 4 in errors else 2


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Listen]:
    """Return a progress bar with the rate and the time left, on standard error."""
    if quiet:
        yield lambda _: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )  # fmt: skip
    from rich.progress import Progress as Bar

    from hvr.runs.tasks import label

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
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
