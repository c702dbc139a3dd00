"""Asides: words around a request that ask for nothing, and retractions.

    after a long day, wash the mug            a circumstance
    could you wash the mug? i am late         a comment
    wash the mug, no wait, the cup            a retraction: 'wash the cup'

An aside is a phrase between pauses that begins like a circumstance or a comment, or the end of a
phrase that gives a reason. A phrase that asks for an action on a known thing is never an aside.
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
from hvr.values import Value

_STATES = frozenset("is are was were has have had looks look seems seem smells feels".split())
"""Verbs of statements about the world. 'Should be' is none of them, because it asks for
something.
"""

_OWNERS = frozenset({"my", "your", "our", "his", "her", "their"})

_FINITE = frozenset("is are will helps makes keeps ensures creates simplifies gives".split())


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

_PERSONS = frozenset(
    "i i'm i've i'll we we're we've we'll he he's she she's they they're "
    "it it's this that that's there's".split()
)
"""Subjects of statements that do not tell the robot what to do."""


_STATED = frozenset({"as you", "as your", "despite", "in spite of", "even with", "speaking of"})
"""Beginnings of circumstances that never request their contents: 'as you clear the table, …'."""


_BINDING = (
    "forbid", "without", "none", "except", "instead", "dismiss", "ensure", "modal", "needing",
    "until", "unsupported", "be not", "be never", "before", "after",
)  # fmt: skip
"""Roles of words that restrict the request."""


class Pruned(Value):
    tokens: tuple[str, ...]
    asides: tuple[str, ...] = ()


def pruned(text: str, tokens: tuple[str, ...], lexicon: Lexicon) -> Pruned:
    """Return a request without its asides."""
    cursor = Cursor(text, tokens, lexicon)
    kept: list[str] = []
    asides: list[str] = []
    result = False
    phrases = list(_phrases(cursor))
    for number, (start, end) in enumerate(phrases):
        if not kept and _is_chat(cursor, start, end):
            asides.append(" ".join(tokens[start:end]))
            continue
        result = cursor.function("result", at=start) is not None or (
            result and not (start and tokens[start - 1] in STOPS)
        )
        praised = _praised(cursor, number, phrases)
        cut = start if result else praised or _aside(cursor, start, end)
        if _locates(cursor, number, phrases):
            cut = start
        if cut is None:
            manner = [
                n
                for n in range(start, end)
                if _is_adverb(cursor, n) or _describes(cursor, n) or _is_label(cursor, n)
            ]
            asides += [tokens[n] for n in manner]
            kept += [tokens[n] for n in range(start, min(end + 1, len(tokens))) if n not in manner]
            continue
        if not _is_courtesy(cursor, cut, end):
            asides.append(" ".join(tokens[cut:end]))
        pause = tokens[end : end + 1]
        kept += tokens[start:cut]
        if kept and kept[-1] not in PAUSES:
            kept += pause
    while kept and kept[0] in PAUSES | {"and", "but"}:
        kept.pop(0)
    return Pruned(tuple(kept), tuple(asides))


def _praised(cursor: Cursor, number: int, phrases: Sequence[tuple[int, int]]) -> int:
    """Return where praise after the only request begins, or 0."""
    # In 'putting the keys on the shelf helps you find them', the subject is the request.
    start, end = phrases[number]
    at = next((n for n in range(start + 1, end) if cursor.word(n) in _FINITE), 0)
    asked = at and cursor.word(start).endswith("ing") and cursor.kind(Verb, start)
    named = asked and any(cursor.named(n) for n in range(start, at))
    others = (_asks(cursor, *phrase) for n, phrase in enumerate(phrases) if n != number)
    return at if named and _asks(cursor, start, at) and not any(others) else 0


def _locates(cursor: Cursor, number: int, phrases: Sequence[tuple[int, int]]) -> bool:
    """Return whether a phrase reports where something is: 'on the desk, there's a pen'."""
    after = cursor.word(phrases[number + 1][0]) if number + 1 < len(phrases) else ""
    place = cursor.function("prep", "unplaced", at=phrases[number][0])
    return after in {"there", "there's"} and place is not None


def _phrases(cursor: Cursor) -> Iterator[tuple[int, int]]:
    """Yield start and end of each phrase between pauses; 'so' before a verb is also a pause."""
    tokens, start = cursor.tokens, 0
    for at in range(len(tokens) + 1):
        ends = at == len(tokens) or tokens[at] in PAUSES
        begins = cursor.clause_starts(at + 1) or cursor.function("light", "forbid", at=at + 1)
        if ends or (tokens[at] == "so" and begins):
            if at > start:
                yield start, at
            start = at + 1


def _aside(cursor: Cursor, start: int, end: int) -> int | None:
    opened = cursor.function("circumstance", at=start)
    stated = (
        cursor.word(start) in _PERSONS
        or _is_question(cursor, start, end)
        or (opened is not None and _is_own_affair(cursor, start + 1, end))
        or (cursor.word(start).endswith("ing") and _is_statement(cursor, start, end))
        or (opened is not None and opened.entry.value in _STATED)
    )
    if _opens(cursor, start, end) and (stated or not _asks(cursor, start, end)):
        return start
    for at in range(start + 1, end):
        reason = cursor.function("reason", at=at)
        if reason and at + reason.length < end and not _asks(cursor, at, end):
            return at
        if _is_occasion(cursor, at, end) or _is_unknown_landmark(cursor, start, at, end):
            return at
    return None


def _opens(cursor: Cursor, start: int, end: int) -> bool:
    """Return whether a phrase begins like a circumstance or a comment."""
    if _is_courtesy(cursor, start, end) or cursor.function("reason", "circumstance", at=start):
        return True
    if _is_question(cursor, start, end):
        return True
    subject = cursor.function("subject", at=start)
    if subject and _has_unknown(cursor, start, end) and not _is_about_known(cursor, start, end):
        return True  # 'I want to sleep'
    if subject:
        wish = cursor.function("goal", "filler", "needing", "ensure", "dismiss", at=start)
        asked = any(cursor.function("modal", "needing", at=at) for at in range(start, end))
        return not asked and (wish is None or wish.length <= subject.length)
    if cursor.word(start).endswith("ing") and _is_statement(cursor, start, end):
        return True
    if start and cursor.word(start).endswith("ing") and _has_unknown(cursor, start, end):
        return True  # ', making the cleaning straightforward'
    gerund = _is_gerund(cursor, start) and start + 1 < end
    return gerund or _is_about_unknown(cursor, start, end) or _is_remark(cursor, start, end)


def _is_about_known(cursor: Cursor, start: int, end: int) -> bool:
    """Return whether words name a thing or a state, or refer to one ('I should like it filled')."""
    return any(
        cursor.named(at)
        or cursor.kind(Adjective, at)
        or cursor.function("modal", "pronoun", at=at + (at == start))
        for at in range(start, end)
    )


def _is_chat(cursor: Cursor, start: int, end: int) -> bool:
    """Return whether an introductory phrase names no thing and forbids nothing: 'brb, …'."""
    if not _has_unknown(cursor, start, end) or cursor.function("det", "number", at=start):
        return False
    after = end + 1 + (cursor.word(end + 1) in {"and", "but", "so"})
    follows = cursor.clause_starts(after) or cursor.function("subject", "filler", at=after)
    return bool(follows) and not any(
        cursor.named(at)
        or cursor.kind(Verb, at)
        or cursor.kind(Adjective, at)
        or cursor.function(*_BINDING, at=at)
        for at in range(start, end)
    )


def _is_remark(cursor: Cursor, start: int, end: int) -> bool:
    """Return whether a phrase says of a known thing what hvr does not know: 'the egg is sleepy'."""
    said = (
        at for at in range(start + 1, end) if cursor.word(at) in _STATES or _is_past(cursor, at)
    )
    at = next(said, end)
    return (
        any(cursor.named(n) for n in range(start, at))
        and _has_unknown(cursor, at, end)
        and not any(cursor.function(*_BINDING, at=n) for n in range(start, end))
    )


def _is_past(cursor: Cursor, at: int) -> bool:
    """Return whether an unknown verb in the past tense follows a thing: 'the pan stayed …'."""
    known = cursor.longest(at) or not cursor.word(at).endswith("ed")
    return not known and any(cursor.named(n) == at - n for n in range(max(0, at - 3), at))


def _is_question(cursor: Cursor, start: int, end: int) -> bool:
    """Return whether a question precedes a request: 'where is the mug? bring it'."""
    asked = cursor.word(start) in {"where", "where's", "who", "who's", "whose", "why"}
    return asked and any(_asks(cursor, n, len(cursor.tokens)) for n in range(end, end + 1))


def with_referent(
    tokens: tuple[str, ...], asides: Sequence[str], lexicon: Lexicon
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Replace the first pronoun by the only thing that the asides mention; also return notes.

    In 'I left my watch on the sofa, bring it', 'it' is the watch; the sofa is only its place.
    """
    told = Cursor(" ".join(asides), tuple(" , ".join(asides).split()), lexicon)
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
            words[n : n + 1] = f"the {things[0]}".split()
        elif word == "there" and not any(map(cursor.named, range(n))) and len(places) == 1:
            words[n : n + 1] = places[0].split()
        else:
            continue
        notes.append(f"read {word!r} as {(places[0] if word == 'there' else things[0])!r}")
    return tuple(words), tuple(notes)


def _mentioned(told: Cursor) -> tuple[list[str], list[str]]:
    """Return the things that asides mention, and the places with their prepositions."""
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


def _is_own_affair(cursor: Cursor, at: int, end: int) -> bool:
    """Return whether words say what people do with their own things: 'sorting your music'."""
    doing = cursor.word(at).endswith("ing") and at + 1 < end
    return doing and any(cursor.word(n) in _OWNERS for n in range(at + 1, min(at + 3, end)))


def _has_unknown(cursor: Cursor, start: int, end: int) -> bool:
    return any(not cursor.longest(at) for at in range(start, end))


def _is_statement(cursor: Cursor, start: int, end: int) -> bool:
    """Return whether a phrase comments on a purpose: 'preparing it will be a breeze'."""
    return any(cursor.word(at) in _FINITE for at in range(start + 1, end))


def _is_courtesy(cursor: Cursor, start: int, end: int) -> bool:
    match = cursor.function("courtesy", at=start)
    return match is not None and start + match.length == end


def _is_about_unknown(cursor: Cursor, start: int, end: int) -> bool:
    """Return whether a phrase states something about an unknown thing: 'the guests have come'."""
    match = cursor.function("det", at=start)
    at = start + (match.length if match else 0)
    if match is None or cursor.named(at) or cursor.kind(Adjective, at) or cursor.kind(Verb, at):
        return False
    return any(cursor.word(n) in _STATES for n in range(at + 1, min(at + 3, end)))


def _is_gerund(cursor: Cursor, at: int) -> bool:
    word = cursor.word(at)
    return word.endswith("ing") and not cursor.longest(at)


def _is_adverb(cursor: Cursor, at: int) -> bool:
    """Return whether an unknown word is an adverb of manner: 'safely'."""
    named = cursor.function("det", at=max(0, at - 1)) and not cursor.starts_thing(at + 1)
    return cursor.word(at).endswith("ly") and not (cursor.longest(at) or named)


def _is_label(cursor: Cursor, at: int) -> bool:
    """Return whether a number only labels a piece of furniture: 'burner 3', 'drawer two'."""
    if not (cursor.word(at).isdecimal() or cursor.function("number", at=at)):
        return False
    fixed = any(
        length == at - n and noun.object_class in cursor.lexicon.fixed
        for n in range(max(0, at - 3), at)
        for length, noun in cursor.entries(Noun, n)
    )
    return fixed and not cursor.starts_thing(at + 1)


def _describes(cursor: Cursor, at: int) -> bool:
    """Return whether an unknown adjective precedes a known noun: 'a transparent bowl'.

    Before tableware, this includes an unknown noun: 'an ice cream bowl'.
    """
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


def _asks(cursor: Cursor, start: int, end: int) -> bool:
    """Return whether words ask for an action on a known thing, or for a number of things."""
    opened = cursor.function("circumstance", at=start)
    if (
        opened
        and opened.entry.value == "for"
        and any(
            cursor.word(at).isdecimal() or cursor.function("number", at=at)
            for at in range(start, end)
        )
    ):
        return True
    return any(
        (length := cursor.kind(Verb, at) or int(_is_gerund(cursor, at)))
        and _has_object(cursor, at + length, end)
        for at in range(start, end)
    )


def _has_object(cursor: Cursor, at: int, end: int) -> bool:
    """Return whether a known noun follows after nothing but determiners and adjectives."""
    while at < end:
        if cursor.named(at) or cursor.function("pronoun", at=at):
            return True
        passed = cursor.function("det", "number", "ignored", "slice", "of", at=at)
        if passed is None:
            return False
        at += passed.length
    return False


def _is_unknown_landmark(cursor: Cursor, start: int, at: int, end: int) -> bool:
    """Return whether a phrase ends with a place near an unknown thing: '… next to the vault'.

    It must also name a known place, so that only the landmark is ignored.
    """
    near = cursor.function("unplaced", at=at)
    if near is None or at + near.length >= end or cursor.longest(end - 1):
        return False
    words = range(at + near.length, end - 1)
    return any(cursor.function("prep", at=n) for n in range(start, at)) and not any(
        cursor.function("prep", "and", "then", at=n) for n in words
    )


def _is_occasion(cursor: Cursor, at: int, end: int) -> bool:
    """Return whether a phrase ends with an unknown occasion: 'before my meeting at nine'."""
    opened = cursor.function("occasion", at=at)
    if opened is None:
        return False
    words = range(at + opened.length, end)
    known = any(cursor.named(n) or cursor.kind(Verb, n) for n in words)
    return bool(words) and not known


def corrected(
    text: str, tokens: tuple[str, ...], lexicon: Lexicon
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Carry out retractions ('wash the mug, no wait, the cup'); return the words and notes."""
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
    """Return whether a noun phrase begins at a position, with or without a determiner."""
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

_PRONOUNS = frozenset({"something", "anything"})
"""General words without an article."""


def with_names(
    text: str, tokens: tuple[str, ...], lexicon: Lexicon
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Replace things described by a purpose by their names; return the words and notes."""
    notes: list[str] = []
    at = 0
    while at < len(tokens):
        cursor = Cursor(text, tokens, lexicon)
        found = _described(cursor, at) if tokens[at] in _GENERAL else None
        if found is not None:
            start, end, names = found
            article = ("a",) if start == at and tokens[at] in _PRONOUNS else ()
            words = " or a ".join(names).split()
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
    """Return whether a word can belong to the description of the noun after it."""
    if stem(cursor.word(at)) in cursor.lexicon.descriptive:
        return True
    little = (e.role for n, e in cursor.entries(FunctionWord, at) if n == 1)
    return cursor.word(at) not in PARTICLES | PAUSES and set(little) <= {"ignored"}


def _with_features(lexicon: Lexicon, words: frozenset[str], head: str) -> tuple[str, ...]:
    """Return the names of the classes that have all features of a description, if only a few do."""
    found = [
        name
        for name, features in lexicon.features.items()
        if words <= features | lexicon.uses.get(name, frozenset())
        and (head not in lexicon.descriptive or head in features)
    ]
    return tuple(found) if words and len(found) <= _MOST_KINDS else ()


def _complements(cursor: Cursor, at: int) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield ends and words of the phrases of purpose after a general noun, longest first."""
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
