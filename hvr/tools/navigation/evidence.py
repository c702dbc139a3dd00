"""What calls have shown of a tool or a link: how often it worked, and when last.

The weight of a link is its share of successes (NaviAgent, eq. 4), smoothed by one of each, and
grows old by eq. 14: w <- e w + (1 - e) times the share since the weight was last written down.
"""

from __future__ import annotations

from dataclasses import dataclass

KEPT = 0.7
"""e of eq. 14: how much of an old weight stays. The text gives no value; this one is hvr's."""


@dataclass(frozen=True, slots=True)
class CallEvidence:
    """Successes and failures, of which no order matters.

    Args:
        successes: of all time.
        failures: of all time.
        last_success: seconds since 1970, UTC; 0 if there was none.
        last_failure: the same of failures.
        aged: the weight when it was last written down; None if it never was.
        new_successes: since then.
        new_failures: since then.
    """

    successes: int = 0
    failures: int = 0
    last_success: float = 0.0
    last_failure: float = 0.0
    aged: float | None = None
    new_successes: int = 0
    new_failures: int = 0

    @property
    def count(self) -> int:
        """How often it was tried."""
        return self.successes + self.failures

    @property
    def last(self) -> float:
        """When it was last tried; 0 if it never was."""
        return max(self.last_success, self.last_failure)

    @property
    def worked_last(self) -> bool:
        """Whether it was tried and the last time worked."""
        return bool(self.successes) and self.last_success >= self.last_failure

    @property
    def weight(self) -> float:
        """The chance that it works, between 0 and 1; a half of what was never tried."""
        if self.aged is None:
            return share(self.successes, self.failures)
        if not self.new_successes + self.new_failures:
            return self.aged
        return KEPT * self.aged + (1 - KEPT) * share(self.new_successes, self.new_failures)

    def after(self, ok: bool, time: float) -> CallEvidence:
        """Return what is known after one more try.

        Args:
            ok: whether it worked.
            time: seconds since 1970, UTC.
        """
        return CallEvidence(
            self.successes + ok,
            self.failures + (not ok),
            max(self.last_success, time) if ok else self.last_success,
            self.last_failure if ok else max(self.last_failure, time),
            self.aged,
            self.new_successes + ok,
            self.new_failures + (not ok),
        )

    def older(self) -> CallEvidence:
        """Return the same with its weight written down (eq. 14); the weight stays what it is."""
        if not self.new_successes + self.new_failures:
            return self
        return CallEvidence(
            self.successes, self.failures, self.last_success, self.last_failure, self.weight
        )


UNTRIED = CallEvidence()


def share(successes: float, failures: float) -> float:
    """Return the share of successes, smoothed by one of each (Beta(1, 1))."""
    return (successes + 1) / (successes + failures + 2)
