"""The protocol of language models: messages in, text or a checked object out.

A provider and everything that is put around one (a cache, a budget, a recorder, retries) is a
`Model`, so they can be stacked in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

_MOST_TOKENS = 1_000_000_000
"""What is said to be more was not counted."""

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One turn of a conversation.

    Args:
        role: the speaker.
        text: the words.
    """

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
    """Return a number of tokens, if it is one."""
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
