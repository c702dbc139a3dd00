"""PDDL literals of the kitchen as clauses of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hvr.pddl.model import Atom, Expression, Not

_CLAUSES: Mapping[str, tuple[str, str]] = {
    "near": ("{0} is near", "{0} is out of reach"),
    "hand_empty": ("the hand is empty", "the hand is not empty"),
    "holding": ("{0} is in the hand", "{0} is not in the hand"),
    "present": ("{0} is there", "{0} is not there"),
    "on": ("{0} is on {1}", "{0} is not on {1}"),
    "in": ("{0} is in {1}", "{0} is not in {1}"),
    "opened": ("{0} is open", "{0} is closed"),
    "toggled": ("{0} is on", "{0} is off"),
    "sliced": ("{0} is sliced", "{0} is not sliced"),
    "cracked": ("{0} is broken", "{0} is not broken"),
    "cooked": ("{0} is cooked", "{0} is not cooked"),
    "hot": ("{0} is hot", "{0} is not hot"),
    "cold": ("{0} is cold", "{0} is not cold"),
    "dirty": ("{0} is dirty", "{0} is clean"),
    "filled": ("{0} is full", "{0} is empty"),
    "contains": ("{0} contains {1}", "{0} contains no {1}"),
    "washed": ("{0} has been washed", "{0} has not been washed"),
    "microwaved": ("{0} has been in the microwave", "{0} has not been in the microwave"),
    "stove_heated": ("{0} has been heated on the stove", "{0} has not been heated on the stove"),
    "toasted": ("{0} has been toasted", "{0} has not been toasted"),
    "chilled": ("{0} has been in the cold", "{0} has not been in the cold"),
    "warm_liquid": ("what {0} holds is warm", "what {0} holds is not warm"),
    "fits": ("{1} has room for {0}", "{1} has no room for {0}"),
}


def say(literal: Expression) -> str:
    """Return a literal as a clause, `mug-1 is not in the hand`; its PDDL text if there are no
    words.
    """
    positive = not isinstance(literal, Not)
    atom = literal.operand if isinstance(literal, Not) else literal
    if isinstance(atom, Atom) and atom.predicate in _CLAUSES:
        return _CLAUSES[atom.predicate][0 if positive else 1].format(*atom.args)
    return f"{atom} holds" if positive else f"{atom} does not hold"


def opposite(literal: Expression) -> Expression:
    """Return the negation of a literal, without double negation."""
    return literal.operand if isinstance(literal, Not) else Not(literal)


def say_all(literals: Iterable[Expression], most: int = 3) -> str:
    """Return several literals as clauses joined by commas and `and`; at most `most` are written
    out.
    """
    clauses = list(dict.fromkeys(say(literal) for literal in literals))
    if len(clauses) > most:
        clauses = [*clauses[: most - 1], f"{len(clauses) - most + 1} more things"]
    if len(clauses) > 1:
        return ", ".join(clauses[:-1]) + " and " + clauses[-1]
    return "".join(clauses)
