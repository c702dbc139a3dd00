"""Explanations of deviations and refusals, as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hvr.execution.deviations import DeviationKind
from hvr.execution.observation import AudioEvent, Observed, SoundKind
from hvr.knowledge.triples import NO_ROOM
from hvr.knowledge.wording import Wording, load_wording
from hvr.pddl.model import (
    Atom,
    Comparison,
    Expression,
    FunctionTerm,
    GroundAction,
    Not,
    Number,
    NumericExpression,
)
from hvr.values import Value

# Clauses ------------------------------------------------------------------------------------------
# PDDL literals as clauses of a sentence.


def literal_clause(literal: Expression, wording: Wording | None = None) -> str:
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
    """Return several literals as clauses joined by commas and `and`.

    Args:
        literals: each is said once.
        most: how many clauses are written out; the rest is counted.
        wording: hvr's own if None.
    """
    clauses = list(dict.fromkeys(literal_clause(literal, wording) for literal in literals))
    if len(clauses) > most:
        clauses = [*clauses[: most - 1], f"{len(clauses) - most + 1} more things"]
    if len(clauses) > 1:
        return ", ".join(clauses[:-1]) + " and " + clauses[-1]
    return "".join(clauses)


# Explanation --------------------------------------------------------------------------------------
# The sentence that explains a deviation, and the sounds that speak for it.


class RawDeviation(Value):
    """A deviation before it has been put in words.

    Args:
        kind: its kind.
        literals: the literals that should hold, and do not.
        objects: what it is about, the most telling first; for `dropped` the thing and where it
            is now; for `wrong object` what was meant and what was taken instead, or the thing,
            the place that was meant and the place that it is at; for `occupied` the place, what
            is there, and what was to go there.
        evidence: the messages of the environment.
        since: the step in which the first object was last seen, if that is not now.
    """

    kind: DeviationKind
    literals: tuple[Expression, ...]
    objects: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    since: int | None = None


class Explanation(Value):
    """Puts findings of one step in words.

    Args:
        action: the action of the step; None at the end of a plan.
        sounds: what was heard.
        wording: says what holds; hvr's own if None.
    """

    action: GroundAction | None
    sounds: tuple[AudioEvent, ...]
    wording: Wording | None = None

    def sentence(self, finding: RawDeviation) -> str:
        """Return one sentence without a full stop inside."""
        named = finding.objects
        first = named[0] if named else str(self.action)
        so = literal_clauses(
            [negated(literal) for literal in finding.literals], wording=self.wording
        )
        message = f": {finding.evidence[0].rstrip('.')}" if finding.evidence else ""
        match finding.kind:
            case DeviationKind.DROPPED:
                where = f"; it is on {named[1]} now" if len(named) > 1 else ""
                return f"{first} is not in the hand any more{where}."
            case DeviationKind.OCCUPIED:
                inside = [n for n in named[1:-1] if n != named[-1]]
                by = f": {', '.join(inside[:3])} is there" if inside else ""
                return f"{first} has no room for {named[-1]}{by}."
            case DeviationKind.BLOCKED:
                return f"{first} cannot be got at by {self.action}{message}."
            case DeviationKind.ACTION_FAILED:
                return f"{self.action} was refused{message}."
            case DeviationKind.MISSING_PRECONDITION:
                return f"{self.action} is not possible, because {so or 'a condition is unmet'}."
            case DeviationKind.NO_EFFECT:
                return f"{self.action} was reported as done and changed nothing: {so}."
            case DeviationKind.WRONG_OBJECT if len(named) == 1:
                return f"{self.action} acted on something else than {first}{message}."
            case DeviationKind.WRONG_OBJECT if len(named) == 2:
                return f"{self.action} acted on {named[1]} instead of {first}: {so}."
            case DeviationKind.WRONG_OBJECT:
                return f"{first} is at {named[-1]} instead of {named[1]}."
            case DeviationKind.WRONG_EFFECT:
                return f"{self.action} did not do what it should: {so}."
            case DeviationKind.CHANGED_BY_OTHERS:
                return f"Something else than {self.action} has changed the room: {so}."
            case DeviationKind.MISPERCEIVED:
                return f"It was believed otherwise since step {finding.since}: {so}."
            case DeviationKind.MISSING_OBJECT:
                return f"{first} is not where it was last seen, in step {finding.since}: {so}."
            case DeviationKind.GOAL_UNMET:
                return f"The plan is done and the goal does not hold: {so}."
            case DeviationKind.CONSTRAINT_BROKEN:
                return f"What was to be kept is broken: {so}."

    def heard(self, finding: RawDeviation) -> tuple[str, ...]:
        """Return the sounds that speak for a finding, in words."""
        telling = _TELLING.get(finding.kind, frozenset())
        types = {name.rpartition("-")[0] for name in finding.objects}
        return tuple(
            f"heard: {sound}"
            for sound in self.sounds
            if sound.noise in telling and sound.object_type.lower() in types
        )


_TELLING = {
    DeviationKind.DROPPED: frozenset({SoundKind.DROPPED, SoundKind.BROKEN, SoundKind.POURED}),
    DeviationKind.WRONG_OBJECT: frozenset(SoundKind),
    DeviationKind.WRONG_EFFECT: frozenset(SoundKind),
    DeviationKind.CHANGED_BY_OTHERS: frozenset(SoundKind),
}


# Refusals -----------------------------------------------------------------------------------------
# The reason why the environment refused an action, from its message and the preconditions.

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


def classify_refusal(action: GroundAction, observed: Observed) -> RawDeviation:
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
        literal
        for literal in unmet
        if isinstance(literal, Not)
        and isinstance(literal.operand, Atom)
        and literal.operand.predicate in _PLACES
    ]
    error = observed.error
    if any(part in error for part in NO_ROOM) or (occupants and len(occupants) == len(unmet)):
        return _occupied(action, observed, occupants, message)
    if unmet:
        names = dict.fromkeys(n for e in unmet for n in _names(e))
        return RawDeviation(
            DeviationKind.MISSING_PRECONDITION, unmet, (*names,) or action.args, message
        )
    if any(part in error for part in IN_THE_WAY):
        return RawDeviation(DeviationKind.BLOCKED, (), action.args[-1:], message)
    if any(part in error for part in ALREADY):
        # It is seen not to be: another switch than that of the object was turned.
        return RawDeviation(DeviationKind.WRONG_OBJECT, (), action.args[:1], message)
    return RawDeviation(DeviationKind.ACTION_FAILED, (), action.args, message)


def _occupied(
    action: GroundAction,
    observed: Observed,
    occupants: Sequence[Expression],
    message: tuple[str, ...],
) -> RawDeviation:
    place = action.args[-1]
    inside = [  # what has just come there first
        a
        for a in (*sorted(observed.gained, key=str), *sorted(observed.atoms, key=str))
        if a.predicate in _PLACES and a.args[1] == place
    ]
    literals: tuple[Expression, ...] = tuple(occupants)
    if not literals and len(action.args) == 2:
        literals = (Atom("fits", action.args),)
    names = (place, *(a.args[0] for a in inside), action.args[0])
    return RawDeviation(DeviationKind.OCCUPIED, literals, tuple(dict.fromkeys(names)), message)


def _names(literal: Expression) -> tuple[str, ...]:
    atom = literal.operand if isinstance(literal, Not) else literal
    return atom.args if isinstance(atom, Atom) else ()
