"""Reading of continuous effects: `(increase (f) (* #t rate))` in processes and durative actions."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from hvr.base.nested import Steps, finish
from hvr.pddl.lexer import Word
from hvr.pddl.lists import Types
from hvr.pddl.model import (
    TRUE,
    And,
    Arithmetic,
    ContinuousEffect,
    Effect,
    Forall,
    Number,
    NumericExpression,
    When,
)
from hvr.pddl.reader import Group, Node

if TYPE_CHECKING:
    from hvr.pddl.expressions import ExpressionReader

Scope = Mapping[str, Types]

_SHAPE = "(increase (function …) (* #t number)) or (decrease (function …) (* #t number))"
_ONE = Number(Decimal(1))


def process_effect(reader: ExpressionReader, node: Node, scope: Scope) -> Effect:
    """Read the effect of a process: continuous effects under and, forall, when."""
    return finish(_process_effect(reader, node, scope))


def _process_effect(reader: ExpressionReader, node: Node, scope: Scope) -> Steps[Effect]:
    group = reader.group(node, _SHAPE)
    if not group.items:
        return TRUE
    head = reader.head(group, _SHAPE)
    args = group.items[1:]
    match head.text:
        case "and":
            parts: list[Effect] = []
            for arg in args:
                parts.append((yield _process_effect(reader, arg, scope)))
            return And(tuple(parts))
        case "forall":
            variables, inner = reader.quantified(group, scope, "effect")
            return Forall(variables, (yield _process_effect(reader, args[1], inner)))
        case "when" if len(args) == 2:
            condition = reader.formula(args[0], scope)
            return When(condition, (yield _process_effect(reader, args[1], scope)))
        case _:
            return continuous_effect(reader, group, scope)


def continuous_effect(reader: ExpressionReader, group: Group, scope: Scope) -> ContinuousEffect:
    """Read a continuous effect."""
    head = reader.head(group, _SHAPE)
    if head.text not in ("increase", "decrease") or len(group.items) != 3:
        reader.syntax(group, f"({head.text} …) is no continuous effect", _SHAPE)
    target, amount = group.items[1:]
    rate = finish(_rate(reader, amount, scope))
    if rate is None:
        reader.syntax(amount, "a continuous effect without #t", _SHAPE)
    fluent = reader.changed_function(target, scope)
    return ContinuousEffect(head.text, fluent, rate, location=reader.source.location(group.offset))


def _rate(reader: ExpressionReader, node: Node, scope: Scope) -> Steps[NumericExpression | None]:
    """Return the factor of #t in an expression that is linear in it, None if it has no #t."""
    if isinstance(node, Word):
        return _ONE if node.text == "#t" else None
    if not node.items or not isinstance(node.items[0], Word):
        return None
    symbol, args = node.items[0].text, node.items[1:]
    rates: list[NumericExpression | None] = []
    for arg in args:
        rates.append((yield _rate(reader, arg, scope)))
    timed = [rate for rate in rates if rate is not None]
    if not timed:
        return None
    rest = [reader.numeric(a, scope) for a, rate in zip(args, rates, strict=True) if rate is None]
    rate: NumericExpression | None = None
    match symbol:
        case "*" if len(timed) == 1 and rest:
            factors = rest if timed[0] == _ONE else [timed[0], *rest]
            rate = factors[0] if len(factors) == 1 else Arithmetic("*", tuple(factors))
        case "/" if len(timed) == 1 and rates[0] is not None and len(args) == 2:
            rate = Arithmetic("/", (timed[0], *rest))
        case "+" | "-" if not rest and (len(timed) > 1 or symbol == "-"):
            rate = Arithmetic(symbol, tuple(timed))
        case _:
            pass
    if rate is None:
        reader.syntax(node, "an amount that is not a multiple of #t", "(* #t number)")
    return rate
