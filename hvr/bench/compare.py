"""Comparison of two benches: differences, and whether they exceed the spread over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from hvr.base.texts import read_json
from hvr.bench.cells import CellResult
from hvr.bench.columns import COLUMNS
from hvr.bench.folder import BenchFolder
from hvr.bench.summary import Stat, Summary, summarise
from hvr.errors import DataFileError

COMPARED = ("pc", "epv", "success", "ld", "calls")
"""The measures that are compared; fewer calls and a smaller discrepancy are better."""

ALL = "all"
"""Stands for the mean over all tasks."""


@dataclass(frozen=True)
class Delta:
    """A measure that both benches have.

    Args:
        measure: its key.
        model: spec of the model.
        setting: name of the settings.
        task: id, or `all`.
        old: before.
        new: now.
    """

    measure: str
    model: str
    setting: str
    task: str
    old: Stat
    new: Stat

    @property
    def difference(self) -> float:
        """New minus old."""
        return self.new.mean - self.old.mean

    @property
    def beyond_spread(self) -> bool | None:
        """It exceeds the greater of both spreads over seeds; None when neither is known."""
        spreads = [s for s in (self.old.spread, self.new.spread) if s is not None]
        if not spreads:
            return None
        return abs(self.difference) > max(spreads) + 1e-12

    @property
    def mark(self) -> str:
        """`▲` better, `▼` worse, both beyond the spread; `?` without a spread; else empty."""
        if abs(self.difference) <= 1e-12:
            return ""
        if self.beyond_spread is None:
            return "?"
        if not self.beyond_spread:
            return ""
        return "▲" if self.difference * COLUMNS[self.measure].better > 0 else "▼"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "measure": self.measure,
            "model": self.model,
            "setting": self.setting,
            "task": self.task,
            "old": self.old.to_json(),
            "new": self.new.to_json(),
            "difference": self.difference,
            "beyond_spread": self.beyond_spread,
        }


def load_results(path: Path) -> tuple[CellResult, ...]:
    """Return results of an earlier bench: its folder, or its JSON document.

    Raises:
        DataFileError: there is none, or it is damaged.
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
            f"{path} is neither the folder of a bench nor the JSON document of one: {error}"
        ) from error


def compare(old: Sequence[CellResult], new: Sequence[CellResult]) -> tuple[Delta, ...]:
    """Return the differences in COMPARED, over all tasks and for each task.

    The means over all tasks are over those tasks that both benches have.
    """
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
    """Return the differences of whole settings, and those of tasks that are beyond the spread."""
    caption = "▲ better, ▼ worse, beyond the spread over seeds · ? spread not known"
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
