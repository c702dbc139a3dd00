"""Ground operators over fluents that are bits: what is handed from task to search problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hvr.pddl import GroundAction
from hvr.pddl.conditions import set_bits


@dataclass(frozen=True, slots=True)
class Literals:
    """A conjunction: fluents that must be true and fluents that must be false, as bits."""

    true: int = 0
    false: int = 0

    @property
    def all(self) -> int:
        """The fluents it speaks of."""
        return self.true | self.false

    def holds(self, state: int) -> bool:
        """Say whether it is true in a state."""
        return not (self.true & ~state or self.false & state)

    def implies(self, other: Literals) -> bool:
        """Say whether `other` is a part of this."""
        return not (other.true & ~self.true or other.false & ~self.false)

    def __and__(self, other: Literals) -> Literals:
        return Literals(self.true | other.true, self.false | other.false)


@dataclass(frozen=True, slots=True)
class ActionChoice:
    """An action for a step of an operator, to be taken when its precondition holds."""

    action: GroundAction
    precondition: Literals


_COMPARED = 500
"""Comparing each conjunction with each takes quadratic time; to keep some too many does no harm."""

bits = set_bits
"""The positions of the set bits, lowest first."""

Conditional = tuple[Literals, int, int]
"""A conditional effect: (condition, add, delete)."""


@dataclass(frozen=True, slots=True)
class GroundOperator:
    """What one or several actions in a row do, with a conjunctive precondition.

    Args:
        steps: for each action in the row the choices for it, of which one is applicable.
        precondition: what must hold.
        add, delete: unconditional effects, as bits; no bit is in both.
        conditional: conditional effects; what is both deleted and added is true afterwards.
    """

    steps: tuple[tuple[ActionChoice, ...], ...]
    precondition: Literals
    add: int
    delete: int
    conditional: tuple[Conditional, ...] = ()

    @property
    def cost(self) -> int:
        """How many actions it stands for."""
        return len(self.steps)

    @property
    def reads(self) -> int:
        """The fluents that it looks at."""
        mask = self.precondition.all
        for condition, _, _ in self.conditional:
            mask |= condition.all
        return mask

    @property
    def writes(self) -> int:
        """The fluents that it may change."""
        mask = self.add | self.delete
        for _, add, delete in self.conditional:
            mask |= add | delete
        return mask

    def effects(self) -> Iterator[Conditional]:
        """Yield all effects with what must hold for each, the precondition included."""
        yield self.precondition, self.add, self.delete
        for condition, add, delete in self.conditional:
            yield self.precondition & condition, add, delete


Goals = tuple[Literals, ...]
"""Alternatives of which one must hold; none: the goal cannot be reached."""


def minimal(conjunctions: Iterable[Literals]) -> list[Literals]:
    """Drop conjunctions that imply another one; of very many only doubles, to save time."""
    # Short ones first: a conjunction implies only such as have no more literals than it has.
    ordered = sorted(dict.fromkeys(conjunctions), key=lambda c: c.all.bit_count())
    if len(ordered) > _COMPARED:
        return ordered
    kept: list[Literals] = []
    for one in ordered:
        if not any(one.implies(other) for other in kept):
            kept.append(one)
    return kept
