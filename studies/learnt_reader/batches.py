"""Examples for the learnt reader as tensors: classes, encodings and batches."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from hvr.knowledge.ontology import Ontology
from hvr.language.learnt.encoder import WIDTH, SentenceEncoder, WordPieces
from hvr.language.learnt.frames import Mentions
from hvr.language.learnt.reader import POINTERS
from hvr.language.taxonomy import Taxonomy
from studies.learnt_reader.examples import Example
from studies.learnt_reader.network import KIND_NUMBERS, Batch, Layer, Targets


@dataclass(frozen=True)
class Vocabulary:
    """The classes at which a head can point, with their labels.

    Args:
        classes: Class names, with the ontology's classes first.
        owners: Class index of each label.
        known: Indexes of the ontology's classes.
    """

    classes: tuple[str, ...]
    labels: tuple[str, ...]
    owners: tuple[int, ...]
    known: frozenset[int]

    @classmethod
    def of(cls, ontology: Ontology, examples: Sequence[Example]) -> Vocabulary:
        """Return the classes of the ontology, followed by other classes in the examples."""
        taxonomy = Taxonomy(ontology)
        own = [c for c in ontology.object_types if taxonomy.source(c) is None]
        said = {c for e in examples for c in (e.frame.thing, e.frame.place, e.frame.carrier) if c}
        foreign = sorted(said - set(own))
        classes = (*own, *foreign)
        labels, owners = [], []
        for number, name in enumerate(classes):
            words = ontology.labels(name) if name in own else (spaced(name),)
            labels += words
            owners += [number] * len(words)
        return cls(classes, tuple(labels), tuple(owners), frozenset(range(len(own))))

    def ordered(self, classes: Sequence[str]) -> Vocabulary:
        """Return the vocabulary in the order of a head's classes, without any that it lacks."""
        labels = self.labels_of_classes
        pairs = [(n, label) for n, name in enumerate(classes) for label in labels.get(name, ())]
        own = {self.classes[n] for n in self.known}
        return Vocabulary(
            tuple(classes), tuple(label for _, label in pairs), tuple(n for n, _ in pairs),
            frozenset(n for n, name in enumerate(classes) if name in own),
        )  # fmt: skip

    @property
    def labels_of_classes(self) -> dict[str, list[str]]:
        names = dict.fromkeys(self.classes)
        pairs = list(zip(self.owners, self.labels, strict=True))
        return {c: [label for o, label in pairs if o == i] for i, c in enumerate(names)}


def spaced(name: str) -> str:
    """Return a type name in words, such as "alarm clock" for `AlarmClock`."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


class States:
    """A cache on disk of the sentences' vectors after the first `layers` layers of the encoder."""

    def __init__(
        self, texts: Sequence[str], encoder: SentenceEncoder, layers: int, cache: Path,
        say: Callable[[str], None] = print,
    ) -> None:  # fmt: skip
        self.texts = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        key = hashlib.sha256(json.dumps([layers, list(self.texts)]).encode()).hexdigest()[:16]
        cache.mkdir(parents=True, exist_ok=True)
        path = cache / f"states-{key}.npz"
        if not path.is_file():
            self._make(encoder, layers, path, say)
        with np.load(path) as file:
            self.states, self.ends = file["states"], file["ends"]
        self.path = path

    def _make(
        self, encoder: SentenceEncoder, layers: int, path: Path, say: Callable[[str], None]
    ) -> None:
        below = [Layer(encoder.layer(n)).eval() for n in range(layers)]
        texts = list(self.texts)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        parts: list[np.ndarray] = [np.zeros((0, WIDTH), np.float16)] * len(texts)
        started = time.perf_counter()
        with torch.inference_mode():
            for begin in range(0, len(order), 64):
                some = order[begin : begin + 64]
                states, mask = padded([np.asarray(encoder.embedded(texts[i])) for i in some])
                for layer in below:
                    states = layer(states, mask)
                for i, row, present in zip(some, states, mask, strict=True):
                    parts[i] = row[present].numpy().astype(np.float16)
                if begin % 6400 == 0:
                    say(f"encoded {begin} of {len(texts)}, {time.perf_counter() - started:.0f} s")
        ends = np.cumsum([len(p) for p in parts])
        np.savez(path, states=np.concatenate(parts), ends=ends)

    def of(self, text: str) -> np.ndarray:
        number = self.texts[text]
        begin = self.ends[number - 1] if number else 0
        return self.states[begin : self.ends[number]]


def padded(rows: Sequence[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows as one padded tensor, with a mask that is true for actual word pieces."""
    longest = max(map(len, rows))
    states = torch.zeros(len(rows), longest, WIDTH)
    mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    for i, row in enumerate(rows):
        states[i, : len(row)] = torch.from_numpy(np.asarray(row, np.float32))
        mask[i, : len(row)] = True
    return states, mask


class Meanings:
    """Converts the frames of examples to training targets.

    Args:
        scenes: Classes in each floor plan.
        restricted: Whether to compare only the classes in the scene.
    """

    def __init__(
        self, vocabulary: Vocabulary, scenes: Mapping[str, frozenset[str]], *, restricted: bool
    ) -> None:
        self.vocabulary = vocabulary
        self._numbers = {c: i for i, c in enumerate(vocabulary.classes)}
        kitchens = frozenset(vocabulary.classes[i] for i in vocabulary.known)
        self._scenes = {
            name: torch.tensor([c in classes for c in vocabulary.classes] + [True])
            for name, classes in {**scenes, "": kitchens}.items()
        }
        if not restricted:
            self._scenes = {n: torch.ones_like(m) for n, m in self._scenes.items()}

    def of(self, examples: Sequence[Example]) -> Targets:
        none = len(self._numbers)
        pointers = {
            slot: torch.tensor([self._numbers.get(getattr(e.frame, slot) or "", none)
                                for e in examples])
            for slot in POINTERS
        }  # fmt: skip
        allowed = torch.stack([self._scenes[e.scene] for e in examples])
        for target in pointers.values():
            allowed[torch.arange(len(examples)), target] = True
        kind = torch.tensor([KIND_NUMBERS[e.frame.kind] for e in examples])
        sliced = torch.tensor([float(e.frame.sliced) for e in examples])
        return Targets(kind, sliced, pointers, allowed)


class Batches:
    def __init__(self, meanings: Meanings, states: States, pieces: WordPieces) -> None:
        vocabulary = meanings.vocabulary
        self.meanings = meanings
        self.states = states
        self._pieces = pieces
        self._mentions = Mentions(vocabulary.labels_of_classes, pieces)
        self._width = len(vocabulary.classes) + 1

    def of(self, examples: Sequence[Example]) -> Batch:
        states, mask = padded([self.states.of(e.text) for e in examples])
        marks = torch.zeros(*mask.shape, self._width)
        for i, example in enumerate(examples):
            found = self._mentions.marks(self._pieces.numbers(example.text))
            marks[i, : len(found)] = torch.from_numpy(found)
        return Batch(states, mask, marks, self.meanings.of(examples))

    def shuffled(
        self, examples: Sequence[Example], size: int, rng: random.Random
    ) -> Iterator[Batch]:
        """Yield all examples in random order, in batches of sentences of similar length."""
        order = sorted(examples, key=lambda e: (len(self.states.of(e.text)), rng.random()))
        batches = [order[i : i + size] for i in range(0, len(order), size)]
        rng.shuffle(batches)
        for batch in batches:
            yield self.of(batch)
