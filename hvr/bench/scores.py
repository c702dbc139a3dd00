"""Scores of one planned task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from hvr.base.texts import check_fields
from hvr.errors import DataFileError
from hvr.models.meter import Spent


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
    spent: Spent = field(default_factory=Spent)
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
        values["spent"] = {f.name: getattr(self.spent, f.name) for f in fields(Spent)}
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
            check_fields(Spent, values["spent"])
            failures = {str(k): int(n) for k, n in values["failures"].items()}
            spent = Spent(**values["spent"])
            return cls(**{**values, "spent": spent, "failures": failures})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataFileError(f"these are no scores of this version of hvr: {error}") from error
