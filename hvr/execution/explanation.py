"""Sentences that explain deviations and refusals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hvr.execution.deviations import DeviationKind
from hvr.execution.observation import AudioEvent, Observed, SoundKind
from hvr.knowledge.triples import NO_ROOM
from hvr.knowledge.wording import Wording, load_wording
from hvr.pddl.formulas import (
    Atom,
    Comparison,
    Expression,
    FunctionTerm,
    Not,
    Number,
    NumericExpression,
)
from hvr.pddl.model import GroundAction
from hvr.values import Value

# Clauses ------------------------------------------------------------------------------------------
# PDDL literals as clauses of a sentence.


def literal_clause(literal: Expression, wording: Wording | None = None) -> str:
    """Return a literal as a clause, such as `mug-1 is not in the hand`."""
    positive = not isinstance(literal, Not)
    atom = literal.operand if isinstance(literal, Not) else literal
    clause = ""
    if isinstance(atom, Comparison):
        clause = _compared(atom, positive)
    elif isinstance(atom, Atom):
        clause = (wording or load_wording()).clause(atom.predicate, atom.args, positive=positive)
    return clause or (f"{atom} holds" if positive else f"{atom} does not hold")


def _compared(condition: Comparison, positive: bool) -> str:
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


def negated(literal: Expression) -> Expression:
    """Return the negation of a literal, without double negation."""
    return literal.operand if isinstance(literal, Not) else Not(literal)


def literal_clauses(
    literals: Iterable[Expression], most: int = 3, *, wording: Wording | None = None
) -> str:
    """Return literals as clauses joined by commas and `and`, without duplicates.

    Args:
        most: Maximum number of clauses; the rest is only counted.
    """
    clauses = list(dict.fromkeys(literal_clause(literal, wording) for literal in literals))
    if len(clauses) > most:
        clauses = [*clauses[: most - 1], f"{len(clauses) - most + 1} more things"]
    if len(clauses) > 1:
        return ", ".join(clauses[:-1]) + " and " + clauses[-1]
    return "".join(clauses)


# Explanation --------------------------------------------------------------------------------------
# The sentence that explains a deviation, and the sounds that support it.


class RawDeviation(Value):
    """A deviation without its explanation.

    Args:
        literals: Literals that should hold but do not.
        objects: The objects involved, most relevant first. For `dropped`: the object and its
            current place. For `wrong object`: the intended and the affected object, or the object,
            its intended place and its current place. For `occupied`: the place, its occupants, and
            the object to be put there.
        since: Step in which the first object was last seen, if it is not in view.
    """

    kind: DeviationKind
    literals: tuple[Expression, ...]
    objects: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    since: int | None = None


class Explanation(Value):
    """Puts the deviations of one step into words."""

    action: GroundAction | None
    sounds: tuple[AudioEvent, ...]
    wording: Wording | None = None

    def sentence(self, finding: RawDeviation) -> str:
        """Return the deviation as one sentence."""
        named = finding.objects
        first = named[0] if named else str(self.action)
        so = literal_clauses(
            [negated(literal) for literal in finding.literals], wording=self.wording
        )
        message = f": {finding.evidence[0].rstrip('.')}" if finding.evidence else ""
        match finding.kind:
            case DeviationKind.DROPPED:
                where = f"; it is now on {named[1]}" if len(named) > 1 else ""
                return f"{first} is no longer in the hand{where}."
            case DeviationKind.OCCUPIED:
                inside = [n for n in named[1:-1] if n != named[-1]]
                by = f": {', '.join(inside[:3])} is there" if inside else ""
                return f"{first} has no room for {named[-1]}{by}."
            case DeviationKind.BLOCKED:
                return f"{self.action} cannot reach {first}{message}."
            case DeviationKind.ACTION_FAILED:
                return f"{self.action} was refused{message}."
            case DeviationKind.MISSING_PRECONDITION:
                return f"{self.action} is not possible, because {so or 'a condition is unmet'}."
            case DeviationKind.NO_EFFECT:
                return f"{self.action} was reported as done but changed nothing:  {so}."
            case DeviationKind.WRONG_OBJECT if len(named) == 1:
                return f"{self.action} acted on something other than {first}{message}."
            case DeviationKind.WRONG_OBJECT if len(named) == 2:
                return f"{self.action} acted on {named[1]} instead of {first}: {so}."
            case DeviationKind.WRONG_OBJECT:
                return f"{first} is at {named[-1]} instead of {named[1]}."
            case DeviationKind.WRONG_EFFECT:
                return f"{self.action} did not have the expected effect:  {so}."
            case DeviationKind.CHANGED_BY_OTHERS:
                return f"Something other than {self.action} changed the room:  {so}."
            case DeviationKind.MISPERCEIVED:
                return f"The belief since step {finding.since} was wrong:  {so}."
            case DeviationKind.MISSING_OBJECT:
                return f"{first} is not where it was last seen, in step {finding.since}: {so}."
            case DeviationKind.GOAL_UNMET:
                return f"The plan is complete, but the goal does not hold:  {so}."
            case DeviationKind.CONSTRAINT_BROKEN:
                return f"A constraint is violated:  {so}."

    def heard(self, finding: RawDeviation) -> tuple[str, ...]:
        """Return the sounds that support a deviation, in words."""
        relevant = _RELEVANT_SOUNDS.get(finding.kind, frozenset())
        types = {name.rpartition("-")[0] for name in finding.objects}
        return tuple(
            f"heard: {sound}"
            for sound in self.sounds
            if sound.noise in relevant and sound.object_type.lower() in types
        )


_RELEVANT_SOUNDS = {
    DeviationKind.DROPPED: frozenset({SoundKind.DROPPED, SoundKind.BROKEN, SoundKind.POURED}),
    DeviationKind.WRONG_OBJECT: frozenset(SoundKind),
    DeviationKind.WRONG_EFFECT: frozenset(SoundKind),
    DeviationKind.CHANGED_BY_OTHERS: frozenset(SoundKind),
}


# Refusals -----------------------------------------------------------------------------------------
# Why the environment refused an action, judged by its message and the preconditions.

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
"""Parts of AI2-THOR's and hvr's messages about an object that cannot be reached."""

ALREADY = ("if it's already on!", "if it's already off!")
"""Parts of AI2-THOR's messages about a switch that is already in the requested position."""

_PLACES = frozenset({"on", "in"})


def classify_refusal(action: GroundAction, observed: Observed) -> RawDeviation:
    """Return the kind and the literals of a refused action's deviation.

    A violated precondition of the domain decides; without one, the environment's message does.
    Lack of room comes before both, since the domain may not know the occupants of a place.
    """
    message = (observed.error,) if observed.error else ()
    unmet = observed.unmet
    occupants = [
        literal
        for literal in unmet
        if isinstance(literal, Not)
        and isinstance(literal.operand, Atom)
        and literal.operand.predicate in _PLACES
    ]
    error = observed.error
    # The place is occupied if every unmet literal requires some object not to be there.
    if any(part in error for part in NO_ROOM) or (occupants and len(occupants) == len(unmet)):
        return _occupied(action, observed, occupants, message)
    if unmet:
        names = dict.fromkeys(n for e in unmet for n in _arguments(e))
        return RawDeviation(
            DeviationKind.MISSING_PRECONDITION, unmet, (*names,) or action.args, message
        )
    if any(part in error for part in IN_THE_WAY):
        return RawDeviation(DeviationKind.BLOCKED, (), action.args[-1:], message)
    if any(part in error for part in ALREADY):
        # The switch is not in that position, so the robot turned the switch of another object.
        return RawDeviation(DeviationKind.WRONG_OBJECT, (), action.args[:1], message)
    return RawDeviation(DeviationKind.ACTION_FAILED, (), action.args, message)


def _occupied(
    action: GroundAction,
    observed: Observed,
    occupants: Sequence[Expression],
    message: tuple[str, ...],
) -> RawDeviation:
    place = action.args[-1]
    inside = [  # newest occupants first
        a
        for a in (*sorted(observed.gained, key=str), *sorted(observed.atoms, key=str))
        if a.predicate in _PLACES and a.args[1] == place
    ]
    literals: tuple[Expression, ...] = tuple(occupants)
    if not literals and len(action.args) == 2:
        literals = (Atom("fits", action.args),)
    names = (place, *(a.args[0] for a in inside), action.args[0])
    return RawDeviation(DeviationKind.OCCUPIED, literals, tuple(dict.fromkeys(names)), message)


def _arguments(literal: Expression) -> tuple[str, ...]:
    atom = literal.operand if isinstance(literal, Not) else literal
    return atom.args if isinstance(atom, Atom) else ()
