"""Kills of processes at chosen moments."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from studies.chaos.checks import BrokeError
from studies.chaos.invariants import INTERRUPTED, KILLED, TERMINATED
from studies.chaos.lab import Lab
from studies.chaos.process import Ended, Process
from studies.chaos.wire import ChaosServer, Talk, behave

Wait = Callable[[Process], bool]
"""Waits for a moment; returns False if the process ended first."""

CODES = {signal.SIGKILL: KILLED, signal.SIGTERM: TERMINATED, signal.SIGINT: INTERRUPTED}
_STEP = 0.002
_ANSWER_SECONDS = 0.08


@dataclass(frozen=True)
class Undisturbed:
    seconds: float
    calls: int
    result: object


@dataclass(frozen=True)
class Kill:
    """The result of an attempted kill; `number` is None if the process ended by itself first."""

    ended: Ended
    number: signal.Signals | None

    @property
    def codes(self) -> frozenset[int]:
        # A signal that arrives during exit has no effect.
        return frozenset({0} if self.number is None else {0, CODES[self.number]})


def slowly(talk: Talk) -> None:
    """Answer correctly after a delay, so that a kill can come between request and answer."""
    talk.over.wait(_ANSWER_SECONDS)
    behave(talk)


def seconds_in(seconds: float) -> Wait:
    def wait(process: Process) -> bool:
        while process.running and time.monotonic() < process.started + seconds:
            time.sleep(_STEP)
        return process.running

    return wait


def calls_in(server: ChaosServer, number: int, delay: float) -> Wait:
    def wait(process: Process) -> bool:
        while process.running and server.calls < number:
            with server.changed:
                server.changed.wait(timeout=0.05)
        time.sleep(delay)
        return process.running

    return wait


def when(holds: Callable[[], bool], delay: float) -> Wait:
    def wait(process: Process) -> bool:
        while process.running and not holds():
            time.sleep(_STEP)
        time.sleep(delay)
        return process.running

    return wait


def changes_of(folder: Path) -> Callable[[], bool]:
    def look() -> object:
        try:
            return {(p.name, p.stat().st_mtime_ns) for p in folder.iterdir()}
        except OSError:
            return None

    before = look()
    return lambda: look() != before


def any_signal(source: random.Random) -> signal.Signals:
    """Draw a signal: usually SIGKILL, sometimes SIGTERM or SIGINT."""
    return source.choices(
        (signal.SIGKILL, signal.SIGTERM, signal.SIGINT), weights=(6, 2, 2)
    )[0]  # fmt: skip


def kill(lab: Lab, process: Process, wait: Wait, number: signal.Signals) -> Kill:
    hit = wait(process)
    if hit:
        process.send(number)
        lab.counts["kills"] += 1
        lab.killed = lab.killed or number is signal.SIGKILL
    ended = process.wait()
    if left := process.survivors():
        raise BrokeError(f"{len(left)} child processes were still running 10 s later")
    return Kill(ended, number if hit else None)
