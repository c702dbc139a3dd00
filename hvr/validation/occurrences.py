"""The uses of each name in a model, and the requirement flags that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hvr.base.nested import Steps, run_trampoline
from hvr.pddl import (
    OBJECT,
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
    Imply,
    Not,
    Number,
    NumericEffect,
    Or,
    Preference,
    Problem,
    Timed,
    Trajectory,
    TypedName,
    When,
)
from hvr.pddl.formulas import ContinuousEffect, functions_of, parts_of, signed_parts, walk
from hvr.validation.findings import LintFinding, issue

# Occurrences --------------------------------------------------------------------------------------

Schema = ActionSchema | DurativeActionSchema


class Occurrences:
    """The names that a model uses.

    Attributes:
        read, read_true: The predicates in conditions, each with its first occurrence or, in
            `read_true`, its first positive occurrence.
        read_functions, changed_functions: The numeric functions that are read or changed.
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
        # Keep the first occurrence, because readers look there first.
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
        """Record the names that an effect changes, and the names that its conditions read."""
        stack = [effect]
        while stack:
            stack.extend(reversed(self._of_effect(stack.pop())))

    def _of_effect(self, effect: Expression) -> tuple[Expression, ...]:
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
        self.variables(schema.parameters)
        if isinstance(schema, DurativeActionSchema):
            self.condition(schema.duration)
            self.condition(schema.condition)
        else:
            self.condition(schema.precondition)
        self.effect(schema.effect)

    def variables(self, variables: Iterable[TypedName]) -> None:
        for variable in variables:
            self.types.update(variable.types)

    def number(self, expression: object) -> None:
        """Record the functions that a numeric expression, such as the metric, reads."""
        if isinstance(expression, FunctionTerm | Arithmetic):
            self._number(expression)

    def _number(self, expression: object) -> None:
        if isinstance(expression, FunctionTerm | Arithmetic):
            for term in functions_of(expression):
                self.read_functions.setdefault(term.function, term)
                self.names.update(term.args)


def occurrences_in(domain: Domain, problem: Problem | None = None) -> Occurrences:
    """Return the names used by a domain's actions, rules and constraints, and by a problem."""
    occurrences = Occurrences()
    for schema in schemas_of(domain):
        occurrences.schema(schema)
    for rule in domain.derived:
        occurrences.variables(rule.parameters)
        occurrences.condition(rule.body)
        head = Atom(rule.predicate, tuple([p.name for p in rule.parameters]))
        occurrences.added.setdefault(rule.predicate, head)
    # Even a preferred constraint that may be violated reads its predicates.
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
    """Yield the actions, durative actions, processes and events of a domain."""
    yield from domain.actions.values()
    yield from domain.durative_actions.values()
    yield from domain.processes.values()
    yield from domain.events.values()


def kind_of(domain: Domain, schema: Schema) -> str:
    if schema in domain.processes.values():
        return "process"
    return "event" if schema in domain.events.values() else "action"


def conditions_of(schema: Schema) -> Expression:
    return schema.condition if isinstance(schema, DurativeActionSchema) else schema.precondition


def conditions_in_effect(effect: Expression) -> Iterator[Expression]:
    return (part.condition for part in walk(effect) if isinstance(part, When))


def without_times(formula: Expression, times: tuple[str, ...]) -> Expression:
    """Return the conjunction of a timed condition's untimed parts and its parts at given times."""
    return run_trampoline(_without_times(formula, times))


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


# Requirements -------------------------------------------------------------------------------------

_IMPLIED: dict[str, frozenset[str]] = {
    ":quantified-preconditions": frozenset(
        {":existential-preconditions", ":universal-preconditions"}
    ),
    ":adl": frozenset(
        (
            ":strips :typing :negative-preconditions :disjunctive-preconditions :equality "
            ":existential-preconditions :universal-preconditions :quantified-preconditions "
            ":conditional-effects"
        ).split()
    ),
    ":fluents": frozenset({":numeric-fluents", ":action-costs"}),
    ":numeric-fluents": frozenset({":action-costs"}),
    ":durative-actions": frozenset({":numeric-fluents"}),
    ":duration-inequalities": frozenset({":durative-actions"}),
    ":timed-initial-literals": frozenset({":durative-actions"}),
    ":timed-initial-fluents": frozenset({":timed-initial-literals", ":durative-actions"}),
    ":domain-axioms": frozenset({":derived-predicates"}),
    ":constraints": frozenset(),
}
"""The flags that a flag implies, by PDDL 2.1 (Fox & Long 2003), 2.2 and 3.0. Durative actions imply
numeric durations, as all competition domains assume.
"""

_OF_DOMAIN = frozenset(
    (
        ":typing :conditional-effects :durative-actions :duration-inequalities "
        ":derived-predicates :action-costs :numeric-fluents :fluents"
    ).split()
)
"""Flags for features that only a domain can use; other flags may serve the problems."""

_UNJUDGED = frozenset(
    (
        ":strips :time :goal-utilities :safety-constraints :hierarchy :htn "
        ":method-preconditions :htn-method-prec"
    ).split()
)
"""Flags that are harmless, or whose meaning hvr does not know."""


def missing_requirements(domain: Domain) -> Iterator[LintFinding]:
    """Yield findings about features that a domain uses without the flag in :requirements."""
    given = _implied(domain)
    for flag, (what, source) in dict(_needed_by_domain(domain)).items():
        if flag not in given:
            message = f"The domain uses {what} without the requirement {flag}."
            yield issue("HVR202", message, flag, source)


def check_requirements(domain: Domain, problem: Problem | None) -> Iterator[LintFinding]:
    """Yield findings about missing and redundant flags in :requirements."""
    yield from missing_requirements(domain)
    given = set(domain.requirements) or {":strips"}
    needed = dict(_needed_by_domain(domain))
    used = set(needed)
    if domain.is_hybrid:
        # Processes have continuous effects, which :time declares.
        used.add(":continuous-effects")
    if problem is not None:
        used |= _needed_by_problem(problem)
    for flag in sorted(given - _UNJUDGED):
        covers = {flag} | _IMPLIED.get(flag, frozenset())
        judged = problem is not None or flag in _OF_DOMAIN
        if flag == ":fluents" and domain.functions:
            continue
        if judged and not covers & used:
            yield issue("HVR308", f"The requirement {flag} is declared but not needed.", flag)


def _needed_by_domain(domain: Domain) -> Iterator[tuple[str, tuple[str, object]]]:
    needed: dict[str, tuple[str, object]] = {}

    def need(flag: str, what: str, source: object = None) -> None:
        needed.setdefault(flag, (what, source))

    variables = [v for schema in schemas_of(domain) for v in schema.parameters]
    for predicate in domain.predicates.values():
        variables += predicate.parameters
    for function in domain.functions.values():
        variables += function.parameters
    typed = any(v.types != (OBJECT,) for v in (*variables, *domain.constants))
    if domain.types or typed:
        need(":typing", "types")
    for schema in schemas_of(domain):
        parts = list(walk(schema.effect))
        guards = [part.condition for part in parts if isinstance(part, When)]
        for condition in (conditions_of(schema), *guards):
            _condition(condition, schema, need)
        for part in parts:
            if isinstance(part, When | Forall):
                need(":conditional-effects", "conditional or universal effects", schema)
        if isinstance(schema, DurativeActionSchema):
            need(":durative-actions", "durative actions", schema)
            for part in parts:
                if isinstance(part, ContinuousEffect):
                    need(":continuous-effects", "continuous effects", part)
            for part in walk(schema.duration):
                if isinstance(part, Comparison) and part.operator != "=":
                    need(":duration-inequalities", "a duration that may vary", part)
    for rule in domain.derived:
        need(":derived-predicates", "derived predicates", rule)
        _condition(rule.body, rule, need)
    for trajectory in _trajectories(domain.constraints):
        need(":constraints", "constraints", trajectory)
    for schema in (*domain.processes.values(), *domain.events.values()):
        need(":time", "processes or events", schema)
    if domain.functions:
        what = "numeric functions"
        need(":action-costs" if _only_costs(domain) else ":numeric-fluents", what)
    yield from needed.items()


def _trajectories(formula: Expression) -> Iterator[Expression]:
    return (part for part in walk(formula) if isinstance(part, Trajectory))


def _needed_by_problem(problem: Problem) -> set[str]:
    needed: set[str] = set()

    def need(flag: str, _what: str, _source: object = None) -> None:
        needed.add(flag)

    _condition(problem.goal, None, need)
    _condition(problem.constraints, None, need)
    if list(_trajectories(problem.constraints)):
        needed.add(":constraints")
    if problem.timed_init:
        needed.add(":timed-initial-literals")
    if any(isinstance(timed.effect, NumericEffect) for timed in problem.timed_init):
        needed.add(":timed-initial-fluents")
    if any(o.types != (OBJECT,) for o in problem.objects):
        needed.add(":typing")
    if problem.metric is not None:
        needed.add(":goal-utilities")
    return needed


def _condition(formula: Expression, owner: object, need: Callable[..., None]) -> None:
    for part in walk(formula):
        place = part if getattr(part, "location", None) else owner
        match part:
            case Equal():
                need(":equality", "=", place)
            case Not(Equal()):
                # Competition domains with :equality write (not (= …)) without a further flag.
                pass
            case Not():
                need(":negative-preconditions", "negative conditions", place)
            case Or() | Imply():
                need(":disjunctive-preconditions", "disjunctive conditions", place)
            case Exists():
                need(":existential-preconditions", "(exists …)", place)
            case Forall():
                need(":universal-preconditions", "(forall …) in a condition", place)
            case Preference():
                need(":preferences", "preferences", place)
            case _:
                pass


def _only_costs(domain: Domain) -> bool:
    for schema in schemas_of(domain):
        if isinstance(schema, DurativeActionSchema):
            return True  # durative actions imply numbers
        for part in walk(schema.effect):
            if isinstance(part, NumericEffect) and not (
                part.operator == "increase"
                and part.fluent.function == "total-cost"
                and isinstance(part.amount, Number | FunctionTerm)
            ):
                return False
        conditions = (schema.precondition, *conditions_in_effect(schema.effect))
        if any(isinstance(p, Comparison) for c in conditions for p in walk(c)):
            return False
    return True


def _implied(domain: Domain) -> set[str]:
    result = set(domain.requirements) or {":strips"}
    for _ in _IMPLIED:
        result.update(*(_IMPLIED.get(flag, ()) for flag in result))
    return result
