"""Climbing the ladder of recoveries: the next rung, the outcome of the last one, and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from hvr.execution.events import Recovery
from hvr.execution.recovery import Impasse, Mends, Steps
from hvr.pddl import GroundAction


class _Use(NamedTuple):
    """A use of a rung whose outcome is not known yet.

    Args:
        rung: its name.
        reason: the deviations in sentences.
        step: number of the step after which it was used.
        left: steps that it added and that are not done yet.
    """

    rung: str
    reason: str
    step: int
    left: int


@dataclass
class Ladder:
    """The rungs of one run, with a record of their use.

    Args:
        mends: the rungs that keep the plan, cheapest first.
        listen: is called for each use of a rung, when its outcome is known.
        max_tries: how often a rung that keeps the plan may be used for the same step.
    """

    mends: Mends
    listen: Callable[[Recovery], None]
    max_tries: int = 1
    used: Counter[str] = field(default_factory=Counter, init=False)
    """How often each rung was used in the run."""
    _tried: Counter[tuple[str, GroundAction | None]] = field(default_factory=Counter, init=False)
    _pending: _Use | None = field(default=None, init=False)

    def mend(self, impasse: Impasse) -> Steps | None:
        """Return the steps of the lowest rung that helps and has not been used up for this step."""
        for name, rung in self.mends:
            if self._tried[name, impasse.action] >= self.max_tries:
                continue
            steps = rung(impasse)
            if steps is not None:
                self.take(name, impasse)
                # It has worked when the steps that it added are done; the rest was planned before.
                added = max(1, len(steps) - len(impasse.rest))
                self._pending = _Use(name, impasse.reason, impasse.step, added)
                return steps
        return None

    def done(self) -> None:
        """Take note that a step was done and the plan goes on."""
        if self._pending is not None:
            use = self._pending
            self._pending = use._replace(left=use.left - 1) if use.left > 1 else None
            if use.left == 1:
                self.listen(Recovery(use.rung, use.reason, "worked", use.step))

    def stuck(self) -> None:
        """Take note that the plan cannot go on."""
        if self._pending is not None:
            use, self._pending = self._pending, None
            self.listen(Recovery(use.rung, use.reason, "failed", use.step))

    def least_tried(self, names: tuple[str, ...], impasse: Impasse) -> tuple[str, ...]:
        """Return rungs in the order in which to use them: least used for this step first."""
        return tuple(sorted(names, key=lambda name: self._tried[name, impasse.action]))

    def take(self, name: str, impasse: Impasse) -> None:
        """Count the use of a rung."""
        self._tried[name, impasse.action] += 1
        self.used[name] += 1
