"""What the tests of the environments share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hvr.envs import Event, Kitchen, Names


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
    here = Path(os.environ.get("HVR_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not here.is_dir():
        pytest.skip(f"the extracted AI2-THOR data is not at {here} (set HVR_SHARED_DATA)")
    return here
