"""A meter of the calls of a model for a plan, and of what they used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hvr.errors import LLMError
from hvr.models.errors import used
from hvr.models.model import Answer, Model, Request
from hvr.models.usage import Totals


@dataclass(frozen=True, kw_only=True)
class Spent:
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

    def spent(self, seconds: float | None = None) -> Spent:
        """Return the usage so far; a sum is unknown if one of its parts is.

        Args:
            seconds: wall time of planning.
        """
        totals = self.totals + self.aside()
        return Spent(
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
