"""The known words: content words of the ontology, and the function words of English."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from hvr.errors import DataFileError, LanguageError
from hvr.knowledge.ontology import (
    AFFORDANCE,
    BESIDE,
    CARRIER,
    FILLED,
    PORTABLE,
    THING,
    VESSEL,
    Ontology,
    Roles,
    roles_of,
)
from hvr.knowledge.terms import HIDDEN_LABEL
from hvr.language.function_words import FUNCTION_WORDS, ROOM_WORDS
from hvr.values import Value, cached_property

_WORD = re.compile(r"[^\W\d_]+-\d+(?![\w-])|[^\W_]+(?:'[^\W\d_]+)?|[.;,!?]|:(?=\s)")

_NOT_WHOLE = re.compile(r"(?<![\w.-])-\d+(?:\.\d+)?|(?<![\w.-])\d+\.\d+")

_ARROW = re.compile(r"\s*(?:[-=]+>|[\u2192\u21d2\u279c])\s*")
_CONTRACTED = re.compile(
    r"\b(it|they|there|that|(?:no|some|any|every)thing|neither|none|one)'(s|re)\b", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"(?:^|(?<=[\s.;,:]))(?:step\s+)?(?:\d{1,2}|[a-h])\s*[.):](?=\s)|"
    r"(?:^|(?<=[\s.;,:]))step\s+(?:\d{1,2}|one|two|three|four|five)\b\s*[:.,-]?",
    re.IGNORECASE,
)
"""Numbers of the steps in a list: '1.', '2)', 'step 3:'."""
_BULLETED = re.compile(r"(?:^|(?<=\s))[-*\u2022](?=\s)")
"""Bullets of the steps in a list: '- wash the apple - slice it'."""

PARTICLES = frozenset({"on", "off", "up", "down", "away", "out", "back", "in", "open"})
"""Second words of verbs that can follow the object."""

MAX_CHARACTERS = 2000
"""Maximum number of characters in a request, since reading time grows with length."""


class Verb(Value):
    """A verb with its frame (how it takes its objects) and the condition that it achieves.

    Args:
        requires: Affordance class that the objects must have, if any.
        places: Classes of the default destinations.
        back: Whether the objects return to their initial place.
        liquid: Liquid that vessels contain afterwards by default ('boil the kettle').
        by: Condition on the instrument, an object of `by_class` ('read by the lamp').
        of_dishes: Whether the verb, used with a dish, only asks to make it ('cook some toast').
    """

    word: str
    frame: str
    condition: str | None = None
    requires: str | None = None
    places: tuple[str, ...] = ()
    liquid: str | None = None
    back: bool = False
    by: str | None = None
    by_class: str = ""
    of_dishes: bool = False


class Adjective(Value):
    """An adjective with its condition; with `selects`, it describes but never requests a state."""

    word: str
    condition: str
    selects: bool = False
    requires: str | None = None


class Part(Value):
    """A part of a dish: objects of one class in a state."""

    object_class: str
    count: int = 1
    condition: str | None = None


class Dish(Value):
    """A dish: a vessel that contains a liquid or parts.

    Args:
        at: Class of the place where the parts stand, for a dish without a vessel.
        base: Parts that the dish has with any filling, such as the bread of a sandwich.
    """

    word: str
    vessels: tuple[str, ...] = ()
    liquid: str | None = None
    parts: tuple[Part, ...] = ()
    at: str | None = None
    base: tuple[Part, ...] = ()


class Noun(Value):
    """A noun that names a class of objects.

    Args:
        collective: Whether the singular means all objects of the class ('cutlery').
        loose: Label of the class if the word properly names something else ('cabbage').
    """

    object_class: str
    plural: bool = False
    collective: bool = False
    loose: str = ""


class FunctionWord(Value):
    role: str
    value: str | int = ""


SHORTEST_MISSPELT = 2
"""Minimum number of letters in a word whose spelling is corrected."""

Entry = Verb | Adjective | Dish | Noun | FunctionWord


@dataclass(frozen=True)
class Lexicon:
    """The known phrases (tuples of words) with their possible meanings.

    Args:
        words: Single words for objects, actions and states, for suggestions.
        fixed: Classes of objects that cannot be moved, each with its types.
        tableware: Classes of vessels, dishes and tools for food.
        fillings: The part that each class becomes in a salad or sandwich.
        idioms: Idioms, and the plain words with the same meaning.
        examples: Example texts for error messages, by kind.
        full: Condition that an object contains a liquid; empty if no object can.
        purposes: Names of objects by the words of their purposes.
        features: Stems of the words for the lasting features of objects, by name.
        uses: Stems of the words for the uses of objects, by name.
        proposals: Requests by the phrase that hints at them.
        remedies: Verb to propose, by the adjective of a complaint.
    """

    entries: Mapping[tuple[str, ...], tuple[Entry, ...]]
    words: frozenset[str]
    fixed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    tableware: frozenset[str] = frozenset()
    fillings: Mapping[str, Part] = field(default_factory=dict)
    idioms: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    examples: Mapping[str, str] = field(default_factory=dict)
    full: str = ""
    purposes: Mapping[frozenset[str], tuple[str, ...]] = field(default_factory=dict)
    features: Mapping[str, frozenset[str]] = field(default_factory=dict)
    uses: Mapping[str, frozenset[str]] = field(default_factory=dict)
    proposals: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    remedies: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    @cached_property
    def descriptive(self) -> frozenset[str]:
        """The stems of all words for features of a class."""
        return frozenset[str]().union(*self.features.values())

    @cached_property
    def parts(self) -> frozenset[str]:
        return frozenset(word for key in self.entries for word in key) | PARTICLES

    @cached_property
    def liquids(self) -> frozenset[str]:
        """The liquids that are the content of some dish."""
        dishes = (e for entries in self.entries.values() for e in entries if isinstance(e, Dish))
        return frozenset(dish.liquid for dish in dishes if dish.liquid)

    @cached_property
    def spellable(self) -> Mapping[str, bool]:
        """Words that can be misspelt; True if the word names an object, an action or a state."""
        words: dict[str, bool] = {}
        for key, entries in self.entries.items():
            content = any(not isinstance(entry, FunctionWord) for entry in entries)
            for word in key:
                if len(word) >= SHORTEST_MISSPELT and word.isalpha():
                    words[word] = words.get(word, False) or content
        return dict.fromkeys(self.idiomatic, True) | words

    @cached_property
    def idiomatic(self) -> frozenset[str]:
        """The words of idioms that are long enough for spelling correction."""
        return frozenset(w for key in self.idioms for w in key if len(w) >= SHORTEST_MISSPELT)

    @cached_property
    def longest(self) -> Mapping[str, int]:
        """The number of words in the longest phrase that begins with each word."""
        found: dict[str, int] = {}
        for key in self.entries:
            found[key[0]] = max(found.get(key[0], 0), len(key))
        return found

    def matches(
        self, tokens: tuple[str, ...], start: int
    ) -> Iterator[tuple[int, tuple[Entry, ...]]]:
        """Yield the known phrases at a position with their lengths, longest first."""
        longest = self.longest.get(tokens[start], 0) if start < len(tokens) else 0
        for length in range(min(longest, len(tokens) - start), 0, -1):
            entries = self.entries.get(tokens[start : start + length])
            if entries:
                yield length, entries

    def lookup(self, phrase: str) -> tuple[Entry, ...]:
        return self.entries.get(tuple(phrase.split()), ())

    @cached_property
    def separable(self) -> Mapping[str, Mapping[str, Verb]]:
        """Two-word verbs that can be separated ('turn … on'), by first and second word."""
        verbs: dict[str, dict[str, Verb]] = {}
        for key, entries in self.entries.items():
            if len(key) == 2 and key[1] in PARTICLES:
                for entry in entries:
                    if isinstance(entry, Verb):
                        verbs.setdefault(key[0], {}).setdefault(key[1], entry)
        return verbs

    def nearest(self, word: str, count: int = 2) -> tuple[str, ...]:
        """Return at most `count` known phrases that contain a word, or else similar words."""
        phrases = sorted(
            " ".join(key)
            for key, entries in self.entries.items()
            if word in key
            and not isinstance(entries[0], FunctionWord | Verb)
            and not (isinstance(entries[0], Noun) and entries[0].plural)
        )
        if phrases:
            return tuple(phrases[:count])
        # Ask for extra matches, since a word and its plural count as one suggestion.
        near = difflib.get_close_matches(word, sorted(self.words), n=8, cutoff=0.7)
        kept = [w for w in near if not any(w != o and w in plurals(o) for o in near)]
        return tuple(kept[:count])


def verb_of(lexicon: Lexicon, word: str, frame: str = "") -> Verb:
    """Return the verb for a word or, if it has none, the first verb with a frame (default: `word`).

    Raises:
        LanguageError: There is no such verb.
    """
    exact = (entry for entry in lexicon.lookup(word) if isinstance(entry, Verb))
    like = (
        entry
        for entries in lexicon.entries.values()
        for entry in entries
        if isinstance(entry, Verb) and entry.frame == (frame or word)
    )
    verb = next(exact, None) or next(like, None)
    if verb is None:
        raise LanguageError(f"this world has no verb for {word!r}")
    return verb


def verb_for(lexicon: Lexicon, verb: Verb, afford: Callable[[str], bool]) -> Verb:
    """Return the sense of a verb that objects afford, or else the verb itself.

    'Put the lid down' closes it, since a lid affords closing.
    """
    if verb.requires is None or afford(verb.requires):
        return verb
    same = (entry for entry in lexicon.lookup(verb.word) if isinstance(entry, Verb))
    return next((entry for entry in same if entry.requires and afford(entry.requires)), verb)


def tokenize(text: str) -> tuple[str, ...]:
    """Split text into lower-case words, object names such as `mug-1`, and punctuation.

    Raises:
        LanguageError: The text is empty or too long, or has a negative number or a fraction.
    """
    if not text.strip():
        raise LanguageError("the request is empty: say what to do")
    if len(text) > MAX_CHARACTERS:
        raise LanguageError(
            f"the request must have at most {MAX_CHARACTERS} characters, got {len(text)}: split it"
        )
    if number := _NOT_WHOLE.search(text):
        raise LanguageError(f"hvr reads only non-negative whole numbers, not {number[0]}")
    plain = text.replace("\u2019", "'").replace("&", " and ")
    plain = _ARROW.sub(" to ", plain)
    plain = _CONTRACTED.sub(lambda m: f"{m[1]} {'is' if m[2] == 's' else 'are'}", plain)
    # Turn the numbers or bullets of a list of steps into ends of clauses.
    if _NUMBERED.match(plain) or _BULLETED.match(plain):
        plain = _BULLETED.sub(" . ", _NUMBERED.sub(" . ", plain))
    return tuple(token.lower() for token in _WORD.findall(plain))


_IRREGULAR = {
    **{same: same for same in ("sheep", "fish", "deer", "aircraft", "series", "species")},
    **{"man": "men", "woman": "women", "person": "people", "child": "children"},
    **{"mouse": "mice", "goose": "geese", "foot": "feet", "tooth": "teeth", "ox": "oxen"},
}


def plurals(phrase: str) -> tuple[str, ...]:
    """Return the possible plurals of a phrase: 'cups of tea' for 'cup of tea'."""
    words = phrase.split()
    index = words.index("of") - 1 if "of" in words[1:] else len(words) - 1
    word = words[index]
    if word in _IRREGULAR:
        forms = [_IRREGULAR[word]]
    elif re.search(r"[^aeiou]y$", word):
        forms = [word[:-1] + "ies"]
    elif re.search(r"(s|x|z|ch|sh)$", word):
        forms = [word + "es"]
    elif word.endswith("o"):
        forms = [word + "es", word + "s"]
    elif word.endswith("fe"):
        forms = [word[:-2] + "ves", word + "s"]
    elif word.endswith(("lf", "af")):
        forms = [word[:-1] + "ves", word + "s"]
    else:
        forms = [word + "s"]
    return tuple(" ".join([*words[:index], form, *words[index + 1 :]]) for form in forms)


PURPOSELESS = frozenset(
    "a an the my your some his her our for to with from in on into of out it them".split()
)
"""Words that contribute nothing to the description of a purpose."""


def stems(purpose: str) -> frozenset[str]:
    """Return the stems of the words that describe a purpose."""
    return frozenset(stem(word) for word in purpose.split() if word not in PURPOSELESS)


def stem(word: str) -> str:
    """Return a word without its ending; 'cutting' and 'cut' have the same stem."""
    if word.endswith("ing") and len(word) > 5:
        word = word[:-3]
        if len(word) > 2 and word[-1] == word[-2]:
            word = word[:-1]
    elif word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        word = word[:-1]
    return word.removesuffix("e")


def build_lexicon(
    nouns: Iterable[tuple[str, str]],
    verbs: Iterable[tuple[str, Verb]],
    adjectives: Iterable[tuple[str, Adjective]],
    dishes: Iterable[tuple[str, Dish]],
    collective: Container[str] = (),
    loose: Iterable[tuple[str, str, str]] = (),
    rooms: Iterable[str] = (),
) -> Lexicon:
    """Build a lexicon from content words; function words are added.

    Args:
        nouns: (phrase, class) pairs, the preferred class of a phrase first; regular plurals are
            added.
        collective: Classes whose singular means all of their objects ('the cutlery').
        loose: (phrase, class, label) triples for phrases that properly name something else; omitted
            if the phrase has another meaning. For the label, see `Noun.loose`.
        rooms: Names of rooms.
    """
    entries: dict[tuple[str, ...], list[Entry]] = {}

    def add(phrase: str, entry: Entry) -> None:
        key = tuple(tokenize(phrase.replace("-", " ").lower()))
        known = entries.setdefault(key, [])
        if entry not in known:
            known.append(entry)

    nouns = list(nouns)
    # A label that is the plural of another label must not get a plural of its own.
    plural_labels = {plural for phrase, _ in nouns for plural in plurals(phrase.lower())}
    for phrase, verb in verbs:
        add(phrase, verb)
        add(_gerund(phrase), verb)
    for phrase, adjective in adjectives:
        add(phrase, adjective)
    for phrase, dish in dishes:
        add(phrase, dish)
        for plural in plurals(phrase):
            add(plural, dish)
    for phrase, object_class in nouns:
        many = phrase.lower() in plural_labels
        together = object_class in collective or phrase in collective
        add(phrase, Noun(object_class, plural=many, collective=together))
        if not many:
            for plural in plurals(phrase.lower()):
                add(plural, Noun(object_class, plural=True))
    # Collected before function words are added: a misspelt thing must not be read as 'the'.
    content = frozenset(key[0] for key in entries if len(key) == 1 and len(key[0]) > 2)
    for phrase, word in _function_words(rooms):
        add(phrase, word)
    taken = frozenset(entries)
    for phrase, object_class, label in loose:
        for number, form in enumerate((phrase, *plurals(phrase))):
            if tuple(tokenize(form)) not in taken:
                add(form, Noun(object_class, plural=number > 0, loose=label))
    known_entries = {key: tuple(value) for key, value in entries.items()}
    return Lexicon(known_entries, content)


def _function_words(rooms: Iterable[str]) -> Iterator[tuple[str, FunctionWord]]:
    for role, phrases in FUNCTION_WORDS.items():
        items = phrases.items() if isinstance(phrases, Mapping) else ((p, p) for p in phrases)
        for phrase, value in items:
            yield phrase, FunctionWord(role, value)
    for role, patterns in ROOM_WORDS.items():
        for room in rooms:
            for pattern in patterns:
                phrase = pattern.format(room)
                yield phrase, FunctionWord(role, phrase)


def _gerund(phrase: str) -> str:
    first, *rest = phrase.split()
    if first.endswith("e") and not first.endswith("ee"):
        stem = first[:-1]
    elif re.search(r"[^aeiou][aeiou][bdgmnprt]$", first) and first not in {"open", "deliver"}:
        stem = first + first[-1]
    else:
        stem = first
    return " ".join([stem + "ing", *rest])


# Vocabulary ---------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def load_lexicon(ontology: Ontology) -> Lexicon:
    """Return the cached lexicon of an ontology."""
    verbs = list(_verbs(ontology))
    roles = roles_of(ontology)
    filled = roles.predicate(FILLED)
    lexicon = build_lexicon(
        list(_nouns(ontology)),
        verbs,
        [*_adjectives(ontology), *_participles(ontology)],
        list(_dishes(ontology)),
        frozenset(
            name for name in ontology.subjects("collective") if _flag(ontology, name, "collective")
        )
        | {str(word) for _, word in ontology.pairs("whole")},
        _loose_nouns(ontology),
        [label for name in ontology.instances("Room") for label in ontology.labels(name)],
    )
    examples = {of: ontology.label(name) for name, of in ontology.pairs("exampleOf")}
    return replace(
        lexicon,
        fixed=_fixed(ontology, roles),
        tableware=frozenset(
            c for c in ontology.object_types if roles.plays(c, CARRIER, VESSEL, BESIDE)
        ),
        fillings=_fillings(ontology),
        idioms=_idioms(ontology),
        examples=examples,
        full=f"({filled} ?x)" if filled else "",
        purposes=_purposes(ontology),
        features=_words_of(ontology, "feature"),
        uses=_words_of(ontology, "usedFor"),
        proposals={
            tokenize(label): tuple(map(str, ontology.annotation(name, "plainly")))
            for name in ontology.instances("Proposal")
            for label in ontology.labels(name)
        },
        remedies={
            tokenize(label): str(verb)
            for name, verb in ontology.pairs("remedy")
            for label in ontology.labels(name)
        },
    )


def _fixed(ontology: Ontology, roles: Roles) -> Mapping[str, frozenset[str]]:
    """Return the classes whose types cannot be carried, such as 'table', each with its types."""
    types = frozenset(ontology.object_types)
    below = {c: types & ontology.subclasses(c, reflexive=True) for c in ontology.classes()}
    return {
        name: kinds
        for name, kinds in below.items()
        if kinds and not any(roles.plays(kind, PORTABLE) for kind in kinds)
    }


def _purposes(ontology: Ontology) -> Mapping[frozenset[str], tuple[str, ...]]:
    names: dict[frozenset[str], list[str]] = {}
    for name in sorted({name for name, _ in ontology.pairs("usedFor") if ontology.has_class(name)}):
        for purpose in ontology.annotation(name, "usedFor"):
            names.setdefault(stems(str(purpose)), []).append(ontology.label(name))
    return {words: tuple(dict.fromkeys(found)) for words, found in names.items()}


def _words_of(ontology: Ontology, prop: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for name in sorted({name for name, _ in ontology.pairs(prop) if ontology.has_class(name)}):
        words = [stems(str(words)) for words in ontology.annotation(name, prop)]
        found[ontology.label(name)] = frozenset[str]().union(*words)
    return found


def _idioms(ontology: Ontology) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {
        tokenize(label): tokenize(_needed(ontology, name, "plainly"))
        for name in ontology.instances("Idiom")
        for label in ontology.labels(name)
    }


def _fillings(ontology: Ontology) -> dict[str, Part]:
    parts = [
        _part(ontology, name)
        for name in sorted(ontology.instances("Part"))
        if _flag(ontology, name, "filling")
    ]
    sources = {p: c for c in ontology.object_types for p in ontology.related("slicesInto", c)}
    named = {part.object_class: part for part in parts}
    return named | {sources[c]: part for c, part in named.items() if c in sources}


def _part(ontology: Ontology, name: str) -> Part:
    return Part(
        _needed(ontology, name, "ofClass"),
        int(_one(ontology, name, "count") or 1),
        _one(ontology, name, "condition"),
    )


def _one(ontology: Ontology, name: str, prop: str) -> str | None:
    values = ontology.annotation(name, prop)
    return str(values[0]) if values else None


def _flag(ontology: Ontology, name: str, prop: str) -> bool:
    return _one(ontology, name, prop) in {"True", "true"}


def _needed(ontology: Ontology, name: str, prop: str) -> str:
    value = _one(ontology, name, prop)
    if value is None:
        raise DataFileError(f"ontology: k:{name} lacks the annotation k:{prop}")
    return value


def _nouns(ontology: Ontology) -> Iterator[tuple[str, str]]:
    types, roles = frozenset(ontology.object_types), roles_of(ontology)
    unnamed = {name for name, value in ontology.pairs("neverNamed") if value in {"True", "true"}}
    for name in sorted(ontology.classes(), key=lambda c: (c not in types, c)):
        if name in unnamed or not roles.plays(name, THING):
            continue
        if roles.plays(name, AFFORDANCE) and name not in types and _is_affordance(ontology, name):
            continue
        for label in ontology.labels(name):
            yield label, name


def _loose_nouns(ontology: Ontology) -> Iterator[tuple[str, str, str]]:
    for name in sorted(ontology.object_types):
        for word in ontology.annotation(name, HIDDEN_LABEL.value):
            yield str(word), name, ontology.label(name)


def _is_affordance(ontology: Ontology, name: str) -> bool:
    return bool(
        ontology.annotation(name, "pddlPredicate") or ontology.annotation(name, "thorField")
    )


def _verb(ontology: Ontology, name: str, word: str) -> Verb:
    return Verb(
        word,
        _needed(ontology, name, "frame"),
        _one(ontology, name, "condition"),
        _one(ontology, name, "requires"),
        tuple((_one(ontology, name, "place") or "").removeprefix("k:").split()),
        _one(ontology, name, "liquid"),
        _flag(ontology, name, "back"),
        _one(ontology, name, "by"),
        (_one(ontology, name, "byClass") or "").removeprefix("k:"),
        _flag(ontology, name, "ofDishes"),
    )


def learnt_verb(ontology: Ontology, kind: str) -> Verb | None:
    """Return the verb for a kind of frame of the learnt reader, or None."""
    name = next((n for n, learnt in ontology.pairs("learntAs") if learnt == kind), None)
    return None if name is None else _verb(ontology, name, ontology.label(name))


def _verbs(ontology: Ontology) -> Iterator[tuple[str, Verb]]:
    for name in ontology.instances("Verb"):
        for label in ontology.labels(name):
            yield label, _verb(ontology, name, label)


def _participles(ontology: Ontology) -> Iterator[tuple[str, Adjective]]:
    for name in ontology.instances("Verb"):
        verb = _verb(ontology, name, ontology.label(name))
        for word in ontology.annotation(name, "participle"):
            if verb.condition:
                yield (str(word), Adjective(str(word), verb.condition, False, verb.requires))


def _adjectives(ontology: Ontology) -> Iterator[tuple[str, Adjective]]:
    for name in ontology.instances("Adjective"):
        condition = _needed(ontology, name, "condition")
        selects = _flag(ontology, name, "selects")
        for label in ontology.labels(name):
            requires = _one(ontology, name, "requires")
            yield label, Adjective(label, condition, selects, requires)


def _dishes(ontology: Ontology) -> Iterator[tuple[str, Dish]]:
    for name in ontology.instances("Dish"):
        parts = tuple(_part(ontology, str(part)) for part in ontology.annotation(name, "part"))
        base = tuple(_part(ontology, str(part)) for part in ontology.annotation(name, "base"))
        dish = Dish(
            ontology.label(name),
            tuple((_one(ontology, name, "vesselOrder") or "").split()),
            _one(ontology, name, "liquid"),
            parts,
            _one(ontology, name, "place"),
            base,
        )
        for label in ontology.labels(name):
            yield label, dish
