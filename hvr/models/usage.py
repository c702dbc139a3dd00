"""Usages as providers report them, and sums of them in which the unknown stays unknown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from hvr.models.model import Usage


@dataclass(frozen=True)
class Amount:
    """A sum of which parts may be unknown.

    Args:
        known: sum of the parts that are known.
        unknown: number of parts that are not.
    """

    known: float = 0
    unknown: int = 0

    @property
    def value(self) -> float | None:
        """The sum; None when any part is unknown."""
        return None if self.unknown else self.known

    def plus(self, part: float | None) -> Amount:
        """Return the sum with one more part."""
        if part is None:
            return Amount(self.known, self.unknown + 1)
        return Amount(self.known + part, self.unknown)

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.known + other.known, self.unknown + other.unknown)

    def __str__(self) -> str:
        if not self.unknown:
            return f"{self.known:.6g}" if isinstance(self.known, float) else str(self.known)
        return f"unknown (known: {self.known:.6g})" if self.known else "unknown"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; `value` is null when a part is unknown."""
        return {"value": self.value, "known": self.known, "unknown_parts": self.unknown}


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The usage of several calls together: see `Usage` for the parts.

    Args:
        calls: answers and errors.
        failed: of these, errors.
        input: tokens of the prompts, cached ones included.
        output: tokens of the answers, without reasoning.
        cached: tokens of the prompts that the provider had in its cache.
        reasoning: tokens the model thought in.
        cost: US dollars.
        seconds: wall time of the calls, one after the other.
    """

    calls: int = 0
    failed: int = 0
    input: Amount = Amount()
    output: Amount = Amount()
    cached: Amount = Amount()
    reasoning: Amount = Amount()
    cost: Amount = Amount()
    seconds: Amount = Amount()

    def plus(
        self, usage: Usage, *, seconds: float | None = 0.0, calls: int = 1, failed: bool = False
    ) -> Totals:
        """Return the totals with one more call."""
        return Totals(
            calls=self.calls + calls,
            failed=self.failed + failed,
            input=self.input.plus(usage.input),
            output=self.output.plus(usage.output),
            cached=self.cached.plus(usage.cached),
            reasoning=self.reasoning.plus(usage.reasoning),
            cost=self.cost.plus(usage.cost),
            seconds=self.seconds.plus(seconds),
        )

    def __add__(self, other: Totals) -> Totals:
        return Totals(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in _FIELDS})

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = ((f.name, getattr(self, f.name)) for f in _FIELDS)
        return {n: v.to_json() if isinstance(v, Amount) else v for n, v in values}


_FIELDS = fields(Totals)


def reported(
    *, input: Any, output: Any, cached: Any = None, reasoning: Any = None, answered: bool = True
) -> Usage:
    """Return the usage that a provider reports, as far as it can be true.

    Args:
        input: tokens of the prompt, as they stand in the reply, whatever that is.
        output: tokens of the answer, without reasoning.
        cached: tokens of the prompt that the provider had in its cache.
        reasoning: tokens the model thought in.
        answered: there is text in the answer.
    """
    usage = Usage(input=input, output=output, cached=cached, reasoning=reasoning)
    # No prompt is empty, and no text comes of nothing: a 0 was never counted.
    if usage.input == 0:
        usage = replace(usage, input=None)
    if answered and usage.output == 0 and not usage.reasoning:
        usage = replace(usage, output=None)
    return usage


def add(usages: Iterable[Usage]) -> Usage:
    """Return one usage for several; a part that is unknown in any of them is unknown.

    Reasoning and cached tokens that no provider speaks of stay unknown and do not spoil the rest.
    """
    total = Totals()
    for usage in usages:
        total = total.plus(usage)
    return Usage(
        input=_whole(total.input),
        output=_whole(total.output),
        cached=_whole(total.cached),
        reasoning=_whole(total.reasoning),
        cost=total.cost.value,
    )


def _whole(amount: Amount) -> int | None:
    return None if amount.value is None else int(amount.value)
