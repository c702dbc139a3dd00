"""Hidden beliefs that a refusal contradicts: the smallest changes that explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import islice, product

from hvr.errors import UndefinedValueError
from hvr.pddl import Atom, GroundAction, State
from hvr.pddl.formulas import FunctionTerm
from hvr.pddl.numeric import NumericTest, Rational, Values, evaluate
from hvr.pddl.state import Conjunction, Disjunction, set_bits

Revision = frozenset[tuple[Atom | FunctionTerm, bool | Fraction]]
"""Hidden facts and numbers, each with another value than the believed one."""

_NOTHING: Revision = frozenset()
_KEPT = 24
"""Maximum number of revisions kept for each part of a condition, the smallest first."""
_MAX_VISITS = 5_000
"""Maximum number of parts that are visited: recursive rules may have exponentially many proofs."""


def contradicted(
    state: State, actions: Iterable[GroundAction], hidden: Callable[[Atom | FunctionTerm], bool]
) -> list[Revision]:
    """Return the revisions of hidden beliefs that make actions inapplicable, smallest first.

    A true disjunction becomes false with all of its true parts, a conjunction with one.

    Args:
        hidden: Whether a fact or number is only believed.
    """
    search = _Search(state, hidden)
    task = state.task
    parts = [search.conjunction(task.precondition(action), False) for action in actions]
    return _all_of(parts)


def revised(state: State, changes: Iterable[tuple[Atom | FunctionTerm, bool | Fraction]]) -> State:
    """Return a state with other values of some facts and numbers."""
    task = state.task
    atoms = {a for a in state.atoms() if a.predicate not in task.derived_predicates}
    numbers = state.numbers()
    for what, value in changes:
        if isinstance(what, FunctionTerm):
            numbers[what] = Fraction(value)
        elif value:
            atoms.add(what)
        else:
            atoms.discard(what)
    return task.state_with(atoms, numbers)


class _Search:
    """Finds revisions that give a condition a truth value, from the compiled condition."""

    def __init__(self, state: State, hidden: Callable[[Atom | FunctionTerm], bool]) -> None:
        self._state, self._task, self._hidden = state, state.task, hidden
        self._visits = 0
        self._open: set[int] = set()  # derived atoms whose rules are being followed

    def conjunction(self, condition: Conjunction, value: bool) -> list[Revision]:
        self._visits += 1
        if self._visits > _MAX_VISITS:
            return []
        parts = self._parts(condition, value)
        return _all_of(parts) if value else _any_of(parts)

    def _parts(self, condition: Conjunction, value: bool) -> Iterator[list[Revision]]:
        for bit in set_bits(condition.positive):
            yield self._literal(bit, value)
        for bit in set_bits(condition.negative):
            yield self._literal(bit, not value)
        for clause in condition.clauses:
            parts = self._options(clause, value)
            yield _any_of(parts) if value else _all_of(parts)
        for test in condition.tests:
            yield self._test(test, value)

    def _options(self, clause: Disjunction, value: bool) -> Iterator[list[Revision]]:
        for bit in set_bits(clause.positive):
            yield self._literal(bit, value)
        for bit in set_bits(clause.negative):
            yield self._literal(bit, not value)
        for part in clause.parts:
            yield self.conjunction(part, value)

    def _literal(self, bit: int, value: bool) -> list[Revision]:
        if bool(self._state.bits >> bit & 1) == value:
            return [_NOTHING]
        atom = self._task.fluent(bit)
        if atom.predicate in self._task.derived_predicates:
            return self._derived(bit, atom, value)
        return [frozenset({(atom, value)})] if self._hidden(atom) else []

    def _derived(self, bit: int, atom: Atom, value: bool) -> list[Revision]:
        # Derived predicates are least fixpoints: an atom that only supports itself is false.
        if bit in self._open:
            return [] if value else [_NOTHING]
        self._open.add(bit)
        bodies = [
            self._task.condition(
                rule.body, {p.name: a for p, a in zip(rule.parameters, atom.args, strict=True)}
            )
            for rule in self._task.domain.derived
            if rule.predicate == atom.predicate
        ]
        parts = [self.conjunction(body, value) for body in bodies]
        self._open.discard(bit)
        return _any_of(parts) if value else _all_of(parts)

    def _test(self, test: NumericTest, value: bool) -> list[Revision]:
        """Revise one hidden number to the nearest value that decides a linear comparison."""
        numbers = self._state.values
        if test.holds(numbers) == value:
            return [_NOTHING]
        found: list[Revision] = []
        for index, number in enumerate(numbers):
            term = self._task.term(index)
            if number is None or not self._hidden(term):
                continue
            try:
                now = self._margin(test, index, number)
                slope = self._margin(test, index, number + 1) - now
            except UndefinedValueError:
                continue
            if not slope:
                continue
            bound = number - now / slope
            nearest = sorted((bound, bound - 1, bound + 1), key=lambda n: abs(n - number))
            for other in nearest:
                if test.holds(_replaced(numbers, index, other)) == value:
                    found.append(frozenset({(term, Fraction(other))}))
                    break
        return found

    def _margin(self, test: NumericTest, index: int, number: Rational) -> Fraction:
        values = _replaced(self._state.values, index, number)
        return Fraction(evaluate(test.left, values)) - Fraction(evaluate(test.right, values))


def _replaced(values: Values, index: int, number: Rational) -> Values:
    return (*values[:index], number, *values[index + 1 :])


def _any_of(parts: Iterable[list[Revision]]) -> list[Revision]:
    return _smallest(one for part in parts for one in part)


def _all_of(parts: Iterable[list[Revision]]) -> list[Revision]:
    found = [_NOTHING]
    for part in parts:
        found = _smallest(one | other for one, other in product(found, part))
    return found


def _smallest(revisions: Iterable[Revision]) -> list[Revision]:
    ordered = sorted(dict.fromkeys(revisions), key=lambda r: (len(r), sorted(map(str, r))))
    return list(islice(ordered, _KEPT))
