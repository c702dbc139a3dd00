"""Derived predicates: the least fixpoint of the rules in a state, stratum by stratum.

The rules of a stratum are grounded incrementally (`ground_rules.py`). If that would create too many
instances, they are evaluated semi-naively instead: each new atom is joined with the rest of the
rule bodies in which it occurs. The cost then depends on the number of derived atoms, not of ground
rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from hvr.pddl.compiler import Binding, Compiler
from hvr.pddl.facts import Relation, bindings, match_row
from hvr.pddl.formulas import (
    And,
    Atom,
    Comparison,
    Expression,
    TypedName,
    atoms_of,
    signed_parts,
    walk,
)
from hvr.pddl.ground_rules import GroundRules, HornClause, clauses_of
from hvr.pddl.model import DerivedPredicate
from hvr.pddl.state import Conjunction, Values, set_bits
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.pddl.task import Task


# Stratification -----------------------------------------------------------------------------------
# A stratum is evaluated after all strata that it reads. A predicate may depend on itself, as
# reachability does, but not on its own negation: such rules have no least fixpoint, and PDDL 2.2
# (Edelkamp & Hoffmann 2004) gives them no meaning.


def strata(rules: Sequence[DerivedPredicate]) -> list[list[DerivedPredicate]]:
    """Group rules so that each group depends only on itself and earlier groups."""
    by_predicate = _by_predicate(rules)
    return [[r for p in group for r in by_predicate[p]] for group in _components(rules)]


def unstratified(rules: Sequence[DerivedPredicate]) -> list[DerivedPredicate]:
    """Return the meaningless rules, in which a predicate depends on its own negation."""
    result: list[DerivedPredicate] = []
    by_predicate = _by_predicate(rules)
    for group in _components(rules):
        for rule in (r for p in group for r in by_predicate[p]):
            if any(not positive and p in group for p, positive in predicates_in(rule.body)):
                result.append(rule)
    return result


def predicates_in(formula: Expression) -> Iterator[tuple[str, bool]]:
    for part, positive in signed_parts(formula):
        if isinstance(part, Atom):
            yield part.predicate, positive


def _by_predicate(rules: Sequence[DerivedPredicate]) -> dict[str, list[DerivedPredicate]]:
    result: dict[str, list[DerivedPredicate]] = {}
    for rule in rules:
        result.setdefault(rule.predicate, []).append(rule)
    return result


def _components(rules: Sequence[DerivedPredicate]) -> list[dict[str, None]]:
    # Tarjan's algorithm (1972) yields components after those they depend on. It is iterative,
    # because a chain of rules may be longer than Python's stack; components are dicts, not sets, so
    # that every process sees the rules in the same order.
    needs: dict[str, list[str]] = {rule.predicate: [] for rule in rules}
    for rule in rules:
        read = dict.fromkeys(p for p, _ in predicates_in(rule.body) if p in needs)
        needs[rule.predicate] += read
    result: list[dict[str, None]] = []
    # `number` is the order of discovery, `low` the earliest node known to be reachable within the
    # component. A node whose `low` equals its number is the root of a component, which is the
    # tail of `path`.
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    for root in needs:
        if root in number:
            continue
        stack = [(root, iter(needs[root]))]
        number[root] = low[root] = len(number)
        path.append(root)
        on_path.add(root)
        while stack:
            node, rest = stack[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    path.append(other)
                    on_path.add(other)
                    stack.append((other, iter(needs[other])))
                    break
                if other in on_path:
                    low[node] = min(low[node], number[other])
            else:
                stack.pop()
                if stack:
                    parent = stack[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    group: dict[str, None] = {}
                    while node not in group:
                        member = path.pop()
                        on_path.discard(member)
                        group[member] = None
                    result.append(group)
    return result


# --------------------------------------------------------------------------------------------------

_MOST_COMPILED = 50_000
_CACHED_STATES = 1024
"""Cache limits: compiled conditions per rule, and results per stratum."""


class _Rule(Value):
    clause: HornClause
    compiled: dict[tuple[str, ...], Conjunction]
    """The compiled remaining conditions by the values of the variables."""


class _Stratum:
    """The rules of predicates that depend on each other.

    Attributes:
        known: Cached results, keyed by the facts (and numbers) that the rules read.
        ground: The ground rules, or None if there are too many.
        joins: For each predicate, the rules that read it, each with the index of the literal.
        opaque: The rules that mention the stratum inside a disjunction or quantifier.
    """

    def __init__(self, task: Task, rules: Sequence[DerivedPredicate]) -> None:
        self.predicates = {rule.predicate for rule in rules}
        mentioned = {p for rule in rules for p, _ in predicates_in(rule.body)}
        self.read = sorted(mentioned & task.fluent_predicates - self.predicates)
        parts = (part for rule in rules for part in walk(rule.body))
        # Numbers are part of the key of `known` only if a rule reads them: the total cost differs
        # in almost every state, so a lookup would never succeed.
        self.numeric = any(isinstance(part, Comparison) for part in parts)
        self.known: dict[tuple[int, Values], int] = {}
        clauses = [clause for rule in rules for clause in clauses_of(rule)]
        self.ground: GroundRules | None = GroundRules(task, clauses)
        self.rules = [_Rule(clause, {}) for clause in clauses]
        self.joins: dict[str, list[tuple[_Rule, int]]] = {}
        self.opaque: list[_Rule] = []
        for rule in self.rules:
            for place, (literal, positive) in enumerate(rule.clause.literals):
                if positive and isinstance(literal, Atom) and literal.predicate in self.predicates:
                    self.joins.setdefault(literal.predicate, []).append((rule, place))
            hidden = {p for rest in rule.clause.rest for p, _ in predicates_in(rest)}
            if not hidden.isdisjoint(self.predicates):
                self.opaque.append(rule)


class Axioms:
    """The rules of a task for derived predicates."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._strata = [_Stratum(task, rules) for rules in strata(task.domain.derived)]
        self._for_steps = list(self._read_by_actions())

    def close(self, bits: int, values: Values) -> int:
        """Return `bits` with the derived atoms recomputed."""
        return self._evaluated(self._strata, bits, values)

    def close_for_steps(self, bits: int, values: Values) -> int:
        return self._evaluated(self._for_steps, bits, values)

    def _evaluated(self, order: Iterable[_Stratum], bits: int, values: Values) -> int:
        fixpoint = _Fixpoint(self._task, bits & ~self._task.derived_bits, values)
        for stratum in order:
            fixpoint.evaluate(stratum)
        return fixpoint.bits

    def _read_by_actions(self) -> Iterator[_Stratum]:
        needed = {
            atom.predicate
            for action in self._task.domain.actions.values()
            for part in (action.precondition, action.effect)
            for atom in atoms_of(part)
        }
        for stratum in reversed(self._strata):
            if not needed.isdisjoint(stratum.predicates):
                needed.update(stratum.read)
        return (stratum for stratum in self._strata if not needed.isdisjoint(stratum.predicates))


class _Fixpoint:
    def __init__(self, task: Task, bits: int, values: Values) -> None:
        self.task = task
        self.bits = bits
        self.values = values
        self._relations: dict[str, Relation] = {}

    def evaluate(self, stratum: _Stratum) -> None:
        # Most steps change nothing that a stratum reads, so a lookup replaces the fixpoint. Older
        # keys read a newly numbered atom as false, which it was.
        known = self.task.bits_of
        read = 0
        for predicate in stratum.read:
            read |= known(predicate)
        key = self.bits & read, (self.values if stratum.numeric else ())
        derived = stratum.known.get(key)
        if derived is not None:
            # No relation needs an update: only this stratum and later ones read these predicates.
            self.bits |= derived
            return
        before = self.bits
        if stratum.ground is not None:
            bits = stratum.ground.close(self.bits, self.values)
            if bits is None:
                stratum.ground = None
            else:
                self.bits = bits
        if stratum.ground is None:
            self._evaluate_semi_naively(stratum)
        if len(stratum.known) >= _CACHED_STATES:
            stratum.known.clear()
        stratum.known[key] = self.bits ^ before

    def _evaluate_semi_naively(self, stratum: _Stratum) -> None:
        # Semi-naive evaluation (Abiteboul, Hull & Vianu 1995, "Foundations of Databases", section
        # 13.1): evaluate every rule once in full, then only joins with new atoms. A stratum never
        # reads its own predicates negatively, so derived atoms stay true and the order of new
        # atoms does not matter.
        new: list[int] = []
        for rule in stratum.rules:
            self._derive(rule, rule.clause.variables, {}, None, new)
        while new:
            while new:
                bit = new.pop()
                if stratum.joins:
                    self._join(stratum, self.task.fluent(bit.bit_length() - 1), new)
            # These rules read the stratum inside a disjunction or quantifier, where a new atom
            # cannot be matched: evaluate them in full once everything else is settled.
            for rule in stratum.opaque:
                self._derive(rule, rule.clause.variables, {}, None, new)

    def _add(self, bit: int, new: list[int]) -> None:
        self.bits |= bit
        new.append(bit)
        if self._relations:
            atom = self.task.fluent(bit.bit_length() - 1)
            if (relation := self._relations.get(atom.predicate)) is not None:
                relation.add(atom.args)

    def _join(self, stratum: _Stratum, atom: Atom, new: list[int]) -> None:
        for rule, place in stratum.joins.get(atom.predicate, ()):
            clause = rule.clause
            literal = clause.literals[place][0]
            assert isinstance(literal, Atom)
            seed = match_row(literal, atom.args)
            # `bindings` checks types only for variables that it binds itself.
            if seed is not None and clause.fits(self.task, seed):
                left = tuple([v for v in clause.variables if v.name not in seed])
                self._derive(rule, left, seed, place, new)

    def _derive(
        self,
        rule: _Rule,
        variables: tuple[TypedName, ...],
        seed: Binding,
        skip: int | None,
        new: list[int],
    ) -> None:
        """Add the atoms that a rule derives for `seed`, which satisfies literal number `skip`."""
        clause = rule.clause
        literals = [item for place, item in enumerate(clause.literals) if place != skip]
        # A list, because relations must not grow during the join.
        matches = list(bindings(variables, literals, seed, self.relation, self.task.members))
        for binding in matches:
            if not clause.rest or self._rest_holds(rule, binding):
                row = tuple([binding[v] for v in clause.head.args])
                bit = 1 << self.task.index_of(clause.head.predicate, row)
                if not self.bits & bit:
                    self._add(bit, new)

    def relation(self, predicate: str) -> Relation:
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
        # Compiled conditions apply to every state, so each binding is compiled once.
        key = tuple([binding[v.name] for v in rule.clause.variables])
        condition = rule.compiled.get(key)
        if condition is None:
            if len(rule.compiled) >= _MOST_COMPILED:
                rule.compiled.clear()
            condition = Compiler(self.task).condition(And(rule.clause.rest), binding)
            rule.compiled[key] = condition
        return condition.holds(self.bits, self.values)
