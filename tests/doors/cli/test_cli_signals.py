"""The first signal lets a command clean up, and a second one ends it at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests import warm

_ENDING = """
import sys, time
from hvr.doors.cli import process
from hvr.doors.cli.process import Terminated, signals_as_exceptions

def say(word):
    print(word, flush=True)

def wait():
    for _ in range(6000):
        time.sleep(0.1)

class Destroyed:
    def __del__(self):
        say("ready")
        wait()

sys.unraisablehook = process._ignore_unraisable
try:
    with signals_as_exceptions():
        if "destructor" in sys.argv:
            thing = Destroyed()
            del thing
        try:
            say("ready")
            wait()
        finally:
            say("in order")
            if "slow" in sys.argv:
                wait()
except (KeyboardInterrupt, Terminated) as signalled:
    sys.exit(process.ended_by(signalled))
"""


@contextmanager
def waiting(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a process that is ready for a signal."""
    process = warm.Popen(
        [sys.executable, "-c", _ENDING, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


HEARS_HANGUPS = pytest.mark.skipif(
    signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, reason="hangups are ignored, as under nohup"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        (signal.SIGTERM, 143, "terminated\n"),
        (signal.SIGINT, 130, "interrupted\n"),
        pytest.param(signal.SIGHUP, 143, "terminated\n", marks=HEARS_HANGUPS),
    ],
    ids=["SIGTERM", "SIGINT", "SIGHUP"],
)
def test_a_signal_lets_things_be_put_in_order(how: signal.Signals, code: int, said: str) -> None:
    with waiting() as process:
        process.send_signal(how)
        assert process.communicate(timeout=600) == ("in order\n", said)
        assert process.returncode == code


@pytest.mark.slow
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_second_signal_ends_at_once(second: signal.Signals) -> None:
    with waiting("slow") as process:
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None and process.stdout.readline() == "in order\n"
        process.send_signal(second)
        assert process.wait(timeout=600) == -second


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_in_a_destructor_is_not_lost(how: signal.Signals) -> None:
    with waiting("destructor") as process:
        process.send_signal(how)
        out, err = process.communicate(timeout=600)
        assert process.returncode in (143, 130) and "Exception ignored" not in err
        assert out in ("", "ready\nin order\n")


@pytest.mark.slow
def test_what_a_shell_lets_ignore_stays_ignored() -> None:
    """A background job of a shell without job control ignores Ctrl-C."""
    script = f"trap '' INT; exec {sys.executable} -c '{_ENDING}'"
    process = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=600)[0] == "in order\n"
        assert process.returncode == 143
    finally:
        process.kill()
        process.communicate()
