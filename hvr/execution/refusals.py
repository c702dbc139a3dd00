"""The reason why the environment refused an action, from its message and the preconditions."""

from __future__ import annotations

from collections.abc import Sequence

from hvr.execution.explain import UnworkedDeviation
from hvr.execution.failures import DeviationKind
from hvr.execution.observation import Observed
from hvr.knowledge.events import NO_ROOM
from hvr.pddl.model import Atom, Expression, GroundAction, Not

IN_THE_WAY = (
    "not found within the specified visibility",
    "not interactable",
    "occluded",
    "obstructed",
    "is blocking",
    "blocked",
    "in the way",
    "Collided with",
    "cannot be reached",
    "can be reached",
    "too far",
    "would collide",
)
"""Parts of AI2-THOR's and hvr's messages for something that cannot be got at."""

ALREADY = ("if it's already on!", "if it's already off!")
"""Parts of AI2-THOR's messages for a switch that is where it should be put."""

_PLACES = frozenset({"on", "in"})


def refusal(action: GroundAction, observed: Observed) -> UnworkedDeviation:
    """Return the kind of deviation that a refused action is, with the literals that speak of it.

    What the domain knows comes first, a precondition that does not hold; if all hold, the
    message of the environment decides. Want of room comes before either, since what stands in
    a place may be unknown to the domain.

    Args:
        action: the action.
        observed: what was seen after it was refused.
    """
    message = (observed.error,) if observed.error else ()
    unmet = observed.unmet
    occupants = [
        literal for literal in unmet
        if isinstance(literal, Not) and isinstance(literal.operand, Atom)
        and literal.operand.predicate in _PLACES
    ]  # fmt: skip
    error = observed.error
    if any(part in error for part in NO_ROOM) or (occupants and len(occupants) == len(unmet)):
        return _occupied(action, observed, occupants, message)
    if unmet:
        names = dict.fromkeys(n for e in unmet for n in _names(e))
        return UnworkedDeviation(
            DeviationKind.MISSING_PRECONDITION, unmet, (*names,) or action.args, message
        )
    if any(part in error for part in IN_THE_WAY):
        return UnworkedDeviation(DeviationKind.BLOCKED, (), action.args[-1:], message)
    if any(part in error for part in ALREADY):
        # It is seen not to be: another switch than that of the object was turned.
        return UnworkedDeviation(DeviationKind.WRONG_OBJECT, (), action.args[:1], message)
    return UnworkedDeviation(DeviationKind.ACTION_FAILED, (), action.args, message)


def _occupied(
    action: GroundAction,
    observed: Observed,
    occupants: Sequence[Expression],
    message: tuple[str, ...],
) -> UnworkedDeviation:
    place = action.args[-1]
    inside = [  # what has just come there first
        a for a in (*sorted(observed.gained, key=str), *sorted(observed.atoms, key=str))
        if a.predicate in _PLACES and a.args[1] == place
    ]  # fmt: skip
    literals: tuple[Expression, ...] = tuple(occupants)
    if not literals and len(action.args) == 2:
        literals = (Atom("fits", action.args),)
    names = (place, *(a.args[0] for a in inside), action.args[0])
    return UnworkedDeviation(DeviationKind.OCCUPIED, literals, tuple(dict.fromkeys(names)), message)


def _names(literal: Expression) -> tuple[str, ...]:
    atom = literal.operand if isinstance(literal, Not) else literal
    return atom.args if isinstance(atom, Atom) else ()
