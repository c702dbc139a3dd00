"""The grammar of what must not be: 'without the microwave', 'do not open the fridge', 'never two
doors open', 'must not be dirty'.

prohibition := forbid verb things adjunct? | without (verb | 'using')? things
             | forbid verb things 'twice'
             | forbid ('have' | verb)? number (things | 'doors')? adjective? 'at once'?
"""

from __future__ import annotations

from hvr.errors import LanguageError
from hvr.language.cursor import STOPS, Cursor
from hvr.language.modifiers import deny
from hvr.language.phrases import read_adjuncts, read_predicate, read_things
from hvr.language.syntax import (
    IT,
    Clause,
    Determiner,
    NounGroup,
    NounPhrase,
    Predication,
    Prohibition,
)


def prohibits(cursor: Cursor) -> bool:
    """Return whether a prohibition begins here."""
    match, wish = cursor.function("forbid", "without"), cursor.function("ensure")
    if match is None:
        return _no_thing(cursor)
    return wish is None or wish.length < match.length


def _no_thing(cursor: Cursor) -> bool:
    """Return whether 'no' stands before a thing of which nothing is said: 'no microwave'."""
    after = cursor.at + 1 + cursor.named(cursor.at + 1)
    ends = cursor.word(after) in STOPS or cursor.word(after) in {"", ","}
    return cursor.word() == "no" and after > cursor.at + 1 and ends


def read_prohibition(cursor: Cursor) -> Prohibition | Clause:
    """Read what must not be done, be used, or be so; a clause where it must not be so in the end.

    Raises:
        LanguageError: no verb and no thing follows.
    """
    if cursor.word() == "no":
        cursor.at += 1
    while cursor.take("forbid", "without"):
        pass
    if cursor.function("with", "means"):
        cursor.take("with", "means")  # 'but not with the sponge'
    start = cursor.at
    if cursor.function("prep"):  # '… on the table, not in the bowl'
        return Prohibition(None, (IT,), read_adjuncts(cursor))
    verb = cursor.verb()
    limit = _limit(cursor, cursor.at + (verb.length if verb else 0))
    if limit is None and (cursor.take("use") or cursor.take("means") or verb is None):
        return Prohibition(None, _any_of(cursor, "without"))
    if limit is None:
        assert verb is not None
        cursor.at += verb.length
        things = _any_of(cursor, cursor.between(start))
        state = read_predicate(cursor)
        if state.adjectives and verb.entry.frame == "put":  # 'do not leave the fridge open'
            return Clause(None, (NounGroup(things, (), denied(cursor, state)),))
        places = (*state.adjuncts, *read_adjuncts(cursor))
        again = cursor.take("twice") is not None
        return Prohibition(verb.entry, things, places, state.adjectives, again=again)
    cursor.at, most = limit
    things = _counted(cursor)
    cursor.take("at once")
    state = read_predicate(cursor, sole_place=True) if not cursor.done else Predication()
    cursor.take("at once")
    entry = verb.entry if verb else None
    if not (state.adjectives or (entry and entry.condition)):
        raise cursor.lost()
    return Prohibition(entry, things, (), state.adjectives, most)


def _any_of(cursor: Cursor, after: str) -> tuple[NounPhrase, ...]:
    """Read things; after 'not', 'or' adds to them as 'and' does."""
    cursor.denying = True
    things = read_things(cursor, after)
    cursor.denying = False
    return things


def _limit(cursor: Cursor, at: int) -> tuple[int, int] | None:
    """Return where the things begin after 'two' or 'more than one', and how many may be so."""
    have = cursor.function("have", "goal", "be", at=at)
    at += have.length if have else 0
    more = cursor.function("more than", at=at)
    at += more.length if more else 0
    number = cursor.function("number", at=at)
    count = int(number.entry.value) if number else 0
    if cursor.word(at).isdecimal():
        count = int(cursor.word(at))
    if not count or (count == 1 and not more):
        return None
    return at + (number.length if number else 1), count if more else count - 1


def _counted(cursor: Cursor) -> tuple[NounPhrase, ...]:
    """Read what is counted; doors, and no word at all, are whatever can be so."""
    if cursor.take("of"):
        return read_things(cursor, "of")
    if cursor.take("door") or not cursor.named():
        return (NounPhrase("everything", "doors", Determiner(0)),)
    return read_things(cursor, "two")


def denied(cursor: Cursor, state: Predication) -> Predication:
    """Return a predicate after 'is not': each adjective the other way round.

    Raises:
        LanguageError: it says where things are not.
    """
    if state.adjuncts or state.serve or not state.adjectives:
        raise LanguageError(
            f"hvr does not understand where things shall not be in {cursor.text.strip()!r}: "
            "say where they shall be"
        )
    return Predication(tuple(deny(a) for a in state.adjectives))


def kept(clause: Clause) -> list[Prohibition]:
    """Return what must not come to be if a state is to be kept: 'keep the fridge closed'."""
    return [
        Prohibition(None, group.things, (), (deny(adjective),), keeps=True)
        for group in clause.groups
        for adjective in group.predicate.adjectives
    ]
