"""Incremental grounding of the rules for derived predicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl import state
from hvr.pddl.compiler import Binding, Compiler
from hvr.pddl.facts import Literal, Relation, bindings, is_true, match_row
from hvr.pddl.formulas import (
    And,
    Atom,
    Equal,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
    TypedName,
    is_variable,
    substitute,
)
from hvr.pddl.model import DerivedPredicate
from hvr.pddl.state import Conjunction, Values, set_bits
from hvr.values import Value

if TYPE_CHECKING:
    from hvr.pddl.task import Task


# Rule bodies --------------------------------------------------------------------------------------
# Rule bodies are split into conjunctions whose literals can be joined.

_MOST_DISJUNCTS = 64
"""Maximum number of conjunctions into which a rule body is split; larger bodies stay whole."""


class _Disjunct(Value):
    """A conjunction: variables to bind, literals to join, and conditions to check afterwards."""

    variables: tuple[TypedName, ...] = ()
    literals: tuple[Literal, ...] = ()
    rest: tuple[Expression, ...] = ()


class HornClause(Value):
    """A head and a conjunction that implies it; `variables` lists the variables of both."""

    head: Atom
    variables: tuple[TypedName, ...]
    literals: tuple[Literal, ...]
    rest: tuple[Expression, ...]

    def fits(self, task: Task, binding: Mapping[str, str]) -> bool:
        members = task.members
        return all(binding[v.name] in members(v.types) for v in self.variables if v.name in binding)


def clauses_of(rule: DerivedPredicate) -> list[HornClause]:
    """Split a rule into Horn clauses; a formula that would give too many becomes a condition."""
    head = Atom(rule.predicate, tuple([p.name for p in rule.parameters]))
    return [
        HornClause(head, (*rule.parameters, *body.variables), body.literals, body.rest)
        for body in run_trampoline(_disjuncts(rule.body, True, _Names(), {}))
    ]


class _Names:
    def __init__(self) -> None:
        self.count = 0

    def fresh(self, name: str) -> str:
        self.count += 1
        return f"{name}.{self.count}"


def _disjuncts(
    formula: Expression, positive: bool, names: _Names, renamed: Mapping[str, str]
) -> Steps[list[_Disjunct]]:
    """Split a formula (or its negation) into disjuncts, pushing negation inwards."""
    # Each disjunct becomes a clause whose literals can be joined. `renamed` maps variables to their
    # names in the clause.
    match formula:
        case Atom() | Equal():
            literal = substitute(formula, renamed)
            assert isinstance(literal, Atom | Equal)
            return [_Disjunct(literals=((literal, positive),))]
        case Not(operand):
            found: list[_Disjunct] = yield _disjuncts(operand, not positive, names, renamed)
            return found
        case And(operands) | Or(operands):
            sides = [(operand, positive) for operand in operands]
            # De Morgan: a negated conjunction is a disjunction, and vice versa.
            either = isinstance(formula, And) != positive
        case Imply(left, right):
            sides = [(left, not positive), (right, positive)]
            either = positive
        case Exists(variables, body) | Forall(variables, body) if (
            isinstance(formula, Exists) == positive
        ):
            # The quantified variable becomes a variable of the clause, where its name may be
            # taken.
            new = {v.name: names.fresh(v.name) for v in variables}
            own = tuple([TypedName(new[v.name], v.types) for v in variables])
            inner = yield _disjuncts(body, positive, names, {**renamed, **new} if new else renamed)
            return [_Disjunct((*own, *one.variables), one.literals, one.rest) for one in inner]
        case _:
            return _as_it_is(formula, positive, renamed)
    parts: list[list[_Disjunct]] = []
    for side, sign in sides:
        parts.append((yield _disjuncts(side, sign, names, renamed)))
    if either:
        return [one for part in parts for one in part]
    return _all_of(parts) or _as_it_is(formula, positive, renamed)


def _as_it_is(formula: Expression, positive: bool, renamed: Mapping[str, str]) -> list[_Disjunct]:
    formula = substitute(formula, renamed) if renamed else formula
    return [_Disjunct(rest=(formula if positive else Not(formula),))]


def _all_of(parts: list[list[_Disjunct]]) -> list[_Disjunct]:
    # The result is empty if it would be too long or if a part is never true. The caller then keeps
    # the formula whole.
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


# --------------------------------------------------------------------------------------------------

_MOST_INSTANCES = 10_000
_MOST_BYTES = 32_000_000
"""Limits on a stratum's instances and their size; beyond them it is evaluated without grounding."""

_Instance = tuple[int, int, int, Conjunction | None]
"""The bit of the head, the masks of atoms that must and must not be true, and the whole condition
if the masks do not express all of it.
"""


class GroundRules:
    """The ground instances of the rules of one stratum.

    An instance is created as soon as each atom that it needs has been true in some state (delete
    relaxation: Helmert 2009), by joining the atom that became true last with the other atoms. An
    instance is a condition on the bits of any state, so later states are evaluated without a join.
    """

    def __init__(self, task: Task, clauses: Sequence[HornClause]) -> None:
        self._task = task
        self._clauses = clauses
        self._instances: list[_Instance] = []
        # For each derived bit, the instances to test again when it is set.
        self._readers: dict[int, list[_Instance]] = {}
        self._seen: set[tuple[int, tuple[str, ...]]] = set()
        # The atoms that have been true, as a mask and as rows by predicate.
        self._reached = 0
        self._started = False
        self._rows: dict[str, Relation] = {}
        self._joins: dict[str, list[tuple[int, int]]] = {}
        self._known_joins: dict[tuple[int, int], _Join] = {}
        self._literals = [self._to_join(clause) for clause in clauses]
        for number, literals in enumerate(self._literals):
            for place, (literal, _) in enumerate(literals):
                if isinstance(literal, Atom) and not task.is_static(literal.predicate):
                    self._joins.setdefault(literal.predicate, []).append((number, place))
                    self._rows.setdefault(literal.predicate, Relation())

    def _to_join(self, clause: HornClause) -> list[Literal]:
        # Negative fluent literals are not joined: the atom may be false in a later state.
        return [
            (literal, positive)
            for literal, positive in clause.literals
            if positive or isinstance(literal, Equal) or self._task.is_static(literal.predicate)
        ]

    def close(self, bits: int, values: Values) -> int | None:
        """Return the bits with the stratum's derived atoms, or None if the stratum is too large."""
        batch: Iterable[_Instance] = ()
        read = 0
        for predicate in self._joins:
            read |= self._task.bits_of(predicate)
        if not self._started or bits & read & ~self._reached:
            self._reach_state(bits & read & ~self._reached)
        batch = self._instances
        # A stratum never reads its own predicates negatively, so derived atoms stay true and the
        # order in which they are processed does not matter.
        new: list[int] = []
        while self._within_limits:
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
            if not self._reached & bit:
                batch = [*batch, *self._reach(bit)]
        return None

    @property
    def _within_limits(self) -> bool:
        count = len(self._seen)
        size = 400 + self._reached.bit_length() // 2
        return count <= _MOST_INSTANCES and count * size <= _MOST_BYTES

    def _reach_state(self, bits: int) -> None:
        if self._started:
            for index in set_bits(bits):
                self._reach(1 << index)
            return
        self._started = True
        for index in set_bits(bits):
            self._record(index)
        for number, clause in enumerate(self._clauses):
            self._join(number, clause, {}, None)

    def _record(self, index: int) -> Atom:
        self._reached |= 1 << index
        atom = self._task.fluent(index)
        if (rows := self._rows.get(atom.predicate)) is not None:
            rows.add(atom.args)
        return atom

    def _reach(self, bit: int) -> list[_Instance]:
        atom = self._record(bit.bit_length() - 1)
        made = len(self._instances)
        for number, place in self._joins.get(atom.predicate, ()):
            literal = self._literals[number][place][0]
            assert isinstance(literal, Atom)
            clause = self._clauses[number]
            seed = match_row(literal, atom.args)
            if seed is not None and clause.fits(self._task, seed):
                self._join(number, clause, seed, place)
        return self._instances[made:]

    def _join(self, number: int, clause: HornClause, seed: Binding, skip: int | None) -> None:
        """Create the clause instances that match `seed`, which binds literal `skip`, if any."""
        found: Iterator[Mapping[str, str]]
        if skip is None:
            left, literals = clause.variables, self._literals[number]
            found = bindings(left, literals, seed, self._relation, self._task.members)
        else:
            join = self._known_joins.get((number, skip))
            if join is None:
                join = _Join(self._task, clause, self._literals[number], skip)
                self._known_joins[number, skip] = join
            found = join.matches(seed, self._relation)
        for binding in found:
            key = number, tuple([binding[v.name] for v in clause.variables])
            if key not in self._seen:
                self._seen.add(key)
                if not self._within_limits:
                    return
                self._instantiate(clause, binding)

    def _relation(self, predicate: str) -> Relation:
        if self._task.is_static(predicate):
            return self._task.static_facts.relation(predicate)
        return self._rows[predicate]

    def _instantiate(self, clause: HornClause, binding: Binding) -> None:
        # The join has decided the static literals; the others become bits.
        task = self._task
        positive = negative = 0
        for literal, sign in clause.literals:
            if isinstance(literal, Atom) and not task.is_static(literal.predicate):
                row = tuple([binding[a] if a[0] == "?" else a for a in literal.args])
                bit = 1 << task.index_of(literal.predicate, row)
                if sign:
                    positive |= bit
                else:
                    negative |= bit
        if positive & negative:
            return
        whole: Conjunction | None = None
        mentioned = positive | negative
        if clause.rest:
            rest = Compiler(task).condition(And(clause.rest), binding)
            whole = state.conjunction((Conjunction(positive, negative), rest))
            if whole is state.FALSE:
                return
            positive, negative, mentioned = whole.positive, whole.negative, whole.mentioned()
            if not (whole.clauses or whole.tests):
                whole = None
        head = clause.head
        bit = 1 << task.index_of(head.predicate, tuple([binding[a] for a in head.args]))
        instance = bit, positive, negative, whole
        self._instances.append(instance)
        for index in set_bits(mentioned & task.derived_bits):
            self._readers.setdefault(1 << index, []).append(instance)


class _Join:
    """The order in which the other literals of a clause are matched after literal `skip`.

    The order depends only on which variables are bound and is computed once, while `bindings`
    searches for the best order on every call.
    """

    def __init__(
        self, task: Task, clause: HornClause, literals: Sequence[Literal], skip: int
    ) -> None:
        self._types = {v.name: task.members(v.types) for v in clause.variables}
        matched = literals[skip][0]
        bound = _variables(matched)
        waiting = [item for place, item in enumerate(literals) if place != skip]
        # Each step tests literals, then matches an atom or tries a variable's objects.
        self._steps: list[tuple[list[Literal], Atom | str | None]] = []
        while True:
            decided = [item for item in waiting if _variables(item[0]) <= bound]
            waiting = [item for item in waiting if item not in decided]
            atoms = [literal for literal, sign in waiting if sign and isinstance(literal, Atom)]
            open_ = [name for name in self._types if name not in bound]
            if not open_:
                self._steps.append((decided, None))
                return
            if atoms:
                best = max(atoms, key=lambda atom: _known_arguments(atom, bound))
                self._steps.append((decided, best))
                waiting = [item for item in waiting if item[0] is not best]
                bound |= _variables(best)
            else:
                self._steps.append((decided, open_[0]))
                bound.add(open_[0])

    def matches(
        self, seed: Binding, relation: Callable[[str], Relation]
    ) -> Iterator[Mapping[str, str]]:
        stack: list[Iterator[Mapping[str, str]]] = [iter((seed,))]
        while stack:
            found = next(stack[-1], None)
            if found is None:
                stack.pop()
                continue
            tests, choice = self._steps[len(stack) - 1]
            if not all(is_true(item, sign, found, relation) for item, sign in tests):
                continue
            if choice is None:
                yield found
            elif isinstance(choice, str):
                stack.append(_objects(choice, found, self._types[choice]))
            else:
                stack.append(self._rows(choice, found, relation(choice.predicate)))

    def _rows(
        self, atom: Atom, found: Mapping[str, str], rows: Relation
    ) -> Iterator[Mapping[str, str]]:
        types = self._types
        for row in rows.rows([found.get(a) if a[0] == "?" else a for a in atom.args]):
            more = dict(found)
            for arg, value in zip(atom.args, row, strict=True):
                known = more.get(arg) if arg[0] == "?" else arg
                if known is None and value in types[arg]:
                    more[arg] = value
                elif known != value:
                    break
            else:
                yield more


def _objects(
    name: str, found: Mapping[str, str], objects: Iterable[str]
) -> Iterator[Mapping[str, str]]:
    for value in objects:
        yield {**found, name: value}


def _variables(literal: Atom | Equal) -> set[str]:
    names = (literal.left, literal.right) if isinstance(literal, Equal) else literal.args
    return set(filter(is_variable, names))


def _known_arguments(atom: Atom, bound: set[str]) -> tuple[int, int]:
    known = sum(arg in bound or not is_variable(arg) for arg in atom.args)
    return known, known - len(atom.args)
