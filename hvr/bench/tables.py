"""Statistics over cells, and terminal tables for a bench and for the comparison of two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hvr.base.texts import read_json
from hvr.bench.cells import (
    COLUMNS,
    HIGH,
    MODERATE,
    NO_MODEL,
    Cell,
    CellOptions,
    CellResult,
    policy_of,
)
from hvr.bench.folder import BenchFolder
from hvr.errors import DataFileError
from hvr.models.config import read_config
from hvr.models.connect import is_simulation, loads_weights
from hvr.policies.llm.settings import decided, is_agent, is_goal, settings_named
from hvr.runs.tasks import label
from hvr.values import JsonObject

# Intervals ----------------------------------------------------------------------------------------
# Bootstrap confidence intervals for means over tasks and seeds: percentile intervals (Efron &
# Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13). Tasks are resampled first, then
# the seeds of each task, since another bench would have other tasks and seeds.

LEVEL = 0.95
RESAMPLES = 1000


def bootstrap_interval(groups: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Return a 95 % bootstrap interval for the mean of group means; None for fewer than two values.

    `groups` contains the values over seeds for each task. The result is deterministic.
    """
    filled = [group for group in groups if group]
    if sum(map(len, filled)) < 2:
        return None
    first = filled[0][0]
    if all(value == first for group in filled for value in group):
        return first, first
    # A fixed seed makes the interval reproducible.
    rng = Random(0)
    means = sorted(
        fmean([_resampled_mean(group, rng) for group in rng.choices(filled, k=len(filled))])
        for _ in range(RESAMPLES)
    )
    outside = round(RESAMPLES * (1 - LEVEL) / 2)
    return means[outside], means[-1 - outside]


def _resampled_mean(group: Sequence[float], rng: Random) -> float:
    size = len(group)
    if size == 1:
        return group[0]
    # the same sample as rng.choices returns, in half the time
    random = rng.random
    return fsum([group[int(random() * size)] for _ in range(size)]) / size


# Statistics ---------------------------------------------------------------------------------------

TWELVE = (*MODERATE, *HIGH)
"""Tasks in the paper's averages; T5bis is compared only with T5 (table 4).

The paper's measures are averaged over these, for comparison with its tables, and all others over
all tasks of a bench except T5bis.
"""


@dataclass(frozen=True)
class Stat(JsonObject):
    """A mean and its variation over seeds.

    Args:
        mean: Mean over seeds of the means over tasks.
        spread: Sample standard deviation over seeds; None with fewer than two seeds.
        count: Number of values.
        low: Lower bound of the 95 % bootstrap interval over tasks and seeds, if known.
        high: Upper bound of this interval, if known.
    """

    mean: float
    spread: float | None
    count: int
    low: float | None = None
    high: float | None = None

    json_shape = "mean spread count low- high-"

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Stat:
        bounds = values.get("low"), values.get("high")
        return cls(float(values["mean"]), values["spread"], int(values["count"]), *bounds)


@dataclass(frozen=True)
class Row(JsonObject):
    """Statistics of a setting with a model.

    Args:
        cells: Number of cells with scores.
        errors: Number of cells that ended in an error; the means exclude them.
        stats: Statistics by key: the keys of COLUMNS, and `pc_moderate`, `pc_high`, `ld_min`,
            `ld_max`, `ld_abs`. The paper's measures cover only `TWELVE`, unless the bench has none
            of them; other measures cover all tasks except T5bis.
        failures: Number of failures and errors by kind.
        without_model: Whether the setting is a policy that uses no model.
    """

    setting: str
    model: str
    simulated: bool
    cells: int
    errors: int
    stats: Mapping[str, Stat]
    failures: Mapping[str, int]
    without_model: bool = False

    json_shape = "setting model simulated cells errors stats failures"


Place = tuple[str, str, str, str]
"""Column, model, setting and task."""


@dataclass(frozen=True)
class Summary:
    tasks: tuple[str, ...]
    settings: tuple[str, ...]
    models: tuple[str, ...]
    rows: tuple[Row, ...]
    stats: Mapping[Place, Stat]

    def row(self, setting: str, model: str) -> Row | None:
        return next((r for r in self.rows if (r.setting, r.model) == (setting, model)), None)

    def simulated(self, model: str) -> bool:
        return any(row.simulated for row in self.rows if row.model == model)

    def label(self, model: str) -> str:
        """Return a model's name for reports, which says whether the model is simulated."""
        if model == NO_MODEL:
            return "no language model"
        return f"{model} (simulated)" if self.simulated(model) else model

    def name(self, setting: str) -> str:
        policy = policy_of(setting)
        if policy is None:
            return setting
        short = policy.rpartition(":")[2]
        same = [s for s in self.settings if (policy_of(s) or "").rpartition(":")[2] == short]
        name = short if len(same) == 1 else policy
        alone = any(r.setting == setting and r.without_model for r in self.rows)
        return f"{name} (no model)" if alone else name

    def beside(self) -> Summary:
        """Return the summary with the rows of policies without a model repeated for each model."""
        models = tuple(model for model in self.models if model != NO_MODEL)
        if not models or NO_MODEL not in self.models:
            return self
        alone = [row for row in self.rows if row.model == NO_MODEL]
        rows = [
            row
            for model in models
            for row in (
                *(row for row in self.rows if row.model == model),
                *(replace(row, model=model) for row in alone),
            )
        ]
        stats = {
            (key, model, setting, task): stat
            for (key, of, setting, task), stat in self.stats.items()
            for model in ((of,) if of != NO_MODEL else models)
        }
        return replace(self, models=models, rows=tuple(rows), stats=stats)

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": [row.to_json() for row in self.rows],
            "per_task": [
                dict(zip(("measure", "model", "setting", "task"), place, strict=True))
                | stat.to_json()
                for place, stat in self.stats.items()
            ],
        }


def summarise(results: Sequence[CellResult]) -> Summary:
    settings = tuple(dict.fromkeys(r.cell.setting for r in results))
    models = tuple(dict.fromkeys(r.cell.model for r in results))
    tasks = tuple(dict.fromkeys(r.cell.task for r in results))
    groups: dict[tuple[str, str], list[CellResult]] = {}
    for result in results:
        groups.setdefault((result.cell.model, result.cell.setting), []).append(result)
    stats: dict[Place, Stat] = {}
    for (model, setting), group in groups.items():
        for task in tasks:
            by_task = [r for r in group if r.cell.task == task]
            for key in COLUMNS:
                stat = _stat(by_task, key)
                if stat is not None:
                    stats[key, model, setting, task] = stat
    rows = tuple(_row(s, m, groups[m, s]) for m in models for s in settings if (m, s) in groups)
    return Summary(tasks, settings, models, rows, stats)


def _row(setting: str, model: str, group: Sequence[CellResult]) -> Row:
    twelve = [r for r in group if r.cell.task in TWELVE]
    # a bench of T5bis alone has nothing else to average
    counted = twelve or list(group)
    everything = [r for r in group if r.cell.task != "T5bis"] or list(group)
    stats = {
        key: stat
        for key, column in COLUMNS.items()
        if (stat := _stat(counted if column.of_paper else everything, key)) is not None
    }
    for name, tasks in (("pc_moderate", MODERATE), ("pc_high", HIGH)):
        stat = _stat([r for r in counted if r.cell.task in tasks], "pc")
        if stat is not None:
            stats[name] = stat
    stats.update(_lengths(counted))
    failures: Counter[str] = Counter()
    for result in group:
        if result.scores is not None:
            failures.update(result.scores.failures)
        else:
            failures[f"error: {result.error_kind}"] += 1
    return Row(
        setting=setting,
        model=model,
        simulated=any(r.simulated or r.cell.simulated for r in group),
        cells=sum(r.finished for r in group),
        errors=sum(not r.finished for r in group),
        stats=stats,
        failures=dict(failures.most_common()),
        without_model=model == NO_MODEL,
    )


def _lengths(results: Sequence[CellResult]) -> dict[str, Stat]:
    """Return minimum, maximum and mean absolute LD over tasks, averaged over seeds (table 7)."""
    values: dict[str, list[float]] = {}
    for group in _by_seed(results).values():
        lengths = [r.scores.ld for r in group if r.scores is not None]
        if lengths:
            values.setdefault("ld_min", []).append(min(lengths))
            values.setdefault("ld_max", []).append(max(lengths))
            values.setdefault("ld_abs", []).append(fmean(map(abs, lengths)))
    return {name: _over_seeds(seeds, len(seeds)) for name, seeds in values.items()}


def _stat(results: Iterable[CellResult], key: str) -> Stat | None:
    # Average over seeds last, so that the spread measures only their variation.
    value = COLUMNS[key].value
    means, count = [], 0
    by_task: dict[str, list[float]] = {}
    for group in _by_seed(results).values():
        values = [
            (r.cell.task, v) for r in group if r.scores and (v := value(r.scores)) is not None
        ]
        if values:
            means.append(fmean(v for _, v in values))
            count += len(values)
        for task, v in values:
            by_task.setdefault(task, []).append(v)
    if not means:
        return None
    return _over_seeds(means, count, bootstrap_interval(list(by_task.values())))


def _over_seeds(
    means: Sequence[float], count: int, bounds: tuple[float, float] | None = None
) -> Stat:
    low, high = bounds or (None, None)
    return Stat(fmean(means), stdev(means) if len(means) > 1 else None, count, low, high)


def _by_seed(results: Iterable[CellResult]) -> dict[int, list[CellResult]]:
    groups: dict[int, list[CellResult]] = {}
    for result in results:
        groups.setdefault(result.cell.seed, []).append(result)
    return groups


# Prices -------------------------------------------------------------------------------------------
# Estimates of a bench's cost, based on the tokens of earlier plans.

# Tokens of a plan, in and out: means over T1 to T9 with the simulated model at an error rate of 0.1
# (docs/results/live.md). A weaker model needs more corrections, and a reasoning model more tokens.
# Agent and constrained plans were not measured with a capable model; ten turns and twenty steps are
# assumed.
_TOKENS: Mapping[str, tuple[int, int]] = {
    "batching": (7_700, 3_400),
    "hierarchical": (9_800, 2_900),
    "whole": (3_500, 400),
    "goal": (2_300, 300),
    "agent": (40_000, 1_500),
    "constrained": (20_000, 1_800),
    "whole, constrained": (60_000, 400),
}
_SPREAD = 3
"""Ratio between an expensive plan and the mean."""


def price_lines(cells: Sequence[Cell], options: CellOptions) -> Iterator[str]:
    """Yield one line per model with the estimated tokens and US dollars for a bench."""
    counts = Counter((cell.model, cell.setting) for cell in cells if cell.model != NO_MODEL)
    for model in dict.fromkeys(model for model, _ in counts):
        plans = {setting: n for (name, setting), n in counts.items() if name == model}
        tokens = [sum(_tokens(s)[side] * n for s, n in plans.items()) for side in (0, 1)]
        chosen = read_config(replace(options.model, spec=model))
        price = chosen.options.price(model.partition(":")[2])
        if is_simulation(model):
            cost = "free, because the model is simulated"
        elif loads_weights(model):
            cost = "free, because the model runs on this machine"
        elif price is None:
            cost = "price unknown: set it in [tool.hvr.llm.prices] of pyproject.toml"
        else:
            dollars = price.at_most(*tokens)
            cost = f"about ${dollars:.2f}, usually at most ${_SPREAD * dollars:.2f}"
        yield (
            f"{model}: {sum(plans.values())} plans, about {tokens[0]:,} tokens in and "
            f"{tokens[1]:,} out; {cost}"
        )


def _tokens(setting: str) -> tuple[int, int]:
    if is_agent(setting):
        return _TOKENS["agent"]
    if is_goal(setting):
        return _TOKENS["goal"]
    settings = settings_named(decided(setting, True))
    if settings.constrained:
        return _TOKENS["constrained" if settings.hierarchical else "whole, constrained"]
    if not settings.hierarchical:
        return _TOKENS["whole"]
    return _TOKENS["batching" if settings.batching else "hierarchical"]


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
