"""A place in the words of a request, and what stands there."""

from __future__ import annotations

from collections.abc import Mapping

from hvr.errors import LanguageError
from hvr.language.lexicon import (
    PARTICLES,
    Adjective,
    Dish,
    Entry,
    FunctionWord,
    Lexicon,
    Noun,
    Verb,
)

STOPS = frozenset(".;!?")
"""Punctuation that ends a clause."""

_LITTLE = ("prep", "filler", "first", "det", "of", "from", "slice", "with")
"""Roles of words that can be verbs as well: 'light', 'set', 'start by'."""

_NOTHING: Mapping[str, Verb] = {}


class Cursor:
    """Moves through the words of a request; all look-ahead of the reader is here.

    Args:
        text: the request.
        tokens: its words.
        lexicon: the known words.
    """

    def __init__(self, text: str, tokens: tuple[str, ...], lexicon: Lexicon) -> None:
        self.text = text
        self.tokens = tokens
        self.lexicon = lexicon
        self.at = 0
        self.notes: list[str] = []

    # --- where it stands -----------------------------------------------------------------

    @property
    def done(self) -> bool:
        """No word is left."""
        return self.at >= len(self.tokens)

    def word(self, at: int | None = None) -> str:
        """Return the word at a position; empty after the end."""
        at = self.at if at is None else at
        return self.tokens[at] if at < len(self.tokens) else ""

    def between(self, start: int) -> str:
        """Return the words from a position up to here."""
        return " ".join(self.tokens[start : self.at])

    def lost(self) -> LanguageError:
        """Return the error for words that do not fit in anywhere."""
        if self.done:
            return LanguageError(f"the request ends too early: {self.text.strip()!r}")
        rest = " ".join(self.tokens[self.at : self.at + 6])
        return LanguageError(f"hvr cannot make sense of {rest!r} in {self.text.strip()!r}")

    # --- what stands there ---------------------------------------------------------------

    def kind(self, wanted: type[Entry], at: int | None = None) -> int:
        """Return length of the longest phrase of a kind at a position; 0 without one."""
        for length, entries in self.lexicon.matches(self.tokens, self.at if at is None else at):
            if any(isinstance(entry, wanted) for entry in entries):
                return length
        return 0

    def named(self, at: int | None = None) -> int:
        """Return length of the longest noun or dish at a position; 0 without one."""
        return max(self.kind(Noun, at), self.kind(Dish, at))

    def function(self, *roles: str, at: int | None = None) -> tuple[int, FunctionWord] | None:
        """Return the longest phrase at a position that has one of the roles, with its length."""
        for length, entries in self.lexicon.matches(self.tokens, self.at if at is None else at):
            for entry in entries:
                if isinstance(entry, FunctionWord) and entry.role in roles:
                    return length, entry
        return None

    def longest(self) -> int:
        """Return length of the longest known phrase that starts here."""
        return next(self.lexicon.matches(self.tokens, self.at), (0, ()))[0]

    def take(self, *roles: str) -> FunctionWord | None:
        """Move over a phrase that has one of the roles, if one stands here."""
        found = self.function(*roles)
        if found is None:
            return None
        self.at += found[0]
        return found[1]

    def take_adjective(self) -> Adjective:
        """Move over the adjective that stands here."""
        for length, entries in self.lexicon.matches(self.tokens, self.at):
            for entry in entries:
                if isinstance(entry, Adjective):
                    self.at += length
                    return entry
        raise self.lost()

    def skip_fillers(self) -> None:
        """Move over words that change nothing; over those left unheeded with a note."""
        while not self.done and self.verb() is None:
            found = self.function("filler", "unheeded")
            if found is None or found[0] < self.longest() or found[0] <= self.named():
                return
            self.unheeded(found)
            self.at += found[0]

    def unheeded(self, found: tuple[int, FunctionWord]) -> None:
        """Keep a note if a phrase that means something is passed over."""
        if found[1].role == "unheeded":
            phrase = " ".join(self.tokens[self.at : self.at + found[0]])
            note = f"hvr does not heed {phrase!r}"
            if note not in self.notes:
                self.notes.append(note)

    def is_name(self, at: int | None = None) -> bool:
        """Return an object's own name stands here: mug-1."""
        return is_name(self.word(at))

    def starts_exactly(self, at: int) -> bool:
        """Return a thing starts here for certain: 'the …', 'two …', 'it', 'mug-1'."""
        return bool(
            self.function("det", "number", "pronoun", "everything", at=at)
            or self.is_name(at)
            or self.word(at).isdecimal()
        )

    def starts_thing(self, at: int | None = None) -> bool:
        """Return a noun phrase can start here."""
        at = self.at if at is None else at
        passed = self.function("filler", "unheeded", at=at)
        return bool(
            self.starts_exactly(at)
            or self.function("slice", at=at)
            or self.named(at)
            or self.kind(Adjective, at)
            or (passed and self.starts_thing(at + passed[0]))
        )

    def particles(self, at: int | None = None) -> Mapping[str, Verb]:
        """Return what can follow, apart from it, the first word of a verb: 'turn … on'."""
        return self.lexicon.separable.get(self.word(at), _NOTHING)

    def verb(self, at: int | None = None, *, listing: bool = False) -> tuple[int, Verb] | None:
        """Return the verb at a position, if it reads as one there, with its length.

        A word that is something else as well ('open', 'toast', 'water') is a verb only before
        a thing or before another verb; inside a list of things only before one that starts
        for certain, since 'coffee and warm milk' goes on with the list.
        """
        at = self.at if at is None else at
        for length, entries in self.lexicon.matches(self.tokens, at):
            verb = next((entry for entry in entries if isinstance(entry, Verb)), None)
            if verb is None:
                continue
            little = self.function(*_LITTLE, at=at)
            others = max(self.kind(Adjective, at), self.named(at), little[0] if little else 0)
            if others > length:
                return None
            if others == length and not self._goes_on(at + length, listing):
                return None
            return length, verb
        return None

    def _goes_on(self, at: int, listing: bool) -> bool:
        linker = self.function("and", at=at)
        if linker and self.kind(Verb, at + linker[0]) and not self.named(at + linker[0]):
            return not listing
        return self.starts_exactly(at) or (not listing and self.starts_thing(at))

    def split_verb(self, at: int | None = None) -> bool:
        """Return the first word of a verb in two parts stands here: 'switch the light on'."""
        at = self.at if at is None else at
        if not self.particles(at):
            return False
        return self.starts_exactly(at + 1) if self.named(at) else self.starts_thing(at + 1)

    def clause_starts(self, at: int, *, listing: bool = False) -> bool:
        """Return a new clause begins here, rather than another thing of a list."""
        while (passed := self.function("then", "first", "filler", at=at)) and not self.named(at):
            if self.verb(at):
                break
            at += passed[0]
        goal = self.function("goal", "ensure", at=at)
        return bool(
            goal or self.verb(at, listing=listing) or self.split_verb(at) or self.copular(at)
        )

    def copular(self, at: int) -> bool:
        """'the fridge should be closed': a thing with a statement about it."""
        if not self.starts_thing(at):
            return False
        for position in range(at, min(at + 7, len(self.tokens))):
            if self.word(position) in STOPS or self.word(position) == ",":
                return False
            if self.function("and", "then", "relative", at=position):
                return False
            if position > at and self.states(position):
                return True
        return False

    def states(self, at: int) -> bool:
        """'is', 'should be', 'contains' …"""
        return self.function("modal", "be", "have", "needing", at=at) is not None

    def particle_here(self) -> str | None:
        """Return a second word of a verb that nothing but the verb can want here."""
        word = self.word()
        if word not in PARTICLES:
            return None
        found = self.function("prep", "from")
        if found and self.starts_thing(self.at + found[0]):
            return None
        return word


def is_name(token: str) -> bool:
    """Return whether a word is an object's own name, such as mug-1."""
    head, _, number = token.rpartition("-")
    return bool(head) and number.isdecimal()
