"""The head of the learnt reader: the encoder's tuned top layers and a pointer for each slot.

A slot looks at the pieces of a sentence, and points at a class by the vectors of the class's
labels; so a word that is added to the ontology counts without training. The sentence's words and
pairs of words add to every score. The file is made by `tools/train_learnt_reader.py`.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from hvr.base.extras import load
from hvr.errors import DataFileError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.roles import SLICED
from hvr.language.learnt.encoder import (
    EXTRA,
    LAYERS,
    WIDTH,
    Array,
    Layer,
    SentenceEncoder,
    softmax,
    transformed,
)
from hvr.language.learnt.frames import KINDS, Mentions, Ngrams

SLOTS = ("kind", "thing", "place", "carrier", SLICED)
POINTERS = ("thing", "place", "carrier")
"""The slots that point at classes."""

ROOM = 128
"""Numbers in the vectors in which slots and classes are compared."""

SHIPPED = Path(__file__).resolve().parent / "head.npz"


@dataclass(frozen=True)
class FrameScores:
    """What the head makes of a sentence.

    Args:
        kind: log probability of each kind.
        sliced: log probability that the thing is whole, and that it is in pieces.
        pointers: score of each class for each slot; the last is that of no class.
    """

    kind: Array
    sliced: tuple[float, float]
    pointers: Mapping[str, Array]


@dataclass(frozen=True)
class Labels:
    """The labels of the classes that a head points at.

    Args:
        vectors: of all labels in the space of the pointers, class by class.
        starts: where the labels of each class begin.
        mentions: finds labels in sentences.
    """

    vectors: Array
    starts: tuple[int, ...]
    mentions: Mentions


class Head:
    """The head, from a file.

    Raises:
        DataFileError: it cannot be read.
    """

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
            raise DataFileError(f"{path}: no head of a learnt reader: {error}") from error
        self.digest = hashlib.sha256(data).hexdigest()[:12]
        """Says which head it is, in records of runs."""
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
        """Return the vectors of labels in the space of the pointers, kept or made now."""
        new = [label for label in labels if label not in self._labels]
        self._labels.update(zip(new, self._encoder.sentences(new), strict=True))
        vectors = self._np.stack([self._labels[label] for label in labels])
        return vectors @ self.weights["label.weight"].T

    def scores(self, text: str, labels: Labels) -> FrameScores:
        """Return what the head makes of a sentence."""
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
    """Return the scores of every slot from one row of all, or from many.

    Args:
        scores: of the kinds, of pieces, and of all classes and none for each pointer.
        classes: how many there are.
    """
    widths = {"kind": len(KINDS), SLICED: 1, **dict.fromkeys(POINTERS, classes + 1)}
    ends = list(accumulate(widths.values()))
    return {
        slot: scores[..., end - width : end]
        for (slot, width), end in zip(widths.items(), ends, strict=True)
    }


def labels_of(head: Head, ontology: Ontology) -> Labels:
    """Return the labels of a head's classes: the ontology's, or those that the head brought."""
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
    """Return the weights as numbers to compute with; those of eight bits have a scale beside."""
    weights = {}
    for name, tensor in stored.items():
        if name.endswith("#scale"):
            continue
        scale = stored.get(f"{name}#scale")
        weights[name] = tensor.astype(np.float32)
        if scale is not None:
            weights[name] *= scale.astype(np.float32)[:, None]
    return weights
