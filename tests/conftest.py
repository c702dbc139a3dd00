"""Shared fixtures: the command line, a kitchen, the source data."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from hvr.doors.cli.main import run
from hvr.worlds import Event, Kitchen, Names
from tests import warm
from tests.command_line import Ended, Hvr

# Output of `hvr plan` must not depend on the extra gnn; tests of scores enable the verifier.
os.environ.setdefault("HVR_VERIFY", "0")

# Tests start hundreds of hvr processes; let only the first compile it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# pytest runs a process per core, so threads of numpy and torch would compete.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No deadlines: the time of an example depends on the machine's load.
settings.register_profile(
    "hvr", max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("hvr")

# Shells make background jobs ignore Ctrl-C, and child processes inherit that; tests of interrupts
# need it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Start the servers of warm processes, once for all processes of pytest."""
    if not hasattr(config, "workerinput"):
        config.add_cleanup(warm.start_servers())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Exempt the collected tests from garbage collection, because they stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        # Tests make much and keep little: fewer collections cost less time, and little memory.
        gc.set_threshold(50_000, 20, 20)


def pytest_xdist_auto_num_workers() -> int:
    """Use one worker more than cores, because many tests wait for processes and servers."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture
def hvr_(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hvr:
    """Runs the command line in this process."""

    def command(*args: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["hvr", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ending:
            run()
        said = capsys.readouterr()
        return Ended(int(ending.value.code or 0), said.out, said.err)

    return command


@pytest.fixture
def kitchen() -> Kitchen:
    return Kitchen("FloorPlan1")


@pytest.fixture
def names(kitchen: Kitchen) -> Names:
    return Names.from_metadata(kitchen.last_event.metadata)


@pytest.fixture
def act(kitchen: Kitchen, names: Names) -> Callable[..., Event]:
    """Forces an action on an object by hvr's name: `act("PickupObject", "mug-1")`."""

    def do(action: str, name: str | None = None, *, force: bool = True, **kwargs: Any) -> Event:
        if name is not None:
            kwargs["objectId"] = names.object_id(name)
        return kitchen.step(action=action, forceAction=force, **kwargs)

    return do


@pytest.fixture
def look(kitchen: Kitchen, names: Names) -> Callable[[str], dict[str, Any]]:
    """Returns an object's current metadata by hvr's name: `look("mug-1")`."""

    def find(name: str) -> dict[str, Any]:
        found = kitchen.last_event.get_object(names.object_id(name))
        assert found is not None, name
        return found

    return find


@pytest.fixture(scope="session")
def shared() -> Path:
    """The extracted source data, which is not part of the repository."""
    here = Path(os.environ.get("HVR_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not here.is_dir():
        pytest.skip(f"the extracted AI2-THOR data is not at {here} (set HVR_SHARED_DATA)")
    return here
