"""The paper's tables 2 and 5 of a bench in LaTeX, for the package booktabs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hvr.bench.summary import Row, Stat, Summary
from hvr.runs.tasks import label

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
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
            **{sign: f"\\{sign}" for sign in "&%$#_{}"}}  # fmt: skip


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


def _table(
    caption: str, heads: Sequence[str], lines: Callable[[], Iterator[list[str]]]
) -> str:  # fmt: skip
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
