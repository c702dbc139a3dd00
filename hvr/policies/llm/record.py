"""Records and events of planning with a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from hvr.errors import HvrError, ImpossibleGoalError, LanguageError, PlanBudgetError, PlannerError
from hvr.models.errors import ModelError
from hvr.pddl.model import GroundAction
from hvr.planning.plans import MacroAction, Plan
from hvr.values import JsonObject, Value, json_fields

if TYPE_CHECKING:
    from hvr.judging.model_judge import JudgeRound


# Records, from which metrics are computed ---------------------------------------------------------


class MacroCheck(Value):
    """The result of checking the preconditions of a macro plan.

    Args:
        verified: Number of macro actions before the first faulty one.
        total: Number of all macro actions.
        problem: Error messages about faulty macro actions; empty if there are none.
    """

    verified: int
    total: int
    problem: str = ""

    json_shape = "*"


@dataclass(frozen=True, kw_only=True)
class BlockRecord(JsonObject):
    """The history of one block.

    Args:
        macro: The macro action with its refined conditions.
        written: Actions in the first answer, before any correction.
        actions: Actions after correction and repair, but before elimination of redundant ones.
        verified_before: Whether `written` was executable.
        verified_after: Whether `actions` is executable; None if the setting does not verify.
        achieved: Whether the postcondition holds after the block; None if it has no conditions.
        tries: Number of corrections requested from the model.
        repaired: Whether the classical planner wrote a part of the block.
        from_library: Name of the macro action taken from the library; empty if none was used.
        unmapped: Lines of the answer that could not be mapped to an action.
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

    json_shape = "*"


@dataclass(frozen=True)
class Stopped:
    """The reason why a model's plan ended early.

    Args:
        kind: Short label for tables.
        reason: Explanation in one line.
    """

    kind: str
    reason: str


BUDGET_SPENT = "budget spent"
"""Reason that a plan ended because it had used up its own requests."""


def stopped_by(error: HvrError) -> Stopped | None:
    """Return why an error of the model or policy ended a plan; None for any other error."""
    kind = None
    match error:
        case LanguageError():
            kind = "request not understood"
        case ImpossibleGoalError():
            kind = "gave up"
        case PlannerError():
            kind = "no plan found"
        case PlanBudgetError():
            kind = BUDGET_SPENT
        case ModelError(kind="schema" | "empty"):
            kind = "unreadable answer"
        case ModelError(kind="refused"):
            kind = "refused"
    return None if kind is None else Stopped(kind, " ".join(str(error).split()))


@dataclass(frozen=True, kw_only=True)
class PlanningRecord:
    """The history of one plan.

    Args:
        plan: The plan, with one block for each macro action that has steps left, or a single block
            if there are no macro actions.
        blocks: Records of the blocks; a single one if there are no macro actions.
        hierarchical: Whether the plan has macro actions.
        macro_before: Check of the first version of the macro plan; None if none was checked.
        macro_after: Check of the corrected macro plan; None if none was checked.
        removed: Number of steps removed by elimination.
        library_used: Number of blocks taken from the library.
        planner_calls: Number of calls to a classical planner.
        judged: Rounds of the judge; empty if the judge is off or found nothing.
        unreadable: Number of answers in which nothing could be read.
        repeated: Number of corrections, or of an agent's calls, that repeated an earlier one.
        stopped: Why the plan ended early; None if it did not.
        planners: Names of the classical planners that wrote parts of the plan.
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
    unreadable: int = 0
    repeated: int = 0
    stopped: Stopped | None = None
    planners: tuple[str, ...] = ()

    @property
    def authors(self) -> tuple[str, ...]:
        """Sentences about the parts of the plan that the model did not write."""
        told = []
        by = " and ".join(self.planners)
        repairer = f"the planner {by}" if by else "hvr"
        repaired = [repr(b.macro.name) for b in self.blocks if b.repaired]
        taken = [repr(b.macro.name) for b in self.blocks if b.from_library]
        if repaired and not self.hierarchical:
            told.append(f"{repairer} wrote part of the plan")
        elif repaired:
            told.append(
                f"{repairer} completed {len(repaired)} of "
                f"{len(self.blocks)} blocks: {', '.join(repaired)}"
            )
        if taken:
            told.append(f"the library supplied: {', '.join(taken)}")
        if self.stopped is not None:
            told.append(f"the plan ended early: {self.stopped.reason}")
        return tuple(told)

    def require_steps(self) -> None:
        """Raise `ImpossibleGoalError` with the reason if the plan ended early without a step."""
        if self.stopped is not None and not self.plan.actions:
            raise ImpossibleGoalError(self.stopped.reason)

    def to_json(self) -> dict[str, Any]:
        values = json_fields(self)
        rounds = values.pop("judged")
        for count in ("unreadable", "repeated", "stopped", "planners"):
            del values[count]
        return {"judged": rounds, **values} if rounds else values


# Events -------------------------------------------------------------------------------------------


class _Event(Value):
    event: ClassVar[str]
    """Name of the event in traces."""

    def to_json(self) -> dict[str, Any]:
        return {"event": self.event, **json_fields(self)}


class ObjectsChosen(_Event):
    """The objects for a prompt were selected.

    Args:
        request: The request for which the objects were selected.
        names: The objects, in order.
        unmatched: Names in the answer that match no object in the scene.
    """

    event = "objects"
    request: str
    names: tuple[str, ...]
    unmatched: tuple[str, ...] = ()


class MacroPlanWritten(_Event):
    """The model divided the request into macro actions."""

    event = "macro-plan"
    names: tuple[str, ...]


class ConditionsWritten(_Event):
    """The model wrote the conditions of the macro actions.

    Args:
        macros: The macro actions with their usable conditions.
        dropped: The unusable conditions, with reasons.
    """

    event = "conditions"
    macros: tuple[MacroAction, ...]
    dropped: tuple[str, ...] = ()


class MacroPlanChecked(_Event):
    """The validator checked the macro plan; `attempt` is the number of corrections before."""

    event = "macro-check"
    json_shape = "attempt *check"
    check: MacroCheck
    attempt: int


class BlockWritten(_Event):
    """A block was written.

    Args:
        number: 1-based number of the macro action.
        source: `model`, `library`, `correction`, `navigation`, `planner`, or `best` (the best
            version after all tries).
        unmapped: Lines that could not be mapped to an action, with reasons.
    """

    event = "block"
    number: int
    name: str
    actions: tuple[GroundAction, ...]
    source: str
    unmapped: tuple[str, ...] = ()


class BlockChecked(_Event):
    """The validator checked a block.

    Args:
        number: 1-based number of the macro action.
        problem: Error message; empty if the block is valid.
        attempt: Number of corrections so far.
        attempts: Maximum number of corrections.
    """

    event = "block-check"
    number: int
    problem: str
    attempt: int
    attempts: int


class StepsLeftOut(_Event):
    """Redundant steps were removed: the plan has the same final state without them."""

    event = "left-out"
    actions: tuple[GroundAction, ...]


class PlanJudged(_Event):
    """The judge removed redundant steps and inserted missing ones before execution.

    `unmended` says why a further problem could not be repaired; it is empty if there is none.
    """

    event = "judged"
    removed: tuple[GroundAction, ...]
    inserted: tuple[GroundAction, ...]
    unmended: str = ""
    json_shape = "removed inserted unmended?"


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
