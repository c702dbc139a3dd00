"""`hvr solve FOLDER` and `--anytime`: a table for many problems, or a series of better plans."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from hvr.base.engines.registry import EngineChoice
from hvr.base.files import try_lock, unwritable, writing
from hvr.base.printable import one_line
from hvr.base.texts import parse_json
from hvr.doors.cli.output import check_apart, check_writable, print_json, write_whole
from hvr.errors import DataFileError, UsageError
from hvr.pddl import print_plan
from hvr.pddl.plan import decimal_text
from hvr.planning.solving.race import usable_cores
from hvr.planning.solving.solve import (
    LOST,
    NO_PLAN,
    PLAN,
    UNDECIDED,
    UNUSABLE,
    SetCell,
    SetProblem,
    SetRow,
    SolveOptions,
    digest_of,
    find_set,
    solve_cell,
    summary,
)
from hvr.validation.report import count
from hvr.validation.suites import MANIFEST_ENDING

if TYPE_CHECKING:
    from hvr.planning.solving.race import FoundPlan


# Solving sets -------------------------------------------------------------------------------------

RESULTS = "results.jsonl"
OPTIONS = "set.json"
_LOCK = ".lock"


def is_problem_set(args: argparse.Namespace) -> bool:
    last = args.domain if args.file is None else args.file
    return (
        last is not None
        and args.world is None
        and (last.is_dir() or last.name.endswith(MANIFEST_ENDING))
    )


def solve_problem_set(args: argparse.Namespace) -> int:
    """Solve the problems in a folder or manifest, and return the exit code."""
    for name in ("execute", "anytime", "goal", "problem", "spec"):
        if getattr(args, name, None):
            field = "llm" if name == "spec" else name
            raise UsageError("this option requires a single problem, not a set", field=field)
    names = [str(one) for one in (args.domain, args.file) if one is not None]
    if args.file is not None and args.file.name.endswith(MANIFEST_ENDING):
        raise UsageError(f"{args.file} names the domains itself: omit {args.domain}")
    if args.file is not None and not args.domain.is_file():
        raise UsageError(f"the domain file {args.domain} does not exist")
    asked, left = find_set(names[-1], names[0] if len(names) > 1 else None)
    if args.csv is not None:
        _check_table(args, Path(names[-1]), asked)
    for one in left:
        print(f"note: {one_line(str(one))}", file=sys.stderr)
    options = SolveOptions(args.planner, args.budget, args.optimal, args.memory, args.downward)
    best = _references(args.reference, asked)
    with _results(args.save, options, asked) as (known, keep):
        rows = {key: row for key, row in known.items() if row.outcome != LOST}
        told = _Progress(len(asked), len(rows), quiet=args.quiet)
        try:
            for row in _solved([one for one in asked if one.key not in rows], options, args.jobs):
                rows[row.key] = row
                keep(row)
                told.row(row)
        except KeyboardInterrupt:
            if args.save is not None:
                print(
                    f"finished problems are in {args.save}: the same command resumes",
                    file=sys.stderr,
                )
            raise
    ordered = [rows[one.key] for one in asked]
    _report(ordered, best, args)
    return _exit_code(ordered)


def _check_table(args: argparse.Namespace, folder: Path, asked: Sequence[SetProblem]) -> None:
    table: Path = args.csv
    check_writable(table)
    kept = [str(args.save / RESULTS)] if args.save is not None else []
    check_apart([table], [*kept, *(name for one in asked for name in (one.domain, one.problem))])
    inside = Path(os.path.realpath(folder)) in Path(os.path.realpath(table)).parents
    if inside and table.is_file() and table.suffix.lower() != ".csv":
        raise UsageError(
            f"{table} belongs to the problem set: write the table to another file", field="csv"
        )


def _solved(asked: Sequence[SetProblem], options: SolveOptions, jobs: int) -> Iterator[SetRow]:
    from hvr.doors.cli.process import prepare_worker

    with closing(EngineChoice(None, jobs, None, prepare_worker).open(len(asked))) as engine:
        cores = max(1, usable_cores() // max(engine.width, 1))
        cells = [SetCell(one, options, cores) for one in asked]
        with closing(engine.run(solve_cell, cells)) as results:
            for done in results:
                one = asked[done.number]
                yield done.value or SetRow(
                    one.domain, one.problem, digest_of(one), LOST, message=done.lost
                )


@contextmanager
def _results(
    folder: Path | None, options: SolveOptions, asked: Sequence[SetProblem]
) -> Iterator[tuple[dict[str, SetRow], Callable[[SetRow], None]]]:
    """Open a folder's results; yield the known rows by key, and a function that appends a row."""
    if folder is None:
        yield {}, lambda _: None
        return
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    lock = try_lock(folder / _LOCK)
    if lock is None:
        raise UsageError(f"another process is writing results to {folder}", field="save")
    try:
        _check_options(folder, options)
        path = folder / RESULTS
        with path.open("r+b" if path.exists() else "w+b") as file:
            known = _read(file, path)
            # Match rows by content, since the set may have moved and a file may have changed.
            current = {
                one.key: replace(known[digest], domain=one.domain, problem=one.problem)
                for one in asked
                if (digest := digest_of(one)) in known
            }

            def keep(row: SetRow) -> None:
                file.write(json.dumps(row.to_json(), ensure_ascii=False).encode() + b"\n")
                file.flush()

            yield current, keep
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        lock.release()


def _check_options(folder: Path, options: SolveOptions) -> None:
    file = folder / OPTIONS
    told = json.dumps(options.to_json(), indent=2)
    if not file.exists():
        if any(path.name != _LOCK for path in folder.iterdir()):
            raise UsageError(f"{folder} is neither empty nor a folder of results", field="save")
        write_whole(file, f"{told}\n")
    elif parse_json(file.read_bytes()) != json.loads(told):
        raise UsageError(
            f"the results in {folder} were made with other options (see {OPTIONS}); name another "
            "folder",
            field="save",
        )


def _read(file: BinaryIO, path: Path) -> dict[str, SetRow]:
    rows: dict[str, SetRow] = {}
    end = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            break  # the process was killed while writing
        try:
            row = SetRow.of_json(parse_json(line))
        except (ValueError, KeyError, TypeError) as error:
            raise DataFileError(f"{path}:{number}: expected a row of results") from error
        if row.digest:
            rows[row.digest] = row
        end += len(line)
    file.seek(end)
    file.truncate()
    return rows


def _references(path: Path | None, asked: Sequence[SetProblem]) -> dict[str, Fraction]:
    best = {one.key: one.best for one in asked if one.best is not None}
    if path is not None:
        file = path / RESULTS if path.is_dir() else path
        try:
            with file.open("rb") as opened:
                lines = opened.read().splitlines(keepends=True)
        except OSError as error:
            raise DataFileError(f"{file} cannot be read: {error}") from error
        rows = _read(io.BytesIO(b"".join(lines)), file)
        for one in asked:
            row = rows.get(digest_of(one))
            if row is not None and row.cost is not None:
                best[one.key] = min(row.cost, best.get(one.key, row.cost))
    return best


class _Progress:
    def __init__(self, number: int, done: int, *, quiet: bool) -> None:
        self._number, self._done, self._quiet = number, done, quiet
        if done and not quiet:
            print(f"{count(done, 'problem')} of {number} already done", file=sys.stderr)

    def row(self, row: SetRow) -> None:
        self._done += 1
        if not self._quiet:
            what = "  ".join(part for part in (row.problem, *_outcome_texts(row)) if part)
            line = f"[{self._done}/{self._number}] {what}"
            print(one_line(line), file=sys.stderr, flush=True)


def _outcome_texts(row: SetRow) -> tuple[str, str]:
    if row.outcome == PLAN:
        proven = ", proven optimal" if row.proven else ""
        return f"cost {_cost(row)}{proven}", f"{row.seconds:.1f} s ({row.planner})"
    if row.outcome == NO_PLAN:
        return "proven unsolvable", f"{row.seconds:.1f} s ({row.planner})"
    return f"{row.outcome}: {row.message}", ""


def _cost(row: SetRow) -> str:
    return "" if row.cost is None else decimal_text(row.cost)


_COLUMNS = (
    "problem",
    "outcome",
    "cost",
    "steps",
    "proof",
    "seconds",
    "first",
    "quality",
    "planner",
)


def _line(row: SetRow, best: Mapping[str, Fraction]) -> dict[str, str]:
    quality = row.quality(best.get(row.key))
    proof = {PLAN: "best", NO_PLAN: "no plan"}.get(row.outcome, "") if row.proven else ""
    return {
        "problem": row.problem,
        "outcome": row.outcome,
        "cost": _cost(row),
        "steps": "" if row.steps is None else str(row.steps),
        "proof": proof,
        "seconds": f"{row.seconds:.1f}",
        "first": "" if row.first is None else f"{row.first:.1f}",
        "quality": "" if quality is None else f"{quality:.2f}",
        "planner": row.planner,
    }


def _report(rows: Sequence[SetRow], best: Mapping[str, Fraction], args: argparse.Namespace) -> None:
    figures = summary(rows, best, args.budget)
    if args.csv is not None:
        text = io.StringIO()
        table = csv.DictWriter(text, (*_COLUMNS, "domain", "message"), lineterminator="\n")
        table.writeheader()
        for row in rows:
            more = {"domain": row.domain, "message": row.message}
            table.writerow({**_line(row, best), **more})
        write_whole(args.csv, text.getvalue())
    if args.save is not None:
        _save_plans(args.save, rows)
    if args.json:
        told = [{**row.to_json(), "quality": row.quality(best.get(row.key))} for row in rows]
        print_json({"problems": told, "summary": figures})
        return
    if not args.quiet:
        start = len(os.path.commonpath([Path(row.problem).parent for row in rows]))
        lines = [_line(row, best) for row in rows]
        shown = [{**line, "problem": line["problem"][start:].lstrip(os.sep)} for line in lines]
        for text_line in _table(shown):
            print(one_line(text_line))
        print()
    print(_summary_line(figures))


def _table(lines: Sequence[Mapping[str, str]]) -> Iterator[str]:
    widths = {name: max(len(name), *(len(line[name]) for line in lines)) for name in _COLUMNS}
    left = ("problem", "outcome", "proof", "planner")

    def cells(line: Mapping[str, str]) -> str:
        padded = (
            line[name].ljust(widths[name]) if name in left else line[name].rjust(widths[name])
            for name in _COLUMNS
        )
        return "  ".join(padded).rstrip()

    yield cells({name: name for name in _COLUMNS})
    yield from map(cells, lines)


def _summary_line(figures: Mapping[str, float]) -> str:
    parts = [
        f"{figures['solved']} of {count(int(figures['problems']), 'problem')} solved, "
        f"all plans valid, {figures['proven_best']} proven optimal"
    ]
    for key, words in (
        ("proven_without_plan", "proven unsolvable"),
        ("undecided", "undecided"),
        ("unusable", "unusable"),
        ("lost", "lost"),
    ):
        if figures[key]:
            parts.append(f"{figures[key]} {words}")
    if figures["quality_of"]:
        parts.append(f"quality {figures['quality']:.2f} of {figures['quality_of']}")
    parts.append(f"agility {figures['agility']:.2f}")
    parts.append(f"{figures['seconds']:.0f} s")
    return "; ".join(parts)


def _save_plans(folder: Path, rows: Sequence[SetRow]) -> None:
    plans = folder / "plans"
    with writing(plans):
        plans.mkdir(exist_ok=True)
    for number, row in enumerate(rows, 1):
        if row.plan:
            write_whole(plans / f"{number:03}-{Path(row.problem).stem}.plan", row.plan)


def _exit_code(rows: Sequence[SetRow]) -> int:
    outcomes = {row.outcome for row in rows}
    for outcome, code in ((LOST, 3), (UNDECIDED, 4), (UNUSABLE, 2)):
        if outcome in outcomes:
            return code
    return 0


# Solving streams ----------------------------------------------------------------------------------


class AnytimePrinter:
    """A listener that prints each better plan and saves the best one so far.

    Args:
        folder: Folder for `plan.pddl`; None to save no plan.
    """

    def __init__(self, folder: Path | None, *, json_lines: bool) -> None:
        self._folder = folder
        self._json_lines = json_lines

    def __call__(self, found: FoundPlan) -> None:
        cost = found.report.cost
        if self._folder is not None:
            with writing(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._folder / "plan.pddl", print_plan(found.steps, cost))
        if self._json_lines:
            print_json(
                {
                    "event": "plan",
                    "seconds": round(found.seconds, 3),
                    "cost": None if cost is None else decimal_text(cost),
                    "planner": found.planner,
                    "steps": [str(step) for step in found.steps],
                }
            )
            return
        steps = count(len(found.steps), "step")
        told = "" if cost is None else f"cost {decimal_text(cost)}, "
        print(f"{found.seconds:8.1f} s  {told}{steps}, valid ({found.planner})", flush=True)
