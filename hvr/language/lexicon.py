"""The words that hvr knows: those of the ontology, and the function words of English."""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from hvr.errors import LanguageError

_WORD = re.compile(r"[^\W\d_]+-\d+(?![\w-])|[^\W_]+(?:'[^\W\d_]+)?|[.;,!?]")

PARTICLES = frozenset({"on", "off", "up", "down", "away", "out", "back", "in", "open"})
"""Second words of verbs that can stand after the object."""

MAX_CHARACTERS = 2000
"""Longest request that is read: nobody says more to a robot at once, and reading takes time."""


@dataclass(frozen=True)
class Verb:
    """A verb: how it takes its objects (`frame`), what then holds of them (`condition`).

    `places`: classes where things go if no place is said; `liquid`: what is then in vessels
    of which nothing else is said ('boil the kettle').
    """

    word: str
    frame: str
    condition: str | None = None
    requires: str | None = None
    places: tuple[str, ...] = ()
    liquid: str | None = None


@dataclass(frozen=True)
class Adjective:
    """An adjective: the condition, and whether it only picks things out."""

    word: str
    condition: str
    selects: bool = False
    requires: str | None = None


@dataclass(frozen=True)
class Part:
    """A part of a dish: things of one class in a state."""

    object_class: str
    count: int = 1
    condition: str | None = None


@dataclass(frozen=True)
class Dish:
    """Something that can be made: a vessel with a liquid or parts in it.

    With `at` instead of vessels, the parts stand at a place of that class.
    """

    word: str
    vessels: tuple[str, ...] = ()
    liquid: str | None = None
    parts: tuple[Part, ...] = ()
    at: str | None = None


@dataclass(frozen=True)
class Noun:
    """A class of things.

    `plural`: the word said is a plural; `collective`: it means all of them ('cutlery').
    """

    object_class: str
    plural: bool = False
    collective: bool = False


@dataclass(frozen=True)
class FunctionWord:
    """A function word, such as a preposition, with its role."""

    role: str
    value: str | int = ""


Entry = Verb | Adjective | Dish | Noun | FunctionWord


@dataclass(frozen=True)
class Lexicon:
    """Phrases (tuples of words) and what each can mean.

    Args:
        entries: the phrases.
        words: single words that name things, actions or states, for suggestions.
    """

    entries: Mapping[tuple[str, ...], tuple[Entry, ...]]
    words: frozenset[str]

    @cached_property
    def longest(self) -> int:
        """Number of words of the longest phrase."""
        return max(map(len, self.entries))

    def matches(
        self, tokens: tuple[str, ...], start: int
    ) -> Iterator[tuple[int, tuple[Entry, ...]]]:
        """Yield the known phrases at a position with their lengths, the longest first."""
        for length in range(min(self.longest, len(tokens) - start), 0, -1):
            entries = self.entries.get(tokens[start : start + length])
            if entries:
                yield length, entries

    def lookup(self, phrase: str) -> tuple[Entry, ...]:
        """Return entries of exactly this phrase."""
        return self.entries.get(tuple(phrase.split()), ())

    @cached_property
    def separable(self) -> Mapping[str, Mapping[str, Verb]]:
        """Verbs of two words that can stand apart ('turn … on'), by their first and second word."""
        verbs: dict[str, dict[str, Verb]] = {}
        for key, entries in self.entries.items():
            if len(key) == 2 and key[1] in PARTICLES:
                for entry in entries:
                    if isinstance(entry, Verb):
                        verbs.setdefault(key[0], {}).setdefault(key[1], entry)
        return verbs

    def nearest(self, word: str, count: int = 2) -> tuple[str, ...]:
        """Return known words that look like an unknown one, or known phrases that it is a
        part of.
        """
        phrases = sorted(
            " ".join(key) for key, entries in self.entries.items()
            if word in key and not isinstance(entries[0], FunctionWord | Verb)
            and not (isinstance(entries[0], Noun) and entries[0].plural)
        )  # fmt: skip
        if phrases:
            return tuple(phrases[:count])
        # More than are returned, since a word and its plural are one suggestion.
        near = difflib.get_close_matches(word, sorted(self.words), n=8, cutoff=0.7)
        kept = [w for w in near if not any(w != o and w in plurals(o) for o in near)]
        return tuple(kept[:count])


def verb_of(lexicon: Lexicon, word: str) -> Verb:
    """Return the verb of a word that the ontology has."""
    return next(entry for entry in lexicon.lookup(word) if isinstance(entry, Verb))


def tokenize(text: str) -> tuple[str, ...]:
    """Split a text into lower-case words, object names such as `mug-1`, and punctuation.

    Raises:
        LanguageError: the text is empty or far too long.
    """
    if not text.strip():
        raise LanguageError("the request is empty: say what to do, for example 'make coffee'")
    if len(text) > MAX_CHARACTERS:
        raise LanguageError(
            f"the request has {len(text)} characters, at most {MAX_CHARACTERS} are read: "
            "ask for less at once"
        )
    return tuple(token.lower() for token in _WORD.findall(text.replace("\u2019", "'")))


def plurals(phrase: str) -> tuple[str, ...]:
    """Return the regular plurals of the last word, or of the first in 'slice of bread'."""
    words = phrase.split()
    index = words.index("of") - 1 if "of" in words[1:] else len(words) - 1
    word = words[index]
    if re.search(r"[^aeiou]y$", word):
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


_FUNCTION_WORDS: Mapping[str, Mapping[str, str | int] | Iterable[str]] = {
    # Counts: 0 is all there are, -1 is some.
    "det": {
        "a": 1, "an": 1, "the": "the", "some": -1, "all": 0, "every": 0, "each": 0, "both": 0,
        "any": 1, "my": "the", "your": "the", "our": "the", "another": "other", "this": "the",
        "that": "the", "these": "the", "those": "the", "all the": 0, "all of the": 0,
        "each of the": 0, "both of the": 0, "both the": 0, "one of the": 1, "all my": 0,
        "a new": "other", "a second": "other", "the other": "other", "some of the": -1,
        "a few": -1, "several": -1, "any of the": 1, "a little": 1, "a bit of": 1,
        "some more": -1, "all of": 0, "both of": 0, "each of": 0, "every single": 0, "its": "the",
        "the second": "other", "every one of the": 0, "any of": 1,
    },
    "number": {
        "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
        "nine": 9, "ten": 10, "a couple of": 2, "a pair of": 2, "a couple": 2, "a single": 1,
        "half a dozen": 6, "a dozen": 12,
    },
    "pronoun": {"it": 1, "them": 0, "that one": 1, "this one": 1, "those ones": 0, "both": 0,
                "they": 0, "these": 0, "those": 0, "the two": 0, "both of them": 0,
                "all of them": 0, "all of it": 1, "each of them": 0, "the result": 1,
                "the lot": 0},
    "everything": ("everything", "all things", "all the things", "all objects",
                   "all the objects", "anything", "all the stuff", "all the items", "every item",
                   "every object"),
    "prep": {
        "in": "in", "into": "in", "inside": "in", "inside of": "in", "within": "in",
        "on": "on", "onto": "on", "on top of": "on", "upon": "on", "at": "on", "to": "on",
        "over": "on", "back in": "in", "back into": "in", "back on": "on", "back onto": "on",
        "back to": "on", "to the top of": "on", "over to": "on", "out on": "on",
        "down on": "on", "down in": "in", "away in": "in", "down onto": "on", "up on": "on",
        "over into": "in", "out onto": "on", "back inside": "in", "away into": "in", "up in": "in",
        "back on top of": "on", "down into": "in",
    },
    "from": ("from", "out of", "off", "off of", "from inside", "from the inside of", "from on",
             "from the top of", "away from", "from within"),
    "with": ("with", "containing", "holding", "full of", "filled with", "topped with",
             "together with", "along with", "that contains", "that has", "which contains",
             "which has", "that holds", "consisting of", "made of", "made from", "made with",
             "loaded with", "accompanied by", "garnished with"),
    "means": ("using", "by using", "by means of", "with the help of", "with the aid of", "via",
              "with the use of"),
    "of": ("of",),
    "and": ("and", "plus", "as well as", "and also", "and a side of", "and both"),
    "then": ("then", "and then", "after that", "afterwards", "afterward", "and after that",
             "next", "finally", "and finally", "subsequently", "lastly", "thereafter",
             "followed by", "once done", "when done", "and afterwards", "and next",
             "when you are done", "when that is done", "secondly", "thirdly", "once that is done",
             "and only then", "so that", "in the end", "at the end", "to finish"),
    "before": ("before",),
    "after": ("after", "once"),
    "first": ("first", "firstly", "to begin with", "start by", "first of all", "begin by"),
    "slice": {"slice": 1, "slices": -1, "piece": 1, "pieces": -1, "chunk": 1, "chunks": -1,
              "bit": 1, "bits": -1, "leaf": 1, "leaves": -1,
              "wedge": 1, "wedges": -1, "portion": 1, "portions": -1},
    "modal": ("should", "must", "shall", "needs to", "need to", "has to", "have to", "ought to",
              "will", "is to", "are to", "is supposed to", "are supposed to"),
    "be": ("is", "are", "be", "being", "gets", "get to be", "stand", "stands", "sit",
           "sits", "lie", "lies", "stay", "stays", "remain", "remains", "end up", "ends up",
           "become", "becomes", "goes", "belongs", "is left", "are left", "is placed",
           "are placed", "is put", "are put", "be placed", "be put", "be left", "be kept",
           "is kept", "was", "were", "be moved", "be brought", "be stored", "is being"),
    "have": ("contain", "contains", "has", "have", "hold", "holds", "be filled with",
             "is filled with", "are filled with", "be full of", "is full of", "are full of"),
    "needing": ("needs", "need", "wants", "requires"),
    "relative": ("that is", "that are", "which is", "which are", "that's", "that was",
                 "which was", "that stands", "that sits", "that lies", "which stands",
                 "which sits", "which lies", "that you find", "that you found", "that were",
                 "located", "standing", "lying", "sitting", "currently"),
    "there": ("in", "inside", "in there", "on there", "on top", "inside there", "into there"),
    "hand": ("in your hand", "in the hand", "in hand", "in its hand", "in my hand", "in your hands",
             "into your hand", "in the robot's hand", "in one hand", "in a hand"),
    "use": ("use",),
    "to": ("to", "in order to", "and"),
    "placed": ("placed", "put", "kept", "stored", "left", "laid", "moved", "served", "brought",
               "found", "transferred", "returned"),
    "goal": ("i want", "i would like", "i'd like", "i need", "give me", "let me have", "we need",
             "can i have", "could i have", "may i have", "i'll have", "there should be",
             "there is", "there are", "i want there to be", "we want", "we would like",
             "i wish for", "i'd love", "i would love", "i want to have", "i would like to have",
             "i'd like to have", "i want to see", "can i get", "could i get", "the goal is",
             "there must be", "i want to drink", "i want to eat", "i'd like to drink",
             "i'd like to eat", "i would like to eat", "i would like to drink", "end with",
             "there shall be", "there needs to be", "there has to be", "there ought to be",
             "let there be", "have", "keep", "we'd like", "we'd love", "i wish", "could we have",
             "can we have", "may we have", "i fancy", "i could do with", "there to be",
             "i'm craving", "i am craving", "how about", "i'd love to have", "i feel like",
             "i prefer", "i'd prefer", "can we get", "give us", "we'll have", "i'll take"),
    "ensure": ("make sure", "make sure that", "ensure", "ensure that", "see to it that",
               "see that", "check that", "be sure that", "make certain", "make certain that",
               "be sure", "see to it", "be sure to", "make sure to", "remember to",
               "don't forget to", "do not forget to", "remember that", "verify that",
               "make sure you", "make sure that you", "ensure you", "ensure that you"),
    "yourself": ("you to", "the robot to", "us to"),
    "filler": ("please", "could you", "can you", "would you", "will you", "you should", "help me",
               "let's", "lets", "let us", "kindly", "now", "also", "too", "robot", "hey", "ok",
               "okay", "just", "go and", "go", "try to", "for me", "to me", "for us", "me", "us",
               "i want you to", "i would like you to", "i'd like you to", "i need you to",
               "you must", "you need to", "your task is to", "the task is to", "right now",
               "again", "nice", "good", "hvr", "hello", "hi", "thanks", "thank you",
               "for breakfast", "for lunch", "for dinner", "for my guest", "for my guests",
               "for the guests", "would you mind", "maybe", "there", "would be nice",
               "it is time to", "i want to", "i would like to", "i'd like to", "we want to",
               "i need to", "we need to", "up", "out", "entire", "in the kitchen",
               "from the kitchen", "of the kitchen", "the kitchen's", "tasty", "delicious",
               "proper", "together", "straight", "directly", "somewhere", "ready",
               "prepared", "to drink", "to eat", "in here", "here", "over there", "today",
               "in order to", "be so kind", "lovely", "go ahead and", "you can", "you have to",
               "we should", "we have to", "i'd be grateful if you could", "as well",
               "cheers", "mate", "buddy", "dear", "as soon as you can", "when you can", "you",
               "if you can", "if you could", "if possible", "if you please", "if you would",
               "would you be so kind as to", "be so kind as to", "could", "would", "can",
               "do me a favour and", "do me a favor and", "be a dear and", "i'm thirsty",
               "i'm hungry", "i am thirsty", "i am hungry", "yourself", "myself",
               "good morning", "good evening",
               "immediately", "at once", "would you please", "well", "oh", "so", "could we",
               "can we", "are you able to", "do you think you could", "i think", "perhaps",
               "the robot should", "the robot must", "feel free to", "time to", "already",
               "in the room", "in this kitchen", "that we have", "you see", "that you can find",
               "of ours", "of mine", "itself", "all over", "a bit", "really", "very", "quite",
               "actually", "basically", "simply", "need you to", "want you to"),
    # Ignored, with a note that says so.
    "unheeded": ("small", "big", "large", "little", "tiny", "huge", "red", "green", "blue",
                 "white", "yellow", "brown", "black", "purple", "orange", "round", "old", "ripe",
                 "quickly", "slowly", "carefully", "gently", "quick", "simple", "nicely",
                 "thoroughly", "thinly", "thin", "thick", "finely", "evenly", "properly",
                 "wooden", "metal", "favourite", "favorite", "beautiful", "pretty", "best",
                 "nearest", "closest", "left", "right", "quietly", "fully", "completely",
                 "crispy", "crunchy", "soft", "golden", "strong", "weak", "sweet", "nicest",
                 "for a while", "for a bit", "for a minute", "for a moment", "lightly", "well done",
                 "extra", "juicy", "plain", "healthy"),
    "unsupported": ("without", "not", "don't", "do not", "never", "unless", "if", "until",
                    "except", "instead", "no", "but", "while", "when", "or", "half", "quarter",
                    "either", "neither", "nor", "cannot", "can't", "won't", "isn't", "aren't",
                    "nothing", "none", "avoid", "as soon as", "more than", "less than",
                    "at least", "at most", "whenever", "every time", "as long as", "unlike",
                    "rather than", "twice", "forever", "as many", "as much", "doesn't",
                    "shouldn't", "mustn't", "does not", "should not", "must not", "nobody",
                    "other than", "apart from", "half of", "only if", "swap", "exchange",
                    "didn't", "wouldn't", "wasn't", "nowhere"),
    "question": ("what", "where", "how many", "how", "who", "why", "which", "whose", "what's",
                 "where's", "is there", "are there", "does", "do you", "did"),
    "unplaced": ("next to", "by", "beside", "near", "behind", "under", "underneath", "below",
                 "above", "between", "in front of", "left of", "right of", "to the left of",
                 "to the right of", "close to", "against", "around", "beneath", "opposite",
                 "alongside", "by the side of", "among", "outside", "outside of", "towards",
                 "through", "across"),
}  # fmt: skip


def build_lexicon(
    nouns: Iterable[tuple[str, str]],
    verbs: Iterable[tuple[str, Verb]],
    adjectives: Iterable[tuple[str, Adjective]],
    dishes: Iterable[tuple[str, Dish]],
    collective: Container[str] = (),
) -> Lexicon:
    """Make a lexicon of every phrase.

    Args:
        nouns: (phrase, class) pairs, the most preferred class of a phrase first; regular
            plurals are added here.
        verbs: (phrase, verb) pairs in the base form.
        adjectives: (phrase, adjective) pairs.
        dishes: (phrase, dish) pairs.
        collective: classes whose singular means all of them together ('the cutlery').
    """
    entries: dict[tuple[str, ...], list[Entry]] = {}

    def add(phrase: str, entry: Entry) -> None:
        key = tuple(tokenize(phrase.replace("-", " ").lower()))
        known = entries.setdefault(key, [])
        if entry not in known:
            known.append(entry)

    nouns = list(nouns)
    # A label that is the plural of another label must not get a plural of its own.
    said_as_plural = {plural for phrase, _ in nouns for plural in plurals(phrase.lower())}
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
        many = phrase.lower() in said_as_plural
        add(phrase, Noun(object_class, plural=many, collective=object_class in collective))
        if not many:
            for plural in plurals(phrase.lower()):
                add(plural, Noun(object_class, plural=True))
    # Before the function words come in: nobody who misspells a thing means 'the'.
    content = frozenset(key[0] for key in entries if len(key) == 1 and len(key[0]) > 2)
    for role, phrases in _FUNCTION_WORDS.items():
        items = phrases.items() if isinstance(phrases, Mapping) else ((p, p) for p in phrases)
        for phrase, value in items:
            add(phrase, FunctionWord(role, value))
    return Lexicon({key: tuple(value) for key, value in entries.items()}, content)


def _gerund(phrase: str) -> str:
    """Return the -ing form of the first word: 'make up' gives 'making up'."""
    first, *rest = phrase.split()
    if first.endswith("e") and not first.endswith("ee"):
        stem = first[:-1]
    elif re.search(r"[^aeiou][aeiou][bdgmnprt]$", first) and first not in {"open", "deliver"}:
        stem = first + first[-1]
    else:
        stem = first
    return " ".join([stem + "ing", *rest])
