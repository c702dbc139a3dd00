"""Ground conditions and operators over states that are bit sets."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from hvr.pddl.model import FunctionTerm, GroundAction

_FREE = Fraction(0)


class Clause:
    """A disjunction: of positive bits, negative bits and conditions."""

    __slots__ = ("negative", "parts", "positive")

    def __init__(self, positive: int, negative: int, parts: tuple[Condition, ...]) -> None:
        self.positive = positive
        self.negative = negative
        self.parts = parts

    def holds(self, bits: int) -> bool:
        """Say whether any part is true in a state."""
        if bits & self.positive or self.negative & ~bits:
            return True
        return any(part.holds(bits) for part in self.parts)


class Condition:
    """A conjunction: bits that must be set, bits that must not, and disjunctions."""

    __slots__ = ("clauses", "negative", "positive")

    def __init__(
        self, positive: int = 0, negative: int = 0, clauses: tuple[Clause, ...] = ()
    ) -> None:
        self.positive = positive
        self.negative = negative
        self.clauses = clauses

    def holds(self, bits: int) -> bool:
        """Say whether the condition is true in a state."""
        if bits & self.positive != self.positive or bits & self.negative:
            return False
        return all(clause.holds(bits) for clause in self.clauses)


TRUE = Condition()
FALSE = Condition(clauses=(Clause(0, 0, ()),))


def conjunction(parts: Iterable[Condition]) -> Condition:
    """Return the conjunction; TRUE and FALSE are these very objects where that is known."""
    positive = negative = 0
    clauses: list[Clause] = []
    for part in parts:
        if part is FALSE:
            return FALSE
        positive |= part.positive
        negative |= part.negative
        clauses += part.clauses
    if positive & negative:
        return FALSE
    if not (positive or negative or clauses):
        return TRUE
    return Condition(positive, negative, tuple(clauses))


def disjunction(parts: Iterable[Condition]) -> Condition:
    """Return the disjunction; TRUE and FALSE are these very objects where that is known."""
    positive = negative = 0
    rest: list[Condition] = []
    for part in parts:
        if part is TRUE:
            return TRUE
        if part is FALSE:
            continue
        if part.clauses:
            if len(part.clauses) == 1 and not (part.positive or part.negative):
                clause = part.clauses[0]
                positive |= clause.positive
                negative |= clause.negative
                rest += clause.parts
            else:
                rest.append(part)
        elif part.negative == 0 and part.positive.bit_count() == 1:
            positive |= part.positive
        elif part.positive == 0 and part.negative.bit_count() == 1:
            negative |= part.negative
        else:
            rest.append(part)
    if positive & negative:
        return TRUE
    if not rest:
        if not (positive or negative):
            return FALSE
        if not negative and positive.bit_count() == 1:
            return Condition(positive)
        if not positive and negative.bit_count() == 1:
            return Condition(0, negative)
    elif len(rest) == 1 and not (positive or negative):
        return rest[0]
    return Condition(clauses=(Clause(positive, negative, tuple(rest)),))


class Operator:
    """A ground action, compiled.

    Attributes:
        action: the action it was made from.
        precondition: when it is applicable.
        add: bits that it sets, whatever the state.
        delete: bits that it clears first.
        conditional: further (condition, add, delete); conditions are read before the action.
        costs: (condition, amount) of each cost; the amount is the function term without a value
            where there is one.
    """

    __slots__ = ("action", "add", "conditional", "costs", "delete", "precondition")

    def __init__(
        self,
        action: GroundAction,
        precondition: Condition,
        add: int,
        delete: int,
        conditional: tuple[tuple[Condition, int, int], ...],
        costs: tuple[tuple[Condition, Fraction | FunctionTerm], ...],
    ) -> None:
        self.action = action
        self.precondition = precondition
        self.add = add
        self.delete = delete
        self.conditional = conditional
        self.costs = costs

    def applicable(self, bits: int) -> bool:
        """Say whether the precondition holds in a state."""
        return self.precondition.holds(bits)

    def apply(self, bits: int) -> int:
        """Return the state after the action. An atom both deleted and added is true."""
        add, delete = self.add, self.delete
        for condition, more_add, more_delete in self.conditional:
            if condition.holds(bits):
                add |= more_add
                delete |= more_delete
        return bits & ~delete | add

    def cost(self, bits: int) -> Fraction | FunctionTerm:
        """Return the cost in a state, or the function term that has no value."""
        total = _FREE
        for condition, amount in self.costs:
            if condition.holds(bits):
                if isinstance(amount, FunctionTerm):
                    return amount
                total += amount
        return total
