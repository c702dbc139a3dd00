"""In which order rules for derived predicates can be evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hvr.pddl.model import (
    And,
    Atom,
    DerivedPredicate,
    Exists,
    Expression,
    Forall,
    Imply,
    Not,
    Or,
)


def strata(rules: Sequence[DerivedPredicate]) -> list[list[DerivedPredicate]]:
    """Group rules so that each group depends on itself and the groups before it only.

    The groups are the strongly connected components of the dependencies between predicates.
    """
    by_predicate = _by_predicate(rules)
    return [[r for p in group for r in by_predicate[p]] for group in _components(rules)]


def unstratified(rules: Sequence[DerivedPredicate]) -> list[DerivedPredicate]:
    """Return the rules whose predicate depends on its own negation: they have no meaning."""
    result: list[DerivedPredicate] = []
    by_predicate = _by_predicate(rules)
    for group in _components(rules):
        for rule in (r for p in group for r in by_predicate[p]):
            if any(not positive and p in group for p, positive in predicates_in(rule.body)):
                result.append(rule)
    return result


def predicates_in(formula: Expression, positive: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield the predicates of a formula, and whether each stands under no negation."""
    match formula:
        case Atom(predicate, _):
            yield predicate, positive
        case Not(operand):
            yield from predicates_in(operand, not positive)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from predicates_in(operand, positive)
        case Imply(left, right):
            yield from predicates_in(left, not positive)
            yield from predicates_in(right, positive)
        case Forall(_, body) | Exists(_, body):
            yield from predicates_in(body, positive)
        case _:
            pass


def _by_predicate(rules: Sequence[DerivedPredicate]) -> dict[str, list[DerivedPredicate]]:
    result: dict[str, list[DerivedPredicate]] = {}
    for rule in rules:
        result.setdefault(rule.predicate, []).append(rule)
    return result


def _components(rules: Sequence[DerivedPredicate]) -> list[dict[str, None]]:
    """Tarjan's algorithm, without recursion; what is depended on comes first."""
    needs: dict[str, list[str]] = {rule.predicate: [] for rule in rules}
    for rule in rules:
        found = dict.fromkeys(p for p, _ in predicates_in(rule.body) if p in needs)
        needs[rule.predicate] += found
    result: list[dict[str, None]] = []
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    for root in needs:
        if root in number:
            continue
        stack = [(root, iter(needs[root]))]
        number[root] = low[root] = len(number)
        path.append(root)
        on_path.add(root)
        while stack:
            node, rest = stack[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    path.append(other)
                    on_path.add(other)
                    stack.append((other, iter(needs[other])))
                    break
                if other in on_path:
                    low[node] = min(low[node], number[other])
            else:
                stack.pop()
                if stack:
                    parent = stack[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    group: dict[str, None] = {}
                    while node not in group:
                        member = path.pop()
                        on_path.discard(member)
                        group[member] = None
                    result.append(group)
    return result
