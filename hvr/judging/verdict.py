"""Verdicts of a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hvr.pddl import GroundAction
from hvr.values import JsonObject


class CritiqueKind(StrEnum):
    REMOVE = "REMOVE"
    MISSING = "MISSING"
    ARGUMENT = "ARGUMENT"
    """The step belongs in the plan, but with other arguments."""


class Cause(StrEnum):
    CONTRADICTORY = "contradictory"
    REPEATED = "repeated"
    CANCELLED = "cancelled"
    IRRELEVANT = "irrelevant"


@dataclass(frozen=True)
class CausalLink(JsonObject):
    """An effect of a step, the steps that read it, and the step that undoes it.

    Args:
        literal: Literal that the step makes true.
        readers: 1-based numbers of the steps that need the literal; the number after the last step
            stands for the goal.
        undone_by: Number of the step that makes the literal false again, if any.
    """

    literal: str
    readers: tuple[int, ...] = ()
    undone_by: int | None = None

    json_shape = "*"


@dataclass(frozen=True)
class Critique(JsonObject):
    """A finding of a judge.

    Args:
        kind: REMOVE for a redundant step, MISSING for steps to insert, ARGUMENT for a wrong
            argument.
        index: 1-based number of the step. For missing steps, the number of the step before which
            they belong; at the end, one more than the last step's number.
        actions: The redundant step, or the missing steps in order.
        reason: Explanation in one sentence.
        cause: Reason why a step is redundant.
        links: Effects of the step that support the finding.
    """

    kind: CritiqueKind
    index: int
    actions: tuple[GroundAction, ...]
    reason: str
    cause: Cause | None = None
    links: tuple[CausalLink, ...] = ()

    json_shape = "kind step=index actions cause reason evidence=links"


@dataclass(frozen=True)
class Improvement(JsonObject):
    """A suggestion rather than a finding: a shorter plan that reaches the same goal differently.

    Args:
        plan: The shorter plan.
        first: 1-based number of the first step to replace in the repaired plan.
        last: Number of the last step to replace; `first - 1` if none is replaced.
        instead: Replacement steps.
    """

    plan: tuple[GroundAction, ...]
    first: int
    last: int
    instead: tuple[GroundAction, ...]

    json_shape = "steps=length first last instead plan"

    @property
    def length(self) -> int:
        return len(self.plan)


@dataclass(frozen=True)
class Edits(JsonObject):
    """Numbers of edits that turn the judged plan into the repaired one.

    Args:
        move: Number of steps deleted at one place and inserted at another.
        replace: Number of steps with a different step inserted in their place.
    """

    insert: int = 0
    delete: int = 0
    move: int = 0
    replace: int = 0

    json_shape = "*"


def _unmatched(
    steps: Iterable[tuple[int, GroundAction]], matched: Mapping[GroundAction, int]
) -> list[int]:
    waiting = dict(matched)
    numbers = []
    for number, action in steps:
        if waiting.get(action, 0):
            waiting[action] -= 1
        else:
            numbers.append(number)
    return numbers


@dataclass(frozen=True)
class PlanVerdict(JsonObject):
    """The symbolic judge's verdict on a plan.

    Args:
        critiques: Findings, in order of the steps.
        repaired: Plan after all repairs; None if no valid plan is known.
        valid: Whether the original plan is executable and reaches the goal; None if unknown.
        proven: Whether the repair is proven minimal: no other repair has fewer insertions, or
            equally many insertions and fewer steps.
        unknown: Reason why the verdict is incomplete; empty if it is complete.
        least: Proven lower bound on the number of insertions in any repair.
        alternatives: Sets of steps that may be removed instead, at the same cost.
        improvement: Shorter plan for the same goal, if one was found.
    """

    plan: tuple[GroundAction, ...]
    critiques: tuple[Critique, ...] = ()
    repaired: tuple[GroundAction, ...] | None = None
    valid: bool | None = None
    proven: bool = False
    unknown: str = ""
    least: int = 0
    alternatives: tuple[tuple[int, ...], ...] = field(default=())
    improvement: Improvement | None = None

    json_shape = (
        "outcome valid proven least edits unknown? steps=length critiques alternatives "
        "repaired improvement"
    )

    @property
    def length(self) -> int:
        return len(self.plan)

    @property
    def removed(self) -> frozenset[int]:
        return frozenset(c.index for c in self.critiques if c.kind is CritiqueKind.REMOVE)

    @property
    def missing(self) -> tuple[Critique, ...]:
        return tuple([c for c in self.critiques if c.kind is CritiqueKind.MISSING])

    @property
    def edits(self) -> Edits:
        removed = [
            (c.index, a) for c in self.critiques if c.kind is CritiqueKind.REMOVE for a in c.actions
        ]
        added = [(c.index, action) for c in self.missing for action in c.actions]
        moved = Counter([a for _, a in removed]) & Counter([a for _, a in added])
        left, replaced = _unmatched(removed, moved), 0
        for index in _unmatched(added, moved):
            # A missing step precedes the step of its number.
            replaced_step = next((i for i in left if i in (index - 1, index)), None)
            if replaced_step is not None:
                left.remove(replaced_step)
                replaced += 1
        inserted = len(added) - moved.total() - replaced
        return Edits(inserted, len(left), moved.total(), replaced)

    @property
    def outcome(self) -> str:
        """`criticised` if there are findings; otherwise `undecided` if incomplete, else `clean`."""
        if self.critiques:
            return "criticised"
        return "undecided" if self.unknown else "clean"

    @property
    def exit_code(self) -> int:
        """Exit code: 0 if clean, 1 if criticised, 2 if undecided."""
        return {"clean": 0, "criticised": 1, "undecided": 2}[self.outcome]
