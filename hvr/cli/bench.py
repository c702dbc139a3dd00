"""`hvr bench`: tasks x settings x models x seeds, measured."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hvr.errors import UsageError

if TYPE_CHECKING:
    from hvr.evaluation.bench.cells import CellResult
    from hvr.evaluation.bench.runner import Listen, Progress

app = typer.Typer(name="bench", rich_markup_mode="markdown")

_TWELVE = "T1,T2,T3,T4,T5,T6,T7,T8,T9,T10,T11,T12"
_MOST_SEEDS = 1000

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
CsvFile = Annotated[
    Path | None, typer.Option("--csv", help="Write a CSV file with a line for each cell.")
]
HtmlFile = Annotated[
    Path | None,
    typer.Option("--html", help="Write a page with the paper's tables beside these, and plots."),
]
Compared = Annotated[
    Path | None,
    typer.Option(help="An earlier bench, as its folder or its --json: print what changed."),
]
PerTask = Annotated[bool, typer.Option("--per-task", help="Print a table for each measure, too.")]


@app.callback(invoke_without_command=True)
def bench(
    context: typer.Context,
    tasks: Annotated[str, typer.Option(help="Tasks, separated by commas, or `all`.")] = _TWELVE,
    settings: Annotated[
        str, typer.Option(help="Settings, such as HVR+ or HVR+planner_repair.")
    ] = "HVR,HV,HR,VR,R,LLM",
    models: Annotated[
        list[str] | None,
        typer.Option(
            help="Models, such as scripted:error=0.1 (a simulation) or openai:NAME.",
            show_default="scripted:error=0.1",
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option(help="How many (5 stands for 0 to 4), or which, as in 0,7.")
    ] = "1",
    scene: Annotated[
        str | None, typer.Option(help="Where. Default: where each task has its ground truth.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes; 0 for one a processor core.")] = 1,
    save: Annotated[
        Path | None,
        typer.Option(help="Folder of the bench; one that is there is gone on with. "
                     "Default: a new one under ./bench."),
    ] = None,
    execute: Annotated[
        bool, typer.Option("--execute/--no-execute", help="Carry plans out in the kitchen.")
    ] = True,
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible server.")
    ] = None,
    cassettes: Annotated[
        Path | None,
        typer.Option(help="Replay the answers in this folder, such as bench/x/transcripts."),
    ] = None,
    embedder: Annotated[
        str, typer.Option(help="Maps names to objects: lexical, minilm, st:NAME, openai:MODEL.")
    ] = "lexical",
    as_json: AsJson = False,
    csv_file: CsvFile = None,
    html_file: HtmlFile = None,
    compare: Compared = None,
    per_task: PerTask = False,
) -> None:  # fmt: skip
    """Plan tasks with models under the paper's settings, and measure the plans.

    Every finished cell is kept: the same command goes on where it was interrupted or killed,
    and tries cells again that ended in an error.

    Exit code 0: all cells have scores. 1: some ended in an error. 2: an option cannot be used.

    Examples:

    - `hvr bench --models scripted:error=0.1 --seeds 5 --jobs 2 --save bench/x`
    - `hvr bench --tasks T1,T2 --settings HVR+,HVR,LLM --html bench.html`
    - `hvr bench --models openai:NAME --base-url http://localhost:8000/v1 --json`
    - `hvr bench show bench/x --per-task`
    - `hvr bench show bench/x --compare bench/y`
    """
    if context.invoked_subcommand is not None:
        return
    from hvr.evaluation import cell as cells_module
    from hvr.evaluation.bench.cells import CellOptions, plan_cells
    from hvr.evaluation.bench.runner import run_bench
    from hvr.llm.choice import ModelChoice
    from hvr.tasks import task_ids

    _check_outputs(csv_file, html_file, compare)
    cells = plan_cells(
        task_ids() if tasks.lower() == "all" else split_list(tasks),
        split_list(settings),
        [spec for text in models or ["scripted:error=0.1"] for spec in split_models(text)],
        split_seeds(seeds),
        scene,
    )
    folder = save or Path("bench") / f"{datetime.now():%Y%m%d-%H%M%S}"
    options = CellOptions(
        execute=execute,
        cassettes=cassettes,
        model=ModelChoice(base_url=base_url, embedder=embedder),
    )
    cells_module.check_models(cells, options)
    prompts = cells_module.prompt_digests(options)
    try:
        with _progress(quiet=as_json) as listen:
            results = run_bench(
                folder, cells, cells_module.run_cell, options,
                jobs=jobs, prompts=prompts, listen=listen,
            )  # fmt: skip
    except KeyboardInterrupt:
        typer.echo(f"interrupted: finished cells are in {folder}, "
                   f"go on with --save {folder} and the same options", err=True)  # fmt: skip
        raise typer.Exit(130) from None
    _report(folder, results, as_json, csv_file, html_file, compare, per_task)
    raise typer.Exit(0 if all(r.finished for r in results) else 1)


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(help="Folder of a bench.")],
    as_json: AsJson = False,
    csv_file: CsvFile = None,
    html_file: HtmlFile = None,
    compare: Compared = None,
    per_task: PerTask = False,
) -> None:
    """Show the results of a bench, finished or not, without running anything.

    Examples:

    - `hvr bench show bench/x`
    - `hvr bench show bench/x --html bench.html --csv bench.csv`
    """
    from hvr.evaluation.bench.compare import load_results

    _check_outputs(csv_file, html_file, compare)
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder; `hvr bench --save` makes one")
    _report(folder, load_results(folder), as_json, csv_file, html_file, compare, per_task)


def split_list(text: str) -> list[str]:
    """Split at commas; empty parts are left out."""
    return [part.strip() for part in text.split(",") if part.strip()]


def split_models(text: str) -> list[str]:
    """Split specs of models at commas, except before an option as in `scripted:error=0,seed=1`."""
    found: list[str] = []
    for part in split_list(text):
        if found and ":" in found[-1] and re.match(r"[a-z_]+=", part):
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def split_seeds(text: str) -> list[int]:
    """Read `5` as 0 to 4, and `0,7` as these.

    Raises:
        UsageError: it is neither.
    """
    parts = split_list(text)
    if not parts or not all(re.fullmatch(r"\d{1,9}", part, re.ASCII) for part in parts):
        raise UsageError(f"--seeds must be a number such as 5, or a list such as 0,7, not {text!r}")
    numbers = list(dict.fromkeys(map(int, parts)))
    if "," in text:
        return numbers
    if not 1 <= numbers[0] <= _MOST_SEEDS:
        raise UsageError(f"--seeds must be 1 to {_MOST_SEEDS}, not {text}")
    return list(range(numbers[0]))


def _check_outputs(csv_file: Path | None, html_file: Path | None, compare: Path | None) -> None:
    """Say before hours of work what could not be written or read after them."""
    from hvr.cli.output import check_writable
    from hvr.evaluation.bench.compare import load_results

    for path in (csv_file, html_file):
        if path is not None:
            check_writable(path)
    if compare is not None:
        load_results(compare)


def _report(
    folder: Path,
    results: Sequence[CellResult],
    as_json: bool,
    csv_file: Path | None,
    html_file: Path | None,
    compared: Path | None,
    per_task: bool,
) -> None:
    from rich.console import Console

    from hvr.cli.output import write_whole
    from hvr.evaluation.bench import export, page, tables
    from hvr.evaluation.bench.compare import compare, delta_table, load_results
    from hvr.evaluation.bench.folder import BenchFolder
    from hvr.evaluation.bench.summary import summarise

    summary = summarise(results)
    manifest = BenchFolder(folder).manifest()
    deltas = compare(load_results(compared), results) if compared is not None else None
    if csv_file is not None:
        write_whole(csv_file, export.to_csv(results))
    if html_file is not None:
        write_whole(html_file, page.render(manifest, results, summary))
    if as_json:
        document = export.to_json(manifest, results, summary)
        if deltas is not None:
            document["compared"] = [delta.to_json() for delta in deltas]
        print(json.dumps(document, ensure_ascii=False))
        return
    console = Console()
    for table in tables.main_tables(summary):
        console.print(table)
    if per_task:
        for table in tables.task_tables(summary):
            console.print(table)
    if deltas is not None:
        console.print(delta_table(deltas, summary))
    for result in [r for r in results if not r.finished][:5]:
        cell = result.cell
        where = f"{cell.task} {cell.setting} {cell.model} seed {cell.seed}"
        console.print(f"error in {where}: {result.error}", markup=False)
    done = sum(r.finished for r in results)
    console.print(f"{done} of {len(results)} cells · saved in {folder}", markup=False)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Listen]:
    """Return a progress bar with the time left, on standard error."""
    if quiet:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )  # fmt: skip
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("cells", total=None)

        def listen(progress: Progress) -> None:
            latest = progress.result.cell if progress.result else None
            text = f"{latest.task} {latest.setting}" if latest else "cells"
            bar.update(task, total=progress.total, completed=progress.done, description=text)

        yield listen
