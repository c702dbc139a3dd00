"""Scores: whether a scenario's failure was noticed at the right step and as the right kind."""

from __future__ import annotations

from dataclasses import dataclass

from hvr.execution.deviations import DeviationKind
from studies.detection_scoring import RIGHT
from studies.reflect.player import Played


@dataclass(frozen=True)
class Score:
    """The score of a scenario.

    Args:
        id: of the scenario.
        failing: index of the action that fails.
        noticed: index of the first action with a failure noticed; None without any.
        kinds: kinds of the failures noticed there.
        right_step: noticed at the failing action, or where its effect first shows.
        right_kind: one of the kinds is right for what was injected.
        explanation: of the first failure.
    """

    id: str
    failing: int
    noticed: int | None
    kinds: tuple[DeviationKind, ...]
    right_step: bool
    right_kind: bool
    explanation: str = ""

    @property
    def exact(self) -> bool:
        """Noticed at the failing action itself."""
        return self.noticed == self.failing


def score(played: Played) -> Score:
    """Judge the first failure that was noticed."""
    scenario = played.scenario
    first = next((s for s in played.steps if s.failures), None)
    if first is None:
        return Score(scenario.id, scenario.failing, None, (), False, False)
    failures = [f for s in played.steps if s.index == first.index for f in s.failures]
    right = next((f for f in failures if f.kind in RIGHT[scenario.scored_as]), None)
    return Score(
        id=scenario.id,
        failing=scenario.failing,
        noticed=first.index,
        kinds=tuple(failure.kind for failure in failures),
        right_step=first.index in scenario.right_steps,
        right_kind=right is not None,
        explanation=(right or failures[0]).explanation,
    )
