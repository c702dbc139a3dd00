"""The scenarios: the task, the fault, and the failing action.

`scenarios.json` names its source and licence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from hvr.base.declared import decode
from hvr.errors import DataFileError, UsageError
from hvr.worlds.faults import Fault, FaultKind

Action = tuple[str, ...]
"""Name and arguments: AI2-THOR types, numbered if one instance is meant (`StoveBurner-4`)."""


@dataclass(frozen=True)
class Scenario:
    """A scenario.

    Args:
        id: Scenario id, such as `reflect-1`.
        fault: Fault to inject, with AI2-THOR types as objects; None if the plan itself is wrong.
        at: Index of the action at which the fault occurs; None if the fault defines it.
        failing: 0-based index of the failing action.
        missing_or_wrong: Indexes of the actions whose effect is missing or wrong.
    """

    id: str
    name: str
    scene: str
    before: tuple[Action, ...]
    actions: tuple[Action, ...]
    kind: str
    fault: Fault | None
    at: int | None
    failing: int
    missing_or_wrong: tuple[int, ...]
    goal: str

    @property
    def right_steps(self) -> frozenset[int]:
        """Indexes of actions at which detection is right: the failure, its first visible effect."""
        return frozenset({self.failing, *self.missing_or_wrong[:1]})

    @property
    def scored_as(self) -> str:
        """Kind of fault that defines the correct kinds of failures."""
        return self.kind if self.fault is None else self.fault.kind.value


def load_scenarios() -> tuple[Scenario, ...]:
    path = files("studies.reflect") / "scenarios.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return tuple(_scenario(entry) for entry in values["scenarios"])
    except (OSError, ValueError, KeyError, TypeError, UsageError) as error:
        raise DataFileError(f"{path}: invalid scenario file: {error}") from error


def _scenario(entry: dict[str, Any]) -> Scenario:
    given: dict[str, Any] = entry.get("fault", {})
    at = given.get("when", {}).get("at_action")
    if at is not None:
        given = {"kind": given["kind"]}
    fault = decode(Fault, given) if given else None
    if at is not None and (fault is None or fault.kind not in _BY_ACTION):
        raise UsageError(
            f"{entry['id']}: 'at_action' requires a fault of kind {' or '.join(_BY_ACTION)}"
        )
    return Scenario(
        id=entry["id"],
        name=entry["name"],
        scene=entry["scene"],
        before=tuple(tuple(a) for a in entry["before"]),
        actions=tuple(tuple(a) for a in entry["actions"]),
        kind=entry["kind"],
        fault=fault,
        at=at,
        failing=int(entry["failing"]),
        missing_or_wrong=tuple(entry["missing_or_wrong"] or ()),
        goal=entry["goal"],
    )


_BY_ACTION = (FaultKind.DROP,)
