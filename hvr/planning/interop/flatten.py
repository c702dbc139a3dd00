"""Conditions and effects taken apart into the pieces that other libraries make them of."""

from __future__ import annotations

from collections.abc import Iterator

from hvr.pddl import TRUE, And, Expression, Forall, Preference, Timed, TypedName, When
from hvr.pddl.facts import conjuncts
from hvr.pddl.model import TimeSpecifier
from hvr.planning.interop.errors import InteropError

_Around = tuple[Expression, tuple[TypedName, ...], Expression, tuple[TimeSpecifier, ...]]


def changes(
    effect: Expression,
    variables: tuple[TypedName, ...] = (),
    condition: Expression = TRUE,
) -> Iterator[tuple[tuple[TypedName, ...], Expression, Expression]]:
    """Yield (variables, condition, change) of an effect; a change may be in a `Timed`."""
    # Effects that are still to be gone through, the next one last; `times` are those around them.
    open_: list[_Around] = [(effect, variables, condition, ())]
    while open_:
        effect, variables, condition, times = open_.pop()
        match effect:
            case And(operands):
                open_ += [(o, variables, condition, times) for o in reversed(operands)]
            case Forall(more, body):
                open_.append((body, (*variables, *more), condition, times))
            case When(further, body):
                both = further if condition == TRUE else And((condition, further))
                open_.append((body, variables, both, times))
            case Timed(when, And() | Forall() | When() as body):
                open_.append((body, variables, condition, (*times, when)))
            case _:
                for when in reversed(times):
                    effect = Timed(when, effect)
                yield variables, condition, effect


def timed_parts(
    condition: Expression, variables: tuple[TypedName, ...], where: str
) -> Iterator[tuple[TimeSpecifier, tuple[TypedName, ...], Expression]]:
    """Yield (time, variables, formula) of the condition of a durative action.

    Raises:
        InteropError: a preference.
    """
    open_ = [(condition, variables)]
    while open_:
        condition, variables = open_.pop()
        match condition:
            case And(operands):
                open_ += [(operand, variables) for operand in reversed(operands)]
            case Forall(more, body):
                open_.append((body, (*variables, *more)))
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
