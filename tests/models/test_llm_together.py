"""Requests that do not depend on each other are asked concurrently and recorded in order."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hvr.models import transcript
from hvr.models.config import ModelOptions
from hvr.models.connect import SharedLimits, stack
from hvr.models.errors import ModelError
from hvr.models.limits import Budget, Limits
from hvr.models.meter import Meter
from hvr.models.model import Answer, Request
from tests.models.llm_fakes import Fake, ask, said

COUNT = 4


def test_they_are_sent_at_once_counted_and_recorded_in_order(tmp_path: Path) -> None:
    # Each answer waits until all requests have arrived.
    arrived = threading.Barrier(COUNT, timeout=20)

    def outcome(request: Request) -> Answer | ModelError:
        arrived.wait()
        text = request.messages[0].text
        return ModelError("no", kind="refused") if text == "2" else said(text)

    file, budget = tmp_path / "llm.jsonl", Budget(Limits(calls=COUNT))
    meter = Meter(stack(Fake(outcome), record=file, shared=SharedLimits((budget,))))
    outcomes = meter.answer_all([ask(str(n)) for n in range(COUNT)])
    assert [o.text if isinstance(o, Answer) else o.kind for o in outcomes if o] == [  # type: ignore[attr-defined]
        "0", "1", "refused", "3",
    ]  # fmt: skip
    assert (meter.totals.calls, meter.totals.failed) == (COUNT, 1)
    assert budget.totals.calls == COUNT
    _, exchanges = transcript.read(file)
    assert [e.line["messages"][0]["text"] for e in exchanges] == ["0", "1", "2", "3"]
    again = Meter(transcript.Replay(file)).answer_all([ask(str(n)) for n in (3, 0)])
    assert [o.text for o in again if isinstance(o, Answer)] == ["3", "0"]


def test_nothing_more_is_sent_after_an_error(tmp_path: Path) -> None:
    sent: list[str] = []
    ended = threading.Event()

    def outcome(request: Request) -> Answer | ModelError:
        text = request.messages[0].text
        sent.append(text)
        if text == "0":
            raise RuntimeError("a fault of the model's own code")
        ended.wait(20)
        return said(text)

    model = stack(Fake(outcome), ModelOptions(concurrency=2), record=tmp_path / "llm.jsonl")
    with pytest.raises(RuntimeError, match="own code"):
        Meter(model).answer_all([ask(str(n)) for n in range(20)])
    begun = len(sent)
    ended.set()
    for thread in threading.enumerate():
        if thread.name == "hvr-ask":
            thread.join(20)
    assert begun <= 3 and len(sent) == begun
