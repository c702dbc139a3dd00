"""Types of domains that state them as facts, such as (robot r1), instead of with :typing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from hvr.execution.facts.imperatives import literals_of
from hvr.pddl import ActionSchema, Domain, Problem, TypedName
from hvr.worlds.facts.lexicon import WorldLexicon, words_of

_OBJECT = ("object",)


def with_inferred_types(
    domain: Domain, problem: Problem, words: WorldLexicon
) -> tuple[Domain, Problem, WorldLexicon]:
    """Return an untyped domain with types that stand for its unary facts that no action changes.

    Formulas with variables of these types are invalid in the original domain. Typed domains are
    returned unchanged.
    """
    changed = {
        atom.predicate
        for action in domain.actions.values()
        for atom, _ in literals_of(action.effect)
    }
    kinds = {n for n, p in domain.predicates.items() if len(p.parameters) == 1} - changed
    members = {kind: {a.args[0] for a in problem.init if a.predicate == kind} for kind in kinds}
    if domain.types or not any(members.values()):
        return domain, problem, words

    def typed(item: TypedName) -> TypedName:
        types = tuple(sorted(kind for kind in kinds if item.name in members[kind]))
        return TypedName(item.name, types or _OBJECT)

    actions = {name: _typed_action(a, members) for name, a in domain.actions.items()}
    predicates = {
        name: predicate.replace(
            parameters=tuple(
                TypedName(p.name, _types_of(actions, name, n))
                for n, p in enumerate(predicate.parameters)
            )
        )
        for name, predicate in domain.predicates.items()
    }
    view = domain.replace(
        types=dict.fromkeys(sorted(kinds), _OBJECT),
        constants=tuple(map(typed, domain.constants)),
        predicates=predicates,
        actions=actions,
    )
    nouns = {**{kind: (words_of(kind).lower(),) for kind in sorted(kinds)}, **words.types}
    return (
        view,
        problem.replace(objects=tuple(map(typed, problem.objects))),
        WorldLexicon(words.wording, MappingProxyType(nouns)),
    )


def _typed_action(action: ActionSchema, members: Mapping[str, set[str]]) -> ActionSchema:
    kinds: dict[str, list[str]] = {}
    for atom, positive in literals_of(action.precondition):
        if positive and atom.predicate in members:
            kinds.setdefault(atom.args[0], []).append(atom.predicate)
    parameters = []
    for parameter in action.parameters:
        mine = sorted(kinds.get(parameter.name, ()), key=lambda kind: (len(members[kind]), kind))
        parameters.append(TypedName(parameter.name, tuple(mine[:1]) or _OBJECT))
    return action.replace(parameters=tuple(parameters))


def _types_of(actions: Mapping[str, ActionSchema], predicate: str, place: int) -> tuple[str, ...]:
    found = {kind for kinds in _uses(actions, predicate, place) for kind in kinds}
    return _OBJECT if not found or "object" in found else tuple(sorted(found))


def _uses(
    actions: Mapping[str, ActionSchema], predicate: str, place: int
) -> Iterator[tuple[str, ...]]:
    for action in actions.values():
        types = {p.name: p.types for p in action.parameters}
        for atom, _ in (*literals_of(action.effect), *literals_of(action.precondition)):
            if atom.predicate == predicate:
                yield types.get(atom.args[place], ())
