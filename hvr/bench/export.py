"""A bench as CSV, one line a cell, and as one JSON document."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from hvr.bench.cells import CellResult
from hvr.bench.scores import Scores
from hvr.bench.summary import Summary
from hvr.models.meter import Spent

_CELL = ("task", "scene", "setting", "model", "seed")
_SCORES = tuple(f.name for f in fields(Scores) if f.name not in ("spent", "failures"))
_SPENT = tuple(f.name for f in fields(Spent))
HEADER = (*_CELL, "simulated", *_SCORES, *_SPENT, "failures", "error")
"""Columns of the CSV; shares are 0 to 1, an empty field is "not applicable" or "not known"."""


def to_csv(results: Sequence[CellResult]) -> str:
    """Return one line for each cell, with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, HEADER, lineterminator="\n")
    writer.writeheader()
    for result in results:
        line: dict[str, Any] = {**asdict(result.cell), "error": result.error}
        line["simulated"] = result.simulated or result.cell.simulated
        if result.scores is not None:
            line |= {name: getattr(result.scores, name) for name in _SCORES}
            line |= asdict(result.scores.spent)
            kinds = result.scores.failures.items()
            line["failures"] = "; ".join(f"{kind} x{count}" for kind, count in kinds)
        writer.writerow(line)
    return text.getvalue()


def to_json(
    manifest: Mapping[str, Any], results: Sequence[CellResult], summary: Summary
) -> dict[str, Any]:
    """Return the whole bench but the records of the plans, which the files of the cells have."""
    cells = []
    for result in results:
        values = result.to_json()
        del values["record"]
        cells.append(values)
    return {"bench": 1, "manifest": dict(manifest), "summary": summary.to_json(), "cells": cells}
