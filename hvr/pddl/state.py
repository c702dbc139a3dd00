"""States: which fluents are true, as bits of one integer, and the values of the numeric ones."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from hvr.pddl.model import Atom, Expression, FunctionTerm
from hvr.pddl.numeric import Values, rounded

if TYPE_CHECKING:
    from hvr.pddl.task import Task


class State:
    """An immutable state of a task. States of one task compare and hash by value.

    Args:
        task: the task.
        bits: the true fluents.
        values: the values of the numeric fluents.
        closed: whether `bits` has the derived atoms; otherwise they are derived when first read.
    """

    __slots__ = ("_bits", "_closed", "task", "values")

    _bits: int
    _closed: bool
    task: Task
    values: Values

    def __init__(self, task: Task, bits: int, values: Values = (), *, closed: bool = True) -> None:
        object.__setattr__(self, "task", task)
        object.__setattr__(self, "_bits", bits)
        object.__setattr__(self, "_closed", closed)
        object.__setattr__(self, "values", values)

    @property
    def bits(self) -> int:
        """The true fluents, derived ones included."""
        if not self._closed:
            object.__setattr__(self, "_bits", self.task.close(self._bits, self.values))
            object.__setattr__(self, "_closed", True)
        return self._bits

    def bits_for_steps(self) -> int:
        """Return the true fluents, of the derived ones those that steps may read."""
        return self._bits if self._closed else self.task.close_for_steps(self._bits, self.values)

    def atoms(self, *, static: bool = False) -> frozenset[Atom]:
        """Return the true fluent atoms, and the static facts too when `static` is set."""
        fluents = frozenset(self.task.atoms_in(self.bits))
        return fluents.union(self.task.static_facts.atoms()) if static else fluents

    def numbers(self) -> dict[FunctionTerm, Fraction]:
        """Return the numeric fluents that have a value."""
        known = enumerate(self.values)
        return {self.task.term(i): rounded(v) for i, v in known if v is not None}

    def holds(self, formula: Expression) -> bool:
        """Say whether a formula without free variables is true here."""
        return self.task.condition(formula).holds(self.bits, self.values)

    def __contains__(self, atom: Atom) -> bool:
        return self.holds(atom)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        same = self.bits == other.bits and self.values == other.values
        return same and self.task is other.task

    def __hash__(self) -> int:
        return hash(self.bits)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a State cannot be changed: {name} = {value!r}")

    def __reduce__(self) -> tuple[type[State], tuple[Task, int, Values]]:
        return State, (self.task, self.bits, self.values)

    def __repr__(self) -> str:
        return f"<State with {self.bits.bit_count()} true fluents>"


def holds(state: State, formula: Expression) -> bool:
    """Say whether a formula without free variables is true in a state.

    Raises:
        PddlSemanticError: the formula has a free variable.
    """
    return state.holds(formula)
