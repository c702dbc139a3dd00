"""The grammar of clauses without a verb: what shall be there, and how things shall be."""

from __future__ import annotations

from hvr.errors import LanguageError
from hvr.language.cursor import Cursor
from hvr.language.lexicon import Adjective, Dish
from hvr.language.lookahead import next_thing
from hvr.language.phrases import (
    read_adjuncts,
    read_group,
    read_inside,
    read_predicate,
    read_things,
)
from hvr.language.prohibitions import denied
from hvr.language.syntax import Adjunct, Clause, NounGroup, NounPhrase, Predication


def read_statement(cursor: Cursor) -> Clause:
    """Read a clause without a verb, such as 'a hot coffee on the table', 'the mug should be clean'
    or 'the cup contains water'.
    """
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
