"""The learnt reader: its head, the search for the most likely frame, and its probability."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from hvr.base.registry import load
from hvr.errors import DataFileError, ImpossibleGoalError, LanguageError
from hvr.knowledge.ontology import CARRIER, DIVIDED, PORTABLE, SLICED, Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.claims import Coverage, Gate
from hvr.language.goal_builder import Goal, goal_of
from hvr.language.learnt import EXTRA
from hvr.language.learnt.encoder import (
    LAYERS,
    WIDTH,
    Array,
    Layer,
    SentenceEncoder,
    softmax,
    transformed,
)
from hvr.language.learnt.frames import (
    KINDS,
    ONLY_PLACING,
    OTHER,
    PLACING,
    Frame,
    Mentions,
    Ngrams,
    beyond,
    meaning_of,
)
from hvr.language.lexicon import Lexicon, tokenize
from hvr.language.paraphrase import paraphrase
from hvr.language.spelling import Corrected, corrections
from hvr.language.taxonomy import Taxonomy, literals
from hvr.pddl import Domain
from hvr.values import cached_property

# Head ---------------------------------------------------------------------------------------------
# The head consists of the encoder's tuned top layers and one pointer per slot.
#
# A slot attends to the pieces of a sentence and points at a class through the vectors of its
# labels, so a word that is added to the ontology works without training. The words and bigrams of
# the sentence add to every score. `tools/train_learnt_reader.py` creates the file.

SLOTS = ("kind", "thing", "place", "carrier", SLICED)
POINTERS = ("thing", "place", "carrier")
"""The slots of a frame whose values are classes."""

ROOM = 128
"""Dimension of the vectors in which slots and classes are compared."""

SHIPPED = Path(__file__).resolve().parent / "head.npz"


@dataclass(frozen=True)
class FrameScores:
    """Scores of the values of each slot for one sentence.

    Args:
        kind: Log probability of each of `KINDS`.
        sliced: Log probabilities of whole and of sliced objects.
        pointers: By slot, a score for each class and, last, for no class.
    """

    kind: Array
    sliced: tuple[float, float]
    pointers: Mapping[str, Array]


@dataclass(frozen=True)
class Labels:
    """The labels of a head's classes: their vectors, and the index of the first label per class."""

    vectors: Array
    starts: tuple[int, ...]
    mentions: Mentions


class Head:
    """The head of the learnt reader, loaded from a file."""

    def __init__(self, encoder: SentenceEncoder, path: Path = SHIPPED) -> None:
        self._encoder = encoder
        self.pieces = encoder.pieces
        self._np = load("numpy", "numpy", EXTRA)
        try:
            data = path.read_bytes()
            with self._np.load(io.BytesIO(data), allow_pickle=False) as file:
                stored = {name: file[name] for name in file.files}
            about = json.loads(str(stored.pop("about")))
            self.weights: Mapping[str, Array] = _restored(stored, self._np)
            self._ngrams = Ngrams(
                about["grams"],
                *(self.weights[f"gram.{part}"] for part in ("rarity", "table", "bias")),
            )
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise DataFileError(f"{path} is not the head of a learnt reader: {error}") from error
        self.digest = hashlib.sha256(data).hexdigest()[:12]
        """Digest that identifies the head in recorded runs."""
        self.about: Mapping[str, Any] = about
        self.classes: tuple[str, ...] = tuple(about["classes"])
        lead = "layer."
        self._tuned: dict[int, Layer] = {
            number: {
                name.removeprefix(f"{lead}{number}."): tensor
                for name, tensor in self.weights.items()
                if name.startswith(f"{lead}{number}.")
            }
            for number in about["tuned"]
        }
        shipped = [label for labels in about["labels"].values() for label in labels]
        self._labels = dict(zip(shipped, self.weights["labels"], strict=True))

    def label_vectors(self, labels: Sequence[str]) -> Array:
        """Return the vectors of labels, as projected by the head."""
        new = [label for label in labels if label not in self._labels]
        self._labels.update(zip(new, self._encoder.sentences(new), strict=True))
        vectors = self._np.stack([self._labels[label] for label in labels])
        return vectors @ self.weights["label.weight"].T

    def scores(self, text: str, labels: Labels) -> FrameScores:
        np = self._np
        states = self._encoder.states(text, min(self._tuned, default=LAYERS))
        for number in sorted(self._tuned):
            states = transformed(states, self._tuned[number])
        looks = {slot: self._looks(states, slot) for slot in SLOTS}
        pooled = {slot: look @ states for slot, look in looks.items()}
        marks = labels.mentions.marks(self.pieces.numbers(text))
        grams = split(self._ngrams.scores(text), len(self.classes))
        kind = pooled["kind"] @ self.weights["kind.weight"].T + self.weights["kind.bias"]
        kind = kind + grams["kind"]
        weight, bias = self.weights[f"{SLICED}.weight"], self.weights[f"{SLICED}.bias"]
        sliced = pooled[SLICED] @ weight.T + bias
        sliced = float((sliced + grams[SLICED])[0])
        pointers = {
            slot: self._pointed(pooled[slot], slot, labels)
            + self.weights[f"copy.{slot}"] * (looks[slot] @ marks)
            + grams[slot]
            for slot in POINTERS
        }
        # Log-sigmoids, in the form that does not overflow.
        whole = -math.log1p(math.exp(sliced)) if sliced < 30 else -sliced
        pieces = -math.log1p(math.exp(-sliced)) if sliced > -30 else sliced
        return FrameScores(np.log(softmax(kind)), (whole, pieces), pointers)

    def _looks(self, states: Array, slot: str) -> Array:
        return softmax(states @ self.weights[f"query.{slot}"] / math.sqrt(WIDTH))

    def _pointed(self, pooled: Array, slot: str, labels: Labels) -> Array:
        np = self._np
        point = pooled @ self.weights[f"aim.{slot}.weight"].T + self.weights[f"aim.{slot}.bias"]
        by_label = np.append(np.maximum.reduceat(labels.vectors @ point, labels.starts), 0.0)
        own = self.weights[f"own.{slot}"] @ point
        return (by_label + own) / math.sqrt(ROOM) + self.weights[f"bias.{slot}"]


def split(scores: Array, classes: int) -> dict[str, Array]:
    """Split rows of scores by slot: `kind`, `SLICED`, and each of `POINTERS`.

    The scores of a pointer are for each of the `classes` and, last, for no class.
    """
    widths = {"kind": len(KINDS), SLICED: 1, **dict.fromkeys(POINTERS, classes + 1)}
    ends = list(accumulate(widths.values()))
    return {
        slot: scores[..., end - width : end]
        for (slot, width), end in zip(widths.items(), ends, strict=True)
    }


def labels_of(head: Head, ontology: Ontology) -> Labels:
    """Return the labels of a head's classes, from the ontology or else from the head itself."""
    shipped = head.about["labels"]
    texts = {
        name: ontology.labels(name) if ontology.has_class(name) else shipped[name]
        for name in head.classes
    }
    counts = [len(labels) for labels in texts.values()]
    starts = tuple(sum(counts[:i]) for i in range(len(counts)))
    vectors = head.label_vectors([label for labels in texts.values() for label in labels])
    return Labels(vectors, starts, Mentions(texts, head.pieces))


def _restored(stored: Mapping[str, Array], np: Any) -> dict[str, Array]:
    weights = {}
    for name, tensor in stored.items():
        if name.endswith("#scale"):
            continue
        scale = stored.get(f"{name}#scale")
        weights[name] = tensor.astype(np.float32)
        if scale is not None:
            weights[name] *= scale.astype(np.float32)[:, None]
    return weights


# Decode -------------------------------------------------------------------------------------------

_BEAM = 5
"""Number of classes per slot that are combined with classes of other slots."""

_NONE = -1e4


@dataclass(frozen=True)
class Calibration:
    """A logistic model of the probability that a frame is right, given its log probabilities.

    Args:
        here: Weight of the log probability among the classes of the scene.
        anywhere: Weight of the log probability among all classes.
        shift: Constant term.
    """

    here: float = 1.0
    anywhere: float = 0.0
    shift: float = 0.0

    def probability(self, here: float, anywhere: float) -> float:
        z = self.here * here + self.anywhere * anywhere + self.shift
        return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, z))))


@dataclass(frozen=True)
class ScoredFrame:
    frame: Frame
    here: float
    anywhere: float


class Space:
    """The frames that a head can express; by default, they use only classes of the scene."""

    def __init__(
        self, classes: tuple[str, ...], taxonomy: Taxonomy, *, restricted: bool = True
    ) -> None:
        self._np = load("numpy", "numpy", EXTRA)
        self._classes = classes
        self._restricted = restricted
        known = [taxonomy.ontology.has_class(c) for c in classes]
        pairs = list(zip(classes, known, strict=True))
        placed = {p for c in taxonomy.portable for p in taxonomy.places(c)}
        self._suited: Mapping[str, tuple[bool, ...]] = {
            "thing": tuple(k and taxonomy.plays(c, PORTABLE) for c, k in pairs),
            "place": tuple(k and c in placed for c, k in pairs),
            "carrier": tuple(k and taxonomy.plays(c, CARRIER) for c, k in pairs),
        }
        self._cut = frozenset(c for c, k in pairs if k and taxonomy.pieces(c))

    def ranked(self, scores: FrameScores, here: frozenset[str]) -> list[ScoredFrame]:
        """Return the frames, most likely first; `here` are the classes of the scene."""
        if not self._restricted:
            here = frozenset(self._classes)
        fills = {slot: list(self._filled(scores.pointers[slot], slot, here)) for slot in POINTERS}
        candidates = [
            candidate
            for kind, log in zip(KINDS, scores.kind, strict=True)
            for candidate in self._of_kind(kind, float(log), scores, fills)
        ]
        return sorted(candidates, key=lambda c: -round(c.here, 6))

    def _filled(
        self, pointers: Array, slot: str, here: frozenset[str]
    ) -> Iterator[tuple[str | None, float, float]]:
        np = self._np
        able = [s and c in here for c, s in zip(self._classes, self._suited[slot], strict=True)]
        able.append(slot == "place")  # the last entry means no class
        if not any(able):
            return
        anywhere = _log_softmax(np, pointers)
        in_scene = _log_softmax(np, np.where(able, pointers, _NONE))
        for i in np.argsort(-in_scene, kind="stable")[:_BEAM]:
            if able[i]:
                name = self._classes[i] if i < len(self._classes) else None
                yield name, float(in_scene[i]), float(anywhere[i])

    def _of_kind(
        self,
        kind: str,
        log: float,
        scores: FrameScores,
        fills: Mapping[str, list[tuple[str | None, float, float]]],
    ) -> Iterator[ScoredFrame]:
        if kind == OTHER:
            yield ScoredFrame(Frame(OTHER, ""), log, log)
            return
        nothing: list[tuple[str | None, float, float]] = [(None, 0.0, 0.0)]
        places = fills["place"] if kind in PLACING else nothing
        carriers = fills["carrier"] if kind == "stack" else nothing
        for thing, *logs in fills["thing"]:
            assert thing is not None
            for sliced in (False, True):
                if sliced and (kind == "slice" or thing not in self._cut):
                    continue
                cut = scores.sliced[sliced] if thing in self._cut and kind != "slice" else 0.0
                for place, *at in places:
                    if place is None and kind in ONLY_PLACING:
                        continue
                    for carrier, *on in carriers:
                        here, anywhere = (
                            log + cut + a + b + c for a, b, c in zip(logs, at, on, strict=True)
                        )
                        yield ScoredFrame(
                            Frame(kind, thing, place, carrier, sliced), here, anywhere
                        )


def _log_softmax(np: Any, scores: Array) -> Array:
    top = scores.max()
    return scores - top - np.log(np.exp(scores - top).sum())


# Reader -------------------------------------------------------------------------------------------

_TRIED = 6
"""Maximum number of frames to try; those ranked lower are never likely."""

_LEAST = 0.02
"""Minimum probability of a frame to try."""


@dataclass(frozen=True)
class Reading:
    """A reading of a request by the learnt reader.

    Args:
        frame: The frame of the goal or, if there is no goal, a rejected frame.
        goal: The goal in the scene; None if no likely frame is possible in the scene.
        p: Probability that the frame is right.
        refusal: Why a more likely frame was rejected; empty if none was.
        whole: Whether the goal accounts for every content word, and the request names all its
            states.
    """

    frame: Frame
    goal: Goal | None
    p: float
    refusal: str = ""
    whole: bool = True


class LearntReader:
    """Reads requests with the encoder and its head; by default, only with classes of the scene.

    Raises:
        MissingExtraError: The extra `language` is not installed.
        DataFileError: The encoder or the head cannot be read.
    """

    def __init__(
        self,
        ontology: Ontology,
        domain: Domain,
        lexicon: Lexicon,
        taxonomy: Taxonomy,
        *,
        restricted: bool = True,
    ) -> None:
        self.ontology = ontology
        self.domain = domain
        self.lexicon = lexicon
        self.taxonomy = taxonomy
        self.head = Head(SentenceEncoder())
        self._space = Space(self.head.classes, taxonomy, restricted=restricted)
        self._calibration = Calibration(**self.head.about.get("calibration", {}))

    @cached_property
    def _labels(self) -> Labels:
        return labels_of(self.head, self.ontology)

    @cached_property
    def _limits(self) -> Any:
        return load("threadpoolctl", "threadpoolctl", EXTRA).ThreadpoolController()

    def read(self, request: str, inventory: Inventory) -> Reading:
        if beyond(request):
            return Reading(Frame(OTHER, ""), None, 0.0)
        with self._limits.limit(limits=1):
            scores = self.head.scores(request, self._labels)
        candidates = self._space.ranked(scores, frozenset(inventory.classes.values()))
        refusal = ""
        for candidate in candidates[:_TRIED]:
            frame = candidate.frame
            p = round(self._calibration.probability(candidate.here, candidate.anywhere), 3)
            if frame.kind == OTHER or p < _LEAST:
                return Reading(frame, None, p, refusal)
            coverage = self._coverage(frame, request)
            if coverage.against:
                refusal = refusal or f"{', '.join(map(repr, coverage.against))} would be left out"
                continue
            if coverage.baseless:
                refusal = refusal or "no word asks for the state of the likeliest reading"
                continue
            try:
                goal = self._goal(frame, request, inventory)
            except ImpossibleGoalError as error:
                refusal = refusal or str(error)
                continue
            ignored = tuple(f"hvr ignores {word!r}" for word in coverage.ignored)
            goal = goal.replace(notes=(*goal.notes, *ignored), unread=coverage.ignored)
            whole = not (coverage.ignored or coverage.unsaid)
            return Reading(frame, goal, p, refusal, whole)
        return Reading(candidates[0].frame, None, 0.0, refusal)

    @cached_property
    def _gate(self) -> Gate:
        return Gate(self.lexicon, self.taxonomy)

    def _coverage(self, frame: Frame, request: str) -> Coverage:
        meaning = meaning_of(frame, request, self.taxonomy)
        classes = [c for entity in meaning.entities for c in entity.classes]
        conditions = [c.template for entity in meaning.entities for c in entity.conditions]
        states = {name for condition in conditions for name, _ in literals(condition)}
        if frame.sliced:
            states |= set(self.taxonomy.roles.predicates(DIVIDED))
        tokens = self._spelt(request).tokens
        return self._gate.coverage(tokens, classes, states, 2 if frame.kind == "two" else 1)

    def _spelt(self, request: str) -> Corrected:
        spelt, *others = corrections(tokenize(request), self.lexicon)
        if others:
            ways = " or ".join(", ".join(way.notes) for way in (spelt, *others))
            raise LanguageError(f"a misspelt word has several corrections: {ways}; correct it")
        return spelt

    def _goal(self, frame: Frame, request: str, inventory: Inventory) -> Goal:
        meaning = meaning_of(frame, request, self.taxonomy)
        goal = goal_of(meaning, self.taxonomy, inventory, self.domain)
        return goal.replace(
            notes=(*self._spelt(request).notes, *goal.notes),
            paraphrase=paraphrase(goal.stages, self.taxonomy, inventory, self.domain),
        )
