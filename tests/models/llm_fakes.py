"""A scripted model for testing the layers around a model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from hvr.models.model import Answer, Message, Request, Usage

Outcome = Answer | BaseException


def ask(text: str = "hello", **settings: object) -> Request:
    """Return a request with one message."""
    return Request(messages=(Message("user", text),), **settings)  # type: ignore[arg-type]


class Fake:
    """Returns the given answers in order, then repeats the last one."""

    simulated = False

    def __init__(
        self, outcomes: Sequence[Outcome] | Callable[[Request], Outcome], name: str = "fake:one"
    ) -> None:
        self.name = name
        self.asked: list[Request] = []
        self._outcomes = outcomes
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Answer:
        with self._lock:
            self.asked.append(request)
            number = len(self.asked)
        if callable(self._outcomes):
            outcome = self._outcomes(request)
        else:
            outcome = self._outcomes[min(number, len(self._outcomes)) - 1]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


class Clock:
    """A clock that only advances by sleeping."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


def said(text: str = "hi", **more: object) -> Answer:
    """Return an answer with known usage."""
    usage = Usage(input=10, output=5, cached=0, reasoning=0)
    return Answer(text=text, **{"usage": usage, "model": "one-1", **more})  # type: ignore[arg-type]
