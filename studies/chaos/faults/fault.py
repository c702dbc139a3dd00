"""What a fault of a server is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from studies.chaos.invariants import GOOD, NO, UNANSWERED, UNUSABLE
from studies.chaos.wire import Act, Protocol, Talk, behave

SERVER = frozenset({UNANSWERED})
"""The model was not reached, or gave no usable answer: asking again may help."""
ASKED = frozenset({UNUSABLE})
"""The question, the key or the model's name is at fault."""
REFUSED = ASKED | SERVER
"""A status that may mean either."""
WELL = frozenset({GOOD})
TOLERATED = WELL | SERVER
"""A client may understand what was meant, or say that it does not."""
ANSWERED = frozenset({NO, UNANSWERED})
"""The model answered, and what it answered is no plan."""
ANY_ANSWER = WELL | ANSWERED

BOTH: tuple[Protocol, ...] = ("openai", "gemini")


@dataclass(frozen=True)
class Fault:
    """A way in which a server misbehaves.

    Args:
        name: of the fault.
        act: answers the requests that it hits.
        codes: the exit codes that are right for it.
        says: a pattern that hvr's output must have.
        hits: whether it hits the request of a number; the others are answered well.
        protocols: the servers that it is tried with.
        greets: the server speaks before it has read a request.
        most: requests that hvr may send at most.
        words: more words of hvr's command line.
        env: more variables.
        quick: it belongs to the short form.
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
        """Answer a request."""
        (self.act if self.hits(talk.number) else behave)(talk)


def replying(
    body: object = b"", status: int | str = 200, headers: Mapping[str, str | None] | None = None
) -> Act:
    """Return what always says the same reply."""
    return lambda talk: talk.reply(body, status, headers)


def saying(*parts: bytes) -> Act:
    """Return what always says the same bytes."""
    return lambda talk: talk.send(*parts)


def answering(text: str | Callable[[Talk], str]) -> Act:
    """Return a model that answers with a text."""
    return lambda talk: talk.reply(talk.good(text if isinstance(text, str) else text(talk)))


def changed(**changes: Any) -> Act:
    """Return what replies well but for some fields of the body."""
    return lambda talk: talk.reply(talk.good(**changes))


def first(count: int) -> Callable[[int], bool]:
    """Return the hits of a fault that passes after some requests."""
    return lambda number: number <= count


def every(step: int) -> Callable[[int], bool]:
    """Return the hits of a fault that comes back with every so many requests."""
    return lambda number: number % step == 1


def after(count: int) -> Callable[[int], bool]:
    """Return the hits of a fault that begins after some requests and stays."""
    return lambda number: number > count
