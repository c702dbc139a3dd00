"""The scenarios: what is to be done, what goes wrong, and which action fails.

`scenarios.json` names its source and licence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from hvr.errors import DataFileError, UsageError
from hvr.worlds.faults import Fault, FaultKind

Action = tuple[str, ...]
"""Name and arguments, AI2-THOR's types with a number where one is meant: `StoveBurner-4`."""


@dataclass(frozen=True)
class Scenario:
    """One scenario.

    Args:
        id: `reflect-1`.
        name: what is to be done.
        scene: where.
        before: actions that prepare the scene.
        actions: the plan, high-level actions.
        kind: the kind of failure, in REFLECT's words.
        fault: what is injected, its objects given as AI2-THOR types; None when the plan itself
            is wrong.
        at: index of the action on which the fault fires; None when the fault says it.
        failing: index of the action that fails, from 0.
        missing_or_wrong: indices of the actions whose effect is missing or wrong.
        goal: PDDL condition that the plan should reach.
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
        """Indices at which noticing it counts: the failing action and where it first shows."""
        return frozenset({self.failing, *self.missing_or_wrong[:1]})

    @property
    def scored_as(self) -> str:
        """The kind of fault whose right failure kinds count."""
        return self.kind if self.fault is None else self.fault.kind.value


def load_scenarios() -> tuple[Scenario, ...]:
    """Return all scenarios.

    Raises:
        DataFileError: the packaged file is damaged.
    """
    path = files("studies.reflect") / "scenarios.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return tuple(_scenario(entry) for entry in values["scenarios"])
    except (OSError, ValueError, KeyError, TypeError, UsageError) as error:
        raise DataFileError(f"{path}: not REFLECT's scenarios: {error}") from error


def _scenario(entry: dict[str, Any]) -> Scenario:
    given: dict[str, Any] = entry.get("fault", {})
    at = given.get("when", {}).get("at_action")
    if at is not None:
        given = {"kind": given["kind"]}
    fault = Fault.from_json(given) if given else None
    if at is not None and (fault is None or fault.kind not in _BY_ACTION):
        raise UsageError(f"{entry['id']}: 'at_action' is for {', '.join(_BY_ACTION)}")
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
