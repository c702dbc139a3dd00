"""The grammar of clauses without a verb: what shall be there, and how things shall be."""

from __future__ import annotations

from hvr.errors import LanguageError
from hvr.language.cursor import Cursor
from hvr.language.lexicon import Adjective, Dish
from hvr.language.lookahead import next_thing
from hvr.language.particulars import read_inside
from hvr.language.phrases import (
    read_adjuncts,
    read_group,
    read_predicate,
    read_things,
)
from hvr.language.prohibitions import denied
from hvr.language.syntax import Adjunct, Clause, Determiner, NounGroup, NounPhrase, Predication


def read_statement(cursor: Cursor) -> Clause:
    """Read a clause without a verb, such as 'a hot coffee on the table', 'the mug should be clean'
    or 'the cup contains water'.
    """
    if cursor.take("none"):
        return _none(cursor)
    groups: list[NounGroup] = []
    while True:
        group = read_group(cursor, "want", listing=True, subject=True)
        groups.append(_stated(cursor, group))
        at = next_thing(cursor, listing=True)
        if at is None:
            return Clause(None, tuple(groups))
        cursor.at = at


def _none(cursor: Cursor) -> Clause:
    """Read what shall hold of no thing: 'no drawer is open', 'nothing should be in the sink'."""
    if cursor.starts_thing() and not cursor.states(cursor.at) and not cursor.function("prep"):
        group = read_group(cursor, "no", subject=True)
    else:
        group = NounGroup((NounPhrase("everything", "nothing", Determiner(0)),),
                          read_adjuncts(cursor))  # fmt: skip
    stated = _stated(cursor, group)
    things = tuple(t.replace(determiner=Determiner(0), relative=None) for t in group.things)
    places = tuple(a for a in (*group.adjuncts, *stated.adjuncts) if a.kind == "place")
    if bool(places) == bool(stated.predicate.adjectives):
        raise LanguageError(
            f"hvr cannot make sense of {cursor.text.strip()!r}: say "
            "where nothing shall be, or how no thing shall be"
        )
    return Clause(None, (NounGroup(things, places[-1:], stated.predicate),), none=True)


def _stated(cursor: Cursor, group: NounGroup) -> NounGroup:
    """Add what is said of things: 'is clean', 'should contain water', 'needs washing'."""
    adjuncts = list(group.adjuncts)
    stated: Predication | None = None
    while cursor.states(cursor.at) or _to_be(cursor):
        if cursor.take("be not", "be never"):
            stated = denied(cursor, read_predicate(cursor))
            continue
        cursor.take("modal")
        if cursor.take("have"):
            things = read_things(cursor, "contain", listing=True)
            inside = read_inside(cursor) or "in"
            stated = Predication(
                (), (Adjunct("with", "with", things, inside), *read_adjuncts(cursor))
            )
        elif cursor.take("be", "needing"):
            if cursor.kind(Dish) and not cursor.kind(Adjective):
                raise cursor.lost()
            stated = read_predicate(cursor)
            if not stated and not cursor.states(cursor.at):
                raise cursor.lost()
        else:
            stated = read_passive(cursor)
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


def _to_be(cursor: Cursor) -> bool:
    """Move over 'to' before 'be': 'I want the sink to be empty'."""
    if cursor.word() != "to" or not cursor.function("be", at=cursor.at + 1):
        return False
    cursor.at += 1
    return True


def read_passive(cursor: Cursor) -> Predication:
    """Read a predicate without a form of 'be', such as 'should stand on the table'.

    Raises:
        LanguageError: none stands here.
    """
    predicate = read_predicate(cursor)
    if not predicate:
        raise LanguageError(
            f"hvr cannot make sense of {' '.join(cursor.tokens[cursor.at - 1 :][:6])!r} in "
            f"{cursor.text.strip()!r}"
        )
    return predicate
