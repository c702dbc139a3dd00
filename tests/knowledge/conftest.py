from __future__ import annotations

import pytest

from hvr.knowledge.graph import KnowledgeGraph
from hvr.knowledge.ontology import Ontology, load_ontology
from hvr.knowledge.scene_graph import SceneGraph
from tests.knowledge.knowledge_kitchen import PIECES, THINGS, scene_of


@pytest.fixture
def scene() -> SceneGraph:
    return scene_of(*THINGS)


@pytest.fixture(scope="session")
def ontology() -> Ontology:
    return load_ontology()


@pytest.fixture
def graph(scene: SceneGraph) -> KnowledgeGraph:
    graph = KnowledgeGraph.create()
    graph.add_scene(scene, PIECES)
    return graph
