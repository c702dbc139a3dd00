"""Files written by concurrent processes, some of them killed: budget, rate limit, cache."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.models.layers import Cache
from hvr.models.limits import MINUTE_S, Ledger, Load, OwnWindow, PerMinute, RateLimit, SharedWindow
from tests import warm
from tests.models.llm_fakes import Clock, Fake, ask, said

_WRITER = """
import sys, time
from pathlib import Path
from hvr.models.layers import Cache
from hvr.models.limits import Ledger, Load
from hvr.models.model import Answer, Message, Request
from hvr.models.limits import PerMinute, SharedWindow

class Echo:
    name, simulated = "echo:one", False
    def answer(self, request):
        return Answer(text=request.messages[0].text)

folder, name = Path(sys.argv[1]), sys.argv[2]
ledger = Ledger(folder / "ledger.sqlite")
window = SharedWindow(folder / "sent.sqlite", "echo:one")
cache = Cache(Echo(), folder / "cache.sqlite")
for n in range(int(sys.argv[3])):
    ledger.change(lambda load: load + Load(1, 10, 0, 0.5))
    entered = window.enter(PerMinute(requests=int(sys.argv[4])), 10) == 0
    cache.answer(Request(messages=(Message("user", f"{name} {n}"),)))
    print(n, int(entered), flush=True)
"""


def _writers(folder: Path, counts: Sequence[int], rate: int) -> list[subprocess.Popen[str]]:
    return [
        warm.Popen(
            [sys.executable, "-c", _WRITER, str(folder), str(name), str(count), str(rate)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, count in enumerate(counts)
    ]


@pytest.mark.slow
def test_a_killed_writer_leaves_files_that_the_others_go_on_with(tmp_path: Path) -> None:
    killed, *others = _writers(tmp_path, [100_000, 40, 40], rate=1_000_000)
    assert killed.stdout is not None
    seen = [killed.stdout.readline() for _ in range(20)]
    killed.kill()
    seen += killed.communicate()[0].splitlines()
    told = sum(line.strip().count(" ") for line in seen)
    for process in others:
        assert len(process.communicate(timeout=60)[0].splitlines()) == 40
        assert process.returncode == 0
    charged: list[Load] = []
    Ledger(tmp_path / "ledger.sqlite").change(lambda load: (charged.append(load), load)[1])
    (load,) = charged
    # It may have been killed once between a charge and its line.
    assert 80 + told <= load.calls <= 80 + told + 1
    assert (load.input, load.dollars) == (10 * load.calls, 0.5 * load.calls)
    known = Cache(Fake([]), tmp_path / "cache.sqlite")
    with closing(sqlite3.connect(tmp_path / "cache.sqlite")) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert 80 + told <= base.execute("SELECT COUNT(*) FROM answers").fetchone()[0]
    del known


@pytest.mark.slow
def test_all_processes_have_one_limit_a_minute(tmp_path: Path) -> None:
    start = time.monotonic()
    running = _writers(tmp_path, [30, 30, 30], rate=25)
    lines = [line for p in running for line in p.communicate(timeout=60)[0].splitlines()]
    if time.monotonic() - start > MINUTE_S:
        pytest.skip("the machine is so slow that a new minute began")
    assert len(lines) == 90
    assert sum(line.endswith(" 1") for line in lines) == 25


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0, 50), st.integers(1, 60)), max_size=25))
def test_a_shared_window_counts_as_an_own_one(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[float, int]]
) -> None:
    clock = Clock()
    rate = PerMinute(requests=5, tokens=120)
    own = OwnWindow(clock)
    path = tmp_path_factory.mktemp("window") / "sent.sqlite"
    shared = [SharedWindow(path, "m", clock) for _ in range(2)]
    for number, (pause, tokens) in enumerate(steps):
        clock.sleep(pause)
        assert shared[number % 2].enter(rate, tokens) == own.enter(rate, tokens)


def test_models_have_a_minute_of_their_own_and_no_clock_keeps_everybody_waiting(
    tmp_path: Path,
) -> None:
    path, clock = tmp_path / "sent.sqlite", Clock()
    once = PerMinute(requests=1)
    ahead = SharedWindow(path, "one", lambda: 5000.0)
    assert ahead.enter(once, 1) == 0
    here = SharedWindow(path, "one", clock)
    assert here.enter(once, 1) == 0
    assert here.enter(once, 1) == MINUTE_S
    assert SharedWindow(path, "other", clock).enter(once, 1) == 0


def test_a_limit_that_is_shared_bounds_what_all_send(tmp_path: Path) -> None:
    clock = Clock()
    models = [Fake([said()] * 4) for _ in range(2)]
    limited = [
        RateLimit(
            model, PerMinute(requests=2), sleep=clock.sleep, clock=clock,
            window=SharedWindow(tmp_path / "sent.sqlite", "m", clock),
        )
        for model in models
    ]  # fmt: skip
    times = []
    for number in range(6):
        limited[number % 2].answer(ask())
        times.append(clock.time)
    assert times == [0, 0, 60, 60, 120, 120]
