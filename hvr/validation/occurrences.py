"""Which names a model uses, and where: read in a condition, changed by an effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hvr.base.nested import Steps, finish
from hvr.pddl import (
    ActionSchema,
    And,
    Arithmetic,
    Atom,
    Comparison,
    Domain,
    DurativeActionSchema,
    Equal,
    Exists,
    Expression,
    Forall,
    FunctionTerm,
    Not,
    NumericEffect,
    Problem,
    Timed,
    TypedName,
    When,
)
from hvr.pddl.model import functions_of, parts_of, signed_parts, walk

Schema = ActionSchema | DurativeActionSchema


class Occurrences:
    """The names that a model uses.

    Attributes:
        read: predicates in conditions, with a place where each must be true.
        added, deleted: predicates that effects make true or false, or that rules derive.
        read_functions, changed_functions: the same of numeric functions.
        names: all names and variables that anything is applied to.
        types: the types of variables.
    """

    def __init__(self) -> None:
        self.read: dict[str, Atom] = {}
        self.read_true: dict[str, Atom] = {}
        self.added: dict[str, Atom] = {}
        self.deleted: dict[str, Atom] = {}
        self.read_functions: dict[str, FunctionTerm] = {}
        self.changed_functions: dict[str, NumericEffect] = {}
        self.names: set[str] = set()
        self.types: set[str] = set()

    def condition(self, formula: Expression) -> None:
        """Note what a condition reads."""
        # Of each predicate the first place, because that is where a reader looks first.
        for part, positive in signed_parts(formula):
            match part:
                case Atom(predicate, args):
                    self.read.setdefault(predicate, part)
                    if positive:
                        self.read_true.setdefault(predicate, part)
                    self.names.update(args)
                case Equal(left, right):
                    self.names.update((left, right))
                case Comparison(_, left_, right_):
                    self._number(left_)
                    self._number(right_)
                case Forall(variables, _) | Exists(variables, _):
                    self.variables(variables)
                case _:
                    pass

    def effect(self, effect: Expression) -> None:
        """Note what an effect changes, and what its conditions read."""
        stack = [effect]
        while stack:
            stack.extend(reversed(self._of_effect(stack.pop())))

    def _of_effect(self, effect: Expression) -> tuple[Expression, ...]:
        """Note what is in an effect; return the effects inside."""
        match effect:
            case Atom(predicate, args):
                self.added.setdefault(predicate, effect)
                self.names.update(args)
            case Not(Atom(predicate, args) as atom):
                self.deleted.setdefault(predicate, atom)
                self.names.update(args)
            case When(condition, body):
                self.condition(condition)
                return (body,)
            case Forall(variables, body):
                self.variables(variables)
                return (body,)
            case NumericEffect(_, fluent, amount):
                self.changed_functions.setdefault(fluent.function, effect)
                self.names.update(fluent.args)
                self._number(amount)
            case _:
                return parts_of(effect)
        return ()

    def schema(self, schema: Schema) -> None:
        """Note what an action reads and changes."""
        self.variables(schema.parameters)
        if isinstance(schema, DurativeActionSchema):
            self.condition(schema.duration)
            self.condition(schema.condition)
        else:
            self.condition(schema.precondition)
        self.effect(schema.effect)

    def variables(self, variables: Iterable[TypedName]) -> None:
        """Note the types of variables."""
        for variable in variables:
            self.types.update(variable.types)

    def number(self, expression: object) -> None:
        """Note what a numeric expression reads, that of a metric too."""
        if isinstance(expression, FunctionTerm | Arithmetic):
            self._number(expression)

    def _number(self, expression: object) -> None:
        if isinstance(expression, FunctionTerm | Arithmetic):
            for term in functions_of(expression):
                self.read_functions.setdefault(term.function, term)
                self.names.update(term.args)


def occurrences_in(domain: Domain, problem: Problem | None = None) -> Occurrences:
    """Return what the actions, rules and constraints of a domain use, and a problem's goal."""
    occurrences = Occurrences()
    for schema in schemas_of(domain):
        occurrences.schema(schema)
    for rule in domain.derived:
        occurrences.variables(rule.parameters)
        occurrences.condition(rule.body)
        head = Atom(rule.predicate, tuple([p.name for p in rule.parameters]))
        occurrences.added.setdefault(rule.predicate, head)
    # A constraint is a condition that may be wanted or not.
    occurrences.condition(domain.constraints)
    if problem is not None:
        occurrences.condition(problem.goal)
        occurrences.condition(problem.constraints)
        for timed in problem.timed_init:
            occurrences.effect(timed.effect)
        if problem.metric is not None:
            occurrences.number(problem.metric.expression)
    return occurrences


def schemas_of(domain: Domain) -> Iterator[Schema]:
    """Yield the actions, durative actions, processes and events."""
    yield from domain.actions.values()
    yield from domain.durative_actions.values()
    yield from domain.processes.values()
    yield from domain.events.values()


def kind_of(domain: Domain, schema: Schema) -> str:
    """Return what a schema is called: an action, a process or an event."""
    if schema in domain.processes.values():
        return "process"
    return "event" if schema in domain.events.values() else "action"


def conditions_of(schema: Schema) -> Expression:
    """Return the precondition, or the timed conditions of a durative action."""
    return schema.condition if isinstance(schema, DurativeActionSchema) else schema.precondition


def conditions_in_effect(effect: Expression) -> Iterator[Expression]:
    """Yield the conditions of conditional effects."""
    return (part.condition for part in walk(effect) if isinstance(part, When))


def without_times(formula: Expression, times: tuple[str, ...]) -> Expression:
    """Return the conjunction of what a timed condition demands at some of the times."""
    return finish(_without_times(formula, times))


def _without_times(formula: Expression, times: tuple[str, ...]) -> Steps[Expression]:
    match formula:
        case Timed(when, body):
            return body if when in times else And(())
        case And(operands):
            parts: list[Expression] = []
            for operand in operands:
                parts.append((yield _without_times(operand, times)))
            return And(tuple(parts))
        case Forall(variables, body):
            return Forall(variables, (yield _without_times(body, times)), formula.location)
        case _:
            return formula
