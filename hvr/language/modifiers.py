"""The grammar of what stands before a noun: determiners, numbers and adjectives."""

from __future__ import annotations

from hvr.errors import LanguageError
from hvr.language.cursor import Cursor
from hvr.language.lexicon import Adjective, FunctionWord
from hvr.language.literals import negated
from hvr.language.syntax import Determiner

MOST = 20
"""The largest number that is read; no kitchen holds more of a kind."""


def read_determiner(cursor: Cursor) -> Determiner:
    """Read determiners and numbers: 'the', 'two', 'all of the', 'another' …

    Raises:
        LanguageError: the number is beyond all kitchens.
    """
    count: int | None = None
    definite = other = each = both = apart = False
    while not cursor.done:
        if cursor.word().isdecimal():
            count = int(cursor.word())
            cursor.at += 1
            cursor.take("of")
            continue
        number, determiner = cursor.function("number"), cursor.function("det")
        if number and (determiner is None or number.length >= determiner.length):
            cursor.at += number.length
            count = count or int(number.entry.value)  # 'two of the three'
            cursor.take("of")
            continue
        if determiner is None or cursor.named() > determiner.length:
            break
        each = each or cursor.word() in {"each", "every"}
        cursor.at += determiner.length
        value = determiner.entry.value
        if value == "the":
            definite = True
        elif value == "other":
            other = True
        elif value == "own":  # 'in its own cabinet'
            apart = True
        elif value == "both":
            definite = both = True
        elif value == "rest":  # 'the rest of the slices'
            definite = other = True
            count = 0
        elif count is None:
            count = int(value)
    if count is not None and count > MOST:
        raise LanguageError(f"{count} of them are more than hvr reads")
    return Determiner(count, definite, other, each, apart, both)


def read_adjectives(cursor: Cursor) -> tuple[Adjective, ...]:
    """Read the adjectives before a noun; add a note for those that hvr ignores."""
    adjectives: list[Adjective] = []
    while not cursor.done:
        length = cursor.kind(Adjective)
        if length and length >= cursor.named():
            adjectives.append(cursor.take_adjective())
            linker = cursor.function("and")
            if cursor.word() == "," and (cursor.named(cursor.at + 1) or _slice_next(cursor)):
                cursor.at += 1  # 'a chilled, slice of bread'
            after = cursor.at + (linker.length if linker else int(cursor.word() == ","))
            if after > cursor.at and cursor.kind(Adjective, after):
                cursor.at = after
            continue
        passed = cursor.function("filler", "unheeded")
        if passed is None or cursor.named():
            break
        cursor.unheeded(passed)
        cursor.at += passed.length
    return tuple(adjectives)


def _slice_next(cursor: Cursor) -> bool:
    return cursor.function("slice", at=cursor.at + 1) is not None


def deny(adjective: Adjective) -> Adjective:
    """Return an adjective the other way round: not dirty."""
    return adjective.replace(
        word=f"not {adjective.word}",
        condition=negated(adjective.condition),
        selects=False,
    )


def several(determiner: Determiner, word: FunctionWord) -> Determiner:
    """Count slices: 'slices' are some, 'the slices' are all, 'a slice' is one."""
    if determiner.count is not None:
        return determiner
    count = 2 if determiner.both else int(word.value)
    if count < 0 and determiner.definite:
        count = 0
    return Determiner(count, determiner.definite, determiner.other)
