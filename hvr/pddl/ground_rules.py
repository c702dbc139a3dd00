"""Rules for derived predicates, made ground while states call for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hvr.pddl import conditions
from hvr.pddl.compiler import Binding, Compiler
from hvr.pddl.conditions import Conjunction, set_bits
from hvr.pddl.facts import Literal, Relation, bindings, match_row
from hvr.pddl.model import And, Atom, Equal, Not
from hvr.pddl.numeric import Values
from hvr.pddl.rule_bodies import Clause

if TYPE_CHECKING:
    from hvr.pddl.task import Task

_MOST_INSTANCES = 10_000
_MOST_BYTES = 32_000_000
"""A stratum with more instances, or with longer ones, is evaluated without making it ground."""

_Instance = tuple[int, int, int, Conjunction | None]
"""The bit of a head, the bits that must and must not be set for it, and the whole condition
where these are not all of it."""


class GroundRules:
    """The instances of the rules of one stratum.

    An instance is made as soon as each atom that it needs has been true in some state (as in the
    delete relaxation: Helmert 2009), by joining the last of them with the others. As it is a
    condition on the bits of any state, a later state costs a look at each, and no join.

    Args:
        task: the task.
        clauses: the rules of the stratum, taken apart.
    """

    def __init__(self, task: Task, clauses: Sequence[Clause]) -> None:
        self._task = task
        self._clauses = clauses
        self._instances: list[_Instance] = []
        # Of a derived bit, the instances to look at again when it is set.
        self._readers: dict[int, list[_Instance]] = {}
        self._seen: set[tuple[int, tuple[str, ...]]] = set()
        # What has been true: its bits, and its rows by predicate.
        self._met = 0
        self._begun = False
        self._rows: dict[str, Relation] = {}
        self._joins: dict[str, list[tuple[int, int]]] = {}
        self._literals = [self._to_join(clause) for clause in clauses]
        for number, literals in enumerate(self._literals):
            for place, (literal, _) in enumerate(literals):
                if isinstance(literal, Atom) and not task.is_static(literal.predicate):
                    self._joins.setdefault(literal.predicate, []).append((number, place))
                    self._rows.setdefault(literal.predicate, Relation())

    def _to_join(self, clause: Clause) -> list[Literal]:
        # An atom that must be false may be so in a later state.
        return [
            (literal, positive)
            for literal, positive in clause.literals
            if positive or isinstance(literal, Equal) or self._task.is_static(literal.predicate)
        ]

    def close(self, bits: int, values: Values) -> int | None:
        """Return the bits with those of the stratum that follow; None if it is too large.

        Raises:
            GroundingLimitError: a quantifier has too many instances.
        """
        batch: Iterable[_Instance] = ()
        read = 0
        for predicate in self._joins:
            read |= self._task.bits_of(predicate)
        if not self._begun or bits & read & ~self._met:
            self._meet_state(bits & read & ~self._met)
        batch = self._instances
        # Within a stratum nothing is read negatively, so an atom once derived stays derived, and
        # the order in which new atoms are taken does not matter.
        new: list[int] = []
        while self._few:
            for head, positive, negative, condition in batch:
                if bits & positive != positive or bits & negative or bits & head:
                    continue
                if condition is None or condition.holds(bits, values):
                    bits |= head
                    new.append(head)
            if not new:
                return bits
            bit = new.pop()
            batch = self._readers.get(bit, ())
            if not self._met & bit:
                batch = [*batch, *self._meet(bit)]
        return None

    @property
    def _few(self) -> bool:
        count = len(self._seen)
        size = 400 + self._met.bit_length() // 2
        return count <= _MOST_INSTANCES and count * size <= _MOST_BYTES

    def _meet_state(self, bits: int) -> None:
        """Make the instances that need atoms which have not been true before."""
        if self._begun:
            for index in set_bits(bits):
                self._meet(1 << index)
            return
        self._begun = True
        for index in set_bits(bits):
            self._know(index)
        for number, clause in enumerate(self._clauses):
            self._join(number, clause, {}, None)

    def _know(self, index: int) -> Atom:
        self._met |= 1 << index
        atom = self._task.fluent(index)
        if (rows := self._rows.get(atom.predicate)) is not None:
            rows.add(atom.args)
        return atom

    def _meet(self, bit: int) -> list[_Instance]:
        """Make the instances that need an atom together with those that have been true."""
        atom = self._know(bit.bit_length() - 1)
        made = len(self._instances)
        for number, place in self._joins.get(atom.predicate, ()):
            literal = self._literals[number][place][0]
            assert isinstance(literal, Atom)
            clause = self._clauses[number]
            seed = match_row(literal, atom.args)
            if seed is not None and clause.fits(self._task, seed):
                self._join(number, clause, seed, place)
        return self._instances[made:]

    def _join(self, number: int, clause: Clause, seed: Binding, skip: int | None) -> None:
        """Make the instances of a clause that fit `seed`, which literal `skip` was matched with."""
        task = self._task
        literals = [item for place, item in enumerate(self._literals[number]) if place != skip]
        left = [variable for variable in clause.variables if variable.name not in seed]
        for binding in bindings(left, literals, seed, self._relation, task.members):
            key = number, tuple([binding[v.name] for v in clause.variables])
            if key not in self._seen:
                self._seen.add(key)
                if not self._few:
                    return
                self._make(clause, binding)

    def _relation(self, predicate: str) -> Relation:
        if self._task.is_static(predicate):
            return self._task.static_facts.relation(predicate)
        return self._rows[predicate]

    def _make(self, clause: Clause, binding: Binding) -> None:
        parts = [literal if sign else Not(literal) for literal, sign in clause.literals]
        condition = Compiler(self._task).condition(And((*parts, *clause.rest)), binding)
        if condition is conditions.FALSE:
            return
        head = clause.head
        bit = 1 << self._task.index_of(head.predicate, tuple([binding[a] for a in head.args]))
        simple = not (condition.clauses or condition.tests)
        whole = None if simple else condition
        instance = bit, condition.positive, condition.negative, whole
        self._instances.append(instance)
        for index in set_bits(condition.mentioned() & self._task.derived_bits):
            self._readers.setdefault(1 << index, []).append(instance)
