"""Literals as PDDL text and as values: all of PDDL that entries of the library use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hvr.errors import PddlSyntaxError
from hvr.pddl import Atom, Equal, GroundAction, is_variable

Literal = tuple[Atom, bool]
"""An atom and whether it is true."""

_CALL = re.compile(r"\(\s*([^\s()]+)((?:\s+[^\s()]+)*)\s*\)")
_NOT = re.compile(r"\(\s*not\s+(\(.*\))\s*\)", re.DOTALL)


def parse_literal(text: str) -> Literal:
    """Read `(on ?mug1 ?plate1)` or `(not (on ?mug1 ?plate1))`.

    Raises:
        PddlSyntaxError: it is no literal.
    """
    stripped = text.strip().lower()
    negated = _NOT.fullmatch(stripped)
    name, args = _call(negated[1] if negated else stripped, text, "a literal such as (on ?a ?b)")
    if name in {"not", "and", "or", "imply", "forall", "exists", "="}:
        raise PddlSyntaxError(f"{text!r}: expected a literal such as (on ?a ?b)")
    return Atom(name, args), negated is None


def is_literal(text: str) -> bool:
    """Return whether `parse_literal` takes a text."""
    try:
        parse_literal(text)
    except PddlSyntaxError:
        return False
    return True


def parse_step(text: str) -> GroundAction:
    """Read `(pick_up ?mug1)`; the arguments may be variables.

    Raises:
        PddlSyntaxError: it is no action.
    """
    return GroundAction(*_call(text.strip().lower(), text, "an action such as (move ?a)"))


def _call(text: str, shown: str, expected: str) -> tuple[str, tuple[str, ...]]:
    call = _CALL.fullmatch(text)
    if call is None:
        raise PddlSyntaxError(f"{shown!r}: expected {expected}")
    return call[1], tuple(call[2].split())


def literal_text(literal: Literal) -> str:
    """Return a literal as PDDL."""
    atom, positive = literal
    return str(atom) if positive else f"(not {atom})"


def bind_literal(literal: Literal, binding: Mapping[str, str]) -> Literal:
    """Put other names for some of the names in a literal."""
    atom, positive = literal
    return Atom(atom.predicate, tuple(binding.get(a, a) for a in atom.args)), positive


def bind_step(step: GroundAction, binding: Mapping[str, str]) -> GroundAction:
    """Put other names for some of the arguments of an action."""
    return GroundAction(step.name, tuple(binding.get(a, a) for a in step.args))


def variables_of(literals: Iterable[Literal]) -> set[str]:
    """Return the variables that occur in literals."""
    return {a for atom, _ in literals for a in atom.args if is_variable(a)}


def joinable(literals: Iterable[Literal]) -> list[tuple[Atom | Equal, bool]]:
    """Return the same literals, typed as `hvr.pddl.facts.bindings` takes them."""
    return list(literals)
