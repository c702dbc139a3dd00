"""Sentences to meaning.

hvr looks words up (`lexicon`), reads them into clauses and noun phrases (`cursor`, `clauses`,
`noun_phrases`, `syntax`), and turns these into entities with conditions on them (`reference`,
`verb_phrases`, `meaning`). Where a word can be several things ("toast", "open", "water"), its
neighbours decide.
"""

from __future__ import annotations

from hvr.errors import AmbiguousError, ImpossibleGoalError, LanguageError, UsageError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.clauses import read_clauses
from hvr.language.cursor import Cursor, Picks, explore, plainly
from hvr.language.goal_builder import Goal, Stage, goal_of, one_of
from hvr.language.lexicon import PARTICLES, Dish, FunctionWord, Lexicon, load_lexicon, tokenize
from hvr.language.meaning import Meaning, MeaningDraft, adapt
from hvr.language.negation import Forbidding
from hvr.language.paraphrase import in_order, said
from hvr.language.spelling import correct
from hvr.language.taxonomy import Taxonomy
from hvr.language.verb_phrases import Interpreter
from hvr.pddl import Domain
from hvr.values import cached_property

_PUNCTUATION = frozenset(".;,!?")
_NOISE = frozenset({"really", "very", "quite", "just", "actually", "basically", "simply"})
"""Words left out wherever they stand, even within a phrase: 'I'd really like'."""


def read(text: str, lexicon: Lexicon, taxonomy: Taxonomy) -> tuple[Meaning, ...]:
    """Read a request; where it leaves a choice, once for each way to choose.

    Raises:
        LanguageError: nothing, or something essential, was not understood.
    """
    return readings(text, lexicon, taxonomy)[0]


def readings(text: str, lexicon: Lexicon, taxonomy: Taxonomy) -> tuple[tuple[Meaning, ...], ...]:
    """Read a request in all ways that English leaves open, the likeliest first; see `read`."""
    tokens = tuple(token for token in tokenize(text) if token not in _NOISE)
    tokens, corrections = correct(plainly(tokens, lexicon), lexicon)
    # First, since the grammar would stumble over an unknown word and blame what stands near it.
    check_words(Cursor(text, tokens, lexicon))

    def bracketed(brackets: Picks) -> tuple[Meaning, ...]:
        def chosen(picks: Picks) -> Meaning:
            brackets.sizes = []
            cursor = Cursor(text, tokens, lexicon, picks, brackets)
            cursor.notes += corrections
            return _read_once(cursor, taxonomy)

        return tuple(dict.fromkeys(explore(chosen)))

    return tuple(dict.fromkeys(explore(bracketed)))


def _read_once(cursor: Cursor, taxonomy: Taxonomy) -> Meaning:
    draft = MeaningDraft(cursor.text, taxonomy)
    interpreter = Interpreter(draft, cursor.lexicon)
    clauses, prohibitions = read_clauses(cursor)
    for clause in clauses:
        interpreter.clause(clause)
    forbidding = Forbidding(draft, interpreter.adjuncts)
    for prohibition in prohibitions:
        forbidding.take(prohibition)
    if not draft.requested:
        raise LanguageError(
            f"nothing to do was found in {cursor.text.strip()!r}: say a verb and a thing"
            f"{taxonomy.example('request')}"
        )
    adapt(draft)
    for note in cursor.notes:
        draft.note(note)
    for phrase in cursor.unread:
        draft.note(f"hvr does not heed {phrase!r}")
    return draft.finish().replace(unread=tuple(cursor.unread))


def check_words(cursor: Cursor) -> None:
    """Refuse words that are not known, and words that ask for what hvr cannot do.

    Raises:
        LanguageError: there is such a word; the message has the nearest known ones.
    """
    unknown: list[str] = []
    known = False
    position = 0
    while position < len(cursor.tokens):
        length, entries = next(cursor.lexicon.matches(cursor.tokens, position), (1, ()))
        token = cursor.word(position)
        if not entries and not (cursor.particles(position) or token in PARTICLES):
            named = cursor.is_name(position)
            if not (named or token in _PUNCTUATION or token.isdecimal()):
                unknown.append(token)
            known = known or named
        known = known or any(
            not isinstance(entry, FunctionWord) or entry.role == "everything" for entry in entries
        )
        for entry in entries:
            _refuse(entry, " ".join(cursor.tokens[position : position + length]), position)
        position += length
    if not known:
        raise LanguageError(
            f"no word of {cursor.text.strip()!r} names a thing or an action"
            f"{_hints(cursor, unknown)}; docs/language.md lists the words"
        )
    if unknown:
        quoted = ", ".join(repr(word) for word in dict.fromkeys(unknown))
        raise LanguageError(
            f"unknown word{'s' if len(set(unknown)) > 1 else ''}: {quoted}"
            f"{_hints(cursor, unknown) or _dishes(cursor)}"
        )


def _refuse(entry: object, phrase: str, position: int) -> None:
    if not isinstance(entry, FunctionWord):
        return
    if entry.role == "question" and position == 0:
        raise LanguageError("hvr carries out requests; it does not answer questions")
    if entry.role == "unsupported":
        raise LanguageError(
            f"hvr does not understand {phrase!r} (no conditions, no fractions): say only what "
            "shall be done"
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


# Reader -------------------------------------------------------------------------------------------
# The reader of requests: from a sentence to a goal in a scene.


class Reader:
    """Reads requests by grammar and ontology.

    Args:
        ontology: words, task knowledge and preferences.
        domain: the actions.
        any_place: take it that everything that fits the hand can be put everywhere.
    """

    def __init__(self, ontology: Ontology, domain: Domain, *, any_place: bool = False) -> None:
        self.ontology = ontology
        self.domain = domain
        self._any_place = any_place

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """The class hierarchy as language sees it."""
        return Taxonomy(self.ontology, any_place=self._any_place)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words."""
        return load_lexicon(self.ontology)

    def goal(self, request: str, inventory: Inventory, reading: int | None = None) -> Goal:
        """Return the goal of a request in a scene.

        Args:
            request: the sentence.
            inventory: what there is.
            reading: which of several readings is meant, from 1; None for the only one.

        Raises:
            LanguageError: it was not understood.
            AmbiguousError: it can be read in ways that end differently, and none was chosen.
            ImpossibleGoalError: it cannot be met in this scene.
        """
        goals = self.goals(request, inventory)
        if reading is not None and not 1 <= reading <= len(goals):
            raise UsageError(f"there is no reading {reading} of this: it has {len(goals)}")
        if len(goals) > 1 and reading is None:
            raise AmbiguousError(tuple(in_order(goal.said) for goal in goals))
        return goals[(reading or 1) - 1]

    def goals(self, request: str, inventory: Inventory) -> tuple[Goal, ...]:
        """Return the goals that a request can mean in a scene, which all differ.

        Raises:
            LanguageError: it was not understood.
            ImpossibleGoalError: it cannot be met in this scene.
        """
        found: dict[tuple[Stage, ...], Goal] = {}
        refusals: list[ImpossibleGoalError] = []
        for choices in readings(request, self.lexicon, self.taxonomy):
            try:
                goal = one_of([self._in_scene(meaning, inventory) for meaning in choices])
            except ImpossibleGoalError as error:
                refusals.append(error)
                continue
            found.setdefault(goal.stages, goal)
        if not found:
            raise refusals[0]
        return tuple(
            goal.replace(said=said(goal.stages, self.taxonomy, inventory, self.domain))
            for goal in found.values()
        )

    def _in_scene(self, meaning: Meaning, inventory: Inventory) -> Goal | ImpossibleGoalError:
        try:
            return goal_of(meaning, self.taxonomy, inventory, self.domain)
        except ImpossibleGoalError as error:
            return error
