"""Reachable atoms and applicable actions under the delete relaxation.

The result is a superset of what is truly reachable: deletions, negative conditions on fluents,
disjunctions, quantifiers and numbers are ignored (Bonet & Geffner 2001). It is computed from the
lifted actions as a Datalog program, by semi-naive joins (Helmert 2009, "Concise finite-domain
representations for PDDL planning tasks").
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

from hvr.pddl import (
    ActionSchema,
    And,
    Atom,
    Equal,
    Expression,
    Forall,
    Task,
    Timed,
    TypedName,
    When,
    substitute,
)
from hvr.pddl.compiler import Binding
from hvr.pddl.facts import Literal, Relation, bindings, match_row, necessary_literals
from hvr.validation.occurrences import schemas_of, without_times

MOST_INSTANCES = 200_000
MOST_LOOKUPS = 500_000
"""Maximum number of lookups of relations, two seconds of work; unlike a time limit, it gives the
same result on every machine."""

_ALL = ("at start", "over all", "at end")
_NONE = Relation()


@dataclass(frozen=True, slots=True)
class _Clause:
    """A Datalog clause, for one effect of an action (named by `owner`) or for a rule."""

    owner: str
    variables: tuple[TypedName, ...]
    literals: tuple[Literal, ...]
    heads: tuple[Atom, ...]


class _LimitError(Exception):
    pass


class Reachable:
    """The actions that may be applicable in a task, and the atoms that may become true.

    `seconds` limits the exploration, in addition to the limits on instances and lookups. `complete`
    says whether it finished, or found every action applicable and every goal atom reachable. If
    not, more actions and atoms may be reachable.
    """

    def __init__(self, task: Task, seconds: float = math.inf) -> None:
        self.task = task
        self.actions: set[str] = set()
        self._end = monotonic() + seconds
        self._lookups = 0
        self._relations: dict[str, Relation] = {}
        self._new: deque[Atom] = deque()
        self._seen: set[tuple[int, tuple[str, ...]]] = set()
        self._unseen: set[str | Atom] = {schema.name for schema in schemas_of(task.domain)}
        for literal, positive in necessary_literals(task.problem.goal):
            if positive and isinstance(literal, Atom) and not task.is_static(literal.predicate):
                self._unseen.add(literal)
        self.complete = self._explore()

    def __contains__(self, atom: Atom) -> bool:
        return atom.args in self.relation(atom.predicate)

    def relation(self, predicate: str) -> Relation:
        """Return the argument tuples with which a predicate may become true."""
        if self.task.is_static(predicate):
            return self.task.static_facts.relation(predicate)
        return self._relations.get(predicate, _NONE)

    def _counted(self, predicate: str) -> Relation:
        self._lookups += 1
        if self._lookups > MOST_LOOKUPS:
            raise _LimitError
        return self.relation(predicate)

    def _explore(self) -> bool:
        # Sorted, because the order decides what is explored within the time limit.
        problem = self.task.problem
        for atom in sorted(problem.init, key=str):
            self._reach(atom)
        for timed in problem.timed_init:
            if isinstance(timed.effect, Atom):
                self._reach(timed.effect)
        clauses = list(_clauses(self.task))
        readers: dict[str, list[tuple[int, _Clause, Atom]]] = {}
        for number, clause in enumerate(clauses):
            for literal, _ in clause.literals:
                if isinstance(literal, Atom) and not self.task.is_static(literal.predicate):
                    readers.setdefault(literal.predicate, []).append((number, clause, literal))
        # Semi-naive evaluation: join each clause in full once, then only with each new atom. Atoms
        # derived in the full joins return through the queue; `_seen` makes that cheap.
        for number, clause in enumerate(clauses):
            if not self._fire(number, clause, {}):
                return False
        while self._new and self._unseen:
            atom = self._new.popleft()
            for number, clause, literal in readers.get(atom.predicate, ()):
                seed = match_row(literal, atom.args)
                if seed is not None and not self._fire(number, clause, seed):
                    return not self._unseen
        return True

    def _fire(self, number: int, clause: _Clause, seed: dict[str, str]) -> bool:
        members = self.task.members
        if any(v.name in seed and seed[v.name] not in members(v.types) for v in clause.variables):
            return True
        # One instance suffices to show that an action can apply.
        if clause.owner in self.actions and not clause.heads:
            return True
        if monotonic() > self._end:
            return False
        # Consequences are added after the join, because relations must not grow during it.
        following: list[Atom] = []
        try:
            for atoms in self._derived(number, clause, seed):
                following += atoms
            complete = True
        except _LimitError:
            complete = False
        for atom in following:
            self._reach(atom)
        return complete

    def _derived(self, number: int, clause: _Clause, seed: dict[str, str]) -> Iterator[list[Atom]]:
        open_ = [v for v in clause.variables if v.name not in seed]
        matches = bindings(open_, clause.literals, seed, self._counted, self.task.members)
        for done, match in enumerate(matches):
            if clause.owner:
                self.actions.add(clause.owner)
                self._unseen.discard(clause.owner)
            if not clause.heads:
                return
            key = number, tuple([match[v.name] for v in clause.variables])
            if key not in self._seen:
                self._seen.add(key)
                yield [
                    Atom(head.predicate, tuple([match.get(a, a) for a in head.args]))
                    for head in clause.heads
                ]
            late = done % 256 == 255 and monotonic() > self._end
            if late or len(self._seen) >= MOST_INSTANCES:
                raise _LimitError

    def _reach(self, atom: Atom) -> None:
        if self.task.is_static(atom.predicate):
            return
        relation = self._relations.setdefault(atom.predicate, Relation())
        if atom.args not in relation:
            relation.add(atom.args)
            self._new.append(atom)
            self._unseen.discard(atom)


def _clauses(task: Task) -> Iterator[_Clause]:
    for schema in schemas_of(task.domain):
        if isinstance(schema, ActionSchema):
            start: Expression = schema.precondition
            whole: Expression = start
        else:
            start = without_times(schema.condition, ("at start",))
            whole = without_times(schema.condition, _ALL)
        parameters = schema.parameters
        everything = _literals(task, whole)
        # A durative action counts as applicable only if it can also end.
        yield _Clause(schema.name, parameters, everything, ())
        heads: dict[tuple[tuple[TypedName, ...], tuple[Literal, ...]], list[Atom]] = {}
        sides: list[tuple[tuple[str, ...], tuple[Literal, ...]]] = [((), everything)]
        if not isinstance(schema, ActionSchema):
            sides = [(("at start",), _literals(task, start)), (("at end",), everything)]
        for times, literals in sides:
            for variables, more, atom in _effects(task, schema.effect, parameters, times):
                heads.setdefault((variables, (*literals, *more)), []).append(atom)
        for (variables, literals), atoms in heads.items():
            yield _Clause("", variables, literals, tuple(atoms))
    for rule in task.domain.derived:
        head = Atom(rule.predicate, tuple([p.name for p in rule.parameters]))
        yield _Clause("", rule.parameters, _literals(task, rule.body), (head,))


def _literals(task: Task, formula: Expression) -> tuple[Literal, ...]:
    return tuple(
        [
            (literal, positive)
            for literal, positive in necessary_literals(formula)
            if positive or isinstance(literal, Equal) or task.is_static(literal.predicate)
        ]
    )


def _effects(
    task: Task, effect: Expression, variables: tuple[TypedName, ...], times: tuple[str, ...]
) -> Iterator[tuple[tuple[TypedName, ...], tuple[Literal, ...], Atom]]:
    # Each entry carries a renaming: quantified variables may shadow others.
    stack: list[tuple[Expression, tuple[TypedName, ...], tuple[Literal, ...], Binding]] = [
        (effect, variables, (), {})
    ]
    while stack:
        part, names, needed, renamed = stack.pop()
        match part:
            case Atom():
                yield names, needed, Atom(part.predicate, _renamed(part.args, renamed))
            case And(operands):
                stack += [(operand, names, needed, renamed) for operand in reversed(operands)]
            case Timed(when, body):
                if when in times:
                    stack.append((body, names, needed, renamed))
            case When(condition, body):
                own = _literals(task, without_times(substitute(condition, renamed), _ALL))
                stack.append((body, names, (*needed, *own), renamed))
            case Forall(inner, body):
                new = {v.name: f"{v.name}.{len(names)}" for v in inner}
                fresh = tuple([TypedName(new[v.name], v.types) for v in inner])
                known = {**renamed, **new} if new else renamed
                stack.append((body, (*names, *fresh), needed, known))
            case _:
                pass


def _renamed(args: tuple[str, ...], renamed: Binding) -> tuple[str, ...]:
    return tuple([renamed.get(arg, arg) for arg in args])
