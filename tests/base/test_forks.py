"""Processes forked from a process that has used hvr, as by multiprocessing on Linux."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEADLINE_S = 240
"""A hanging script never ends, so this only has to exceed the time on a busy machine."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")

_USE = """
import contextlib, importlib.util, math, multiprocessing, os, random, sys, threading, time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import hvr
from hvr.knowledge.graph import KnowledgeGraph

WITH_VERIFIER = bool(importlib.util.find_spec("torch_geometric"))

def use(number=0):
    "Everything that hvr does with a plan; the facts of it that do not depend on time and place."
    run = hvr.plan("make coffee", options=hvr.Options(save=Path(f"run-{os.getpid()}-{number}")))
    report = hvr.validate(
        run.folder / "domain.pddl", run.folder / "problem.pddl", run.folder / "plan.pddl"
    )
    with KnowledgeGraph.open(run.folder / "graph", read_only=True) as graph:
        found = graph.query("SELECT ?e { ?e k:outcome k:success }")
    score = hvr.verify(run).accepted if WITH_VERIFIER else None
    return run.reached, report.valid, len(found) > 0, score

def nested(number):
    "A process of a process; those of a pool may have none by multiprocessing, but may fork."
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(theirs, repr(use(number)).encode())
        os._exit(0)
    os.close(theirs)
    with open(ours) as file:
        said = file.read()
    os.waitpid(child, 0)
    return use(number + 100), eval(said)

fork = multiprocessing.get_context("fork")
"""

_EXECUTOR = """
first = use()
with ProcessPoolExecutor(2, mp_context=fork) as pool:
    assert list(pool.map(use, range(2))) == [first] * 2
    assert list(pool.map(nested, range(1))) == [(first, first)]
assert use(1) == first
"""

_GRAPH = """
WITH_VERIFIER = False
graph = KnowledgeGraph.create(Path("graph"))
def ask(_):
    with KnowledgeGraph.create(Path(f"graph-{os.getpid()}")) as own:
        return len(graph.query("SELECT ?c { ?c a owl:Class }")), own.objects()
with fork.Pool(2) as pool:
    assert pool.map(ask, range(2)) == [ask(0)] * 2
with graph:
    assert use()[0]
"""

_THREAD = """
first = use()
stop = threading.Event()
def plans(number):
    while not stop.is_set():
        use(number)
        number += 2
threads = [threading.Thread(target=plans, args=(number,)) for number in (1, 2)]
for thread in threads:
    thread.start()
chance = random.Random(0)
try:
    for number in range(2):
        time.sleep(chance.random() * 0.3)  # to fork somewhere in the middle of a plan
        with fork.Pool(1) as pool:
            assert pool.apply(use, (1000 + number,)) == first
finally:
    stop.set()
    for thread in threads:
        thread.join()
"""

_FIRST = """
WITH_VERIFIER = False
# Nothing is imported yet: the thread does that, and holds the locks of what it imports.
thread = threading.Thread(target=use)
thread.start()
time.sleep(float(os.environ["DELAY"]))
child = os.fork()
if child == 0:
    os._exit(0 if use(1)[0] else 1)
assert os.waitpid(child, 0)[1] == 0
thread.join()
"""

_TORCH = """
if importlib.util.find_spec("torch"):
    import torch
    import hvr.base.registry

    def multiply(_=0):
        numbers = torch.ones(500, 500)
        return float(torch.sin(numbers @ numbers).sum())

    first = multiply()
    with fork.Pool(2) as pool:
        for number in pool.map(multiply, range(2)):
            # Sums differ in the last digits with the number of threads that add.
            assert math.isclose(number, first, rel_tol=1e-3), (number, first)
"""

_LOCK = """
from hvr.values import cached_property

class Slow:
    @cached_property
    def answer(self):
        started.set()
        done.wait()
        return 42

started, done = threading.Event(), threading.Event()
slow = Slow()
thread = threading.Thread(target=lambda: slow.answer)
thread.start()
started.wait()
child = os.fork()
if child == 0:
    done.set()
    os._exit(Slow().answer)
done.set()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(_EXECUTOR, id="executor, nested"),
        pytest.param(_GRAPH, id="graph that is open"),
        pytest.param(_THREAD, id="while other threads plan"),
        pytest.param(_TORCH, id="torch with threads"),
    ],
)
def test_forked_processes_work_like_their_parent(tmp_path: Path, body: str) -> None:
    carry_out(body, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.02, 0.2])
def test_a_fork_during_the_first_plan(
    tmp_path: Path, delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELAY", str(delay))
    carry_out(_FIRST, tmp_path)


def test_a_property_that_another_thread_computes_is_not_waited_for(tmp_path: Path) -> None:
    carry_out(_LOCK, tmp_path)


def test_no_property_has_a_lock_that_a_fork_would_inherit() -> None:
    found = [
        path.name
        for path in (ROOT / "hvr").rglob("*.py")
        if re.search(r"^from functools import .*\bcached_property\b", path.read_text("utf-8"), re.M)
    ]
    assert not found, f"use that of hvr.values: {found}"


def carry_out(body: str, tmp_path: Path) -> None:
    """Run a script, and fail if it hangs."""
    script = tmp_path / "script.py"
    script.write_text(_USE + body, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "PYTHONWARNINGS": "ignore::DeprecationWarning",  # for forks with threads
    }
    # Use a separate process group, so that no hanging process outlives the test.
    with subprocess.Popen(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        try:
            said, _ = process.communicate(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            pytest.fail(f"it hangs; before that it said: {process.communicate()[0]}")
    assert process.returncode == 0, said
