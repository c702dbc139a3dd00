"""Independent requests are sent concurrently and recorded in order."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hvr.models import recording
from hvr.models.config import ModelOptions
from hvr.models.connect import SharedLimits, stack
from hvr.models.errors import ModelError
from hvr.models.layers import Meter
from hvr.models.limits import Budget, Limits
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
    _, exchanges = recording.read(file)
    assert [e.line["messages"][0]["text"] for e in exchanges] == ["0", "1", "2", "3"]
    again = Meter(recording.Replay(file)).answer_all([ask(str(n)) for n in (3, 0)])
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
    # A request may have been on its way to the model when the error occurred.
    assert begun <= len(sent) <= 3


@pytest.mark.parametrize("failing", [{"0"}, {"1", "3"}, {"0", "1", "2", "3"}])
def test_errors_of_concurrent_requests_are_asked_again(tmp_path: Path, failing: set[str]) -> None:
    """A resumed run pays for no answer twice, whichever of its requests failed."""
    sent: list[str] = []

    def outcome(request: Request) -> Answer | ModelError:
        text = request.messages[0].text
        sent.append(text)
        return ModelError("the server failed", kind="server") if text in down else said(text)

    requests, file = [ask(str(n)) for n in range(COUNT)], tmp_path / "llm.jsonl"
    options, down = ModelOptions(attempts=1), failing
    first = Meter(stack(Fake(outcome), options, record=file)).answer_all(requests)
    assert sum(isinstance(one, ModelError) for one in first) == len(failing)
    down = set()
    sent.clear()
    again = Meter(stack(Fake(outcome), options, record=file)).answer_all(requests)
    assert [one.text for one in again if isinstance(one, Answer)] == ["0", "1", "2", "3"]
    assert set(sent) == failing and len(sent) == len(failing)
    assert [e.line["messages"][0]["text"] for e in recording.read(file)[1]] == list("0123")
