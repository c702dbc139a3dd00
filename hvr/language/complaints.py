"""Complaints, which hint at a request: 'the tomato is too warm', 'the fridge was left open'.

    complaint := ('why')? thing copula ('not' | degree)? state
               | person 'left' thing state
               | thing ('needs' | 'could do with') 'a' adjective* verb

The request ends the state, or brings it about if the complaint denies it. hvr asks about it.
"""

from __future__ import annotations

from hvr.language.cursor import PAUSES, Cursor
from hvr.language.lexicon import Adjective, Lexicon, Verb
from hvr.language.taxonomy import literals, negated

_COPULAS = frozenset(
    "is are isn't aren't looks look seems seem smells smell feels feel got has have was "
    "were".split()
)
_MORE = frozenset("been gone getting going become becoming left turned".split())
"""Participles between a copula and a state: 'has been left open'."""
_DEGREES = frozenset(
    "too still so very all wide rather awfully terribly pretty completely totally always again "
    "far way much bit a".split()
)
_STRONG = frozenset({"too", "still", "wide", "always", "left"})
"""Words that make a complaint of any state."""
_PERSONS = frozenset("someone somebody they you he she we i who".split())
_LACKING = ("could do with", "could use", "needs", "need", "wants", "deserves", "requires")


def complaint(tokens: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """Return the request that a complaint hints at, in words; empty for other words."""
    while tokens and tokens[-1] in PAUSES:
        tokens = tokens[:-1]
    if tokens[:1] == ("why",) and len(tokens) > 1 and tokens[1] in _COPULAS:
        tokens = _asked(tokens, lexicon)
    cursor = Cursor(" ".join(tokens), tokens, lexicon)
    if any(word in PAUSES for word in tokens):
        return ()
    for at in range(1, len(tokens) - 1):
        if tokens[at] in _COPULAS and _is_thing(cursor, 0, at):
            return _about(cursor, tokens[:at], at)
        if tokens[at] == "left" and tokens[at - 1] in _PERSONS and at == 1:
            return _left(cursor, at + 1)
        lacks = next((w for w in map(str.split, _LACKING) if tokens[at : at + len(w)] == (*w,)), ())
        if lacks and _is_thing(cursor, 0, at):
            return _lacking(cursor, tokens[:at], at + len(lacks))
    return ()


def _asked(tokens: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """Turn a question into a statement: 'why is the light on' becomes 'the light is on'."""
    cursor = Cursor(" ".join(tokens), tokens, lexicon)
    for at in range(len(tokens) - 1, 2, -1):
        if _is_thing(cursor, 2, at):
            return (*tokens[2:at], tokens[1], *tokens[at:])
    return tokens


def _is_thing(cursor: Cursor, start: int, end: int) -> bool:
    """Return whether words form a noun phrase that ends with its noun."""
    named = any(cursor.named(n) == end - n for n in range(start, end))
    return named and all(
        cursor.named(n)
        or cursor.function("det", "of", "ignored", at=n)
        or cursor.kind(Adjective, n)
        or any(cursor.named(m) > n - m for m in range(start, n))
        for n in range(start, end)
    )


def _about(cursor: Cursor, thing: tuple[str, ...], at: int) -> tuple[str, ...]:
    denied = cursor.word(at).endswith("n't")
    strong = cursor.word(at) in {"got"}
    at += 1
    while (word := cursor.word(at)) in _DEGREES | _MORE | {"not"} and not cursor.kind(
        Adjective, at
    ):
        denied = denied or word == "not"
        strong = strong or word in _STRONG
        at += 1
    return _remedy(cursor, thing, at, denied=denied, strong=strong)


def _left(cursor: Cursor, start: int) -> tuple[str, ...]:
    for at in range(start + 1, len(cursor.tokens)):
        if _is_thing(cursor, start, at):
            thing = cursor.tokens[start:at]
            if found := _remedy(cursor, thing, at, denied=False, strong=True):
                return found
    return ()


def _lacking(cursor: Cursor, thing: tuple[str, ...], at: int) -> tuple[str, ...]:
    at = cursor.after("det", at) if cursor.function("det", at=at) else len(cursor.tokens)
    last = len(cursor.tokens) - 1
    verb = next((v for n, v in cursor.entries(Verb, last) if n == 1 and v.frame == "state"), None)
    modified = all(cursor.function("filler", "ignored", at=n) for n in range(at, last))
    return (verb.word, *thing) if verb and modified and at <= last else ()


def _remedy(
    cursor: Cursor, thing: tuple[str, ...], at: int, *, denied: bool, strong: bool
) -> tuple[str, ...]:
    state = cursor.tokens[at:]
    while (
        state and cursor.lexicon.lookup(state[-1]) and state[-1] in {"now", "again", "here", "in"}
    ):
        state = state[:-1]
    lexicon = cursor.lexicon
    if verb := lexicon.remedies.get(state, "") if not denied else "":
        known = any(isinstance(e, Adjective) for e in lexicon.entries.get(state, ()))
        return (*verb.split(), *thing) if strong or not known else ()
    entries = lexicon.entries.get(("switched", *state) if state in _PARTICLES else state, ())
    adjective = next((e for e in entries if isinstance(e, Adjective)), None)
    if adjective is None or not (denied or strong or adjective.selects):
        return ()
    wanted = adjective.condition if denied else negated(adjective.condition)
    verb = verb_for(lexicon, wanted)
    return (*verb.split(), *thing) if verb else ()


_PARTICLES = {("on",), ("off",)}


def verb_for(lexicon: Lexicon, condition: str) -> str:
    """Return a verb that brings a condition about, such as 'wash'; empty if there is none."""
    wanted = literals(condition)
    verbs = (
        verb.word
        for entries in lexicon.entries.values()
        for verb in entries
        if isinstance(verb, Verb) and wanted and wanted <= literals(verb.condition or "")
    )
    return next(verbs, "")
