"""The lifted actions of a domain, turned round: which of them make a literal true, and when.

Conditions are split into conjunctions (disjunctive normal form), since a conjunction can be
joined with facts: `(exists (?r) (and (or (on ?o ?r) (in ?o ?r)) (opened ?r)))` is two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import count, product

from hvr.pddl import Domain
from hvr.pddl.facts import Literal, necessary_literals
from hvr.pddl.model import (
    TRUE,
    And,
    Atom,
    DerivedPredicate,
    Equal,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
    Timed,
    TypedName,
    When,
    is_variable,
    substitute,
)

MOST_CONJUNCTIONS = 256
"""A condition that splits into more is only known by what it surely needs."""

Test = tuple[Atom | Equal, bool, frozenset[str]]
"""An atom, whether it is to be true, and its variables."""

Universal = tuple[tuple[TypedName, ...], Expression]
"""Variables, and what must hold for all their values."""


@dataclass(frozen=True)
class Conjunction:
    """What must hold together.

    Args:
        variables: for some values of these, beside the variables that are free.
        literals: atoms and equalities, each with whether it is to be true.
        universals: what must hold for all values of further variables.
    """

    variables: tuple[TypedName, ...] = ()
    literals: tuple[Literal, ...] = ()
    universals: tuple[Universal, ...] = ()

    @cached_property
    def tests(self) -> tuple[Test, ...]:
        """The literals with their variables."""
        return tuple((atom, sign, free_variables((atom, sign))) for atom, sign in self.literals)

    def joined(self, other: Conjunction) -> Conjunction:
        """Return the conjunction of two."""
        return Conjunction(
            self.variables + other.variables,
            self.literals + other.literals,
            self.universals + other.universals,
        )


@dataclass(frozen=True)
class Achiever:
    """An effect of an action: a literal that becomes true under a condition.

    Args:
        action: its name.
        parameters: of the action.
        variables: further variables of the effect and its condition.
        atom: what the effect is about.
        positive: whether the atom becomes true, or false.
        condition: of the effect, one conjunction of it.
        tests: the literals of the condition, and those over fixed predicates that the action needs.
    """

    action: str
    parameters: tuple[TypedName, ...]
    variables: tuple[TypedName, ...]
    atom: Atom
    positive: bool
    condition: Conjunction
    tests: tuple[Test, ...] = ()


@dataclass(frozen=True, eq=False)
class LiftedActions:
    """The actions of a domain, by what they achieve.

    Args:
        preconditions: of every action, as alternatives.
        parameters: of every action.
        achievers: by predicate and sign; those with fewer variables first.
        fixed: the predicates that nothing changes.
        needed: for every action, literals over fixed predicates that it surely needs.
        costs: steps that an action counts for: none for rules of derived predicates.
        uses: for every action, pairs of an atom that it needs and makes false, and one that it
            makes true: `(hand_empty)` and `(holding ?o)`.
        requires: for every action, changing atoms that it surely needs.
    """

    preconditions: Mapping[str, tuple[Conjunction, ...]]
    parameters: Mapping[str, tuple[TypedName, ...]]
    achievers: Mapping[tuple[str, bool], tuple[Achiever, ...]]
    fixed: frozenset[str]
    needed: Mapping[str, tuple[Literal, ...]]
    costs: Mapping[str, int]
    uses: Mapping[str, tuple[tuple[Atom, Atom], ...]]
    requires: Mapping[str, tuple[Atom, ...]]


@lru_cache(maxsize=8)
def lifted_actions(domain: Domain) -> LiftedActions:
    """Return the actions of a domain by what they achieve; rules count as actions without cost.

    Numbers and times are left out: what they forbid is for the planner to find.
    """
    schemas: dict[str, tuple[tuple[TypedName, ...], Expression, Expression]] = {}
    for name, action in (*domain.actions.items(), *domain.processes.items(),
                         *domain.events.items()):  # fmt: skip
        schemas[name] = action.parameters, action.precondition, action.effect
    for name, durative in domain.durative_actions.items():
        schemas[name] = durative.parameters, durative.condition, durative.effect
    costs = dict.fromkeys(schemas, 1)
    for number, rule in enumerate(domain.derived):
        name = f"{rule.predicate} by rule {number}"
        schemas[name] = _as_action(rule)
        costs[name] = 0
    achievers: dict[tuple[str, bool], list[Achiever]] = {}
    names = count()
    for name, (parameters, _, effect) in schemas.items():
        for achiever in _achievers(name, parameters, (), TRUE, effect, names):
            achievers.setdefault((achiever.atom.predicate, achiever.positive), []).append(achiever)
    changed = {predicate for predicate, _ in achievers}
    fixed = frozenset(set(domain.predicates) - changed)
    needed = {
        name: tuple(
            (literal, positive)
            for literal, positive in necessary_literals(_untimed(condition))
            if isinstance(literal, Equal) or literal.predicate in fixed
        )
        for name, (_, condition, _) in schemas.items()
    }
    return LiftedActions(
        {n: conjunctions(condition, names) for n, (_, condition, _) in schemas.items()},
        {n: parameters for n, (parameters, _, _) in schemas.items()},
        {
            key: tuple(sorted((_tested(a, needed[a.action]) for a in some), key=_freedom))
            for key, some in achievers.items()
        },
        fixed,
        needed,
        costs,
        {n: tuple(_uses(condition, effect)) for n, (_, condition, effect) in schemas.items()},
        {n: tuple(_required(condition, changed)) for n, (_, condition, _) in schemas.items()},
    )


def _required(condition: Expression, changed: set[str]) -> Iterator[Atom]:
    for literal, positive in necessary_literals(_untimed(condition)):
        if positive and isinstance(literal, Atom) and literal.predicate in changed:
            yield literal


def _uses(condition: Expression, effect: Expression) -> Iterator[tuple[Atom, Atom]]:
    needed = {one for one, positive in necessary_literals(_untimed(condition)) if positive}
    surely = list(necessary_literals(_untimed(effect)))
    for lost, positive in surely:
        if positive or lost not in needed:
            continue
        for gained, true in surely:
            if true and isinstance(lost, Atom) and isinstance(gained, Atom):
                yield lost, gained


def _as_action(
    rule: DerivedPredicate,
) -> tuple[tuple[TypedName, ...], Expression, Expression]:
    atom = Atom(rule.predicate, tuple(p.name for p in rule.parameters))
    return rule.parameters, rule.body, atom


def _tested(achiever: Achiever, needed: tuple[Literal, ...]) -> Achiever:
    whole = Conjunction((), (*needed, *achiever.condition.literals))
    return replace(achiever, tests=whole.tests)


def _freedom(achiever: Achiever) -> int:
    """Return how many variables an effect leaves open."""
    given = set(achiever.atom.args)
    every = (*achiever.parameters, *achiever.variables)
    return sum(v.name not in given for v in every)


def _achievers(
    action: str,
    parameters: tuple[TypedName, ...],
    variables: tuple[TypedName, ...],
    condition: Expression,
    effect: Expression,
    names: Iterator[int],
) -> Iterator[Achiever]:
    match effect:
        case Atom() | Not(Atom()):
            positive = isinstance(effect, Atom)
            atom = effect if isinstance(effect, Atom) else effect.operand
            assert isinstance(atom, Atom)
            for one in conjunctions(condition, names):
                yield Achiever(action, parameters, variables + one.variables, atom, positive, one)
        case And(operands):
            for operand in operands:
                yield from _achievers(action, parameters, variables, condition, operand, names)
        case Timed(_, body):
            yield from _achievers(action, parameters, variables, condition, body, names)
        case When(further, body):
            both = further if condition is TRUE else And((condition, further))
            yield from _achievers(action, parameters, variables, both, body, names)
        case Forall(more, body):
            fresh = _fresh(more, names)
            renamed = substitute(body, {a.name: b.name for a, b in zip(more, fresh, strict=True)})
            yield from _achievers(action, parameters, variables + fresh, condition, renamed, names)
        case _:
            return


def conjunctions(
    formula: Expression, names: Iterator[int] | None = None, positive: bool = True
) -> tuple[Conjunction, ...]:
    """Split a formula into conjunctions of which one must hold; none: it is never true.

    Args:
        formula: the formula.
        names: numbers for the names of variables, so that no two are the same.
        positive: whether it, or its negation, is to hold.
    """
    numbers = count() if names is None else names
    split = tuple(_split(formula, positive, numbers))
    if len(split) <= MOST_CONJUNCTIONS:
        return split
    return (Conjunction((), tuple(necessary_literals(formula, positive))),)


def _split(formula: Expression, positive: bool, names: Iterator[int]) -> Iterator[Conjunction]:
    match formula:
        case Atom() | Equal():
            yield Conjunction((), ((formula, positive),))
        case Not(operand):
            yield from _split(operand, not positive, names)
        case And(operands) | Or(operands):
            if isinstance(formula, And) is not positive:
                for operand in operands:
                    yield from _split(operand, positive, names)
            else:
                parts = [conjunctions(operand, names, positive) for operand in operands]
                for some in product(*parts):
                    whole = Conjunction()
                    for part in some:
                        whole = whole.joined(part)
                    yield whole
        case Imply(left, right):
            yield from _split(Or((Not(left), right)), positive, names)
        case Exists(variables, body) | Forall(variables, body):
            fresh = _fresh(variables, names)
            renamed = substitute(
                body, {a.name: b.name for a, b in zip(variables, fresh, strict=True)}
            )
            if isinstance(formula, Exists) is positive:
                for one in _split(renamed, positive, names):
                    yield Conjunction(fresh).joined(one)
            else:
                yield Conjunction(universals=((fresh, renamed if positive else Not(renamed)),))
        case Timed(_, body):
            yield from _split(body, positive, names)
        case _:  # numbers, preferences: not known here, so not held against it
            yield Conjunction()


def _untimed(formula: Expression) -> Expression:
    match formula:
        case Timed(_, body):
            return _untimed(body)
        case And(operands):
            return And(tuple(_untimed(o) for o in operands))
        case _:
            return formula


def _fresh(variables: tuple[TypedName, ...], names: Iterator[int]) -> tuple[TypedName, ...]:
    return tuple(TypedName(f"{v.name}#{next(names)}", v.types) for v in variables)


def free_variables(literal: Literal) -> frozenset[str]:
    """Return the variables of a literal."""
    atom = literal[0]
    names = (atom.left, atom.right) if isinstance(atom, Equal) else atom.args
    return frozenset([n for n in names if is_variable(n)])
