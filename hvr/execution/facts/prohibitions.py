"""Prohibitions in requests to PDDL worlds: 'do not use plane1', 'without the truck'."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from hvr.errors import LanguageError
from hvr.execution.facts.imperatives import literals_of, plain_verb
from hvr.execution.facts.temporal import FactWords
from hvr.pddl import (
    Atom,
    Domain,
    Expression,
    Forall,
    Formula,
    Not,
    Problem,
    TypedName,
    parse_formula,
)
from hvr.pddl.formulas import Comparison, FunctionTerm, Number, Trajectory

_FORBIDS = re.compile(
    r"(?P<start>^|[,.;] ?(?:and |but )?| and | but )"
    r"(?:(?:please )?(?:do not|don't|dont|never) (?P<deed>[^,.;]+?)"
    r"|leave (?P<alone>[^,.;]+?) (?:alone|untouched|as it is|as they are)"
    r"|without (?P<means>[^,.;]+?))(?=$|[,.;]| and | but )"
    r"|(?P<inner> without )(?P<tail>[^,.;]+?)(?=$|[,.;]| and | but )",
    re.IGNORECASE,
)
_USING = re.compile(r"(?:using |use |the use of |taking |the help of )?(?P<thing>.+)")
_USE = re.compile(r"(?:use|touch|employ) (?P<thing>.+)")


def without_prohibitions(
    text: str, verbs: Collection[str]
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Split a request into its orders, the actions that it forbids, and the things not to use.

    Args:
        verbs: The verbs of orders.
    """
    deeds: list[str] = []
    things: list[str] = []

    def cut(match: re.Match[str]) -> str:
        deed = match["deed"]
        if deed and (use := _USE.fullmatch(deed)) is not None:
            things.append(use["thing"])
        elif deed:
            deeds.append(deed)
        elif match["alone"]:
            things.append(match["alone"])
        else:
            means = match["means"] or match["tail"]
            doing = plain_verb(re.sub("^ever ", "", means), verbs)
            using = _USING.fullmatch(means)
            if doing.split()[0] in verbs:
                deeds.append(doing)
            else:
                things.append(using["thing"] if using else "")
        return "" if match["inner"] or not match["start"] else ","

    rest = _FORBIDS.sub(cut, text)
    return rest.strip(" ,.;"), tuple(deeds), tuple(things)


_KEPT = re.compile(
    r"(?:^|[,.;] ?(?:and )?| and )keep (?P<state>[^,.;]+?)(?=$|[,.;]| and )", re.IGNORECASE
)


def without_kept(text: str, words: FactWords) -> tuple[str, tuple[str, ...]]:
    """Split a request into the remaining text and the current states to preserve."""
    states: list[str] = []

    def cut(match: re.Match[str]) -> str:
        try:
            state = words.kept(match["state"].lower()).text
        except LanguageError:
            return match[0]
        if not words.holds(state):
            return match[0]  # an order to bring it about
        states.append(state)
        return ","

    rest = _KEPT.sub(cut, text).strip(" ,.;")
    return re.sub(r"^and ", "", rest), tuple(states)


def forbidding(
    words: FactWords,
    domain: Domain,
    problem: Problem,
    deeds: tuple[str, ...],
    things: tuple[str, ...],
) -> Iterator[Expression]:
    """Yield the constraints that forbid the actions `deeds` and the use of `things`.

    Raises:
        LanguageError: An action or object is unknown, or a forbidden state already holds.
    """
    for deed in deeds:
        for text in words.forbidden(deed.strip()):
            formula = parse_formula(text, domain, problem.objects, file="<goal>")
            if words.holds(text):
                raise LanguageError(f"{deed!r} is forbidden but already holds")
            yield _always(Not(formula))
    for thing in things:
        name = words.reader.object_of(thing.strip())
        if name is None:
            raise LanguageError(f"the request forbids the use of an unknown thing: {thing!r}")
        yield from map(_always, unchanged(name, domain, problem))


def unchanged(name: str, domain: Domain, problem: Problem) -> Iterator[Formula]:
    """Yield the conditions that no fact about an object differs from the initial state."""
    objects = {o.name: o.types for o in (*domain.constants, *problem.objects)}
    changed = {
        atom.predicate
        for action in domain.actions.values()
        for atom, _ in literals_of(action.effect)
    }
    for predicate in sorted(changed):
        parameters = domain.predicates[predicate].parameters
        for at, parameter in enumerate(parameters):
            if not domain.has_type(objects[name], parameter.types):
                continue
            held = [
                atom
                for atom in sorted(problem.init, key=str)
                if atom.predicate == predicate and atom.args[at] == name
            ]
            yield from held
            args = tuple(name if n == at else f"?v{n}" for n in range(len(parameters)))
            others = tuple(
                TypedName(f"?v{n}", p.types) for n, p in enumerate(parameters) if n != at
            )
            if not held:
                atom = Not(Atom(predicate, args))
                yield Forall(others, atom) if others else atom
    for fluent, value in problem.numeric_init.items():
        if name in fluent.args:
            yield Comparison("=", FunctionTerm(fluent.function, fluent.args), Number(value))


def _always(formula: Formula) -> Expression:
    return Trajectory("always", (), (formula,))
