"""Concurrent use of hvr: one folder, one cache, one process, after a fork."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from studies.chaos.checks import Group
from studies.chaos.conditions.small import plan_words
from studies.chaos.invariants import GOOD, UNANSWERED, UNUSABLE, Run, damaged, examine, require
from studies.chaos.lab import Lab
from studies.chaos.wire import ChaosServer

sharing = Group("sharing")


@sharing.check(alone=True)
def eight_benches_in_one_folder(lab: Lab) -> None:
    """Start a bench eight times simultaneously: it runs once, and nothing is lost."""
    folder = lab.work / "bench"
    words = ("bench", "--tasks", "T1,T2", "--settings", "HVR,LLM", "--no-execute", "--json",
             "--save", folder)  # fmt: skip
    how = lab.surroundings(bound=200)
    ended = [process.wait() for process in [lab.start(*words, how=how) for _ in range(8)]]
    for one in ended:
        examine(lab, one, {GOOD, UNUSABLE, UNANSWERED})
    require(any(one.code == GOOD for one in ended), f"no bench completed ({ended[0].last})")
    examine(lab, lab.hvr(*words), {GOOD})
    cells = [json.loads(path.read_bytes()) for path in (folder / "cells").glob("*.json")]
    require(len(cells) == 4, f"expected 4 cells, found {len(cells)}")
    require(all(cell["scores"] for cell in cells), "a cell has no scores")


@sharing.check(alone=True)
def plans_share_a_library_and_a_cache(lab: Lab) -> None:
    """Plan six times simultaneously with one library and one cache: all runs succeed."""
    library, cache = lab.work / "library.json", lab.work / "cache.sqlite"
    with ChaosServer() as server:
        words = ("plan", "make coffee", "--scene", "FloorPlan1", "--llm", server.spec,
                 "--base-url", server.url, "--library", library, "--cache", cache)  # fmt: skip
        how = lab.surroundings(bound=200)
        runs = [Run(lab.work / f"run-{number}") for number in range(6)]
        processes = [lab.start(*words, "--save", run.folder, how=how) for run in runs]
        for process, run in zip(processes, runs, strict=True):
            examine(lab, process.wait(), {GOOD}, run=run)
        calls = server.calls
        again = Run(lab.work / "again")
        examine(lab, lab.hvr(*words, "--save", again.folder), {GOOD}, run=again)
    lab.counts["calls"] += calls
    with closing(sqlite3.connect(cache)) as base:
        (result,) = base.execute("PRAGMA integrity_check").fetchone()
    require(result == "ok", f"the cache is damaged: {result}")
    examine(lab, lab.hvr("library", "list", "--library", library), {GOOD})


_FORK = """
import multiprocessing, sys, time
from pathlib import Path
import hvr.runs.spine
from hvr.runs.request import Options
def child(name):
    hvr.runs.spine.plan("make coffee", options=Options(scene="FloorPlan1", save=Path(name)))
hvr.runs.spine.plan("make coffee", options=Options(scene="FloorPlan1", save=Path("parent")))
context = multiprocessing.get_context("fork")
children = [context.Process(target=child, args=(f"child-{n}",)) for n in range(2)]
for one in children:
    one.start()
limit = time.monotonic() + 60
for one in children:
    one.join(max(0, limit - time.monotonic()))
late = [one for one in children if one.is_alive()]
for one in late:
    one.kill()
sys.exit("a child hangs" if late else max(abs(one.exitcode) for one in children))
"""
_POOL = """
import multiprocessing, sys
from hvr.knowledge.ontology import load_ontology
from hvr.runs.request import Options
from hvr.runs.spine import plan
from pathlib import Path
def child(n):
    return plan("make coffee", options=Options(scene="FloorPlan1", save=Path(f"run-{n}"))).reached
def main():
    load_ontology()
    plan("make coffee", options=Options(scene="FloorPlan1", save=Path("parent")))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        try:
            print(pool.map_async(child, range(4)).get(timeout=60))
        except multiprocessing.TimeoutError:
            sys.exit("a child hangs")
main()
"""
_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from hvr.runs.request import Options
from hvr.runs.spine import plan
def one(n):
    return plan("make coffee", options=Options(scene=f"FloorPlan{n % 3 + 1}",
                                               save=Path(f"run-{n}"))).reached
with ThreadPoolExecutor(6) as pool:
    print(list(pool.map(one, range(12))))
"""
_MANY = """
from pathlib import Path
from hvr.runs.request import Options
from hvr.runs.spine import plan
for n in range(12):
    assert plan("make coffee", options=Options(scene="FloorPlan1", save=Path(f"run-{n}"))).reached
import os
print(len(os.listdir("/proc/self/fd")))
"""


@sharing.check(quick=True)
def fork_after_a_plan(lab: Lab) -> None:
    ended = lab.python(_FORK)
    examine(lab, ended, {GOOD})
    for name in ("parent", "child-0", "child-1"):
        require(Run(lab.work / name).complete, f"{name} is incomplete")


@sharing.check()
def pool_of_forks_after_a_plan(lab: Lab) -> None:
    ended = lab.python(_POOL)
    examine(lab, ended, {GOOD}, says=r"\[True, True, True, True\]")


@sharing.check()
def threads_in_one_process(lab: Lab) -> None:
    ended = lab.python(_THREADS, how=lab.surroundings(bound=150))
    examine(lab, ended, {GOOD}, says=r"\[(True, ){11}True\]")
    plans = [Run(lab.work / f"run-{n}").plan for n in range(12)]
    require(all(plans[n] == plans[n % 3] for n in range(12)), "plans were mixed")


@sharing.check()
def many_plans_in_one_process(lab: Lab) -> None:
    ended = lab.python(_MANY, how=lab.surroundings(bound=150))
    examine(lab, ended, {GOOD})
    require(int(ended.out) < 40, f"{ended.out.decode().strip()} files are open at the end")


@sharing.check()
def shown_while_it_runs(lab: Lab) -> None:
    run, words = plan_words(lab)
    process = lab.start(*words)
    looks = 0
    while process.running:
        shown = lab.hvr("show", run.folder)
        examine(lab, shown, {GOOD, UNUSABLE})
        claims = b"The goal is reached" in shown.out and not run.complete
        require(not claims or not process.running, "hvr show claims success before the run ended")
        looks += 1
    examine(lab, process.wait(), {GOOD}, run=run)
    require(looks > 0, "the run ended before hvr show ran")


@sharing.check()
def queried_while_it_runs(lab: Lab) -> None:
    """Query the graph of a run in progress: the run is not disturbed."""
    run, words = plan_words(lab)
    process = lab.start(*words)
    limit = time.monotonic() + 30
    while process.running and not (run.folder / "graph").exists() and time.monotonic() < limit:
        time.sleep(0.01)
    asked = lab.hvr("kg", "query", "--run", run.folder, "SELECT * WHERE { ?a ?b ?c } LIMIT 1")
    examine(lab, asked, {GOOD, UNUSABLE, UNANSWERED})
    examine(lab, process.wait(), {GOOD}, run=run)


@sharing.check()
def two_trainings_into_one_folder(lab: Lab) -> None:
    """Train two verifiers into one folder simultaneously: the result can be loaded."""
    from studies.chaos.kills.training import probed, require_whole, train_words, trained, write_data

    data, out = lab.work / "data", lab.work / "verifier"
    _, _, known, _ = trained(lab)
    write_data(data)
    how = lab.surroundings(bound=300)
    processes = [
        lab.start(*train_words(data, out, seed, lab.work / f"{seed}.csv"), how=how)
        for seed in (1, 2)
    ]
    for process in processes:
        examine(lab, process.wait(), {GOOD, UNUSABLE, UNANSWERED})
    require_whole(probed(lab, data, out)[0], known)


@sharing.check()
def two_benches_with_one_cache(lab: Lab) -> None:
    """Run two benches simultaneously with one cache: both succeed, and no answer is corrupted."""
    cache = lab.work / "cache.sqlite"
    with ChaosServer() as server:
        words = ("bench", "--tasks", "T2", "--settings", "HVR,LLM", "--models", server.spec,
                 "--base-url", server.url, "--no-execute",
                 "--cache", cache, "--jobs", "2")  # fmt: skip
        processes = [lab.start(*words, "--save", lab.work / f"bench-{n}") for n in range(2)]
        for process in processes:
            examine(lab, process.wait(), {GOOD})
    scores = [_scores(lab.work / f"bench-{n}") for n in range(2)]
    require(scores[0] == scores[1], "the scores of the two benches differ")
    require(not list(damaged(lab.work)), "a file is damaged")


def _scores(folder: Path) -> dict[str, object]:
    return {
        path.name: json.loads(path.read_bytes())["scores"]["pc"]
        for path in (folder / "cells").glob("*.json")
    }
