"""The events of planning with a language model, as values to show, trace and test."""

from __future__ import annotations

from typing import Any

from hvr.pddl.model import GroundAction
from hvr.planning.plans import MacroAction
from hvr.policies.llm.record import MacroCheck
from hvr.values import Value


class ObjectsChosen(Value):
    """Retrieval has chosen what goes into the prompts.

    Args:
        request: the request that they were chosen for.
        names: the objects, in order.
        unmatched: names in the answer that match nothing in the scene.
    """

    request: str
    names: tuple[str, ...]
    unmatched: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "event": "objects",
            "request": self.request,
            "names": list(self.names),
            "unmatched": list(self.unmatched),
        }


class MacroPlanWritten(Value):
    """The model has divided the request."""

    names: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"event": "macro-plan", "names": list(self.names)}


class ConditionsWritten(Value):
    """The model has given the macro actions conditions.

    Args:
        macros: the macro actions with the usable conditions.
        dropped: the other conditions, with reasons.
    """

    macros: tuple[MacroAction, ...]
    dropped: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "event": "conditions",
            "macros": [m.to_json() for m in self.macros],
            "dropped": list(self.dropped),
        }


class MacroPlanChecked(Value):
    """The validator has looked at the macro plan; `attempt` 0 is the first answer."""

    check: MacroCheck
    attempt: int

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"event": "macro-check", "attempt": self.attempt, **self.check.to_json()}


class BlockWritten(Value):
    """A block was written.

    Args:
        number: number of the macro action, from 1.
        name: name of the macro action.
        actions: the block.
        source: `model`, `library`, `correction`, `navigation`, `planner`, or `best` (the best of
            those written, when the tries are spent).
        unmapped: lines that could not be mapped to an action, with reasons.
    """

    number: int
    name: str
    actions: tuple[GroundAction, ...]
    source: str
    unmapped: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "event": "block",
            "number": self.number,
            "name": self.name,
            "actions": [str(a) for a in self.actions],
            "source": self.source,
            "unmapped": list(self.unmapped),
        }


class BlockChecked(Value):
    """The validator has looked at a block.

    Args:
        number: number of the macro action, from 1.
        problem: what is wrong; empty when nothing is.
        attempt: number of corrections so far.
        attempts: most corrections.
    """

    number: int
    problem: str
    attempt: int
    attempts: int

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "event": "block-check",
            "number": self.number,
            "problem": self.problem,
            "attempt": self.attempt,
            "attempts": self.attempts,
        }


class StepsLeftOut(Value):
    """Steps without which the plan comes to the same end were left out."""

    actions: tuple[GroundAction, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"event": "left-out", "actions": [str(a) for a in self.actions]}


class PlanJudged(Value):
    """The plan was judged before its execution: superfluous steps left out, missing ones put in.

    `unmended` says why what is still wrong stays so; "" where nothing is.
    """

    removed: tuple[GroundAction, ...]
    inserted: tuple[GroundAction, ...]
    unmended: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "event": "judged",
            "removed": [str(a) for a in self.removed],
            "inserted": [str(a) for a in self.inserted],
            "unmended": self.unmended or None,
        }


PolicyEvent = (
    ObjectsChosen
    | MacroPlanWritten
    | ConditionsWritten
    | MacroPlanChecked
    | BlockWritten
    | BlockChecked
    | StepsLeftOut
    | PlanJudged
)
