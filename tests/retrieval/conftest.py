from __future__ import annotations

import pytest

from hvr.envs.kitchen import Kitchen
from hvr.envs.scenes import load_scene
from hvr.execution.world import World, open_world
from hvr.retrieval.embedders import LexicalEmbedder
from hvr.retrieval.inventory import Inventory


@pytest.fixture(scope="session")
def kitchen() -> World:
    """FloorPlan16 as it is found; tests must not change it."""
    return open_world(Kitchen(load_scene("FloorPlan16"), 0))


@pytest.fixture(scope="session")
def inventory(kitchen: World) -> Inventory:
    return kitchen.inventory()


@pytest.fixture
def lexical() -> LexicalEmbedder:
    return LexicalEmbedder()
