"""The literals, variables and objects of a formula, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hvr.pddl.model import And, Atom, Exists, Expression, Forall, Imply, Not, Or, Trajectory


def walk(formula: Expression, positive: bool) -> Iterator[tuple[str, Any]]:
    """Yield the literals, quantified variables and object names of a formula, in its order.

    Args:
        formula: the formula.
        positive: whether it stands under an even number of negations.

    Yields:
        `("literal", (atom, positive))`, `("variable", (name, types, for all))`, and
        `("object", name)`.
    """
    match formula:
        case Atom(_, args):
            yield "literal", (formula, positive)
            for arg in args:
                if not arg.startswith("?") and "-" in arg:
                    yield "object", arg
        case Not(operand):
            yield from walk(operand, not positive)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from walk(operand, positive)
        case Trajectory(_, _, formulas):
            for inner in formulas:
                yield from walk(inner, positive)
        case Imply(left, right):
            yield from walk(left, not positive)
            yield from walk(right, positive)
        case Exists(variables, body) | Forall(variables, body):
            every = isinstance(formula, Forall)
            # That there is no such thing calls for no object.
            for variable in variables if positive or every else ():
                yield "variable", (variable.name, variable.types, every)
            yield from walk(body, positive)
        case _:
            return
