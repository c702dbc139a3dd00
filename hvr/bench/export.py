"""A bench as CSV, as JSON, and as the paper's tables 2 and 5 in LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from hvr.bench.cells import CellResult
from hvr.bench.scores import Scores
from hvr.bench.summary import Row, Stat, Summary
from hvr.models.meter import MeteredUse
from hvr.runs.tasks import label

# Export -------------------------------------------------------------------------------------------
# A bench as CSV, one line a cell, and as one JSON document.

_CELL = ("task", "scene", "setting", "model", "seed")
_SCORES = tuple(f.name for f in fields(Scores) if f.name not in ("spent", "failures"))
_SPENT = tuple(f.name for f in fields(MeteredUse))
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


# Latex --------------------------------------------------------------------------------------------
# The paper's tables 2 and 5 of a bench in LaTeX, for the package booktabs.

_COLUMNS = (
    ("goal", "success"),
    ("PC", "pc"),
    ("moderate", "pc_moderate"),
    ("high", "pc_high"),
    ("ES", "es"),
    ("LD", "ld"),
    ("EPV", "epv"),
)
_PAIRS = (("MPV", "mpv"), ("AABV", "aabv"))
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def to_latex(summary: Summary) -> str:
    """Return both tables for each model: averages with 95 % intervals, and PC by task."""
    beside = summary.beside()
    return "\n".join(
        table
        for model in beside.models
        for table in (_averages(beside, model), _by_task(beside, model))
    )


def escaped(text: str) -> str:
    """Return a text with the signs that LaTeX reads as commands written out."""
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


def _averages(summary: Summary, model: str) -> str:
    rows = [row for row in summary.rows if row.model == model]
    caption = (
        f"Averages for {escaped(summary.label(model))}, per cent, with 95\\,\\% bootstrap "
        "intervals over tasks and seeds; MPV and AABV (before) and after correction."
    )
    heads = [name for name, _ in (*_COLUMNS, *_PAIRS)]
    return _table(caption, ["setting", *heads], lambda: _average_lines(summary, rows))


def _average_lines(summary: Summary, rows: Sequence[Row]) -> Iterator[list[str]]:
    for row in rows:
        cells = [_with_interval(row.stats.get(key)) for _, key in _COLUMNS]
        for _, key in _PAIRS:
            before, after = (row.stats.get(f"{key}_{when}") for when in ("before", "after"))
            cells.append(f"({_mean(before)}) {_mean(after)}" if before or after else "--")
        yield [escaped(summary.name(row.setting)), *cells]


def _by_task(summary: Summary, model: str) -> str:
    caption = f"Plan correctness (PC) by task for {escaped(summary.label(model))}, per cent."

    def lines() -> Iterator[list[str]]:
        for setting in summary.settings:
            stats = [summary.stats.get(("pc", model, setting, task)) for task in summary.tasks]
            yield [escaped(summary.name(setting)), *map(_mean, stats)]

    return _table(caption, ["setting", *(escaped(label(task)) for task in summary.tasks)], lines)


def _table(caption: str, heads: Sequence[str], lines: Callable[[], Iterator[list[str]]]) -> str:
    body = "\n".join(f"{' & '.join(line)} \\\\" for line in lines())
    columns = "l" + "r" * (len(heads) - 1)
    return (
        f"\\begin{{table}}\n\\caption{{{caption}}}\n\\begin{{tabular}}{{{columns}}}\n"
        f"\\toprule\n{' & '.join(heads)} \\\\\n\\midrule\n{body}\n\\bottomrule\n"
        "\\end{tabular}\n\\end{table}\n"
    )


def _mean(stat: Stat | None) -> str:
    return "--" if stat is None else f"{100 * stat.mean:.1f}"


def _with_interval(stat: Stat | None) -> str:
    if stat is None or stat.low is None or stat.high is None:
        return _mean(stat)
    return f"{_mean(stat)} {{\\scriptsize [{100 * stat.low:.1f}, {100 * stat.high:.1f}]}}"
