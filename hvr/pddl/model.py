"""The lifted model: domains, problems and the actions of plans as immutable values.

Their conditions and effects are the expressions of `hvr.pddl.formulas`. A `location` records
where something was read and is ignored by comparisons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from types import MappingProxyType
from typing import Literal, TypeAlias

from hvr.pddl.formulas import (
    OBJECT,
    TRUE,
    And,
    Atom,
    ContinuousEffect,
    Effect,
    Exists,
    Expression,
    Forall,
    Formula,
    FunctionTerm,
    Imply,
    Not,
    NumericEffect,
    NumericExpression,
    Or,
    Preference,
    Timed,
    TypedName,
    When,
    call_text,
    typed_list,
    walk,
)
from hvr.pddl.reader import Location
from hvr.values import Compact, Value, cached_property, set_field


class Predicate(Value):
    """The declaration of a predicate."""

    name: str
    parameters: tuple[TypedName, ...] = ()
    location: Location | None = None

    def __str__(self) -> str:
        return _declaration_text(self.name, self.parameters)


class Function(Value):
    """The declaration of a numeric function."""

    name: str
    parameters: tuple[TypedName, ...] = ()
    location: Location | None = None

    def __str__(self) -> str:
        return _declaration_text(self.name, self.parameters)


class ActionSchema(Value):
    """An action with variables, or a process or event, which have the same form.

    The effects of a process are `ContinuousEffect`s, possibly under `And`, `Forall`, `When`.
    """

    name: str
    parameters: tuple[TypedName, ...] = ()
    precondition: Formula = TRUE
    effect: Effect = TRUE
    location: Location | None = None

    def __str__(self) -> str:
        return _declaration_text(self.name, self.parameters)


class DurativeActionSchema(Value):
    """An action with a duration; its parts are `Timed` inside `And`, `Forall` and `When`.

    Attributes:
        duration: Constraints on `?duration`: an `And` of `Comparison`s, each possibly `Timed`.
    """

    name: str
    parameters: tuple[TypedName, ...] = ()
    duration: Formula = TRUE
    condition: Formula = TRUE
    effect: Effect = TRUE
    location: Location | None = None

    def __str__(self) -> str:
        return _declaration_text(self.name, self.parameters)


class DerivedPredicate(Value):
    """A rule by which `predicate` holds for `parameters` if `body` holds (least fixpoint)."""

    predicate: str
    parameters: tuple[TypedName, ...]
    body: Formula
    location: Location | None = None

    def __str__(self) -> str:
        return _declaration_text(self.predicate, self.parameters)


class Domain(Value):
    """A planning domain.

    `types` maps every declared type to its parents (several for `either`); `object` is implicit.
    The mappings are keyed by name, in the order of the file, and must not be modified.
    """

    name: str
    requirements: frozenset[str] = frozenset()
    types: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    constants: tuple[TypedName, ...] = ()
    predicates: Mapping[str, Predicate] = MappingProxyType({})
    functions: Mapping[str, Function] = MappingProxyType({})
    actions: Mapping[str, ActionSchema] = MappingProxyType({})
    durative_actions: Mapping[str, DurativeActionSchema] = MappingProxyType({})
    derived: tuple[DerivedPredicate, ...] = ()
    constraints: Formula = TRUE
    processes: Mapping[str, ActionSchema] = MappingProxyType({})
    events: Mapping[str, ActionSchema] = MappingProxyType({})

    def schema(self, name: str) -> ActionSchema | DurativeActionSchema | None:
        return self.actions.get(name) or self.durative_actions.get(name)

    @cached_property
    def is_hybrid(self) -> bool:
        """Whether the domain has processes, events or continuous effects (PDDL+)."""
        effects = (action.effect for action in self.durative_actions.values())
        return bool(self.processes or self.events) or any(
            isinstance(part, ContinuousEffect) for effect in effects for part in walk(effect)
        )

    @cached_property
    def _ancestors(self) -> dict[str, frozenset[str]]:
        result: dict[str, frozenset[str]] = {}
        for name in (OBJECT, *self.types):
            seen = {name, OBJECT}
            open_ = [name]
            while open_:
                for parent in self.types.get(open_.pop(), ()):
                    if parent not in seen:
                        seen.add(parent)
                        open_.append(parent)
            result[name] = frozenset(seen)
        return result

    def is_subtype(self, child: str, parent: str) -> bool:
        """Return whether `child` is `parent` or a subtype; unknown types are below `object`."""
        return parent == OBJECT or parent in self._ancestors.get(child, (child,))

    def fits(self, types: Iterable[str], required: Iterable[str]) -> bool:
        """Return whether every one of `types` is a subtype of one of `required`."""
        required = tuple(required)
        return all(any(self.is_subtype(t, w) for w in required) for t in types)

    def has_type(self, types: Iterable[str], required: Iterable[str]) -> bool:
        """Return whether at least one of `types` is a subtype of one of `required`."""
        required = tuple(required)
        return any(self.is_subtype(t, w) for t in types for w in required)

    def members(
        self, objects: Mapping[str, tuple[str, ...]], required: tuple[str, ...]
    ) -> Mapping[str, object]:
        """Return the objects (names with their types) that have one of the `required` types.

        The result is an ordered set, stored as the keys of a mapping. It is `objects` itself if all
        of them match.
        """
        if required == (OBJECT,):
            return objects
        # Thousands of objects share a few types.
        known = {types: self.has_type(types, required) for types in {*objects.values()}}
        if all(known.values()):
            return objects
        return {name: None for name, types in objects.items() if known[types]}

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.predicates), tuple(self.actions)))


class Metric(Value):
    """The quantity that a plan should minimise or maximise."""

    direction: Literal["minimize", "maximize"]
    expression: NumericExpression

    def __str__(self) -> str:
        return f"(:metric {self.direction} {self.expression})"


TimedEffect: TypeAlias = "Atom | Not | NumericEffect"
"""An exogenous effect: an atom, a negated atom or an `assign`."""


class TimedInitial(Value):
    """A timed initial literal or fluent: an exogenous effect at a given time."""

    time: Decimal
    effect: TimedEffect

    def __str__(self) -> str:
        effect: object = self.effect
        if isinstance(effect, NumericEffect):
            effect = call_text("=", (effect.fluent, effect.amount))
        return f"(at {self.time:f} {effect})"


class Problem(Value):
    """A planning problem.

    `objects` excludes the domain's constants unless the problem adds types to them.
    Problems read from text store `objects` and `init` compactly (`hvr.pddl.facts`).
    """

    name: str
    domain_name: str
    objects: Sequence[TypedName] = ()
    init: Set[Atom] = frozenset()
    goal: Formula = TRUE
    numeric_init: Mapping[FunctionTerm, Decimal] = MappingProxyType({})
    metric: Metric | None = None
    timed_init: tuple[TimedInitial, ...] = ()
    constraints: Formula = TRUE

    def __hash__(self) -> int:
        return hash((self.name, self.init, self.goal))


class GroundAction(Compact):
    """A step of a plan; its `location` is ignored by comparisons."""

    __slots__ = ("args", "location", "name")

    name: str
    args: tuple[str, ...]
    location: Location | None

    def __init__(
        self, name: str, args: tuple[str, ...] = (), location: Location | None = None
    ) -> None:
        set_field(self, "name", name)
        set_field(self, "args", args)
        set_field(self, "location", location)

    def __str__(self) -> str:
        return call_text(self.name, self.args)


def _declaration_text(name: str, parameters: tuple[TypedName, ...]) -> str:
    return f"({name} {typed_list(parameters)})" if parameters else f"({name})"


# Printing -----------------------------------------------------------------------------------------


_WIDTH = 100
_DEEPEST = 80


def print_domain(domain: Domain) -> str:
    """Format a domain as PDDL text."""
    lines = [f"(define (domain {domain.name})"]
    if domain.requirements:
        lines.append(f"  (:requirements {' '.join(sorted(domain.requirements))})")
    if domain.types:
        names = [TypedName(name, parents) for name, parents in domain.types.items()]
        lines += _section(":types", names)
    if domain.constants:
        lines += _section(":constants", domain.constants)
    if domain.predicates:
        lines += ["  (:predicates", *(f"    {p}" for p in domain.predicates.values())]
        lines[-1] += ")"
    if domain.functions:
        lines += ["  (:functions", *(f"    {f} - number" for f in domain.functions.values())]
        lines[-1] += ")"
    if domain.constraints != TRUE:
        lines += _field("  (:constraints", domain.constraints, 4)
        lines[-1] += ")"
    for rule in domain.derived:
        lines += ["", *_field(f"  (:derived {rule}", rule.body, 4)]
        lines[-1] += ")"
    for action in domain.actions.values():
        lines += ["", *_action(action)]
    for durative in domain.durative_actions.values():
        lines += ["", *_durative_action(durative)]
    for process in domain.processes.values():
        lines += ["", *_action(process, ":process")]
    for event in domain.events.values():
        lines += ["", *_action(event, ":event")]
    return "\n".join(lines) + ")\n"


def print_problem(problem: Problem) -> str:
    """Format a problem as PDDL text."""
    lines = [f"(define (problem {problem.name})", f"  (:domain {problem.domain_name})"]
    if problem.objects:
        lines += _section(":objects", problem.objects)
    facts = sorted(map(str, problem.init))
    facts += sorted(f"(= {t} {v:f})" for t, v in problem.numeric_init.items())
    facts += map(str, problem.timed_init)
    lines += ["  (:init", *(f"    {fact}" for fact in facts)]
    lines[-1] += ")"
    lines += _field("  (:goal", problem.goal, 4)
    lines[-1] += ")"
    if problem.constraints != TRUE:
        lines += _field("  (:constraints", problem.constraints, 4)
        lines[-1] += ")"
    if problem.metric is not None:
        lines.append(f"  {problem.metric}")
    return "\n".join(lines) + ")\n"


def print_formula(formula: Expression, *, indent: int = 0) -> str:
    """Format a formula or effect, over several lines if it is long, indented by `indent` spaces."""
    return "\n".join(_layout(formula, indent))


def _section(keyword: str, names: Iterable[TypedName]) -> list[str]:
    rows: list[list[TypedName]] = []
    for item in names:
        if rows and rows[-1][0].types == item.types:
            rows[-1].append(item)
        else:
            rows.append([item])
    if all(row[0].types == (OBJECT,) for row in rows):
        return [f"  ({keyword} {typed_list(rows[0])})"]
    lines = [f"  ({keyword}"]
    for row in rows:
        kind = str(row[-1]).partition(" - ")[2]
        lines.append(f"    {' '.join(n.name for n in row)} - {kind}")
    lines[-1] += ")"
    return lines


def _action(action: ActionSchema, keyword: str = ":action") -> list[str]:
    lines = [f"  ({keyword} {action.name}", f"    :parameters ({typed_list(action.parameters)})"]
    # Printed even if empty, because VAL ignores actions without a precondition.
    lines += _field("    :precondition", action.precondition, 6)
    lines += _field("    :effect", action.effect, 6)
    lines[-1] += ")"
    return lines


def _durative_action(action: DurativeActionSchema) -> list[str]:
    lines = [
        f"  (:durative-action {action.name}",
        f"    :parameters ({typed_list(action.parameters)})",
    ]
    lines += _field("    :duration", action.duration, 6)
    lines += _field("    :condition", action.condition, 6)
    lines += _field("    :effect", action.effect, 6)
    lines[-1] += ")"
    return lines


def _field(keyword: str, expression: Expression, indent: int) -> list[str]:
    text = str(expression)
    if len(keyword) + 1 + len(text) <= _WIDTH:
        return [f"{keyword} {text}"]
    return [keyword, *_layout(expression, indent)]


def _layout(expression: Expression, indent: int) -> list[str]:
    # Expressions without room are printed on one line, which limits the recursion to about 40
    # levels.
    text = str(expression)
    pad = " " * indent
    if indent + len(text) <= _WIDTH or indent >= _DEEPEST:
        return [pad + text]
    match expression:
        case And(operands):
            head, parts = "and", operands
        case Or(operands):
            head, parts = "or", operands
        case Not(operand):
            head, parts = "not", (operand,)
        case Imply(left, right):
            head, parts = "imply", (left, right)
        case When(left, right):
            head, parts = "when", (left, right)
        case Forall(variables, body):
            head, parts = f"forall ({typed_list(variables)})", (body,)
        case Exists(variables, body):
            head, parts = f"exists ({typed_list(variables)})", (body,)
        case Timed(when, body):
            head, parts = when, (body,)
        case Preference(name, body):
            head, parts = f"preference {name}" if name else "preference", (body,)
        case _:
            return [pad + text]
    lines = [f"{pad}({head}"]
    for part in parts:
        lines += _layout(part, indent + 2)
    lines[-1] += ")"
    return lines
