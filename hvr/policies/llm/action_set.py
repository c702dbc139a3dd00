"""The action set: the ground actions that may become applicable (paper, section 3.3).

An action is ruled out by its argument types, by static facts, or if no action adds a fact in its
precondition. Every other fluent is assumed to be achievable at some time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

from hvr.pddl import (
    ActionSchema,
    And,
    Atom,
    Equal,
    Exists,
    Expression,
    Forall,
    GroundAction,
    Imply,
    Not,
    Or,
    Task,
    TypedName,
    When,
    is_variable,
)
from hvr.pddl.facts import Literal, Relation, bindings, conjuncts, match_row, necessary_literals
from hvr.pddl.task import binding_of

Binding = Mapping[str, str]

_MOST_INSTANCES = 50_000
"""Maximum number of instances up to which a quantifier is expanded; larger quantified formulas
count as satisfiable.
"""


class ActionSet:
    """The ground actions of a task that may become applicable, enumerated on demand."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._by_name: dict[str, tuple[GroundAction, ...]] = {}
        self._adders: dict[str, list[_Adder]] | None = None
        self._attainable: dict[Atom, bool] = {}
        self._members: dict[GroundAction, bool] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.task.domain.actions)

    def __contains__(self, action: object) -> bool:
        if not isinstance(action, GroundAction):
            return False
        known = self._members.get(action)
        if known is None:
            known = self._members[action] = self._valid(action)
        return known

    def __iter__(self) -> Iterator[GroundAction]:
        for name in self.names:
            yield from self.of(name)

    def __len__(self) -> int:
        return sum(len(self.of(name)) for name in self.names)

    def of(self, name: str) -> tuple[GroundAction, ...]:
        """Return the actions with a name, in a fixed order; empty if the name is unknown."""
        if name not in self._by_name:
            schema = self.task.domain.actions.get(name)
            self._by_name[name] = tuple(self._enumerate(schema)) if schema is not None else ()
        return self._by_name[name]

    # Enumeration ----------------------------------------------------------------------------

    def _valid(self, action: GroundAction) -> bool:
        schema = self.task.domain.actions.get(action.name)
        if schema is None or self.task.misfit(action) is not None:
            return False
        return self._possible(schema.precondition, binding_of(schema, action), True)

    def _enumerate(self, schema: ActionSchema) -> Iterator[GroundAction]:
        parts = list(conjuncts(schema.precondition))
        names = {p.name for p in schema.parameters}
        allowed: dict[str, dict[str, None]] = {}
        rest: list[Expression] = []
        alone: dict[str, list[Expression]] = {name: [] for name in names}
        for conjunct in parts:
            # Check unary conditions once per object instead of once per binding.
            free = _free(conjunct) & names
            (alone[next(iter(free))] if len(free) == 1 else rest).append(conjunct)
        for parameter in schema.parameters:
            allowed[parameter.name] = {
                o: None
                for o in self.task.members(parameter.types)
                if all(self._possible(c, {parameter.name: o}, True) for c in alone[parameter.name])
            }
        static = [
            literal for c in rest for literal in necessary_literals(c) if self._static(literal)
        ]
        # Each parameter gets its own pseudo-type: the objects that satisfy its unary conditions.
        variables = [TypedName(p.name, (p.name,)) for p in schema.parameters]
        for binding in bindings(
            variables, static, {}, self.task.static_facts.relation, lambda types: allowed[types[0]]
        ):
            if all(self._possible(c, binding, True) for c in rest):
                yield GroundAction(schema.name, tuple(binding[p.name] for p in schema.parameters))

    def _static(self, literal: Literal) -> bool:
        return isinstance(literal[0], Equal) or self.task.is_static(literal[0].predicate)

    # Possibility ----------------------------------------------------------------------------

    def _possible(self, formula: Expression, binding: Binding, wanted: bool) -> bool:
        """Return whether a formula can ever evaluate to `wanted`; True if undecided."""
        match formula:
            case Atom():
                return self._possible_atom(formula, binding, wanted)
            case Equal(left, right):
                return (binding.get(left, left) == binding.get(right, right)) == wanted
            case Not(operand):
                return self._possible(operand, binding, not wanted)
            case And(operands) | Or(operands):
                every = isinstance(formula, And) == wanted
                return (all if every else any)(self._possible(o, binding, wanted) for o in operands)
            case Imply(left, right):
                return self._possible(Or((Not(left), right)), binding, wanted)
            case Exists(variables, body) | Forall(variables, body):
                instances = self._instances(variables, body, binding, wanted)
                return (any if isinstance(formula, Exists) == wanted else all)(instances)
        return True

    def _possible_atom(self, atom: Atom, binding: Binding, wanted: bool) -> bool:
        args = tuple([binding.get(a, a) for a in atom.args])
        if any(is_variable(a) for a in args):
            return True
        if self.task.is_static(atom.predicate):
            return (args in self.task.static_facts.relation(atom.predicate)) == wanted
        return not wanted or self.can_become_true(Atom(atom.predicate, args))

    def _instances(
        self, variables: tuple[TypedName, ...], body: Expression, binding: Binding, wanted: bool
    ) -> Iterator[bool]:
        members = [self.task.members(v.types) for v in variables]
        count = 1
        for objects in members:
            count *= len(objects)
        if count > _MOST_INSTANCES:
            yield True
            return
        for row in product(*members):
            inner = {**binding, **{v.name: o for v, o in zip(variables, row, strict=True)}}
            yield self._possible(body, inner, wanted)

    def can_become_true(self, atom: Atom) -> bool:
        """Return whether an atom holds initially or an effect may add it.

        Only types and static conditions are checked, since a search would be needed to find out
        whether the action with the effect is reachable. Derived atoms count as possible, and so do
        all atoms if the problem has timed initial literals.
        """
        known = self._attainable.get(atom)
        if known is None:
            # Derived and timed atoms are assumed to be possible; their causes are not traced.
            followed = atom.predicate not in self.task.derived_predicates
            known = not followed or bool(self.task.problem.timed_init)
            known = known or atom in self.task.problem.init
            known = known or any(a.may_add(self.task, atom) for a in self._adding(atom.predicate))
            self._attainable[atom] = known
        return known

    def _adding(self, predicate: str) -> list[_Adder]:
        if self._adders is None:
            self._adders = {}
            for schema in self.task.domain.actions.values():
                needs = tuple(n for n in necessary_literals(schema.precondition) if self._static(n))
                for adder in _adders(schema.effect, schema.parameters, needs, self._static):
                    self._adders.setdefault(adder.atom.predicate, []).append(adder)
        return self._adders.get(predicate, [])


class _Adder:
    __slots__ = ("atom", "needs", "variables")

    def __init__(
        self, atom: Atom, variables: tuple[TypedName, ...], needs: tuple[Literal, ...]
    ) -> None:
        self.atom = atom
        self.variables = variables
        self.needs = needs

    def may_add(self, task: Task, atom: Atom) -> bool:
        binding = match_row(self.atom, atom.args)
        if binding is None:
            return False
        types = {v.name: v.types for v in self.variables}
        if any(o not in task.members(types[v]) for v, o in binding.items() if v in types):
            return False

        def relation(predicate: str) -> Relation:
            return task.static_facts.relation(predicate)

        open_ = [v for v in self.variables if v.name not in binding]
        return any(True for _ in bindings(open_, self.needs, binding, relation, task.members))


def _adders(
    effect: Expression,
    variables: tuple[TypedName, ...],
    needs: tuple[Literal, ...],
    static: Callable[[Literal], bool],
) -> Iterator[_Adder]:
    match effect:
        case Atom():
            yield _Adder(effect, variables, needs)
        case And(operands):
            for operand in operands:
                yield from _adders(operand, variables, needs, static)
        case Forall(inner, body):
            yield from _adders(body, (*variables, *inner), needs, static)
        case When(condition, body):
            more = tuple(n for n in necessary_literals(condition) if static(n))
            yield from _adders(body, variables, (*needs, *more), static)
        case _:
            pass


def _free(formula: Expression) -> set[str]:
    match formula:
        case Atom():
            return {a for a in formula.args if is_variable(a)}
        case Equal(left, right):
            return {a for a in (left, right) if is_variable(a)}
        case Not(operand):
            return _free(operand)
        case And(operands) | Or(operands):
            return set().union(*map(_free, operands))
        case Imply(left, right):
            return _free(left) | _free(right)
        case Exists(variables, body) | Forall(variables, body):
            return _free(body) - {v.name for v in variables}
    return set()
