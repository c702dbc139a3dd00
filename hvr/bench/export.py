"""Export of a bench: CSV, JSON, LaTeX tables in the paper's form, and a report for the studio."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from hvr.bench.cells import COLUMNS, CellResult, Scores
from hvr.bench.tables import Delta, Row, Stat, Summary, before_after, bounds, with_spread
from hvr.models.layers import MeteredUse
from hvr.runs.report.charts import Part, Series, bars, data_table, report, scatter, section, stacked
from hvr.runs.tasks import label as task_label

# Export -------------------------------------------------------------------------------------------

_CELL = ("task", "scene", "setting", "model", "seed")
_SCORES = tuple(f.name for f in fields(Scores) if f.name not in ("spent", "failures"))
_SPENT = tuple(f.name for f in fields(MeteredUse))
HEADER = (*_CELL, "simulated", *_SCORES, *_SPENT, "failures", "error")
"""Columns of the CSV file. Shares are from 0 to 1; empty fields mean not applicable or unknown."""


def to_csv(results: Sequence[CellResult]) -> str:
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
    """Return the bench as JSON values, without the planning records."""
    cells = []
    for result in results:
        values = result.to_json()
        del values["record"]
        cells.append(values)
    return {"bench": 1, "manifest": dict(manifest), "summary": summary.to_json(), "cells": cells}


# Latex --------------------------------------------------------------------------------------------
# The paper's tables 2 and 5, for the package booktabs.

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
    """Return two LaTeX tables per model: means with 95 % intervals, and PC by task."""
    beside = summary.beside()
    return "\n".join(
        table
        for model in beside.models
        for table in (_averages(beside, model), _latex_by_task(beside, model))
    )


def latex_escaped(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


def _averages(summary: Summary, model: str) -> str:
    rows = [row for row in summary.rows if row.model == model]
    caption = (
        f"Averages for {latex_escaped(summary.label(model))}, per cent, with 95\\,\\% bootstrap "
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
        yield [latex_escaped(summary.name(row.setting)), *cells]


def _latex_by_task(summary: Summary, model: str) -> str:
    caption = f"Plan correctness (PC) by task for {latex_escaped(summary.label(model))}, per cent."

    def lines() -> Iterator[list[str]]:
        for setting in summary.settings:
            stats = [summary.stats.get(("pc", model, setting, task)) for task in summary.tasks]
            yield [latex_escaped(summary.name(setting)), *map(_mean, stats)]

    return _table(
        caption, ["setting", *(latex_escaped(task_label(task)) for task in summary.tasks)], lines
    )


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


# Paper --------------------------------------------------------------------------------------------
# The results reported in the HVR paper.
#
# Source: Petruzzellis, Cornelio, Lio, "Hierarchical Planning for Complex Tasks with Knowledge
# Graph-RAG and Symbolic Verification", 2025, tables 1, 2 and 4 to 16.

MODELS = ("Phi3", "Gemini")
"""Models of the paper: Phi-3-mini-4k-instruct and gemini-1.5-flash."""

SETTINGS = ("HVR", "HV", "HR", "VR", "R", "LLM")

TABLES: Mapping[str, tuple[str, str]] = {
    "pc": ("5", "11"),
    "es": ("6", "12"),
    "ld": ("7", "13"),
    "epv": ("8", "14"),
    "mpv": ("9", "15"),
    "aabv": ("10", "16"),
}
"""Table numbers of each measure, in the order of MODELS."""

Values = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True)
class PaperTables:
    """The paper's tables, in per cent except for the counts in table 1.

    Args:
        tables: Content by the table's number.
        inconsistencies: Descriptions of contradictions within the paper.
        source: Authors, title and year.
    """

    tables: Mapping[str, Mapping[str, Any]]
    inconsistencies: tuple[str, ...]
    source: str

    def summary(self, model: str) -> Values:
        """Return table 2: values of each setting by name, such as `mpv_before`."""
        rows: Values = self.tables["2"]["rows"][model]
        return rows

    def per_task(self, measure: str, model: str, stage: str = "") -> Values:
        """Return one of tables 5 to 16: values by setting and task, including the printed averages.

        Args:
            measure: `pc`, `es`, `ld`, `epv`, `mpv` or `aabv`.
            stage: `before` or `after` correction; required for `mpv` and `aabv`.
        """
        table = self.tables[self.number(measure, model)]
        rows: Values = table[stage or "rows"]
        return rows

    def number(self, measure: str, model: str) -> str:
        """Return the number that the paper gives to the table of a measure."""
        return TABLES[measure][MODELS.index(model)]

    def special(self) -> Mapping[str, Mapping[str, Values]]:
        """Return table 4: PC, LD and EPV of T5bis and T5 by setting and model."""
        rows: Mapping[str, Mapping[str, Values]] = self.tables["4"]["rows"]
        return rows


@cache
def paper_tables() -> PaperTables:
    path = Path(__file__).with_name("paper_tables.json")
    values = json.loads(path.read_text(encoding="utf-8"))
    source = values["source"]
    return PaperTables(
        values["tables"],
        tuple(entry["what"] for entry in values["inconsistencies"]),
        f"{source['authors']}: {source['title']} ({source['year']})",
    )


# Page ---------------------------------------------------------------------------------------------
# hvr's tables beside the paper's, and charts, which the studio draws.

_SECTIONS = {
    "success": "Valid plans that reach the goal",
    "over": "Extra steps over the shortest known plan",
    "pc": "Plan correctness (PC)",
    "es": "Execution success (ES), of correct plans",
    "ld": "Length discrepancy (LD)",
    "epv": "Expanded plan verification (EPV)",
    "mpv": "Macro plan verification (MPV)",
    "aabv": "Atomic action block verification (AABV)",
}
_COST = ("calls", "corrections", "planner_calls", "library_hits", "tokens", "cost", "seconds")
# The title, the key in a row's statistics, and the key in the paper's table 2.
_LEADING = (
    ("goal", "success"),
    ("executed", "reached"),
    ("over", "over"),
    ("in budget", "within_budget"),
)
_MAIN = (
    ("PC", "pc", "pc_all"),
    ("PC moderate", "pc_moderate", "pc_moderate"),
    ("PC high", "pc_high", "pc_high"),
)
_LENGTHS = (
    ("LD min", "ld_min", "ld_min"),
    ("LD max", "ld_max", "ld_max"),
    ("LD", "ld", "ld_avg"),
    ("|LD|", "ld_abs", "ld_abs"),
    ("EPV", "epv", "epv"),
)
_VERIFIED = (("MPV", "mpv"), ("AABV", "aabv"))
_MORE = (("conditions", "goal_conditions"),)
_MOST_KINDS = 14
_MOST_ERRORS = 50


def bench_report(
    manifest: Mapping[str, Any],
    results: Sequence[CellResult],
    summary: Summary,
    deltas: Sequence[Delta] | None = None,
) -> dict[str, Any]:
    """Return a JSON report that sets the bench beside the paper's tables.

    If `deltas`, the changes since an earlier bench, are given, the report includes them.
    """
    summary = summary.beside()
    names = [summary.label(m) for m in summary.models]
    paper = paper_tables()
    source = (
        f"{paper.source}. Its plans and ground truths are for other scenes than hvr's, so compare "
        "orders of magnitude rather than digits. Known inconsistencies within the paper:"
    )
    sections = [
        *_compared(deltas),
        section("Summary (table 2)", *_summary(summary), text=[_NOTE]),
        section("Charts", *_plots(summary)),
        section("Cost", _costs(summary)),
        section("T5 and T5bis (table 4)", *_special(summary)),
        *_by_task(summary),
        *_errors(results),
        section("About the paper's numbers", text=[source, *paper.inconsistencies]),
    ]
    about = _about(manifest, results, names)
    return report(f"hvr bench: {', '.join(names)}", sections, about, _simulated(summary))


def _about(
    manifest: Mapping[str, Any], results: Sequence[CellResult], names: Sequence[str]
) -> Mapping[str, str]:
    subject, starts = manifest["subject"], manifest["starts"]
    last = starts[-1] if starts else {}
    failed = sum(not r.finished for r in results)
    return {
        "Models": ", ".join(names),
        "Settings": ", ".join(subject["settings"]),
        "Tasks": ", ".join(subject["tasks"]),
        "Seeds": ", ".join(map(str, subject["seeds"])),
        "Cells": f"{len(results)}" + (f", {failed} with an error" if failed else ""),
        "Code": f"hvr {last.get('hvr')}, commit {last.get('commit')}",
        "Machine": f"Python {last.get('python')}, {last.get('system')}, {last.get('machine')}",
        "Started": ", ".join(str(s.get("time")) for s in starts),
    }


def _compared(deltas: Sequence[Delta] | None) -> Iterator[Part]:
    if deltas is None:
        return
    known = {True: "yes", False: "no", None: "unknown"}
    rows = [
        (
            COLUMNS[one.measure].title if one.measure in COLUMNS else one.measure,
            one.model,
            one.setting,
            one.task,
            *(f"{value:.3g}" for value in (one.old.mean, one.new.mean, one.difference)),
            known[one.beyond_spread],
        )
        for one in deltas
    ]
    header = ("measure", "model", "setting", "task", "before", "now", "change", "beyond the spread")
    yield section("Changes since the other bench", data_table("All differences", header, rows))


def _simulated(summary: Summary) -> str:
    names = [summary.label(m) for m in summary.models if summary.simulated(m)]
    if not names:
        return ""
    return (
        f"Simulated, not a language model: {', '.join(names)}. The answers come from the ground "
        "truth with errors at a given rate, so these numbers show what each part of the pipeline "
        "repairs, not what a language model achieves."
    )


_NOTE = (
    "Means in per cent, except calls, with ± the standard deviation over seeds; the paper's "
    "measures are averaged over T1 to T12. Goal: valid plans that reach the goal. Executed: "
    "executed plans that reached the goal. Over: extra steps over the shortest known plan, for "
    "plans that reach the goal. In budget: goals reached within the step budget, for tasks "
    "with one. MPV and AABV: (before) after correction. Conditions: goal conditions that hold."
)


def _summary(summary: Summary) -> Iterator[Part]:
    for model in summary.models:
        rows = [row for row in summary.rows if row.model == model]
        yield from _own(summary, model, rows)
    for model in MODELS:
        values = paper_tables().summary(model)
        lengths = [
            (
                setting,
                *(_number(row[key]) for _, _, key in _LENGTHS),
                *(_pair(row, name) for _, name in _VERIFIED),
            )
            for setting, row in values.items()
        ]
        correct = [(s, *(_number(row[key]) for _, _, key in _MAIN)) for s, row in values.items()]
        titles = [title for title, *_ in (*_LENGTHS, *_VERIFIED)]
        yield data_table(f"Paper, table 2, {model}", ("setting", *(t for t, *_ in _MAIN)), correct)
        yield data_table(f"Paper, table 2, {model}, continued", ("setting", *titles), lengths)


def _own(summary: Summary, model: str, rows: Sequence[Row]) -> Iterator[Part]:
    label = summary.label(model)
    plans = (*_LEADING, *(pair[:2] for pair in _MAIN))
    yield data_table(
        f"hvr, plans · {label}",
        ("setting", *(title for title, _ in plans)),
        [_line(summary, row, plans) for row in rows],
    )
    lengths = tuple(pair[:2] for pair in _LENGTHS)
    yield data_table(
        f"hvr, lengths and verification · {label}",
        (
            "setting",
            *(title for title, _ in lengths),
            *(title for title, _ in _VERIFIED),
            *(title for title, _ in _MORE),
            "calls",
            "errors",
        ),
        [
            (
                *_line(summary, row, lengths),
                *(before_after(row, name) for _, name in _VERIFIED),
                *(with_spread(row.stats.get(key), key) for _, key in _MORE),
                with_spread(row.stats.get("calls"), "calls"),
                str(row.errors),
            )
            for row in rows
        ],
    )
    shown = [(title, key) for title, key in (*plans, *lengths) if _has_bounds(rows, key)]
    if shown:
        yield data_table(
            f"hvr, 95 % intervals over tasks and seeds · {label}",
            ("setting", *(title for title, _ in shown)),
            [
                (summary.name(row.setting), *(bounds(row.stats.get(key)) for _, key in shown))
                for row in rows
            ],
        )


def _line(summary: Summary, row: Row, columns: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    values = (with_spread(row.stats.get(key), key) for _, key in columns)
    return summary.name(row.setting), *values


def _has_bounds(rows: Sequence[Row], key: str) -> bool:
    return any(key in row.stats and row.stats[key].low is not None for row in rows)


def _plots(summary: Summary) -> Iterator[Part]:
    for model in summary.models:
        label = summary.label(model)
        for title, key in (("Goals reached", "success"), ("PC", "pc")):
            series = [_series(summary, model, setting, key) for setting in summary.settings]
            names = [task_label(task) for task in summary.tasks]
            yield bars(f"{title} by task and setting, per cent · {label}", names, series)
            yield _table_of(summary, model, key)
        yield from _calls(summary, model)
        yield from _failures(summary, model)


def _series(summary: Summary, model: str, setting: str, key: str) -> Series:
    stats = {t: summary.stats.get((key, model, setting, t)) for t in summary.tasks}
    values = {task_label(task): stat.mean for task, stat in stats.items() if stat}
    return summary.name(setting), values


def _calls(summary: Summary, model: str) -> Iterator[Part]:
    rows = [r for r in summary.rows if r.model == model]
    known = [r for r in rows if {"pc", "calls"} <= r.stats.keys()]
    points = [(summary.name(r.setting), r.stats["calls"].mean, r.stats["pc"].mean) for r in known]
    title = f"Model calls per task, and PC in per cent · {summary.label(model)}"
    lines = [
        (
            summary.name(r.setting),
            with_spread(r.stats["calls"], "calls"),
            with_spread(r.stats["pc"], "pc"),
        )
        for r in known
    ]
    yield scatter(title, "model calls per task (mean)", points)
    yield data_table("Values of the chart", ("setting", "calls", "PC"), lines)


def _failures(summary: Summary, model: str) -> Iterator[Part]:
    rows = [r for r in summary.rows if r.model == model]
    totals: dict[str, int] = {}
    for row in rows:
        for kind, count in row.failures.items():
            totals[kind] = totals.get(kind, 0) + count
    if not totals:
        return
    kinds = sorted(totals, key=lambda kind: (-totals[kind], kind))
    shown = kinds[:_MOST_KINDS]
    series = [
        (summary.name(r.setting), {k: float(r.failures[k]) for k in shown if k in r.failures})
        for r in rows
    ]
    lines = [(kind, *(str(r.failures.get(kind, 0)) for r in rows)) for kind in kinds]
    note = (
        "Only the first inapplicable step of a plan counts, by the predicates of its violated "
        "condition. Unmapped: lines of answers that match no action."
    )
    yield stacked(f"Failures by kind · {summary.label(model)}", shown, series)
    header = ("kind", *(summary.name(r.setting) for r in rows))
    yield data_table("Values of the chart", header, lines, note)


def _costs(summary: Summary) -> Part:
    rows = [
        (
            summary.label(row.model),
            summary.name(row.setting),
            *(COLUMNS[k].show(row.stats[k].mean if k in row.stats else None) for k in _COST),
        )
        for row in summary.rows
    ]
    header = ("model", "setting", *(COLUMNS[k].title for k in _COST))
    return data_table("Means per task; – if unknown", header, rows)


def _special(summary: Summary) -> Iterator[Part]:
    measures, tasks = ("pc", "ld", "epv"), ("T5bis", "T5")
    header = ("setting", *(f"{m.upper()} {t}" for m in measures for t in tasks))
    for model in summary.models:
        if not set(tasks) <= set(summary.tasks):
            lacks = "The bench lacks T5 or T5bis."
            yield data_table(f"hvr, {summary.label(model)}", header, (), lacks)
            continue
        places = [(m, t) for m in measures for t in tasks]
        rows = [
            (
                summary.name(s),
                *(with_spread(summary.stats.get((m, model, s, t)), m) for m, t in places),
            )
            for s in summary.settings
        ]
        yield data_table(f"hvr, {summary.label(model)}", header, rows)
    for name in MODELS:
        rows = [
            (setting, *(_number(values[name][m][t]) for m in measures for t in tasks))
            for setting, values in paper_tables().special().items()
        ]
        yield data_table(f"Paper, table 4, {name}", header, rows)


def _by_task(summary: Summary) -> Iterator[Part]:
    for measure, title in _SECTIONS.items():
        staged = measure in ("mpv", "aabv")
        keys = [f"{measure}_before", f"{measure}_after"] if staged else [measure]
        own = [_table_of(summary, model, key) for model in summary.models for key in keys]
        theirs = [
            _paper(measure, model, stage)
            for model in MODELS
            for stage in (("before", "after") if staged else ("",))
            if measure in TABLES
        ]
        yield section(f"By task: {title}", *own, *theirs)


def _table_of(summary: Summary, model: str, key: str) -> Part:
    rows = [
        (
            summary.name(s),
            *(with_spread(summary.stats.get((key, model, s, t)), key) for t in summary.tasks),
        )
        for s in summary.settings
    ]
    caption = f"hvr, {COLUMNS[key].title}, per cent · {summary.label(model)}"
    return data_table(caption, ("setting", *map(task_label, summary.tasks)), rows)


def _paper(measure: str, model: str, stage: str) -> Part:
    values = paper_tables().per_task(measure, model, stage)
    columns = list(next(iter(values.values())))
    rows = [(s, *(_number(values[s].get(c)) for c in columns)) for s in SETTINGS if s in values]
    number = paper_tables().number(measure, model)
    when = f", {stage} correction" if stage else ""
    return data_table(f"Paper, table {number}, {model}{when}", ("setting", *columns), rows)


def _errors(results: Sequence[CellResult]) -> Iterator[Part]:
    failed = [r for r in results if not r.finished]
    if not failed:
        return
    rows = [
        (
            f"{task_label(r.cell.task)} {r.cell.setting} {r.cell.model} seed {r.cell.seed}",
            r.error_kind,
            r.error[:300],
        )
        for r in failed[:_MOST_ERRORS]
    ]
    more = len(failed) - len(rows)
    note = f"and {more} more" if more else ""
    caption = "These cells are not included in the means above; resuming the bench retries them"
    yield section("Errors", data_table(caption, ("cell", "kind", "error"), rows, note))


def _pair(values: Mapping[str, float | None], name: str) -> str:
    before, after = values[f"{name}_before"], values[f"{name}_after"]
    return "–" if before is None else f"({_number(before)}) {_number(after)}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
