"""Kill `hvr bench`: finished cells stay unchanged, and no answer is paid for twice."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

from studies.chaos.checks import Group
from studies.chaos.invariants import GOOD, examine, require
from studies.chaos.kills.moments import (
    Kill,
    Undisturbed,
    Wait,
    any_signal,
    calls_in,
    kill,
    seconds_in,
    slowly,
    when,
)
from studies.chaos.lab import Lab
from studies.chaos.wire import ChaosServer

_MOST_STARTS = 6
_PASSING = ("seconds", "spent", "planner_seconds")
"""Scores that depend on timing or on repeated requests."""


def _served(server: ChaosServer, folder: Path, jobs: int) -> tuple[object, ...]:
    return ("bench", "--tasks", "T2,T1", "--settings", "HVR,LLM", "--models", server.spec,
            "--base-url", server.url, "--jobs", jobs, "--max-calls", "500", "--no-execute",
            "--json", "--save", folder)  # fmt: skip


def _scripted(folder: Path, jobs: int) -> tuple[object, ...]:
    return ("bench", "--tasks", "T1,T2,T3", "--settings", "HVR,LLM", "--models",
            "scripted:error=0.1", "--jobs", jobs, "--no-execute", "--json",
            "--save", folder)  # fmt: skip


def _finished(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in (folder / "cells").glob("*.json")
        if json.loads(path.read_bytes())["scores"] is not None
    }


def _results(folder: Path) -> dict[str, Any]:
    results = {}
    for name, (data, _) in _finished(folder).items():
        scores = json.loads(data)["scores"]
        results[name] = {k: v for k, v in scores.items() if k not in _PASSING}
    return results


def _undisturbed(lab: Lab, jobs: int, *, served: bool) -> Undisturbed:
    def measure() -> Undisturbed:
        folder = lab.folder / "undisturbed"
        with ChaosServer(slowly) as server:
            words = _served(server, folder, jobs) if served else _scripted(folder, jobs)
            ended = lab.hvr(*words)
        examine(lab, ended, {GOOD})
        return Undisturbed(ended.seconds, server.calls, _results(folder))

    measured = lab.shared.once(f"bench {served} {jobs}", measure)
    assert isinstance(measured, Undisturbed)
    return measured


def _moment(
    lab: Lab, server: ChaosServer, folder: Path, usual: Undisturbed
) -> tuple[Wait, signal.Signals]:
    manifest, starts = folder / "manifest.json", _starts(folder)

    def begun() -> bool:
        return manifest.exists() and _starts(folder) > starts

    if not usual.calls:
        delay = usual.seconds * lab.random.uniform(0, 0.4)
        return when(begun, delay), any_signal(lab.random)
    if lab.random.random() < 0.3:
        return seconds_in(usual.seconds * lab.random.uniform(0.05, 0.5)), signal.SIGKILL
    number = server.calls + lab.random.randint(1, max(1, usual.calls - server.calls))
    return calls_in(server, number, lab.random.uniform(0, 0.4)), any_signal(lab.random)


def _starts(folder: Path) -> int:
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        return len(manifest["starts"])
    except (OSError, ValueError, KeyError):
        return 0


def _resumed(jobs: int, served: bool, lab: Lab) -> None:
    """Kill a bench twice, repeat the same command each time, and compare the results."""
    usual = _undisturbed(lab, jobs, served=served)
    folder = lab.work / "bench"
    with ChaosServer(slowly) as server:
        words = _served(server, folder, jobs) if served else _scripted(folder, jobs)
        for _ in range(_MOST_STARTS):
            finished = _finished(folder)
            process = lab.start(*words)
            if lab.counts["kills"] < 2:
                killed = kill(lab, process, *_moment(lab, server, folder, usual))
            else:
                killed = Kill(process.wait(), None)
            examine(lab, killed.ended, killed.codes)
            again = _finished(folder)
            done_again = [name for name, was in finished.items() if again.get(name) != was]
            require(not done_again, f"finished cells were done again: {', '.join(done_again)}")
            if killed.number is None:
                break
    lab.counts["calls"] += server.calls
    require(_results(folder) == usual.result, "the scores differ from an undisturbed bench")
    most = usual.calls + jobs * lab.counts["kills"]
    require(server.calls <= most, f"{server.calls} requests; undisturbed {usual.calls}, with "
            f"{lab.counts['kills']} kills of {jobs} jobs")  # fmt: skip
    _require_whole(folder / "ledger.sqlite")
    examine(lab, lab.hvr("bench", "show", folder), {GOOD})


def _require_whole(ledger: Path) -> None:
    if not ledger.exists():
        return
    with contextlib.closing(sqlite3.connect(ledger)) as base:
        (result,) = base.execute("PRAGMA integrity_check").fetchone()
    require(result == "ok", f"the ledger is damaged: {result}")


def _interrupted_together(lab: Lab) -> None:
    folder = lab.work / "bench"
    with ChaosServer(slowly) as server:
        process = lab.start(*_served(server, folder, 2))
        hit = calls_in(server, 4, 0.05)(process)
        require(hit, "the bench ended before its fourth request")
        process.send(signal.SIGINT, to_group=True)
        lab.counts["kills"] += 1
        ended = process.wait()
        left = process.survivors()
    examine(lab, ended, {130}, says="interrupted")
    require(not left, f"{len(left)} workers were still running 10 s later")
    require(len(ended.output.splitlines()) < 12, "the output is longer than 11 lines")


def add_to(group: Group) -> None:
    for number in range(8):
        group.add(f"bench-served-{number}", partial(_resumed, 1, True))
    for number in range(3):
        group.add(f"bench-served-by-two-jobs-{number}", partial(_resumed, 2, True))
    for number in range(4):
        group.add(f"bench-scripted-{number}", partial(_resumed, 2, False))
    group.add("bench-interrupted-with-its-workers", _interrupted_together)
