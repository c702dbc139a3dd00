"""Transcripts: the file format of recorded exchanges, and their replay."""

from __future__ import annotations

import difflib
import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hvr.base.declared import decode
from hvr.base.secrets import Scrubber
from hvr.base.texts import read_log
from hvr.errors import BudgetError, CassetteError, DataFileError, LLMError, PlanBudgetError
from hvr.models.config import ModelOptions
from hvr.models.errors import KINDS, CancelledError, ModelError
from hvr.models.model import Answer, Message, ModelTool, ModelToolCall, Request, Usage

# Transcript ---------------------------------------------------------------------------------------
# A transcript has JSON lines: a header, then one line per exchange. A last line that a crash cut
# off is ignored.
#
#     {"format": "hvr-transcript", "version": 1, "model": …, "simulated": …, "hvr": …, "date": …, …}
#     {"number": 1, "purpose": …, "digest": …, "messages": […], "settings": {…}, "answer": {…},
#      "error": null, "usage": {…}, "seconds": …, "date": …}

FORMAT = "hvr-transcript"
VERSION = 1
NAME = "llm.jsonl"
"""Name of the transcript in a run folder."""

_ERRORS: Mapping[str, type[LLMError]] = {
    e.__name__: e
    for e in (LLMError, BudgetError, PlanBudgetError, CassetteError, ModelError, CancelledError)
}


@dataclass(frozen=True)
class Exchange:
    """A request and its answer or error, stored as a line of the transcript."""

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
        """Return the recorded answer with the source `replay`."""
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
    """Return the messages and settings of a request, without its purpose, which is not sent."""
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
    """Return the SHA-256 of a request from `request_json` in canonical form."""
    text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def error_json(error: LLMError) -> dict[str, Any]:
    known = next(c.__name__ for c in type(error).__mro__ if c.__name__ in _ERRORS)
    value: dict[str, Any] = {"type": known, "message": str(error)}
    if isinstance(error, ModelError):
        value |= {"kind": error.kind, "status": error.status, "retry_after": error.retry_after}
    return value


def error_from(value: Mapping[str, Any], usage: Usage | None = None) -> LLMError:
    """Return the error that `error_json` described."""
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
    """Return the transcript at a path, or in the run folder at that path."""
    return path / NAME if path.is_dir() else path


def read(path: Path) -> tuple[Mapping[str, Any], tuple[Exchange, ...]]:
    """Read the header and the exchanges of a transcript or run folder.

    Raises:
        DataFileError: The transcript is missing, unreadable or corrupt.
    """
    file = file_of(path)
    if not file.exists():
        raise DataFileError(f"no transcript found at {file}")
    lines = [_object(value, file, number) for number, value in read_log(file)]
    header = lines[0][1] if lines else {}
    if header.get("format") != FORMAT or not isinstance(header.get("model"), str):
        raise DataFileError(f"{file}: not a transcript of a model: the first line must be a header")
    if header.get("version") != VERSION:
        raise DataFileError(
            f"{file}: unsupported transcript version {header.get('version')!r}; expected {VERSION}"
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
            f"{file}:{number}: not an exchange of a transcript ({reason})"
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
    """A model that answers from a transcript, without a key or the network.

    A prompt that was asked several times gets its answers in the recorded order, and recorded
    errors are raised.

    Args:
        scrubber: Redacts the secrets that were redacted in the transcript.

    Raises:
        DataFileError: The transcript is missing or corrupt.
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
        """Name of the recorded model."""
        return str(self.header["model"])

    @property
    def simulated(self) -> bool:
        """Whether the recorded model was simulated."""
        return bool(self.header.get("simulated", False))

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            LLMError: The recorded error.
            CassetteError: The prompt was not recorded, or was asked more often than recorded.
        """
        return self.exchange(request).outcome()

    def exchange(self, request: Request) -> Exchange:
        """Return the recorded exchange of a request."""
        sent = self._scrubber.value(request_json(request))
        key = digest(sent)
        with self._lock:
            recorded = self._by_digest.get(key, [])
            if not recorded:
                raise CassetteError(self._miss(request, sent))
            if self._served[key] == len(recorded):
                raise CassetteError(
                    f"{self.path}: this prompt ({request.purpose or 'no purpose'}) was asked "
                    f"only {len(recorded)} times in the recording"
                )
            self._served[key] += 1
            return recorded[self._served[key] - 1]

    def _miss(self, request: Request, sent: Mapping[str, Any]) -> str:
        begin = f"{self.path}: no answer was recorded for this prompt"
        begin += f" ({request.purpose})" if request.purpose else ""
        if not self._exchanges:
            return f"{begin}; the transcript has no exchange at all"
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
    # Compare lines first; single-line prompts have none in common, so letters decide for them.
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
    """Return the replay of a transcript or run folder."""
    return Replay(Path(path), options.scrubber)
