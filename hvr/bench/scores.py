"""Scores of one planned task, and the columns that report them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from hvr.base.texts import check_fields
from hvr.errors import DataFileError
from hvr.models.meter import MeteredUse

# Scores -------------------------------------------------------------------------------------------
# Scores of one planned task.


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The measures of one plan; shares are 0 to 1, None is "not applicable" or "not known".

    Args:
        plan_length: steps of the plan.
        truth_length: steps that LD compares with: the ground truth's in its scene, in others
            those of the shortest plan known.
        pc: plan correctness; None in a scene without a ground truth.
        es: execution success; None unless PC is 1 and the plan was executed.
        ld: length discrepancy.
        epv: expanded plan verification.
        mpv_before: macro plan verification of the macro plan as first written; None without H.
        mpv_after: the same after correction; None without H or V.
        aabv_before: block verification as first written; None without H.
        aabv_after: the same after correction; None without H or V.
        goal_conditions: share of the goal's conditions that hold where the plan ends or stops.
        success: every step is applicable and the goal holds after the last.
        executed: steps carried out in the environment before the first failure; None when not
            executed.
        reached: the goal holds in what was seen after execution; None when not executed.
        best: steps of the shortest plan known for the scene.
        step_budget: most steps that the task wants a plan to take; None where it has no budget.
        aligned: PC, ES and LD are against the plan itself without unnecessary steps, see
            `hvr.bench.scoring.OPEN_ENDED`.
        corrections: tries that were asked of the model to correct blocks.
        planner_calls: calls of the classical planner.
        library_hits: blocks taken from the library.
        repaired: blocks that the classical planner wrote part of.
        removed: steps that elimination left out.
        spent: calls, tokens, cost, time.
        failures: how often what went wrong, by kind.
    """

    plan_length: int
    truth_length: int
    pc: float | None
    es: float | None
    ld: float
    epv: float
    mpv_before: float | None
    mpv_after: float | None
    aabv_before: float | None
    aabv_after: float | None
    goal_conditions: float
    success: bool
    executed: int | None
    reached: bool | None
    best: int | None = None
    step_budget: int | None = None
    aligned: bool = False
    corrections: int = 0
    planner_calls: int = 0
    library_hits: int = 0
    repaired: int = 0
    removed: int = 0
    spent: MeteredUse = field(default_factory=MeteredUse)
    failures: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def over(self) -> float | None:
        """How much longer a plan that reaches the goal is than the shortest known, as a share."""
        return self.plan_length / self.best - 1 if self.success and self.best else None

    @property
    def within_budget(self) -> bool | None:
        """Whether the plan reaches the goal within the task's budget of steps; None without one."""
        if self.step_budget is None:
            return None
        return self.success and self.plan_length <= self.step_budget

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["spent"] = {f.name: getattr(self.spent, f.name) for f in fields(MeteredUse)}
        values["failures"] = dict(self.failures)
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Scores:
        """Read what `to_json` wrote.

        Raises:
            DataFileError: an entry is missing or unknown.
        """
        try:
            check_fields(cls, values)
            check_fields(MeteredUse, values["spent"])
            failures = {str(k): int(n) for k, n in values["failures"].items()}
            spent = MeteredUse(**values["spent"])
            return cls(**{**values, "spent": spent, "failures": failures})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataFileError(f"these are no scores of this version of hvr: {error}") from error


# Columns ------------------------------------------------------------------------------------------
# Columns of reports: name and unit of each measure, and its value in scores.

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
