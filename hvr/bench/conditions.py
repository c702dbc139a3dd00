"""Goal-condition success: the share of a goal's conditions that hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hvr.pddl import And, Atom, Equal, Exists, Expression, Not, State
from hvr.pddl.model import TypedName, parts_of, substitute

_IMPOSSIBLE = -1


@dataclass(frozen=True)
class _Part:
    """A conjunct.

    Args:
        formula: the condition.
        variables: those to bind that it mentions.
        counts: it is a condition to bring about, not a restriction of the bindings.
    """

    formula: Expression
    variables: frozenset[str]
    counts: bool


def goal_condition_success(state: State, goal: Expression) -> float:
    """Return the share of the conditions of a goal that hold, with the best choice of objects.

    Of `(exists (variables) (and conditions))`, the greatest number of conditions that hold
    under one binding of the variables, divided by the number of conditions. Equalities only
    restrict the bindings: `(not (= ?a ?b))` asks for two things and is no condition to bring
    about. A condition that is no literal (a disjunction, an inner quantifier) counts as one.
    The measure is ALFRED's goal-condition success (Shridhar et al., CVPR 2020, section 5).

    Exact: variables are bound one after the other, those in most conditions first; conditions
    that share no unbound variable are then maximised apart, and a part is left as soon as all
    its conditions hold.

    Args:
        state: where to look.
        goal: with ground or existentially bound arguments.

    Returns:
        0 to 1; 1 for a goal without conditions. 0 if a variable has no object or no binding
        respects the equalities.
    """
    variables: dict[str, TypedName] = {}
    parts = list(_conjuncts(goal, variables))
    total = sum(part.counts for part in parts)
    domains = {name: tuple(state.task.members(v.types)) for name, v in variables.items()}
    if not all(domains.values()):
        return 0.0
    best = _Search(state, domains).best(parts, {})
    if total == 0:
        return 0.0 if best == _IMPOSSIBLE else 1.0
    return max(best, 0) / total


def _conjuncts(goal: Expression, variables: dict[str, TypedName]) -> Iterator[_Part]:
    """Yield the conditions of a goal; add variables bound by an outer `exists` to `variables`."""
    match goal:
        case Exists(bound, body) if not any(v.name in variables for v in bound):
            variables.update((v.name, v) for v in bound)
            yield from _conjuncts(body, variables)
        case And(operands):
            for operand in operands:
                yield from _conjuncts(operand, variables)
        case _:
            counts = not isinstance(goal, Equal) and not (
                isinstance(goal, Not) and isinstance(goal.operand, Equal)
            )
            yield _Part(goal, frozenset(_free(goal)) & variables.keys(), counts)


def _free(formula: Expression) -> Iterator[str]:
    match formula:
        case Atom():
            yield from (a for a in formula.args if a.startswith("?"))
        case Equal(left, right):
            yield from (a for a in (left, right) if a.startswith("?"))
        case _:
            inner = {v.name for v in getattr(formula, "variables", ())}
            for part in parts_of(formula):
                yield from (name for name in _free(part) if name not in inner)


class _Search:
    def __init__(self, state: State, domains: Mapping[str, Sequence[str]]) -> None:
        self.state = state
        self.domains = domains
        self.atoms = state.atoms(static=True)

    def best(self, parts: Sequence[_Part], binding: Mapping[str, str]) -> int:
        """Return how many counting parts can hold together; _IMPOSSIBLE if an equality cannot."""
        score = 0
        for group in _groups(parts, binding):
            holding = self._group(group, binding)
            if holding == _IMPOSSIBLE:
                return _IMPOSSIBLE
            score += holding
        return score

    def _group(self, parts: Sequence[_Part], binding: Mapping[str, str]) -> int:
        unbound = [v for part in parts for v in part.variables if v not in binding]
        if not unbound:
            return self._value(parts[0], binding)
        # The variable in most conditions first: binding it separates the others soonest.
        chosen = max(sorted(set(unbound)), key=unbound.count)
        most = sum(part.counts for part in parts)
        best = _IMPOSSIBLE
        for name in self.domains[chosen]:
            best = max(best, self.best(parts, {**binding, chosen: name}))
            if best == most:
                break
        return best

    def _value(self, part: _Part, binding: Mapping[str, str]) -> int:
        formula = substitute(part.formula, binding)
        if isinstance(formula, Atom):
            return int(formula in self.atoms)
        holds = self.state.holds(formula)
        if part.counts:
            return int(holds)
        return 0 if holds else _IMPOSSIBLE


def _groups(parts: Sequence[_Part], binding: Mapping[str, str]) -> list[list[_Part]]:
    """Return parts grouped so that those of different groups share no unbound variable."""
    groups: list[tuple[set[str], list[_Part]]] = []
    for part in parts:
        names = set(part.variables - binding.keys())
        joined, apart = [part], []
        for known, members in groups:
            if known & names:
                names |= known
                joined = members + joined
            else:
                apart.append((known, members))
        groups = [*apart, (names, joined)]
    return [members for _, members in groups]
