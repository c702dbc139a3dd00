"""What earlier tries of a run asked and were answered: nothing is asked or paid for twice.

A run that broke off is done again from the beginning, and its prompts are the same until it comes
to where it broke off. As long as they are, their answers are those of its transcript. Beside it,
`llm-aside.jsonl` has the same form and holds what was paid for and is no part of the run:

* the error that a try ended with, since it is asked again;
* what a try was answered and the run has not asked again, because something turned out otherwise.
  Should it ask after all, it gets that answer.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hvr.base.files import append_json_line, write_whole
from hvr.base.texts import read_log
from hvr.models import transcript
from hvr.models.transcript import Exchange
from hvr.models.usage import Totals


class Earlier:
    """The transcript of a run that broke off, and what is set aside of it.

    Args:
        path: the transcript.

    Raises:
        DataFileError: a file is damaged, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.header, exchanges = transcript.read(path)
        self._used: list[Exchange] = []
        self._ahead = deque(exchanges)
        self._aside = list(set_aside(path))

    @property
    def ahead(self) -> bool:
        """Whether the transcript has exchanges that the run has not come to yet."""
        return bool(self._ahead)

    @property
    def number(self) -> int:
        """The number of exchanges of earlier tries in the transcript."""
        return len(self._used) + len(self._ahead)

    @property
    def totals(self) -> Totals:
        """The usage of what is set aside."""
        return totals(self._aside)

    def next(self, digest: str) -> tuple[Exchange, bool] | None:
        """Return the exchange with a prompt, if an earlier try had it.

        Args:
            digest: of the prompt.

        Returns:
            the exchange, and whether it stands in the transcript in its place.

        Raises:
            DataFileError: a file cannot be written.
        """
        # An error at the end is what the try broke off with. The run survived any other.
        at_end = len(self._ahead) == 1 and self._ahead[0].failed
        if self._ahead and self._ahead[0].line["digest"] == digest and not at_end:
            self._used.append(self._ahead.popleft())
            return self._used[-1], True
        # The transcript is in the order of the run, so what comes at another time has to go.
        self._put_aside(len(self._ahead))
        for exchange in self._aside:
            if exchange.line["digest"] == digest and not exchange.failed:
                self._aside.remove(exchange)
                return exchange, False
        return None

    def _put_aside(self, count: int) -> None:
        """Move the last exchanges of the transcript to the file beside it."""
        if not count:
            return
        kept = [*self._used, *self._ahead]
        moved = kept[-count:]
        del kept[-count:]
        aside = aside_of(self._path)
        # A kill may come between the two files; then they are there already.
        there = Counter(map(_identity, _read(aside)))
        here = Counter(map(_identity, [*kept, *moved]))
        if not begun(aside):
            append_json_line(aside, self.header)
        for exchange in moved:
            same = _identity(exchange)
            while there[same] < here[same]:
                append_json_line(aside, exchange.line)
                there[same] += 1
        lines = (self.header, *(exchange.line for exchange in kept))
        write_whole(
            self._path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        )
        for _ in moved:
            self._ahead.pop()
        self._aside += moved


def begun(path: Path) -> bool:
    """Return whether there is a transcript with at least its first line.

    Raises:
        DataFileError: it cannot be read.
    """
    return path.is_file() and bool(read_log(path))


def aside_of(path: Path) -> Path:
    """Return the file beside a transcript with what is set aside of it."""
    return path.with_name(f"{path.stem}-aside{path.suffix}")


def set_aside(path: Path) -> tuple[Exchange, ...]:
    """Return what was paid for and is no part of the run.

    Args:
        path: the transcript of the run.

    Raises:
        DataFileError: a file is damaged.
    """
    # What was used after all has been written into the transcript, too.
    used = Counter(map(_identity, transcript.read(path)[1]))
    rest = []
    for exchange in _read(aside_of(path)):
        if used[_identity(exchange)]:
            used[_identity(exchange)] -= 1
        else:
            rest.append(exchange)
    return tuple(rest)


def times_asked(path: Path) -> int:
    """Return how many exchanges earlier tries had, those that are set aside included.

    Raises:
        DataFileError: a file is damaged.
    """
    return len(transcript.read(path)[1]) + len(set_aside(path)) if begun(path) else 0


def totals(exchanges: Iterable[Exchange]) -> Totals:
    """Return the usage of exchanges together."""
    total = Totals()
    for exchange in exchanges:
        total = total.plus(exchange.usage, failed=exchange.failed)
    return total


def _read(aside: Path) -> tuple[Exchange, ...]:
    return transcript.read(aside)[1] if begun(aside) else ()


def _identity(exchange: Exchange) -> str:
    values: Mapping[str, Any] = {**exchange.line, "number": 0}
    return json.dumps(values, sort_keys=True)
