"""The noun phrases of a turn of a dialogue, and the objects of their classes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress

from hvr.errors import HvrError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.cursor import Cursor
from hvr.language.grammar import Reader
from hvr.language.lexicon import tokenize
from hvr.language.noun_phrases import read_thing
from hvr.language.spelling import corrections
from hvr.language.statements import is_question
from hvr.language.syntax import NounPhrase
from hvr.values import Value

GOVERNORS = ("prep", "from", "unplaced", "with")


class PhraseSpan(Value):
    """A noun phrase in a request.

    Args:
        start, end: Range of the indices of its words in the request.
        preposition: Index of its preposition's first word; equal to `start` if it has none.
    """

    start: int
    end: int
    preposition: int
    thing: NounPhrase

    @property
    def governed(self) -> bool:
        return self.preposition < self.start


class PhraseReader:
    """Finds the noun phrases in a text."""

    def __init__(self, reader: Reader, inventory: Inventory) -> None:
        self.reader = reader
        self.inventory = inventory

    def names_at(self, tokens: Sequence[str], at: int) -> bool:
        cursor = Cursor("", tuple(tokens), self.reader.lexicon)
        cursor.at = at
        return bool(cursor.named() and not cursor.verb()) or cursor.is_name()

    def has_verb(self, text: str) -> bool:
        if not text.strip() or is_question(text):
            return bool(text.strip())
        cursor = self.cursor(text)
        return any(cursor.clause_starts(at) for at in range(min(3, len(cursor.tokens))))

    def cursor(self, text: str) -> Cursor:
        (spelt, *_) = corrections(tokenize(text), self.reader.lexicon)
        return Cursor(text, spelt.tokens, self.reader.lexicon)

    def spans(self, text: str) -> tuple[tuple[str, ...], list[PhraseSpan]]:
        """Return the words of the text and its noun phrases, except those that cannot be read."""
        if not text.strip():
            return (), []
        cursor = self.cursor(text)
        found: list[PhraseSpan] = []
        at = 0
        while at < len(cursor.tokens):
            cursor.at = at
            if (verb := cursor.verb()) is not None:
                at += verb.length
                continue
            governor = cursor.function(*GOVERNORS)
            start = at + governor.length if governor else at
            cursor.at = start
            thing = None
            if cursor.starts_exactly(start) or cursor.named(start):
                with suppress(HvrError):
                    thing = read_thing(cursor, "")
            elif cursor.take("det") and cursor.word().isalpha() and not cursor.longest():
                thing = NounPhrase("noun", cursor.word())  # an unknown noun
                cursor.at += 1
            if thing is None:
                at += 1
                continue
            found.append(PhraseSpan(start, cursor.at, at if governor else start, thing))
            at = max(cursor.at, at + 1)
        return cursor.tokens, found

    def only_names(self, rest: str) -> bool:
        tokens, spans = self.spans(rest)
        return len(spans) == 1 and (spans[0].start, spans[0].end) == (0, len(tokens))

    def is_portable(self, thing: NounPhrase) -> bool:
        classes = self.classes_of(thing)
        return bool(classes & set(self.reader.taxonomy.portable)) or not (thing.nouns or classes)

    def classes_of(self, thing: NounPhrase) -> set[str]:
        if thing.kind == "name":
            return {self.inventory.classes.get(thing.text, "")}
        if thing.kind == "slices" and thing.of is not None:
            return {p for c in self.classes_of(thing.of) for p in self.reader.taxonomy.slices(c)}
        return set(self.reader.taxonomy.concrete_of(thing.classes))

    def objects(self, kinds: Collection[str]) -> list[str]:
        names = [n for c in kinds for n in self.inventory.of(c)]
        return sorted(names, key=lambda n: (n.rpartition("-")[0], len(n), n))


def coordinated(tokens: Sequence[str], spans: Sequence[PhraseSpan]) -> list[PhraseSpan]:
    """Merge phrases joined by 'and' or 'or', so that 'the mug and the cup' is replaced as one."""
    joined: list[PhraseSpan] = []
    for span in spans:
        last = joined[-1] if joined else None
        if last and not span.governed and {*tokens[last.end : span.start]} <= {"and", "or", ","}:
            joined[-1] = last.replace(end=span.end)
        else:
            joined.append(span)
    return joined
