"""The values that a plan is made of; they know nothing of who made them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hvr.pddl.model import GroundAction


@dataclass(frozen=True)
class MacroAction:
    """A subtask in words, with conditions on the world before and after it.

    Args:
        name: what is done, in a few words.
        precondition: PDDL literals that must hold before.
        postcondition: PDDL literals that hold after.
    """

    name: str
    precondition: tuple[str, ...] = ()
    postcondition: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "name": self.name,
            "precondition": list(self.precondition),
            "postcondition": list(self.postcondition),
        }


@dataclass(frozen=True)
class AABlock:
    """The atomic actions that carry out one macro action."""

    macro: MacroAction
    actions: tuple[GroundAction, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "macro": self.macro.to_json(),
            "actions": [{"action": a.name, "args": list(a.args)} for a in self.actions],
        }


@dataclass(frozen=True)
class Plan:
    """A plan as macro actions with their blocks.

    Args:
        blocks: in order.
        optimal: it is proven that no plan of this problem has fewer actions.
        planner: what found it.
        seconds: wall time it took to find.
    """

    blocks: tuple[AABlock, ...]
    optimal: bool = False
    planner: str = ""
    seconds: float = 0.0

    @property
    def actions(self) -> tuple[GroundAction, ...]:
        """The expanded plan: all atomic actions in order."""
        return tuple(action for block in self.blocks for action in block.actions)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, without the time it took: the same plan is the same text."""
        return {
            "blocks": [block.to_json() for block in self.blocks],
            "length": len(self.actions),
            "optimal": self.optimal,
            "planner": self.planner,
        }
