"""Answers from a transcript, with no key and no network."""

from __future__ import annotations

import difflib
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hvr.base.secrets.scrubber import Scrubber
from hvr.errors import CassetteError
from hvr.models import transcript
from hvr.models.model import Answer, Request
from hvr.models.options import ModelOptions
from hvr.models.transcript import Exchange

_DIFF_LINES = 12
_WIDTH = 160


class Replay:
    """A model that answers what was answered when the transcript was recorded.

    Prompts that were asked several times get their answers in the order of the recording.
    Recorded errors are raised again.

    Args:
        path: a transcript, or the folder of a run.
        scrubber: the keys that were taken out of the transcript's prompts.

    Raises:
        DataFileError: there is no transcript, or it is corrupt.
    """

    def __init__(self, path: Path, scrubber: Scrubber | None = None) -> None:
        self.path = path
        self.header, self._exchanges = transcript.read(path)
        self._scrubber = scrubber or Scrubber()
        self._lock = threading.Lock()
        self._by_digest: dict[str, list[Exchange]] = defaultdict(list)
        self._taken: dict[str, int] = defaultdict(int)
        for exchange in self._exchanges:
            self._by_digest[exchange.line["digest"]].append(exchange)

    @property
    def name(self) -> str:
        """The model that was recorded."""
        return str(self.header["model"])

    @property
    def simulated(self) -> bool:
        """Whether the model that was recorded was simulated."""
        return bool(self.header.get("simulated", False))

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            LLMError: the error that was recorded.
            CassetteError: the prompt was not recorded, or not that often.
        """
        return self.exchange(request).outcome()

    def exchange(self, request: Request) -> Exchange:
        """Return the recorded exchange for a request.

        Raises:
            CassetteError: see `answer`.
        """
        asked = self._scrubber.value(transcript.request_json(request))
        key = transcript.digest(asked)
        with self._lock:
            recorded = self._by_digest.get(key, [])
            if not recorded:
                raise CassetteError(self._miss(request, asked))
            if self._taken[key] == len(recorded):
                raise CassetteError(
                    f"{self.path}: this prompt ({request.purpose or 'no purpose'}) was asked "
                    f"{len(recorded)} times when it was recorded, and now once more"
                )
            self._taken[key] += 1
            return recorded[self._taken[key] - 1]

    def _miss(self, request: Request, asked: Mapping[str, Any]) -> str:
        """Return the message for a prompt that was not recorded: how it differs from the nearest.

        Nearly always a prompt or a setting was changed since the recording, and where is what
        one wants to know.
        """
        begin = f"{self.path}: no answer was recorded for this prompt"
        begin += f" ({request.purpose})" if request.purpose else ""
        if not self._exchanges:
            return f"{begin}; the transcript has no exchange at all"
        now = _lines(asked)
        nearest = max(self._candidates(request), key=lambda e: _likeness(_lines(e.line), now))
        then = _lines(nearest.line)
        what = f"{begin}. The nearest one is number {nearest.line['number']}"
        if then == now:
            return f"{what}, with other settings: {_settings(nearest.line, asked)}"
        return "\n".join((f"{what}; it differs here:", *_diff(then, now)))

    def _candidates(self, request: Request) -> Sequence[Exchange]:
        same = [e for e in self._exchanges if e.line["purpose"] == request.purpose]
        return same or self._exchanges


def _lines(asked: Mapping[str, Any]) -> list[str]:
    return [
        f"{message['role']}: {line}"
        for message in asked["messages"]
        for line in message["text"].splitlines() or [""]
    ]


def _likeness(then: list[str], now: list[str]) -> tuple[float, float]:
    # Lines first; prompts of one line have none in common, for them the letters decide.
    lines = difflib.SequenceMatcher(None, then, now, autojunk=False).ratio()
    letters = difflib.SequenceMatcher(None, "\n".join(then)[:2000], "\n".join(now)[:2000])
    return lines, letters.quick_ratio()


def _diff(then: list[str], now: list[str]) -> Iterator[str]:
    lines = list(difflib.unified_diff(then, now, "recorded", "asked now", n=1, lineterm=""))
    for line in lines[:_DIFF_LINES]:
        yield "  " + (line if len(line) <= _WIDTH else line[:_WIDTH] + "…")
    if len(lines) > _DIFF_LINES:
        yield f"  … and {len(lines) - _DIFF_LINES} more lines"


def _settings(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} was {then['settings'].get(name)!r} and is {value!r}"
        for name, value in now["settings"].items()
        if then["settings"].get(name) != value
    )


def open_replay(path: str, options: ModelOptions) -> Replay:
    """Return the replay of a transcript or of the folder of a run.

    Raises:
        DataFileError: there is no transcript, or it is corrupt.
    """
    return Replay(Path(path), options.scrubber)
