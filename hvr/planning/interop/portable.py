"""Models in the words that the strictest readers of PDDL accept, VAL above all.

VAL reads no numeric effect outside of an `and`, no `and` inside the `and` of an effect, no sum of
three, no empty `or`, no action without a precondition, and no untyped name where there are types.
Nothing of that changes what a model means.
"""

from __future__ import annotations

from functools import reduce

from hvr.base.nested import Steps, finish
from hvr.pddl import (
    OBJECT,
    TRUE,
    And,
    Arithmetic,
    Comparison,
    Domain,
    Effect,
    Exists,
    Expression,
    Forall,
    Formula,
    Imply,
    Not,
    NumericEffect,
    NumericExpression,
    Or,
    Preference,
    Problem,
    Timed,
    Trajectory,
    TypedName,
    When,
)


def portable(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """Rewrite a domain and a problem so that strict readers accept what is printed of them."""
    top = OBJECT
    if domain.types:
        top, number = "thing", 2
        while top in domain.types:
            top, number = f"thing-{number}", number + 1
    writer = _Writer(top)
    return writer.domain(domain), writer.problem(problem)


class _Writer:
    """Rewrites models.

    Args:
        top: the type to put in the place of `object`.
    """

    def __init__(self, top: str) -> None:
        self.top = top

    def domain(self, domain: Domain) -> Domain:
        """Rewrite a domain."""
        types = {
            name: tuple([self.top if p == OBJECT else p for p in parents])
            for name, parents in domain.types.items()
        }
        if self.top != OBJECT:
            types[self.top] = (OBJECT,)
        actions = {}
        for name, action in domain.actions.items():
            condition = self._formula(action.precondition)
            actions[name] = action.replace(
                parameters=self._names(action.parameters),
                # A precondition that says nothing is left out when it is printed.
                precondition=And((TRUE,)) if condition == TRUE else condition,
                effect=self._effect(action.effect),
            )
        durative = {
            name: action.replace(
                parameters=self._names(action.parameters),
                duration=self._formula(action.duration),
                condition=self._formula(action.condition),
                effect=self._effect(action.effect),
            )
            for name, action in domain.durative_actions.items()
        }
        return domain.replace(
            types=types,
            constants=self._names(domain.constants),
            predicates={
                name: predicate.replace(parameters=self._names(predicate.parameters))
                for name, predicate in domain.predicates.items()
            },
            functions={
                name: function.replace(parameters=self._names(function.parameters))
                for name, function in domain.functions.items()
            },
            actions=actions,
            durative_actions=durative,
            derived=tuple(
                [
                    rule.replace(
                        parameters=self._names(rule.parameters), body=self._formula(rule.body)
                    )
                    for rule in domain.derived
                ]
            ),
            constraints=self._formula(domain.constraints),
        )

    def problem(self, problem: Problem) -> Problem:
        """Rewrite a problem."""
        metric = problem.metric
        return problem.replace(
            objects=self._names(tuple(problem.objects)),
            goal=self._formula(problem.goal),
            constraints=self._formula(problem.constraints),
            metric=metric and metric.replace(expression=_number(metric.expression)),
        )

    def _names(self, names: tuple[TypedName, ...]) -> tuple[TypedName, ...]:
        return tuple(
            [
                TypedName(n.name, tuple([self.top if t == OBJECT else t for t in n.types]))
                for n in names
            ]
        )

    def _formula(self, formula: Expression) -> Formula:
        return finish(self._rewritten(formula))

    def _rewritten(self, formula: Expression) -> Steps[Formula]:
        match formula:
            case Not(Or(())):
                return TRUE
            case Or(()):
                return Not(TRUE)
            case And(operands) | Or(operands):
                parts = []
                for operand in operands:
                    parts.append((yield self._rewritten(operand)))
                return formula.replace(operands=tuple(parts))
            case Not(operand):
                return formula.replace(operand=(yield self._rewritten(operand)))
            case Imply(left, right):
                condition = yield self._rewritten(left)
                return formula.replace(left=condition, right=(yield self._rewritten(right)))
            case Forall(variables, body) | Exists(variables, body):
                inner = yield self._rewritten(body)
                return formula.replace(variables=self._names(variables), body=inner)
            case Timed(_, body) | Preference(_, body):
                return formula.replace(body=(yield self._rewritten(body)))
            case Trajectory(_, _, formulas):
                parts = []
                for part in formulas:
                    parts.append((yield self._rewritten(part)))
                return formula.replace(formulas=tuple(parts))
            case Comparison(_, one, two):
                return formula.replace(left=_number(one), right=_number(two))
            case When() | NumericEffect():
                raise TypeError(f"an effect where a condition belongs: {formula}")
            case _:
                return formula

    def _effect(self, effect: Expression) -> Effect:
        """Return an effect as one conjunction without conjunctions in it, or as a literal."""
        return finish(self._flat(effect))

    def _flat(self, effect: Expression) -> Steps[Effect]:
        match effect:
            case And(operands):
                parts: list[Expression] = []
                for operand in operands:
                    parts += _parts((yield self._flat(operand)))
                return And(tuple(parts))
            case Forall(variables, body):
                return Forall(self._names(variables), (yield self._flat(body)), effect.location)
            case Timed(_, body):
                return effect.replace(body=(yield self._flat(body)))
            case When(condition, body):
                return When(self._formula(condition), (yield self._flat(body)))
            case NumericEffect():
                return And((effect.replace(amount=_number(effect.amount)),))
            case _:
                return effect  # type: ignore[return-value]


def _parts(effect: Expression) -> tuple[Expression, ...]:
    return effect.operands if isinstance(effect, And) else (effect,)


def _number(number: NumericExpression) -> NumericExpression:
    return finish(_in_pairs(number))


def _in_pairs(number: NumericExpression) -> Steps[NumericExpression]:
    if not isinstance(number, Arithmetic):
        return number
    parts: list[NumericExpression] = []
    for operand in number.operands:
        parts.append((yield _in_pairs(operand)))
    if len(parts) < 3:
        return Arithmetic(number.operator, tuple(parts))
    return reduce(lambda one, two: Arithmetic(number.operator, (one, two)), parts)
