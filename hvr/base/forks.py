"""Processes that are forked from one that uses hvr, as `multiprocessing` does on Linux.

A fork has the memory of its parent and only the thread that forked. Whatever another thread held is
never given back: the lock of a module that it was importing, the place in a pool that it worked in.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import RLock, get_ident

_PATIENCE_S = 10.0

NO_FORK = RLock()
"""While a thread has it, forks wait. For work with matrices: OpenBLAS, which does it for numpy, may
never return from a fork that happens meanwhile."""


def register() -> None:
    """Make forks of this process fit to use hvr."""
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
    # Python offers no way to ask. Where these names are gone, forks are as they would be without
    # hvr; `tests/base/test_forks.py` would notice.
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    owners = (getattr(reference(), "owner", None) for reference in tuple(locks.values()))
    return any(owner not in (None, get_ident()) for owner in owners)


def _let_torch_work_alone() -> None:
    if "hvr.base.extras" in sys.modules:
        set_num_threads = getattr(sys.modules.get("torch"), "set_num_threads", None)
        if set_num_threads is not None:
            set_num_threads(1)
