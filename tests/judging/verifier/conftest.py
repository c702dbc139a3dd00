"""Fixtures of the tests of plan graphs."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from hvr.judging.verifier.features import ToolEmbeddings
from hvr.tools.tool_plans import ToolGraph, ToolPlan
from tests.judging.verifier.small_world import HashEncoder, small_plans, small_tools, tiny_config


@pytest.fixture
def tools() -> ToolGraph:
    return small_tools()


@pytest.fixture
def plans() -> list[ToolPlan]:
    return small_plans()


@pytest.fixture
def embeddings(tools: ToolGraph) -> ToolEmbeddings:
    return ToolEmbeddings(tools, HashEncoder(), tiny_config())
