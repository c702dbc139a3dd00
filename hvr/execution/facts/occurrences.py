"""Actions that a request asks for by name, such as 'take parcel1 to the harbour with truck1'.

The goal is then that the action has occurred with the named arguments. A fact such as
(done-unload--0-1 parcel1 truck1), which the action makes true, records this: the numbers are the
parameters that the request names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import permutations, product

from hvr.pddl import And, Atom, Domain, Expression, Not, Predicate
from hvr.pddl.formulas import atoms_of
from hvr.worlds.facts.lexicon import WorldLexicon, words_of

_DONE = re.compile(r"done-(?P<action>.+)--(?P<slots>\d+(?:-\d+)*)")


def occurrence(action: str, args: Mapping[int, str]) -> Atom:
    """Return the fact that an action has occurred, given some of its arguments by position."""
    slots = sorted(args)
    return Atom(f"done-{action}--{'-'.join(map(str, slots))}", tuple(args[n] for n in slots))


def occurrences_of(
    domain: Domain,
    objects: Mapping[str, tuple[str, ...]],
    verb: str,
    names: tuple[tuple[str, ...], tuple[str, ...]],
) -> list[Atom]:
    """Return the occurrences of a verb's actions, or of all for "touch", with pairs of objects."""
    found = []
    for action in domain.actions.values():
        if verb not in ("touch", "use", *words_of(action.name).split()[:1]):
            continue
        for pair in permutations(range(len(action.parameters)), 2):
            kinds = [action.parameters[n].types for n in pair]
            for chosen in product(*names):
                types = map(objects.__getitem__, chosen)
                if all(map(domain.has_type, types, kinds)):
                    found.append(occurrence(action.name, dict(zip(pair, chosen, strict=True))))
    return found


def _parts(domain: Domain, predicate: str) -> tuple[str, tuple[int, ...]] | None:
    match = _DONE.fullmatch(predicate)
    if match is None or predicate in domain.predicates or match["action"] not in domain.actions:
        return None
    return match["action"], tuple(map(int, match["slots"].split("-")))


def with_occurrences(domain: Domain, formulas: Iterable[Expression]) -> Domain:
    """Return a domain whose actions record the occurrences that formulas mention."""
    names = {atom.predicate for formula in formulas for atom in atoms_of(formula)}
    actions, predicates = dict(domain.actions), dict(domain.predicates)
    for name in sorted(names):
        found = _parts(domain, name)
        if found is None:
            continue
        action, slots = found
        schema = actions[action]
        parameters = tuple(schema.parameters[n] for n in slots)
        mark = Atom(name, tuple(p.name for p in parameters))
        actions[action] = schema.replace(effect=And((schema.effect, mark)))
        predicates[name] = Predicate(name, parameters)
    if predicates == domain.predicates:
        return domain
    return domain.replace(actions=actions, predicates=predicates)


def occurrence_clause(literal: Atom | Not, words: WorldLexicon) -> str:
    """Return 'unload parcel1, truck1, any is done' for an occurrence; empty for any other fact.

    "any" stands for the parameters that the request does not name.
    """
    atom = literal.operand if isinstance(literal, Not) else literal
    match = _DONE.fullmatch(atom.predicate) if isinstance(atom, Atom) else None
    if match is None or not isinstance(atom, Atom):
        return ""
    slots = dict(zip(map(int, match["slots"].split("-")), atom.args, strict=True))
    arity = words.wording.actions[match["action"]].imperative.arity
    args = ", ".join(slots.get(n, "any") for n in range(arity))
    return f"{words_of(match['action'])} {args} is {'not ' * (literal is not atom)}done"


def read_occurrence(text: str, domain: Domain) -> Atom | Not | None:
    """Parse the clause of an occurrence; return None if the text is not one."""
    if text.endswith(" is not done"):
        done = read_occurrence(f"{text.removesuffix(' is not done')} is done", domain)
        return None if done is None else Not(done)
    if not text.endswith(" is done"):
        return None
    for name, action in domain.actions.items():
        start = f"{words_of(name).lower()} "
        args = text.removeprefix(start).removesuffix(" is done").split(", ")
        if text.startswith(start) and len(args) == len(action.parameters):
            return occurrence(name, {n: arg for n, arg in enumerate(args) if arg != "any"})
    return None
