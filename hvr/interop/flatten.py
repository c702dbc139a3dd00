"""Conditions and effects taken apart into the pieces that other libraries make them of."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.interop.errors import InteropError
from hvr.pddl import TRUE, And, Expression, Forall, Preference, Timed, TypedName, When
from hvr.pddl.facts import conjuncts
from hvr.pddl.model import TimeSpecifier


def changes(
    effect: Expression,
    variables: tuple[TypedName, ...] = (),
    condition: Expression = TRUE,
) -> Iterator[tuple[tuple[TypedName, ...], Expression, Expression]]:
    """Yield (variables, condition, change) of an effect; a change may be in a `Timed`."""
    match effect:
        case And(operands):
            for operand in operands:
                yield from changes(operand, variables, condition)
        case Forall(more, body):
            yield from changes(body, (*variables, *more), condition)
        case When(further, body):
            both = further if condition == TRUE else And((condition, further))
            yield from changes(body, variables, both)
        case Timed(when, And() | Forall() | When() as body):
            for names, inner, change in changes(body, variables, condition):
                yield names, inner, Timed(when, change)
        case _:
            yield variables, condition, effect


def timed_parts(
    condition: Expression, variables: tuple[TypedName, ...], where: str
) -> Iterator[tuple[TimeSpecifier, tuple[TypedName, ...], Expression]]:
    """Yield (time, variables, formula) of the condition of a durative action.

    Raises:
        InteropError: a preference.
    """
    match condition:
        case And(operands):
            for operand in operands:
                yield from timed_parts(operand, variables, where)
        case Forall(more, body):
            yield from timed_parts(body, (*variables, *more), where)
        case Timed(when, body):
            yield when, variables, body
        case Preference():
            raise InteropError("preferences outside of goals", where)
        case _:
            raise InteropError(f"a condition without a time: {condition}", where)


def one_time(
    condition: Expression, change: Expression, where: str
) -> tuple[TimeSpecifier, Expression, Expression]:
    """Return the one time of an effect, its condition then, and the change.

    Raises:
        InteropError: the condition is on another time.
    """
    if not isinstance(change, Timed):
        raise InteropError(f"an effect without a time: {change}", where)
    parts: list[Expression] = []
    for part in conjuncts(condition):
        if not isinstance(part, Timed):
            # Nested in a `Timed` effect: read at its time.
            parts.append(part)
        elif part.when == change.when:
            parts.append(part.body)
        else:
            raise InteropError("an effect at one time with a condition on another", where)
    at_once = parts[0] if len(parts) == 1 else And(tuple(parts))
    return change.when, at_once, change.body
