"""Climbing the ladder: which rung is next, what came of the last one, how often each was used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from hvr.execution.events import Recovery
from hvr.execution.recovery import Impasse, Mends, Steps
from hvr.pddl import GroundAction


@dataclass
class Ladder:
    """The rungs of one run, with a record of their use.

    Args:
        mends: the rungs that keep the plan, cheapest first.
        listen: is told each use of a rung, when it is known what came of it.
        max_tries: how often a rung that keeps the plan may be used for the same step.
    """

    mends: Mends
    listen: Callable[[Recovery], None]
    max_tries: int = 1
    used: Counter[str] = field(default_factory=Counter, init=False)
    """How often each rung was used in the run."""
    _tried: Counter[tuple[str, GroundAction | None]] = field(default_factory=Counter, init=False)
    _pending: tuple[str, str, int, int] | None = field(default=None, init=False)

    def mend(self, trouble: Impasse) -> Steps | None:
        """Return the steps of the lowest rung that helps and has not been used up for this step."""
        for name, rung in self.mends:
            if self._tried[name, trouble.action] >= self.max_tries:
                continue
            steps = rung(trouble)
            if steps is not None:
                self.take(name, trouble)
                length = max(1, len(steps) - len(trouble.rest))
                self._pending = (name, trouble.reason, trouble.step, length)
                return steps
        return None

    def done(self) -> None:
        """A step was done and the plan goes on."""
        if self._pending is not None:
            name, reason, step, left = self._pending
            self._pending = (name, reason, step, left - 1) if left > 1 else None
            if left == 1:
                self.listen(Recovery(name, reason, "worked", step))

    def stuck(self) -> None:
        """The plan cannot go on."""
        if self._pending is not None:
            name, reason, step, _ = self._pending
            self._pending = None
            self.listen(Recovery(name, reason, "failed", step))

    def least_tried(self, names: tuple[str, ...], trouble: Impasse) -> tuple[str, ...]:
        """Return rungs in the order in which to use them: least used for this step first."""
        return tuple(sorted(names, key=lambda name: self._tried[name, trouble.action]))

    def take(self, name: str, trouble: Impasse) -> None:
        """Count the use of a rung."""
        self._tried[name, trouble.action] += 1
        self.used[name] += 1
