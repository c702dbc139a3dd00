"""Derived predicates: what follows from a state, by least fixpoint, stratum by stratum.

A rule that has few instances, given the static facts, is made ground: each instance is a
condition on the bits of a state. The others are evaluated semi-naively: a new atom of a stratum
is joined with the rest of each rule body that it occurs in, so the cost follows the number of
derived atoms and not that of ground rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from hvr.pddl import conditions
from hvr.pddl.compiler import Binding, Compiler
from hvr.pddl.conditions import Condition
from hvr.pddl.facts import Literal, Relation, bindings, match_row
from hvr.pddl.model import (
    And,
    Atom,
    Comparison,
    DerivedPredicate,
    Equal,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
    TypedName,
    substitute,
    walk,
)
from hvr.pddl.numeric import Values
from hvr.pddl.stratification import predicates_in, strata

if TYPE_CHECKING:
    from hvr.pddl.task import Task

_MOST_DISJUNCTS = 64
_MOST_INSTANCES = 1000
_MOST_WORK = 1000
_MOST_COMPILED = 50_000
_CACHED_STATES = 1024


@dataclass(frozen=True, slots=True)
class _Disjunct:
    """A conjunction: variables to find, literals to join, and what is left to be checked."""

    variables: tuple[TypedName, ...] = ()
    literals: tuple[Literal, ...] = ()
    rest: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rule:
    head: Atom
    body: _Disjunct
    compiled: dict[tuple[str, ...], Condition]
    """What is left to be checked, by what the variables stand for."""


class _Stratum:
    """The rules of predicates that depend on each other.

    Attributes:
        predicates: the predicates that they derive.
        ground: (bit of the head, condition) of the instances of ground rules.
        readers: for a derived bit, the ground rules of the stratum to look at again.
        rules: the rules with variables.
        joins: for a predicate of the stratum, the rules and the literals that it occurs in.
        opaque: the rules with a predicate of the stratum where it cannot be joined.
    """

    def __init__(self, task: Task, rules: Sequence[DerivedPredicate]) -> None:
        self.predicates = {rule.predicate for rule in rules}
        self.ground: list[tuple[int, Condition]] = []
        self.rules: list[_Rule] = []
        compiler = Compiler(task)
        for rule in rules:
            if (instances := _instances(task, compiler, rule)) is not None:
                self.ground += instances
                continue
            head_atom = Atom(rule.predicate, tuple([p.name for p in rule.parameters]))
            for body in _disjuncts(rule.body, True, _Names()):
                merged = _Disjunct((*rule.parameters, *body.variables), body.literals, body.rest)
                self.rules.append(_Rule(head_atom, merged, {}))
        self.readers: dict[int, list[int]] = {}
        for number, (_, condition) in enumerate(self.ground):
            for index in _indexes(condition.mentioned() & task.derived_bits):
                if task.fluent(index).predicate in self.predicates:
                    self.readers.setdefault(1 << index, []).append(number)
        self.joins: dict[str, list[tuple[_Rule, int]]] = {}
        self.opaque: list[_Rule] = []
        for lifted in self.rules:
            for place, (literal, positive) in enumerate(lifted.body.literals):
                if positive and isinstance(literal, Atom) and literal.predicate in self.predicates:
                    self.joins.setdefault(literal.predicate, []).append((lifted, place))
            hidden = {p for rest in lifted.body.rest for p, _ in predicates_in(rest)}
            if not hidden.isdisjoint(self.predicates):
                self.opaque.append(lifted)


class Axioms:
    """The rules of a task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._strata = [_Stratum(task, rules) for rules in strata(task.domain.derived)]
        self._lifted = any(stratum.rules for stratum in self._strata)
        self._read = frozenset(
            p for rule in task.domain.derived for p, _ in predicates_in(rule.body)
        ).intersection(task.fluent_predicates - task.derived_predicates)
        self._numeric = any(
            isinstance(f, Comparison) for rule in task.domain.derived for f in walk(rule.body)
        )
        self._known: dict[tuple[int, Values], int] = {}

    def close(self, bits: int, values: Values) -> int:
        """Return the bits with exactly those derived atoms that follow from the others."""
        bits &= ~self._task.derived_bits
        key = bits, (values if self._numeric else ())
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _CACHED_STATES:
                self._known.clear()
            found = self._known[key] = _Fixpoint(self._task, bits, values).run(
                self._strata, self._read if self._lifted else frozenset()
            )
        return found


class _Fixpoint:
    """One evaluation of the rules."""

    def __init__(self, task: Task, bits: int, values: Values) -> None:
        self.task = task
        self.bits = bits
        self.values = values
        self.relations: dict[str, Relation] = {}

    def run(self, order: list[_Stratum], read: frozenset[str]) -> int:
        if read:
            rows: dict[str, list[tuple[str, ...]]] = {}
            for predicate, row in self.task.rows_in(self.bits, read):
                rows.setdefault(predicate, []).append(row)
            self.relations = {name: Relation(found) for name, found in rows.items()}
        for stratum in order:
            self._settle(stratum)
        return self.bits

    def _settle(self, stratum: _Stratum) -> None:
        new: list[tuple[int, Atom | None]] = []
        for head, condition in stratum.ground:
            if not self.bits & head and condition.holds(self.bits, self.values):
                new.append((head, None))
                self.bits |= head
        for rule in stratum.rules:
            self._derive(rule, rule.body.variables, {}, None, new)
        while new:
            changed = False
            while new:
                bit, atom = new.pop()
                changed = True
                for number in stratum.readers.get(bit, ()):
                    head, condition = stratum.ground[number]
                    if not self.bits & head and condition.holds(self.bits, self.values):
                        new.append((head, None))
                        self.bits |= head
                if not stratum.joins:
                    continue
                atom = atom or self.task.fluent(bit.bit_length() - 1)
                for rule, place in stratum.joins.get(atom.predicate, ()):
                    literal = rule.body.literals[place][0]
                    assert isinstance(literal, Atom)
                    seed = match_row(literal, atom.args)
                    if seed is not None and self._typed(rule, seed):
                        left = tuple([v for v in rule.body.variables if v.name not in seed])
                        self._derive(rule, left, seed, place, new)
            if changed:
                for rule in stratum.opaque:
                    self._derive(rule, rule.body.variables, {}, None, new)

    def _typed(self, rule: _Rule, seed: Binding) -> bool:
        members = self.task.members
        return all(seed[v.name] in members(v.types) for v in rule.body.variables if v.name in seed)

    def _derive(
        self,
        rule: _Rule,
        variables: tuple[TypedName, ...],
        seed: Binding,
        skip: int | None,
        new: list[tuple[int, Atom | None]],
    ) -> None:
        """Add what a rule yields; `skip` is the literal that `seed` was matched with."""
        body = rule.body
        literals = [item for place, item in enumerate(body.literals) if place != skip]
        # The relations must not grow under the join.
        found = list(bindings(variables, literals, seed, self.relation, self.task.members))
        for binding in found:
            if not body.rest or self._rest_holds(rule, binding):
                row = tuple([binding[v] for v in rule.head.args])
                bit = 1 << self.task.index_of(rule.head.predicate, row)
                if not self.bits & bit:
                    self.bits |= bit
                    self.relation_to_grow(rule.head.predicate).add(row)
                    new.append((bit, Atom(rule.head.predicate, row)))

    def relation(self, predicate: str) -> Relation:
        """Return the present rows of a predicate."""
        if predicate in self.task.fluent_predicates:
            return self.relations.get(predicate, _EMPTY)
        return self.task.static_facts.relation(predicate)

    def relation_to_grow(self, predicate: str) -> Relation:
        """Return the relation of a derived predicate."""
        return self.relations.setdefault(predicate, Relation())

    def _rest_holds(self, rule: _Rule, binding: Binding) -> bool:
        key = tuple([binding[v.name] for v in rule.body.variables])
        condition = rule.compiled.get(key)
        if condition is None:
            if len(rule.compiled) >= _MOST_COMPILED:
                rule.compiled.clear()
            condition = Compiler(self.task).condition(And(rule.body.rest), binding)
            rule.compiled[key] = condition
        return condition.holds(self.bits, self.values)


_EMPTY = Relation()


def _instances(
    task: Task, compiler: Compiler, rule: DerivedPredicate
) -> list[tuple[int, Condition]] | None:
    """Make a rule ground; None when it has too many instances."""
    inner = 1
    for part in walk(rule.body):
        if isinstance(part, Forall | Exists):
            for variable in part.variables:
                inner *= max(1, len(task.members(variable.types)))
    result: list[tuple[int, Condition]] = []
    names = [p.name for p in rule.parameters]
    for number, found in enumerate(compiler.instances(rule.parameters, rule.body, True, {}), 1):
        if number > _MOST_INSTANCES or number * inner > _MOST_WORK:
            return None
        condition = compiler.condition(rule.body, found)
        if condition is not conditions.FALSE:
            row = tuple([found[name] for name in names])
            result.append((1 << task.index_of(rule.predicate, row), condition))
    return result


class _Names:
    """Makes new names for the variables of inner quantifiers."""

    def __init__(self) -> None:
        self.count = 0

    def fresh(self, name: str) -> str:
        self.count += 1
        return f"{name}.{self.count}"


def _disjuncts(formula: Expression, positive: bool, names: _Names) -> list[_Disjunct]:
    """Take a formula (or its negation) apart as far as it pays."""
    match formula:
        case Atom() | Equal():
            return [_Disjunct(literals=((formula, positive),))]
        case Not(operand):
            return _disjuncts(operand, not positive, names)
        case And(operands) | Or(operands):
            parts = [_disjuncts(o, positive, names) for o in operands]
            if isinstance(formula, And) != positive:
                return [one for part in parts for one in part]
            return _all_of(parts) or _as_it_is(formula, positive)
        case Imply(left, right):
            parts = [_disjuncts(left, not positive, names), _disjuncts(right, positive, names)]
            if positive:
                return [one for part in parts for one in part]
            return _all_of(parts) or _as_it_is(formula, positive)
        case Exists(variables, body) if positive:
            return _quantified(variables, body, True, names)
        case Forall(variables, body) if not positive:
            return _quantified(variables, body, False, names)
        case _:
            return _as_it_is(formula, positive)


def _as_it_is(formula: Expression, positive: bool) -> list[_Disjunct]:
    return [_Disjunct(rest=(formula if positive else Not(formula),))]


def _quantified(
    variables: tuple[TypedName, ...], body: Expression, positive: bool, names: _Names
) -> list[_Disjunct]:
    renamed = {v.name: names.fresh(v.name) for v in variables}
    new = tuple([TypedName(renamed[v.name], v.types) for v in variables])
    inner = _disjuncts(substitute(body, renamed), positive, names)
    return [_Disjunct((*new, *one.variables), one.literals, one.rest) for one in inner]


def _all_of(parts: list[list[_Disjunct]]) -> list[_Disjunct]:
    """Return the conjunction of disjunctions as one disjunction, nothing when it is too long."""
    size = 1
    for part in parts:
        size *= len(part)
        if size > _MOST_DISJUNCTS:
            return []
    return [
        _Disjunct(
            tuple([v for one in row for v in one.variables]),
            tuple([item for one in row for item in one.literals]),
            tuple([item for one in row for item in one.rest]),
        )
        for row in product(*parts)
    ]


def _indexes(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
