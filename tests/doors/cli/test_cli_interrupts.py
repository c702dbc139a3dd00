"""Ctrl-C at any moment: exit code 130, no traceback, and no remaining process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command_line import environment
from tests.survivors import PATIENCE_S, wait_for

pytestmark = pytest.mark.slow

# Count function calls instead of time, so that fast and busy machines agree.
INTERRUPTED = """
import atexit, signal, sys
at, calls, sent = 0, 0, False
def count(frame, event, argument):
    global calls, sent
    calls += 1
    if calls >= at > 0 and not sent and not ignored(frame):
        sent = True
        signal.raise_signal(signal.SIGINT)
def ignored(frame):
    # Python drops what is raised in the callback of a weak reference (importlib, weak sets,
    # concurrent.futures, multiprocessing's Finalize.__call__), and where an object goes.
    while frame is not None:
        if frame.f_code.co_name in (
            "cb", "weakref_cb", "_remove", "remove", "__call__", "__del__",
        ):
            return True
        frame = frame.f_back
    return False
if __name__ == "__main__":  # a worker imports this, too
    from hvr.__main__ import start
    at = int(sys.argv.pop(1))
    # How long a process waits for others is not always as many calls.
    atexit.register(lambda: calls < at and print("too late", file=sys.stderr))
    if not at:
        atexit.register(lambda: print(calls, file=sys.stderr))
    sys.setprofile(count)
    sys.argv[0] = "hvr"
    start()
"""
MOMENTS = 4


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("interrupts")
    (folder / "interrupted.py").write_text(INTERRUPTED)
    (folder / "d").write_text("(define (domain d) (:predicates (p)) (:action a :effect (p)))")
    (folder / "p").write_text("(define (problem i) (:domain d) (:init) (:goal (p)))")
    (folder / "plans").mkdir()
    for number in range(40):
        (folder / "plans" / f"{number}.plan").write_text("(a)")
    return folder


@contextmanager
def started(place: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process in its own group, as a terminal does; kill the group at the end."""
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        [sys.executable, *words], cwd=place, env=environment(), text=True,
        stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True,
    )  # fmt: skip
    try:
        yield child
    finally:
        if alive(child.pid):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def alive(group: int) -> bool:
    """Return whether a process of a group exists."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def children(process: int) -> Sequence[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


@pytest.mark.parametrize(
    "words",
    [
        ["scenes", "--json"],
        ["validate", "d", "p", "plans"],
        ["validate", "d", "p", "plans", "--jobs", "3"],
    ],
    ids=" ".join,
)
def test_any_moment_will_do(words: list[str], place: Path) -> None:
    with started(place, "interrupted.py", "0", *words) as child:
        _, said = child.communicate(timeout=PATIENCE_S)
    calls = int(said.split()[-1])
    # The first and last calls, where Python starts and ends, and moments in between.
    moments = {2, 3, 10, calls - 2, calls - 1, *(calls * n // MOMENTS for n in range(1, MOMENTS))}
    for moment in sorted(moments):
        with started(place, "interrupted.py", str(moment), *words) as child:
            _, said = child.communicate(timeout=PATIENCE_S)
            # After all calls, only the process itself can be interrupted.
            ended = (130, "interrupted\n"), (-signal.SIGINT, ""), (0, "too late\n")
            assert (child.returncode, said) in ended, moment
            # Python's own clean-up processes end a moment later.
            wait_for(lambda: not alive(child.pid))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(number: signal.Signals, place: Path) -> None:
    # The workers have started once it waits for standard input.
    with started(place, "-m", "hvr", "validate", "d", "p", "-", "plans", "--jobs", "3") as child:
        wait_for(lambda: len(children(child.pid)) >= 3)
        if number == signal.SIGINT:
            os.killpg(child.pid, number)
            out, said = child.communicate(timeout=PATIENCE_S)
            assert (child.returncode, out, said) == (130, "", "interrupted\n")
        else:
            child.kill()
            child.wait(PATIENCE_S)
        wait_for(lambda: not alive(child.pid))


def test_workers_of_a_bench_do_not_hear_what_is_meant_for_their_parent(place: Path) -> None:
    words = ("--tasks", "T1,T2,T3", "--settings", "LLM", "--jobs", "2", "--save", "bench")
    with started(place, "-m", "hvr", "bench", *words) as child:
        wait_for(lambda: len(children(child.pid)) >= 2)
        os.killpg(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=PATIENCE_S)
        assert child.returncode == 130
        assert "interrupted" in said and "Traceback" not in said
        wait_for(lambda: not alive(child.pid))
