"""The same work on every engine: equal results, plans and cells a second, memory, a lost machine.

    python benchmarks/engines.py --plans 10000 100000 1000000      # validation
    python benchmarks/engines.py --cells 100 2000                  # hvr bench, SIMULATED models
    python benchmarks/engines.py --empty 10000                     # what an engine itself costs
    python benchmarks/engines.py --plans 100000 --kill             # a machine dies in the middle

The Ray cluster is one of several machines in name: nodes of one processor each, all on this machine
(Ray's own cluster utility, package ray). Every case runs in a process of its own, and says whether
its results are, byte for byte, those of the case before it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from threading import Timer
from typing import Any

from conditions import conditions
from validate_stream import rows

from hvr.engines.registry import EngineChoice

ENGINES = ("here", "processes", "ray")
_UNEQUAL = ("seconds", "pid")
"""What differs between two runs of the same cell."""


@contextmanager
def cluster(nodes: int, kill_after: float | None) -> Iterator[None]:
    """Start a Ray cluster of nodes with a processor each, one of which may be killed."""
    import ray
    from ray.cluster_utils import Cluster

    machines = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    others = [machines.add_node(num_cpus=1) for _ in range(nodes - 1)]
    ray.init(address=machines.address, log_to_driver=False)
    timer = None
    if kill_after is not None:
        timer = Timer(kill_after, lambda: machines.remove_node(others[-1], allow_graceful=False))
        timer.start()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
        ray.shutdown()
        machines.shutdown()


def nothing(cell: int) -> int:
    """A cell without work."""
    return cell


def empty(count: int, choice: EngineChoice) -> Iterable[str]:
    """The results of cells without work."""
    with closing(choice.open()) as engine:
        for done in engine.run(nothing, range(count), ordered=True):
            yield f"{done.value}{done.lost}"


def plans(count: int, choice: EngineChoice) -> Iterable[str]:
    """The verdicts about plans of 20 steps."""
    from hvr.validation import stream

    engine = None if choice.name == "here" else choice
    for judged in stream(rows(count, 20), engine=engine):
        yield json.dumps(judged.to_json(), sort_keys=True)


def cells(count: int, choice: EngineChoice) -> Iterable[str]:
    """The results of cells of a bench, without what times them."""
    from hvr.evaluation import cell
    from hvr.evaluation.bench.cells import CellOptions, plan_cells
    from hvr.evaluation.bench.runner import run_bench

    tasks = [f"T{n}" for n in range(1, 13)]
    settings = ["LLM", "HVR"]
    seeds = range(-(-count // (len(tasks) * len(settings))))
    chosen = plan_cells(tasks, settings, ["scripted:error=0.1"], seeds)[:count]
    with tempfile.TemporaryDirectory() as folder:
        options = CellOptions(execute=False)
        results = run_bench(Path(folder) / "b", chosen, cell.run_cell, options, engine=choice)
        for result in results:
            yield json.dumps(_timeless(result.to_json()), sort_keys=True)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if not k.endswith(_UNEQUAL)}
    return [_timeless(v) for v in value] if isinstance(value, list) else value


WORK: dict[str, Callable[[int, EngineChoice], Iterable[str]]] = {
    "empty": empty, "plans": plans, "cells": cells,
}  # fmt: skip


def measure(work: str, count: int, engine: str, given: argparse.Namespace) -> dict[str, Any]:
    """Do the work on an engine, in this process."""
    kill = given.kill_after if given.kill and engine == "ray" else None
    place = cluster(given.nodes, kill) if engine == "ray" else nullcontext()
    jobs = {"here": 1, "processes": given.nodes, "ray": 0}[engine]
    digest = hashlib.sha256()
    results = 0
    with place:
        start = time.perf_counter()
        for text in WORK[work](count, EngineChoice(engine, jobs)):
            digest.update(text.encode())
            results += 1
        seconds = time.perf_counter() - start
    return {
        "work": work, "count": count, "engine": engine, "results": results, "seconds": seconds,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "digest": digest.hexdigest()[:12], "killed": kill is not None,
    }  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for work in WORK:
        parser.add_argument(f"--{work}", type=int, nargs="+", default=[], metavar="N")
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--nodes", type=int, default=2, help="machines, and processes")
    parser.add_argument("--kill", action="store_true", help="end a machine of the cluster")
    parser.add_argument("--kill-after", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        work, count, engine = given.one
        print(json.dumps(measure(work, int(count), engine, given)))
        return
    print(f"{conditions()}; {given.nodes} processes, {given.nodes} nodes of the cluster\n")
    print("| work | count | engine | seconds | a second | memory of the driver, MiB | results |")
    print("| --- | ---: | --- | ---: | ---: | ---: | --- |", flush=True)
    more = ["--nodes", str(given.nodes), "--kill-after", str(given.kill_after)]
    more += ["--kill"] if given.kill else []
    for work in WORK:
        for count in getattr(given, work):
            first = None
            for engine in given.engines:
                case = ["--one", work, str(count), engine, *more]
                done = subprocess.run(
                    [sys.executable, __file__, *case], check=True, stdout=subprocess.PIPE
                )
                row = json.loads(done.stdout.splitlines()[-1])
                first = first or row["digest"]
                same = "the same" if row["digest"] == first else "DIFFERENT"
                killed = ", a machine killed" if row["killed"] else ""
                print(
                    f"| {work} | {count:,} | {engine}{killed} | {row['seconds']:.1f} | "
                    f"{row['results'] / row['seconds']:,.0f} | {row['memory']:.0f} | {same} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
