"""The record and the events of planning with a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hvr.pddl.model import GroundAction
from hvr.planning.plans import MacroAction, Plan
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.judging.model_judge import JudgeRound


# Record -------------------------------------------------------------------------------------------
# The record of planning with a language model, from which metrics are computed.


class MacroCheck(Value):
    """The check that the preconditions of a macro plan hold, step after step.

    Args:
        verified: number of macro actions from the first on whose preconditions hold.
        total: number of all macro actions.
        problem: what is wrong with the others; empty when all are verified.
    """

    verified: int
    total: int
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"verified": self.verified, "total": self.total, "problem": self.problem}


@dataclass(frozen=True, kw_only=True)
class BlockRecord:
    """The record of how a block came about.

    Args:
        macro: the macro action, with its conditions as refined at the end.
        written: the actions as first answered and mapped, before any correction.
        actions: the actions after correction and repair, before elimination.
        verified_before: whether the actions of `written` were applicable one after the other.
        verified_after: likewise for `actions`; None without verification.
        achieved: whether the postcondition holds after the block; None without conditions.
        tries: number of corrections that the model was asked for.
        repaired: whether the classical planner wrote part of the block.
        from_library: the name of the library's macro action that it was taken from, or empty.
        unmapped: lines of the answer that could not be made an action.
    """

    macro: MacroAction
    written: tuple[GroundAction, ...]
    actions: tuple[GroundAction, ...]
    verified_before: bool
    verified_after: bool | None
    achieved: bool | None = None
    tries: int = 0
    repaired: bool = False
    from_library: str = ""
    unmapped: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "macro": self.macro.to_json(),
            "written": [str(a) for a in self.written],
            "actions": [str(a) for a in self.actions],
            "verified_before": self.verified_before,
            "verified_after": self.verified_after,
            "achieved": self.achieved,
            "tries": self.tries,
            "repaired": self.repaired,
            "from_library": self.from_library,
            "unmapped": list(self.unmapped),
        }


@dataclass(frozen=True, kw_only=True)
class PlanningRecord:
    """The record of how a plan came about.

    Args:
        plan: the plan; with H in a block for each macro action that has steps left, else in one.
        blocks: the records of the blocks; without H, one for the whole plan.
        hierarchical: whether there were macro actions.
        macro_before: check of the macro plan as first answered; None without H.
        macro_after: the same after correction; None without H.
        removed: number of steps that elimination left out.
        library_used: number of blocks taken from the library.
        planner_calls: number of calls of the classical planner.
        judged: the rounds of the judge; empty where it is off or has nothing to say.
    """

    plan: Plan
    blocks: tuple[BlockRecord, ...]
    hierarchical: bool
    macro_before: MacroCheck | None = None
    macro_after: MacroCheck | None = None
    removed: int = 0
    library_used: int = 0
    planner_calls: int = 0
    judged: tuple[JudgeRound, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        rounds = {"judged": [r.to_json() for r in self.judged]} if self.judged else {}
        return {
            **rounds,
            "plan": self.plan.to_json(),
            "blocks": [b.to_json() for b in self.blocks],
            "hierarchical": self.hierarchical,
            "macro_before": self.macro_before.to_json() if self.macro_before else None,
            "macro_after": self.macro_after.to_json() if self.macro_after else None,
            "removed": self.removed,
            "library_used": self.library_used,
            "planner_calls": self.planner_calls,
        }


# Events -------------------------------------------------------------------------------------------
# The events of planning with a language model, as values to show, trace and test.


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
