"""Triggers: on which actions faults are due."""

from __future__ import annotations

import random

from hvr.worlds.faults.fault import AT_START, Fault


class Trigger:
    """Counts the actions that match one fault.

    Args:
        fault: the fault.
        seed: for its probability and for what it leaves open.
    """

    def __init__(self, fault: Fault, seed: str) -> None:
        self.fault = fault
        self.chance = random.Random(seed)
        self._matched = 0
        self.count = 0
        """Number of times that it has happened."""

    def due(self, step: int, action: str, target: str) -> bool:
        """Return whether the fault fires on this action. Each action is asked for once.

        Args:
            step: number of the action.
            action: its name; empty at the start of the scene.
            target: name of the object that it is sent for; empty without one.
        """
        when, actions = self.fault.when, self.fault.actions
        if self.spent or step < when.step:
            return False
        if step == 0:
            if self.fault.kind not in AT_START:
                return False
        elif (actions and action not in actions) or (when.target and target != when.target):
            return False
        self._matched += 1
        if self._matched < when.nth:
            return False
        return when.probability >= 1.0 or self.chance.random() < when.probability

    def fired(self) -> None:
        """Count that the fault has happened; a due fault that could not happen stays due."""
        self.count += 1

    @property
    def spent(self) -> bool:
        """It does not fire any more."""
        return 0 < self.fault.times <= self.count

    def standing(self, step: int) -> bool:
        """Return whether it fires for certain on every matching action from this one on."""
        when = self.fault.when
        return not self.spent and step >= when.step and when.nth == 1 and when.probability >= 1.0
