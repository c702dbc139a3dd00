"""The log of injected faults, for scoring their detection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hvr.worlds.faults.fault import FaultKind
from hvr.worlds.faults.statements import Statement


@dataclass(frozen=True)
class Injection:
    """A fault that has happened.

    Args:
        step: number of the action, 0 for the start of the scene.
        kind: what kind.
        action: name of the AI2-THOR action; empty at the start.
        objects: names of the objects that it happened to, the most affected first.
        added: statements that are true, or reported, only because of the fault.
        removed: statements that would be true, or reported, without it.
        fault: its place in the schedule, from 0.
    """

    step: int
    kind: FaultKind
    action: str
    objects: tuple[str, ...]
    added: tuple[Statement, ...] = ()
    removed: tuple[Statement, ...] = ()
    fault: int = 0

    @property
    def changed(self) -> bool:
        """Some statement differs from the state without the fault."""
        return bool(self.added or self.removed)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "step": self.step,
            "kind": self.kind.value,
            "action": self.action,
            "objects": list(self.objects),
            "added": [list(s) for s in self.added],
            "removed": [list(s) for s in self.removed],
            "fault": self.fault,
        }


def ordered(facts: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return statements sorted by subject, property and value."""
    return tuple(sorted(facts, key=lambda s: (s[0], s[1], str(s[2]))))
