"""A position in the words of a request, with lookahead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

from hvr.errors import LanguageError
from hvr.language.lexicon import PARTICLES, Adjective, Dish, FunctionWord, Lexicon, Noun, Part, Verb

# Alternatives -------------------------------------------------------------------------------------
# Choices in a request: 'the apple or the tomato', 'in the bowl or on the plate'.
#
# A request with choices is read once per combination. During a reading, `Picks` selects the
# alternatives and counts them; `explore` then enumerates the other combinations.

MOST = 16
"""Maximum number of combinations of choices in one request."""

_T = TypeVar("_T")


class Picks:
    """The index of the alternative that a reading selects at each choice.

    Choices beyond the given ones select the first alternative.
    """

    def __init__(self, picks: tuple[int, ...] = ()) -> None:
        self.picks = picks
        self.sizes: list[int] = []

    def take(self, size: int) -> int:
        number = self.picks[len(self.sizes)] if len(self.sizes) < len(self.picks) else 0
        self.sizes.append(size)
        return number


def explore(attempt: Callable[[Picks], _T]) -> Iterator[_T]:
    """Yield the result of `attempt` for each combination of choices, all first alternatives first.

    Raises:
        LanguageError: There are more than `MOST` combinations.
    """
    waiting: list[tuple[int, ...]] = [()]
    done = 0
    while waiting:
        picks = Picks(waiting.pop(0))
        yield attempt(picks)
        done += 1
        # Vary only choices beyond the fixed picks, so that no combination is tried twice.
        for position in range(len(picks.picks), len(picks.sizes)):
            before = (*picks.picks, *[0] * (position - len(picks.picks)))
            waiting += [(*before, number) for number in range(1, picks.sizes[position])]
        if done + len(waiting) > MOST:
            raise LanguageError(
                f"the request has more than {MOST} combinations of choices: leave some out"
            )


# Cursor -------------------------------------------------------------------------------------------

STOPS = frozenset(".;!?")
"""Punctuation that ends a clause."""

PAUSES = STOPS | {","}

_LITTLE = ("prep", "filler", "first", "det", "of", "from", "slice", "with")
"""Roles of words that can also be verbs, such as 'light', 'set' and 'start by'."""

_NO_PARTICLES: Mapping[str, Verb] = {}

_MATERIALS = frozenset({"glass"})
"""Materials whose names can modify a noun."""

_COPULA_WITHIN = 7
"""Number of words after the start of a subject in which 'is' or 'should' is searched.

It limits a lookahead that runs at every word.
"""

_Kind = TypeVar("_Kind", FunctionWord, Verb)
_Entry = TypeVar("_Entry", Adjective, Dish, FunctionWord, Noun, Verb)


class Match(NamedTuple, Generic[_Kind]):
    """A phrase of the lexicon that matches at a position."""

    length: int
    entry: _Kind


class Cursor:
    """A position in the words of a request, with all lookahead of the reader."""

    def __init__(
        self,
        text: str,
        tokens: tuple[str, ...],
        lexicon: Lexicon,
        picks: Picks | None = None,
        brackets: Picks | None = None,
    ) -> None:
        self.picks = picks or Picks()
        self.brackets = brackets or Picks()
        self.text = text
        self.tokens = tokens
        self.lexicon = lexicon
        self.at = 0
        self.denying = False  # whether 'or' joins like 'and', as after 'do not'
        self.stating = False  # whether all alternatives of a place are read, as in a condition
        self.ending = False  # whether a sentence after 'or' ends a list, as in 'there is …'
        self.notes: list[str] = []
        self.begun = False  # whether a clause has been read, so that 'it' has a referent
        self.unread: list[str] = []
        self.clause_at = 0  # start of the current clause

    # --- position ------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    def word(self, at: int | None = None) -> str:
        """Return the word at a position, by default the cursor's; empty after the last word."""
        at = self.at if at is None else at
        return self.tokens[at] if at < len(self.tokens) else ""

    def between(self, start: int) -> str:
        """Return the words from a position up to the cursor, as text."""
        return " ".join(self.tokens[start : self.at])

    def parse_error(self) -> LanguageError:
        if self.done:
            return LanguageError(f"the request ends too early: {self.text.strip()!r}")
        rest = " ".join(self.tokens[self.at : self.at + 6])
        return LanguageError(f"hvr cannot make sense of {rest!r} in {self.text.strip()!r}")

    # --- lookahead -----------------------------------------------------------------------

    def kind(self, wanted: type[_Entry], at: int | None = None) -> int:
        """Return the length of the longest phrase here that has an entry of a type, or 0."""
        return next(self.entries(wanted, at), (0, None))[0]

    def entries(self, kind: type[_Entry], at: int | None = None) -> Iterator[tuple[int, _Entry]]:
        """Yield (length, entry) for each phrase of a kind at a position, longest first."""
        for length, entries in self.lexicon.matches(self.tokens, self.at if at is None else at):
            for entry in entries:
                if isinstance(entry, kind):
                    yield length, entry

    def named(self, at: int | None = None) -> int:
        """Return the length of the longest noun or dish at a position, or 0."""
        return max(self.kind(Noun, at), self.kind(Dish, at))

    def modifier(self, length: int) -> bool:
        """Return whether the noun of `length` words here modifies the next one: 'glass bowl'."""
        after = self.at + length
        if not self.named(after) or self.verb(after) or self.function("slice", at=after):
            return False
        entries = self.lexicon.entries[self.tokens[self.at : after]]
        classes = {entry.object_class for entry in entries if isinstance(entry, Noun)}
        return self.word() in _MATERIALS or not classes.isdisjoint(self.lexicon.fixed)

    def function(self, *roles: str, at: int | None = None) -> Match[FunctionWord] | None:
        """Return the longest phrase at a position that has one of the roles, or None."""
        for length, entry in self.entries(FunctionWord, at):
            if entry.role in roles:
                return Match(length, entry)
        return None

    def after(self, role: str, at: int) -> int:
        """Return the position after a phrase with the role, or `at` if there is no such phrase."""
        match = self.function(role, at=at)
        return at + match.length if match else at

    def longest(self, at: int | None = None) -> int:
        """Return the length of the longest known phrase that starts at a position, or 0."""
        at = self.at if at is None else at
        return next(self.lexicon.matches(self.tokens, at), (0, ()))[0]

    def take(self, *roles: str) -> FunctionWord | None:
        """Consume and return the phrase at the cursor if it has one of the roles, else None."""
        match = self.function(*roles)
        if match is None:
            return None
        self.at += match.length
        return match.entry

    def take_adjective(self) -> Adjective:
        for length, adjective in self.entries(Adjective):
            self.at += length
            return adjective
        raise self.parse_error()

    def after_or(self) -> int | None:
        """Return the position after 'or', and after an optional comma before it, or None."""
        at = self.at + int(self.word() == ",")
        match = self.function("or", at=at)
        return None if match is None else at + match.length

    def skip_fillers(self) -> None:
        """Skip words that have no effect; those that carry a meaning are recorded as ignored."""
        while not self.done and self.verb() is None:
            filler = self.function("filler", "ignored")
            # The longest phrase wins ('there' is a filler, 'there should be' starts a goal), and a
            # thing is never skipped.
            if filler is None or filler.length < self.longest() or filler.length <= self.named():
                return
            if self.purpose():
                return
            if self.function("prep") and self.named(self.at + filler.length):
                return  # 'on the side table' does not contain the filler 'on the side'
            self.note_ignored(filler)
            self.at += filler.length

    def note_ignored(self, passed: Match[FunctionWord]) -> None:
        if passed.entry.role == "ignored":
            self.ignore(" ".join(self.tokens[self.at : self.at + passed.length]))

    def ignore(self, phrase: str) -> None:
        if phrase not in self.unread:
            self.unread.append(phrase)

    def is_name(self, at: int | None = None) -> bool:
        """Return whether the word at a position is an object name, such as mug-1."""
        return is_name(self.word(at))

    def starts_exactly(self, at: int) -> bool:
        """Return whether a noun phrase certainly begins at a position: 'the …', 'two …', 'it'."""
        return bool(
            self.function("det", "number", "pronoun", "rest", "everything", at=at)
            or self.is_name(at)
            or self.word(at).isdecimal()
        )

    def starts_thing(self, at: int | None = None) -> bool:
        """Return whether a noun phrase can start at a position."""
        at = self.at if at is None else at
        passed = self.function("filler", "ignored", "apart", at=at)
        return bool(
            self.starts_exactly(at)
            or self.function("slice", "meal", "door", at=at)
            or self.named(at)
            or self.kind(Adjective, at)
            or (passed and self.starts_thing(self.also(at + passed.length)))
        )

    def also(self, at: int) -> int:
        """Return the position after an 'and' at `at` that joins another ignored word, else `at`."""
        linker = self.function("and", at=at)
        after = at + (linker.length if linker else 0)
        return after if linker and self.function("ignored", at=after) else at

    def particles(self, at: int | None = None) -> Mapping[str, Verb]:
        """Return the separable verbs that start at a position ('turn … on'), by particle."""
        return self.lexicon.separable.get(self.word(at), _NO_PARTICLES)

    def verb(self, at: int | None = None, *, listing: bool = False) -> Match[Verb] | None:
        """Return the verb at a position, or None if the word is not used as a verb.

        A word with other senses ('open', 'toast', 'water') is a verb only before a noun phrase or
        another verb. In a list (`listing`), the noun phrase must be certain, since 'coffee and warm
        milk' continues the list.
        """
        at = self.at if at is None else at
        for length, verb in self.entries(Verb, at):
            little = self.function(*_LITTLE, at=at)
            others = max(self.kind(Adjective, at), self.named(at), little.length if little else 0)
            # Longer beats shorter: 'coffee machine' is not 'coffee'. Among readings of equal length
            # the verb wins only if its object follows.
            if others > length:
                return None
            if others == length and not self._goes_on(at, at + length, listing):
                return None
            return Match(length, verb)
        return None

    def _goes_on(self, start: int, at: int, listing: bool) -> bool:
        linker = self.function("and", at=at)
        if linker and self.kind(Verb, at + linker.length) and not self.named(at + linker.length):
            return not listing and not (self.kind(Adjective, start) and self._named_before(start))
        return self.starts_exactly(at) or (not listing and self.starts_thing(at))

    def _named_before(self, at: int) -> bool:
        return any(self.named(start) == at - start for start in range(max(0, at - 3), at))

    def split_verb(self, at: int | None = None) -> bool:
        """Return whether a separable verb starts at a position: 'switch the light on'."""
        at = self.at if at is None else at
        if not self.particles(at):
            return False
        return self.starts_exactly(at + 1) if self.named(at) else self.starts_thing(at + 1)

    def clause_starts(self, at: int, *, listing: bool = False) -> bool:
        """Return whether a clause begins at a position, rather than another item of a list.

        For `listing`, see `verb`.
        """
        while (passed := self.function("then", "first", "filler", at=at)) and not self.named(at):
            if self.verb(at):
                break
            at += passed.length
        goal = self.function("goal", "ensure", at=at)
        return bool(
            goal or self.verb(at, listing=listing) or self.split_verb(at) or self.copular(at)
        )

    def copular(self, at: int) -> bool:
        """Return whether a statement about an object begins: 'the fridge should be closed'."""
        if not self.starts_thing(at):
            return False
        position, end = at, min(at + _COPULA_WITHIN, len(self.tokens))
        while position < end:
            if self.word(position) in PAUSES:
                return False
            if self.function("and", "then", "relative", at=position):
                return False
            if position > at and self.states(position):
                return True
            position += max(1, self.named(position))  # 'stand' is not a verb in 'the tv stand'
        return False

    def purpose(self, at: int | None = None) -> int:
        """Return the length of 'to' or 'in order to' before a verb ('take it to heat it'), or 0."""
        at = self.at if at is None else at
        match = self.function("to", at=at)
        if match is None or match.entry.value == "and":
            return 0
        after = at + match.length
        last = self.last_verb(after) if not self.kind(Noun, after) else None  # 'mug to microwave'
        follows = self.verb(after) or last or self.split_verb(after)
        return match.length if follows else 0

    def last_verb(self, at: int | None = None) -> Match[Verb] | None:
        """Return the verb at a position if it ends its clause ('put it out to cool'), else None."""
        at = self.at if at is None else at
        for length, verb in self.entries(Verb, at):
            if at + length >= len(self.tokens) or self.word(at + length) in PAUSES:
                return Match(length, verb)
        return None

    def verb_state(self) -> Adjective | None:
        """Consume a verb that names its own result, if there is one: 'is open'."""
        for length, verb in self.entries(Verb):
            if verb.frame == "state" and verb.condition:
                self.at += length
                return Adjective(verb.word, verb.condition, False, verb.requires)
        return None

    def object_left_out(self) -> bool:
        """Return whether the verb before the cursor has no object: 'wash it and put on a plate'."""
        if self.done or self.word() in PAUSES:
            return True
        if self.function("then", "and") or self.purpose():
            return True
        place = self.function("prep", "from", "with", "means", "unplaced", "there", "hand")
        return bool(place) and not self.starts_exactly(self.at) and not self.named()

    def states(self, at: int) -> bool:
        """Return whether the predicate of a statement begins at a position: 'is', 'contains'."""
        return (
            self.function("modal", "be", "be not", "be never", "have", "needing", at=at) is not None
        )

    def particle_here(self) -> str | None:
        """Return the verb particle at the cursor; None if it may also be a preposition."""
        word = self.word()
        if word not in PARTICLES:
            return None
        preposition = self.function("prep", "from")
        if preposition and self.starts_thing(self.at + preposition.length):
            return None
        return word


def is_name(token: str) -> bool:
    head, _, number = token.rpartition("-")
    return bool(head) and number.isdecimal()


# Lookahead ----------------------------------------------------------------------------------------
# Whether lists and predicates continue, without consuming words.


def next_thing(cursor: Cursor, *, listing: bool = False, subject: bool = False) -> int | None:
    """Return where the next item of a list begins, or None if the list ends at the cursor.

    Args:
        listing: Whether only noun phrases can follow, as after 'make'.
        subject: Whether a statement about all items may follow ('… should be open').
    """
    comma = cursor.at + (cursor.word() == ",")
    at = cursor.after("and", comma)
    if at == cursor.at or at >= len(cursor.tokens):
        return None
    if not cursor.starts_thing(at) or described(cursor, at):
        return None
    if subject and at > comma and cursor.copular(at):
        return at  # 'the fridge and the microwave should be open'
    return None if cursor.clause_starts(at, listing=listing) else at


def described(cursor: Cursor, at: int) -> bool:
    """Return whether the words after a comma describe the noun before it: ', filled with tea'."""
    length = cursor.kind(Adjective, at)
    more = cursor.function("with", "prep", "from", "means", at=at)
    if more and more.length > max(length, cursor.named(at)):
        return True
    # A series of adjectives describes the preceding thing unless a noun ends the series:
    # ', washed and sliced' against ', sliced tomatoes and bread'.
    while length and length >= cursor.named(at):
        at += length
        following = cursor.after("and", at)
        if not cursor.kind(Adjective, following):
            passed = cursor.function("filler", "ignored", "slice", "door", at=at)
            return not (cursor.named(at) or passed)
        at = following
        length = cursor.kind(Adjective, at)
    return False


def predicate_starts(cursor: Cursor) -> bool:
    """Return whether an adjective follows its noun: 'the mug clean', 'the tap off'.

    A comma before the adjective is consumed: 'an apple, washed'.
    """
    if (
        cursor.word() == ","
        and cursor.kind(Adjective, cursor.at + 1)
        and described(cursor, cursor.at + 1)
        and not cursor.verb(cursor.at + 1)
    ):
        cursor.at += 1
        return True
    if cursor.word() in {"on", "off"}:
        return cursor.particle_here() is not None
    length = cursor.kind(Adjective)
    return bool(length) and cursor.verb() is None and not cursor.named(cursor.at + length)


def gerund(cursor: Cursor) -> Adjective | None:
    """Read the gerund of a verb as an adjective ('needs washing'), or return None."""
    return cursor.verb_state() if cursor.word().endswith("ing") else None


def predicate_goes_on(cursor: Cursor) -> bool:
    """Consume 'and' or a comma before another adjective or place; return whether one follows."""
    at = cursor.after("and", cursor.at + (cursor.word() == ","))
    copula = cursor.function("modal", "be", at=at)
    at += copula.length if copula else 0
    # A verb after 'and' starts a clause: 'the mug should be clean and put it on the table'.
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


# Compound phrases ---------------------------------------------------------------------------------
# 'a tomato and lettuce salad', 'breakfast: toast and coffee', 'put the kettle on'.


def expand_idioms(tokens: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """Replace the idioms of a request by their plain equivalents.

    An idiom must end its clause: 'put the kettle on', but not 'put the kettle on the stove'.
    'While' before a verb becomes 'and'. Before a verb of holding it becomes 'after', because the
    action needs the object in the hand: 'turn on the lamp while holding the book'.
    """
    words: list[str] = []
    at = 0
    while at < len(tokens):
        key = next((k for k in lexicon.idioms if tokens[at : at + len(k)] == k), None)
        after = tokens[at + len(key) :][:1] if key else ()
        if key and (not after or after[0] in PAUSES | {"and", "then", "before"}):
            words += lexicon.idioms[key]
            at += len(key)
        else:
            verbs = _verbs_at(tokens[at + 1 :], lexicon) if tokens[at] == "while" else ()
            held = words and any(verb.frame == "hold" for verb in verbs)
            words.append("after" if held else "and" if verbs else tokens[at])
            at += 1
    return tuple(words)


def _verbs_at(tokens: tuple[str, ...], lexicon: Lexicon) -> tuple[Verb, ...]:
    found = (entry for _, entries in lexicon.matches(tokens, 0) for entry in entries)
    return tuple(entry for entry in found if isinstance(entry, Verb))


def skip_meal(cursor: Cursor) -> None:
    """Consume a meal before its parts ('breakfast: toast'); raise LanguageError if it has none."""
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
        hint = f", for example '{name}: {example}'" if example else ""
        raise LanguageError(f"{name} can be many things: say which{hint}")


def compound_dish(cursor: Cursor) -> tuple[int, Dish] | None:
    """Return a dish named by its fillings ('tomato salad') and its number of words, or None."""
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
        at = cursor.after("and", at + (cursor.word(at) == ","))


def _filling(cursor: Cursor, at: int) -> tuple[int, Part | None]:
    for length, noun in cursor.entries(Noun, at):
        if noun.object_class in cursor.lexicon.fillings:
            return length, cursor.lexicon.fillings[noun.object_class]
    return 0, None


def _dish(cursor: Cursor, at: int) -> tuple[Dish | None, int]:
    for length, dish in cursor.entries(Dish, at):
        if dish.parts and dish.vessels:
            return dish, length
    return None, 0
