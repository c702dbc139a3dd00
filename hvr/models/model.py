"""The protocol of language models: requests, answers, token usage, and the base of layers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol

from hvr.errors import LLMError
from hvr.values import JsonObject

# Model --------------------------------------------------------------------------------------------
# Providers and the layers around them (cache, budget, recorder, retries) all implement `Model`,
# so they can be stacked in any order.

_MOST_TOKENS = 1_000_000_000
"""Larger token counts are treated as not reported."""

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class ModelTool:
    """A tool that a model may call; `parameters` is the JSON schema of its arguments, an object."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True)
class ModelToolCall:
    id: str
    name: str
    arguments: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Message:
    """A turn of a conversation.

    Args:
        calls: Tool calls that the assistant makes in this turn.
        call_id: Id of the call whose result `text` is; only if `role` is `tool`.
    """

    role: Role
    text: str
    calls: tuple[ModelToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request to a language model.

    Args:
        messages: The conversation so far; the last message is the user's or a tool's result.
        purpose: Label for logs and counts, such as `block`; it is not sent.
        schema: JSON schema that the answer must satisfy; None to ask for text.
        accept: Weaker schema that an answer may satisfy instead, since not every server enforces
            `schema`; None means `schema`. It is not sent.
        tools: Tools that the model may call; unless empty, the model must call at least one.
        temperature: Sampling temperature; 0 is as deterministic as the model can be.
        max_tokens: Maximum length of the answer, in the model's tokens.
        seconds: Time limit for the answer in seconds; None means the model's timeout. It is not
            sent.
    """

    messages: tuple[Message, ...]
    purpose: str = ""
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    accept: Mapping[str, Any] | None = field(default=None, hash=False, compare=False)
    tools: tuple[ModelTool, ...] = ()
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Token counts and cost of one answer; None if the provider reports no plausible value.

    Args:
        input: Number of prompt tokens, including cached ones.
        output: Number of answer tokens, without reasoning.
        cached: Number of prompt tokens found in the provider's cache.
        reasoning: Number of reasoning tokens, which are not part of the answer.
        cost: Cost in US dollars; None if the model's price is unknown.
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
    """The answer of a language model.

    Args:
        data: Decoded JSON value, if the request had a schema.
        model: The provider's name for the model that answered.
        finish: `stop` (complete), `length` (cut off at `max_tokens`) or `filter` (withheld).
        source: `cache` or `replay` if no provider was asked, otherwise `model`.
    """

    text: str
    data: Any = None
    calls: tuple[ModelToolCall, ...] = ()
    model: str = ""
    finish: Literal["stop", "length", "filter"] = "stop"
    usage: Usage = Usage()
    source: Literal["model", "cache", "replay"] = "model"


class Model(Protocol):
    @property
    def name(self) -> str:
        """Name for reports, such as `openai:gpt-4o-mini` or `scripted(error=0.1, seed=3)`."""

    @property
    def simulated(self) -> bool:
        """Whether this is a simulated language model, which every report must mention."""

    def answer(self, request: Request) -> Answer:
        """Answer a request.

        Raises:
            LLMError: No usable answer was received; the message says why and what to do.
        """


def answer_all(model: Model, requests: Sequence[Request]) -> list[Answer | LLMError]:
    """Send independent requests, and return the answer or error of each, in order.

    A model with a method `answer_all` may process them concurrently; any other model gets one
    request at a time.
    """
    together = getattr(model, "answer_all", None)
    if together is not None:
        return list(together(requests))
    return [outcome_of(model, request) for request in requests]


def outcome_of(model: Model, request: Request) -> Answer | LLMError:
    try:
        return model.answer(request)
    except LLMError as error:
        return error


# Usage --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Amount(JsonObject):
    """A sum of numbers, some of which may be unknown.

    Args:
        known: Sum of the known numbers.
        unknown: Number of unknown numbers.
    """

    known: float = 0
    unknown: int = 0

    json_shape = "value known unknown_parts=unknown"

    @property
    def value(self) -> float | None:
        """The sum; None if any number is unknown."""
        return None if self.unknown else self.known

    @property
    def whole(self) -> int | None:
        return None if self.unknown else int(self.known)

    def plus(self, part: float | None) -> Amount:
        return self + (Amount(unknown=1) if part is None else Amount(part))

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.known + other.known, self.unknown + other.unknown)

    def __str__(self) -> str:
        if not self.unknown:
            return f"{self.known:.6g}" if isinstance(self.known, float) else str(self.known)
        return f"unknown (known: {self.known:.6g})" if self.known else "unknown"


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Total usage of several calls; see `Usage` for the token counts.

    Args:
        calls: Number of calls, including failed ones.
        failed: Number of calls that ended in an error.
        seconds: Total wall time of the calls, in seconds.
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
        names = [f.name for f in fields(usage)]
        amounts = {n: getattr(self, n).plus(getattr(usage, n)) for n in names}
        return Totals(
            calls=self.calls + calls,
            failed=self.failed + failed,
            seconds=self.seconds.plus(seconds),
            **amounts,
        )

    def __add__(self, other: Totals) -> Totals:
        return Totals(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in _FIELDS})

    def to_json(self) -> dict[str, Any]:
        values = ((f.name, getattr(self, f.name)) for f in _FIELDS)
        return {n: v.to_json() if isinstance(v, Amount) else v for n, v in values}


_FIELDS = fields(Totals)


def reported_usage(
    *, input: Any, output: Any, cached: Any = None, reasoning: Any = None, answered: bool = True
) -> Usage:
    """Return the usage reported by a provider, with None for implausible counts.

    The counts are the raw values in the reply, of any type; `answered` says whether the answer has
    text.
    """
    usage = Usage(input=input, output=output, cached=cached, reasoning=reasoning)
    # Neither a prompt nor an answer with text can have 0 tokens, so 0 means not counted.
    if usage.input == 0:
        usage = replace(usage, input=None)
    if answered and usage.output == 0 and not usage.reasoning:
        usage = replace(usage, output=None)
    return usage


def without_reasoning(usage: Usage) -> Usage:
    """Subtract reasoning tokens from `output`, for protocols that include them in it.

    A usage whose counts contradict this, or are unknown, is returned unchanged.
    """
    if usage.output is None or not usage.reasoning or usage.reasoning > usage.output:
        return usage
    return replace(usage, output=usage.output - usage.reasoning)


def add_usages(usages: Iterable[Usage]) -> Usage:
    """Return the total usage; a field is None if it is unknown in any of the usages."""
    total = Totals()
    for usage in usages:
        total = total.plus(usage)
    return Usage(
        input=total.input.whole,
        output=total.output.whole,
        cached=total.cached.whole,
        reasoning=total.reasoning.whole,
        cost=total.cost.value,
    )


# Tokens -------------------------------------------------------------------------------------------
# Budgets and rate limits rely on this estimate, so it must never be too low.

PER_MESSAGE = 8
"""Upper bound on the tokens that common chat templates add to a message."""

_PIECES = re.compile(r"[A-Za-z]+|[0-9]|\n|[^\sA-Za-z0-9]")
_LETTERS = 4


def estimate_tokens(text: str) -> int:
    """Return an upper estimate of the number of tokens in English and PDDL text.

    A run of letters counts as a quarter of its length, rounded up. Each digit, punctuation mark and
    line break counts as 1, and each non-ASCII character as its number of UTF-8 bytes, the worst
    case of a byte-level tokenizer. Random letters can exceed the estimate; hvr's prompts do not.
    """
    return sum(map(_weight, _PIECES.findall(text)))


def count_tokens(messages: Iterable[Message]) -> int:
    return sum(estimate_tokens(m.text) + PER_MESSAGE for m in messages)


def request_tokens(request: Request) -> int:
    """Return the estimated number of prompt tokens of a request, including its schema and tools."""
    more = [json.dumps(tool.parameters) + tool.description + tool.name for tool in request.tools]
    more += [json.dumps(c.arguments) + c.name for m in request.messages for c in m.calls]
    if request.schema is not None:
        more.append(json.dumps(request.schema))
    return count_tokens(request.messages) + sum(
        estimate_tokens(text) + PER_MESSAGE for text in more
    )


def _weight(piece: str) -> int:
    if piece.isascii():
        return -(-len(piece) // _LETTERS) if piece.isalpha() else 1
    return len(piece.encode("utf-8", "surrogatepass"))


# Layer --------------------------------------------------------------------------------------------


class Layer:
    """A model that wraps another model and keeps its name."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def wrapped(self) -> Model:
        return self._model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def simulated(self) -> bool:
        return self._model.simulated
