"""Phrases that are put together, or stand for others: 'a tomato and lettuce salad', 'breakfast:
toast and coffee', 'put the kettle on'.
"""

from __future__ import annotations

from hvr.errors import LanguageError
from hvr.language.cursor import STOPS, Cursor
from hvr.language.lexicon import Dish, Lexicon, Noun, Part, Verb


def plainly(tokens: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """Return the words of a request with what idioms stand for.

    An idiom ends its clause: 'put the kettle on', but not 'put the kettle on the stove'. What is
    so meanwhile is one more thing to reach: 'turn on the lamp while holding the book'.
    """
    words: list[str] = []
    at = 0
    while at < len(tokens):
        key = next((k for k in lexicon.idioms if tokens[at : at + len(k)] == k), None)
        after = tokens[at + len(key) :][:1] if key else ()
        if key and (not after or after[0] in STOPS or after[0] in {",", "and", "then", "before"}):
            words += lexicon.idioms[key]
            at += len(key)
        else:
            meanwhile = tokens[at] == "while" and _begins_verb(tokens[at + 1 :], lexicon)
            words.append("and" if meanwhile else tokens[at])
            at += 1
    return tuple(words)


def _begins_verb(tokens: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Say whether a verb comes first: 'holding'."""
    return any(
        isinstance(entry, Verb) for _, entries in lexicon.matches(tokens, 0) for entry in entries
    )


def skip_meal(cursor: Cursor) -> None:
    """Move over the name of a meal before what it consists of: 'breakfast: toast and coffee'.

    Raises:
        LanguageError: nothing says what it consists of.
    """
    start = cursor.at
    cursor.take("det")
    meal = cursor.function("meal")
    if meal is None or cursor.named() > meal.length:
        cursor.at = start
        return
    name = cursor.word()
    cursor.at += meal.length
    if cursor.word() == ",":
        cursor.at += 1
    cursor.take("of", "with")
    if not cursor.starts_thing():
        example = cursor.lexicon.examples.get("meal")
        told = f", for example '{name}: {example}'" if example else ""
        raise LanguageError(f"{name} can be many things: say which{told}")


def compound_dish(cursor: Cursor) -> tuple[int, Dish] | None:
    """Return the length and the dish of what is named by its fillings, if such a name starts here:
    'tomato and lettuce salad'.
    """
    at = cursor.at
    fillings: list[Part] = []
    while True:
        length, part = _filling(cursor, at)
        if part is None:
            return None
        fillings.append(part)
        at += length
        dish, size = _dish(cursor, at)
        if dish is not None:
            parts = (*dish.base, *(p for p in dict.fromkeys(fillings) if p not in dish.base))
            word = " ".join(cursor.tokens[cursor.at : at + size])
            return at + size - cursor.at, Dish(word, dish.vessels, parts=parts, base=dish.base)
        if cursor.word(at) == ",":
            at += 1
        linker = cursor.function("and", at=at)
        at += linker.length if linker else 0


def _filling(cursor: Cursor, at: int) -> tuple[int, Part | None]:
    """Return the length of a noun, and the part of a dish that it names."""
    for length, entries in cursor.lexicon.matches(cursor.tokens, at):
        for entry in entries:
            if isinstance(entry, Noun) and entry.object_class in cursor.lexicon.fillings:
                return length, cursor.lexicon.fillings[entry.object_class]
    return 0, None


def _dish(cursor: Cursor, at: int) -> tuple[Dish | None, int]:
    """Return a dish of parts in a vessel, with its length."""
    for length, entries in cursor.lexicon.matches(cursor.tokens, at):
        for entry in entries:
            if isinstance(entry, Dish) and entry.parts and entry.vessels:
                return entry, length
    return None, 0
