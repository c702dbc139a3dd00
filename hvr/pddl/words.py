"""Expressions as nested tuples of words, for code that should not depend on the model's classes.

`(and (p ?x) (not (q)))` is `("and", ("p", "?x"), ("not", ("q",)))`; numbers stay words. The
variables of a quantifier are a tuple of names and types, such as `(("?y", ("block",)),)`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from hvr.pddl.formulas import Atom, NumericEffect, changes_of, signed_parts
from hvr.pddl.model import ActionSchema, DerivedPredicate, Domain, DurativeActionSchema, Problem

_WORD = re.compile(r"[()]|[^\s()]+")


def words_of(expression: object) -> Any:
    """Return an expression of the lifted model as nested tuples of words."""
    stack: list[list[Any]] = [[]]
    for word in _WORD.findall(str(expression)):
        if word == "(":
            stack.append([])
            continue
        if word != ")":
            stack[-1].append(word)
            continue
        inner = stack.pop()
        if inner[:1] in (["forall"], ["exists"]) and isinstance(inner[1], tuple):
            inner[1] = _typed(inner[1])
        stack[-1].append(tuple(inner))
    return stack[0][0]


def _typed(words: tuple[Any, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: list[tuple[str, tuple[str, ...]]] = []
    names: list[str] = []
    rest = iter((*words, "-", "object"))
    for word in rest:
        if word != "-":
            names.append(word)
            continue
        kind = next(rest)
        types = kind[1:] if isinstance(kind, tuple) else (kind,)
        found += [(name, types) for name in names]
        names = []
    return tuple(found)


def initial_words(domain: Domain, problem: Problem) -> dict[Any, Any]:
    """Return the initial state: atoms map to True, and numeric terms to their values.

    If an action changes the total cost and the problem omits its value, it starts at 0.
    """
    state: dict[Any, Any] = {(atom.predicate, *atom.args): True for atom in problem.init}
    effects = [action.effect for action in domain.actions.values()]
    effects += [action.effect for action in domain.durative_actions.values()]
    changes = [change for effect in effects for change in changes_of(effect)]
    if any(isinstance(c, NumericEffect) and c.fluent.function == "total-cost" for c in changes):
        state["total-cost",] = Fraction(0)
    for term, value in problem.numeric_init.items():
        state[term.function, *term.args] = Fraction(value)
    return state


def action_words(schema: ActionSchema | DurativeActionSchema) -> tuple[Any, Any, Any]:
    """Return the condition of an action, its duration constraints and its effect.

    The constraints are inequalities: a fixed duration yields a lower and an upper bound.
    """
    if isinstance(schema, DurativeActionSchema):
        limits = _inequalities(words_of(schema.duration))
        return words_of(schema.condition), limits, words_of(schema.effect)
    return words_of(schema.precondition), ("and",), words_of(schema.effect)


def rule_words(rule: DerivedPredicate) -> Any:
    """Return a rule as (forall variables (head body))."""
    head = (rule.predicate, *(p.name for p in rule.parameters))
    variables = tuple([(p.name, p.types) for p in rule.parameters])
    return "forall", variables, (head, words_of(rule.body))


def dependencies(domain: Domain) -> list[tuple[str, str, bool]]:
    """Return (predicate, used, polarity) for each use of a derived predicate in another's rule."""
    derived = {rule.predicate for rule in domain.derived}
    return [
        (rule.predicate, part.predicate, positive)
        for rule in domain.derived
        for part, positive in signed_parts(rule.body)
        if isinstance(part, Atom) and part.predicate in derived
    ]


def _inequalities(limits: Any) -> Any:
    match limits:
        case ("=", duration, bound):
            return "and", ("<=", duration, bound), (">=", duration, bound)
        case ("and" | "at" as kind, *inside):
            return kind, *map(_inequalities, inside)
    return limits
