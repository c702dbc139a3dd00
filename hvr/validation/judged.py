"""The result of one plan of a batch: a `PlanResult` and what its reports need besides."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hvr.validation.report import PlanResult, decimal_text, number_to_json


@dataclass(frozen=True, slots=True)
class ShownState:
    """A state as texts.

    Attributes:
        step: the number of the step that it follows; 0 for the initial state.
        asked: the number that was asked for; larger where the plan does not get that far.
        atoms: the true atoms, in alphabetical order.
        numbers: the function terms that have a value, and the value.
    """

    step: int
    asked: int
    atoms: tuple[str, ...]
    numbers: tuple[tuple[str, Fraction], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "after_step": self.step,
            "atoms": list(self.atoms),
            "numbers": {term: number_to_json(value) for term, value in self.numbers},
        }


@dataclass(frozen=True, slots=True)
class Happening:
    """What changed the state at one moment, as texts.

    Attributes:
        step: the number of the step; 0 where none of the plan's steps is the cause.
        action: the step; "" for a timed initial literal.
        time: when, in a temporal plan.
        added: the atoms that became true.
        deleted: the atoms that became false.
    """

    step: int
    action: str
    time: Fraction | None
    added: tuple[str, ...]
    deleted: tuple[str, ...]

    def __str__(self) -> str:
        at = "" if self.time is None else f"{decimal_text(self.time)}: "
        cause = f"step {self.step} {self.action}" if self.action else "timed initial literal"
        changes = [f"+{atom}" for atom in self.added] + [f"-{atom}" for atom in self.deleted]
        return f"{at}{cause}: {' '.join(changes) or 'no change'}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "step": self.step or None,
            "action": self.action or None,
            "time": None if self.time is None else number_to_json(self.time),
            "added": list(self.added),
            "deleted": list(self.deleted),
        }


@dataclass(frozen=True, slots=True)
class Judged(PlanResult):
    """A plan's result in a batch.

    Attributes:
        rule: the id of the rule that the file breaks, when it cannot be used; `plan` is "" when
            that file is the domain or the problem.
        seconds: how long reading and judging the plan took.
        state: a state on the way, when one was asked for.
        happenings: what changed when, when it was asked for.
    """

    rule: str = ""
    seconds: float = 0.0
    state: ShownState | None = None
    happenings: tuple[Happening, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return JSON values; without the time taken, so that equal runs print the same."""
        # A class with slots is made anew by its decorator, which a bare super() does not know.
        data = PlanResult.to_json(self)
        data["plan"] = self.plan or None
        data["rule"] = self.rule or None
        if self.state is not None:
            data["state"] = self.state.to_json()
        if self.happenings is not None:
            data["happenings"] = [happening.to_json() for happening in self.happenings]
        return data
