"""Frames: the requests that the learnt reader can express, and their meaning.

A frame becomes a `Meaning`, like a sentence that the grammar reads, and is subject to the same
checks of affordances and of the scene.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hvr.base.registry import load
from hvr.errors import ImpossibleGoalError
from hvr.knowledge.ontology import Ontology
from hvr.language.function_words import FUNCTION_WORDS
from hvr.language.learnt import EXTRA
from hvr.language.learnt.encoder import Array, WordPieces
from hvr.language.lexicon import learnt_verb, plurals, tokenize
from hvr.language.meaning import Condition, Entity, Meaning, SpatialRelation
from hvr.language.taxonomy import Taxonomy, literals

OTHER = "other"
"""The kind of all requests that no frame can express."""

KINDS = ("place", "two", "stack", "hold", "clean", "heat", "cool", "slice", OTHER)
"""The kinds of frames; in the ontology, `k:learntAs` links verbs to them."""

PLACING = frozenset({"place", "two", "stack", "clean", "heat", "cool"})
"""Kinds of requests that may put an object somewhere."""

ONLY_PLACING = frozenset({"place", "two", "stack"})
"""Kinds of requests that must put an object somewhere."""


@dataclass(frozen=True)
class Frame:
    """A request in terms of ontology classes.

    Args:
        kind: One of `KINDS`.
        thing: Class of the object.
        place: Class of the destination, if any.
        carrier: Class of the dish that holds the object at its place (only for "stack").
        sliced: Whether slices of the object are meant.
    """

    kind: str
    thing: str
    place: str | None = None
    carrier: str | None = None
    sliced: bool = False


def meaning_of(frame: Frame, text: str, taxonomy: Taxonomy) -> Meaning:
    pieces = taxonomy.pieces(frame.thing) if frame.sliced else None
    thing = pieces or frame.thing
    conditions = []
    if frame.kind not in ONLY_PLACING:
        verb = learnt_verb(taxonomy.ontology, frame.kind)
        if verb is None or verb.condition is None:
            raise ImpossibleGoalError(f"nothing in this world can {frame.kind} things")
        conditions.append(Condition(verb.condition, 0, verb.word, verb.requires))
    entities = [
        Entity(
            (thing,),
            taxonomy.label(thing),
            count=2 if frame.kind == "two" else 1,
            conditions=tuple(conditions),
        )
    ]
    relations = []
    for place in filter(None, (frame.carrier, frame.place)):
        entities.append(Entity((place,), taxonomy.label(place)))
        inner = len(entities) - 2
        relations.append(SpatialRelation(inner, inner + 1, 0, taxonomy.relation(place)))
    moves = (0,) if frame.kind in ONLY_PLACING else ()
    return Meaning(text, tuple(entities), tuple(relations), 1, moves=moves)


def states_of(ontology: Ontology) -> frozenset[str]:
    """Return the predicates of the states that a frame can request together with a place."""
    verbs = (learnt_verb(ontology, kind) for kind in sorted(PLACING - ONLY_PLACING))
    return frozenset(
        name
        for verb in verbs
        if verb is not None and verb.condition
        for name, _ in literals(verb.condition)
    )


# Limits -------------------------------------------------------------------------------------------
# The learnt reader rejects requests with words that no frame can express. It would read the rest
# and do something else: "slice half the bread", "if it is dirty, wash it".

_BACK = re.compile(r" (?:back|return it|return them) (?=$|[.,;!?]|and |then |after |before )")
"""'Put it back' without a place, but not 'put it back on the table'."""

_MOST = 2
"""Maximum number of objects of one class in a frame."""


def beyond(request: str) -> str:
    """Return the first word or phrase that no frame can express; empty if there is none."""
    text = f" {' '.join(tokenize(request))} "
    text = _BACK.sub(" back where it was ", text)
    for phrase in _ENSURING:  # 'don't forget to wash it' forbids nothing
        text = text.replace(f" {phrase} ", " ")
    found = [(text.index(f" {phrase} "), phrase) for phrase in _PHRASES if f" {phrase} " in text]
    return min(found)[1] if found else ""


_SILENT = ("unsupported", "question", "everything", "except", "rest", "until", "instead", "none",
           "forbid", "without", "be not", "be never", "dismiss", "report", "twice")  # fmt: skip


def _phrases() -> Iterator[str]:
    for role in _SILENT:
        yield from _words(role)
    yield from (phrase for phrase in _words("origin") if " " in phrase)
    for role in ("det", "number"):
        words = FUNCTION_WORDS[role]
        assert isinstance(words, Mapping)
        yield from (
            phrase
            for phrase, count in words.items()
            if (count == 0 and "both" not in phrase and phrase != "each")
            or (isinstance(count, int) and count > _MOST)
        )


def _words(role: str) -> Iterable[str]:
    return FUNCTION_WORDS.get(role, ())


_ENSURING = tuple(sorted(_words("ensure"), key=len, reverse=True))
_PHRASES = tuple(sorted(set(_phrases())))


# Mentions -----------------------------------------------------------------------------------------


class Mentions:
    """Finds the labels of classes in sentences."""

    def __init__(self, labels: Mapping[str, Iterable[str]], pieces: WordPieces) -> None:
        self._np = load("numpy", "numpy", EXTRA)
        self._width = len(labels) + 1
        owners: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for number, texts in enumerate(labels.values()):
            for text in texts:
                for form in (text, *plurals(text)):
                    owners[tuple(pieces.numbers(form)[1:-1])].add(number)
        self._owners = {label: sorted(classes) for label, classes in owners.items()}
        self._longest = max(map(len, self._owners), default=0)

    def marks(self, numbers: Sequence[int]) -> Array:
        """Return how strongly each piece names each class, with shape (pieces, classes + 1).

        Longer labels take precedence, from left to right. If several classes have the same label,
        each gets an equal share. The last column is for pieces that name no class.

        Args:
            numbers: The piece ids of the sentence.
        """
        marks = self._np.zeros((len(numbers), self._width), self._np.float32)
        start = 0
        while start < len(numbers):
            ends = range(min(len(numbers), start + self._longest), start, -1)
            end = next((e for e in ends if tuple(numbers[start:e]) in self._owners), 0)
            if end:
                classes = self._owners[tuple(numbers[start:end])]
                marks[start:end, classes] = 1.0 / len(classes)
            start = max(end, start + 1)
        return marks


# Ngrams -------------------------------------------------------------------------------------------
# Words and bigrams of a sentence have a weight for every score of the head. They capture what the
# encoder blurs, such as "knife in it", which implies a dish. They are trained apart from the
# pointers and make different errors, so the sum is more accurate than each alone.

_WORD = re.compile(r"[a-z]+|\d+|[.,;]")
_BEGIN, _END = "<", ">"


def grams(text: str) -> list[str]:
    """Return the distinct words and bigrams of a sentence, sorted; marks stand for its two ends."""
    words = _WORD.findall(text.lower())
    marked = [_BEGIN, *words, _END]
    return sorted({*words, *map(" ".join, pairwise(marked))})


def shares(rarity: Sequence[float]) -> Array:
    """Scale the inverse document frequencies of n-grams to a unit vector of weights."""
    np = load("numpy", "numpy", EXTRA)
    weights = np.asarray(rarity, np.float32)
    return weights / max(1e-6, float(np.linalg.norm(weights)))


class Ngrams:
    """Weights of known words and bigrams: one row per n-gram, one column per score."""

    def __init__(self, known: Sequence[str], rarity: Array, table: Array, bias: Array) -> None:
        self._numbers: Mapping[str, int] = {gram: number for number, gram in enumerate(known)}
        self._rarity, self._table, self._bias = rarity, table, bias

    def scores(self, text: str) -> Array:
        """Return the scores of a sentence by its known n-grams, including the bias."""
        found = [self._numbers[gram] for gram in grams(text) if gram in self._numbers]
        return shares(self._rarity[found]) @ self._table[found] + self._bias
