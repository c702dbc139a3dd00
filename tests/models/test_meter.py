"""The meter: sums with unknown parts stay unknown."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from hvr.errors import LLMError
from hvr.models.errors import ModelError
from hvr.models.layers import Meter
from hvr.models.model import Answer, Message, Request, Usage


class Parrot:
    """Returns prepared answers."""

    name = "parrot"
    simulated = True

    def __init__(self, answers: Iterable[Answer | LLMError]) -> None:
        self.answers = iter(answers)

    def answer(self, request: Request) -> Answer:
        assert request.messages
        found = next(self.answers)
        if isinstance(found, LLMError):
            raise found
        return found


ASK = Request(messages=(Message("user", "make coffee"),))


def test_what_was_used_is_added_up() -> None:
    answers = [
        Answer(text="", usage=Usage(input=100, output=10, cached=40, cost=0.5)),
        Answer(text="", usage=Usage(input=50, output=5, cached=0, cost=None)),
        Answer(text="", usage=Usage(input=0, output=0), source="cache"),
    ]
    model = Meter(Parrot(answers))
    assert (model.name, model.simulated) == ("parrot", True)
    for answer in answers:
        assert model.answer(ASK) is answer
    spent = model.spent(2.0)
    assert (spent.calls, spent.cached_calls, spent.input, spent.output) == (2, 1, 150, 15)
    assert (spent.cached, spent.reasoning, spent.cost, spent.seconds) == (40, None, None, 2.0)


def test_errors_count_as_calls() -> None:
    known = ModelError("cut off", usage=Usage(input=7, output=1, cached=0, reasoning=0, cost=0.1))
    model = Meter(Parrot([known, LLMError("who knows")]))
    with pytest.raises(ModelError):
        model.answer(ASK)
    assert (model.spent().calls, model.spent().input, model.spent().cost) == (1, 7, 0.1)
    with pytest.raises(LLMError):
        model.answer(ASK)
    assert model.spent().calls == 2


def test_nothing_asked_nothing_used() -> None:
    spent = Meter(Parrot([])).spent()
    assert (spent.calls, spent.input, spent.cost) == (0, 0, 0)
