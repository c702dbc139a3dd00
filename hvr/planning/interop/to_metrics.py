"""What a metric amounts to: costs of actions, or gains of fulfilled preferences."""

from __future__ import annotations

from fractions import Fraction

from hvr.base.nested import Steps, finish
from hvr.pddl import (
    TRUE,
    Arithmetic,
    Domain,
    Expression,
    FunctionTerm,
    IsViolated,
    Metric,
    Number,
    NumericEffect,
    NumericExpression,
    Problem,
    Timed,
)
from hvr.pddl.model import functions_of, numbers_of
from hvr.planning.interop.errors import InteropError
from hvr.planning.interop.flatten import changes
from hvr.planning.interop.from_unified import TOTAL_COST


def action_costs(domain: Domain, problem: Problem) -> dict[str, NumericExpression] | None:
    """Return the cost of each action, if `total-cost` is used for nothing else."""
    total = FunctionTerm(TOTAL_COST)
    metric = problem.metric
    function = domain.functions.get(TOTAL_COST)
    if metric != Metric("minimize", total) or function is None or function.parameters:
        return None
    if problem.numeric_init.get(total, 0) != 0 or any(
        isinstance(t.effect, NumericEffect) and t.effect.fluent == total for t in problem.timed_init
    ):
        return None
    costs: dict[str, NumericExpression] = {}
    readers: list[Expression] = [problem.goal, problem.constraints, domain.constraints]
    effects: list[tuple[str, Expression]] = []
    for action in domain.actions.values():
        readers.append(action.precondition)
        effects.append((action.name, action.effect))
    for durative in domain.durative_actions.values():
        readers += [durative.condition, durative.duration]
        effects.append((durative.name, durative.effect))
    for name, effect in effects:
        for variables, condition, timed in changes(effect):
            readers.append(condition)
            when = timed.when if isinstance(timed, Timed) else "at start"
            change = timed.body if isinstance(timed, Timed) else timed
            if not isinstance(change, NumericEffect):
                continue
            if change.fluent != total:
                readers.append(change)
                continue
            plain = not variables and condition == TRUE and change.operator == "increase"
            if not plain or name in costs or when != "at start":
                return None
            if total in functions_of(change.amount):
                return None
            costs[name] = change.amount
    for reader in readers:
        for number in numbers_of(reader):
            if total in functions_of(number):
                return None
    return costs


def preference_gains(metric: Metric | None, names: set[str]) -> dict[str, Fraction]:
    """Return the gain of fulfilling each preference, if the metric is a sum of these.

    Raises:
        InteropError: the metric is anything else.
    """
    weights: dict[str, Fraction] = dict.fromkeys(sorted(names), Fraction(0))
    if metric is None:
        return weights

    def add(number: NumericExpression, factor: Fraction) -> Steps[None]:
        if _constant(number) is not None:
            return
        match number:
            case IsViolated(name) if name in weights:
                weights[name] += factor
                return
            case Arithmetic("+", operands):
                for operand in operands:
                    yield add(operand, factor)
                return
            case Arithmetic("-", (only,)):
                yield add(only, -factor)
                return
            case Arithmetic("-", (first, *others)):
                yield add(first, factor)
                for other in others:
                    yield add(other, -factor)
                return
            case Arithmetic("*", (one, two)):
                for scale, rest in ((_constant(one), two), (_constant(two), one)):
                    if scale is not None:
                        yield add(rest, factor * scale)
                        return
            case Arithmetic("/", (one, two)):
                divisor = _constant(two)
                if divisor:
                    yield add(one, factor / divisor)
                    return
            case _:
                pass
        raise InteropError("a metric of preferences and other things")

    finish(add(metric.expression, Fraction(1 if metric.direction == "minimize" else -1)))
    return weights


def _constant(number: NumericExpression) -> Fraction | None:
    """Return the value of an expression of numbers only, else None."""
    return finish(_value(number))


def _value(number: NumericExpression) -> Steps[Fraction | None]:
    match number:
        case Number(value):
            return Fraction(value)
        case Arithmetic(symbol, operands):
            known: list[Fraction] = []
            for operand in operands:
                part = yield _value(operand)
                if part is None:
                    return None
                known.append(part)
            if len(known) == 1:
                return -known[0]
            total = known[0]
            for part in known[1:]:
                if symbol == "/" and part == 0:
                    return None
                total = {
                    "+": lambda a, b: a + b,
                    "-": lambda a, b: a - b,
                    "*": lambda a, b: a * b,
                    "/": lambda a, b: a / b,
                }[symbol](total, part)
            return total
        case _:
            return None
