"""The memory of a dialogue, and the noun phrases of a turn."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from hvr.errors import HvrError
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.answers import ORDINALS
from hvr.language.cursor import Cursor
from hvr.language.grammar import Reader
from hvr.language.lexicon import tokenize
from hvr.language.noun_phrases import read_thing
from hvr.language.spelling import corrections
from hvr.language.statements import is_question
from hvr.language.syntax import NounPhrase
from hvr.values import Value

MANY = frozenset({"them", "they", "those", "these"})
PRONOUNS = MANY | {"it", "that", "this"}
GOVERNORS = ("prep", "from", "unplaced", "with")


_BACK = re.compile(
    r"\b(?:put|bring|take|move|place|return|give|set|leave|keep)\b(?P<before> back)? (?P<what>.+?)"
    r"(?P<after> (?:down )?back| (?:down |back )*(?:to )?(?:where|(?:to|in|on|at) (?:its|their)"
    r"(?: old| original)? (?:place|spot|position))\b.*)?"
    r"(?: (?:there$|where|to where|to its|in its|to their|in their)\b.*)?[.!]*$",
    re.IGNORECASE,
)
ONES = frozenset({"one", "ones"})
_EVERYTHING = frozenset({"everything", "all of it", "all of them", "all", "it all", "them all"})
TOGETHER = re.compile(
    r"\b(?:(?P<two>both of (?:them|these|those)|them both|the two of them|(?:these|those|the) two"
    r"(?= *$| *[,.!?]| (?:in|on|off|out|to|into|from|back|again|away)\b)"
    r"|both(?= *$| *[,.!?]| (?:in|on|off|out|to|into|from|back|again|away)\b))"
    r"|all of (?:them|these|those)|them all|it all)(?![\w-])"
)


class DialogueMemory(Value):
    """The memory of a dialogue.

    Args:
        request: The last request, in self-contained form; refused requests count too.
        things: Mentioned objects, most prominent first.
        group: Objects that the last turn was about; 'them' and 'the first one' refer to these.
        places: Mentioned places, most prominent first.
        used: Objects of the last request and its repetitions.
        origins: The place of each moved object before it was moved.
        acted: Objects of the last plan's actions, most recent first.
        asked: The last turn if it was a question, in self-contained form.
    """

    request: str = ""
    things: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    origins: Mapping[str, str] = MappingProxyType({})
    acted: tuple[str, ...] = ()
    asked: str = ""


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
    """Finds the noun phrases in a text, and the earlier places of objects."""

    def __init__(
        self, reader: Reader, inventory: Inventory, memory: DialogueMemory | None = None
    ) -> None:
        self.reader = reader
        self.inventory = inventory
        self.memory = memory or DialogueMemory()

    def names_at(self, tokens: Sequence[str], at: int) -> bool:
        cursor = Cursor("", tuple(tokens), self.reader.lexicon)
        cursor.at = at
        return bool(cursor.named() and not cursor.verb()) or cursor.is_name()

    def says_something(self, text: str) -> bool:
        """Return whether a sentence has a verb, an object or a word that stands for an object."""
        words = {*tokenize(text)} if text.strip() else set()
        standing = words & (PRONOUNS | {*ORDINALS, "one", "ones", "other", "both"})
        return bool(standing or self.spans(text)[1]) or self.has_verb(text)

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

    def coordinated(self, text: str) -> tuple[tuple[str, ...], list[PhraseSpan]]:
        """Return the result of `spans` with 'the mug and the cup' as one phrase."""
        tokens, spans = self.spans(text)
        joined: list[PhraseSpan] = []
        for span in spans:
            last = joined[-1] if joined else None
            if (
                last
                and not span.governed
                and {*tokens[last.end : span.start]} <= {"and", "or", ","}
            ):
                joined[-1] = last.replace(end=span.end)
            else:
                joined.append(span)
        return tokens, joined

    # --- back to earlier places ----------------------------------------------------------

    def back(self, text: str) -> str:
        """Return explicit requests for 'put it back'; empty if an earlier place is unknown."""
        match = _BACK.search(text.strip())
        returns = match and (match["before"] or match["after"] or text.lower().startswith("return"))
        if match is None or not returns:
            return ""
        before = text.strip()[: match.start()]
        if before.strip() and self.spans(before)[1]:
            return ""  # something else is said before
        names = self._meant(match["what"])
        if not names:
            return ""
        requests = []
        for name in names:
            place = self.memory.origins.get(name, "")
            if place not in self.inventory.classes or self.inventory.parents.get(name) == place:
                return ""
            relation = self.reader.taxonomy.relation(self.inventory.classes[place])
            requests.append(f"put {name} {relation} {place}")
        return " and ".join(requests)

    def _meant(self, words: str) -> tuple[str, ...]:
        plain = TOGETHER.sub("them", words.lower().removesuffix(" back").strip())
        if plain in _EVERYTHING:
            return tuple(self.memory.origins)
        if plain in PRONOUNS or plain == "one of them":
            moved = [n for n in self.memory.things if n in self.memory.origins]
            last = self.memory.group if len(self.memory.group) > 1 else self.memory.used
            together = tuple(n for n in last if n in moved)
            found = together or tuple(moved)
            return found if plain in MANY else found[:1] if "one" in plain else tuple(moved[:1])
        number = next((ORDINALS[w] for w in plain.split() if w in ORDINALS), 0)
        if number and plain.split()[-1] in ONES | {*ORDINALS}:  # 'put the first one back'
            moved = list(self.memory.origins)
            at = number - 1 if number > 0 else len(moved) - 1
            return tuple(moved[at : at + 1])
        tokens, spans = self.spans(plain)
        if len(spans) != 1 or spans[0].end != len(tokens):
            return ()
        classes = self.classes_of(spans[0].thing)
        moved = [n for n in self.memory.origins if self.inventory.classes.get(n) in classes]
        name = spans[0].thing.text if spans[0].thing.kind == "name" else ""
        return (name,) if name in self.memory.origins else tuple(moved[-1:])
