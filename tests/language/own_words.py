"""Comparison of goals up to the names of variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import product

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goal_builder import Goal
from hvr.language.grammar import Reader
from hvr.pddl import TypedName, parse_constraint, parse_formula
from hvr.pddl.formulas import (
    And,
    Atom,
    Equal,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
    Trajectory,
)


def alike(one: Goal, other: Goal, reader: Reader, inventory: Inventory) -> bool:
    """Return whether two goals are the same, apart from the order and the names of variables.

    The only object of a kind and a variable of that kind mean the same. The paraphrase shows which
    literals share a variable, so it must be equal.
    """
    if one.paraphrase != other.paraphrase or len(one.stages) != len(other.stages):
        return False
    kinds = {n: reader.taxonomy.pddl_type(c) for n, c in inventory.classes.items()}
    objects = [TypedName(n, (kind,)) for n, kind in kinds.items()]
    copies = Counter(kinds.values())
    only = {n: kind for n, kind in kinds.items() if copies[kind] == 1}

    def signature(text: str, *, kept: bool = False) -> list[str]:
        parse = parse_constraint if kept else parse_formula
        ways = _ways(parse(text, reader.domain, objects), only, "")
        return sorted(str(sorted(way)) for way in ways)

    return all(
        signature(a.wanted) == signature(b.wanted)
        and (a is not one.stages[-1] or set(a.ends) == set(b.ends))
        and [signature(c, kept=True) for c in a.constraints]
        == [signature(c, kept=True) for c in b.constraints]
        for a, b in zip(one.stages, other.stages, strict=True)
    )


Names = Mapping[str, str]


def _ways(formula: Expression, names: Names, inside: str) -> list[list[str]]:
    """Return the conjunctions of literals that satisfy a formula."""
    match formula:
        case And(operands):
            parts = dict.fromkeys(part for operand in operands for part in _flat(operand))
            ways = [_ways(part, names, inside) for part in parts]
            return [[text for part in way for text in part] for way in product(*ways)]
        case Or(operands):
            return [way for operand in operands for way in _ways(operand, names, inside)]
        case Exists(variables, body) | Forall(variables, body):
            kinds = {v.name: " ".join(sorted(v.types)) for v in variables}
            several = not set(kinds.values()) <= set(names.values())  # 'every fridge' is the only
            more = "every " if isinstance(formula, Forall) and several else ""
            return _ways(body, {**names, **kinds}, inside + more)
    return [[_literal(formula, names, inside)]]


def _flat(formula: Expression) -> list[Expression]:
    if isinstance(formula, And):
        return [part for operand in formula.operands for part in _flat(operand)]
    return [formula]


def _literal(formula: Expression, names: Names, inside: str) -> str:
    match formula:
        case Not(operand) if not isinstance(operand, Atom | Equal):
            return f"{inside}not {_ways(operand, names, '')}"
        case Imply(left, right):
            return f"{inside}if {_ways(left, names, '')} {_ways(right, names, '')}"
        case Trajectory():
            ways = [_ways(f, names, "") for f in formula.formulas]
            return f"{inside}{formula.operator} {ways}"
        case Not(Equal(left, right)) | Equal(left, right):
            ends = sorted((names.get(left, left), names.get(right, right)))
            return f"{inside}{type(formula).__name__} {ends}"
        case Not(Atom(predicate, args)) | Atom(predicate, args):
            words = " ".join(names.get(a, a) for a in args)
            return f"{inside}{type(formula).__name__} {predicate} {words}"
    raise AssertionError(formula)
