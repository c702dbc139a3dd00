"""Group "servers": a run against each fault, and other commands against some of them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from studies.chaos.checks import Group
from studies.chaos.faults import FAULTS, Fault
from studies.chaos.faults.statuses import failing
from studies.chaos.invariants import GOOD, NO, UNANSWERED, UNUSABLE, Run, examine, require
from studies.chaos.lab import Lab
from studies.chaos.process import Process
from studies.chaos.wire import Act, ChaosServer, Protocol

servers = Group("servers")

_BOUND = 180.0
"""Time limit in seconds for a run against a fault. Requests time out after 8 s, and a run may
make a hundred of them, each answered with half a megabyte.
"""


def _meet(fault: Fault, protocol: Protocol, lab: Lab) -> None:
    run = Run(lab.work / "run")
    with ChaosServer(fault, protocol, greets=fault.greets, spoken=lab.secrets.spoken) as server:
        ended = lab.hvr(
            "plan", "make coffee", "--scene", "FloorPlan1", "--llm", server.spec,
            "--base-url", server.url, "--save", run.folder, *fault.words,
            how=lab.surroundings(env=fault.env, bound=_BOUND),
        )  # fmt: skip
    lab.counts["calls"] += server.calls
    examine(lab, ended, fault.codes, run=run, says=fault.says)
    require(server.calls <= fault.most, f"{server.calls} requests, more than {fault.most}")


for _fault in FAULTS:
    for _number, _protocol in enumerate(_fault.protocols):
        _name = _fault.name if _protocol == "openai" else f"{_fault.name}-gemini"
        servers.add(_name, partial(_meet, _fault, _protocol), quick=_fault.quick and _number == 0)


@servers.check()
def no_listener(lab: Lab) -> None:
    run = Run(lab.work / "run")
    ended = lab.hvr("plan", "make coffee", "--llm", "openai:m", "--base-url",
                    "http://127.0.0.1:9/v1", "--save", run.folder)  # fmt: skip
    examine(lab, ended, {UNANSWERED}, run=run, says="no connection")


@servers.check()
def no_such_host(lab: Lab) -> None:
    run = Run(lab.work / "run")
    ended = lab.hvr("plan", "make coffee", "--llm", "openai:m", "--base-url",
                    "http://chaos.invalid/v1", "--save", run.folder)  # fmt: skip
    examine(lab, ended, {UNANSWERED, UNUSABLE}, run=run)


@servers.check()
def retries_are_seen_while_they_happen(lab: Lab) -> None:
    run = Run(lab.work / "run")
    with ChaosServer(failing(503)) as server:
        process = lab.start("plan", "make coffee", "--llm", server.spec, "--base-url", server.url,
                            "--save", run.folder)  # fmt: skip
        shown = _shown_at(server, process, call=3)
        ended = process.wait()
    examine(lab, ended, {UNANSWERED}, run=run)
    require(server.calls == 3, f"expected 3 requests, found {server.calls}")
    require(any(word in shown for word in ("again", "retry", "try", "wait", "attempt")),
            f"no retry was reported before the third request ({shown[-200:]!r})",
    )  # fmt: skip


def _shown_at(server: ChaosServer, process: Process, call: int) -> str:
    with server.changed:
        server.changed.wait_for(lambda: server.calls >= call or not process.running, timeout=60)
    return "".join(p.read_text(encoding="utf-8", errors="replace").lower()
                   for p in (process.out, process.err))  # fmt: skip


def _check(act: Act, codes: set[int], lab: Lab) -> None:
    with ChaosServer(act, spoken=lab.secrets.spoken) as server:
        ended = lab.hvr("llm", "check", server.spec, "--base-url", server.url, "--timeout", "3",
                        how=lab.surroundings(bound=_BOUND))  # fmt: skip
    examine(lab, ended, codes)


def _faulty(name: str) -> Fault:
    return next(fault for fault in FAULTS if fault.name == name)


for _name in ("keys-in-an-error-500", "body-deeply-nested", "error-with-escapes", "endless-body",
              "trickle-in-the-body", "usage-not-a-number", "end-in-the-headers"):  # fmt: skip
    _right = {GOOD, NO, UNANSWERED} if _name.startswith("usage") else {NO, UNANSWERED}
    _quick = _name == "endless-body"
    servers.add(f"llm-check-{_name}", partial(_check, _faulty(_name), _right), quick=_quick)


def _bench(name: str, lab: Lab) -> None:
    """Run a bench against a faulty server: cells end in errors, but the bench completes."""
    with ChaosServer(_faulty(name), spoken=lab.secrets.spoken) as server:
        ended = lab.hvr(
            "bench", "--tasks", "T2", "--settings", "LLM,HVR", "--models", server.spec,
            "--base-url", server.url, "--save", lab.work / "bench", "--max-calls", "20",
        )  # fmt: skip
    examine(lab, ended, {NO, UNANSWERED}, says="error")
    shown = lab.hvr("bench", "show", lab.work / "bench")
    examine(lab, shown, {GOOD, NO, UNANSWERED})
    require(server.calls <= 20, f"{server.calls} requests, more than --max-calls 20")
    cells = list((lab.work / "bench" / "cells").glob("*.json"))
    require(len(cells) == 2, f"expected 2 cells, found {len(cells)}")


for _name in ("keys-in-an-error-500", "body-deeply-nested", "error-with-escapes",
              "status-429"):  # fmt: skip
    servers.add(f"bench-{_name}", partial(_bench, _name))


@servers.check()
def a_cache_keeps_no_keys_and_no_garbage(lab: Lab) -> None:
    """Plan with a cache against a server that leaks keys, then search the cache for them."""
    run = Run(lab.work / "run")
    with ChaosServer(_faulty("keys-in-the-answer"), spoken=lab.secrets.spoken) as server:
        ended = lab.hvr("plan", "make coffee", "--scene", "FloorPlan1", "--llm", server.spec,
                        "--base-url", server.url, "--save", run.folder,
                        "--cache", lab.work / "cache.sqlite",
                        "--library", lab.work / "library.json")  # fmt: skip
    examine(lab, ended, {GOOD, NO}, run=run)


@servers.check()
def a_replay_of_a_careless_server(lab: Lab) -> None:
    """Replay a run whose server leaked keys: the recorded answers contain no keys."""
    run, again = Run(lab.work / "run"), Run(lab.work / "again")
    with ChaosServer(_faulty("keys-in-the-answer"), spoken=lab.secrets.spoken) as server:
        lab.hvr("plan", "make coffee", "--scene", "FloorPlan1", "--llm", server.spec,
                "--base-url", server.url, "--save", run.folder)  # fmt: skip
    ended = lab.hvr("plan", "--llm", f"replay:{run.folder}", "--save", again.folder)
    examine(lab, ended, {GOOD, NO}, run=again)
    require(_said(run.folder) == _said(again.folder), "the replay's answers differ from the run's")


def _said(folder: Path) -> list[object]:
    lines = (folder / "llm.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["answer"] for line in lines[1:]]
