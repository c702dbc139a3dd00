"""Mentions: the things, places, states, liquids and counts that a request names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from hvr.errors import LanguageError
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.wording import Wording, wording_of
from hvr.language.lexicon import (
    Adjective,
    Dish,
    Entry,
    FunctionWord,
    Lexicon,
    Noun,
    Verb,
    load_lexicon,
    tokenize,
)

# Mentions -----------------------------------------------------------------------------------------
# A simpler reading than the goals of `hvr.language`: every word of the ontology counts wherever it
# occurs, so that any sentence has a reading. Only the immediate context matters: the preposition
# before a name, and the verb or adjective that belongs to it.

FAMILIES: Mapping[str, str] = {
    "hot": "heat",
    "microwaved": "heat",
    "stove_heated": "heat",
    "toasted": "heat",
    "cooked": "heat",
    "warm_liquid": "heat",
    "cold": "cold",
    "chilled": "cold",
    "washed": "wash",
    "dirty": "wash",
    "sliced": "slice",
    "cracked": "crack",
    "filled": "fill",
    "contains": "fill",
    "opened": "open",
    "toggled": "switch",
    "holding": "hold",
}
"""Families of states, by predicate."""

PAST_EVENTS = frozenset({"washed", "microwaved", "stove_heated", "toasted", "chilled"})
"""Predicates of past events, which hold for no object initially."""

IN, FROM, WITH, NEAR = "in", "from", "with", "near"
"""Roles of things: destination, origin, companion, and place nearby."""

State = tuple[str, bool]
"""A family of states, and whether it must hold."""


@dataclass(frozen=True)
class NamedThing:
    """An object, or a group of objects, that a request names.

    Args:
        classes: Ontology classes that the name may stand for.
        count: Number of objects; 0 means all, -1 several.
        optional: Whether the object is implied rather than named, such as the mug for coffee.
        role: Role that the preposition before the name gives it; empty if there is none.
        states: States that verbs and adjectives require.
    """

    classes: frozenset[str]
    count: int = 1
    optional: bool = False
    role: str = ""
    states: frozenset[State] = frozenset()


@dataclass(frozen=True)
class RequestMentions:
    """Everything that a request names.

    Args:
        states: Families of states, such as `heat`, each paired with whether it must hold.
        lasting: Members of `states` that count as achieved even if they hold from the start:
            "clean" requires no washing, "washed" does.
        frame: Words of the request, with `thing` in place of each movable thing.
    """

    things: tuple[NamedThing, ...] = ()
    states: frozenset[State] = frozenset()
    lasting: frozenset[State] = frozenset()
    liquids: frozenset[str] = frozenset()
    frame: str = ""


# Word meanings ------------------------------------------------------------------------------------

_PREDICATE = re.compile(r"\((not \()?([a-z_]+)")


@lru_cache(maxsize=4)
def sources_of_liquids(ontology: Ontology) -> tuple[tuple[str, str], ...]:
    """Return (class, liquid) for each class from which a liquid comes."""
    liquids = {
        str(v) for dish in ontology.instances("Dish") for v in ontology.annotation(dish, "liquid")
    }
    return tuple(
        (kind, str(liquid))
        for means in ontology.instances("Means")
        for liquid in ontology.annotation(means, "achieves")
        if str(liquid) in liquids
        for needs in ontology.annotation(means, "needs")
        for kind in str(needs).split()
    )


@lru_cache(maxsize=4)
def loose_states(wording: Wording) -> Mapping[str, tuple[State, bool]]:
    """Return, by word, the state that a single word requests and whether it may hold initially."""
    return {
        word: ((FAMILIES[name], True), name not in PAST_EVENTS)
        for name, predicate in wording.predicates.items()
        if name in FAMILIES
        for word in predicate.loose
    }


def says_being(entries: tuple[Entry, ...]) -> bool:
    """Return whether a word can be a verb of being, as `stand` is."""
    return any(isinstance(e, FunctionWord) and e.role == "be" for e in entries)


def named_by(entries: tuple[Entry, ...], count: int) -> NamedThing | None:
    """Return the object that a word names, given its entries and the number before it, or None."""
    nouns = [e for e in entries if isinstance(e, Noun)]
    if not nouns:
        return None
    if count == 1 and any(n.collective for n in nouns):
        count = 0
    elif count == 1 and all(n.plural for n in nouns):
        count = -1
    return NamedThing(frozenset(n.object_class for n in nouns), count)


def named_exactly(ontology: Ontology, token: str) -> NamedThing | None:
    stem, _, number = token.rpartition("-")
    object_class = ontology.class_of_pddl_type(stem) if number.isdecimal() else None
    return NamedThing(frozenset({object_class})) if object_class else None


def states_of(condition: str) -> set[State]:
    return {
        (FAMILIES[predicate], (predicate == "dirty") == bool(negated))
        for negated, predicate in _PREDICATE.findall(condition)
        if predicate in FAMILIES
    }


def may_last(condition: str) -> bool:
    return PAST_EVENTS.isdisjoint(name for _, name in _PREDICATE.findall(condition))


# Mention reader -----------------------------------------------------------------------------------

_ROLES = {"prep": IN, "from": FROM, "with": WITH, "means": WITH, "unplaced": NEAR}
_BESIDE = frozenset(
    (
        *("front", "left", "right", "side", "next", "beside", "near", "nearest", "by", "behind"),
        *("under", "underneath", "below", "between", "above", "corner", "edge", "across", "along"),
    )
)
_PLACES = frozenset({IN, NEAR, FROM})
_SPOKEN_OF = frozenset({"", WITH})
"""Roles of things that a pronoun, or an adjective without a noun, can refer to."""
_PIECES = frozenset({"Slice"})
_BEFORE_NOUNS = frozenset({"det", "number", "of", "be", "ignored", *_ROLES})
_ARTICLES = frozenset({"det", "number", "ignored"})
_AFTER_VERBS = frozenset({",", ".", ";", "!", "?", "and", "then", "again", "for", "please"})
_FILLING = "fill"
"""Frame of verbs that name a filling."""
_ENDS = frozenset({",", ".", ";", "!", "?"})
_HOMES = frozenset({"where", "place", "home", "spot"})
"""Words that make one thing the place of another: "the shelf is where the mug goes"."""
_GIVEN = frozenset({"to me", "to us", "over to me", "over to us", "give me", "give us"})
_RECIPIENTS = frozenset({"me", "us"})


@lru_cache(maxsize=65536)
def mentions_of(request: str) -> RequestMentions:
    """Return everything that a request names; nothing if it is empty or far too long."""
    ontology = load_ontology()
    try:
        tokens = tokenize(request)
    except LanguageError:
        return RequestMentions()
    reader = _Reader(ontology, load_lexicon(ontology))
    place = 0
    while place < len(tokens):
        place += reader.read(tokens, place)
    return reader.mentions()


@dataclass
class _Thing:
    named: NamedThing
    states: set[State] = field(default_factory=set)


@dataclass
class _Clause:
    """The state of reading a clause; `things` counts names and pronouns that are not places."""

    things: int = 0
    places: set[str] = field(default_factory=set)
    named: _Thing | None = None
    subject: _Thing | None = None
    awaits_place: bool = False
    handed_over: bool = False
    unfilled: bool = False


class _Reader:
    def __init__(self, ontology: Ontology, lexicon: Lexicon) -> None:
        self._ontology = ontology
        self._lexicon = lexicon
        self._loose_nouns = wording_of(ontology).nouns
        self._loose_states = loose_states(wording_of(ontology))
        self._longest = max((len(name.split()) for name in self._loose_nouns), default=0)
        self._sources = sources_of_liquids(ontology)
        self._things: list[_Thing] = []
        self._states: set[State] = set()
        self._lasting: set[State] = set()
        self._liquids: set[str] = set()
        self._frame: list[str] = []
        self._count = 1
        self._role = ""
        self._verb: set[State] = set()
        self._clause = _Clause()
        self._adjectives: set[State] = set()
        self._usual: frozenset[str] = frozenset()

    def read(self, tokens: tuple[str, ...], place: int) -> int:
        length, entries = self._phrase(tokens, place)
        words = tokens[place : place + length]
        home = words[0] in _HOMES and length == 1 and self._is_home(tokens, place)
        if says_being(entries) and not self._follows_article(tokens, place):
            entries = tuple(e for e in entries if not isinstance(e, Noun))
        verb = not home and self._is_verb(entries, tokens, place)
        # The first verb is the usual sense: 'close' is said of doors more often than of lamps.
        verbs = [e for e in entries if isinstance(e, Verb)][: int(verb)]
        entries = (*verbs, *(e for e in entries if not isinstance(e, Verb)))
        noun = None if verb or home else named_by(entries, self._count)
        if noun is None and not entries:
            noun = named_exactly(self._ontology, words[0])
        if noun is not None and noun.classes == _PIECES:
            noun = None
            self._adjectives |= self._noted({("slice", True)}, True)
            self._again()
        if verb:
            self._end_clause()
            self._go_usual()
            self._verb, self._role = set(), ""
        for entry in entries:
            self._take(entry, noun, verb)
        if home:
            self._go_home()
        elif len(words) == 1:
            self._take_word(words[0], noun)
        if " ".join(words) in _GIVEN:
            self._clause.handed_over = True
        elif self._role == IN and words[0] in _RECIPIENTS:
            self._clause.handed_over, self._role = True, ""
        if words == ("off",) and place and self._verb:
            self._role = ""
        if noun is not None:
            self._name(noun)
        carried = noun is not None and self._carried(noun)
        self._frame += ["thing"] if carried else list(words)
        return length

    def _phrase(self, tokens: tuple[str, ...], place: int) -> tuple[int, tuple[Entry, ...]]:
        apart = self._apart(tokens, place)
        if apart is not None:
            return 1, (apart,)
        length, entries = next(iter(self._lexicon.matches(tokens, place)), (1, ()))
        loose = self._loose(tokens, place)
        if loose > length or (loose and not entries):
            name = " ".join(tokens[place : place + loose])
            return loose, (Noun(self._loose_nouns[name]),)
        return length, entries

    def _take(self, entry: Entry, noun: NamedThing | None, verb: bool) -> None:
        match entry:
            case Verb():
                self._verb |= self._asked_for(entry.condition)
                self._usual = frozenset(entry.places)
                # The liquid is named separately, or is not part of the request.
                self._clause.unfilled = entry.frame == _FILLING
                if entry.liquid and entry.frame != _FILLING:
                    self._liquids.add(entry.liquid)
            case Adjective() if noun is None and not verb:
                self._adjectives |= self._asked_for(entry.condition)
            case Dish() if noun is None and not verb:
                self._dish(entry)
            case FunctionWord() if noun is None:
                self._function(entry)

    def _take_word(self, word: str, noun: NamedThing | None) -> None:
        if word in self._loose_states and noun is None:
            state, lasts = self._loose_states[word]
            self._adjectives |= self._noted({state}, lasts)
        if word in _BESIDE:
            self._role = NEAR
        if word in _ENDS:
            self._end_clause()
            self._role = ""
        if word.isdecimal():
            self._count = int(word)

    def mentions(self) -> RequestMentions:
        self._end_clause()
        self._go_usual()
        things = (replace(t.named, states=frozenset(t.states)) for t in self._things)
        return RequestMentions(
            tuple(dict.fromkeys(things)),
            frozenset(self._states),
            frozenset(self._lasting),
            frozenset(self._liquids),
            " ".join(self._frame),
        )

    def _loose(self, tokens: tuple[str, ...], place: int) -> int:
        lengths = range(self._longest, 0, -1)
        return next(
            (n for n in lengths if " ".join(tokens[place : place + n]) in self._loose_nouns), 0
        )

    def _apart(self, tokens: tuple[str, ...], place: int) -> Verb | None:
        """Return a separable verb whose particle comes after its object: `turn … on`."""
        seconds = self._lexicon.separable.get(tokens[place], {})
        for at in range(place + 2, min(place + 7, len(tokens))):
            after = tokens[at + 1] if at + 1 < len(tokens) else "."
            if tokens[at] in seconds and after in _AFTER_VERBS:
                return seconds[tokens[at]]
            if tokens[at] in _AFTER_VERBS:
                return None
        return None

    def _asked_for(self, condition: str | None) -> set[State]:
        mentions = condition or ""
        return self._noted(states_of(mentions), may_last(mentions))

    def _noted(self, states: set[State], lasting: bool) -> set[State]:
        self._states |= states
        if lasting:
            self._lasting |= states
        return states

    def _function(self, entry: FunctionWord) -> None:
        if entry.role in {"det", "number"} and isinstance(entry.value, int):
            self._count = entry.value
        elif entry.role in _ROLES:
            self._close()
            self._count = 1
            role = _ROLES[entry.role]
            if role == WITH and self._clause.places and not self._clause.things:
                # In "into the fridge with the milk", the milk is what goes there.
                role = ""
            self._role = self._role if self._role == NEAR else role
        elif entry.role == "be":
            self._take_being()
        elif entry.role == "pronoun" and not self._role:
            self._clause.things += 1
            self._again()
        elif entry.role in {"everything", "rest"}:
            self._clause.things += 1
        elif entry.role == "hand":
            self._adjectives |= self._noted({("hold", True)}, True)
        elif entry.role == "then":
            self._end_clause()

    def _take_being(self) -> None:
        clause = self._clause
        if clause.awaits_place and clause.named:
            # "The right place for the mug is the shelf."
            self._role, clause.awaits_place = IN, False
        clause.subject = clause.named

    def _is_home(self, tokens: tuple[str, ...], place: int) -> bool:
        return bool(
            tokens[place] == "where" or self._clause.subject or self._follows_article(tokens, place)
        )

    def _go_home(self) -> None:
        """Read 'its place': the last subject if it can hold objects, else the object named next."""
        clause = self._clause
        if clause.subject and not clause.subject.named.role and self._holds(clause.subject.named):
            clause.subject.named = replace(clause.subject.named, role=IN)
            clause.subject.states.clear()
            self._usual = frozenset()
        else:
            clause.awaits_place = True
        clause.subject, self._role = None, ""

    def _again(self) -> None:
        things = [t for t in self._things if t.named.role in _SPOKEN_OF]
        if things:
            things[-1].states |= self._verb

    def _is_verb(self, entries: tuple[Entry, ...], tokens: tuple[str, ...], place: int) -> bool:
        # Words that can also be a thing are not verbs after an article, an adjective and the like.
        if not any(isinstance(e, Verb) for e in entries):
            return False
        if not any(isinstance(e, Noun | Dish | Adjective) for e in entries):
            return True
        before = self._lexicon.lookup(tokens[place - 1]) if place else ()
        return not any(
            isinstance(e, Adjective | Noun | Verb)
            or (isinstance(e, FunctionWord) and e.role in _BEFORE_NOUNS)
            for e in before
        )

    def _follows_article(self, tokens: tuple[str, ...], place: int) -> bool:
        before = self._lexicon.lookup(tokens[place - 1]) if place else ()
        return any(
            isinstance(e, Adjective) or (isinstance(e, FunctionWord) and e.role in _ARTICLES)
            for e in before
        )

    def _name(self, noun: NamedThing) -> None:
        if self._role == IN and not self._holds(noun):
            # In "fill it at the tap", the tap is not the destination.
            self._role = NEAR
        states = self._adjectives | (set() if self._role else self._verb)
        named = NamedThing(noun.classes, noun.count, noun.optional, self._role)
        if self._role == IN:
            self._usual = frozenset()
        same = [
            t
            for t in self._things
            if t.named.classes == noun.classes and (t.named.role == IN) == (self._role == IN)
        ]
        if same:
            same[-1].states |= states
        else:
            self._things.append(_Thing(named, set(states)))
        clause = self._clause
        if self._role in _PLACES:
            clause.places |= noun.classes
        else:
            clause.things += 1
        clause.named, clause.subject = (same or self._things)[-1], None
        if self._role == IN:
            clause.handed_over = False
        self._adjectives, self._count, self._role = set(), 1, ""

    def _dish(self, dish: Dish) -> None:
        there = {t.named.classes for t in self._things}
        for part in dish.parts:
            if frozenset({part.object_class}) not in there:
                states = self._asked_for(part.condition)
                named = NamedThing(frozenset({part.object_class}), part.count)
                self._things.append(_Thing(named, states | self._adjectives))
        if dish.vessels and not any(w & set(dish.vessels) for w in there):
            self._things.append(_Thing(NamedThing(frozenset(dish.vessels), optional=True)))
        if dish.liquid:
            self._liquids.add(dish.liquid)
        if dish.at:
            self._usual = frozenset({dish.at})
        self._clause.handed_over = self._clause.unfilled = False

    def _end_clause(self) -> None:
        if self._clause.unfilled:
            # In "fill it at the tap", the tap's liquid is meant.
            sources = [liquid for kind, liquid in self._sources if kind in self._clause.places]
            self._liquids.update(sources)
        if self._clause.handed_over and self._things:
            self._adjectives |= self._noted({("hold", True)}, True)
        self._close()
        self._clause = _Clause()

    def _close(self) -> None:
        if self._adjectives and self._things:
            things = [t for t in self._things if t.named.role in _SPOKEN_OF] or self._things
            things[-1].states |= self._adjectives
        self._adjectives = set()

    def _go_usual(self) -> None:
        if self._usual:
            self._things.append(_Thing(NamedThing(self._usual, optional=True, role=IN)))
        self._usual = frozenset()

    def _holds(self, noun: NamedThing) -> bool:
        known = [c for c in noun.classes if self._ontology.has_class(c)]
        return not known or any(self._ontology.is_a(c, "Receptacle") for c in known)

    def _carried(self, noun: NamedThing) -> bool:
        known = [c for c in noun.classes if self._ontology.has_class(c)]
        return any(self._ontology.is_a(c, "Pickupable") for c in known)
