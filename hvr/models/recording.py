"""Transcripts of requests and answers: recording, replay, continuation after an interruption."""

from __future__ import annotations

import difflib
import hashlib
import json
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import hvr
from hvr.base.declared import decode
from hvr.base.files import append_json_line, write_whole, writing
from hvr.base.secrets import Scrubber
from hvr.base.texts import read_log
from hvr.errors import BudgetError, CassetteError, DataFileError, LLMError, PlanBudgetError
from hvr.models.config import ModelOptions
from hvr.models.errors import KINDS, ModelError, used
from hvr.models.model import (
    Answer,
    Layer,
    Message,
    Model,
    ModelTool,
    ModelToolCall,
    Request,
    Totals,
    Usage,
    outcome_of,
)

# Transcript ---------------------------------------------------------------------------------------
# Transcripts: the file format of recorded exchanges, and their replay.

# A transcript consists of JSON lines: a header, then one line per exchange. An incomplete last
# line, left by a crash, is ignored.
#
#     {"format": "hvr-transcript", "version": 1, "model": …, "simulated": …, "hvr": …, "date": …, …}
#     {"number": 1, "purpose": …, "digest": …, "messages": […], "settings": {…}, "answer": {…},
#      "error": null, "usage": {…}, "seconds": …, "date": …}

FORMAT = "hvr-transcript"
VERSION = 1
NAME = "llm.jsonl"
"""Name of the transcript in a run folder."""

_ERRORS: Mapping[str, type[LLMError]] = {
    e.__name__: e for e in (LLMError, BudgetError, PlanBudgetError, CassetteError, ModelError)
}


@dataclass(frozen=True)
class Exchange:
    """A request and its answer or error, stored as one line of the transcript."""

    line: Mapping[str, Any]

    @property
    def request(self) -> Request:
        messages = tuple(
            Message(m["role"], m["text"], _calls(m.get("calls", ())), m.get("call_id", ""))
            for m in self.line["messages"]
        )
        settings = dict(self.line["settings"])
        stop = tuple(settings.pop("stop"))
        tools = tuple(ModelTool(**tool) for tool in settings.pop("tools", ()))
        purpose = self.line["purpose"]
        return Request(messages=messages, purpose=purpose, stop=stop, tools=tools, **settings)

    @property
    def usage(self) -> Usage:
        return Usage(**self.line["usage"])

    @property
    def failed(self) -> bool:
        return self.line["error"] is not None

    def outcome(self) -> Answer:
        """Return the recorded answer, with the source `replay`, or raise the recorded error."""
        error = self.line["error"]
        if error is not None:
            raise error_from(error, self.usage)
        answer = {k: v for k, v in self.line["answer"].items() if k not in ("source", "calls")}
        calls = _calls(self.line["answer"].get("calls", ()))
        return Answer(usage=self.usage, source="replay", calls=calls, **answer)


def _calls(values: Iterable[Mapping[str, Any]]) -> tuple[ModelToolCall, ...]:
    return tuple(ModelToolCall(**value) for value in values)


def _message_json(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.calls:
        value["calls"] = [asdict(call) for call in message.calls]
    return {**value, "call_id": message.call_id} if message.call_id else value


def request_json(request: Request) -> dict[str, Any]:
    """Return a request as JSON values, without its purpose, which is not sent."""
    tools = {"tools": [asdict(tool) for tool in request.tools]} if request.tools else {}
    return {
        "messages": [_message_json(m) for m in request.messages],
        "settings": {
            **tools,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "seed": request.seed,
            "schema": dict(request.schema) if request.schema is not None else None,
            "stop": list(request.stop),
        },
    }


def digest(request: Mapping[str, Any]) -> str:
    """Return the SHA-256 digest of a request in the form of `request_json`."""
    text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def error_json(error: LLMError) -> dict[str, Any]:
    known = next(c.__name__ for c in type(error).__mro__ if c.__name__ in _ERRORS)
    value: dict[str, Any] = {"type": known, "message": str(error)}
    if isinstance(error, ModelError):
        value |= {"kind": error.kind, "status": error.status, "retry_after": error.retry_after}
    return value


def error_from(value: Mapping[str, Any], usage: Usage | None = None) -> LLMError:
    kind = _ERRORS[value["type"]]
    if kind is ModelError:
        return ModelError(
            value["message"],
            kind=value["kind"],
            status=value["status"],
            retry_after=value["retry_after"],
            usage=usage,
        )
    return kind(value["message"])


def file_of(path: Path) -> Path:
    """Return the path of a transcript, given that path or its run folder."""
    return path / NAME if path.is_dir() else path


def read(path: Path) -> tuple[Mapping[str, Any], tuple[Exchange, ...]]:
    """Read the header and the exchanges of a transcript or run folder.

    Raises:
        DataFileError: There is no transcript, or it is invalid or of another version.
    """
    file = file_of(path)
    if not file.exists():
        raise DataFileError(f"no transcript found at {file}")
    lines = [_object(value, file, number) for number, value in read_log(file)]
    header = lines[0][1] if lines else {}
    if header.get("format") != FORMAT or not isinstance(header.get("model"), str):
        raise DataFileError(f"{file} is not a transcript: its first line must be a header")
    if (version := header.get("version")) != VERSION:
        raise DataFileError(
            f"{file}: expected a transcript of version {VERSION}, found version {version!r}"
        )
    return header, tuple(_exchange(line, file, number) for number, line in lines[1:])


def _object(value: Any, file: Path, number: int) -> tuple[int, dict[str, Any]]:
    if not isinstance(value, dict):
        raise DataFileError(f"{file}:{number}: expected a JSON object")
    return number, value


def _exchange(line: Mapping[str, Any], file: Path, number: int) -> Exchange:
    exchange = Exchange(line)
    try:
        _check(exchange)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise DataFileError(
            f"{file}:{number}: this line is not an exchange of a transcript ({reason})"
        ) from None
    return exchange


def _check(exchange: Exchange) -> None:
    decode(Usage, exchange.line["usage"], "usage", ValueError)
    sent = request_json(exchange.request)
    if digest(sent) != exchange.line["digest"]:
        raise ValueError("the digest does not match the request: the line was edited")
    exchange.line["number"], exchange.line["seconds"], exchange.line["date"]
    error = exchange.line["error"]
    if error is None:
        answer = exchange.outcome()
        if not isinstance(answer.text, str):
            raise TypeError("the answer has no text")
    elif error["type"] not in _ERRORS or error.get("kind", "other") not in KINDS:
        raise ValueError(f"unknown error {error['type']!r}")
    else:
        error_from(error)


# Replay -------------------------------------------------------------------------------------------

_DIFF_LINES = 12
_WIDTH = 160


class Replay:
    """A model that replays the answers in a transcript; it needs no key and no network.

    A prompt that was sent several times gets its answers in the recorded order. Recorded errors are
    raised again. `scrubber` redacts the secrets that the transcript does not contain.
    """

    def __init__(self, path: Path, scrubber: Scrubber | None = None) -> None:
        self.path = path
        self.header, self._exchanges = read(path)
        self._scrubber = scrubber or Scrubber()
        self._lock = threading.Lock()
        self._by_digest: dict[str, list[Exchange]] = defaultdict(list)
        self._served: dict[str, int] = defaultdict(int)
        for exchange in self._exchanges:
            self._by_digest[exchange.line["digest"]].append(exchange)

    @property
    def name(self) -> str:
        return str(self.header["model"])

    @property
    def simulated(self) -> bool:
        return bool(self.header.get("simulated", False))

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            LLMError: The recorded error.
            CassetteError: The prompt was not recorded, or was sent more often than recorded.
        """
        return self.exchange(request).outcome()

    def exchange(self, request: Request) -> Exchange:
        sent = self._scrubber.value(request_json(request))
        key = digest(sent)
        with self._lock:
            recorded = self._by_digest.get(key, [])
            if not recorded:
                raise CassetteError(self._miss(request, sent))
            if self._served[key] == len(recorded):
                raise CassetteError(
                    f"{self.path}: this prompt ({request.purpose or 'no purpose'}) was asked "
                    f"only {len(recorded)} time{'s' if len(recorded) > 1 else ''} in the recording"
                )
            self._served[key] += 1
            return recorded[self._served[key] - 1]

    def _miss(self, request: Request, sent: Mapping[str, Any]) -> str:
        begin = f"{self.path}: no answer was recorded for this prompt"
        begin += f" ({request.purpose})" if request.purpose else ""
        if not self._exchanges:
            return f"{begin}; the transcript is empty"
        now = _lines(sent)
        same = [e for e in self._exchanges if e.line["purpose"] == request.purpose]
        nearest = max(same or self._exchanges, key=lambda e: _similarity(_lines(e.line), now))
        recorded = _lines(nearest.line)
        what = f"{begin}. The most similar prompt is number {nearest.line['number']}"
        if recorded == now:
            return f"{what}, with other settings: {_settings(nearest.line, sent)}"
        return "\n".join((f"{what}; differences:", *_diff(recorded, now)))


def _lines(sent: Mapping[str, Any]) -> list[str]:
    return [
        f"{message['role']}: {line}"
        for message in sent["messages"]
        for line in message["text"].splitlines() or [""]
    ]


def _similarity(recorded: list[str], now: list[str]) -> tuple[float, float]:
    # Compare lines first; single-line prompts have none in common, so characters decide for them.
    lines = difflib.SequenceMatcher(None, recorded, now, autojunk=False).ratio()
    letters = difflib.SequenceMatcher(None, "\n".join(recorded)[:2000], "\n".join(now)[:2000])
    return lines, letters.quick_ratio()


def _diff(recorded: list[str], now: list[str]) -> Iterator[str]:
    lines = list(difflib.unified_diff(recorded, now, "recorded", "asked now", n=1, lineterm=""))
    for line in lines[:_DIFF_LINES]:
        yield "  " + (line if len(line) <= _WIDTH else line[:_WIDTH] + "…")
    if len(lines) > _DIFF_LINES:
        yield f"  … and {len(lines) - _DIFF_LINES} more lines"


def _settings(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} was {recorded['settings'].get(name)!r} and is {value!r}"
        for name, value in now["settings"].items()
        if recorded["settings"].get(name) != value
    )


def open_replay(path: str, options: ModelOptions) -> Replay:
    return Replay(Path(path), options.scrubber)


# Recording ----------------------------------------------------------------------------------------
# The recording of exchanges with a model, and the continuation of interrupted recordings.

# Earlier attempts ---------------------------------------------------------------------------------
# An interrupted run starts over. Its prompts are the same up to the interruption, so the transcript
# supplies their answers, and nothing is asked or paid for twice. The file `llm-aside.jsonl` beside
# it has the same format and holds paid exchanges outside the run:
#
# * the error that ended an attempt, because its request is sent again;
# * exchanges that the new attempt has not reached because it took another course. If it asks the
#   same after all, it gets that answer.


class EarlierTranscript:
    """The transcript of an interrupted run, and the exchanges that earlier attempts moved aside."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.header, exchanges = read(path)
        self._used: list[Exchange] = []
        self._ahead = deque(exchanges)
        self._aside = list(set_aside(path))

    @property
    def ahead(self) -> bool:
        """Whether the transcript contains exchanges that the resumed run has not yet consumed."""
        return bool(self._ahead)

    @property
    def number(self) -> int:
        return len(self._used) + len(self._ahead)

    @property
    def totals(self) -> Totals:
        return totals(self._aside)

    def next(self, digest: str) -> tuple[Exchange, bool] | None:
        """Return a prompt's recorded exchange and whether it comes next in the transcript, or None.

        If it is not next, the rest of the transcript is moved aside.
        """
        following = self._ahead[0] if self._ahead else None
        if following and following.line["digest"] == digest and not self._interrupted(following):
            self._used.append(self._ahead.popleft())
            return self._used[-1], True
        # The transcript must stay in the order of the run, so move exchanges that are out of order
        # aside.
        self._put_aside(len(self._ahead))
        for exchange in self._aside:
            if exchange.line["digest"] == digest and not exchange.failed:
                self._aside.remove(exchange)
                return exchange, False
        return None

    def _interrupted(self, exchange: Exchange) -> bool:
        """Return whether an error ended the attempt, so that its request must be sent again."""
        # A run goes on only after an unreadable answer. Answers to concurrent requests may follow
        # any other error.
        survived = (exchange.line["error"] or {}).get("kind") == "schema"
        return exchange.failed and (len(self._ahead) == 1 or not survived)

    def _put_aside(self, count: int) -> None:
        """Move the last `count` exchanges of the transcript to the file beside it."""
        if not count:
            return
        kept = [*self._used, *self._ahead]
        moved = kept[-count:]
        del kept[-count:]
        aside = aside_of(self._path)
        # If the process was killed between the two writes, some exchanges are already in the file.
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
    return path.is_file() and bool(read_log(path))


def aside_of(path: Path) -> Path:
    """Return the path of the file for a transcript's paid exchanges that its run no longer uses."""
    return path.with_name(f"{path.stem}-aside{path.suffix}")


def set_aside(path: Path) -> tuple[Exchange, ...]:
    """Return the paid exchanges in the file beside a transcript, which its run no longer uses."""
    # Exchanges that were needed after all have moved to the transcript.
    used = Counter(map(_identity, read(path)[1]))
    rest = []
    for exchange in _read(aside_of(path)):
        if used[_identity(exchange)]:
            used[_identity(exchange)] -= 1
        else:
            rest.append(exchange)
    return tuple(rest)


def count_exchanges(path: Path) -> int:
    """Return the number of exchanges of all attempts, including those moved aside."""
    return len(read(path)[1]) + len(set_aside(path)) if has_header(path) else 0


def totals(exchanges: Iterable[Exchange]) -> Totals:
    total = Totals()
    for exchange in exchanges:
        total = total.plus(exchange.usage, failed=exchange.failed)
    return total


def _read(aside: Path) -> tuple[Exchange, ...]:
    return read(aside)[1] if has_header(aside) else ()


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
    """A layer that writes each request, with its answer or error, to a transcript.

    Each line is written before the answer is returned, so a crash loses nothing. Secrets are
    redacted. A recorded replay keeps the original times, dates, usage and header, so replaying a
    run reproduces its transcript byte for byte.

    An existing transcript is continued: its prompts are not sent again (see `EarlierTranscript`).

    Args:
        header: Additional fields of the header, such as the commit and settings.
        concurrency: Maximum number of concurrent requests.
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
            # Keep the recorded line with its times, so that a replay writes an identical file.
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
                # Record each answer as soon as the order allows, so that little is paid for twice.
                while len(added) in found:
                    added.append(self._add(requests[len(added)], found[len(added)]))
        finally:
            # after an error, send no further request
            with suppress(Empty):
                while True:
                    waiting.get_nowait()
        return added

    def _timed(self, request: Request) -> _Timed:
        start, date = self._clock(), self._now()
        outcome = outcome_of(self._model, request)
        if isinstance(outcome, Answer):
            # Redact before use, because a replay must return the same answer.
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
        """Delete an earlier recording of the same replay, since replaying costs nothing."""
        existing = read(self._path)[0]
        other = any(existing.get(name) != model.header.get(name) for name in ("model", "date"))
        if other or self._path.samefile(file_of(model.path)):
            raise DataFileError(
                f"{self._path}: a different transcript already exists here; choose another file"
            )
        with writing(self._path):
            self._path.unlink()

    def _known(self, request: Request) -> Exchange | None:
        if self._earlier is None:
            return None
        sent = self._scrubber.value(request_json(request))
        with self._lock:
            # Write new lines only after all recorded exchanges have been consumed.
            resuming = self._earlier.ahead
            known = self._earlier.next(digest(sent))
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
            "format": FORMAT,
            "version": VERSION,
            "model": self._scrubber.text(self.name),
            "simulated": self.simulated,
            "hvr": hvr.__version__,
            "date": self._now().isoformat(timespec="seconds"),
        }

    def _add(self, request: Request, timed: _Timed) -> Answer | LLMError:
        outcome = timed.outcome
        answer = outcome if isinstance(outcome, Answer) else None
        error = outcome if isinstance(outcome, LLMError) else None
        sent = self._scrubber.value(request_json(request))
        usage = answer.usage if answer else used(error or LLMError())
        line: dict[str, Any] = {
            "number": 0,
            "purpose": request.purpose,
            "digest": digest(sent),
            **sent,
            "answer": _answer_json(answer) if answer else None,
            "error": error_json(error) if error else None,
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
