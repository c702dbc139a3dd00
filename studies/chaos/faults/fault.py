"""Definition of a server fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from studies.chaos.invariants import GOOD, NO, UNANSWERED, UNUSABLE
from studies.chaos.wire import Act, Protocol, Talk, behave

SERVER = frozenset({UNANSWERED})
"""The model was unreachable or gave no usable answer: retrying may help."""
ASKED = frozenset({UNUSABLE})
"""The request, the key or the model name is wrong."""
REFUSED = ASKED | SERVER
"""Statuses that may mean either."""
WELL = frozenset({GOOD})
TOLERATED = WELL | SERVER
"""The client may either tolerate the deviation or report it."""
ANSWERED = frozenset({NO, UNANSWERED})
"""The model answered, but not with a plan."""
ANY_ANSWER = WELL | ANSWERED

BOTH: tuple[Protocol, ...] = ("openai", "gemini")


@dataclass(frozen=True)
class Fault:
    """A kind of server misbehaviour.

    Args:
        act: Function that answers the affected requests.
        codes: Exit codes that hvr may have.
        says: Pattern that hvr's output must match.
        hits: Whether the request with a given number is affected; all others are answered
            correctly.
        greets: Whether the server sends before it has read a request.
        most: Maximum number of requests that hvr may send.
    """

    name: str
    act: Act
    codes: frozenset[int] = SERVER
    says: str = ""
    hits: Callable[[int], bool] = lambda _: True
    protocols: tuple[Protocol, ...] = ("openai",)
    greets: bool = False
    most: int = 40
    words: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    quick: bool = False

    def __call__(self, talk: Talk) -> None:
        (self.act if self.hits(talk.number) else behave)(talk)


def replying(
    body: object = b"", status: int | str = 200, headers: Mapping[str, str | None] | None = None
) -> Act:
    return lambda talk: talk.reply(body, status, headers)


def saying(*parts: bytes) -> Act:
    return lambda talk: talk.send(*parts)


def answering(text: str | Callable[[Talk], str]) -> Act:
    return lambda talk: talk.reply(talk.good(text if isinstance(text, str) else text(talk)))


def changed(**changes: Any) -> Act:
    return lambda talk: talk.reply(talk.good(**changes))


def first(count: int) -> Callable[[int], bool]:
    return lambda number: number <= count


def every(step: int) -> Callable[[int], bool]:
    """Return a predicate for every `step`-th request number, starting with the first."""
    return lambda number: number % step == 1


def after(count: int) -> Callable[[int], bool]:
    return lambda number: number > count
