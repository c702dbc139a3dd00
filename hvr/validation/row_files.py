"""Files of rows to judge, each with the texts of a domain, a problem and a plan."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hvr.base.extras import load
from hvr.base.texts import parse_json, unreadable
from hvr.errors import DataFileError, UsageError
from hvr.validation.judged import STDIN
from hvr.validation.streaming import COLUMNS
from hvr.values import Value

_BATCH = 256


class PlanRow(Value):
    """A row of a file.

    Attributes:
        number: its place in the file, from 1.
        id: what the row is called in the file, any JSON value; None where it says nothing.
        texts: of domain, problem and plan; empty where the row cannot be used.
        error: why it cannot be used, or "".
    """

    number: int
    id: Any = None
    texts: tuple[str, str, str] = ("", "", "")
    error: str = ""


def read_rows(name: str) -> Iterator[PlanRow]:
    """Read rows as they are asked for; a row that cannot be used says why.

    Args:
        name: a file of JSON lines, each an object with `domain`, `problem`, `plan` and if it likes
            `id`; one that ends in .parquet, with these columns; or - for lines of standard input.

    Raises:
        DataFileError: the file cannot be read.
        UsageError: it lacks a column.
        MissingExtraError: Parquet needs pyarrow.
    """
    if name.endswith(".parquet"):
        yield from _parquet(name)
        return
    try:
        if name == STDIN:
            if sys.stdin is None or sys.stdin.closed:
                raise DataFileError("cannot read standard input: it is closed")
            yield from _lines(sys.stdin.buffer)
        else:
            with Path(name).open("rb") as file:
                yield from _lines(file)
    except OSError as error:
        raise unreadable("standard input" if name == STDIN else name, error) from error


def _lines(lines: Iterable[bytes]) -> Iterator[PlanRow]:
    number = 0
    for line in lines:
        if not line.strip():
            continue
        number += 1
        try:
            values = parse_json(line)
        except (ValueError, MemoryError) as error:
            yield PlanRow(number, error=f"this is not JSON: {error}")
            continue
        if isinstance(values, dict):
            yield _row(number, values)
        else:
            yield PlanRow(number, error="a row is an object")


def _row(number: int, values: Mapping[str, Any]) -> PlanRow:
    mark = values.get("id")
    for name in COLUMNS:
        if not isinstance(values.get(name), str):
            return PlanRow(number, mark, error=f"its {name} is no text")
    return PlanRow(number, mark, (values["domain"], values["problem"], values["plan"]))


def _parquet(name: str) -> Iterator[PlanRow]:
    parquet = load("pyarrow.parquet", "pyarrow", "ray")
    try:
        file = parquet.ParquetFile(name)
    except OSError as error:
        raise unreadable(name, error) from error
    except Exception as error:
        raise DataFileError(f"{name} is no Parquet file: {error}") from error
    with file:
        columns = file.schema_arrow.names
        lacking = [column for column in COLUMNS if column not in columns]
        if lacking:
            raise UsageError(f"{name} has no column {lacking[0]!r} (columns: {', '.join(columns)})")
        wanted = [*COLUMNS, *(["id"] if "id" in columns else [])]
        number = 0
        for batch in file.iter_batches(batch_size=_BATCH, columns=wanted):
            for values in batch.to_pylist():
                number += 1
                yield _row(number, values)
