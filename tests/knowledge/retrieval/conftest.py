from __future__ import annotations

import pytest

from hvr.execution.world import World, open_world
from hvr.knowledge.retrieval.embedders import LexicalEmbedder
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.worlds.kitchen import Kitchen
from hvr.worlds.scenes import load_scene


@pytest.fixture(scope="session")
def kitchen() -> World:
    """FloorPlan16 in its initial state; tests must not change it."""
    return open_world(Kitchen(load_scene("FloorPlan16"), 0))


@pytest.fixture(scope="session")
def inventory(kitchen: World) -> Inventory:
    return kitchen.inventory()


@pytest.fixture
def lexical() -> LexicalEmbedder:
    return LexicalEmbedder()
