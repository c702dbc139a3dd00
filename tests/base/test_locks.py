"""Locks keep processes and threads apart, and end with their holder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hvr.base.files import is_locked, try_lock, wait_for_lock

_HOLDER = """
import sys, time
from pathlib import Path
from hvr.base.files import try_lock
assert try_lock(Path(sys.argv[1])) is not None
print("held", flush=True)
time.sleep(600)
"""


def test_a_lock_is_held_by_one_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    lock = try_lock(path)
    assert lock is not None and is_locked(path)
    assert try_lock(path) is None
    lock.release()
    lock.release()
    assert not is_locked(path) and not path.exists()
    again = try_lock(path)
    assert again is not None
    again.release()


@pytest.mark.slow
def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        assert is_locked(path) and try_lock(path) is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert path.exists() and not is_locked(path)
    lock = try_lock(path)
    assert lock is not None
    lock.release()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_keep_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = try_lock(path)
    assert lock is not None
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)  # until the parent closes its end
        os._exit(0)
    try:
        lock.release()
        again = try_lock(path)
        assert again is not None
        again.release()
    finally:
        os.close(writing)
        os.close(reading)
        os.waitpid(child, 0)


@pytest.mark.slow
def test_of_many_threads_one_at_a_time_has_the_lock(tmp_path: Path) -> None:
    """The file is repeatedly removed and recreated; a lock on a removed file must not count."""
    path, inside, most, wins = tmp_path / "lock", [0], [0], [0]
    guard = threading.Lock()

    def work() -> None:
        for _ in range(30):
            lock = try_lock(path)
            if lock is None:
                continue
            with guard:
                inside[0] += 1
                wins[0] += 1
                most[0] = max(most[0], inside[0])
            with guard:
                inside[0] -= 1
            lock.release()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] and wins[0] > 8
    assert not path.exists()


def test_who_waits_gets_the_lock_in_the_end(tmp_path: Path) -> None:
    path, order = tmp_path / "lock", list[str]()
    begun = threading.Event()

    def second() -> None:
        begun.set()
        with wait_for_lock(path):
            order.append("second")

    with wait_for_lock(path):
        thread = threading.Thread(target=second)
        thread.start()
        assert begun.wait(600)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
