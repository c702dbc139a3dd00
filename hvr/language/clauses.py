"""Reading clauses: what is to be done, in which order.

request := clause ((then | and | , | .) clause)*
clause  := verb (and verb)* group ((and | ,) group)*
         | ('I want' | 'there should be') group …
         | ('make sure')? things (is | should be | contains) predicate
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hvr.errors import LanguageError
from hvr.language.cursor import STOPS, Cursor
from hvr.language.lexicon import Adjective, Dish, Verb
from hvr.language.phrases import (
    next_thing,
    read_adjunct,
    read_adjuncts,
    read_group,
    read_predicate,
    read_thing,
    read_things,
)
from hvr.language.syntax import Adjunct, Clause, Determiner, NounGroup, NounPhrase, Predication

_LISTING = frozenset({"make", "serve", "hold"})
"""Frames after which a list of things goes on rather than a new clause begins."""

IT = NounPhrase("pronoun", "it", Determiner(1))


def read_clauses(cursor: Cursor) -> tuple[Clause, ...]:
    """Return all clauses of a request, in the order in which they are to be reached.

    Raises:
        LanguageError: words that do not fit in.
    """
    found: list[Clause] = []
    while not cursor.done:
        if cursor.word() in STOPS or cursor.word() == ",":
            cursor.at += 1
            continue
        start = cursor.at
        if cursor.function("after"):
            found = _after(cursor, found)
        elif cursor.function("before"):
            found = _before(cursor, found)
        elif cursor.take("then", "and", "first"):
            place = cursor.function("prep", "from")
            if place and found and cursor.starts_thing(cursor.at + place[0]):
                found.append(_elliptic(cursor, found[-1]))
        else:
            found += read_clause(cursor)
        if cursor.at == start:
            raise cursor.lost()
    return tuple(found)


def _after(cursor: Cursor, found: list[Clause]) -> list[Clause]:
    """'after washing it, …' comes first; '… after washing it' too."""
    cursor.take("after")
    early = read_clause(cursor)
    if not (found and early):
        return [*early, *found]
    # 'put the mug away after washing it': the mug is named in what then comes second
    main = found[-1].groups[0]
    named = [
        replace(c, groups=tuple(replace(g, things=main.things) if _pronouns(g) else g
                                for g in c.groups))
        for c in early
    ]  # fmt: skip
    if named == early:
        return [*found[:-1], *early, found[-1]]
    late = replace(found[-1], groups=(replace(main, things=(IT,)), *found[-1].groups[1:]))
    return [*found[:-1], *named, late]


def _pronouns(group: NounGroup) -> bool:
    return all(thing.kind == "pronoun" for thing in group.things)


def _before(cursor: Cursor, found: list[Clause]) -> list[Clause]:
    """'before serving it, wash the mug' comes last; 'wash it before serving it' as said."""
    cursor.take("before")
    late = read_clause(cursor)
    if found:
        return [*found, *late]
    while cursor.word() == "," or cursor.function("then", "and"):
        if cursor.take("then", "and") is None:
            cursor.at += 1
    return [*read_clause(cursor), *late] if not cursor.done else late


def _elliptic(cursor: Cursor, before: Clause) -> Clause:
    """'… and then on the table': the same verb with what was spoken of."""
    return Clause(before.verb, (NounGroup((IT,), read_adjuncts(cursor)),))


def read_clause(cursor: Cursor) -> list[Clause]:
    """Return one clause, or several that share their objects ('wash and slice the tomato')."""
    cursor.skip_fillers()
    cursor.take("first")
    if cursor.take("ensure"):
        cursor.skip_fillers()
        cursor.take("goal")  # 'make sure there is a clean cup'
        if cursor.verb() is None:
            return [_statement(cursor)]
    elif cursor.function("goal") and _prefers_goal(cursor):
        cursor.take("goal")
        if cursor.take("yourself"):
            return read_clause(cursor)
        cursor.skip_fillers()
        return [_statement(cursor)]
    if cursor.done or cursor.word() in STOPS or cursor.word() == ",":
        return []
    if (means := _fronted(cursor)) is not None:
        return [
            replace(c, groups=tuple(replace(g, adjuncts=(*g.adjuncts, means)) for g in c.groups))
            for c in read_clause(cursor)
        ]
    if cursor.verb() or cursor.split_verb():
        return _verbs(cursor)
    if cursor.starts_thing():
        return [_statement(cursor)]
    raise cursor.lost()


def _fronted(cursor: Cursor) -> Adjunct | None:
    """'use the microwave to …', 'with a knife, …', 'on a plate, …' before the verb."""
    start = cursor.at
    if cursor.take("use"):
        found = Adjunct("means", "using", (read_thing(cursor, "use"),))
        if cursor.take("to") is None:
            raise cursor.lost()
        return found
    if cursor.verb() or not cursor.function("prep", "with", "means"):
        return None
    adjunct = read_adjunct(cursor)
    if cursor.word() == ",":
        cursor.at += 1
    if adjunct is None or not (cursor.verb() or cursor.split_verb()):
        cursor.at = start
        return None
    return adjunct


def _prefers_goal(cursor: Cursor) -> bool:
    """'have' and 'keep' ask for a state; a longer verb at the same place wins."""
    goal, verb = cursor.function("goal"), cursor.verb()
    assert goal is not None
    return verb is None or goal[0] >= verb[0]


# --- with a verb ------------------------------------------------------------------------


def _verbs(cursor: Cursor) -> list[Clause]:
    """Return one verb with its objects, or several before the same objects."""
    verbs: list[Verb] = []
    while True:
        found = cursor.verb()
        if found is None or not _another_verb(cursor, cursor.at + found[0]):
            break
        verbs.append(found[1])
        cursor.at += found[0]
        if cursor.word() == ",":
            cursor.at += 1
        cursor.take("and", "then")
    last, *also = _verb_clause(cursor)
    if not verbs:
        return [last, *also]
    things = tuple(thing for group in last.groups for thing in group.things)
    them = NounPhrase("pronoun", "them", Determiner(0))
    rest = tuple(
        NounGroup((IT if len(group.things) == 1 else them,), group.adjuncts, group.predicate)
        for group in last.groups
    )
    first = [Clause(verbs[0], (NounGroup(things),))]
    return [*first, *(Clause(verb, (NounGroup(g.things),)) for verb in verbs[1:] for g in rest),
            Clause(last.verb, rest), *also]  # fmt: skip


def _another_verb(cursor: Cursor, at: int) -> bool:
    """'wash and slice the tomato': a second verb right after the first."""
    start = at
    if cursor.word(at) == ",":
        at += 1
    linker = cursor.function("and", "then", at=at)
    at += linker[0] if linker else 0
    return at > start and cursor.verb(at) is not None


def _verb_clause(cursor: Cursor) -> list[Clause]:
    """Return a verb with its objects; two clauses for 'turn the tap on and off'."""
    found = cursor.verb()
    apart = cursor.particles() if found is None or found[0] == 1 else {}
    verb = found[1] if found else None
    start = cursor.at
    cursor.at += found[0] if found else 1
    said = cursor.between(start)
    _skip_recipient(cursor)
    if verb is not None and verb.frame == "put" and cursor.function("prep"):
        after_verb = cursor.at
        early = read_adjunct(cursor)  # 'put on the table a mug'
        if early is not None and cursor.starts_thing():
            group = read_group(cursor, said)
            return [Clause(verb, (replace(group, adjuncts=(early, *group.adjuncts)),))]
        cursor.at = after_verb
    listing = verb is not None and verb.frame in _LISTING
    things = read_things(cursor, said, listing=listing)
    particle = cursor.particle_here()
    if particle in apart:
        cursor.at += 1
        verb = apart[str(particle)]
    if verb is None:
        raise cursor.lost()
    also = _also(cursor, apart) if particle in apart else []
    groups = [_rest_of_group(cursor, things)]
    while (at := next_thing(cursor, listing=listing)) is not None:
        cursor.at = at
        groups.append(read_group(cursor, said, listing=listing))
        if cursor.particle_here() in apart:
            cursor.at += 1
    return [Clause(verb, tuple(groups)), *also]


def _also(cursor: Cursor, apart: Mapping[str, Verb]) -> list[Clause]:
    """'… on and off', '… on and then off': another verb with the same first word."""
    found: list[Clause] = []
    while True:
        saved = cursor.at
        if cursor.word() == ",":
            cursor.at += 1
        cursor.take("and", "then")
        particle = cursor.particle_here()
        if cursor.at == saved or particle not in apart:
            cursor.at = saved
            return found
        cursor.at += 1
        found.append(Clause(apart[str(particle)], (NounGroup((IT,)),)))


def _skip_recipient(cursor: Cursor) -> None:
    """'bring me', 'pour us', 'put up'."""
    while (passed := cursor.function("filler")) and passed[0] > cursor.named():
        if cursor.kind(Adjective) >= passed[0]:
            return
        cursor.at += passed[0]


def _rest_of_group(cursor: Cursor, things: tuple[NounPhrase, ...]) -> NounGroup:
    predicate = _after_things(cursor)
    return NounGroup(things, (*predicate.adjuncts, *read_adjuncts(cursor)),
                 Predication(predicate.adjectives, (), predicate.serve))  # fmt: skip


def _after_things(cursor: Cursor) -> Predication:
    """Return an adjective after the objects: 'leave the fridge open', 'get the potato sliced'."""
    length = cursor.kind(Adjective)
    on_off = cursor.word() in {"on", "off"} and cursor.particle_here()
    if on_off or (length and cursor.verb() is None and not cursor.named(cursor.at + length)):
        return read_predicate(cursor)
    return Predication()


# --- without a verb ---------------------------------------------------------------------


def _statement(cursor: Cursor) -> Clause:
    """'a hot coffee on the table', 'the mug should be clean', 'the cup contains water'."""
    groups: list[NounGroup] = []
    while True:
        group = read_group(cursor, "want", listing=True, subject=True)
        groups.append(_stated(cursor, group))
        at = next_thing(cursor, listing=True)
        if at is None:
            return Clause(None, tuple(groups))
        cursor.at = at


def _stated(cursor: Cursor, group: NounGroup) -> NounGroup:
    """Add what is said of things: 'is clean', 'should contain water', 'needs washing'."""
    adjuncts = list(group.adjuncts)
    stated: Predication | None = None
    while cursor.states(cursor.at):
        cursor.take("modal")
        if cursor.take("have"):
            things = read_things(cursor, "contain", listing=True)
            stated = Predication((), (Adjunct("with", "with", things), *read_adjuncts(cursor)))
        elif cursor.take("be", "needing"):
            if cursor.kind(Dish) and not cursor.kind(Adjective):
                raise cursor.lost()
            stated = read_predicate(cursor)
            if not stated and not cursor.states(cursor.at):
                raise cursor.lost()
        else:
            stated = _passive(cursor)
    if stated is None:
        return group
    relative = Predication((), tuple(a for a in adjuncts if a.kind == "place"))
    kept = tuple(a for a in adjuncts if a.kind != "place")
    things = group.things
    if relative.adjuncts and stated:
        # 'the mug on the table should be clean': the place tells which mug
        things = tuple(
            NounPhrase(t.kind, t.text, t.determiner, t.adjectives, t.nouns, t.dish, t.of,
                  t.relative or relative)
            for t in things
        )  # fmt: skip
    return NounGroup(
        things,
        (*kept, *stated.adjuncts),
        Predication((*group.predicate.adjectives, *stated.adjectives), (), stated.serve),
    )


def _passive(cursor: Cursor) -> Predication:
    """'should stand on the table' without a form of 'be'."""
    found = read_predicate(cursor)
    if not found:
        raise LanguageError(
            f"hvr cannot make sense of {' '.join(cursor.tokens[cursor.at - 1 :][:6])!r} in "
            f"{cursor.text.strip()!r}"
        )
    return found
