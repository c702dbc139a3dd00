"""The order in which the rules for derived predicates are evaluated.

A stratum is evaluated after all that it reads. A predicate may depend on itself, as reachability
does, but not on its own negation: then there is no least fixpoint, and PDDL 2.2 (Edelkamp &
Hoffmann 2004) gives such rules no meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hvr.pddl.model import Atom, DerivedPredicate, Expression, signed_parts


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


def predicates_in(formula: Expression) -> Iterator[tuple[str, bool]]:
    """Yield the predicates of a formula, and whether each is read positively."""
    for part, positive in signed_parts(formula):
        if isinstance(part, Atom):
            yield part.predicate, positive


def _by_predicate(rules: Sequence[DerivedPredicate]) -> dict[str, list[DerivedPredicate]]:
    result: dict[str, list[DerivedPredicate]] = {}
    for rule in rules:
        result.setdefault(rule.predicate, []).append(rule)
    return result


def _components(rules: Sequence[DerivedPredicate]) -> list[dict[str, None]]:
    """Return the strongly connected components, each after those that it depends on.

    Tarjan's algorithm (1972), which yields them in just this order; without recursion, as a chain
    of rules may be longer than Python's stack. Components are dicts, not sets, so that the order
    of the rules is the same in every process.
    """
    needs: dict[str, list[str]] = {rule.predicate: [] for rule in rules}
    for rule in rules:
        read = dict.fromkeys(p for p, _ in predicates_in(rule.body) if p in needs)
        needs[rule.predicate] += read
    result: list[dict[str, None]] = []
    # `number` is the order of discovery; `low` the earliest node known to be reachable without
    # leaving the component. A node whose `low` is its own number is the root of a component:
    # the end of `path` from there on.
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
