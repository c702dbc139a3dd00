"""What a judge says of a plan, as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from hvr.pddl import GroundAction


class CritiqueKind(StrEnum):
    """What is wrong."""

    REMOVE = "REMOVE"
    MISSING = "MISSING"
    ARGUMENT = "ARGUMENT"
    """The step belongs there, but not with these arguments."""


class Cause(StrEnum):
    """Why a step is superfluous."""

    CONTRADICTORY = "contradictory"
    REPEATED = "repeated"
    CANCELLED = "cancelled"
    IRRELEVANT = "irrelevant"


@dataclass(frozen=True)
class CausalLink:
    """What became of one literal that a step made.

    Args:
        literal: as PDDL.
        readers: numbers of the steps that need it; one more than the last step is the goal.
        undone_by: number of the step that makes it false again; None if none does.
    """

    literal: str
    readers: tuple[int, ...] = ()
    undone_by: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "literal": self.literal,
            "readers": list(self.readers),
            "undone_by": self.undone_by,
        }


@dataclass(frozen=True)
class Critique:
    """One finding.

    Args:
        kind: what is wrong.
        index: number of the step, from 1; of a missing one, the step that it belongs before, which
            is one more than the last step at the end.
        actions: the superfluous step, or the missing ones in order.
        reason: why, in one sentence.
        cause: of a superfluous step, what kind of error it is.
        links: what the step makes, who reads it, and who undoes it.
    """

    kind: CritiqueKind
    index: int
    actions: tuple[GroundAction, ...]
    reason: str
    cause: Cause | None = None
    links: tuple[CausalLink, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "kind": self.kind.value,
            "step": self.index,
            "actions": [str(action) for action in self.actions],
            "cause": self.cause.value if self.cause else None,
            "reason": self.reason,
            "evidence": [link.to_json() for link in self.links],
        }


@dataclass(frozen=True)
class Improvement:
    """A shorter plan for the same goal, with other steps: advice, no finding.

    Args:
        plan: the shorter plan.
        first: number of the first step of the repaired plan that it does otherwise, from 1.
        last: number of the last one; one less than the first where it has none instead.
        instead: its steps in their place.
    """

    plan: tuple[GroundAction, ...]
    first: int
    last: int
    instead: tuple[GroundAction, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "steps": len(self.plan),
            "first": self.first,
            "last": self.last,
            "instead": [str(action) for action in self.instead],
            "plan": [str(action) for action in self.plan],
        }


@dataclass(frozen=True)
class Edits:
    """Numbers of edits that make the repaired plan of the judged one.

    Args:
        insert: New steps.
        delete: Steps that go.
        move: Steps that go and come back at another place.
        replace: Steps that go and get another one at their place.
    """

    insert: int = 0
    delete: int = 0
    move: int = 0
    replace: int = 0


def _unmatched(
    steps: Iterable[tuple[int, GroundAction]], matched: Mapping[GroundAction, int]
) -> list[int]:
    """Return the numbers of the steps that are left when so many of each action are taken."""
    waiting = dict(matched)
    numbers = []
    for number, action in steps:
        if waiting.get(action, 0):
            waiting[action] -= 1
        else:
            numbers.append(number)
    return numbers


@dataclass(frozen=True)
class PlanVerdict:
    """All that a judge says of a plan.

    Args:
        plan: the steps that were judged.
        critiques: what is wrong with it, in order of its steps.
        repaired: the plan after all of it was done; None where none is known to be valid.
        valid: whether the plan as it stands is executable and reaches the goal; None if unknown.
        proven: No repair has fewer insertions, or as many and fewer steps.
        unknown: Why the question could not be answered in full; "" where it was.
        least: Number of steps that every repair inserts, proven.
        alternatives: sets of steps that may be left out instead of those named, as good.
        improvement: a shorter plan with other steps, where one was asked for and found.
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

    @property
    def removed(self) -> frozenset[int]:
        """Numbers of the superfluous steps."""
        return frozenset(c.index for c in self.critiques if c.kind is CritiqueKind.REMOVE)

    @property
    def missing(self) -> tuple[Critique, ...]:
        """The findings of missing steps."""
        return tuple([c for c in self.critiques if c.kind is CritiqueKind.MISSING])

    @property
    def edits(self) -> Edits:
        """The edits that the findings come to."""
        gone = [
            (c.index, a) for c in self.critiques if c.kind is CritiqueKind.REMOVE for a in c.actions
        ]
        added = [(c.index, action) for c in self.missing for action in c.actions]
        moved = Counter([a for _, a in gone]) & Counter([a for _, a in added])
        left, replaced = _unmatched(gone, moved), 0
        for index in _unmatched(added, moved):
            # A missing step stands before the step of its number.
            there = next((i for i in left if i in (index - 1, index)), None)
            if there is not None:
                left.remove(there)
                replaced += 1
        inserted = len(added) - moved.total() - replaced
        return Edits(inserted, len(left), moved.total(), replaced)

    @property
    def outcome(self) -> str:
        """`clean`, `criticised` or `undecided`."""
        if self.critiques:
            return "criticised"
        return "undecided" if self.unknown else "clean"

    @property
    def exit_code(self) -> int:
        """What a command ends with: 0 clean, 1 criticised, 2 undecided."""
        return {"clean": 0, "criticised": 1, "undecided": 2}[self.outcome]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "outcome": self.outcome,
            "valid": self.valid,
            "proven": self.proven,
            "least": self.least,
            "edits": asdict(self.edits),
            "unknown": self.unknown or None,
            "steps": len(self.plan),
            "critiques": [critique.to_json() for critique in self.critiques],
            "alternatives": [list(numbers) for numbers in self.alternatives],
            "repaired": None if self.repaired is None else [str(a) for a in self.repaired],
            "improvement": None if self.improvement is None else self.improvement.to_json(),
        }
