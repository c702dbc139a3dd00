"""`hvr validate --rows` and `--serve`: verdicts for series of rows or requests."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from hvr.base.engines.registry import EngineChoice
from hvr.base.files import unwritable
from hvr.base.texts import check_stdin, parse_json, unreadable
from hvr.doors.cli.output import check_apart
from hvr.doors.cli.process import is_reader_gone
from hvr.errors import DataFileError
from hvr.validation import findings
from hvr.validation.batch import BatchOptions
from hvr.validation.findings import Judged
from hvr.validation.report import Outcome, PlanResult, ValidationReport, count
from hvr.validation.streaming import (
    PlanRow,
    ResidentValidator,
    read_rows,
    rejection_reason,
    rule_of,
    stream,
)

# Rows ---------------------------------------------------------------------------------------------

_TELL_SECONDS = 2.0


def judge_rows(
    name: str,
    options: BatchOptions,
    engine: EngineChoice | None,
    output: Path | None,
    *,
    quiet: bool,
) -> int:
    """Write one line of JSON per row: its number, its ID, and the verdict.

    Args:
        name: The file of rows, as for `read_rows`.
        engine: The engine that validates plans; None for this process.
        output: The file to write, whose existing rows are kept; None for standard output.

    Returns:
        0 if all plans are valid, 2 if a row could not be judged, otherwise 1. Existing rows count
            too.
    """
    outcomes: set[str] = set()
    rows = read_rows(name)
    if output is None:
        _write(rows, sys.stdout.buffer, (options, engine), outcomes, _Progress(0, quiet))
        sys.stdout.flush()
    else:
        check_apart([output], [name])
        # An input that cannot be read must leave no output.
        rows = chain(list(islice(rows, 1)), rows)
        try:
            with output.open("r+b" if output.exists() else "w+b") as file:
                done = _resume_lines(file, outcomes, output)
                told = _Progress(done, quiet)
                _write(islice(rows, done, None), file, (options, engine), outcomes, told)
        except OSError as error:
            raise unwritable(output, error) from error
    return 2 if Outcome.UNKNOWN in outcomes else 1 if Outcome.INVALID in outcomes else 0


def _resume_lines(file: BinaryIO, outcomes: set[str], path: Path) -> int:
    done = end = 0
    for line in file:
        if not line.endswith(b"\n"):
            break  # cut off when the process was killed
        try:
            said = parse_json(line)
            outcomes.add(said["outcome"])
            if said["row"] != done + 1:
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise DataFileError(
                f"{path}:{done + 1}: expected the verdict of a row: name a new file, or one that "
                "the same command started"
            ) from None
        done, end = done + 1, end + len(line)
    file.seek(end)
    file.truncate()
    return done


def _write(
    rows: Iterator[PlanRow],
    target: BinaryIO,
    how: tuple[BatchOptions, EngineChoice | None],
    outcomes: set[str],
    progress: _Progress,
) -> None:
    # The engine reads ahead, so remember rows until their verdicts arrive.
    ahead: deque[PlanRow] = deque()

    def texts() -> Iterator[tuple[str, str, str]]:
        for row in rows:
            ahead.append(row.replace(texts=("", "", "")))
            yield row.texts

    options, engine = how
    for judged in stream(texts(), options, engine):
        line = _line(ahead.popleft(), judged)
        outcomes.add(line["outcome"])
        target.write(json.dumps(line).encode() + b"\n")
        progress.one_more()
        if target is sys.stdout.buffer and is_reader_gone():
            break
    progress.end()


def _line(row: PlanRow, judged: Judged) -> dict[str, Any]:
    if row.error:
        report = ValidationReport(Outcome.UNKNOWN, 0, 0, reason=row.error)
        judged = Judged(PlanResult("", "", "", report), findings.UNDECIDED.id)
    report = judged.report
    return {
        "row": row.number,
        "id": row.id,
        "outcome": str(report.outcome),
        "rule": rule_of(judged) or None,
        "step": report.failure.step if report.failure else None,
        "steps": report.steps,
        "executed": report.executed,
        "reason": rejection_reason(report),
    }


class _Progress:
    def __init__(self, done: int, quiet: bool) -> None:
        self._done = self._resumed = done
        self._quiet = quiet
        self._begun = self._told = time.monotonic()
        if done and not quiet:
            print(f"{done} rows already judged", file=sys.stderr)

    def one_more(self) -> None:
        self._done += 1
        now = time.monotonic()
        if not self._quiet and now - self._told > _TELL_SECONDS:
            self._told = now
            self._tell(now, "\r" if sys.stderr.isatty() else "\n")

    def end(self) -> None:
        if not self._quiet:
            self._tell(time.monotonic(), "\n")

    def _tell(self, now: float, end: str) -> None:
        rate = (self._done - self._resumed) / max(now - self._begun, 1e-9)
        rows = count(self._done, "row")
        print(f"{rows} judged, {rate:.0f} a second", file=sys.stderr, end=end)


# Serve --------------------------------------------------------------------------------------------


def serve(options: BatchOptions, *, texts_only: bool = False) -> int:
    """Answer requests, ignoring files if `texts_only`, until input ends or the output is closed.

    Returns:
        The exit code 0; errors in a request or plan are part of its answer.
    """
    check_stdin()
    resident = ResidentValidator(options, texts_only=texts_only)
    try:
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            # ASCII, so that no character in a text looks like the end of the answer.
            sys.stdout.write(json.dumps(resident.answer(line)) + "\n")
            sys.stdout.flush()
            if is_reader_gone():
                break
    except OSError as error:
        raise unreadable("standard input", error) from error
    return 0
