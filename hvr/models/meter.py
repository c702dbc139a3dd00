"""A meter of calls and usage, and notices about retries and waits."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from hvr.errors import BudgetError, LLMError
from hvr.models.errors import used
from hvr.models.model import Answer, Layer, Model, Request, Totals, answer_all, outcome_of
from hvr.values import JsonObject

# Meter --------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MeteredUse(JsonObject):
    """Number of calls of a model and their total usage; unknown values are None, never 0.

    Args:
        calls: Number of calls of the model, including failed ones.
        cached_calls: Number of answers from hvr's own cache.
        input: Number of prompt tokens, including those that the provider had cached.
        output: Number of answer tokens, without reasoning.
        cached: Number of prompt tokens found in the provider's cache.
        reasoning: Number of reasoning tokens.
        cost: Cost in US dollars.
        seconds: Wall time in seconds, if measured.
    """

    calls: int = 0
    cached_calls: int = 0
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    cost: float | None = None
    seconds: float | None = None

    json_shape = "*"


class Meter(Layer):
    """A layer that counts calls and usage; answers from hvr's cache are counted separately.

    Args:
        aside: Function that returns the usage of earlier attempts that is not in the run's
            transcript.
    """

    def __init__(self, model: Model, aside: Callable[[], Totals] = Totals) -> None:
        super().__init__(model)
        self._aside = aside
        self.totals = Totals()
        self.cached_calls = 0

    def answer(self, request: Request) -> Answer:
        outcome = outcome_of(self._model, request)
        self._count(outcome)
        if isinstance(outcome, LLMError):
            raise outcome
        return outcome

    def answer_all(self, requests: Sequence[Request]) -> list[Answer | LLMError]:
        outcomes = answer_all(self._model, requests)
        for outcome in outcomes:
            self._count(outcome)
        return outcomes

    def _count(self, outcome: Answer | LLMError) -> None:
        if isinstance(outcome, BudgetError):
            return  # nothing was sent
        if isinstance(outcome, LLMError):
            self.totals = self.totals.plus(used(outcome), failed=True)
        elif outcome.source == "cache":
            self.cached_calls += 1
        else:
            self.totals = self.totals.plus(outcome.usage)

    def spent(self, seconds: float | None = None) -> MeteredUse:
        """Return the usage so far and the wall time; a total with an unknown part is None."""
        totals = self.totals + self._aside()
        return MeteredUse(
            calls=totals.calls,
            cached_calls=self.cached_calls,
            input=totals.input.whole,
            output=totals.output.whole,
            cached=totals.cached.whole,
            reasoning=totals.reasoning.whole,
            cost=totals.cost.value,
            seconds=seconds,
        )


# Progress notices ---------------------------------------------------------------------------------
# The loggers of `hvr.models` report retries (as warnings), and waits and long silences (as info).
# None of these reports is part of a recorded run, which must be identical on every replay.

_LOG = "hvr.models"


@contextmanager
def notices(*, quiet: bool = False) -> Iterator[None]:
    """Show notices on standard error, one per line, in this context; hide them if `quiet`."""
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
    """Print a worker's notices on standard error, over the line of the parent's progress bar."""
    _add(_Lines(before="\r\x1b[2K"))


def _add(handler: logging.Handler) -> logging.Handler:
    log = logging.getLogger(_LOG)
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    return handler


class _Lines(logging.Handler):
    def __init__(self, before: str = "") -> None:
        super().__init__()
        self._before = before

    def emit(self, record: logging.LogRecord) -> None:
        # Text from a server may contain terminal control characters.
        text = "".join(c if c.isprintable() else "\ufffd" for c in self.format(record))
        with suppress(OSError, ValueError):  # no one reads it
            before = self._before if sys.stderr.isatty() else ""
            print(f"{before}{text}", file=sys.stderr, flush=True)
