"""A small tool world and plans for the tests of plan graphs."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence

import numpy as np

from hvr.judging.verifier.config import VerifierConfig
from hvr.tools.tool_plans import Tool, ToolGraph, ToolPlan

PLACES = ("train", "flight", "hotel", "film", "taxi", "doctor")
DEEDS = ("search", "book", "pay", "cancel")


class HashEncoder:
    """Encodes texts by hashing their words, without a model or files."""

    def encode(self, texts: Sequence[str], role: str = "") -> np.ndarray:
        assert role in ("", "query", "passage")
        found = np.zeros((len(texts), 32), dtype=np.float32)
        for i, text in enumerate(texts):
            for word in text.lower().replace("_", " ").split():
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
                found[i] += np.random.default_rng(seed).standard_normal(32)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-6)


def small_tools() -> ToolGraph:
    tools = [Tool(f"{d}_{p}", f"{d} a {p}") for p in PLACES for d in DEEDS]
    links = []
    for p in PLACES:
        for a in DEEDS:
            links += [(f"{a}_{p}", f"{b}_{p}") for b in DEEDS if a != b]
    links += [(f"pay_{p}", f"search_{q}") for p in PLACES for q in PLACES if p != q]
    return ToolGraph(tuple(tools), tuple(links))


def small_plans() -> list[ToolPlan]:
    found = []
    for n in range(4):
        for p in PLACES:
            for deeds in (("search", "book", "pay"), ("search", "cancel"), ("book", "pay")):
                tools = tuple(f"{d}_{p}" for d in deeds)
                found.append(
                    ToolPlan(
                        f"{p}-{'-'.join(deeds)}-{n}",
                        f"please {' and '.join(deeds)} my {p} number {n}",
                        tuple(
                            f"Step {i + 1} Call {d}_{p} to {d} the {p}" for i, d in enumerate(deeds)
                        ),
                        tools,
                        tuple(itertools.pairwise(tools)),
                    )
                )
    return found


def tiny_config(**changes: object) -> VerifierConfig:
    values: dict[str, object] = {
        "hidden": 32, "align_hidden": 32, "align_epochs": 5, "layers": 2, "neighbours": 5,
        "epochs_graph": 12, "epochs_local": 12, "dropout": 0.0, "batch": 64, "lr": 3e-3,
        "lr_local": 3e-3, "device": "cpu",
    }  # fmt: skip
    return VerifierConfig.small(**{**values, **changes})
