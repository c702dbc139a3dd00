"""The recording of exchanges with a model, and the continuation of interrupted recordings."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import hvr
from hvr.base.files import append_json_line, write_whole, writing
from hvr.base.secrets import Scrubber
from hvr.base.texts import read_log
from hvr.errors import DataFileError, LLMError
from hvr.models import transcript
from hvr.models.errors import used
from hvr.models.model import Answer, Layer, Model, Request, Totals, outcome_of
from hvr.models.transcript import Exchange, Replay

# Earlier attempts ---------------------------------------------------------------------------------
# An interrupted run starts over, and its prompts are the same up to the interruption, so their
# answers come from the transcript: nothing is asked or paid for twice. The file
# `llm-aside.jsonl` beside it has the same format and holds paid exchanges outside the run:
#
# * the error that ended an attempt, because its request is sent again;
# * exchanges that the new attempt has not reached because it took another course. If it asks the
#   same after all, it gets that answer.


class EarlierTranscript:
    """The transcript of an interrupted run, and its exchanges that were set aside.

    Raises:
        DataFileError: A file is damaged or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.header, exchanges = transcript.read(path)
        self._used: list[Exchange] = []
        self._ahead = deque(exchanges)
        self._aside = list(set_aside(path))

    @property
    def ahead(self) -> bool:
        """Whether the run has not yet consumed all exchanges of the transcript."""
        return bool(self._ahead)

    @property
    def number(self) -> int:
        """The number of exchanges in the transcript."""
        return len(self._used) + len(self._ahead)

    @property
    def totals(self) -> Totals:
        """The usage of the exchanges set aside."""
        return totals(self._aside)

    def next(self, digest: str) -> tuple[Exchange, bool] | None:
        """Return the exchange of a prompt, and whether the transcript has it next.

        Returns:
            None if no earlier attempt had the prompt.
        """
        following = self._ahead[0] if self._ahead else None
        if following and following.line["digest"] == digest and not self._interrupted(following):
            self._used.append(self._ahead.popleft())
            return self._used[-1], True
        # The transcript must stay in the order of the run, so exchanges out of order move aside.
        self._put_aside(len(self._ahead))
        for exchange in self._aside:
            if exchange.line["digest"] == digest and not exchange.failed:
                self._aside.remove(exchange)
                return exchange, False
        return None

    def _interrupted(self, exchange: Exchange) -> bool:
        """Return whether an error ended the attempt, so that its request is asked again."""
        # A run goes on only after an unreadable answer. The answers to concurrent requests may
        # follow any other error.
        survived = (exchange.line["error"] or {}).get("kind") == "schema"
        return exchange.failed and (len(self._ahead) == 1 or not survived)

    def _put_aside(self, count: int) -> None:
        """Move the last exchanges of the transcript to the file beside it."""
        if not count:
            return
        kept = [*self._used, *self._ahead]
        moved = kept[-count:]
        del kept[-count:]
        aside = aside_of(self._path)
        # If the process was killed between writing the two files, some exchanges are already there.
        existing = Counter(map(_identity, _read(aside)))
        present = Counter(map(_identity, [*kept, *moved]))
        if not has_header(aside):
            append_json_line(aside, self.header)
        for exchange in moved:
            same = _identity(exchange)
            while existing[same] < present[same]:
                append_json_line(aside, exchange.line)
                existing[same] += 1
        lines = (self.header, *(exchange.line for exchange in kept))
        write_whole(
            self._path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        )
        for _ in moved:
            self._ahead.pop()
        self._aside += moved


def has_header(path: Path) -> bool:
    """Return whether a transcript exists with at least its header."""
    return path.is_file() and bool(read_log(path))


def aside_of(path: Path) -> Path:
    """Return the path of the set-aside exchanges of a transcript."""
    return path.with_name(f"{path.stem}-aside{path.suffix}")


def set_aside(path: Path) -> tuple[Exchange, ...]:
    """Return the paid exchanges that are not part of the run."""
    # Exchanges that were needed after all have moved to the transcript.
    used = Counter(map(_identity, transcript.read(path)[1]))
    rest = []
    for exchange in _read(aside_of(path)):
        if used[_identity(exchange)]:
            used[_identity(exchange)] -= 1
        else:
            rest.append(exchange)
    return tuple(rest)


def count_exchanges(path: Path) -> int:
    """Return the number of exchanges of earlier attempts, including those set aside."""
    return len(transcript.read(path)[1]) + len(set_aside(path)) if has_header(path) else 0


def totals(exchanges: Iterable[Exchange]) -> Totals:
    total = Totals()
    for exchange in exchanges:
        total = total.plus(exchange.usage, failed=exchange.failed)
    return total


def _read(aside: Path) -> tuple[Exchange, ...]:
    return transcript.read(aside)[1] if has_header(aside) else ()


def _identity(exchange: Exchange) -> str:
    values: Mapping[str, Any] = {**exchange.line, "number": 0}
    return json.dumps(values, sort_keys=True)


# Recording ----------------------------------------------------------------------------------------

_ANSWER = ("text", "data", "finish", "model", "source")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class _Timed:
    outcome: Answer | LLMError
    seconds: float
    date: datetime


def _answer_json(answer: Answer) -> dict[str, Any]:
    values = {n: getattr(answer, n) for n in _ANSWER}
    calls = [asdict(call) for call in answer.calls]
    return {**values, "calls": calls} if calls else values


class RecordingModel(Layer):
    """A layer that writes all exchanges, answers and errors, to a transcript.

    Each line is written before the answer is returned, so a crash loses nothing. Secrets are
    redacted. A recorded replay keeps the original times, dates, usage and header, so replaying a
    run reproduces its transcript byte for byte.

    An existing transcript is continued: prompts that it answers are not asked again (see
    `EarlierTranscript`).

    Args:
        header: Additional fields of the header, such as commit and settings.
        concurrency: Maximum number of requests at a time.

    Raises:
        DataFileError: The file cannot be written, or is not a transcript of this model.
    """

    def __init__(
        self,
        model: Model,
        path: Path,
        header: Mapping[str, Any] | None = None,
        *,
        scrubber: Scrubber | None = None,
        concurrency: int = 8,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _now,
    ) -> None:
        super().__init__(model)
        self._path = path
        self._scrubber = scrubber or Scrubber()
        self._most = concurrency
        self._clock = clock
        self._now = now
        self._lock = threading.Lock()
        self._number = 0
        self._earlier: EarlierTranscript | None = None
        if path.is_dir():
            raise DataFileError(f"cannot write the transcript {path}: it is a folder")
        if has_header(path):
            if not isinstance(model, Replay):
                self._resume()
                return
            self._restart(model)
        append_json_line(path, {**self._header(), **self._scrubber.value(header or {})})

    def aside(self) -> Totals:
        """Return the usage of earlier attempts that is not in the transcript."""
        return self._earlier.totals if self._earlier is not None else Totals()

    def answer(self, request: Request) -> Answer:
        if isinstance(self._model, Replay):
            # Keep the recorded line with its times, so that a replay writes the same file.
            exchange = self._model.exchange(request)
            self._append({**exchange.line, "purpose": request.purpose})
            return exchange.outcome()
        known = self._known(request)
        if known is not None:
            answer = known.outcome()
            # Keep the original source, so that the answer is counted as it was the first time.
            return replace(answer, source=known.line["answer"].get("source", "model"))
        outcome = self._add(request, self._timed(request))
        if isinstance(outcome, LLMError):
            raise outcome
        return outcome

    def answer_all(self, requests: Sequence[Request]) -> list[Answer | LLMError]:
        """Ask several requests concurrently; the transcript has them in their order."""
        resuming = self._earlier is not None and self._earlier.ahead
        if resuming or isinstance(self._model, Replay) or len(requests) < 2:
            return [outcome_of(self, request) for request in requests]
        waiting, answered = SimpleQueue[int](), SimpleQueue[tuple[int, _Timed | BaseException]]()
        for number in range(len(requests)):
            waiting.put(number)

        def work() -> None:
            while not waiting.empty():
                with suppress(Empty):
                    number = waiting.get_nowait()
                    try:
                        answered.put((number, self._timed(requests[number])))
                    except BaseException as error:
                        answered.put((number, error))

        for _ in range(min(len(requests), self._most)):
            # An interrupted program must not wait for a server that does not answer.
            threading.Thread(target=work, name="hvr-ask", daemon=True).start()
        found: dict[int, _Timed] = {}
        added: list[Answer | LLMError] = []
        try:
            while len(added) < len(requests):
                number, timed = answered.get()
                if isinstance(timed, BaseException):
                    raise timed
                found[number] = timed
                # Answers are recorded as soon as their order allows, so that little is paid twice.
                while len(added) in found:
                    added.append(self._add(requests[len(added)], found[len(added)]))
        finally:
            # After an error, no further request is sent.
            with suppress(Empty):
                while True:
                    waiting.get_nowait()
        return added

    def _timed(self, request: Request) -> _Timed:
        start, date = self._clock(), self._now()
        outcome = outcome_of(self._model, request)
        if isinstance(outcome, Answer):
            # Redact before use: a replay must return the same answer.
            text, data = self._scrubber.text(outcome.text), self._scrubber.value(outcome.data)
            outcome = replace(outcome, text=text, data=data)
        return _Timed(outcome, self._clock() - start, date)

    def _resume(self) -> None:
        self._earlier = EarlierTranscript(self._path)
        self._number = self._earlier.number
        sent, name = self._earlier.header["model"], self._scrubber.text(self.name)
        if sent != name:
            raise DataFileError(f"{self._path}: this is a transcript of {sent}, not of {name}")

    def _restart(self, model: Replay) -> None:
        """Delete an earlier recording of the same replay; repeating it costs nothing."""
        existing = transcript.read(self._path)[0]
        other = any(existing.get(name) != model.header.get(name) for name in ("model", "date"))
        if other or self._path.samefile(transcript.file_of(model.path)):
            raise DataFileError(f"{self._path}: another transcript already exists")
        with writing(self._path):
            self._path.unlink()

    def _known(self, request: Request) -> Exchange | None:
        """Return the recorded exchange of a request; None if the model must be asked."""
        if self._earlier is None:
            return None
        sent = self._scrubber.value(transcript.request_json(request))
        with self._lock:
            # New lines are written only once nothing is ahead.
            resuming = self._earlier.ahead
            known = self._earlier.next(transcript.digest(sent))
            if resuming:
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

    def _add(self, request: Request, timed: _Timed) -> Answer | LLMError:
        outcome = timed.outcome
        answer = outcome if isinstance(outcome, Answer) else None
        error = outcome if isinstance(outcome, LLMError) else None
        sent = self._scrubber.value(transcript.request_json(request))
        usage = answer.usage if answer else used(error or LLMError())
        line: dict[str, Any] = {
            "number": 0,
            "purpose": request.purpose,
            "digest": transcript.digest(sent),
            **sent,
            "answer": _answer_json(answer) if answer else None,
            "error": transcript.error_json(error) if error else None,
            "usage": asdict(usage),
            "seconds": round(timed.seconds, 3),
            "date": timed.date.isoformat(timespec="microseconds"),
        }
        self._append(self._scrubber.value(line))
        return outcome

    def _append(self, line: Mapping[str, Any]) -> None:
        with self._lock:
            self._number += 1
            append_json_line(self._path, {**line, "number": self._number})
