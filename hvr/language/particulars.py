"""Phrases that name no thing: 'back where it was', 'for two', 'in it', 'the lower right of'."""

from __future__ import annotations

from hvr.language.cursor import Cursor
from hvr.language.syntax import Adjunct


def skip_part(cursor: Cursor) -> bool:
    """Move over the part of a place that is spoken of, with a note; return whether one stands
    here.
    """
    start = at = cursor.at
    while (match := cursor.function("part", "unheeded", at=at)) and cursor.named(
        at
    ) <= match.length:
        at += match.length
    if at == start or cursor.word(at) != "of" or not cursor.starts_thing(at + 1):
        return False
    cursor.at = at
    cursor.heed_not(cursor.between(start))
    cursor.at += 1
    return True


def read_origin(cursor: Cursor) -> Adjunct | None:
    """Read where things were: 'back where it was', 'to its place', or 'back' alone."""
    match = cursor.function("origin")
    if match is None:
        return None
    after = cursor.at + match.length
    more = cursor.function("prep", "from", "with", at=after)
    if match.length == 1 and (more or cursor.starts_thing(after)):
        return None  # 'back on the table', 'put back the mug'
    cursor.at = after
    return Adjunct("origin", "back", ())


def for_how_many(cursor: Cursor) -> int | None:
    """Read 'for two' or 'for four people'; return how many."""
    match = cursor.function("for")
    number = cursor.function("number", at=cursor.at + match.length) if match else None
    at = cursor.at + (match.length if match else 0)
    count = int(number.entry.value) if number else 0
    if match and cursor.word(at).isdecimal():
        count = int(cursor.word(at))
    if not count:
        return None
    at += number.length if number else 1
    unit = cursor.function("unit", at=at)
    if unit:  # 'for two minutes'
        start, cursor.at = cursor.at, at + unit.length
        cursor.heed_not(cursor.between(start))
        return None
    if cursor.starts_thing(at) and not cursor.function("people", at=at):
        return None
    cursor.at = at
    cursor.take("people")
    return count


def read_inside(cursor: Cursor) -> str:
    """Move over 'in it', 'on top of it', 'inside' after contents; return `in` or `on`, or nothing
    if none stands here.
    """
    if cursor.function("hand"):
        return ""
    there, more = cursor.function("there"), cursor.function("prep", "from", "unplaced")
    longer = there and more and more.length > there.length
    if there and not longer and not cursor.starts_thing(cursor.at + there.length):
        cursor.at += there.length
        return "in"
    prep = cursor.function("prep")
    if prep is None:
        return ""
    after = cursor.at + prep.length
    pronoun = cursor.function("pronoun", at=after)
    again = _named_again(cursor, after)
    if pronoun is None and not again:
        return ""
    cursor.at = after + (pronoun.length if pronoun else again)
    return str(prep.entry.value)


def _named_again(cursor: Cursor, at: int) -> int:
    """Return the length of 'the pan' if a pan is the first thing that the clause named: 'a pan with
    an apple on the pan'.
    """
    if cursor.word(at) != "the" or not (length := cursor.named(at + 1)):
        return 0
    said = cursor.tokens[at + 1 : at + 1 + length]
    starts = range(cursor.clause_at, at - length)
    first = next((n for n in starts if cursor.named(n)), None)
    return 1 + length if first is not None and cursor.tokens[first : first + length] == said else 0


def skip_interjection(cursor: Cursor) -> None:
    """Move over fillers between commas: 'put it, please, in the bowl'."""
    cursor.skip_fillers()
    if cursor.word() == ",":
        cursor.at += 1
        cursor.skip_fillers()
        if cursor.word() == ",":
            cursor.at += 1
