"""Compare engines on the same work: equal results, throughput, memory, and a lost machine.

    python benchmarks/engines.py --plans 10000 1000000 --steps 5 20 100      # validation
    python benchmarks/engines.py --cells 2000 --save FOLDER        # hvr bench, SIMULATED models
    python benchmarks/engines.py --empty 10000                     # overhead of the engine itself
    python benchmarks/engines.py --plans 100000 --engines here ray-killed

The Ray cluster simulates several machines with one-processor nodes on this machine (Ray's own
cluster utility, package ray). `ray-killed` has one more node, which is killed halfway. Every case
runs in its own process and reports whether its results equal the first engine's, byte for byte.
Cells are measured in parts of `--part`, one engine after another.

With --save, the same command resumes an earlier run that ended or was stopped by --stop-after.
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
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from threading import Timer
from typing import Any

from conditions import conditions
from validate_stream import rows

from hvr.base.engines.registry import EngineChoice

ENGINES = ("here", "processes", "ray", "ray-killed")
_UNEQUAL = ("seconds", "pid", "date")
"""Fields that differ between two runs of the same cell."""
_BENCH = (("LLM", ("T1", "T2")),)
"""Settings and tasks of the cells, chosen to be the fastest."""


@contextmanager
def cluster(nodes: int, kill_after: float | None) -> Iterator[None]:
    """Start a Ray cluster of one-processor nodes; after `kill_after` seconds, kill one of them."""
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
    return cell


def empty(count: int, choice: EngineChoice) -> Iterable[str]:
    """Yield the results of cells that do no work."""
    with closing(choice.open()) as engine:
        for done in engine.run(nothing, range(count), ordered=True):
            yield f"{done.value}{done.lost}"


def plans(count: int, choice: EngineChoice, steps: int = 20) -> Iterable[str]:
    from hvr.validation import stream

    engine = None if choice.name == "here" else choice
    for judged in stream(rows(count, steps), engine=engine):
        yield json.dumps(judged.to_json(), sort_keys=True)


def cells(count: int, choice: EngineChoice, part: int = 0) -> Iterable[str]:
    """Yield the results and model requests of bench cells, without timings.

    The last item is the number of charged requests; a request that is sent twice is charged twice.
    """
    from hvr.bench import runner as cell
    from hvr.bench.cells import CellOptions, plan_cells
    from hvr.bench.folder import BenchFolder
    from hvr.bench.runner import run_bench
    from hvr.models.limits import Ledger, Load

    each = -(-count // sum(len(tasks) for _, tasks in _BENCH))
    chosen = [
        planned
        for setting, tasks in _BENCH
        for planned in plan_cells(
            tasks, [setting], ["scripted:error=0.1"], range(part * each, (part + 1) * each)
        )
    ][:count]
    with tempfile.TemporaryDirectory() as folder:
        bench = BenchFolder(Path(folder) / "b")
        results = run_bench(bench.path, chosen, cell.run_cell, CellOptions(execute=False),
                            engine=choice)  # fmt: skip
        for result in results:
            yield json.dumps(_timeless(result.to_json()), sort_keys=True)
            for line in bench.transcript(result.cell).read_text("utf-8").splitlines():
                yield json.dumps(_timeless(json.loads(line)), sort_keys=True)
        charged: list[Load] = []
        Ledger(bench.ledger).change(lambda load: charged.append(load) or load)
        yield f"calls {charged[0].calls}"


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if not k.endswith(_UNEQUAL)}
    return [_timeless(v) for v in value] if isinstance(value, list) else value


WORK: dict[str, Callable[..., Iterable[str]]] = {"empty": empty, "plans": plans, "cells": cells}


@dataclass(frozen=True)
class Case:
    """One piece of work on one engine.

    Args:
        work: One of `WORK`.
        count: Number of cells or plans.
        engine: One of `ENGINES`.
        part: Index of the part; parts have no cells in common.
        steps: Number of steps per plan; 0 for work without plans.
    """

    work: str
    count: int
    engine: str
    part: int
    steps: int

    @property
    def name(self) -> str:
        return f"{self.work} of {self.steps} steps" if self.steps else self.work


def measure(case: Case, given: argparse.Namespace) -> dict[str, Any]:
    kill = given.kill_after if case.engine == "ray-killed" else None
    on_ray = case.engine.startswith("ray")
    place = cluster(given.nodes + (kill is not None), kill) if on_ray else nullcontext()
    jobs = {"here": 1, "processes": given.nodes}.get(case.engine, 0)
    choice = EngineChoice("ray" if on_ray else case.engine, jobs)
    more = {"cells": {"part": case.part}, "plans": {"steps": case.steps}}.get(case.work, {})
    digest = hashlib.sha256()
    results = 0
    with place:
        start = time.perf_counter()
        for text in WORK[case.work](case.count, choice, **more):
            digest.update(text.encode())
            results += 1
        seconds = time.perf_counter() - start
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        **asdict(case), "results": results, "seconds": seconds, "last": text[:20],
        "processor": sum(s.ru_utime + s.ru_stime for s in spent),
        "memory": spent[0].ru_maxrss / 1024, "digest": digest.hexdigest()[:12],
        "conditions": conditions(),
    }  # fmt: skip


def planned(given: argparse.Namespace) -> Iterator[list[list[Case]]]:
    """Yield, for each table row, one list of cases per engine."""
    for work in WORK:
        for count in getattr(given, work):
            size = given.part if work == "cells" else count
            parts = [(p, min(size, count - p * size)) for p in range(-(-count // size))]
            for steps in given.steps if work == "plans" else (0,):
                yield [
                    [Case(work, part, engine, number, steps) for number, part in parts]
                    for engine in given.engines
                ]


def table(given: argparse.Namespace, rows: dict[Case, dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the table, where the parts of each case are combined."""
    yield "| work | count | engine | seconds | per second | memory of the driver, MiB | results |"
    yield "| --- | ---: | --- | ---: | ---: | ---: | --- |"
    for engines in planned(given):
        first: list[str] | None = None
        for wanted in engines:
            found = [rows[case] for case in wanted if case in rows]
            if not found:
                continue
            seconds = sum(row["seconds"] for row in found)
            done = sum(row["count"] for row in found)
            digests = [row["digest"] for row in found]
            first = first or digests
            same = "the same" if digests == first[: len(digests)] else "DIFFERENT"
            yield (
                f"| {wanted[0].name} | {done:,} | {wanted[0].engine} | {seconds:.1f} | "
                f"{done / seconds:,.0f} | {max(row['memory'] for row in found):.0f} | {same} |"
            )


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for work in WORK:
        parser.add_argument(f"--{work}", type=int, nargs="+", default=[], metavar="N")
    parser.add_argument("--engines", nargs="+", default=ENGINES[:3], choices=ENGINES)
    parser.add_argument("--nodes", type=int, default=2, help="number of machines, and of processes")
    parser.add_argument("--kill-after", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--part", type=int, default=500, help="cells per part of a bench")
    parser.add_argument(
        "--save", type=Path, metavar="FOLDER", help="save the measurements in this folder"
    )
    parser.add_argument("--stop-after", type=float, metavar="SECONDS", default=float("inf"))
    parser.add_argument("--steps", type=int, nargs="+", default=[20], help="steps of each plan")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    given = options()
    if given.one:
        work, count, engine, part, steps = given.one
        print(json.dumps(measure(Case(work, int(count), engine, int(part), int(steps)), given)))
        return
    print(f"{conditions()}; {given.nodes} processes, {given.nodes} nodes of the cluster\n")
    rows: dict[Case, dict[str, Any]] = {}
    kept = None if given.save is None else given.save / "rows.jsonl"
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        for line in kept.read_text("utf-8").splitlines() if kept.is_file() else ():
            row = json.loads(line)
            rows[Case(*(row[field.name] for field in fields(Case)))] = row
    start = time.perf_counter()
    # Part by part, so that all engines run under the same load of the machine.
    for case in (
        case for row in planned(given) for part in zip(*row, strict=True) for case in part
    ):
        if case in rows:
            continue
        if time.perf_counter() - start > given.stop_after:
            print("stopped early; run the same command to resume\n")
            break
        words = ["--one", case.work, str(case.count), case.engine, str(case.part), str(case.steps)]
        words += ["--nodes", str(given.nodes), "--kill-after", str(given.kill_after)]
        done = subprocess.run([sys.executable, __file__, *words], check=True,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
        rows[case] = json.loads(done.stdout.splitlines()[-1])
        print(json.dumps(rows[case]), file=sys.stderr, flush=True)
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[case]) + "\n")
    print("\n".join(table(given, rows)))


if __name__ == "__main__":
    main()
