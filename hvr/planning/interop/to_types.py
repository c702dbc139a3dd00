"""The types of a domain as types of unified-planning, where each has at most one parent."""

from __future__ import annotations

from typing import Any

from hvr.pddl import OBJECT, Domain, Problem, TypedName
from hvr.pddl.model import Exists, Expression, Forall, walk
from hvr.planning.interop.errors import InteropError
from hvr.planning.interop.names import UnifiedNames


class Types:
    """The types of a domain.

    Args:
        domain, problem: what the types are needed for.
        names: gives them their names.
        manager: the type manager of the environment.

    Raises:
        InteropError: a type has several parents, or is its own.
    """

    def __init__(self, domain: Domain, problem: Problem, names: UnifiedNames, manager: Any) -> None:
        self._domain = domain
        for name, parents in domain.types.items():
            if len(parents) > 1:
                raise InteropError("a type with several supertypes", name)
            self._line(name)
        self._made: dict[str, Any] = {}
        root = None
        # A type above all others only where something needs it.
        if any(self._common(item.types) == OBJECT for item in _typed(domain, problem)):
            root = manager.UserType(names.add("type", OBJECT))
            self._made[OBJECT] = root

        def make(name: str) -> Any:
            if name not in self._made:
                (parent,) = domain.types.get(name, (OBJECT,))
                father = root if parent == OBJECT else make(parent)
                self._made[name] = manager.UserType(names.add("type", name), father)
            return self._made[name]

        for name in domain.types:
            make(name)

    def of(self, name: str) -> Any:
        """Return a type."""
        return self._made[name]

    def common(self, types: tuple[str, ...]) -> Any:
        """Return the smallest type that has all of `types` in it."""
        return self._made[self._common(types)]

    def all(self) -> list[Any]:
        """Return all types."""
        return list(self._made.values())

    @staticmethod
    def related(one: Any, two: Any) -> bool:
        """Say whether unified-planning lets things of two types be compared."""
        return not {*one.ancestors}.isdisjoint(two.ancestors)

    def _common(self, types: tuple[str, ...]) -> str:
        lines = [self._line(name) for name in types]
        return next(n for n in lines[0] if all(n in line for line in lines))

    def _line(self, name: str) -> list[str]:
        """Return a type and its ancestors, the nearest first."""
        line = [name]
        while line[-1] != OBJECT:
            parent = self._domain.types.get(line[-1], (OBJECT,))[0]
            if parent in line:
                raise InteropError("a type that is its own supertype", parent)
            line.append(parent)
        return line


def _typed(domain: Domain, problem: Problem) -> list[TypedName]:
    """Return everything with a type."""
    typed = [*domain.constants, *problem.objects]
    parts: list[Expression] = [domain.constraints, problem.goal, problem.constraints]
    for predicate in domain.predicates.values():
        typed += predicate.parameters
    for function in domain.functions.values():
        typed += function.parameters
    for action in domain.actions.values():
        typed += action.parameters
        parts += [action.precondition, action.effect]
    for durative in domain.durative_actions.values():
        typed += durative.parameters
        parts += [durative.condition, durative.effect]
    for part in parts:
        for item in walk(part):
            if isinstance(item, Exists | Forall):
                # Variables of several types become several quantifiers.
                typed += [TypedName(v.name, (t,)) for v in item.variables for t in v.types]
    return typed
