"""Preconditions and constraints of methods over the states of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from hvr.base.nested import Steps, finish
from hvr.pddl import (
    TRUE,
    ActionSchema,
    And,
    Comparison,
    Equal,
    Exists,
    Expression,
    Formula,
    GroundAction,
    Not,
    Task,
    TypedName,
)
from hvr.pddl import conditions as ground
from hvr.pddl.conditions import Conjunction
from hvr.pddl.hierarchy.model import Method
from hvr.pddl.model import functions_of, walk
from hvr.pddl.numeric import Values
from hvr.pddl.templates import Template, template_of
from hvr.validation.hierarchical.matching import SubtaskMatch

_Case = tuple[dict[str, str], Conjunction]
"""Values for the parameters that a match leaves open, and the precondition with them."""


class Preconditions:
    """Compiles preconditions of methods, with what a match leaves open.

    Args:
        task: the domain with the problem.
    """

    def __init__(self, task: Task) -> None:
        self._few: dict[tuple[str, tuple[str | None, ...]], tuple[_Case, ...] | None] = {}
        self._task = task
        self._templates: dict[str, Template | None] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._cases: dict[tuple[str, tuple[str | None, ...]], tuple[_Case, ...]] = {}

    def cases(self, method: Method, binding: Mapping[str, str]) -> tuple[_Case, ...]:
        """Return the ways to complete a binding under which the precondition can hold.

        Raises:
            GroundingLimitError: there are too many.
        """
        names = self._names.get(method.name)
        if names is None:
            names = self._names[method.name] = tuple([p.name for p in method.parameters])
        key = method.name, tuple([binding.get(name) for name in names])
        cases = self._cases.get(key)
        if cases is None:
            cases = self._cases[key] = tuple(self._all_cases(method, binding))
        return cases

    def few(
        self, method: Method, binding: Mapping[str, str], most: int
    ) -> tuple[_Case, ...] | None:
        """Return the ways to complete a binding like `cases`; None if there are more than some."""
        key = method.name, tuple([binding.get(p.name) for p in method.parameters])
        if key not in self._few:
            found = tuple(islice(self._all_cases(method, binding), most + 1))
            self._few[key] = found if len(found) <= most else None
        return self._few[key]

    def mentioned(self, method: Method) -> set[str]:
        """Return the names in the precondition and the constraints of a method."""
        return names_in(method.precondition) | names_in(method.network.constraints)

    def _all_cases(self, method: Method, binding: Mapping[str, str]) -> Iterator[_Case]:
        for further in self._completions(method, binding):
            whole = {**binding, **further} if further else binding
            if not _equal(method.network.constraints, whole):
                continue
            condition = self._condition(method, whole)
            if condition is not ground.FALSE:
                yield further, condition

    def _completions(self, method: Method, binding: Mapping[str, str]) -> Iterator[dict[str, str]]:
        """Yield values for the open parameters that static facts do not rule out."""
        free = tuple([p for p in method.parameters if p.name not in binding])
        if not free:
            yield {}
            return
        wanted = self.mentioned(method)
        idle: dict[str, str] = {}
        asked: list[TypedName] = []
        for parameter in free:
            if parameter.name in wanted:
                asked.append(parameter)
                continue
            # Any object will do where nothing is said of the parameter.
            value = next(iter(self._task.members(parameter.types)), None)
            if value is None:
                return
            idle[parameter.name] = value
        if not asked:
            yield idle
            return
        body = And((method.network.constraints, method.precondition))
        instances = self._task.instances(tuple(asked), body, True, dict(binding))
        for instance in instances:
            yield {**idle, **{p.name: instance[p.name] for p in asked}}

    def _condition(self, method: Method, binding: Mapping[str, str]) -> Conjunction:
        if method.precondition == TRUE:
            return ground.TRUE
        name = method.name
        self._names.setdefault(name, tuple([p.name for p in method.parameters]))
        if name not in self._templates:
            schema = ActionSchema(name, method.parameters, method.precondition)
            self._templates[name] = template_of(self._task, schema)
        template = self._templates[name]
        if template is None:
            return self._task.condition(method.precondition, dict(binding))
        args = tuple([binding[parameter] for parameter in self._names[name]])
        return template.ground(GroundAction(name, args)).precondition


def holds(cases: tuple[_Case, ...], bits: int, values: Values) -> dict[str, str] | None:
    """Return the further values with which a precondition holds in a state, None without any."""
    for further, condition in cases:
        if condition.holds(bits, values):
            return further
    return None


def open_formula(method: Method, match: SubtaskMatch) -> Formula:
    """Return what must hold for a method: of the parameters that are left open, for some value."""
    parts = [part for part in (method.network.constraints, method.precondition) if part != TRUE]
    body = parts[0] if len(parts) == 1 else And(tuple(parts))
    free = tuple([p for p in method.parameters if p.name not in match.binding])
    return Exists(free, body) if free else body


def _equal(part: Expression, binding: Mapping[str, str]) -> bool:
    """Say whether the constraints of a method are met."""
    return finish(_met(part, binding))


def _met(part: Expression, binding: Mapping[str, str]) -> Steps[bool]:
    if isinstance(part, Not):
        return not (yield _met(part.operand, binding))
    if isinstance(part, And):
        for operand in part.operands:
            if not (yield _met(operand, binding)):
                return False
        return True
    assert isinstance(part, Equal)
    left, right = binding.get(part.left, part.left), binding.get(part.right, part.right)
    return left == right


def names_in(formula: Expression) -> set[str]:
    """Return all names in a formula; bound variables are taken for the parameters they hide."""
    names: set[str] = set()
    for item in walk(formula):
        names.update(getattr(item, "args", ()))
        if isinstance(item, Equal):
            names |= {item.left, item.right}
        elif isinstance(item, Comparison):
            terms = (*functions_of(item.left), *functions_of(item.right))
            names.update(arg for term in terms for arg in term.args)
    return names
