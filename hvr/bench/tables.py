"""Terminal tables for a bench, and for the comparison of two benches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hvr.base.texts import read_json
from hvr.bench.cells import COLUMNS, CellResult
from hvr.bench.folder import BenchFolder
from hvr.bench.summary import Row, Stat, Summary, summarise
from hvr.errors import DataFileError
from hvr.runs.tasks import label
from hvr.values import JsonObject

# Tables -------------------------------------------------------------------------------------------

# Table 2 of the paper in two halves, so that each fits into 80 columns.
_PLANS = (
    ("goal", "success"),
    ("over", "over"),
    ("in budget", "within_budget"),
    ("PC", "pc"),
    ("moderate", "pc_moderate"),
    ("high", "pc_high"),
    ("LD", "ld"),
)
_OF_SOME = frozenset(("within_budget",))
_PER_TASK = [
    key
    for key, column in COLUMNS.items()
    if column.percent and key not in ("reached", "goal_conditions")
]


def main_tables(summary: Summary) -> Iterator[Table]:
    """Yield each model's tables by setting: plans, intervals, verification and answers."""
    summary = summary.beside()
    for model in summary.models:
        rows = [row for row in summary.rows if row.model == model]
        # only some tasks have a step budget
        shown = [(t, k) for t, k in _PLANS if k not in _OF_SOME or any(k in r.stats for r in rows)]
        plans = _table(f"Plans, per cent · {summary.label(model)}", [t for t, _ in shown])
        for row in rows:
            plans.add_row(
                summary.name(row.setting), *(with_spread(row.stats.get(k), k) for _, k in shown)
            )
        yield plans
        if any(stat.low is not None for row in rows for stat in row.stats.values()):
            yield _intervals(summary, model, rows)
        title = f"Verification, per cent · {summary.label(model)}"
        making = _table(title, ["EPV", "MPV", "AABV", "calls", "errors"])
        for row in rows:
            making.add_row(summary.name(row.setting), *_making(row))
        yield making
        if any(stat.mean for row in rows for key in _ANSWERS if (stat := row.stats.get(key))):
            yield _answers(summary, model, rows)


_ANSWERS = ("repaired", "unreadable")


def _answers(summary: Summary, model: str, rows: Sequence[Row]) -> Table:
    names = ["corrections", "repaired", "unread"]
    table = _table(f"Answers, per plan · {summary.label(model)}", names)
    for row in rows:
        values = (row.stats.get(key) for key in ("corrections", *_ANSWERS))
        texts = ("–" if stat is None else f"{stat.mean:.1f}" for stat in values)
        table.add_row(summary.name(row.setting), *texts)
    return table


def _intervals(summary: Summary, model: str, rows: Sequence[Row]) -> Table:
    shown = [(name, key) for name, key in _PLANS if not key.startswith("pc_")]
    shown = [(name, key) for name, key in shown if any(key in row.stats for row in rows)]
    title = f"95 % intervals, per cent · {summary.label(model)}"
    table = _table(title, [name for name, _ in shown])
    for row in rows:
        limits = [bounds(row.stats.get(key)) for _, key in shown]
        table.add_row(summary.name(row.setting), *limits)
    return table


def bounds(stat: Stat | None) -> str:
    if stat is None or stat.low is None or stat.high is None:
        return "–"
    return f"{100 * stat.low:.0f} to {100 * stat.high:.0f}"


def _making(row: Row) -> tuple[str, ...]:
    return (
        with_spread(row.stats.get("epv"), "epv"),
        before_after(row, "mpv"),
        before_after(row, "aabv"),
        with_spread(row.stats.get("calls"), "calls"),
        str(row.errors),
    )


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True)
    table.add_column("setting", overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def before_after(row: Row, name: str) -> str:
    """Format MPV or AABV as in the paper: `(before) after`; `–` if neither is known."""
    before, after = row.stats.get(f"{name}_before"), row.stats.get(f"{name}_after")
    if before is None and after is None:
        return "–"
    return f"({_percent(before)}) {_percent(after)}"


def with_spread(stat: Stat | None, key: str) -> str:
    """Format a statistic as `mean ±spread`, in per cent if the measure is a share; `–` for None."""
    if stat is None:
        return "–"
    column = COLUMNS.get(key)
    factor = 100.0 if column is None or column.percent else 1.0
    text = f"{factor * stat.mean:.1f}"
    return text if stat.spread is None else f"{text} ±{factor * stat.spread:.1f}"


def _rounded(stat: Stat | None, key: str) -> str:
    return "–" if stat is None else f"{(100 if COLUMNS[key].percent else 1) * stat.mean:.0f}"


def _percent(stat: Stat | None) -> str:
    return "–" if stat is None else f"{100 * stat.mean:.1f}"


def task_tables(summary: Summary) -> Iterator[Table]:
    """Yield one table per model and measure with a column per task (tables 5 to 16)."""
    summary = summary.beside()
    for model in summary.models:
        for key in _PER_TASK:
            if any(place[:2] == (key, model) for place in summary.stats):
                yield task_table(summary, model, key)


def task_table(summary: Summary, model: str, key: str) -> Table:
    """Return the values of one measure of a model, by setting (rows) and task (columns)."""
    column = COLUMNS[key]
    unit = " (per cent)" if column.percent else ""
    table = _table(
        f"{column.title}{unit} · {summary.label(model)}", [label(t) for t in summary.tasks]
    )
    for setting in summary.settings:
        stats = [summary.stats.get((key, model, setting, task)) for task in summary.tasks]
        table.add_row(summary.name(setting), *(_rounded(stat, key) for stat in stats))
    return table


# Compare ------------------------------------------------------------------------------------------

COMPARED = ("pc", "epv", "success", "ld", "calls")
"""Compared measures."""

ALL = "all"
"""Stands for the mean over all tasks."""


@dataclass(frozen=True)
class Delta(JsonObject):
    """The difference in a measure between two benches for a task, or for all if `task` is `all`."""

    measure: str
    model: str
    setting: str
    task: str
    old: Stat
    new: Stat

    json_shape = "measure model setting task old new difference beyond_spread"

    @property
    def difference(self) -> float:
        return self.new.mean - self.old.mean

    @property
    def beyond_spread(self) -> bool | None:
        """Whether the difference exceeds the known spreads of both means; None if none is known."""
        spreads = [s for s in (self.old.spread, self.new.spread) if s is not None]
        if not spreads:
            return None
        return abs(self.difference) > max(spreads) + 1e-12

    @property
    def mark(self) -> str:
        """Mark of a difference beyond the spread: `▲` (better) or `▼` (worse).

        The mark is `?` if no spread is known, and empty if the difference is within the spread.
        """
        if abs(self.difference) <= 1e-12:
            return ""
        if self.beyond_spread is None:
            return "?"
        if not self.beyond_spread:
            return ""
        return "▲" if self.difference * COLUMNS[self.measure].better > 0 else "▼"


def load_results(path: Path) -> tuple[CellResult, ...]:
    """Read the results of a bench from its folder or its JSON file.

    Raises:
        DataFileError: The path is neither.
    """
    if path.is_dir():
        bench = BenchFolder(path)
        bench.manifest()
        return bench.results()
    document = read_json(path, strict=False)
    try:
        cells = document["cells"]
        return tuple(CellResult.from_json({**c, "record": {}}) for c in cells)
    except (ValueError, KeyError, TypeError, AttributeError, DataFileError) as error:
        raise DataFileError(
            f"{path} is neither a bench folder nor a JSON document of a bench: {error}"
        ) from error


def compare(old: Sequence[CellResult], new: Sequence[CellResult]) -> tuple[Delta, ...]:
    """Return the differences in the measures `COMPARED`, per shared task and over all of them."""
    shared = {r.cell.task for r in old} & {r.cell.task for r in new}
    both = [summarise([r for r in results if r.cell.task in shared]) for results in (old, new)]
    return tuple(_deltas(*both))


def _deltas(old: Summary, new: Summary) -> Iterator[Delta]:
    for row in new.rows:
        before = old.row(row.setting, row.model)
        if before is None:
            continue
        for key in COMPARED:
            if key in before.stats and key in row.stats:
                yield Delta(key, row.model, row.setting, ALL, before.stats[key], row.stats[key])
    for (key, model, setting, task), stat in new.stats.items():
        was = old.stats.get((key, model, setting, task))
        if was is not None and key in COMPARED:
            yield Delta(key, model, setting, task, was, stat)


def delta_table(deltas: Sequence[Delta], summary: Summary) -> Table:
    caption = "▲ better, ▼ worse, beyond the spread over seeds · ? spread unknown"
    table = Table(title="Compared: new minus old", title_justify="left", caption=caption)
    for title in ("model", "setting", "task", "measure"):
        table.add_column(title)
    for title in ("old", "new", "difference", ""):
        table.add_column(title, justify="right")
    for delta in deltas:
        if delta.task != ALL and not delta.mark:
            continue
        column = COLUMNS[delta.measure]
        sign = "+" if delta.difference > 0 else ""
        names = (summary.label(delta.model), delta.setting, delta.task, column.title)
        means = (column.show(delta.old.mean), column.show(delta.new.mean))
        table.add_row(*names, *means, sign + column.show(delta.difference), delta.mark)
    return table
