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
    Atom,
    ContinuousEffect,
    Effect,
    Formula,
    FunctionTerm,
    Not,
    NumericEffect,
    NumericExpression,
    TypedName,
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
    """An action with a duration, whose parts are `Timed` under `And`, `Forall` and `When`.

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
