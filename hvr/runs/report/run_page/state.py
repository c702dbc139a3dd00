"""How far a run has come, as its folder tells: from its first moment, and after whatever ended it.

`task.json` says that the run has begun, that it is finished, or why it broke off. While a run goes
on it holds a lock; a run that has neither lock nor end was killed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from hvr.base.locks import held
from hvr.base.texts import read_json
from hvr.errors import DataFileError

ACCOUNT = "task.json"
LOCK = "run.lock"
STARTED = "started"
"""The state in `task.json` of a run that has not ended by itself."""


class RunState(StrEnum):
    """How far a run has come."""

    RUNNING = "running"
    BROKEN_OFF = "broken off"
    KILLED = "killed"
    """It broke off without saying why."""
    FINISHED = "finished"


def read_account(folder: Path) -> tuple[Mapping[str, Any], RunState]:
    """Return what a run says of itself, and how far it has come.

    Args:
        folder: of the run; one of an earlier version may have no account.

    Raises:
        DataFileError: the account is damaged.
    """
    about = _read(folder / ACCOUNT)
    if about.get("state") == STARTED:
        if held(folder / LOCK):
            return about, RunState.RUNNING
        # Its end is written before the lock is given up: it may have come since the first look.
        about = _read(folder / ACCOUNT)
        if about.get("state") == STARTED:
            return about, RunState.KILLED
    if about.get("state") == RunState.BROKEN_OFF:
        return about, RunState.BROKEN_OFF
    if "state" in about:
        return about, RunState.FINISHED
    # Earlier versions gave an account at the end only, and of an error in a file of its own.
    broken = _read(folder / "error.json")
    if broken:
        return broken, RunState.BROKEN_OFF
    return about, RunState.FINISHED if about else RunState.KILLED


def _read(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    value = read_json(path, strict=False)
    if not isinstance(value, dict):
        raise DataFileError(f"{path} is damaged: it holds no object")
    return value
