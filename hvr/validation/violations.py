"""The literals to blame when a condition does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from hvr.pddl import (
    And,
    Atom,
    Equal,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
    Task,
    TypedName,
    substitute,
)
from hvr.pddl.facts import bindings

Blame = dict[Expression, bool]
"""Ground formulas that have the wrong value, with the value that is wanted."""

Binding = Mapping[str, str]

_MOST_INSTANCES = 10_000


def blame(task: Task, bits: int, formula: Expression, binding: Binding) -> Blame:
    """Return the fewest literals that keep a formula from holding in a state.

    A conjunction gives those of all its parts, a disjunction or `exists` those of the part with
    fewest (of two, the one with more that actions can change). Empty when the formula holds.

    Raises:
        GroundingLimitError: a quantifier has too many instances.
    """
    return _Blamer(task, bits).blame(formula, binding, True)


class _Blamer:
    def __init__(self, task: Task, bits: int) -> None:
        self.task = task
        self.bits = bits

    def blame(self, formula: Expression, binding: Binding, positive: bool) -> Blame:
        match formula:
            case Atom() | Equal():
                ground = substitute(formula, binding)
                return {} if self._true(ground) == positive else {ground: positive}
            case Not(operand):
                return self.blame(operand, binding, not positive)
            case And(operands) | Or(operands):
                parts = (self.blame(o, binding, positive) for o in operands)
                if isinstance(formula, And) == positive:
                    return self._all(parts)
                return self._best(parts, formula, binding, positive)
            case Imply(left, right):
                sides = ((left, not positive), (right, positive))
                parts = (self.blame(o, binding, sign) for o, sign in sides)
                if positive:
                    return self._best(parts, formula, binding, positive)
                return self._all(parts)
            case Forall(variables, body) | Exists(variables, body):
                if isinstance(formula, Forall) == positive:
                    found = self.task.instances(variables, body, not positive, binding)
                    return self._all(self.blame(body, b, positive) for b in found)
                found = self.task.instances(variables, body, positive, binding)
                parts = (self.blame(body, b, positive) for b in found)
                best = self._best(parts, formula, binding, positive)
                if formula_only(best):
                    # No instance is possible: show what the best impossible one lacks.
                    parts = (
                        self.blame(body, b, positive) for b in self._unfiltered(variables, binding)
                    )
                    best = self._best(parts, formula, binding, positive)
                return best
            case _:
                raise TypeError(f"an effect is not a formula: {formula}")

    def _true(self, ground: Expression) -> bool:
        return self.task.condition(ground).holds(self.bits)

    def _all(self, parts: Iterable[Blame]) -> Blame:
        result: Blame = {}
        for part in parts:
            result |= part
        return result

    def _best(
        self, parts: Iterable[Blame], whole: Expression, binding: Binding, positive: bool
    ) -> Blame:
        best: Blame | None = None
        for part in parts:
            if not part:
                return part
            if best is None or self._badness(part) < self._badness(best):
                best = part
        return {substitute(whole, binding): positive} if best is None else best

    def _badness(self, part: Blame) -> tuple[int, int]:
        return len(part), sum(is_fixed(self.task, formula) for formula in part)

    def _unfiltered(
        self, variables: tuple[TypedName, ...], binding: Binding
    ) -> Iterator[dict[str, str]]:
        task = self.task
        found = bindings(variables, (), binding, task.static_facts.relation, task.members)
        return islice(found, _MOST_INSTANCES)


def formula_only(part: Blame) -> bool:
    """Say whether the blame falls on a quantified formula as a whole."""
    return any(isinstance(f, Exists | Forall) for f in part)


def is_fixed(task: Task, formula: Expression) -> bool:
    """Say whether no action can change the value of a ground literal."""
    return not isinstance(formula, Atom) or task.is_static(formula.predicate)
