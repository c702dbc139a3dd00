"""The short form of benchmarks/chaos.py passes, and its checks detect faults."""

from __future__ import annotations

import random
import signal
import socket
import sys
import urllib.request
from pathlib import Path

import pytest

from studies.chaos.checks import BrokeError, Check, chosen, one_line
from studies.chaos.collected import CHECKS, GROUPS
from studies.chaos.faults import FAULTS
from studies.chaos.invariants import Run, damaged, examine, require
from studies.chaos.kills.moments import kill, when
from studies.chaos.lab import Lab, Shared
from studies.chaos.process import Ended
from studies.chaos.running import run_one, table
from studies.chaos.wire import ChaosServer, Talk
from tests.extras import needs

needs("openai")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the situations are made by means of Linux"
)

QUICK = chosen(CHECKS, (), quick=True)


@pytest.fixture(scope="module")
def shared() -> Shared:
    return Shared()


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab", random.Random(0))


@pytest.mark.slow
@pytest.mark.parametrize("check", QUICK, ids=lambda check: check.id)
def test_what_must_hold_holds(check: Check, shared: Shared, tmp_path: Path) -> None:
    outcome = run_one(check, tmp_path, seed=0, shared=shared)
    if outcome.state == "skipped":
        pytest.skip(outcome.why)
    assert outcome.state == "held", outcome.why


_TOUCH = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch()"


def test_each_group_has_a_check_in_the_short_form_and_no_name_is_there_twice() -> None:
    assert {check.group for check in QUICK} == {group.name for group in GROUPS}
    assert len({check.id for check in CHECKS}) == len(CHECKS)


def test_the_benchmark_is_as_large_as_it_says() -> None:
    assert len({fault.name for fault in FAULTS}) >= 60
    assert sum(check.group in ("disk", "terminal", "surroundings", "sharing")
               for check in CHECKS) >= 30  # fmt: skip


def test_checks_are_chosen_by_group_name_and_pattern() -> None:
    names = [check.id for check in chosen(CHECKS, ["sharing"], quick=False)]
    assert names and all(name.startswith("sharing/") for name in names)
    assert [c.id for c in chosen(CHECKS, [names[0]], quick=False)] == names[:1]
    assert {c.id for c in chosen(CHECKS, ["shar*"], quick=False)} >= set(names)


def ended(
    code: int = 0, out: str = "", err: str = "", *, peak: int = 0, late: bool = False
) -> Ended:
    return Ended(code, out.encode(), err.encode(), 1.0, peak, late)


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (ended(1), "found 1"),
        (ended(late=True), "did not end"),
        (ended(peak=2_000_000_000), "GB"),
        (ended(err="Traceback (most recent call last):\n  …"), "traceback"),
        (ended(err="thread 'main' panicked at src/lib.rs:1"), "traceback"),
        (ended(err="error: one\nerror: two"), "2 lines"),
        (ended(err="error: " + "x" * 9_000), "characters"),
        (ended(out="x" * 2_000_000), "million"),
        (ended(out="\x1b[31mred"), "control character"),
        (ended(out="\x9b31mred"), "control character"),
    ],
)
def test_what_is_said_is_judged(lab: Lab, end: Ended, why: str) -> None:
    examine(lab, ended(out="goal reached ☕\n"), {0})
    with pytest.raises(BrokeError, match=why):
        examine(lab, end, {0})


def test_the_words_that_are_wanted_are_looked_for(lab: Lab) -> None:
    examine(lab, ended(4, err="error: the disk is Full"), {4}, says="full")
    with pytest.raises(BrokeError, match="does not mention"):
        examine(lab, ended(4, err="error: oh"), {4}, says="full")


def test_a_secret_is_found_wherever_it_is(lab: Lab) -> None:
    examine(lab, ended(), {0})
    for secret in (lab.secrets.key, *lab.secrets.lookalikes):
        hidden = lab.work / "deep" / "store.sqlite"
        hidden.parent.mkdir(exist_ok=True)
        # Also across the border of two chunks of a large file.
        hidden.write_bytes(b"\x00" * ((1 << 22) - 9) + secret.encode() + b"\xff")
        with pytest.raises(BrokeError, match=r"is in work/deep/store\.sqlite"):
            examine(lab, ended(), {0})
        hidden.unlink()
    examine(lab, ended(), {0})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("task.json", '{"half": '),
        ("task.json", '{"x": NaN}'),
        ("trace.jsonl", '{"a": 1}\n{"b"\n{"c": 2}\n'),
        ("trace.jsonl", '{"a": 1}\n{"b": '),
        (".task.json.1-2.part", "{}"),
    ],
)
def test_what_is_half_written_is_found(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "whole.json").write_text('{"a": [1]}')
    assert not list(damaged(tmp_path))
    (tmp_path / name).write_text(text)
    assert len(list(damaged(tmp_path))) == 1


def test_a_kill_excuses_a_last_line_and_a_temporary_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text('{"a": 1}\n{"b": ')
    (tmp_path / ".task.json.1-2.part").write_text("{")
    assert not list(damaged(tmp_path, orderly=False))
    (tmp_path / "task.json").write_text("{")
    assert len(list(damaged(tmp_path, orderly=False))) == 1


def test_a_run_is_complete_when_it_says_so(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert not run.complete
    task = tmp_path / "task.json"
    task.write_text('{"reached": true}')
    assert run.complete
    task.write_text('{"state": "started", "reached": null}')
    assert not run.complete
    task.write_text('{"state": "finished", "reached": null}')
    assert run.complete


def test_a_server_says_the_bytes_that_it_is_told_to_say_and_counts() -> None:
    def act(talk: Talk) -> None:
        talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", b"%d!" % talk.number)

    with ChaosServer(act) as server:
        said = [urllib.request.urlopen(server.url).read() for _ in range(2)]
    assert said == [b"1!", b"2!"]
    assert server.calls == 2
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", int(server.url[17:-3]))):
        pass


def test_a_process_is_killed_at_a_moment(lab: Lab) -> None:
    begun = lab.work / "begun"
    process = lab.start(begun, python=("-c", f"{_TOUCH}; time.sleep(600)"))
    killed = kill(lab, process, when(begun.exists, 0.0), signal.SIGTERM)
    assert killed.number is signal.SIGTERM
    assert killed.codes == {0, 128 + signal.SIGTERM} and killed.ended.code in killed.codes
    assert lab.counts["kills"] == 1
    early = kill(lab, lab.start(python=("-c", "")), when(lambda: False, 0.0), signal.SIGKILL)
    assert early.number is None and early.codes == {0}
    assert lab.counts["kills"] == 1


@pytest.mark.slow
def test_a_child_that_outlives_a_kill_is_noticed_and_ended(lab: Lab) -> None:
    begun = lab.work / "begun"
    child = f"{_TOUCH}; time.sleep(600)"
    words = f"[sys.executable, '-c', {child!r}, {str(begun)!r}]"
    program = f"import subprocess, sys; subprocess.run({words})"
    process = lab.start(python=("-c", program))
    with pytest.raises(BrokeError, match="1 child processes"):
        kill(lab, process, when(begun.exists, 0.0), signal.SIGKILL)
    assert not process.survivors()


def test_a_process_that_is_late_is_ended(lab: Lab) -> None:
    end = lab.python("import time; time.sleep(600)", how=lab.surroundings(bound=0.5))
    assert end.late


def test_a_check_that_fails_itself_does_not_pass(tmp_path: Path) -> None:
    def divides(_: Lab) -> None:
        raise ZeroDivisionError

    def breaks(_: Lab) -> None:
        require(False, "it is\nso \x1b[31m")

    states = [run_one(Check("g", body.__name__, body), tmp_path, 0) for body in (divides, breaks)]
    assert [outcome.state for outcome in states] == ["broke", "broke"]
    assert "ZeroDivisionError" in states[0].why
    assert states[1].why == one_line("it is\nso \x1b[31m") == "it is so \\x1b[31m"
    assert "| g | 2 | 0 | 2 | 0 | 0 | 0 | 0 |" in list(table(states))
