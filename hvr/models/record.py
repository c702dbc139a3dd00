"""The recording of all requests to a model and its answers, as they happen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hvr
from hvr.base.files import append_json_line, writing
from hvr.base.secrets.scrubber import Scrubber
from hvr.errors import DataFileError, LLMError
from hvr.models import transcript
from hvr.models.earlier import Earlier, begun
from hvr.models.errors import used
from hvr.models.layer import Layer
from hvr.models.model import Answer, Model, Request
from hvr.models.replay import Replay
from hvr.models.transcript import Exchange
from hvr.models.usage import Totals


def _now() -> datetime:
    return datetime.now(UTC)


class Recording(Layer):
    """A model whose exchanges go into a transcript, answers and errors alike.

    Each line is on its way to the disk before the answer is returned, so a crash loses nothing.
    Keys are taken out of what is written. A replay that is recorded keeps its times, dates,
    usage and header, so that replaying a run makes the same file, byte for byte.

    A transcript that is there is that of an earlier try, which is gone on with: what it was
    answered is not asked again (`hvr.models.earlier`).

    Args:
        model: whom to ask.
        path: the file.
        header: further fields of the first line, such as commit and settings.
        scrubber: the keys to take out.
        clock: seconds, for durations.
        now: the date.

    Raises:
        DataFileError: the file cannot be written, or is no transcript of this model.
    """

    def __init__(
        self,
        model: Model,
        path: Path,
        header: Mapping[str, Any] | None = None,
        *,
        scrubber: Scrubber | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _now,
    ) -> None:
        super().__init__(model)
        self._path = path
        self._scrubber = scrubber or Scrubber()
        self._clock = clock
        self._now = now
        self._lock = threading.Lock()
        self._number = 0
        self._earlier: Earlier | None = None
        if path.is_dir():
            raise DataFileError(f"cannot write the transcript {path}: it is a folder")
        if begun(path):
            if not isinstance(model, Replay):
                self._go_on()
                return
            self._begin_anew(model)
        self._write({**self._header(), **self._scrubber.value(header or {})})

    def aside(self) -> Totals:
        """Return the usage of what earlier tries paid for and is no part of the transcript."""
        return self._earlier.totals if self._earlier is not None else Totals()

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            LLMError: what the model raises; it is written down first.
            DataFileError: the transcript cannot be written.
        """
        if isinstance(self._model, Replay):
            # The line as it was recorded, with its times: a replay makes the same file.
            exchange = self._model.exchange(request)
            self._append({**exchange.line, "purpose": request.purpose})
            return exchange.outcome()
        known = self._known(request)
        if known is not None:
            answer = known.outcome()
            # Where the answer once came from: it is counted like the first time.
            return replace(answer, source=known.line["answer"].get("source", "model"))
        start, date = self._clock(), self._now()
        try:
            answer = self._model.answer(request)
        except LLMError as error:
            self._add(request, None, error, self._clock() - start, date)
            raise
        # What is written is what is used: a replay must get the same.
        answer = replace(
            answer,
            text=self._scrubber.text(answer.text),
            data=self._scrubber.value(answer.data),
        )
        self._add(request, answer, None, self._clock() - start, date)
        return answer

    def _go_on(self) -> None:
        """Read what an earlier try was answered.

        Raises:
            DataFileError: it asked another model, or its transcript is damaged.
        """
        self._earlier = Earlier(self._path)
        self._number = self._earlier.number
        asked, name = self._earlier.header["model"], self._scrubber.text(self.name)
        if asked != name:
            raise DataFileError(f"{self._path}: this is a transcript of {asked}, not of {name}")

    def _begin_anew(self, model: Replay) -> None:
        """Remove what a replay has recorded: it asks nobody, and all answers are at hand.

        Raises:
            DataFileError: it is not this replay that was recorded.
        """
        there = transcript.read(self._path)[0]
        other = any(there.get(name) != model.header.get(name) for name in ("model", "date"))
        if other or self._path.samefile(transcript.file_of(model.path)):
            raise DataFileError(f"{self._path}: there is another transcript already")
        with writing(self._path):
            self._path.unlink()

    def _known(self, request: Request) -> Exchange | None:
        """Return what an earlier try was answered to a request; None if it is to be asked.

        Raises:
            DataFileError: the transcript cannot be written.
        """
        if self._earlier is None:
            return None
        asked = self._scrubber.value(transcript.request_json(request))
        with self._lock:
            # Nothing new is written as long as anything is ahead.
            going_on = self._earlier.ahead
            known = self._earlier.next(transcript.digest(asked))
            if going_on:
                self._number = self._earlier.number
        if known is None:
            return None
        exchange, in_place = known
        if not in_place:
            self._append(exchange.line)
        return exchange

    def _header(self) -> dict[str, Any]:
        if isinstance(self._model, Replay):
            return dict(self._model.header)
        return {
            "format": transcript.FORMAT,
            "version": transcript.VERSION,
            "model": self._scrubber.text(self.name),
            "simulated": self.simulated,
            "hvr": hvr.__version__,
            "date": self._now().isoformat(timespec="seconds"),
        }

    def _add(
        self,
        request: Request,
        answer: Answer | None,
        error: LLMError | None,
        seconds: float,
        date: datetime,
    ) -> None:
        asked = self._scrubber.value(transcript.request_json(request))
        usage = answer.usage if answer else used(error or LLMError())
        line: dict[str, Any] = {
            "number": 0,
            "purpose": request.purpose,
            "digest": transcript.digest(asked),
            **asked,
            "answer": _answer_json(answer) if answer else None,
            "error": transcript.error_json(error) if error else None,
            "usage": asdict(usage),
            "seconds": round(seconds, 3),
            "date": date.isoformat(timespec="microseconds"),
        }
        self._append(self._scrubber.value(line))

    def _append(self, line: Mapping[str, Any]) -> None:
        with self._lock:
            self._number += 1
            self._write({**line, "number": self._number})

    def _write(self, line: Mapping[str, Any]) -> None:
        append_json_line(self._path, line)


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "text": answer.text,
        "data": answer.data,
        "finish": answer.finish,
        "model": answer.model,
        "source": answer.source,
    }
