"""Look for processes and folders left behind by `hvr solve`, however it ends.

    python benchmarks/survivors.py [--solves 200] [--planners fast-downward,up:enhsp] [--jobs 2]

The script solves a numeric, a temporal and a classical problem with each planner in turn. `hvr
solve` ends in turn by its answer, its time limit, Ctrl-C, SIGTERM, SIGKILL, its memory limit, and a
full disk (where this user may mount one). Each solve has its own temporary folder and a mark in its
environment, which every process inherits. Two seconds after the end, no process may have the mark,
and the folder must be empty. Linux only: it reads /proc.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from conditions import conditions
from inputs import measured

_GRACE_S = 2.0
_ENDS = ("answer", "time limit", "SIGINT", "SIGTERM", "SIGKILL", "memory limit", "full disk")

NUMERIC = """(define (domain n) (:types c) (:functions (v ?c - c))
  (:action up :parameters (?c - c) :effect (increase (v ?c) 1))
  (:action swap :parameters (?a ?b - c) :precondition (and (>= (v ?a) 1) (not (= ?a ?b)))
    :effect (and (decrease (v ?a) 1) (increase (v ?b) 2))))"""
TEMPORAL = """(define (domain t) (:requirements :durative-actions) (:types r p)
  (:predicates (at ?r - r ?p - p) (by ?a ?b - p))
  (:durative-action go :parameters (?r - r ?a ?b - p) :duration (= ?duration 2)
    :condition (and (at start (at ?r ?a)) (at start (by ?a ?b)))
    :effect (and (at start (not (at ?r ?a))) (at end (at ?r ?b)))))"""
CLASSICAL = """(define (domain b) (:predicates (on ?x ?y) (table ?x) (clear ?x))
  (:action up :parameters (?x ?y) :precondition (and (table ?x) (clear ?x) (clear ?y))
    :effect (and (on ?x ?y) (not (table ?x)) (not (clear ?y))))
  (:action down :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x))
    :effect (and (not (on ?x ?y)) (table ?x) (clear ?y))))"""


def problems(folder: Path) -> list[tuple[Path, Path]]:
    """Write three problems that keep planners busy for some seconds."""
    counters = " ".join(f"c{n}" for n in range(12))
    values = " ".join(f"(= (v c{n}) 0)" for n in range(12))
    rising = " ".join(f"(> (v c{n + 1}) (v c{n}))" for n in range(11))
    places = " ".join(f"p{n}" for n in range(12))
    roads = " ".join(f"(by p{n} p{n + 1})" for n in range(11))
    blocks = " ".join(f"b{n}" for n in range(26))
    flat = " ".join(f"(table b{n}) (clear b{n})" for n in range(26))
    tower = " ".join(f"(on b{n} b{(n * 7 + 1) % 26})" for n in range(0, 24, 2))
    texts = [
        (NUMERIC, "n", f"{counters} - c", values, rising),
        (TEMPORAL, "t", f"r s - r {places} - p", f"(at r p0) (at s p0) {roads}",
         "(at r p11) (at s p11)"),
        (CLASSICAL, "b", blocks, flat, tower),
    ]  # fmt: skip
    files = []
    for domain, name, objects, init, goal in texts:
        pair = folder / f"{name}.pddl", folder / f"{name}-1.pddl"
        pair[0].write_text(domain)
        pair[1].write_text(
            f"(define (problem p) (:domain {name}) (:objects {objects})"
            f" (:init {init}) (:goal (and {goal})))"
        )
        files.append(pair)
    return files


@dataclass(frozen=True)
class Case:
    """One run of `hvr solve`.

    Args:
        planner: Name of the planner; empty for hvr's own choice.
        end: How the run ends.
        after: Seconds after which it ends.
    """

    number: int
    files: tuple[Path, Path]
    planner: str
    end: str
    after: float


@dataclass(frozen=True)
class Left:
    case: Case
    code: int
    processes: tuple[str, ...]
    files: tuple[str, ...]


def solve(case: Case) -> Left:
    """Run `hvr solve` once, end it, and look for leftovers."""
    mark = f"HVR_SURVIVOR={os.getpid()}-{case.number}"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="survivors-")))
        if case.end == "full disk":
            stack.enter_context(_small_disk(folder))
        budget = "1" if case.end == "time limit" else "8"
        words = ["--budget", budget, "--optimal"]
        words += ["--planner", case.planner] if case.planner else []
        words += ["--memory", "0.03"] if case.end == "memory limit" else []
        name, value = mark.split("=")
        run = subprocess.Popen(
            [sys.executable, "-m", "hvr", "solve", *map(str, case.files), *words],
            env={**os.environ, "TMPDIR": str(folder), name: value}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        if case.end.startswith("SIG"):
            time.sleep(case.after)
            run.send_signal(getattr(signal, case.end))
        code = run.wait()
        until = time.monotonic() + _GRACE_S
        while (processes := _marked(mark)) or (files := _files(folder)):
            if time.monotonic() > until:
                return Left(case, code, processes, _files(folder))
            time.sleep(0.05)
        return Left(case, code, (), files)


def _files(folder: Path) -> tuple[str, ...]:
    return tuple(str(path) for path in folder.iterdir() if path.name != "filler")


def _marked(mark: str) -> tuple[str, ...]:
    """Return the command lines of the processes with a mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes().split(
                b"\0"
            ):
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found.append(words.decode(errors="replace")[:80])
        except OSError:
            continue
    return tuple(found)


@contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    """Mount a nearly full disk of 64 KiB."""
    options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    subprocess.run(["mount", *options], check=True, capture_output=True)
    try:
        (folder / "filler").write_bytes(b"x" * 54_000)
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _can_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _small_disk(Path(folder)):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_RAW)
    parser.add_argument("--solves", type=int, default=200)
    parser.add_argument(
        "--planners", default="", help="comma-separated planner names, as for --planner"
    )
    parser.add_argument("--jobs", type=int, default=2, help="number of concurrent solves")
    args = parser.parse_args()
    ends = [end for end in _ENDS if end != "full disk" or _can_mount()]
    planners = ["", *filter(None, args.planners.split(","))]
    draw = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        files = problems(Path(folder))
        cases = [
            Case(n, files[n % len(files)], planners[n // len(ends) % len(planners)],
                 ends[n % len(ends)], draw.uniform(0.2, 4.0))
            for n in range(args.solves)
        ]  # fmt: skip
        with ThreadPoolExecutor(args.jobs) as pool:
            results = list(pool.map(solve, cases))
    print(conditions())
    print("\n| end | solves | exit codes | with processes left | with files left |")
    print("| --- | ---: | --- | ---: | ---: |")
    for end in ends:
        rows = [one for one in results if one.case.end == end]
        codes = Counter(one.code for one in rows)
        told = ", ".join(f"{code}: {number}" for code, number in sorted(codes.items()))
        left = [sum(bool(one.processes) for one in rows), sum(bool(one.files) for one in rows)]
        print(f"| {end} | {len(rows)} | {told} | {left[0]} | {left[1]} |")
    bad = [one for one in results if one.processes or one.files]
    for one in bad[:20]:
        print(f"left by {one.case.planner or 'all'} after {one.case.end}: "
              f"{', '.join(one.processes + one.files)}")  # fmt: skip
    print(f"\n{len(results)} solves; {len(bad)} with leftovers")
    sys.exit(bool(bad))


_RAW = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    sys.exit(measured(main))
