"""Settings of a retriever, with GNN4Plan's values as defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from hvr.errors import UsageError

Layer = Literal["none", "sage"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
"""Kinds of graph layers, see `ToolEncoder`."""


@dataclass(frozen=True)
class RetrieverConfig:
    """Settings of a scorer of tools for steps, and of its training.

    The defaults are those of GNN4Plan (sections 4.3, E.1 and F.1), except for the encoder; the
    paper's e5-large is `encoder="st:intfloat/e5-large"`. `own` gives hvr's settings.

    Args:
        encoder: of texts, see `hvr.knowledge.retrieval.text_vectors`.
        layer: kind of graph layer over the tools.
        hidden: width of the MLP of `context`.
        dropout: probability of dropout in it.
        loss: `bpr`, against `negatives` other tools; `softmax`, over all tools.
        negatives: per step and epoch, with `bpr`.
        near: size of the neighbourhood of hard negatives: with probability one half a negative
            is one of the `near` tools with the most similar text, else any tool.
        scale: factor on inner products. GNN4Plan takes e5's vectors as they are,
            which are long; with vectors of length 1, as here, differences of scores would be
            too small for either loss.
        context: score with the request and the neighbouring steps as well, through an MLP; else
            the step's vector is compared as it is.
        free: learn a vector per tool besides its text. Such a model knows no other tools.
        unnamed: probability that a step is shown without the tool's name.
        epochs: at most.
        patience: epochs without improvement on the held-out part before training stops.
        batch: steps in one update.
        lr: Adam's learning rate.
        weight_decay: Adam's (decoupled).
        held_out: fraction of the training plans for early stopping.
        refit: retrain on all plans for the best number of epochs.
        seed: of all random numbers.
    """

    encoder: str = "minilm"
    layer: Layer = "sage"
    hidden: int = 512
    dropout: float = 0.0
    loss: Literal["bpr", "softmax"] = "bpr"
    negatives: int = 2
    near: int = 5
    scale: float = 20.0
    context: bool = False
    free: bool = False
    unnamed: float = 0.0
    epochs: int = 20
    patience: int = 5
    batch: int = 512
    lr: float = 1e-3
    weight_decay: float = 0.0
    held_out: float = 0.1
    refit: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.layer not in LAYERS:
            raise UsageError(f"unknown layer {self.layer!r} (layers: {', '.join(LAYERS)})")
        if self.loss not in ("bpr", "softmax"):
            raise UsageError(f"unknown loss {self.loss!r} (losses: bpr, softmax)")
        for name in ("hidden", "negatives", "epochs", "patience", "batch"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}: give at least 1")
        if not self.scale > 0:
            raise UsageError(f"scale is {self.scale}: give a number above 0")
        for name in ("dropout", "unnamed", "held_out"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is {getattr(self, name)}: give a number from 0 to 1")


def paper(layer: Layer = "sage", seed: int = 0) -> RetrieverConfig:
    """Return GNN4Plan's settings; the language model stays as it is."""
    return RetrieverConfig(layer=layer, seed=seed)


def own(layer: Layer = "sage", seed: int = 0) -> RetrieverConfig:
    """Return hvr's settings: request and neighbouring steps as context, softmax over all tools."""
    return RetrieverConfig(
        layer=layer,
        loss="softmax",
        dropout=0.3,
        context=True,
        free=True,
        unnamed=0.5,
        epochs=40,
        batch=256,
        weight_decay=1e-2,
        refit=True,
        seed=seed,
    )
