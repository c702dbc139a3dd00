"""The reader of requests: grammar, and the choice of the reader."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from hvr.errors import (
    AmbiguousError,
    HvrError,
    ImpossibleGoalError,
    LanguageError,
    MissingExtraError,
    ProposalError,
    UnachievableError,
    UsageError,
)
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.asides import complaint, corrected, with_names, with_referent, without_manner
from hvr.language.clauses import read_clauses
from hvr.language.cursor import PAUSES, STOPS, Cursor, Picks, expand_idioms, explore
from hvr.language.goal_builder import Goal, Stage, goal_of, one_of
from hvr.language.lexicon import (
    MAX_CHARACTERS,
    PARTICLES,
    Dish,
    FunctionWord,
    Lexicon,
    Noun,
    load_lexicon,
    plurals,
    tokenize,
)
from hvr.language.meaning import Meaning, MeaningDraft, adapt
from hvr.language.negation import Forbidding, exclude_contradicted
from hvr.language.own_words import OwnWords
from hvr.language.paraphrase import in_order, paraphrase
from hvr.language.rewording import plain_limits, plainly
from hvr.language.spelling import (
    Corrected,
    beside,
    corrections,
    expanded,
    language_of,
    plain_verbs,
    with_object_names,
)
from hvr.language.taxonomy import Taxonomy
from hvr.language.verb_phrases import Interpreter
from hvr.pddl import Domain
from hvr.values import cached_property

if TYPE_CHECKING:
    from hvr.language.learnt.reader import LearntReader, Reading
    from hvr.language.surroundings import Wish


# Grammar ------------------------------------------------------------------------------------------
# Words are looked up (`lexicon`), parsed into clauses and noun phrases (`cursor`, `clauses`,
# `noun_phrases`, `syntax`), and turned into entities with conditions (`reference`,
# `verb_phrases`, `meaning`). If a word is ambiguous ("toast", "open", "water"), its neighbours
# decide.

_DEGREES = frozenset({"so", "too"})

_NOISE = frozenset({"really", "very", "quite", "just", "actually", "basically", "simply"})
"""Words that are ignored everywhere, even inside a phrase: 'I'd really like'."""


def read(text: str, lexicon: Lexicon, taxonomy: Taxonomy) -> tuple[Meaning, ...]:
    return readings(text, lexicon, taxonomy)[0]


def readings(text: str, lexicon: Lexicon, taxonomy: Taxonomy) -> tuple[tuple[Meaning, ...], ...]:
    """Parse a request in all ways that English allows, most likely first.

    Each way is a tuple of alternative meanings: more than one if the request says 'or'.

    Raises:
        LanguageError: The request was not understood.
        ProposalError: The request is only a hint at other requests.
    """
    tokens = tuple(token for token in tokenize(text) if token not in _NOISE)
    tokens = tuple(  # 'make it hot hot hot'
        t
        for n, t in enumerate(tokens)
        if n == 0 or t != tokens[n - 1] or not t.isalpha() or t in PARTICLES
    )
    if hinted := _particle(tokens, lexicon) or complaint(expanded(tokens, lexicon), lexicon):
        raise ProposalError((" ".join(hinted),))
    tokens = _all_of(_announced(tokens, lexicon), lexicon)
    if foreign := language_of(tokens, [t for t in tokens if t not in lexicon.parts]):
        raise LanguageError(f"this seems to be {foreign}: hvr reads English only")
    found: list[tuple[Meaning, ...]] = []
    refusals: list[LanguageError] = []
    for spelt in corrections(tokens, lexicon):
        try:
            found += _as_spelt(text, spelt, lexicon, taxonomy)
        except LanguageError as error:
            refusals.append(error)
    if not found:
        raise refusals[0]
    return tuple(dict.fromkeys(found))


def _particle(tokens: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """Return the words with 'off' for 'of' in 'turn of the light'; empty for any other request."""
    for at, (verb, word) in enumerate(pairwise(tokens)):
        starts = at == 0 or tokens[at - 1] in PAUSES | {"and", "then", "please", "you"}
        if starts and word == "of" and "off" in lexicon.separable.get(verb, ()):
            return (*tokens[: at + 1], "off", *tokens[at + 2 :])
    return ()


def _announced(tokens: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """Drop the words before a colon if they ask for nothing: 'two jobs: wash the mug …'."""
    while ":" in tokens:
        at = tokens.index(":")
        start = max((n + 1 for n in range(at) if tokens[n] in STOPS), default=0)
        cursor = Cursor("", tokens, lexicon)
        asks = any(cursor.named(n) or cursor.verb(n) for n in range(start, at))
        tokens = (*tokens[: at if asks else start], *tokens[at + 1 :])
    return tokens


def _all_of(tokens: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """Read 'every light' as 'all lights' if the plural names more classes than the singular."""

    def kinds(phrase: str) -> set[str]:
        return {e.object_class for e in lexicon.lookup(phrase) if isinstance(e, Noun)}

    words = list(tokens)
    for at in (n for n, word in enumerate(tokens) if word == "every"):
        phrases = [
            " ".join(tokens[at + 1 : at + 1 + n]) for n, _ in lexicon.matches(tokens, at + 1)
        ]
        noun = next(filter(kinds, phrases), "")
        more = next((p for p in plurals(noun) if kinds(p) - kinds(noun)), "") if noun else ""
        if more:
            words[at : at + 1 + len(noun.split())] = ["all", *more.split()]
    return tuple(words)


def _as_spelt(
    text: str, spelt: Corrected, lexicon: Lexicon, taxonomy: Taxonomy
) -> list[tuple[Meaning, ...]]:
    plain = expand_idioms(plain_verbs(spelt.tokens, lexicon), lexicon)
    tokens, notes = corrected(text, plain, lexicon)

    def read_as(
        words: tuple[str, ...], told: Sequence[str], asides: Sequence[str]
    ) -> list[tuple[Meaning, ...]]:
        cursor = Cursor(text, words, lexicon)
        found = _readings(cursor, (*spelt.notes, *notes, *told), asides, taxonomy)
        return [tuple(m.replace(spelt=spelt.notes) for m in one) for one in found]

    try:
        return read_as(tokens, (), ())
    except LanguageError:
        proposed = _proposed(tokens, lexicon)
        if proposed and "something" in tokens:
            raise ProposalError(proposed) from None
        named, described = with_names(text, tokens, lexicon)
        words, manner = without_manner(Cursor(text, named, lexicon))
        try:
            if words == tokens or not words:
                raise
            return read_as(words, described, manner)
        except LanguageError:
            if proposed:
                raise ProposalError(proposed) from None
            raise


def _proposed(tokens: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    plain = tuple(token for token in tokens if token not in _DEGREES)
    for key, requests in sorted(lexicon.proposals.items(), key=lambda item: -len(item[0])):
        for text, words in ((tokens, key), (plain, tuple(w for w in key if w not in _DEGREES))):
            for at in range(len(text) - len(words) + 1):
                if text[at : at + len(words)] == words:
                    around = text[:at], text[at + len(words) :]
                    return tuple(" ".join((*around[0], r, *around[1])) for r in requests)
    return ()


def _readings(
    whole: Cursor, notes: Sequence[str], asides: Sequence[str], taxonomy: Taxonomy
) -> Iterator[tuple[Meaning, ...]]:
    # Check words first: the grammar would stumble over an unknown word and blame its neighbours.
    check_words(whole)

    def bracketed(brackets: Picks) -> tuple[Meaning, ...]:
        def chosen(picks: Picks) -> Meaning:
            brackets.sizes = []
            cursor = Cursor(whole.text, whole.tokens, whole.lexicon, picks, brackets)
            cursor.notes += notes
            cursor.unread += asides
            return _read_once(cursor, taxonomy)

        return tuple(dict.fromkeys(explore(chosen)))

    return explore(bracketed)


def _read_once(cursor: Cursor, taxonomy: Taxonomy) -> Meaning:
    draft = MeaningDraft(cursor.text, taxonomy, cursor.brackets)
    interpreter = Interpreter(draft, cursor.lexicon)
    clauses, prohibitions = read_clauses(cursor)
    try:
        for clause in clauses:
            interpreter.clause(clause)
        forbidding = Forbidding(draft, interpreter.adjuncts)
        for prohibition in prohibitions:
            forbidding.take(prohibition)
    except LanguageError as error:
        if type(error) is not LanguageError:
            raise
        # No other reader may do something else with words that were read whole.
        unread = f"; hvr ignores {', '.join(map(repr, cursor.unread))}" if cursor.unread else ""
        raise UnachievableError(f"{error}{unread}") from error
    if not draft.requested:
        raise LanguageError(
            f"no action found in {cursor.text.strip()!r}: say a verb and a thing"
            f"{taxonomy.example('request')}"
        )
    exclude_contradicted(draft)
    adapt(draft)
    for note in cursor.notes:
        draft.note(note)
    for phrase in cursor.unread:
        draft.note(f"hvr ignores {phrase!r}")
    return draft.finish().replace(unread=tuple(cursor.unread))


def check_words(cursor: Cursor) -> None:
    """Raise LanguageError for unknown words, questions and unsupported constructions."""
    unknown: list[str] = []
    known = False
    position = 0
    while position < len(cursor.tokens):
        length, entries = next(cursor.lexicon.matches(cursor.tokens, position), (1, ()))
        token = cursor.word(position)
        if not entries and not (cursor.particles(position) or token in PARTICLES):
            named = cursor.is_name(position)
            if not (named or token in PAUSES or token.isdecimal()):
                unknown.append(token)
            known = known or named
        known = known or any(
            not isinstance(entry, FunctionWord) or entry.role == "everything" for entry in entries
        )
        if token == "you" and length == 1 and cursor.word(position + 1) in {"need", "want"}:
            raise LanguageError(f"{cursor.text.strip()!r} does not say what to do")
        for entry in entries:
            _refuse(entry, " ".join(cursor.tokens[position : position + length]), position)
        position += length
    if not known:
        raise LanguageError(
            f"{cursor.text.strip()!r} does not name a known thing or action"
            f"{_hints(cursor, unknown)}; docs/reference/language.md lists the words"
        )
    if unknown:
        quoted = ", ".join(repr(word) for word in dict.fromkeys(unknown))
        error = LanguageError(
            f"unknown word{'s' if len(set(unknown)) > 1 else ''}: {quoted}"
            f"{_hints(cursor, unknown) or _dishes(cursor)}"
        )
        if len(set(unknown)) == 1:
            error.suggestions = tuple(
                " ".join(near if token == unknown[0] else token for token in cursor.tokens)
                for near in beside(unknown[0], cursor.lexicon)
            )
        raise error


def _refuse(entry: object, phrase: str, position: int) -> None:
    if not isinstance(entry, FunctionWord):
        return
    if entry.role == "question" and position == 0:
        raise LanguageError("hvr carries out requests; it does not answer questions")
    if entry.role == "unsupported":
        raise LanguageError(
            f"hvr does not understand {phrase!r}: events and fractions are not supported; "
            "state only what to do"
        )


def _hints(cursor: Cursor, unknown: list[str]) -> str:
    near = [hint for word in dict.fromkeys(unknown) for hint in cursor.lexicon.nearest(word)]
    return f" (did you mean {', '.join(map(repr, dict.fromkeys(near)))}?)" if near else ""


def _dishes(cursor: Cursor) -> str:
    first = cursor.verb(0)
    if first is None or first.entry.frame not in {"make", "serve"}:
        return ""
    dishes = {e.word for es in cursor.lexicon.entries.values() for e in es if isinstance(e, Dish)}
    return f"; hvr knows how to make {', '.join(sorted(dishes))}"


_CLAUSES = re.compile(r"[.;!?]+|,?\s+(?:and then|and|then)\s+|,", re.IGNORECASE)
_QUOTED = re.compile(r"'([^']*)'")
_MOST_CLAUSES = 6
"""Maximum number of clauses that are read one by one after an error."""

_CONDITION = re.compile(
    r"\b(?:if|unless|whether|in case|in the event|when|provided|providing|assuming|supposing|given)"
    r"\b|(?:^|[.,;!?] |\band |\bbut )should\b(?! i\b| we\b)",
    re.IGNORECASE,
)
_OVER_TIME = re.compile(
    r"\b(whenever|(?:every|each|any) time|while|(?:so|as) long as|until|till|before)\b",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"\b(?:in|within|after) (?:an?|\w+) (?:second|minute|hour|day|week|month)s?\b|"
    r"\b(?:tomorrow|tonight|later|yesterday)\b",
    re.IGNORECASE,
)
_BEFORE_DOING = re.compile(r"\bbefore (?:you (?!can|could)|\w+ing)\b", re.IGNORECASE)
_PASTIME = re.compile(r"while \w+ing\b", re.IGNORECASE)
_OCCASIONS = re.compile(r"(?:\b(?:when|whenever)\b|^while\b)([^,.;!?]*)", re.IGNORECASE)


# Reader -------------------------------------------------------------------------------------------


class Reader:
    """Reads requests by grammar and ontology; for `any_place`, see `Taxonomy`."""

    def __init__(self, ontology: Ontology, domain: Domain, *, any_place: bool = False) -> None:
        self.ontology = ontology
        self.domain = domain
        self._any_place = any_place

    @cached_property
    def taxonomy(self) -> Taxonomy:
        return Taxonomy(self.ontology, any_place=self._any_place)

    @cached_property
    def lexicon(self) -> Lexicon:
        return load_lexicon(self.ontology)

    def goal(self, request: str, inventory: Inventory, reading: int | None = None) -> Goal:
        """Return the goal of a request in a scene.

        Args:
            reading: 1-based number of the reading to use if the request is ambiguous.

        Raises:
            LanguageError: The request was not understood.
            AmbiguousError: The readings differ in their end states, or the request is only a hint,
                and `reading` is None.
            ImpossibleGoalError: The goal cannot be achieved in this scene.
            UsageError: The request has no reading with this number.
        """
        try:
            goals = self.goals(request, inventory)
        except ProposalError as error:
            return self._proposal(error, inventory, reading)
        if reading is not None and not 1 <= reading <= len(goals):
            raise UsageError(f"reading must be between 1 and {len(goals)}, got {reading}")
        if len(goals) > 1 and reading is None:
            raise AmbiguousError(tuple(in_order(goal.paraphrase) for goal in goals))
        return goals[(reading or 1) - 1]

    def _proposal(self, error: ProposalError, inventory: Inventory, reading: int | None) -> Goal:
        goals = []
        for request in error.requests:
            with suppress(HvrError):
                goals.append(self.goals(request, inventory)[0])
        goals = list({in_order(goal.paraphrase): goal for goal in reversed(goals)}.values())[::-1]
        if not goals:
            raise error
        if reading is None:
            raise AmbiguousError(tuple(in_order(goal.paraphrase) for goal in goals))
        if not 1 <= reading <= len(goals):
            raise UsageError(f"reading must be between 1 and {len(goals)}, got {reading}")
        return goals[reading - 1]

    def goals(self, request: str, inventory: Inventory) -> tuple[Goal, ...]:
        """Return the distinct goals that a request can mean in a scene.

        hvr's own paraphrase of a goal means exactly this goal.

        Raises:
            LanguageError: The request was not understood.
            ImpossibleGoalError: No reading can be achieved in this scene.
        """
        own = OwnWords(self.taxonomy, inventory, self.domain).goal(request)
        if own is not None:
            return (own,)
        if len(request) > MAX_CHARACTERS:
            tokenize(request)  # raises: rewording takes time that grows with the square
        request = with_object_names(
            plainly(plain_limits(request)), inventory, self.taxonomy, self.lexicon
        )
        try:
            return self._whole(request, inventory)
        except AmbiguousError:
            raise
        except LanguageError as error:
            return self._inside(request, inventory, error)

    def _whole(self, request: str, inventory: Inventory) -> tuple[Goal, ...]:
        if conditions := self._conditional(request, inventory):
            return conditions
        if watched := self._over_time(request, inventory):
            return watched
        return self._read(request, inventory)

    def _inside(
        self, request: str, inventory: Inventory, refusal: LanguageError
    ) -> tuple[Goal, ...]:
        from hvr.language.surroundings import wishes

        found, denied = wishes(request, self.lexicon)
        for wish in found:
            if wish.sure:
                with suppress(LanguageError):
                    return self._wished(wish, inventory)
        try:
            doubtful = any(not wish.sure for wish in found)
            if isinstance(refusal, ProposalError) or denied or doubtful or _LATER.search(request):
                raise refusal
            return self._otherwise(request, inventory, refusal)
        except (AmbiguousError, ProposalError):
            raise
        except LanguageError as error:
            inside = (" ".join(with_referent(w.tokens, w.asides, self.lexicon)[0]) for w in found)
            if meant := self._readable((*inside, *error.suggestions), inventory):
                raise ProposalError(meant) from None
            self._add_understood(error, request, inventory)
            raise

    def _readable(self, requests: Sequence[str], inventory: Inventory) -> tuple[str, ...]:
        found: list[str] = []
        for request in requests:
            try:
                self._whole(request, inventory)
            except LanguageError:
                continue
            except ImpossibleGoalError:
                return ()
            found.append(request)
        return tuple(dict.fromkeys(found))

    def _wished(self, wish: Wish, inventory: Inventory) -> tuple[Goal, ...]:
        tokens, meant = with_referent(wish.tokens, wish.asides, self.lexicon)
        goals = self._whole(" ".join(tokens), inventory)
        notes = (*meant, *(f"hvr ignores {phrase!r}" for phrase in wish.asides))
        return tuple(
            goal.replace(
                notes=tuple(dict.fromkeys((*goal.notes, *notes))),
                unread=tuple(dict.fromkeys((*goal.unread, *wish.asides))),
            )
            for goal in goals
        )

    def _otherwise(
        self, _request: str, _inventory: Inventory, refusal: LanguageError
    ) -> tuple[Goal, ...]:
        """Return the goals of a request that the grammar cannot read, or raise `refusal`."""
        raise refusal

    def _add_understood(self, error: LanguageError, request: str, inventory: Inventory) -> None:
        parts = [part.strip(" ,") for part in _CLAUSES.split(request) if part.strip(" ,")]
        if not 1 < len(parts) <= _MOST_CLAUSES:
            return
        done, left = [], []
        for part in parts:
            try:
                self._read(part, inventory)
            except (LanguageError, ImpossibleGoalError):
                left.append(part)
            else:
                done.append(part)
        if done and left:
            error.args = (
                f"{error}; understood: {', '.join(map(repr, done))}; not understood: "
                f"{', '.join(map(repr, left))}",
            )
            error.suggestions = error.suggestions or (". ".join(done),)

    def _conditional(self, request: str, inventory: Inventory) -> tuple[Goal, ...] | None:
        if not _CONDITION.search(request):
            return None
        from hvr.language.contingency import conditional_goals

        try:
            return conditional_goals(request, self, inventory)
        except LanguageError:
            if self._is_occasion(request):
                with suppress(LanguageError):
                    return self._read(request, inventory)
            raise

    def _over_time(self, request: str, inventory: Inventory) -> tuple[Goal, ...] | None:
        if not _OVER_TIME.search(request):
            return None
        from hvr.language.temporal_scene import timed_goals

        try:
            return timed_goals(request, self, inventory)
        except LanguageError:
            ordered = _BEFORE_DOING.search(request) is not None
            if ordered or (_PASTIME.match(request) and self._is_occasion(request)):
                with suppress(LanguageError):
                    return self._read(request, inventory)
            raise

    def _is_occasion(self, request: str) -> bool:
        words = [tokenize(phrase) for phrase in _OCCASIONS.findall(request)]
        cursors = [Cursor(request, tokens, self.lexicon) for tokens in words]
        return bool(words) and not any(
            cursor.named(n) or (n < 2 and cursor.function("pronoun", at=n))
            for cursor in cursors
            for n in range(len(cursor.tokens))
        )

    def _read(self, request: str, inventory: Inventory) -> tuple[Goal, ...]:
        found: dict[tuple[Stage, ...], Goal] = {}
        refusals: list[ImpossibleGoalError] = []
        spellings: dict[tuple[str, ...], None] = {}
        for choices in readings(request, self.lexicon, self.taxonomy):
            spellings[choices[0].spelt] = None
            try:
                goal = one_of([self._in_scene(meaning, inventory) for meaning in choices])
            except ImpossibleGoalError as error:
                refusals.append(error)
                continue
            found.setdefault(goal.stages, goal)
        if len(spellings) > 1 and refusals:  # an impossible reading may be the intended one
            ways = " or ".join(", ".join(notes) for notes in spellings)
            unclear = LanguageError(f"a misspelt word has several corrections: {ways}; correct it")
            unclear.suggestions = tuple(_respelt(request, notes) for notes in spellings)
            raise unclear
        if not found:
            raise refusals[0]
        said = {
            paraphrase(goal.stages, self.taxonomy, inventory, self.domain): goal
            for goal in reversed(found.values())
        }
        return tuple(goal.replace(paraphrase=words) for words, goal in reversed(said.items()))

    def _in_scene(self, meaning: Meaning, inventory: Inventory) -> Goal | ImpossibleGoalError:
        try:
            return goal_of(meaning, self.taxonomy, inventory, self.domain)
        except ImpossibleGoalError as error:
            return error


def _respelt(request: str, notes: Sequence[str]) -> str:
    for note in notes:
        typed, meant = _QUOTED.findall(note)
        request = re.sub(rf"\b{re.escape(typed)}\b", meant, request, flags=re.IGNORECASE)
    return request


# Readers ------------------------------------------------------------------------------------------

READERS = ("grammar", "learnt", "both")
"""The names that `make_reader` accepts."""

_PLAIN_WORDS = 5
"""Maximum number of words in a request for which the grammar need not consult the learnt reader."""


def make_reader(
    name: str | None, ontology: Ontology, domain: Domain, *, any_place: bool = False
) -> Reader:
    """Return the reader with the given name.

    Args:
        name: One of `READERS`. None means "both" if the extra `language` is installed, and
            "grammar" otherwise.

    Raises:
        UsageError: The name is unknown.
        MissingExtraError: The extra is not installed.
    """
    check_reader(name)
    if name is None:
        name = "both" if _is_installed() else "grammar"
    kinds = {"grammar": Reader, "learnt": LearntOnly, "both": AgreementReader}
    return kinds[name](ontology, domain, any_place=any_place)


def check_reader(name: str | None) -> None:
    """Raise UsageError for an unknown reader, and MissingExtraError if its extra is missing."""
    if name is not None and name not in READERS:
        raise UsageError(f"unknown reader {name!r} (readers: {', '.join(READERS)})", field="reader")
    if name in ("learnt", "both") and not _is_installed():
        from hvr.language.learnt import EXTRA, PACKAGE

        raise MissingExtraError(PACKAGE, EXTRA)


def _is_installed() -> bool:
    from hvr.language.learnt import is_installed

    return is_installed()


class _WithLearnt(Reader):
    @cached_property
    def learnt(self) -> LearntReader:
        from hvr.language.learnt.reader import LearntReader

        return LearntReader(self.ontology, self.domain, self.lexicon, self.taxonomy)


class LearntOnly(_WithLearnt):
    def _read(self, request: str, inventory: Inventory) -> tuple[Goal, ...]:
        from hvr.language.learnt.agreement import ReaderThresholds, marked

        reading = self.learnt.read(request, inventory)
        if reading.goal is None or reading.p < ReaderThresholds().alone:
            why = reading.refusal or f"its confidence is {100 * reading.p:.0f} %"
            raise LanguageError(f"the learnt reader does not understand this request: {why}")
        return (marked(reading.goal, reading.p, self.learnt.head.digest),)


class AgreementReader(_WithLearnt):
    """Reads requests by grammar and, unless plain or ambiguous, by the learnt reader as well."""

    def _read(self, request: str, inventory: Inventory) -> tuple[Goal, ...]:
        grammar: Goal | HvrError
        try:
            grammar, *others = super()._read(request, inventory)
        except LanguageError:
            raise
        except HvrError as error:
            if any(word in inventory.classes for word in tokenize(request)):
                raise  # an object's name has one meaning
            grammar, others = error, []
        if isinstance(grammar, Goal) and (others or is_plain(request, grammar)):
            return grammar, *others
        try:
            reading = self.learnt.read(request, inventory)
        except LanguageError:
            if isinstance(grammar, HvrError):
                raise grammar from None
            return (grammar,)
        return (self._agreed(grammar, reading, inventory),)

    def _otherwise(
        self, request: str, inventory: Inventory, refusal: LanguageError
    ) -> tuple[Goal, ...]:
        timed = _CONDITION.search(request) or _OVER_TIME.search(request)
        if isinstance(refusal, UnachievableError) or (timed and not self._is_occasion(request)):
            raise refusal
        try:
            reading = self.learnt.read(request, inventory)
        except LanguageError:
            raise refusal from None
        return (self._agreed(refusal, reading, inventory),)

    def _agreed(self, grammar: Goal | HvrError, reading: Reading, inventory: Inventory) -> Goal:
        from hvr.language.learnt.agreement import EndStates, ReaderThresholds, agreed

        ends = EndStates(self.taxonomy, inventory, self.domain)
        return agreed(grammar, reading, ends, ReaderThresholds(), self.learnt.head.digest)


def is_plain(request: str, goal: Goal) -> bool:
    """Return whether a request is short and the grammar understood it without assumptions."""
    told = [note for note in goal.notes if not note.startswith("read ")]  # corrected words
    return len(request.split()) <= _PLAIN_WORDS and not goal.unread and not told
