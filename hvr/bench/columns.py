"""Columns of reports: name and unit of each measure, and its value in scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hvr.bench.scores import Scores

MODERATE = tuple(f"T{n}" for n in range(1, 7))
"""Tasks of moderate complexity (paper, tables 1 and 5)."""

HIGH = tuple(f"T{n}" for n in range(7, 13))
"""Tasks of high complexity."""


@dataclass(frozen=True)
class Column:
    """A measure.

    Args:
        key: short name, as in CSV and JSON.
        title: for people.
        percent: a share, shown as per cent.
        better: 1 when more is better, -1 when less is, 0 when neither.
        value: reads it; None where it does not apply or is not known.
    """

    key: str
    title: str
    percent: bool
    better: int
    value: Callable[[Scores], float | None]

    @property
    def of_paper(self) -> bool:
        """It is a measure of the paper."""
        return self.key.partition("_")[0] in {"pc", "es", "ld", "epv", "mpv", "aabv"}

    def show(self, value: float | None) -> str:
        """Return a value as text, `–` for none."""
        if value is None:
            return "–"
        if self.percent:
            return f"{100 * value:.2f}"
        return f"{value:,.4f}" if self.key == "cost" else f"{value:,.2f}"


def _tokens(scores: Scores) -> float | None:
    spent = scores.spent
    if spent.input is None or spent.output is None:
        return None
    return spent.input + spent.output + (spent.reasoning or 0)


def _flag(value: bool | None) -> float | None:
    return None if value is None else float(value)


COLUMNS: Mapping[str, Column] = {
    column.key: column
    for column in (
        Column("success", "Valid plan, goal reached", True, 1, lambda s: float(s.success)),
        Column(
            "over",
            "Steps over the best known, of plans that reach the goal",
            True,
            -1,
            lambda s: s.over,
        ),
        Column(
            "within_budget",
            "Goal reached within the budget of steps",
            True,
            1,
            lambda s: _flag(s.within_budget),
        ),
        Column("reached", "Goal reached when executed", True, 1, lambda s: _flag(s.reached)),
        Column("pc", "Plan correctness (PC)", True, 1, lambda s: s.pc),
        Column("es", "Execution success (ES)", True, 1, lambda s: s.es),
        Column("ld", "Length discrepancy (LD)", True, -1, lambda s: s.ld),
        Column("epv", "Expanded plan verification (EPV)", True, 1, lambda s: s.epv),
        Column("mpv_before", "MPV before correction", True, 1, lambda s: s.mpv_before),
        Column("mpv_after", "MPV after correction", True, 1, lambda s: s.mpv_after),
        Column("aabv_before", "AABV before correction", True, 1, lambda s: s.aabv_before),
        Column("aabv_after", "AABV after correction", True, 1, lambda s: s.aabv_after),
        Column("goal_conditions", "Goal conditions", True, 1, lambda s: s.goal_conditions),
        Column("calls", "Model calls", False, -1, lambda s: float(s.spent.calls)),
        Column("corrections", "Corrections", False, -1, lambda s: float(s.corrections)),
        Column("planner_calls", "Planner calls", False, 0, lambda s: float(s.planner_calls)),
        Column("library_hits", "Library hits", False, 0, lambda s: float(s.library_hits)),
        Column("tokens", "Tokens in and out", False, -1, _tokens),
        Column("cost", "Cost (US$)", False, -1, lambda s: s.spent.cost),
        Column("seconds", "Seconds", False, -1, lambda s: s.spent.seconds),
    )
}
