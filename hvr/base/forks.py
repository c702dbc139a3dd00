"""Make forks of processes that use hvr safe, such as those of `multiprocessing` on Linux.

A fork has its parent's memory but only the forking thread. Locks that other threads held stay
locked forever, such as the import lock of a module or the lock of a thread pool.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import RLock, get_ident

_PATIENCE_S = 10.0

NO_FORK = RLock()
"""Held by a thread to delay forks during matrix operations: a fork in the middle of OpenBLAS, which
numpy uses, may hang.
"""


def register() -> None:
    """Make forks of this process safe."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_before, after_in_parent=NO_FORK.release, after_in_child=_in_child
        )


def _before() -> None:
    _wait_for_imports()
    NO_FORK.acquire()


def _in_child() -> None:
    NO_FORK.release()
    _let_torch_work_alone()


def _wait_for_imports() -> None:
    end = time.monotonic() + _PATIENCE_S
    while _others_import() and time.monotonic() < end:
        time.sleep(0.001)


def _others_import() -> bool:
    # Python has no public interface for this. If these names disappear, forks are merely as unsafe
    # as without hvr, and `tests/base/test_forks.py` fails.
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    owners = (getattr(reference(), "owner", None) for reference in tuple(locks.values()))
    return any(owner not in (None, get_ident()) for owner in owners)


def _let_torch_work_alone() -> None:
    if "hvr.base.registry" in sys.modules:
        set_num_threads = getattr(sys.modules.get("torch"), "set_num_threads", None)
        if set_num_threads is not None:
            set_num_threads(1)
