"""Kill `hvr plan`: with a model, without one, with a cache, with a library."""

from __future__ import annotations

import json
import signal
from collections import Counter
from functools import partial
from pathlib import Path

from studies.chaos.checks import Group
from studies.chaos.invariants import GOOD, NO, UNUSABLE, Run, damaged, examine, require
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
from studies.chaos.wire import ChaosServer, Protocol, Talk

_MOST_STARTS = 6


def _words(server: ChaosServer, folder: Path, *more: object) -> tuple[object, ...]:
    return ("plan", "make coffee", "--scene", "FloorPlan1", "--llm", server.spec,
            "--base-url", server.url, "--save", folder, *more)  # fmt: skip


def _result(run: Run) -> object:
    return (run.about.get("reached"), run.plan)


def undisturbed(lab: Lab, protocol: Protocol) -> Undisturbed:
    def measure() -> Undisturbed:
        run = Run(lab.folder / "work" / f"undisturbed-{protocol}")
        with ChaosServer(slowly, protocol) as server:
            ended = lab.hvr(*_words(server, run.folder))
        examine(lab, ended, {GOOD})
        return Undisturbed(ended.seconds, server.calls, _result(run))

    measured = lab.shared.once(f"plan {protocol}", measure)
    assert isinstance(measured, Undisturbed)
    return measured


def _moment(lab: Lab, server: ChaosServer, usual: Undisturbed) -> tuple[Wait, signal.Signals]:
    if lab.random.random() < 0.3:
        # During start-up only SIGKILL has a well-defined result.
        return seconds_in(usual.seconds * lab.random.uniform(0.02, 0.6)), signal.SIGKILL
    left = max(1, usual.calls - server.calls)
    number = server.calls + lab.random.randint(1, left)
    return calls_in(server, number, lab.random.uniform(0, 0.3)), any_signal(lab.random)


def _resumed(protocol: Protocol, kills: int, lab: Lab) -> None:
    usual = undisturbed(lab, protocol)
    run = Run(lab.work / "run-0")
    with ChaosServer(slowly, protocol) as server:
        how = lab.surroundings(env={"HVR_LLM": server.spec, "HVR_LLM_BASE_URL": server.url})
        for start in range(_MOST_STARTS):
            begun = run.answers > 0 or (run.folder / "task.json").exists()
            if begun:
                process = lab.start("plan", "--resume", run.folder, how=how)
            else:
                run = Run(lab.work / f"run-{start}")
                process = lab.start(*_words(server, run.folder), how=how)
            answers = run.answers
            if lab.counts["kills"] < kills:
                killed = kill(lab, process, *_moment(lab, server, usual))
            else:
                killed = Kill(process.wait(), None)
            examine(lab, killed.ended, killed.codes, run=run)
            require(run.answers >= answers, f"{answers - run.answers} recorded answers are lost")
            if run.complete:
                break
    lab.counts["calls"] += server.calls
    _require_same(lab, run, usual, server.calls)


def _require_same(lab: Lab, run: Run, usual: Undisturbed, calls: int) -> None:
    """Require the result of an undisturbed run, and that no request was paid for twice."""
    require(run.complete, f"the run is incomplete after {_MOST_STARTS} starts")
    require(_result(run) == usual.result, "the result differs from an undisturbed run")
    # Only a request in flight at a kill may be repeated.
    most = usual.calls + lab.counts["kills"]
    require(calls <= most, f"{calls} requests; undisturbed {usual.calls}, "
            f"with {lab.counts['kills']} kills")  # fmt: skip


def _symbolic(lab: Lab) -> None:
    run, again = Run(lab.work / "run"), Run(lab.work / "again")
    words = ("plan", "make coffee", "--scene", "FloorPlan1", "--save")

    def measure() -> float:
        return lab.hvr(*words, lab.work / "undisturbed").seconds

    seconds = lab.shared.once("plan symbolic", measure)
    process = lab.start(*words, run.folder)
    if lab.random.random() < 0.5:
        wait, number = seconds_in(seconds * lab.random.uniform(0.05, 0.95)), signal.SIGKILL
    else:
        trace = run.folder / "trace.jsonl"
        wait, number = when(trace.exists, lab.random.uniform(0, 0.2)), any_signal(lab.random)
    killed = kill(lab, process, wait, number)
    examine(lab, killed.ended, killed.codes, run=run)
    if run.folder.exists():
        graph = lab.hvr("kg", "export", "--run", run.folder, "--out", lab.work / "graph.ttl")
        examine(lab, graph, {GOOD, UNUSABLE})
    examine(lab, lab.hvr(*words, again.folder), {GOOD}, run=again)


def _cached(kills: int, lab: Lab) -> None:
    """Kill runs that share a cache: a new run pays for no cached answer."""
    usual = undisturbed(lab, "openai")
    with ChaosServer(slowly) as server:
        for start in range(_MOST_STARTS):
            run = Run(lab.work / f"run-{start}")
            process = lab.start(*_words(server, run.folder, "--cache", lab.work / "cache.sqlite"))
            if lab.counts["kills"] < kills:
                killed = kill(lab, process, *_moment(lab, server, usual))
            else:
                killed = Kill(process.wait(), None)
            examine(lab, killed.ended, killed.codes, run=run)
            if killed.number is None:
                break
    lab.counts["calls"] += server.calls
    _require_same(lab, run, usual, server.calls)


def _library(lab: Lab) -> None:
    def learn() -> bytes:
        file = lab.work / "learnt.json"
        with ChaosServer() as server:
            lab.hvr(*_words(server, lab.work / "teacher", "--library", file))
        return file.read_bytes()

    learnt = lab.shared.once("library", learn)
    library, run = lab.work / "library.json", Run(lab.work / "run")
    library.write_bytes(learnt)
    before = library.stat().st_mtime_ns
    trace = run.folder / "trace.jsonl"

    def near_the_end() -> bool:
        carried_out = trace.exists() and b'"finished"' in trace.read_bytes()[-3000:]
        return carried_out or library.stat().st_mtime_ns != before

    with ChaosServer() as server:
        process = lab.start(*_words(server, run.folder, "--library", library))
        wait = when(near_the_end, lab.random.uniform(0, 0.2))
        killed = kill(lab, process, wait, signal.SIGKILL)
    lab.counts["calls"] += server.calls
    examine(lab, killed.ended, killed.codes, run=run)
    require(not list(damaged(lab.work, orderly=False)), "a file is damaged")
    listed = lab.hvr("library", "list", "--library", library)
    examine(lab, listed, {GOOD})
    require(len(listed.out.splitlines()) >= 2, "the library has lost entries")


def _finished_runs_are_not_paid_for_again(lab: Lab) -> None:
    """Resume a finished run with various options: no request is sent and nothing is lost."""
    run = Run(lab.work / "run")
    with ChaosServer() as server:
        examine(lab, lab.hvr(*_words(server, run.folder)), {GOOD}, run=run)
        calls, task = server.calls, (run.folder / "task.json").read_bytes()
        how = lab.surroundings(env={"HVR_LLM": server.spec, "HVR_LLM_BASE_URL": server.url})
        ended = lab.hvr("plan", "--resume", run.folder, how=how)
        examine(lab, ended, {GOOD, NO, UNUSABLE})
        require(server.calls == calls, f"{server.calls - calls} requests for a finished run")
    require("--resume" not in ended.output or "no option named" not in ended.output, ended.last)
    require((run.folder / "task.json").read_bytes() == task, "the finished run was changed")


def _no_question_twice(lab: Lab) -> None:
    """Kill a run during its fifth request: only that request is repeated."""
    asked: Counter[str] = Counter()

    def act(talk: Talk) -> None:
        assert talk.asked is not None
        asked[json.dumps(talk.asked.body, sort_keys=True)] += 1
        slowly(talk)

    run = Run(lab.work / "run")
    with ChaosServer(act) as server:
        how = lab.surroundings(env={"HVR_LLM": server.spec, "HVR_LLM_BASE_URL": server.url})
        process = lab.start(*_words(server, run.folder), how=how)
        killed = kill(lab, process, calls_in(server, 5, 0.01), signal.SIGKILL)
        examine(lab, killed.ended, killed.codes, run=run)
        examine(lab, lab.hvr("plan", "--resume", run.folder, how=how), {GOOD}, run=run)
    require(run.complete, "the run is incomplete")
    twice = sum(asked.values()) - len(asked)
    require(twice <= 1, f"{twice} requests were paid for twice")


def _resumed_by_two(lab: Lab) -> None:
    """Resume one run in two processes at once: one does the work, and nothing is lost or mixed."""
    usual = undisturbed(lab, "openai")
    run = Run(lab.work / "run")
    with ChaosServer(slowly) as server:
        how = lab.surroundings(env={"HVR_LLM": server.spec, "HVR_LLM_BASE_URL": server.url})
        first = lab.start(*_words(server, run.folder), how=how)
        kill(lab, first, calls_in(server, 4, 0.01), signal.SIGKILL)
        both = [lab.start("plan", "--resume", run.folder, how=how) for _ in range(2)]
        ended = [process.wait() for process in both]
        if not run.complete:
            ended.append(lab.hvr("plan", "--resume", run.folder, how=how))
    for one in ended:
        examine(lab, one, {GOOD, UNUSABLE, 4})
    require(
        any(one.code == GOOD for one in ended), f"neither process could resume ({ended[0].last})"
    )
    require(run.complete, "the run is incomplete")
    require(_result(run) == usual.result, "the result differs from an undisturbed run")


def add_to(group: Group) -> None:
    for number in range(18):
        group.add(f"plan-openai-{number}", partial(_resumed, "openai", 2))
    for number in range(3):
        group.add(f"plan-gemini-{number}", partial(_resumed, "gemini", 2))
    for number in range(10):
        group.add(f"plan-symbolic-{number}", _symbolic)
    for number in range(4):
        group.add(f"plan-cache-{number}", partial(_cached, 2))
    for number in range(5):
        group.add(f"plan-library-{number}", _library)
    group.add("plan-no-question-twice", _no_question_twice, quick=True)
    group.add("plan-finished", _finished_runs_are_not_paid_for_again)
    group.add("plan-resumed-by-two", _resumed_by_two)
