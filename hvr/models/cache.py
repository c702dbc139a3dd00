"""A cache on disk: no identical prompt is paid for twice."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from hvr.base.files import unwritable
from hvr.base.texts import parse_json
from hvr.errors import DataFileError
from hvr.models import transcript
from hvr.models.errors import NOTHING
from hvr.models.layer import Layer
from hvr.models.ledger import transaction
from hvr.models.model import Answer, Model, Request

_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    model TEXT NOT NULL, digest TEXT NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (model, digest)
) WITHOUT ROWID
"""
_PATIENCE_S = 30.0
"""Seconds to wait for another process that writes to the file."""


class Cache(Layer):
    """A model that remembers complete answers in an SQLite file, none cut off or withheld.

    Several processes may share the file. Of two that ask the same at the same time both pay;
    the first answer is kept. The prompts are not in the file, only their digests.

    Args:
        model: whom to ask for what is not there.
        path: the file; it is made when it is missing.
        scope: what else tells models apart, such as the address of the server.

    Raises:
        DataFileError: the file cannot be used.
    """

    def __init__(self, model: Model, path: Path, scope: str = "") -> None:
        super().__init__(model)
        self._path = path
        self._key = f"{model.name} {scope}".strip()
        # Not in the mode WAL, which processes of several machines cannot share.
        with transaction(path, "a cache of answers") as base:
            base.execute(_TABLE)

    def answer(self, request: Request) -> Answer:
        """See `Model`; a remembered answer used nothing and costs nothing.

        Raises:
            LLMError: what the model raises.
            DataFileError: the file cannot be used.
        """
        key = transcript.digest(transcript.request_json(request))
        with self._open() as base:
            row = base.execute(
                "SELECT answer FROM answers WHERE model = ? AND digest = ?", (self._key, key)
            ).fetchone()
        if row is not None:
            return Answer(**self._read(row[0]), usage=NOTHING, source="cache")
        answer = self._model.answer(request)
        if answer.finish == "stop":
            kept = {"text": answer.text, "data": answer.data, "model": answer.model}
            with self._open() as base:
                base.execute(
                    "INSERT OR IGNORE INTO answers VALUES (?, ?, ?)",
                    (self._key, key, json.dumps(kept)),
                )
        return answer

    def _read(self, text: str) -> dict[str, Any]:
        try:
            value = parse_json(text, strict=False)
            return {"text": value["text"], "data": value["data"], "model": value["model"]}
        except (ValueError, TypeError, KeyError):
            raise DataFileError(
                f"{self._path}: the cache of answers is corrupt; delete the file"
            ) from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # A connection belongs to a thread; opening one costs next to nothing beside an answer.
        try:
            with closing(sqlite3.connect(self._path, timeout=_PATIENCE_S)) as base, base:
                yield base
        except sqlite3.Error as error:
            raise unwritable(self._path, error, "cannot be used as a cache of answers") from None
