"""Fixtures that several rooms share: the command line, a kitchen, the source data."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from hvr.doors.cli.main import run
from hvr.worlds import Event, Kitchen, Names
from tests.command_line import Ended, Hvr

# What hvr plan prints in other tests does not depend on the extra gnn; tests of scores ask for it.
os.environ.setdefault("HVR_VERIFY", "0")

# Tests start hundreds of processes of hvr: only the first compiles it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# pytest runs a process for each core: threads of numpy and torch would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Nothing fails by the clock: how long an example takes depends on what else the machine does.
settings.register_profile(
    "hvr", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("hvr")

# A shell that starts the tests in the background has them ignore Ctrl-C, as would all that they
# start; tests of interrupts send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: many tests wait for processes and servers."""
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
    """act('PickupObject', 'mug-1'): a forced action on an object given by hvr's name."""

    def do(action: str, name: str | None = None, *, force: bool = True, **kwargs: Any) -> Event:
        if name is not None:
            kwargs["objectId"] = names.object_id(name)
        return kitchen.step(action=action, forceAction=force, **kwargs)

    return do


@pytest.fixture
def look(kitchen: Kitchen, names: Names) -> Callable[[str], dict[str, Any]]:
    """look('mug-1'): its metadata now."""

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
