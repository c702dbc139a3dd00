"""A meter of the calls of a model and their usage, and notices of retries and waits."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from hvr.errors import LLMError
from hvr.models.errors import used
from hvr.models.model import Answer, Model, Request, Totals

# Meter --------------------------------------------------------------------------------------------
# A meter of the calls of a model for a plan, and of what they used.


@dataclass(frozen=True, kw_only=True)
class MeteredUse:
    """The calls of a model and what they used; what is not known is None, never 0.

    Args:
        calls: answers that a model was asked for.
        cached_calls: answers that came from hvr's own cache.
        input: tokens of prompts, those that the provider had cached included.
        output: tokens of answers, without reasoning.
        cached: tokens of prompts that the provider had cached.
        reasoning: tokens of reasoning.
        cost: US dollars.
        seconds: wall time of planning.
    """

    calls: int = 0
    cached_calls: int = 0
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    cost: float | None = None
    seconds: float | None = None


@dataclass
class Meter:
    """A model that counts; answers from hvr's cache are counted apart and use nothing.

    Args:
        model: who answers.
        aside: the usage of what earlier tries of the same run paid for in vain.
    """

    model: Model
    aside: Callable[[], Totals] = Totals
    totals: Totals = field(default=Totals(), init=False)
    cached_calls: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        """See `Model`."""
        return self.model.name

    @property
    def simulated(self) -> bool:
        """See `Model`."""
        return self.model.simulated

    def answer(self, request: Request) -> Answer:
        """See `Model`.

        Raises:
            LLMError: what the model raises; it is counted, too.
        """
        try:
            answer = self.model.answer(request)
        except LLMError as error:
            self.totals = self.totals.plus(used(error), failed=True)
            raise
        if answer.source == "cache":
            self.cached_calls += 1
        else:
            self.totals = self.totals.plus(answer.usage)
        return answer

    def spent(self, seconds: float | None = None) -> MeteredUse:
        """Return the usage so far; a sum is unknown if one of its parts is."""
        totals = self.totals + self.aside()
        return MeteredUse(
            calls=totals.calls,
            cached_calls=self.cached_calls,
            input=_whole(totals.input.value),
            output=_whole(totals.output.value),
            cached=_whole(totals.cached.value),
            reasoning=_whole(totals.reasoning.value),
            cost=totals.cost.value,
            seconds=seconds,
        )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


# Progress notices ---------------------------------------------------------------------------------
# What happens on the way to a model while somebody waits: retries, waits, long silence.
#
# All of it goes to the loggers of `hvr.models`: another attempt as a warning, the rest as
# information. It is no part of what a run records, which is the same each time the run is repeated.

_LOG = "hvr.models"


@contextmanager
def notices(*, quiet: bool = False) -> Iterator[None]:
    """Show notices on standard error, each on a line of its own; elsewhere they are not seen."""
    log = logging.getLogger(_LOG)
    level, propagate = log.level, log.propagate
    handler = _add(logging.NullHandler() if quiet else _Lines())
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagate


def show_notices_of_worker() -> None:
    """Show notices of this process for good, in the terminal's last line.

    There the parent has a progress bar, which it draws again below.
    """
    _add(_Lines(before="\r\x1b[2K"))


def _add(handler: logging.Handler) -> logging.Handler:
    log = logging.getLogger(_LOG)
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    return handler


class _Lines(logging.Handler):
    """Prints a line for each record to what is standard error at the time."""

    def __init__(self, before: str = "") -> None:
        super().__init__()
        self._before = before

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        # A server's words may have characters that command a terminal.
        text = "".join(c if c.isprintable() else "\ufffd" for c in self.format(record))
        with suppress(OSError, ValueError):  # nobody reads it
            before = self._before if sys.stderr.isatty() else ""
            print(f"{before}{text}", file=sys.stderr, flush=True)
