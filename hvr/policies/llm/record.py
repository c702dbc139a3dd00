"""The record of planning with a language model, from which metrics are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hvr.pddl.model import GroundAction
from hvr.planning.plans import MacroAction, Plan
from hvr.values import Value

if TYPE_CHECKING:  # the judge is not loaded where no model writes plans
    from hvr.judging.loop import Round


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
    judged: tuple[Round, ...] = ()

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
