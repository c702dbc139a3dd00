"""The protocol of language models: messages in, text or a checked object out, token usage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol

# Model --------------------------------------------------------------------------------------------
# The protocol of language models: messages in, text or a checked object out.
#
# A provider and everything that is put around one (a cache, a budget, a recorder, retries) is a
# `Model`, so they can be stacked in any order.

_MOST_TOKENS = 1_000_000_000
"""What is said to be more was not counted."""

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True, kw_only=True)
class Request:
    """A question to a model.

    Args:
        messages: the conversation so far; the last one is the user's.
        purpose: what the answer is for, such as `block`; not sent, it labels logs and counts.
        schema: a JSON schema the answer must satisfy; None asks for text.
        temperature: of sampling; 0 is as deterministic as the model can be.
        max_tokens: length of the answer at most, in the model's tokens.
        seed: for sampling, where the provider takes one.
        stop: texts that end the answer.
        seconds: how long the answer may take at most; None leaves it to the time-out of the model.
            Like the purpose, it is not sent.
    """

    messages: tuple[Message, ...]
    purpose: str = ""
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Usage:
    """The usage of one answer; None for what the provider does not report.

    What is no plausible number, such as a text, a fraction of a token, or less than nothing, is
    None as well: limits are kept by these numbers.

    Args:
        input: tokens of the prompt, cached ones included.
        output: tokens of the answer, without reasoning.
        cached: tokens of the prompt that the provider had in its cache.
        reasoning: tokens the model thought in, which are no part of the answer.
        cost: US dollars; None when the price of the model is not known.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached", "reasoning"):
            object.__setattr__(self, name, _count(getattr(self, name)))
        cost: Any = self.cost
        if not _is_number(cost) or not 0 <= cost < float("inf"):
            object.__setattr__(self, "cost", None)


def _count(value: Any) -> int | None:
    if not _is_number(value) or not 0 <= value <= _MOST_TOKENS or value != int(value):
        return None
    return int(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a model.

    Args:
        text: the answer as text.
        data: the object that satisfies the schema of the request, when there was one.
        model: the model that answered, as the provider names it.
        finish: `stop` (complete), `length` (cut off at `max_tokens`) or `filter` (withheld).
        usage: what it used.
        source: `model`, or `cache` or `replay` if no provider was asked.
    """

    text: str
    data: Any = None
    model: str = ""
    finish: Literal["stop", "length", "filter"] = "stop"
    usage: Usage = Usage()
    source: Literal["model", "cache", "replay"] = "model"


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """How reports name it, such as `openai:gpt-4o-mini` or `scripted(error=0.1, seed=3)`."""

    @property
    def simulated(self) -> bool:
        """Whether it is a simulation of a language model; every report must say so."""

    def answer(self, request: Request) -> Answer:
        """Answer a request.

        Raises:
            LLMError: there is no usable answer; the message says what happened and what to do.
        """


# Usage --------------------------------------------------------------------------------------------
# Usages as providers report them, and sums of them in which the unknown stays unknown.


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


def reported_usage(
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


def add_usages(usages: Iterable[Usage]) -> Usage:
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


# Tokens -------------------------------------------------------------------------------------------
# An estimate of the tokens of a prompt without the model's own tokenizer.
#
# From above, since budgets and limits are kept by it: an estimate too low would break them.

PER_MESSAGE = 8
"""Tokens that a chat template puts around a message, at most in common ones."""

_PIECES = re.compile(r"[A-Za-z]+|[0-9]|\n|[^\sA-Za-z0-9]")
_LETTERS = 4


def estimate_tokens(text: str) -> int:
    """Return an estimate from above of the tokens in English and PDDL text.

    Each run of letters counts a quarter of its length, rounded up; each digit, punctuation mark
    and line break counts 1; a character outside ASCII counts its UTF-8 bytes, which is the most
    a byte-level tokenizer can make of it; blanks count nothing. Strings of random letters can
    have more tokens than this; prompts as hvr writes them have fewer (see
    tests/models/test_llm_tokens.py).

    Returns:
        tokens, from 0 on.
    """
    return sum(map(_weight, _PIECES.findall(text)))


def count_tokens(messages: Iterable[Message]) -> int:
    """Return the estimate for a conversation, with what a chat template adds to each message."""
    return sum(estimate_tokens(m.text) + PER_MESSAGE for m in messages)


def _weight(piece: str) -> int:
    if piece.isascii():
        return -(-len(piece) // _LETTERS) if piece.isalpha() else 1
    return len(piece.encode("utf-8", "surrogatepass"))


# Layer --------------------------------------------------------------------------------------------
# The base of everything that is put around a model: it is named like the model.


class Layer:
    """A model around a model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """See `Model`."""
        return self._model.name

    @property
    def simulated(self) -> bool:
        """See `Model`."""
        return self._model.simulated
