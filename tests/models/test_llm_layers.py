"""Retries, rate limits, budgets and the cache, around a scripted model."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.errors import BudgetError, DataFileError, UsageError
from hvr.models.config import ModelOptions, Price
from hvr.models.connect import SharedLimits, stack
from hvr.models.errors import Kind, ModelError, retry_after
from hvr.models.layers import Cache, Retry, RetryLimits, RetryPolicy
from hvr.models.limits import Budget, Budgeted, Limits, PerMinute, RateLimit
from hvr.models.model import Answer, Request, Usage, count_tokens
from tests import warm
from tests.models.llm_fakes import Clock, Fake, ask, said


def failed(
    kind: Kind = "server", status: int | None = None, wait: float | None = None
) -> ModelError:
    return ModelError("it failed", kind=kind, status=status, retry_after=wait)


def retry(model: Fake, clock: Clock, **patience: float) -> Retry:
    chosen = RetryLimits(**patience)  # type: ignore[arg-type]
    return Retry(model, RetryPolicy(chosen, sleep=clock.sleep, clock=clock))


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_errors_that_may_pass_are_tried_again(status: int) -> None:
    from hvr.models.errors import kind_of

    model, clock = Fake([failed(kind_of(status), status), said()]), Clock()
    assert retry(model, clock).answer(ask()).text == "hi"
    assert len(model.asked) == 2 and len(clock.slept) == 1


@pytest.mark.parametrize("kind", ["timeout", "connection", "garbled"])
def test_lost_connections_are_tried_again(kind: Kind) -> None:
    model = Fake([failed(kind), failed(kind), said()])
    assert retry(model, Clock()).answer(ask()).text == "hi"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 501])
def test_errors_that_stay_are_final(status: int) -> None:
    from hvr.models.errors import kind_of

    model, clock = Fake([failed(kind_of(status), status)]), Clock()
    with pytest.raises(ModelError, match=r"^it failed$"):
        retry(model, clock).answer(ask())
    assert len(model.asked) == 1 and not clock.slept


def test_waits_double_within_bounds_and_are_the_same_for_a_seed() -> None:
    runs = []
    for _ in range(2):
        clock = Clock()
        with pytest.raises(ModelError, match="tried 6 times"):
            retry(Fake([failed()]), clock, attempts=6, first=1.0, longest=5.0).answer(ask())
        runs.append(clock.slept)
    assert runs[0] == runs[1]
    for wait, most in zip(runs[0], (1, 2, 4, 5, 5), strict=True):
        assert most / 2 <= wait <= most


def test_the_server_says_how_long_to_wait() -> None:
    clock = Clock()
    retry(Fake([failed("rate", 429, 17.0), said()]), clock).answer(ask())
    assert clock.slept == [17.0]


def test_a_wait_that_is_too_long_is_not_begun() -> None:
    clock = Clock()
    model = Fake([failed("rate", 429, 3600.0)])
    with pytest.raises(ModelError, match=r"asks to wait 3600 s; .*exceed 60 s") as caught:
        retry(model, clock, seconds=60.0).answer(ask())
    assert not clock.slept and caught.value.status == 429


@pytest.mark.slow
@given(st.lists(st.floats(0, 400), max_size=8), st.floats(1, 300), st.integers(1, 8))
def test_no_more_attempts_and_waiting_than_allowed(
    waits: list[float], seconds: float, attempts: int
) -> None:
    clock = Clock()
    model = Fake([*(failed("rate", 429, w) for w in waits), failed()])
    with pytest.raises(ModelError):
        retry(model, clock, seconds=seconds, attempts=attempts).answer(ask())
    assert len(model.asked) <= attempts and clock.time <= seconds


def test_unusable_answers_are_asked_for_once_more() -> None:
    bad = ModelError("empty", kind="empty", usage=Usage(input=10, output=0))
    model = Fake([bad, said()])
    answer = retry(model, Clock()).answer(ask())
    assert answer.usage.input == 20 and answer.usage.output == 5
    model = Fake([bad])
    with pytest.raises(ModelError, match="tried 2 times") as caught:
        retry(model, Clock()).answer(ask())
    assert len(model.asked) == 2 and caught.value.usage == Usage(input=20, output=0)


def test_each_further_attempt_is_announced_before_the_wait(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, announced = Clock(), list[int]()

    def sleep(seconds: float) -> None:
        announced.append(len(caplog.messages))
        clock.sleep(seconds)

    bad = ModelError("no text", kind="empty")
    model = Fake([failed("rate", 429, 8.0), failed("server", 503), bad, said()])
    Retry(model, RetryPolicy(RetryLimits(first=4.0), sleep=sleep, clock=clock)).answer(ask())
    assert announced == [1, 2, 3]
    assert caplog.messages[0] == "it failed; asking again in 8 s, attempt 2 of 5"
    assert caplog.messages[1].startswith("it failed; asking again in ")
    assert caplog.messages[2] == "no text; asking again, attempt 4 of 5"
    assert {r.levelname for r in caplog.records} == {"WARNING"}
    assert all(r.name.startswith("hvr.models") for r in caplog.records)


def test_what_is_final_is_not_announced(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ModelError):
        retry(Fake([failed("auth", 401)]), Clock()).answer(ask())
    assert not caplog.messages


@pytest.mark.slow
@given(st.lists(st.floats(0, 50), max_size=6), st.floats(0.5, 100))
def test_a_request_is_told_what_is_left_of_the_time(took: list[float], seconds: float) -> None:
    clock, left = Clock(), list[tuple[float, float]]()

    def answer(request: Request) -> ModelError:
        assert request.seconds is not None
        left.append((clock.time, request.seconds))
        # It either uses the whole time limit or fails earlier.
        clock.time += min(took[len(left) - 1] if len(left) <= len(took) else 0, request.seconds)
        return failed()

    with pytest.raises(ModelError):
        retry(Fake(answer), clock, seconds=seconds).answer(ask())
    assert all(given > 0 and at + given <= seconds * (1 + 1e-9) for at, given in left)
    assert clock.time <= seconds * (1 + 1e-9)


def test_an_interrupt_passes_at_once() -> None:
    model, clock = Fake([KeyboardInterrupt()]), Clock()
    with pytest.raises(KeyboardInterrupt):
        retry(model, clock).answer(ask())
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"Retry-After": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 31 Dec 2025 23:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-4"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, datetime(2026, 1, 1, tzinfo=UTC)) == seconds


def test_requests_a_minute_are_bounded() -> None:
    clock = Clock()
    sent: list[float] = []

    def answer(_: Request) -> Answer:
        sent.append(clock.time)
        return said()

    model = Fake(answer)
    limited = RateLimit(model, PerMinute(requests=3), sleep=clock.sleep, clock=clock)
    for _ in range(8):
        limited.answer(ask())
    assert sent == [0, 0, 0, 60, 60, 60, 120, 120]


@pytest.mark.slow
@given(st.lists(st.integers(1, 400), min_size=1, max_size=12), st.integers(420, 900))
def test_tokens_in_any_minute_are_bounded(sizes: list[int], limit: int) -> None:
    clock = Clock()
    sent: list[tuple[float, int]] = []

    def answer(request: Request) -> Answer:
        sent.append((clock.time, count_tokens(request.messages) + request.max_tokens))
        return said()

    limited = RateLimit(Fake(answer), PerMinute(tokens=limit), sleep=clock.sleep, clock=clock)
    for size in sizes:
        limited.answer(ask(max_tokens=size))
    for start, _ in sent:
        assert sum(t for at, t in sent if start <= at < start + 60) <= limit


def test_a_wait_for_the_rate_limit_counts_in_the_time_of_an_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, left = Clock(), list[float | None]()

    def answer(request: Request) -> Answer:
        left.append(request.seconds)
        return said()

    limited = RateLimit(Fake(answer), PerMinute(requests=1), sleep=clock.sleep, clock=clock)
    with caplog.at_level("INFO", logger="hvr.models"):
        for seconds in (300.0, 300.0, None):
            limited.answer(ask(seconds=seconds))
    assert left == [300.0, 240.0, None]
    assert caplog.messages == ["waiting 60 s for the limit of 1 request a minute"] * 2
    with pytest.raises(ModelError, match=r"1 request a minute has no room .* within 30 s"):
        limited.answer(ask(seconds=30.0))
    assert clock.time == 120.0


def test_a_request_larger_than_a_minute_allows_is_refused() -> None:
    with pytest.raises(ModelError, match="limit of 100 a minute"):
        RateLimit(Fake([said()]), PerMinute(tokens=100)).answer(ask(max_tokens=500))


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        (Limits(calls=2), 2),
        (Limits(calls=0), 0),
        # Each request reserves 10 tokens for the prompt ("hello" and its frame) and 100.
        (Limits(input=20), 2),
        (Limits(output=104), 1),
        (Limits(output=105), 2),
        (Limits(tokens=130), 2),
        (Limits(dollars=0.000104), 1),
    ],
)
def test_a_budget_stops_before_it_could_be_passed(limits: Limits, allowed: int) -> None:
    request = ask(max_tokens=100)
    assert count_tokens(request.messages) == 10
    model = Fake([said()])
    budget = Budget(limits)
    layer = Budgeted(model, budget, Price(0.0, 1.0))
    for _ in range(allowed):
        layer.answer(request)
    with pytest.raises(BudgetError, match="nothing was sent"):
        layer.answer(request)
    assert len(model.asked) == allowed == budget.totals.calls


@pytest.mark.slow
@given(st.lists(st.integers(0, 60), min_size=1, max_size=20), st.integers(0, 600))
def test_what_is_used_never_passes_the_budget(outputs: list[int], limit: int) -> None:
    budget = Budget(Limits(tokens=limit))
    answers = [said(usage=Usage(input=8, output=o, reasoning=0)) for o in outputs]
    layer = Budgeted(Fake(answers), budget)
    try:
        for _ in range(100):
            layer.answer(ask(max_tokens=60))
    except BudgetError:
        pass
    totals = budget.totals
    assert totals.input.known + totals.output.known <= limit


def test_what_nobody_knows_is_charged_as_reserved_and_reported_as_unknown() -> None:
    budget = Budget(Limits(tokens=220))
    layer = Budgeted(Fake([failed("timeout"), said(usage=Usage())]), budget)
    with pytest.raises(ModelError):
        layer.answer(ask(max_tokens=100))
    layer.answer(ask(max_tokens=100))
    with pytest.raises(BudgetError):
        layer.answer(ask(max_tokens=100))
    assert budget.totals.input.value is None and budget.totals.cost.value is None
    assert budget.to_json()["used"]["output"] == {"value": None, "known": 0, "unknown_parts": 2}


def test_what_was_refused_costs_nothing() -> None:
    budget = Budget(Limits(tokens=120))
    layer = Budgeted(Fake([failed("auth", 401), said()]), budget)
    with pytest.raises(ModelError):
        layer.answer(ask(max_tokens=100))
    layer.answer(ask(max_tokens=100))
    assert budget.totals.input.value == 10 and budget.totals.failed == 1


def test_a_budget_in_dollars_needs_a_price() -> None:
    with pytest.raises(UsageError, match="needs the price of fake:one"):
        Budgeted(Fake([said()]), Budget(Limits(dollars=1.0)))


def test_threads_share_a_budget() -> None:
    model, budget = Fake([said()]), Budget(Limits(calls=10))
    layer = Budgeted(model, budget)

    def one(_: int) -> bool:
        try:
            return bool(layer.answer(ask()))
        except BudgetError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(40))) == 10
    assert len(model.asked) == 10


def test_no_identical_prompt_is_paid_twice(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    model = Fake(lambda r: said(r.messages[0].text.upper()))
    first = Cache(model, file).answer(ask("a", purpose="one"))
    again = Cache(model, file).answer(ask("a", purpose="two"))
    assert (first.text, first.source) == ("A", "model")
    assert (again.text, again.source, again.usage.cost) == ("A", "cache", 0.0)
    assert again.model == first.model and len(model.asked) == 1
    for other in (ask("b"), ask("a", seed=1), ask("a", max_tokens=2), ask("a", schema={})):
        assert Cache(model, file).answer(other).source == "model"
    assert Cache(model, file, scope="elsewhere").answer(ask("a")).source == "model"
    assert Cache(Fake([said()], name="fake:two"), file).answer(ask("a")).source == "model"


@pytest.mark.parametrize("finish", ["length", "filter"])
def test_only_complete_answers_are_kept(tmp_path: Path, finish: str) -> None:
    model = Fake([said(finish=finish)])
    layer = Cache(model, tmp_path / "cache.sqlite")
    layer.answer(ask())
    layer.answer(ask())
    assert len(model.asked) == 2


def test_threads_share_a_cache(tmp_path: Path) -> None:
    layer = Cache(Fake(lambda r: said(r.messages[0].text)), tmp_path / "cache.sqlite")
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda n: layer.answer(ask(str(n % 7))).text, range(60)))
    assert texts == [str(n % 7) for n in range(60)]


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    file.write_text("this is text, and long enough not to be taken for an empty data base" * 20)
    with pytest.raises(DataFileError, match="cannot be used as a cache"):
        Cache(Fake([said()]), file)
    with pytest.raises(DataFileError, match="cannot be used as a cache"):
        Cache(Fake([said()]), tmp_path / "no" / "folder.sqlite")


@pytest.mark.slow
def test_a_cached_answer_needs_no_budget_and_each_attempt_does(tmp_path: Path) -> None:
    model = Fake([failed("server", 500), said()])
    budget = Budget(Limits(calls=2))
    layers = stack(
        model,
        ModelOptions(attempts=3, requests_per_minute=100),
        cache=tmp_path / "cache.sqlite",
        shared=SharedLimits((budget,)),
    )
    assert layers.answer(ask()).source == "model"
    assert layers.answer(ask()).source == "cache"
    assert budget.totals.calls == 2 and layers.name == "fake:one"
    with pytest.raises(BudgetError):
        layers.answer(ask("other"))


_ASK_SIX = """
import sys
from pathlib import Path
from hvr.models.layers import Cache
from hvr.models.model import Answer, Message, Request

class Slow:
    name, simulated = "slow:one", False
    def answer(self, request):
        return Answer(text=request.messages[0].text)

for n in range(6):
    asked = Request(messages=(Message("user", f"question {n}"),))
    print(Cache(Slow(), Path(sys.argv[1])).answer(asked).text)
"""


@pytest.mark.slow
def test_processes_share_a_cache(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _ASK_SIX, str(tmp_path / "cache.sqlite")]
    running = [warm.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for process in running:
        assert process.communicate()[0].splitlines() == [f"question {n}" for n in range(6)]
        assert process.returncode == 0
