"""PDDL literals as clauses of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hvr.knowledge.wording import Wording, load_wording
from hvr.pddl.model import (
    Atom,
    Comparison,
    Expression,
    FunctionTerm,
    Not,
    Number,
    NumericExpression,
)


def say(literal: Expression, wording: Wording | None = None) -> str:
    """Return a literal as a clause, `mug-1 is not in the hand`.

    Args:
        literal: what has no words in the ontology is given as PDDL text.
        wording: hvr's own if None.
    """
    positive = not isinstance(literal, Not)
    atom = literal.operand if isinstance(literal, Not) else literal
    clause = ""
    if isinstance(atom, Comparison):
        clause = _compared(atom, positive)
    elif isinstance(atom, Atom):
        clause = (wording or load_wording()).clause(atom.predicate, atom.args, positive=positive)
    return clause or (f"{atom} holds" if positive else f"{atom} does not hold")


def _compared(condition: Comparison, positive: bool) -> str:
    """Return a comparison of a function with a number or a function as a clause; else ""."""
    left, right = _amount(condition.left), _amount(condition.right)
    if not isinstance(condition.left, FunctionTerm) or not right:
        return ""
    verb = "is" if positive else "is not"
    return f"{left} {verb} {_COMPARISONS[condition.operator]}{right}"


def _amount(expression: NumericExpression) -> str:
    if isinstance(expression, Number):
        return str(expression)
    if not isinstance(expression, FunctionTerm):
        return ""
    name = re.sub(r"[-_]+", " ", expression.function)
    of = f" of {' and '.join(expression.args)}" if expression.args else ""
    return f"the {name}{of}"


_COMPARISONS = {"=": "", ">=": "at least ", "<=": "at most ", ">": "more than ", "<": "less than "}


def opposite(literal: Expression) -> Expression:
    """Return the negation of a literal, without double negation."""
    return literal.operand if isinstance(literal, Not) else Not(literal)


def say_all(
    literals: Iterable[Expression], most: int = 3, *, wording: Wording | None = None
) -> str:
    """Return several literals as clauses joined by commas and `and`.

    Args:
        literals: each is said once.
        most: how many clauses are written out; the rest is counted.
        wording: hvr's own if None.
    """
    clauses = list(dict.fromkeys(say(literal, wording) for literal in literals))
    if len(clauses) > most:
        clauses = [*clauses[: most - 1], f"{len(clauses) - most + 1} more things"]
    if len(clauses) > 1:
        return ", ".join(clauses[:-1]) + " and " + clauses[-1]
    return "".join(clauses)
