"""Asides: words around a request that ask for nothing, and retractions.

wash the mug, no wait, the cup            a retraction: 'wash the cup'
i left my watch at home, bring it         a pronoun for what an aside is about
put it in the transparent bowl            an unknown adjective
bring me something to cut with            a purpose
the tomato is too warm                    a complaint, which hints at a request
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hvr.errors import LanguageError
from hvr.language.cursor import PAUSES, STOPS, Cursor
from hvr.language.lexicon import (
    PARTICLES,
    PURPOSELESS,
    Adjective,
    FunctionWord,
    Lexicon,
    Noun,
    Verb,
    plurals,
    stem,
)
from hvr.language.noun_phrases import read_thing
from hvr.language.taxonomy import literals, negated

_SUFFIXES = (
    "able",
    "ible",
    "al",
    "ful",
    "less",
    "ous",
    "ive",
    "ent",
    "ant",
    "ed",
    "en",
    "ish",
    "ic",
)
"""Endings of adjectives."""


def without_manner(cursor: Cursor) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words to keep and the words to ignore, both in order.

    Unknown adverbs of manner, unknown adjectives and the numbers of furniture are ignored.
    """
    manner = [
        n
        for n in range(len(cursor.tokens))
        if _is_adverb(cursor, n) or _describes(cursor, n) or _is_label(cursor, n)
    ]
    kept = tuple(word for n, word in enumerate(cursor.tokens) if n not in manner)
    return kept, tuple(cursor.tokens[n] for n in manner)


def with_referent(
    tokens: tuple[str, ...], asides: Sequence[str], lexicon: Lexicon
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Replace 'it' or 'them' by the only object in the asides, and 'there' by the only place.

    In 'I left my watch on the sofa, bring it', 'it' is the watch; the sofa is only its place. If
    there are several objects, the pronoun stays; words after the first noun are never replaced.
    Each replacement has a note.
    """
    words_told = (word.removesuffix("'s") for word in " , ".join(asides).split())
    told = Cursor(" ".join(asides), tuple(words_told), lexicon)
    things, places = _mentioned(told)
    notes: list[str] = []
    cursor = Cursor(" ".join(tokens), tokens, lexicon)
    pronouns = {"it", "them"}
    named = (
        n
        for n in range(len(tokens))
        if tokens[n] in pronouns or (cursor.named(n) and not cursor.verb(n))
    )
    at = next(named, len(tokens))
    words = list(tokens)
    for n, word in reversed(list(enumerate(tokens))):
        if n == at and word in pronouns and len(things) == 1:
            whole = tokens[n + 1 : n + 2] == ("all",)  # 'put them all on the table'
            words[n : n + 1 + whole] = f"{'all ' * whole}the {things[0]}".split()
        elif word == "there" and not any(map(cursor.named, range(n))) and len(places) == 1:
            words[n : n + 1] = places[0].split()
        else:
            continue
        notes.append(f"read {word!r} as {(places[0] if word == 'there' else things[0])!r}")
    return tuple(words), tuple(notes)


def _mentioned(told: Cursor) -> tuple[list[str], list[str]]:
    found: list[tuple[bool, bool, str]] = []
    places: list[str] = []
    opened, at = 0, 0
    while at < len(told.tokens):
        length = told.named(at)
        place = told.function("prep", at=at) if not length else None
        if length:
            name = " ".join(told.tokens[at : at + length])
            fixed = any(
                noun.object_class in told.lexicon.fixed for _, noun in told.entries(Noun, at)
            )
            found.append((bool(opened), fixed, name))
            if fixed and opened:
                places.append(f"{told.tokens[opened - 1]} the {name}")
        if place or told.function("from", "unplaced", "with", at=at):
            opened = at + 1
        elif not (told.function("det", "number", "ignored", at=at) or told.kind(Adjective, at)):
            opened = 0
        at += max(1, length)
    best = min((key for *key, _ in found), default=[])
    things = [name for *key, name in found if key == best]
    return list(dict.fromkeys(things)), list(dict.fromkeys(places))


def _is_adverb(cursor: Cursor, at: int) -> bool:
    named = cursor.function("det", at=max(0, at - 1)) and not cursor.starts_thing(at + 1)
    return cursor.word(at).endswith("ly") and not (cursor.longest(at) or named)


def _is_label(cursor: Cursor, at: int) -> bool:
    if not (cursor.word(at).isdecimal() or cursor.function("number", at=at)):
        return False
    fixed = any(
        length == at - n and noun.object_class in cursor.lexicon.fixed
        for n in range(max(0, at - 3), at)
        for length, noun in cursor.entries(Noun, n)
    )
    return fixed and not cursor.starts_thing(at + 1)


def _describes(cursor: Cursor, at: int) -> bool:
    """Return whether an unknown word modifies a noun: 'a transparent bowl', 'an ice cream bowl'."""
    if not cursor.longest(at) and cursor.word(at).endswith("'s"):
        return bool(cursor.named(at + 1))  # 'yesterday's paper'
    if cursor.longest(at) or not cursor.word(at).isalpha():
        return False
    after = at + 1
    if not cursor.word(at).endswith(_SUFFIXES):
        while cursor.word(after).isalpha() and not cursor.longest(after):
            after += 1
        compound = at and (cursor.named(at - 1) or cursor.named(max(0, at - 2)))
        return not compound and any(
            noun.object_class in cursor.lexicon.tableware for _, noun in cursor.entries(Noun, after)
        )
    while (length := cursor.kind(Adjective, after)) and not cursor.named(after):
        after += length
    return bool(cursor.named(after) or cursor.function("ignored", "slice", at=after))


def corrected(
    text: str, tokens: tuple[str, ...], lexicon: Lexicon
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Apply the first retraction: 'wash the mug, no wait, the cup' becomes 'wash the cup'.

    Return the words and a note with the result, or `tokens` and () if there is no retraction.
    """
    cursor = Cursor(text, tokens, lexicon)
    for at in range(1, len(tokens)):
        match = cursor.function("retract", at=at)
        if match is None or tokens[at - 1] not in PAUSES:
            continue
        end = at + match.length
        if match.length == 1 and cursor.word(end) not in PAUSES:
            continue  # 'no plate should be dirty'
        while end < len(tokens) and (tokens[end] in PAUSES or cursor.function("retract", at=end)):
            again = cursor.function("retract", at=end)
            end += again.length if again else 1
        if end >= len(tokens):
            return tokens, ()
        before = tokens[:at]
        while before and before[-1] in PAUSES:
            before = before[:-1]
        replaced = _replaced(Cursor(text, before, lexicon), cursor, end)
        now = (*before[:replaced], *tokens[end:])
        return now, (f"read as {' '.join(now).strip(' .!?')!r}",)
    return tokens, ()


def _replaced(before: Cursor, after: Cursor, at: int) -> int:
    if after.verb(at) or after.split_verb(at):
        starts = [n for n in range(len(before.tokens)) if before.verb(n) or before.split_verb(n)]
        stops = [n + 1 for n, word in enumerate(before.tokens) if word in STOPS | {","}]
        return (starts[-1:] or stops[-1:] or [0])[0]
    place = after.function("prep", "from", "unplaced", at=at)
    phrases = [
        n
        for n in range(len(before.tokens))
        if (before.function("prep", "from", "unplaced", at=n) if place else _thing_at(before, n))
    ]
    if len(phrases) != 1:
        words = " ".join(after.tokens[at : at + 6])
        raise LanguageError(f"it is not clear what {words!r} replaces: repeat the whole request")
    return phrases[0]


def _thing_at(cursor: Cursor, at: int) -> bool:
    """Return whether a noun phrase begins at a position; the cursor may move past it."""
    if cursor.starts_exactly(at) and not cursor.function("pronoun", at=at):
        cursor.at = at
        try:
            read_thing(cursor, "")
        except LanguageError:
            return False
        return True
    bare = cursor.named(at) and not (at and (cursor.starts_exactly(at - 1)))
    return bool(bare) and not cursor.verb(at)


# Purposes -----------------------------------------------------------------------------------------
# Objects named by their purpose: 'something to cut with', 'a soup serving tool'.
#
# The ontology gives the purposes of a class (`k:usedFor`). A general word such as 'tool' and the
# words around it name the classes whose purpose has exactly these words, or whose purposes and
# lasting features (`k:feature`) have them all.

_BEFORE, _AFTER = 3, 5
"""Numbers of words before and after a general noun in which its purpose is searched."""


_GENERAL = frozenset(
    "something anything tool tools device utensil implement instrument container item object "
    "vessel receptacle gadget thing equipment appliance holder furniture surface items "
    "things fabric material fixture source collection volume volumes devices tools objects "
    "containers utensils vegetable fruit place spot seat leaf".split()
)
"""Nouns that name no class, such as 'something' and 'container'."""

_PLACES = frozenset({"place", "spot"})
"""General nouns whose purpose must follow: 'the place where you sleep'."""

_OF = frozenset({"collection", "volume", "volumes", "source"})
"""General nouns whose purpose or content may follow 'of'."""

_SETS = (("set", "of"), ("sets", "of"))

_MOST_KINDS = 6
"""Maximum number of classes that a description may leave open."""

_WHOLE = frozenset({"all", "every", "each"})
"""Determiners after which each of several kinds is meant."""

_PRONOUNS = frozenset({"something", "anything"})
"""General words without an article."""


def with_names(
    text: str, tokens: tuple[str, ...], lexicon: Lexicon
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Replace descriptions such as 'something to cut with' by nouns that fit, such as 'a knife'.

    Several nouns are joined by 'or' or, after 'all', by 'and'. Each replacement has a note.
    """
    notes: list[str] = []
    at = 0
    while at < len(tokens):
        cursor = Cursor(text, tokens, lexicon)
        found = _described(cursor, at) if tokens[at] in _GENERAL else None
        if found is not None:
            start, end, names = found
            article = ("a",) if start == at and tokens[at] in _PRONOUNS else ()
            whole = tokens[start - 1] if start and tokens[start - 1] in _WHOLE else ""
            words = (f" and {whole} " if whole else " or a ").join(names).split()
            notes.append(f"read {' '.join(tokens[start:end])!r} as {' or '.join(names)!r}")
            tokens = (*tokens[:start], *article, *words, *tokens[end:])
            at = start + len(words)
        at += 1
    return tokens, tuple(notes)


def _described(cursor: Cursor, at: int) -> tuple[int, int, tuple[str, ...]] | None:
    head = cursor.word(at)
    first = at
    while first > max(0, at - _BEFORE) and _modifies(cursor, first - 1):
        first -= 1
    for start in range(first, at + 1):
        before = frozenset(map(stem, cursor.tokens[start:at]))
        for end, words in _complements(cursor, at + 1):
            if head in _PLACES and start == at and end == at + 1:
                continue  # 'place' is a verb, too
            wanted = before | words
            if head in _PRONOUNS and end - at - 1 == cursor.kind(Adjective, at + 1) > 0:
                continue  # 'something clean' states no purpose, unlike 'something to clean with'
            names = cursor.lexicon.purposes.get(wanted, ())
            if head not in _PRONOUNS or wanted & cursor.lexicon.descriptive:
                names = names or _with_features(cursor.lexicon, wanted, stem(head))
            if names:
                sets = 2 * (cursor.tokens[max(0, start - 2) : start] in _SETS)
                if head.endswith("s"):
                    names = tuple(plurals(name)[0] for name in names)
                return start - sets, end, names
    return None


def _modifies(cursor: Cursor, at: int) -> bool:
    if stem(cursor.word(at)) in cursor.lexicon.descriptive:
        return True
    little = (e.role for n, e in cursor.entries(FunctionWord, at) if n == 1)
    return cursor.word(at) not in PARTICLES | PAUSES and set(little) <= {"ignored"}


def _with_features(lexicon: Lexicon, words: frozenset[str], head: str) -> tuple[str, ...]:
    found = [
        name
        for name, features in lexicon.features.items()
        if words <= features | lexicon.uses.get(name, frozenset())
        and (head not in lexicon.descriptive or head in features)
    ]
    return tuple(found) if words and len(found) <= _MOST_KINDS else ()


def _complements(cursor: Cursor, at: int) -> Iterator[tuple[int, frozenset[str]]]:
    link = cursor.function("serving", *("of",) * (cursor.word(at - 1) in _OF), at=at)
    phrases: list[tuple[int, frozenset[str]]] = [(at, frozenset())]
    words: frozenset[str] = frozenset()
    end = at + (link.length if link else 0)
    after = link or cursor.word(at - 1) in _PRONOUNS  # 'something soft'
    limit = end + _AFTER if after else end
    while end < min(limit, len(cursor.tokens)) and cursor.word(end) not in PAUSES:
        word = cursor.word(end)
        end += 1
        if word not in PURPOSELESS and word != "and":
            words |= {stem(word)}
            last = int(cursor.word(end) in PURPOSELESS and not cursor.starts_thing(end + 1))
            if end + last >= len(cursor.tokens) or not _modifies(cursor, end + last) or not link:
                phrases.append((end + last, words))
    return iter(phrases[::-1])


# Complaints ---------------------------------------------------------------------------------------
#     complaint := ('why')? thing copula ('not' | degree)? state
#                | person 'left' thing state
#                | thing ('needs' | 'could do with') 'a' adjective* verb
#
# The request ends the state, or brings it about if the complaint denies it. hvr asks about it.

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
    """Return the words of the request that a complaint hints at; empty for any other text."""
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
    """Return a verb that achieves a condition, such as 'wash'; empty if there is none."""
    wanted = literals(condition)
    verbs = (
        verb.word
        for entries in lexicon.entries.values()
        for verb in entries
        if isinstance(verb, Verb) and wanted and wanted <= literals(verb.condition or "")
    )
    return next(verbs, "")
