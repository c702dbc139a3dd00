"""Derived predicates: what follows from a state, by least fixpoint, stratum by stratum.

A rule that has few instances, given the static facts, is made ground: each instance is a
condition on the bits of a state. The others are evaluated semi-naively: a new atom of a stratum
is joined with the rest of each rule body that it occurs in, so the cost follows the number of
derived atoms and not that of ground rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from hvr.pddl import conditions
from hvr.pddl.compiler import Binding, Compiler
from hvr.pddl.conditions import Conjunction, set_bits
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
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.pddl.task import Task

_MOST_DISJUNCTS = 64
"""A rule body that multiplies out into more conjunctions than this is checked as it stands."""

_MOST_INSTANCES = 1000
_MOST_WORK = 1000
"""A rule with more instances, or more instances times those of its quantifiers, is joined when
it is needed: making it ground would cost this much before the first step is judged."""

_MOST_COMPILED = 50_000
_CACHED_STATES = 1024
"""Bounds of memory: compiled conditions of one rule, results that one stratum remembers."""


class _Disjunct(Value):
    """A conjunction: variables to find, literals to join, and what is left to be checked."""

    variables: tuple[TypedName, ...] = ()
    literals: tuple[Literal, ...] = ()
    rest: tuple[Expression, ...] = ()


class _Rule(Value):
    head: Atom
    body: _Disjunct
    compiled: dict[tuple[str, ...], Conjunction]
    """What is left to be checked, by what the variables stand for."""


class _Stratum:
    """The rules of predicates that depend on each other.

    Attributes:
        predicates: the predicates that they derive.
        read: the fluent predicates of lower strata, and of none, that they read.
        numeric: whether they read numbers.
        known: what they yielded before, by what they read.
        ground: (bit of the head, condition) of the instances of ground rules.
        readers: for a derived bit, the ground rules of the stratum to look at again.
        rules: the rules with variables.
        joins: for a predicate of the stratum, the rules and the literals that it occurs in.
        opaque: the rules with a predicate of the stratum where it cannot be joined.
    """

    def __init__(self, task: Task, rules: Sequence[DerivedPredicate]) -> None:
        self.predicates = {rule.predicate for rule in rules}
        mentioned = {p for rule in rules for p, _ in predicates_in(rule.body)}
        self.read = sorted(mentioned & task.fluent_predicates - self.predicates)
        parts = (part for rule in rules for part in walk(rule.body))
        # Numbers enter the key of `known` only if a rule reads them: a total cost differs in
        # almost every state, so with it nothing would ever be found there again.
        self.numeric = any(isinstance(part, Comparison) for part in parts)
        self.known: dict[tuple[int, Values], int] = {}
        self.ground: list[tuple[int, Conjunction]] = []
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
            for index in set_bits(condition.mentioned() & task.derived_bits):
                # Only atoms of the stratum itself become true while it is evaluated.
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

    def close(self, bits: int, values: Values) -> int:
        """Return the bits with exactly those derived atoms that follow from the others."""
        work = _Fixpoint(self._task, bits & ~self._task.derived_bits, values)
        for stratum in self._strata:
            work.settle(stratum)
        return work.bits


class _Fixpoint:
    """One evaluation of the rules."""

    def __init__(self, task: Task, bits: int, values: Values) -> None:
        self.task = task
        self.bits = bits
        self.values = values
        self._relations: dict[str, Relation] = {}

    def settle(self, stratum: _Stratum) -> None:
        """Derive all that a stratum yields, or remember it."""
        # Most steps change nothing that a stratum reads, so that a look-up replaces the fixpoint.
        # An atom that got its bit only now is read as false by older keys, which it was.
        known = self.task.bits_of
        read = 0
        for predicate in stratum.read:
            read |= known(predicate)
        key = self.bits & read, (self.values if stratum.numeric else ())
        derived = stratum.known.get(key)
        if derived is not None:
            # There is no relation of these predicates yet: only this stratum and later ones
            # read them.
            self.bits |= derived
            return
        before = self.bits
        self._settle(stratum)
        if len(stratum.known) >= _CACHED_STATES:
            stratum.known.clear()
        stratum.known[key] = self.bits ^ before

    def _settle(self, stratum: _Stratum) -> None:
        # Semi-naive evaluation (Abiteboul, Hull & Vianu 1995, "Foundations of Databases", section
        # 13.1): every rule once in full, then only what a new atom takes part in. Within a
        # stratum nothing is read negatively, so an atom once derived stays derived, and the order
        # in which new atoms are taken does not matter.
        new: list[int] = []
        for head, condition in stratum.ground:
            if not self.bits & head and condition.holds(self.bits, self.values):
                self._set(head, new)
        for rule in stratum.rules:
            self._derive(rule, rule.body.variables, {}, None, new)
        while new:
            while new:
                bit = new.pop()
                for number in stratum.readers.get(bit, ()):
                    head, condition = stratum.ground[number]
                    if not self.bits & head and condition.holds(self.bits, self.values):
                        self._set(head, new)
                if stratum.joins:
                    self._join(stratum, self.task.fluent(bit.bit_length() - 1), new)
            # These read the stratum inside a disjunction or quantifier, where no new atom can be
            # matched with them: they are evaluated in full, once all else is settled.
            for rule in stratum.opaque:
                self._derive(rule, rule.body.variables, {}, None, new)

    def _set(self, bit: int, new: list[int]) -> None:
        self.bits |= bit
        new.append(bit)
        if self._relations:
            atom = self.task.fluent(bit.bit_length() - 1)
            if (relation := self._relations.get(atom.predicate)) is not None:
                relation.add(atom.args)

    def _join(self, stratum: _Stratum, atom: Atom, new: list[int]) -> None:
        """Derive what a new atom yields together with what is known."""
        for rule, place in stratum.joins.get(atom.predicate, ()):
            literal = rule.body.literals[place][0]
            assert isinstance(literal, Atom)
            seed = match_row(literal, atom.args)
            if seed is not None and self._typed(rule, seed):
                left = tuple([v for v in rule.body.variables if v.name not in seed])
                self._derive(rule, left, seed, place, new)

    def _typed(self, rule: _Rule, seed: Binding) -> bool:
        # `bindings` looks at the types only of variables that it binds itself.
        members = self.task.members
        return all(seed[v.name] in members(v.types) for v in rule.body.variables if v.name in seed)

    def _derive(
        self,
        rule: _Rule,
        variables: tuple[TypedName, ...],
        seed: Binding,
        skip: int | None,
        new: list[int],
    ) -> None:
        """Add what a rule yields; `skip` is the literal that `seed` was matched with."""
        body = rule.body
        literals = [item for place, item in enumerate(body.literals) if place != skip]
        # The relations must not grow under the join.
        matches = list(bindings(variables, literals, seed, self.relation, self.task.members))
        for binding in matches:
            if not body.rest or self._rest_holds(rule, binding):
                row = tuple([binding[v] for v in rule.head.args])
                bit = 1 << self.task.index_of(rule.head.predicate, row)
                if not self.bits & bit:
                    self._set(bit, new)

    def relation(self, predicate: str) -> Relation:
        """Return the present rows of a predicate."""
        task = self.task
        if predicate not in task.fluent_predicates:
            return task.static_facts.relation(predicate)
        relation = self._relations.get(predicate)
        if relation is None:
            bits = self.bits & task.bits_of(predicate)
            rows = [task.fluent(index).args for index in set_bits(bits)]
            relation = self._relations[predicate] = Relation(rows)
        return relation

    def _rest_holds(self, rule: _Rule, binding: Binding) -> bool:
        # Compiled conditions hold in every state, so the same binding pays for it once.
        key = tuple([binding[v.name] for v in rule.body.variables])
        condition = rule.compiled.get(key)
        if condition is None:
            if len(rule.compiled) >= _MOST_COMPILED:
                rule.compiled.clear()
            condition = Compiler(self.task).condition(And(rule.body.rest), binding)
            rule.compiled[key] = condition
        return condition.holds(self.bits, self.values)


def _instances(
    task: Task, compiler: Compiler, rule: DerivedPredicate
) -> list[tuple[int, Conjunction]] | None:
    """Make a rule ground; None when it has too many instances."""
    # An upper bound of how many parts one instance expands into.
    inner = 1
    for part in walk(rule.body):
        if isinstance(part, Forall | Exists):
            for variable in part.variables:
                inner *= max(1, len(task.members(variable.types)))
    result: list[tuple[int, Conjunction]] = []
    names = [p.name for p in rule.parameters]
    for number, binding in enumerate(compiler.instances(rule.parameters, rule.body, True, {}), 1):
        if number > _MOST_INSTANCES or number * inner > _MOST_WORK:
            return None
        condition = compiler.condition(rule.body, binding)
        if condition is not conditions.FALSE:
            row = tuple([binding[name] for name in names])
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
    """Take a formula (or its negation) apart as far as it pays.

    Each disjunct becomes a rule of its own, whose literals can be joined. Negation is pushed
    inwards on the way.
    """
    match formula:
        case Atom() | Equal():
            return [_Disjunct(literals=((formula, positive),))]
        case Not(operand):
            return _disjuncts(operand, not positive, names)
        case And(operands) | Or(operands):
            parts = [_disjuncts(o, positive, names) for o in operands]
            # De Morgan: a negated conjunction is a disjunction, and the other way round.
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
    # A variable of a quantifier becomes one of the rule, where its name may be taken already.
    renamed = {v.name: names.fresh(v.name) for v in variables}
    new = tuple([TypedName(renamed[v.name], v.types) for v in variables])
    inner = _disjuncts(substitute(body, renamed), positive, names)
    return [_Disjunct((*new, *one.variables), one.literals, one.rest) for one in inner]


def _all_of(parts: list[list[_Disjunct]]) -> list[_Disjunct]:
    """Return the conjunction of disjunctions as one disjunction, nothing when it is too long.

    Nothing, too, where a part is never true; the caller then keeps the formula as it is.
    """
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
