"""Where lists and predicates go on: looking ahead without reading."""

from __future__ import annotations

from hvr.language.cursor import Cursor
from hvr.language.lexicon import Adjective, Verb


def next_thing(cursor: Cursor, *, listing: bool = False, subject: bool = False) -> int | None:
    """Return where the next thing of a list starts, if the list goes on here.

    Args:
        cursor: where to read.
        listing: nothing but things can follow, as after 'make'.
        subject: something may be said of all of them together ('… should be open').
    """
    at = cursor.at
    if cursor.word(at) == ",":
        at += 1
    linker = cursor.function("and", at=at)
    if linker:
        at += linker.length
    if at == cursor.at or at >= len(cursor.tokens):
        return None
    if not cursor.starts_thing(at) or described(cursor, at):
        return None
    if subject and linker and cursor.copular(at):
        return at  # 'the fridge and the microwave should be open'
    return None if cursor.clause_starts(at, listing=listing) else at


def described(cursor: Cursor, at: int) -> bool:
    """Return whether the words after a comma describe the thing before it: ', filled with water',
    ', washed and sliced'.
    """
    length = cursor.kind(Adjective, at)
    more = cursor.function("with", "prep", "from", "means", at=at)
    if more and more.length > max(length, cursor.named(at)):
        return True
    # A series of adjectives describes what stands before it, unless a noun ends the series:
    # ', washed and sliced' against ', sliced tomatoes and bread'.
    while length and length >= cursor.named(at):
        at += length
        linker = cursor.function("and", at=at)
        following = at + (linker.length if linker else 0)
        if not cursor.kind(Adjective, following):
            return not (cursor.named(at) or cursor.function("filler", "unheeded", "slice", at=at))
        at = following
        length = cursor.kind(Adjective, at)
    return False


def predicate_starts(cursor: Cursor) -> bool:
    """Return whether an adjective follows its noun: 'the mug clean', 'the tap off', 'an apple,
    washed'.
    """
    if (
        cursor.word() == ","
        and cursor.kind(Adjective, cursor.at + 1)
        and described(cursor, cursor.at + 1)
    ):
        cursor.at += 1
        return True
    if cursor.word() in {"on", "off"}:
        return cursor.particle_here() is not None
    length = cursor.kind(Adjective)
    return bool(length) and cursor.verb() is None and not cursor.named(cursor.at + length)


def gerund(cursor: Cursor) -> Adjective | None:
    """Read the gerund of a verb as an adjective: 'needs washing'."""
    if not cursor.word().endswith("ing"):
        return None
    for length, entries in cursor.lexicon.matches(cursor.tokens, cursor.at):
        for entry in entries:
            if isinstance(entry, Verb) and entry.frame == "state" and entry.condition:
                cursor.at += length
                return Adjective(entry.word, entry.condition, False, entry.requires)
    return None


def predicate_goes_on(cursor: Cursor) -> bool:
    """Move over 'and' or a comma if another adjective or place follows it."""
    at = cursor.at
    if cursor.word(at) == ",":
        at += 1
    linker = cursor.function("and", at=at)
    at += linker.length if linker else 0
    copula = cursor.function("modal", "be", at=at)
    at += copula.length if copula else 0
    # A verb after 'and' begins a clause: 'the mug should be clean and put it on the table'.
    if at == cursor.at or cursor.verb(at) or cursor.split_verb(at):
        return False
    length = cursor.kind(Adjective, at)
    more = (
        (length and not cursor.named(at + length) and not cursor.copular(at))
        or cursor.function("prep", "placed", "unplaced", at=at)
        or (cursor.word(at) in {"on", "off"})
    )
    if not more:
        return False
    cursor.at = at
    return True
