"""Was the failure of a scenario noticed at the right step, and as what it is?"""

from __future__ import annotations

from dataclasses import dataclass

from hvr.execution.failures import DeviationKind
from studies.detection_scoring import RIGHT
from studies.reflect.player import Played


@dataclass(frozen=True)
class Score:
    """How a scenario was judged.

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
    found = [f for s in played.steps if s.index == first.index for f in s.failures]
    kinds = tuple(f.kind for f in found)
    right = next((f for f in found if f.kind in RIGHT[scenario.scored_as]), None)
    return Score(
        scenario.id, scenario.failing, first.index, kinds,
        first.index in scenario.right_steps, right is not None, (right or found[0]).explanation,
    )  # fmt: skip
